# Variances of a bsvm_mixture, from the points `theta` of their free parameters.
#
# The distribution of a log standard deviation t is one of
#   list(at, log, slope)  one free parameter in the model: the log density on a fine grid, between
#                         whose points, and beyond, it is linear (`slope` at both ends)
#   list(mean, sd, weights)  several: a mixture of normals with one sd about the points, drawn in so
#                         that mean and sd are the points'
#   list(mean, sd, weights = 1, plug_in = TRUE)  engine_map(): the mode, and its Hessian

# ---- at a point -------------------------------------------------------------------------------

# q x q covariance of a block at its free parameters; a fixed variance has none.
point_covariance <- function(block, theta) {
  if (length(theta) == 0L) return(matrix(block$prior$parameters[["variance"]]))
  if (is_joint(block)) return(tcrossprod(log_cholesky(theta, length(block$columns))))
  matrix(exp(2 * theta))
}

# Lower triangular root, given by rows with its diagonal in logarithms.
log_cholesky <- function(theta, q) {
  root <- matrix(0, q, q)
  root[upper.tri(root, diag = TRUE)] <- theta
  diag(root) <- exp(diag(root))
  t(root)
}

free_of_root <- function(root) {
  diag(root) <- log(diag(root))
  t(root)[upper.tri(root, diag = TRUE)]
}

# The block's `hyper` where its covariance is known.
point_hyper <- function(block, theta) covariance_hyper(block, list(point_covariance(block, theta)))

# Weighted means of covariances and their inverses, named as the core's reports are.
covariance_hyper <- function(block, covariances, weights = 1) {
  mean <- weighted_sum(covariances, weights)
  inverse <- weighted_sum(lapply(covariances, inverse_or_na), weights)
  if (!is_joint(block)) {
    return(c(mean = mean[1L], inverse_mean = inverse[1L], component_mean = mean[1L]))
  }
  pairs <- lower_pairs(nrow(mean))
  suffix <- paste(pairs[, 1L], pairs[, 2L], sep = "_")
  c(stats::setNames(mean[pairs], paste0("mean_", suffix)),
    stats::setNames(inverse[pairs], paste0("inverse_mean_", suffix)))
}

weighted_sum <- function(values, weights) Reduce(`+`, Map(`*`, values, weights))

# ---- over the mixture -------------------------------------------------------------------------

# Covariances of block j, one a point.
block_points <- function(posterior, block, j) {
  rows <- posterior$free[[j]]
  lapply(seq_along(posterior$weights), function(k) {
    point_covariance(block, posterior$theta[rows, k])
  })
}

# `hyper` of block j. The mean of a variance follows its distribution, not only the points.
mixture_hyper <- function(posterior, block, j) {
  hyper <- covariance_hyper(block, block_points(posterior, block, j), posterior$weights)
  if (is_joint(block) || length(posterior$free[[j]]) == 0L) return(hyper)
  hyper[["mean"]] <- law_moment(log_sd_law(posterior, j), 2)
  hyper
}

# For block j, which has one variance.
log_sd_law <- function(posterior, j) {
  own <- posterior$free[[j]]
  if (nrow(posterior$theta) == 1L && ncol(posterior$theta) > 3L) { # three: nearly normal
    return(spline_law(posterior$theta[1L, ], posterior$log_density))
  }
  point_law(posterior, own, identity)
}

# The distribution of g(free parameters of a block). The share of its variance that is not between
# the points hides that these are few.
hidden_share <- 0.25

point_law <- function(posterior, own, g) {
  values <- apply(posterior$theta[own, , drop = FALSE], 2L, g)
  weights <- posterior$weights
  if (length(values) == 1L) {
    return(list(mean = values, sd = delta_sd(posterior, own, g), weights = 1, plug_in = TRUE))
  }
  if (length(values) == 3L) hidden_share <- 1 # points of a normal distribution
  mean <- sum(weights * values)
  sd <- sqrt(sum(weights * (values - mean)^2))
  list(mean = mean + sqrt(1 - hidden_share) * (values - mean), sd = sqrt(hidden_share) * sd,
       weights = weights)
}

point_moments <- function(law) mix(t(law$mean), t(rep(law$sd, length(law$mean))), law$weights)

point_quantile <- function(law, p) {
  if (is.na(law$sd)) return(NA_real_)
  mixture_quantile(t(law$mean), t(rep(law$sd, length(law$mean))), law$weights, p)
}

# The standard deviation of g at the only point, to first order.
delta_sd <- function(posterior, own, g, step = 1e-5) {
  if (is.null(posterior$theta_covariance)) return(NA_real_)
  at <- posterior$theta[own, 1L]
  slope <- vapply(seq_along(at), function(i) {
    by <- replace(numeric(length(at)), i, step)
    (g(at + by) - g(at - by)) / (2 * step)
  }, 0)
  sqrt(drop(slope %*% posterior$theta_covariance[own, own, drop = FALSE] %*% slope))
}

# ---- laws of a log standard deviation -----------------------------------------------------------

# A natural spline is linear beyond its last points, to which a few more are added on the parabola
# through the last three. Where it does not fall there, the distribution ends.
spline_law <- function(theta, log_density, nodes = 1000L) {
  log_density <- log_density[order(theta)]
  theta <- sort(theta)
  upper <- extend(theta, log_density)
  lower <- extend(rev(theta), rev(log_density))
  theta <- c(rev(lower$theta), theta, upper$theta)
  log_density <- c(rev(lower$log_density), log_density, upper$log_density)
  spline <- stats::splinefun(theta, log_density, method = "natural")
  ends <- range(theta)
  at <- seq(ends[1L], ends[2L], length.out = nodes + 1L)
  slope <- spline(ends, deriv = 1)
  list(at = at, log = spline(at) - max(log_density),
       slope = c(if (slope[1L] > 0) slope[1L] else Inf, if (slope[2L] < 0) slope[2L] else -Inf))
}

