# Draws from an approximate posterior: the same fit with a posterior of class bsvm_draws, whose one
# chain has independent draws of coefficients, group effects and variances together. Every method
# for draws then works on it. They are made on request, always from the same seed.

approximate_draws <- 1000L

# `fit` as it is if it has draws. `what` is the call, for the message if it has no spread.
drawn_fit <- function(fit, what, ndraws = NULL) {
  if (inherits(fit$posterior, "bsvm_draws")) return(fit)
  need_spread(fit, what)
  n <- if (is.null(ndraws)) approximate_draws else ndraws
  check_effects_memory(fit, n)
  fit <- with_group_effects(fit, what)
  with_drawn(fit, n, "posterior", function() draw_posterior(fit$posterior, fit, n))
}

# The fit with the draws that `draw()` makes, on a stream called `key`, and its own means.
with_drawn <- function(fit, n, key, draw) {
  fit$sampling <- list(draws = n, chains = 1L, burnin = 0L, thin = 1L, seed = 0, seconds = 0)
  fit$undrawn <- fit$posterior
  drawn <- with_stream(fit, key, draw())
  sparse <- sparse_coefficients(fit$posterior, length(fit$design$sparse))
  moments <- c(fit$posterior[c("mean", "covariance")],
               list(effects_mean = all_effects(effect_means(fit$posterior, fit$groups), sparse$mean),
                    effects_sd = all_effects(effect_sds(fit$posterior, fit$groups), sparse$sd)))
  fit$posterior <- structure(
    c(list(coefficients = as_one_chain(drawn$coefficients), effects = as_one_chain(drawn$effects),
           variances = lapply(drawn$variances, as_one_chain)), moments), class = "bsvm_draws")
  fit
}

all_effects <- function(by_factor, sparse) c(unlist(by_factor, use.names = FALSE), sparse)

# Draws of `draw_ids`, or `ndraws` of them evenly spread: numbers of draws.
chosen_draws <- function(fit, draw_ids, ndraws) {
  total <- draw_count(fit$posterior)
  if (is.null(ndraws)) return(check_draw_ids(draw_ids, total))
  if (!is.null(draw_ids)) abort("argument", "Give `ndraws` or `draw_ids`, not both.")
  if (ndraws > total) {
    abort("argument", "`ndraws` must be at most the number of draws, ", total, "; found ", ndraws,
          ". Refit with more `draws` in the engine, or leave `ndraws` out for all.")
  }
  spread_over(total, ndraws)
}

check_ndraws <- function(ndraws) {
  if (!is.null(ndraws)) check_count(ndraws, "ndraws")
  ndraws
}

check_effects_memory <- function(fit, n) {
  size <- effects_size(fit)
  check_memory(3 * 8 * size * n,
               paste(n, "draws of", size, "group effects and coefficients of sparse predictors take"),
               "Use a smaller `ndraws`.")
}

effects_size <- function(fit) sum(effect_counts(fit$groups)) + length(fit$design$sparse)

# list(coefficients, p x n; effects, all x n, by factor, level, effect, then sparse predictors;
# variances, list by block of k x n; perhaps `away`, how far what effects follow is from its mean),
# with R's random numbers.
draw_posterior <- function(posterior, fit, n) UseMethod("draw_posterior")

# ---- Gaussians ------------------------------------------------------------------------------------

#' @export
draw_posterior.bsvm_moments <- function(posterior, fit, n) {
  away <- normal_draws(followed_covariance(posterior), n)
  effects <- if (length(fit$groups) > 0L) draw_effects(posterior, away)
  own <- away + posterior$mean
  if (!is.null(posterior$scatter)) own <- own + sqrt(posterior$scatter) * stats::rnorm(length(own))
  list(coefficients = own, effects = or_none(effects, n), variances = draw_variances(fit, n),
       away = away)
}

#' @export
draw_posterior.bsvm_integrated <- function(posterior, fit, n) {
  away <- normal_draws(posterior$joint_covariance, n)
  dense <- seq_along(posterior$mean)
  joint <- posterior$joint_mean + away
  at <- posterior$integrated
  starts <- effect_starts(fit$groups)
  counts <- effect_counts(fit$groups)
  effects <- matrix(0, sum(counts), n)
  integrated <- starts[[at]] + seq_len(counts[at])
  effects[integrated, ] <- draw_effects(posterior, away)
  effects[-integrated, ] <- joint[-dense, , drop = FALSE]
  list(coefficients = joint[dense, , drop = FALSE], effects = effects,
       variances = draw_variances(fit, n), away = away)
}

