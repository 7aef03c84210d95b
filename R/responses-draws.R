# What the core drew of several responses (src/r_responses.cpp), as fits to each response have it
# and as covariances. It has the numbers of priors by response and block, then those of factors, of
# the residuals and of second residuals, and which kernel of each choice was in the model.

# For each response the value of run_sampler().
response_runs <- function(result, specs, groups) {
  q <- length(specs)
  size <- dim(result$coefficients)
  p <- size[1L] / q
  lapply(stats::setNames(seq_len(q), names(specs)), function(j) {
    spec <- specs[[j]]
    at <- (j - 1L) * p + seq_len(p)
    is_parameter_block <- vapply(spec$blocks, is_parameter, TRUE)
    variances <- vector("list", length(spec$blocks))
    variances[!is_parameter_block] <- result$priors[[j]]
    own <- result$residual[triangle_places(q)[j, j], , , drop = FALSE] + second_variance(result, j)
    dimnames(own) <- list("variance", NULL, NULL)
    variances[is_parameter_block] <- list(own)
    effects <- response_effects(result, specs, groups, j)
    posterior <- draws_posterior(list(
      coefficients = result$coefficients[at, , , drop = FALSE],
      variances = c(variances, response_factors(result, specs, j)), effects = effects$draws,
      mean = result$mean[at], effects_mean = effects$mean, effects_sd = effects$sd))
    posterior <- posterior_in_units(posterior, spec)
    population <- seq_along(posterior$variances) <= length(spec$blocks)
    list(posterior = posterior,
         hyper = Map(draws_hyper, spec$blocks, posterior$variances[population]),
         group_hyper = Map(draws_hyper, spec$group_blocks, posterior$variances[!population]),
         termination = result$termination,
         sampling = c(sampling_facts(result, result$options), result["prepared"]))
  })
}

# Where the entries of a q x q lower triangle by column are in it: a row each, its row and column.
triangle_pairs <- function(q) which(lower.tri(diag(q), diag = TRUE), arr.ind = TRUE)

# The other way round: for each entry of the matrix the place of it in the triangle, 0 above.
triangle_places <- function(q) {
  place <- matrix(0L, q, q)
  place[lower.tri(place, diag = TRUE)] <- seq_len(q * (q + 1L) / 2L)
  place
}

# The variance that a second residual adds to response j, in the core's units.
second_variance <- function(result, j) {
  if (length(result$losses) == 0L) return(0)
  own <- result$losses[[j]]
  if (nrow(own) == 1L) return(own)
  tube_variance(own[1L, , , drop = FALSE], own[2L, , , drop = FALSE])
}

# The part of each factor's covariance that is response j's.
response_factors <- function(result, specs, j) {
  q <- length(specs)
  Map(function(draws, block) {
    d <- length(block$columns)
    at <- (j - 1L) * d + seq_len(d)
    own <- triangle_places(d * q)[at, at, drop = FALSE]
    rows <- own[lower.tri(own, diag = TRUE)]
    out <- draws[rows, , , drop = FALSE]
    pairs <- triangle_pairs(d)
    dimnames(out) <- list(if (d == 1L) "variance"
                          else paste("variance", pairs[, 1L], pairs[, 2L], sep = "_"), NULL, NULL)
    out
  }, result$factors, specs[[1L]]$group_blocks)
}

# The core has a factor's effects by block, level, response and effect; a fit by factor, level,
# effect. Zero rows where there are none.
response_effects <- function(result, specs, groups, j) {
  blocks <- specs[[1L]]$group_blocks
  q <- length(specs)
  before <- 0L
  at <- lapply(groups, function(group) matrix(0L, length(group$labels), length(group$levels)))
  first <- effects_before(groups)
  for (block in blocks) {
    d <- length(block$columns)
    levels <- length(groups[[block$factor]]$levels)
    place <- array(before + seq_len(d * q * levels), c(d, q, levels))
    own <- block$columns - first[[block$factor]]
    at[[block$factor]][own, ] <- place[, j, ]
    before <- before + d * q * levels
  }
  rows <- as.integer(unlist(at))
  list(draws = if (specs[[1L]]$engine$settings$keep_effects) result$effects[rows, , , drop = FALSE],
       mean = result$effects_mean[rows], sd = result$effects_sd[rows])
}

# Lower triangles of covariances, in the units of what they are of.
triangle_in_units <- function(draws, units) {
  square <- outer(units, units)
  draws * square[lower.tri(square, diag = TRUE)]
}

# The residual covariance: of two normal residuals the sum, since no more is identified.
identified <- function(result, units) {
  draws <- result$residual
  if (length(result$losses) > 0L && nrow(result$losses[[1L]]) == 1L) {
    for (j in seq_along(units)) {
      at <- triangle_places(length(units))[j, j]
      draws[at, , ] <- draws[at, , ] + result$losses[[j]][1L, , ]
    }
  }
  triangle_in_units(draws, units)
}