# Points at equal steps, as the core has them, beyond the last.
extend <- function(theta, log_density, steps = 4L) {
  n <- length(theta)
  last <- diff(log_density[n - 2:0])
  if (!(last[2L] < last[1L] && last[2L] < 0)) return(list())
  beyond <- seq_len(steps)
  fall <- last[2L] * beyond + (last[2L] - last[1L]) * beyond * (beyond + 1) / 2
  list(theta = theta[n] + (theta[n] - theta[n - 1L]) * beyond, log_density = log_density[n] + fall)
}

# Integrals of exp(a t) times the density, not normalised: below the grid, between its points,
# above it. Infinite where a tail does not fall.
law_masses <- function(law, a) {
  n <- length(law$at)
  log <- law$log + a * law$at
  slope <- law$slope + a
  rise <- diff(log)
  between <- exp(log[-n]) * diff(law$at) * ifelse(abs(rise) < 1e-8, 1 + rise / 2,
                                                  expm1(rise) / rise)
  c(if (slope[1L] > 0) exp(log[1L]) / slope[1L] else Inf, between,
    if (slope[2L] < 0) -exp(log[n]) / slope[2L] else Inf)
}

# E exp(a t).
law_moment <- function(law, a) {
  if (isTRUE(law$plug_in)) return(exp(a * law$mean))
  if (is.null(law$at)) return(sum(law$weights * exp(a * law$mean + a^2 * law$sd^2 / 2)))
  sum(law_masses(law, a)) / sum(law_masses(law, 0))
}

# Mean and sd of exp(t).
law_spread <- function(law) {
  mean <- law_moment(law, 1)
  if (isTRUE(law$plug_in)) return(c(mean, mean * law$sd))
  square <- law_moment(law, 2)
  c(mean, if (is.finite(square)) sqrt(max(square - mean^2, 0)) else Inf)
}

# Quantiles of exp(t).
law_limits <- function(law, level) {
  exp(vapply(c(1 - level, 1 + level) / 2, log_quantile_of, 0, law = law))
}

log_quantile_of <- function(law, p) {
  if (is.null(law$at)) point_quantile(law, p) else grid_quantile(p, law)
}

grid_quantile <- function(p, law) {
  masses <- law_masses(law, 0)
  if (!isTRUE(sum(masses) > 0)) return(NA_real_) # a grid so far out that densities are no numbers
  below <- cumsum(masses) / sum(masses)
  n <- length(law$at)
  k <- which(below >= p)[1L]
  if (k == 1L) return(law$at[1L] + log(p / below[1L]) / law$slope[1L])
  if (k > n) return(law$at[n] + log((1 - p) / (1 - below[n])) / law$slope[2L])
  share <- (p - below[k - 1L]) / (below[k] - below[k - 1L])
  rise <- law$log[k] - law$log[k - 1L]
  part <- if (abs(rise) < 1e-8) share else log1p(share * expm1(rise)) / rise
  law$at[k - 1L] + part * (law$at[k] - law$at[k - 1L])
}

# ---- what methods ask of a posterior's variances ------------------------------------------------

#' @export
block_spread.bsvm_mixture <- function(posterior, fit, k, level) {
  block <- all_blocks(fit)[[k]]
  covariance <- block_covariance(block)
  t(vapply(seq_len(nrow(covariance)), function(i) {
    if (length(posterior$free[[k]]) == 0L) {
      root <- sqrt(covariance[1L])
      return(c(covariance[1L], root, 0, root, root, Inf))
    }
    law <- if (is_joint(block)) effect_sd_law(posterior, block, k, i) else log_sd_law(posterior, k)
    c(covariance[i, i], law_spread(law), law_limits(law, level), Inf)
  }, numeric(6)))
}

# For effect i of a block with a covariance.
effect_sd_law <- function(posterior, block, k, i) {
  point_law(posterior, posterior$free[[k]], function(theta) {
    log(point_covariance(block, theta)[i, i]) / 2
  })
}

#' @export
effect_correlations.bsvm_mixture <- function(posterior, fit) {
  fill_by_factor(fit, function(block, k) {
    if (!is_joint(block)) return(matrix(1))
    weighted_sum(lapply(block_points(posterior, block, k), stats::cov2cor), posterior$weights)
  })
}

# Limits are those of Fisher's z.
largest_correlation <- 1 - 1e-12

#' @export
correlation_spread.bsvm_mixture <- function(posterior, fit, k, pairs, level) {
  block <- all_blocks(fit)[[k]]
  tails <- c(1 - check_level(level), 1 + level) / 2
  t(apply(pairs, 1L, function(pair) {
    own <- function(theta) stats::cov2cor(point_covariance(block, theta))[pair[1L], pair[2L]]
    moments <- point_moments(point_law(posterior, posterior$free[[k]], own))
    z <- point_law(posterior, posterior$free[[k]], function(theta) {
      atanh(pmin(pmax(own(theta), -largest_correlation), largest_correlation))
    })
    c(moments$mean, moments$sd, tanh(vapply(tails, point_quantile, 0, law = z)))
  }))
}