# The precision of the permuted effects and then the coefficients is L L', of which `leading`
# columns are sparse, and `root` is the inverse of the dense rest: a draw is L'^{-1} z.
#' @export
draw_posterior.bsvm_sparse_moments <- function(posterior, fit, n) {
  factor <- posterior$factor
  leading <- factor$n_leading
  size <- length(factor$order) + length(posterior$mean)
  away <- matrix(stats::rnorm(size * n), size)
  dense <- leading + seq_len(size - leading)
  away[dense, ] <- crossprod(factor$root, away[dense, , drop = FALSE])
  for (k in rev(seq_len(leading))) {
    at <- seq(factor$p[k] + 1L, factor$p[k + 1L])
    row <- factor$i[at] + 1L
    others <- row != k
    away[k, ] <- (away[k, ] - factor$x[at[others]] %*% away[row[others], , drop = FALSE]) /
      factor$x[at[!others]]
  }
  effects <- matrix(0, length(factor$order), n)
  effects[factor$order + 1L, ] <- away[seq_along(factor$order), ]
  list(coefficients = away[-seq_along(factor$order), , drop = FALSE] + posterior$mean,
       effects = effects + posterior$effects, variances = draw_variances(fit, n))
}

or_none <- function(effects, n) if (is.null(effects)) matrix(0, 0L, n) else effects

# p x n with this covariance, which may be singular.
normal_draws <- function(covariance, n) {
  p <- nrow(covariance)
  z <- matrix(stats::rnorm(p * n), p)
  if (p == 0L) return(z)
  if (is_low_rank(covariance)) return(low_rank_draws(covariance, z))
  root <- tryCatch(chol(covariance), error = function(e) NULL)
  if (!is.null(root)) return(crossprod(root, z))
  spectrum <- eigen(covariance, symmetric = TRUE)
  spectrum$vectors %*% (sqrt(pmax(spectrum$values, 0)) * z)
}

# Effects of the levels of one factor given how far what they follow is from its mean: qm x n.
draw_effects <- function(posterior, away) {
  roots <- array_roots(group_inverse(posterior$group_precision))
  size <- dim(roots)[2:3]
  n <- ncol(away)
  noise <- array(stats::rnorm(prod(size) * n), c(size, n))
  out <- array(posterior$group_mean, c(size, n))
  for (k in seq_len(size[1L])) {
    follow <- matrix(posterior$group_regression[k, , ], nrow(away), size[2L])
    own <- matrix(out[k, , ], size[2L]) - crossprod(follow, away)
    for (j in seq_len(k)) own <- own + roots[k, j, ] * matrix(noise[j, , ], size[2L])
    out[k, , ] <- own
  }
  matrix(out, prod(size), n)
}

# ---- variances given their own posteriors ---------------------------------------------------------

draw_variances <- function(fit, n) lapply(all_blocks(fit), draw_variance, n = n)

# A number of which only the mean is known stays there.
draw_variance <- function(block, n) {
  hyper <- block$hyper
  if (is_fixed(block)) return(matrix(0, 0L, n))
  if (is_joint(block)) return(draw_inverse_wishart(block, n))
  if ("shape" %in% names(hyper)) return(one_row(hyper[["scale"]] / stats::rgamma(n, hyper[["shape"]])))
  if ("mean" %in% names(hyper)) return(one_row(rep(hyper[["mean"]], n)))
  matrix(hyper, length(hyper), n, dimnames = list(names(hyper), NULL))
}

one_row <- function(variance) matrix(variance, 1L, dimnames = list("variance", NULL))

joint_rows <- function(covariances, q) {
  pairs <- lower_pairs(q)
  out <- matrix(covariances, q * q)[pairs[, 1L] + q * (pairs[, 2L] - 1L), , drop = FALSE]
  rownames(out) <- paste("variance", pairs[, 1L], pairs[, 2L], sep = "_")
  out
}

draw_inverse_wishart <- function(block, n) {
  q <- length(block$columns)
  if (!"df" %in% names(block$hyper)) {
    return(joint_rows(array(block_covariance(block), c(q, q, n)), q))
  }
  precision <- solve(symmetric(block$hyper, "scale", q))
  drawn <- stats::rWishart(n, block$hyper[["df"]], precision)
  joint_rows(apply(drawn, 3L, solve), q)
}

# ---- mixtures over the variances ------------------------------------------------------------------

# Points of the variances as often as their weights say; between points variances follow their own
# distributions have them.
#' @export
draw_posterior.bsvm_mixture <- function(posterior, fit, n) {
  theta <- draw_theta(posterior, n)
  # Columns that depend on parameters belong to the coefficients of their point.
  if (length(learned_bases(fit)) > 0L) theta$values <- posterior$theta[, theta$point, drop = FALSE]
  out <- list(coefficients = matrix(0, length(posterior$mean), n),
              effects = matrix(0, effects_size(fit), n),
              variances = Map(theta_variances, all_blocks(fit), posterior$free,
                              list(theta$values)))
  for (k in unique(theta$point)) {
    at <- which(theta$point == k)
    own <- component_fit(fit, k)
    drawn <- draw_posterior(own$posterior, own, length(at))
    out$coefficients[, at] <- drawn$coefficients
    out$effects[, at] <- shaped_effects(own, drawn, posterior, k)
  }
  out
}

