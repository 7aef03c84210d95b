# A slow plain-R twin of variational Bayes with the Laplace-zero prior (Luts & Ormerod 2014,
# Algorithm 3): dense matrices, plain updates, the bound from its definition. It shares no code with
# the package.
#
#   f = offset + design %*% (g * v),  v_k ~ N(0, s2 / b_k) for k in `selected`, g_k = 1 elsewhere
#   and v_k ~ N(0, variance[k])
#
# Group effects of fixed variance are columns that are always in.

selection_twin <- function(design, y, selected, rho, shape = 0.01, scale = 0.01, variance = 1e8,
                           weight = rep(1, length(y)), offset = rep(0, length(y)),
                           inclusion = NULL) {
  design <- unname(design)
  p <- ncol(design)
  g <- rep(1, p)
  if (!is.null(inclusion)) g[selected] <- inclusion
  list(design = design, y = y, selected = selected, rho = rho, shape = shape, scale = scale,
       variance = rep_len(variance, p), weight = weight, offset = offset, g = g,
       mean = numeric(p), w = rep(1 / sqrt(2), length(y)), b = rep(1, length(selected)),
       q_shape = 1, q_scale = 1)
}

second_moment_of_inclusion <- function(g) tcrossprod(g) + diag(g * (1 - g), length(g))

# Coefficients, their b and indicators, given the rows' quadratic.
coefficients_pass <- function(q, gram, linear) {
  s <- q$selected
  prior <- 1 / q$variance
  prior[s] <- q$q_shape / q$q_scale * q$b
  q$covariance <- solve(gram * second_moment_of_inclusion(q$g) + diag(prior, length(prior)))
  q$mean <- drop(q$covariance %*% (q$g * linear))
  second <- q$covariance + tcrossprod(q$mean)
  q$b <- 1 / sqrt(q$q_shape / q$q_scale * diag(second)[s])
  for (k in s) {
    eta <- log(q$rho) - log1p(-q$rho) - gram[k, k] * second[k, k] / 2 + linear[k] * q$mean[k] -
      sum(gram[k, -k] * q$g[-k] * second[k, -k])
    q$g[k] <- stats::plogis(eta)
  }
  q
}

# One pass of Algorithm 3. With `joint` b and s2 are iterated to their common optimum.
selection_pass <- function(q, joint = FALSE) {
  s <- q$selected
  q <- coefficients_pass(q, crossprod(q$design, q$weight * q$w * q$design),
                         crossprod(q$design, q$weight * (q$y * (1 + q$w) - q$w * q$offset)))
  second <- q$covariance + tcrossprod(q$mean)
  q$w <- 1 / sqrt(selection_chi(q))
  q$q_shape <- q$shape + length(s) / 2
  repeat {
    before <- q$q_scale
    q$q_scale <- q$scale + sum(q$b * diag(second)[s]) / 2
    if (!joint || abs(q$q_scale / before - 1) < 1e-15) return(q)
    q$b <- 1 / sqrt(q$q_shape / q$q_scale * diag(second)[s])
  }
}

selection_chi <- function(q) {
  second <- second_moment_of_inclusion(q$g) * (q$covariance + tcrossprod(q$mean))
  effective <- drop(q$design %*% (q$g * q$mean))
  (1 - q$y * q$offset)^2 - 2 * (q$y - q$offset) * effective +
    rowSums((q$design %*% second) * q$design)
}

