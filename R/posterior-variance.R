# Variances: what the fit knows of those of each block. A block's `hyper` says it in numbers, made
# by the core (moments) or from the draws:
#
#   one variance    mean, inverse_mean, and shape and scale where it is inverse gamma
#   a covariance    mean_i_j, inverse_mean_i_j for i >= j, and df and scale_i_j where it is
#                   inverse Wishart
#
# and under other priors, such as prior_bridge(), the means of their own numbers by their names. In
# posterior$variances, a list by block with the group blocks last, draws of one variance have the
# row "variance", of a covariance "variance_i_j" for i >= j; a fixed one has no rows.

is_joint <- function(block) length(block$columns) > 1L && !is.null(block$factor)

# Number k of the fit's blocks: population-level first, then groups.
all_blocks <- function(fit) c(fit$blocks, fit$group_blocks)

# The pairs i >= j of q effects, by column of the lower triangle: what the core's names count.
lower_pairs <- function(q) which(lower.tri(diag(q), diag = TRUE), arr.ind = TRUE, useNames = FALSE)

# q x q symmetric from the numbers called <prefix>_i_j.
symmetric <- function(numbers, prefix, q) {
  pairs <- lower_pairs(q)
  out <- matrix(0, q, q)
  out[pairs] <- numbers[paste(prefix, pairs[, 1L], pairs[, 2L], sep = "_")]
  out[pairs[, 2:1, drop = FALSE]] <- out[pairs]
  out
}

# Posterior mean of a block's covariance, q x q.
block_covariance <- function(block) {
  if (is_joint(block)) return(symmetric(block$hyper, "mean", length(block$columns)))
  matrix(block$hyper[["mean"]])
}

# Posterior mean of each factor's covariance of effects: list by factor of q x q matrices.
effect_covariances <- function(fit) {
  fill_by_factor(fit, function(block, k) block_covariance(block))
}

# list by factor of q x q matrices, filled block by block with the q' x q' that f(block, k) gives;
# k counts all blocks.
fill_by_factor <- function(fit, f) {
  first <- 0L
  out <- list()
  for (group in fit$groups) {
    q <- length(group$labels)
    whole <- matrix(0, q, q, dimnames = list(group$labels, group$labels))
    for (k in which(vapply(fit$group_blocks, `[[`, "", "factor") == group$name)) {
      at <- fit$group_blocks[[k]]$columns - first
      whole[at, at] <- f(fit$group_blocks[[k]], length(fit$blocks) + k)
    }
    out[[group$name]] <- whole
    first <- first + q
  }
  out
}

# ---- draws ---------------------------------------------------------------------------------

# S draws of the one variance of block k.
block_variances <- function(fit, k) {
  draws <- draw_matrix(fit$posterior$variances[[k]])
  if (nrow(draws) > 0L) return(draws[1L, ])
  rep(all_blocks(fit)[[k]]$prior$parameters[["variance"]], draw_count(fit$posterior))
}

# q x q x S draws of a factor's covariance of effects.
covariance_draws <- function(fit, name) {
  q <- length(fit$groups[[name]]$labels)
  first <- sum(vapply(fit$groups, function(g) length(g$labels), 0L)[
    seq_len(match(name, names(fit$groups)) - 1L)])
  out <- array(0, c(q, q, draw_count(fit$posterior)))
  for (k in which(vapply(fit$group_blocks, `[[`, "", "factor") == name)) {
    at <- fit$group_blocks[[k]]$columns - first
    out[at, at, ] <- block_covariance_draws(fit, length(fit$blocks) + k, length(at))
  }
  out
}

block_covariance_draws <- function(fit, k, q) {
  if (q == 1L) return(array(block_variances(fit, k), c(1L, 1L, draw_count(fit$posterior))))
  draws <- draw_matrix(fit$posterior$variances[[k]])
  pairs <- lower_pairs(q)
  out <- array(0, c(q, q, ncol(draws)))
  for (row in seq_len(nrow(pairs))) {
    i <- pairs[row, 1L]
    j <- pairs[row, 2L]
    out[i, j, ] <- out[j, i, ] <- draws[paste("variance", i, j, sep = "_"), ]
  }
  out
}

