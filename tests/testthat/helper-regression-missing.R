# Regression with a partly missing predictor by a plain sampler: random walks of the coefficients
# and the density's parameters given all entries, entries proposed from the imputation model, which
# is drawn given these. It shares nothing with the package, latent scales and integrals included.
#   x (n, 2)   x1 has missing values, x2 has none; the model is y = b0 + b1 x1 + b2 x2 + residual
#   log_p      (r, scale, nu) of a residual; `shape`: does it have a nu, uniform a priori?
#   weight     powers of the rows' likelihoods
#   variance   of b1 and b2 a priori; b0 ~ N(0, wide^2), scale ~ half-t(3, unit)
# Returns draws: b0, b1, b2, log scale, log (1 - nu) / nu if there is one, then the missing values.
sampler_regression_missing <- function(y, x, log_p, shape, weight, variance, wide, unit,
                                       draws = 8000, burnin = 2000, steps = 6) {
  n <- length(y)
  lost <- which(is.na(x[, 1]))
  center <- colMeans(x, na.rm = TRUE)
  scale <- apply(x, 2, sd, na.rm = TRUE)
  u <- sweep(sweep(x, 2, center), 2, scale, "/")
  u[lost, 1] <- 0
  linear <- function(theta, u1) {
    theta[1] + theta[2] * (center[1] + scale[1] * u1) + theta[3] * x[, 2]
  }
  rows <- function(theta, u1) {
    nu <- if (shape) 1 / (1 + exp(theta[5])) else 1
    weight * log_p(y - linear(theta, u1), exp(theta[4]), nu)
  }
  log_prior <- function(theta) {
    dnorm(theta[1], 0, wide, log = TRUE) + sum(dnorm(theta[2:3], 0, sqrt(variance), log = TRUE)) +
      log_half_t(exp(theta[4]), 3, unit) + theta[4] +
      if (shape) theta[5] - 2 * log1p(exp(theta[5])) else 0
  }
  size <- 4L + shape
  start <- stats::lm(y ~ x[, 2])
  theta <- c(stats::coef(start)[1], 0, stats::coef(start)[2], log(stats::sd(y) / 2), 0)
  theta <- theta[seq_len(size)]
  root <- diag(c(rep(0.2 * stats::sd(y), 3), 0.3, 0.5)[seq_len(size)], size)
  mean <- c(0, 0)
  precision <- diag(2)
  seen <- matrix(0, burnin, size)
  out <- matrix(0, draws, size + length(lost))
  for (sweep in seq_len(burnin + draws)) {
    value <- sum(rows(theta, u[, 1])) + log_prior(theta)
    for (step in seq_len(steps)) {
      to <- theta + drop(root %*% rnorm(size)) * 2.4 / sqrt(size)
      there <- sum(rows(to, u[, 1])) + log_prior(to)
      if (log(runif(1)) < there - value) {
        theta <- to
        value <- there
      }
    }
    for (step in 1:2) {
      to <- u[, 1]
      to[lost] <- mean[1] - precision[1, 2] / precision[1, 1] * (u[lost, 2] - mean[2]) +
        rnorm(length(lost)) / sqrt(precision[1, 1])
      gain <- (rows(theta, to) - rows(theta, u[, 1]))[lost]
      taken <- lost[log(runif(length(lost))) < gain]
      u[taken, 1] <- to[taken]
    }
    root_mean <- chol(n * precision + diag(2) / 1e8)
    mean <- drop(backsolve(root_mean, backsolve(root_mean, precision %*% colSums(u),
                                                transpose = TRUE) + rnorm(2)))
    scatter <- crossprod(sweep(u, 2, mean)) + 0.01 * diag(2)
    precision <- stats::rWishart(1, n + 3, solve(scatter))[, , 1]
    if (sweep <= burnin) {
      seen[sweep, ] <- theta
      if (sweep %in% c(burnin / 4, burnin / 2)) {
        root <- t(chol(stats::cov(seen[seq(sweep / 2, sweep), ]) + 1e-8 * diag(size)))
      }
    } else {
      out[sweep - burnin, ] <- c(theta, center[1] + scale[1] * u[lost, 1])
    }
  }
  out
}

# A regression in which x1 is missing in a quarter of the rows.
regression_missing <- function(seed = 1, n = 26) {
  with_seed(seed, {
    x1 <- rnorm(n)
    x2 <- 0.5 * x1 + rnorm(n)
    d <- data.frame(y = 1 + x1 - 0.6 * x2 + 0.5 * rt(n, 4), x1, x2)
    d$x1[seq(2, n, by = 4)] <- NA
    d
  })
}