theta_variances <- function(block, rows, theta) {
  if (length(rows) == 0L) return(matrix(0, 0L, ncol(theta)))
  values <- theta[rows, , drop = FALSE]
  if (!is_joint(block)) return(one_row(exp(2 * values[1L, ])))
  joint_rows(point_covariances(block, values), length(block$columns))
}

# list(point, values): numbers of the points and h x n free parameters. The two grow together if
# there is one parameter. Otherwise values lie about the points as in point_law().
draw_theta <- function(posterior, n) {
  theta <- posterior$theta
  weights <- posterior$weights
  h <- nrow(theta)
  u <- (sample.int(n) - stats::runif(n)) / n
  if (length(weights) == 1L || h == 0L) {
    point <- rep(1L, n)
    covariance <- posterior$theta_covariance
    away <- if (is.null(covariance)) 0 else normal_draws(covariance, n)
    return(list(point = point, values = matrix(theta[, point], h) + away))
  }
  order <- order(theta[1L, ])
  point <- order[pmin(findInterval(u, cumsum(weights[order])) + 1L, length(weights))]
  if (h == 1L) {
    own <- log_sd_law(posterior, which(lengths(posterior$free) > 0L))
    values <- vapply(u, function(p) log_quantile_of(own, p), 0)
    return(list(point = point, values = matrix(values, 1L)))
  }
  centre <- drop(theta %*% weights)
  spread <- (theta - centre) %*% (weights * t(theta - centre))
  values <- centre + sqrt(1 - hidden_share) * (theta[, point, drop = FALSE] - centre) +
    sqrt(hidden_share) * normal_draws(spread, n)
  list(point = point, values = values)
}

# Effects that were integrated out with their own distributions in place of normal ones: in the words
# of R/posterior-shape.R v = u + C b, in its standard deviations, is a polynomial of standard normal
# numbers.
shaped_effects <- function(own, drawn, posterior, k) {
  shapes <- component_shapes(posterior, k)
  if (is.null(shapes)) return(drawn$effects)
  name <- names(own$groups)[posterior$integrated]
  at <- effect_starts(own$groups)[[name]] + seq_len(effect_counts(own$groups)[[name]])
  roots <- array_roots(linear_variance(own, name))
  q <- dim(roots)[1L]
  shaped <- if (q == 1L) shaped_score else shaped_pair
  away <- drawn$effects[at, , drop = FALSE] - as.vector(own$posterior$group_mean)
  common <- common_part(own$posterior, effect_covariances(own)[[name]])
  move <- matrix(0, nrow(away), ncol(away))
  for (g in seq_len(ncol(shapes))) {
    level <- (g - 1L) * q + seq_len(q)
    root <- matrix(roots[, , g], q)
    score <- forwardsolve(root, away[level, , drop = FALSE] +
                            matrix(common[, , g], q) %*% drawn$away)
    inner <- pmin(pmax(score, -shape_reach), shape_reach)
    move[level, ] <- root %*% (shaped(inner, shapes[, g]) - inner)
  }
  out <- drawn$effects
  out[at, ] <- out[at, ] + move
  out
}

shape_reach <- 4.5 # further out the polynomials are not to be trusted

shaped_score <- function(score, shape) crossprod(shape, hermite(drop(score), length(shape)))

# Of two effects. Along a direction d of the pair the coefficient of Hermite's polynomial He_k is a
# form P of degree k + 1 in d, known in six directions. The map w -> sum_k grad P / (k + 1), with
# powers of d replaced by Hermite's polynomials of w, has these distributions along all directions to
# first order; in higher orders than the fourth six directions do not determine P.
shaped_pair <- function(score, shape, directions = 6L, highest = 4L) {
  shape <- matrix(shape, ncol = directions)
  angle <- pi * (seq_len(directions) - 1) / directions
  first <- hermite(score[1L, ], highest + 1L)
  second <- hermite(score[2L, ], highest + 1L)
  out <- 0 * score
  for (k in 0:min(highest, nrow(shape) - 1L)) {
    m <- 0:(k + 1L)
    powers <- outer(cos(angle), k + 1L - m, `^`) * outer(sin(angle), m, `^`)
    form <- qr.solve(powers, shape[k + 1L, ]) / (k + 1)
    for (j in 0:k) {
      products <- first[k - j + 1L, ] * second[j + 1L, ]
      out <- out + rbind(form[j + 1L] * (k + 1L - j), form[j + 2L] * (j + 1L)) %*%
        matrix(products, 1L)
    }
  }
  out
}