# Lower Cholesky roots of covariance_draws().
covariance_roots <- function(fit, name) array_roots(covariance_draws(fit, name))

# Roots of q x q x n matrices, all at once; one that is singular to rounding has a root with zeros.
array_roots <- function(a) {
  root <- 0 * a
  for (j in seq_len(dim(a)[1L])) {
    before <- seq_len(j - 1L)
    for (i in j:dim(a)[1L]) {
      rest <- a[i, j, ]
      for (k in before) rest <- rest - root[i, k, ] * root[j, k, ]
      root[i, j, ] <- if (i == j) sqrt(pmax(rest, 0))
                      else ifelse(root[j, j, ] > 0, rest / root[j, j, ], 0)
    }
  }
  root
}

# The same numbers a core's report has, from the draws of a block.
draws_hyper <- function(block, draws) {
  values <- draw_matrix(draws)
  if (is_joint(block)) return(joint_hyper(values, length(block$columns)))
  if (is_fixed(block)) values <- matrix(block$prior$parameters[["variance"]])
  else if (!identical(rownames(values), "variance")) return(rowMeans(values))
  c(mean = mean(values[1L, ]), inverse_mean = mean(1 / values[1L, ]))
}

joint_hyper <- function(values, q) {
  pairs <- lower_pairs(q)
  suffix <- paste(pairs[, 1L], pairs[, 2L], sep = "_")
  inverses <- apply(values, 2L, function(v) inverse_or_na(symmetric(v, "variance", q))[pairs])
  means <- rowMeans(values[paste0("variance_", suffix), , drop = FALSE])
  c(stats::setNames(means, paste0("mean_", suffix)),
    stats::setNames(rowMeans(inverses), paste0("inverse_mean_", suffix)))
}

# NA where a covariance is singular to rounding, or not finite.
inverse_or_na <- function(covariance) {
  unknown <- array(NA_real_, dim(covariance))
  if (!all(is.finite(covariance))) return(unknown)
  tryCatch(solve(covariance, tol = 0), error = function(e) unknown)
}

# ---- what variances are called among the draws ---------------------------------------------

# All draws of inferred variances: array (variable, draws, chains), named as as_draws() and
# summary() name them. Those of groups are standard deviations and correlations. `variances`: list
# by block of arrays.
variance_draws <- function(blocks, variances) {
  named <- Map(function(block, draws) {
    if (is_parameter(block)) draws <- shown_number(block, sqrt(draws))
    else if (!is.null(block$factor)) return(group_sd_draws(block, draws))
    dimnames(draws) <- list(variance_names(block, dimnames(draws)[[1L]]), NULL, NULL)
    draws
  }, blocks, variances)
  do.call(bind_variables, unname(named))
}

# Names of a block's draws, from the core's names: other numbers than variances keep theirs.
variance_names <- function(block, names) {
  if (length(names) == 0L) return(NULL)
  if (is_parameter(block)) return(block$label)
  paste0(sub("^variance$", "var", names), "_", block$label)
}

# sd_<factor>__<effect>, then cor_<factor>__<effect>__<effect>, as brms has them.
group_sd_draws <- function(block, draws) {
  if (nrow(draws) == 0L) return(draws)
  labels <- plain_label(block$labels)
  name <- function(...) paste(..., sep = "__")
  if (!is_joint(block)) {
    dimnames(draws) <- list(name(paste0("sd_", block$factor), labels), NULL, NULL)
    return(sqrt(draws))
  }
  pairs <- lower_pairs(length(labels))
  own <- pairs[, 1L] == pairs[, 2L]
  sds <- sqrt(draws[own, , , drop = FALSE])
  cors <- draws[!own, , , drop = FALSE] / sds[pairs[!own, 1L], , , drop = FALSE] /
    sds[pairs[!own, 2L], , , drop = FALSE]
  dimnames(sds) <- list(name(paste0("sd_", block$factor), labels), NULL, NULL)
  dimnames(cors) <- list(name(paste0("cor_", block$factor), labels[pairs[!own, 2L]],
                              labels[pairs[!own, 1L]]), NULL, NULL)
  bind_variables(sds, cors)
}