# E_q[log p - log q], every constant in it.
selection_bound <- function(q) {
  s <- q$selected
  second <- diag(q$covariance) + q$mean^2
  link <- q$offset + drop(q$design %*% (q$g * q$mean))
  rows <- sum(q$weight * (q$y * link - 1 - sqrt(selection_chi(q))))
  inverse <- q$q_shape / q$q_scale
  log_s2 <- log(q$q_scale) - digamma(q$q_shape)
  other <- setdiff(seq_along(q$g), s)
  normal <- -sum(log(2 * pi * q$variance[other]) + second[other] / q$variance[other]) / 2
  laplace <- -sum(log(2) + log_s2 / 2 + inverse * q$b * second[s] / 2 + 1 / (2 * q$b))
  scale <- q$shape * log(q$scale) - lgamma(q$shape) - (q$shape + 1) * log_s2 - q$scale * inverse -
    (q$q_shape * log(q$q_scale) - lgamma(q$q_shape) - (q$q_shape + 1) * log_s2 - q$q_shape)
  g <- q$g[s]
  included <- sum(ifelse(g > 0, g * log(q$rho / g), 0)) +
    sum(ifelse(g < 1, (1 - g) * log((1 - q$rho) / (1 - g)), 0))
  entropy <- length(q$g) / 2 * (1 + log(2 * pi)) + determinant(q$covariance)$modulus[1L] / 2
  rows + normal + laplace + scale + included + entropy
}

# Passes until the bound gains no more than `gain` and no effective coefficient moves by more than
# `move`; the bounds of all of them.
run_selection_twin <- function(q, most = 50000L, gain = 1e-10, move = 1e-10, joint = FALSE) {
  bounds <- numeric(0)
  for (pass in seq_len(most)) {
    before <- effective_mean(q)
    q <- selection_pass(q, joint)
    bounds[pass] <- selection_bound(q)
    if (pass == 1L || bounds[pass] - bounds[pass - 1L] > gain) next
    if (max(abs(effective_mean(q) - before)) <= move) break
  }
  q$bounds <- bounds
  q
}

effective_mean <- function(q) q$g * q$mean

effective_covariance <- function(q) {
  second_moment_of_inclusion(q$g) * (q$covariance + tcrossprod(q$mean)) -
    tcrossprod(effective_mean(q))
}

# Draws of log p - log q, latent scales of the rows included: 1/a is inverse Gaussian with mean
# chi^{-1/2} and shape 1.
selection_draws <- function(q, number) {
  s <- q$selected
  chi <- selection_chi(q)
  factor <- t(chol(q$covariance))
  log_ig <- function(x, shape, scale) {
    shape * log(scale) - lgamma(shape) - (shape + 1) * log(x) - scale / x
  }
  vapply(seq_len(number), function(i) {
    z <- stats::rnorm(length(q$mean))
    v <- q$mean + drop(factor %*% z)
    g <- replace(rep(1, length(v)), s, stats::rbinom(length(s), 1L, q$g[s]))
    s2 <- q$q_scale / stats::rgamma(1L, q$q_shape)
    b <- draw_inverse_gaussian(q$b)
    inverse <- draw_inverse_gaussian(1 / sqrt(chi))
    u <- 1 - q$y * (q$offset + drop(q$design %*% (g * v)))
    a <- 1 / inverse
    # p(y, a | f) = N(u; -a, a); the law of 1/a is that of q(a) with a Jacobian a^-2
    rows <- stats::dnorm(u, -a, sqrt(a), log = TRUE) -
      (log_inverse_gaussian(inverse, 1 / sqrt(chi)) - 2 * log(a))
    variance <- replace(q$variance, s, s2 / b)
    sum(rows) + sum(stats::dnorm(v, 0, sqrt(variance), log = TRUE)) + log_ig(s2, q$shape, q$scale) +
      sum(log_ig(b, 1, 0.5)) + sum(stats::dbinom(g[s], 1L, q$rho, log = TRUE)) -
      sum(stats::dnorm(z, log = TRUE)) + sum(log(diag(factor))) - log_ig(s2, q$q_shape, q$q_scale) -
      sum(log_inverse_gaussian(b, q$b)) - sum(stats::dbinom(g[s], 1L, q$g[s], log = TRUE))
  }, 0)
}

# Shape 1 (Michael, Schucany & Haas 1976).
draw_inverse_gaussian <- function(mean) {
  y <- mean * stats::rnorm(length(mean))^2
  x <- mean * (1 + y / 2 - sqrt(y + y^2 / 4))
  ifelse(stats::runif(length(mean)) <= mean / (mean + x), x, mean^2 / x)
}

log_inverse_gaussian <- function(x, mean) {
  -0.5 * (log(2 * pi * x^3) + (x - mean)^2 / (mean^2 * x))
}