group_covariances <- function(result, specs, groups, units) {
  first <- effects_before(groups)
  Map(function(draws, block) {
    labels <- outer(block$labels, names(specs), function(a, b) paste0(b, ": ", a))
    list(factor = block$factor, labels = c(labels), columns = block$columns - first[[block$factor]],
         draws = triangle_in_units(draws, rep(units, each = length(block$columns))))
  }, result$factors, specs[[1L]]$group_blocks)
}

# The core has the missing responses row by row.
imputed_responses <- function(result, y, rows, specs) {
  own <- y[rows, , drop = FALSE]
  at <- which(t(is.na(own)), arr.ind = TRUE)
  if (nrow(at) == 0L) return(NULL)
  second <- vapply(seq_along(specs), function(j) mean(second_variance(result, j)), 0)[at[, 1L]]
  unit <- vapply(specs, function(spec) spec$design$unit, 0)[at[, 1L]]
  shift <- vapply(specs, function(spec) spec$design$shift, 0)[at[, 1L]]
  data.frame(row = rows[at[, 2L]], response = colnames(y)[at[, 1L]],
             mean = result$missing_mean * unit + shift,
             sd = sqrt(result$missing_sd^2 + second) * unit, row.names = NULL)
}

# NULL, or list(kind, draws): "normal", the variances (q, draws, chains) of the second residual, or
# "tube", scales and then shares nu (2 q, draws, chains), in the user's units.
loss_draws <- function(result, likelihood, units) {
  if (length(result$losses) == 0L) return(NULL)
  if (is_gaussian(likelihood)) {
    parts <- Map(function(draws, unit) draws * unit^2, result$losses, units)
    return(list(kind = "normal", draws = bind_arrays(parts)))
  }
  scales <- Map(function(draws, unit) draws[1L, , , drop = FALSE] * unit, result$losses, units)
  shares <- lapply(result$losses, function(draws) draws[2L, , , drop = FALSE])
  list(kind = "tube", draws = bind_arrays(c(scales, shares)))
}

# Which kernel of each choice was in the model, list by term of draws (1, draws, chains) from 1.
kernel_draws <- function(result, frame) {
  chosen <- Filter(is_choice, gp_bases(frame))
  if (length(chosen) == 0L) return(NULL)
  stats::setNames(lapply(result$chosen, `+`, 1), basis_labels(chosen))
}

bind_arrays <- function(parts) {
  size <- dim(parts[[1L]])
  array(do.call(rbind, lapply(parts, draw_matrix)), c(sum(vapply(parts, nrow, 0L)), size[-1L]))
}

# The variance of an epsilon-insensitive residual.
tube_variance <- function(scale, nu) {
  kappa <- (1 - nu) / nu
  scale^2 * ((1 - nu) * kappa^2 / 3 + nu * (kappa^2 + 2 * kappa + 2))
}

# One warning for the worst of all quantities.
warn_responses <- function(object) {
  if (identical(object$termination, "interrupted")) return(warn_cut_short(object$sampling))
  tables <- lapply(response_names(object), function(name) {
    table <- diagnose_coefficients(object$fits[[name]], most = 50)
    rownames(table) <- paste0(name, ": ", rownames(table), recycle0 = TRUE)
    table
  })
  residual <- object$residual
  dimnames(residual) <- list(residual_names(object), NULL, NULL)
  table <- do.call(rbind, c(tables, list(diagnose(residual)),
                            if (has_tube(object)) list(diagnose(named_loss(object))),
                            lapply(names(object$kernels), diagnose_choice, object)))
  if (nrow(table) > 0L && all(is.na(table[, "Rhat"]))) return(warn_unchecked())
  if (is.null(object$evidence)) warn_diagnosis(table)
  else warn_diagnosis(table, "Use engine_gibbs().")
}

# Which kernel it is; nothing of one that all chains have.
diagnose_choice <- function(term, object) {
  draws <- object$kernels[[term]]
  if (length(unique(c(draws))) == 1L) return(NULL)
  dimnames(draws) <- list(paste("kernel of", term), NULL, NULL)
  diagnose(draws)
}

# The draws of the loss's numbers, with names.
named_loss <- function(object) {
  names <- response_names(object)
  draws <- object$loss$draws
  labels <- c(paste0(names, ": scale of the loss"), paste0(names, ": nu of the loss"))
  dimnames(draws) <- list(labels, NULL, NULL)
  draws
}

# sigma2_a, cov_a__b: names of the lower triangle.
residual_names <- function(object) {
  names <- response_names(object)
  pairs <- triangle_pairs(length(names))
  ifelse(pairs[, 1L] == pairs[, 2L], paste0("residual variance of ", names[pairs[, 1L]]),
         paste0("residual covariance of ", names[pairs[, 2L]], " and ", names[pairs[, 1L]]))
}
