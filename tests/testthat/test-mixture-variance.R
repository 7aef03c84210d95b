# Laws of standard deviations from a few points.

level <- 0.9

# Integrals of a density on the line, from its log.
line_moments <- function(log_density, from, to) {
  total <- integrate(function(t) exp(log_density(t)), from, to, rel.tol = 1e-10,
                     subdivisions = 2000)$value
  moment <- function(a) {
    integrate(function(t) exp(log_density(t) + a * t), from, to, rel.tol = 1e-10,
              subdivisions = 2000)$value / total
  }
  below <- function(x) integrate(function(t) exp(log_density(t)), from, x, rel.tol = 1e-10,
                                 subdivisions = 2000)$value / total
  list(mean = moment(1), square = moment(2), below = below)
}

# Four points at equal steps on the parabola through three.
parabola <- function(t, l) {
  at <- t[3] + seq_len(4) * (t[3] - t[2])
  list(at, drop(outer(at, 1:3, Vectorize(function(x, k) {
    prod((x - t[-k]) / (t[k] - t[-k]))
  })) %*% l))
}

test_that("moments and quantiles of a spline's law against quadrature of the same spline", {
  theta <- seq(-1, 1.5, length.out = 9)
  log_density <- dgamma(exp(2 * theta), 3, 2, log = TRUE) + 2 * theta
  above <- parabola(theta[7:9], log_density[7:9])
  below <- parabola(theta[3:1], log_density[3:1])
  expect_true(above[[2]][1] < log_density[9] && below[[2]][1] < log_density[1])
  spline <- splinefun(c(theta, above[[1]], below[[1]]), c(log_density, above[[2]], below[[2]]),
                      method = "natural")
  exact <- line_moments(spline, -6, 4)
  law <- bsvm:::spline_law(rev(theta), rev(log_density))
  expect_close(bsvm:::law_moment(law, 2), exact$square, 1e-5)
  expect_close(bsvm:::law_spread(law), c(exact$mean, sqrt(exact$square - exact$mean^2)), 1e-5)
  limits <- log(bsvm:::law_limits(law, level))
  expect_close(vapply(limits, exact$below, 0), c(0.05, 0.95), 1e-5)
  # in the tail, beyond the points
  limits <- log(bsvm:::law_limits(law, 1 - 1e-7))
  expect_true(limits[1] < -1)
  outside <- line_moments(spline, -30, 12)
  expect_close(outside$below(limits[1]) / 5e-8, 1, 1e-3)
})

test_that("and close to the law behind the spline", {
  theta <- log(1.7) + seq(-3, 3, length.out = 13) * 0.2
  law <- bsvm:::spline_law(theta, dnorm(theta, log(1.7), 0.2, log = TRUE))
  expect_close(bsvm:::law_spread(law),
               1.7 * c(exp(0.02), sqrt(exp(0.08) - exp(0.04))), 1e-5)
  expect_close(bsvm:::law_limits(law, level), 1.7 * exp(c(-1, 1) * qnorm(0.95) * 0.2), 1e-5)
})

test_that("a wide normal law has its moments from a few points", {
  sd <- 1.6 # its tail at the last point falls more slowly than exp(-2 t)
  theta <- seq(-2.5, 2.5, by = 1.25) * sd
  law <- bsvm:::spline_law(theta, dnorm(theta, 0, sd, log = TRUE))
  expect_close(bsvm:::law_moment(law, 2) / exp(2 * sd^2), 1, 0.01)
})

test_that("a law over points of several parameters has their mean and sd, skewness, and no steps", {
  theta <- seq(-4, 4, by = 1.75)
  posterior <- list(theta = rbind(theta, 0), weights = dnorm(theta) / sum(dnorm(theta)))
  law <- bsvm:::point_law(posterior, 1L, identity)
  expect_close(unlist(bsvm:::point_moments(law)), c(0, 1), 0.02)
  expect_close(log(bsvm:::law_limits(law, 0.95)), c(-1, 1) * 1.96, 0.06)
  expect_close(bsvm:::law_moment(law, 1) / exp(0.5), 1, 0.02)
  skewed <- list(theta = rbind(exp(theta / 3), 0), weights = posterior$weights)
  law <- bsvm:::point_law(skewed, 1L, identity)
  limits <- log(bsvm:::law_limits(law, 0.95))
  expect_close(limits, exp(c(-1, 1) * 1.96 / 3), 0.1)
})

test_that("a tail that falls too slowly has no mean; one that rises ends at the last point", {
  theta <- seq(-2, 2, 0.5)
  heavy <- bsvm:::spline_law(theta, -abs(theta))
  expect_identical(bsvm:::law_moment(heavy, 2), Inf)
  expect_identical(bsvm:::law_spread(heavy)[2], Inf)
  expect_finite(bsvm:::law_limits(heavy, level))
  rising <- bsvm:::spline_law(theta, ifelse(theta < 0, 0, -3 * theta))
  expect_true(bsvm:::law_limits(rising, 1 - 1e-9)[1] >= exp(-2) * (1 - 1e-6))
  expect_finite(bsvm:::law_spread(rising))
})

block <- list(prior = list(name = "inverse_wishart", parameters = c(effects = 2)), columns = 2:3,
              factor = "g", label = "g", labels = c("(Intercept)", "x"))

test_that("free parameters of a covariance stand by rows of its root", {
  theta <- c(0.3, -0.4, 0.1)
  root <- rbind(c(exp(0.3), 0), c(-0.4, exp(0.1)))
  expect_close(bsvm:::point_covariance(block, theta), root %*% t(root), 1e-14)
  expect_close(bsvm:::free_of_root(root), theta, 1e-14)
  big <- crossprod(matrix(c(1, 2, 0.5, -1, 3, 1, 0, 1, 2), 3)) + diag(3)
  expect_close(bsvm:::point_covariance(list(columns = 1:3, factor = "g"),
                                       bsvm:::free_of_covariance(big)), big, 1e-13)
})

posterior_of <- function(theta, weights, ...) {
  structure(list(theta = theta, weights = weights, log_density = log(weights), ...),
            class = "bsvm_mixture")
}

test_that("covariances, standard deviations and correlations are means over the points", {
  theta <- cbind(c(0.3, -0.4, 0.1), c(0.5, 0.2, 0), c(0.1, 0.6, -0.2))
  weights <- c(0.5, 0.3, 0.2)
  fit <- list(posterior = posterior_of(theta, weights, free = list(1:3)), blocks = list(),
              groups = list(g = list(name = "g", labels = c("(Intercept)", "x"))))
  block$columns <- 1:2
  sigma <- lapply(1:3, function(k) bsvm:::point_covariance(block, theta[, k]))
  mean <- sigma[[1]] * 0.5 + sigma[[2]] * 0.3 + sigma[[3]] * 0.2
  block$hyper <- bsvm:::mixture_hyper(fit$posterior, block, 1L)
  fit$group_blocks <- list(block)
  expect_close(bsvm:::block_covariance(block), mean, 1e-14)
  inverse <- solve(sigma[[1]]) * 0.5 + solve(sigma[[2]]) * 0.3 + solve(sigma[[3]]) * 0.2
  expect_close(block$hyper[["inverse_mean_2_1"]], inverse[2, 1], 1e-13)
  logs <- vapply(sigma, function(s) log(s[2, 2]) / 2, 0)
  centre <- sum(weights * logs)
  spread <- sqrt(sum(weights * (logs - centre)^2))
  got <- bsvm:::block_spread(fit$posterior, fit, 1L, level)
  expect_close(got[2, 1:5], c(mean[2, 2], exp(centre + spread^2 / 2),
                           sqrt(exp(2 * centre + 2 * spread^2) - exp(2 * centre + spread^2)),
                           exp(centre + c(-1, 1) * qnorm(0.95) * spread)), 1e-12)
  r <- vapply(sigma, function(s) cov2cor(s)[2, 1], 0)
  expect_close(bsvm:::effect_correlations(fit$posterior, fit)$g[2, 1], sum(weights * r), 1e-14)
  pair <- bsvm:::correlation_spread(fit$posterior, fit, 1L, cbind(2L, 1L), level)
  expect_close(pair[1:2], c(sum(weights * r), sqrt(sum(weights * (r - sum(weights * r))^2))), 1e-12)
})

test_that("a mode has values at the mode, and log-normal limits from its Hessian", {
  scalar <- list(prior = prior_ridge(0.01), columns = 1L, factor = "g", label = "g", labels = "x")
  posterior <- posterior_of(matrix(c(0.4, 0.3)), 1, free = list(1L, 2L),
                            theta_covariance = matrix(c(0.04, 0.01, 0.01, 0.09), 2))
  scalar$hyper <- bsvm:::mixture_hyper(posterior, scalar, 1L)
  expect_close(scalar$hyper[["mean"]], exp(0.8), 1e-14)
  fit <- list(posterior = posterior, blocks = list(), group_blocks = list(scalar))
  expect_close(bsvm:::block_spread(posterior, fit, 1L, level)[1:5],
               c(exp(0.8), exp(0.4), 0.2 * exp(0.4), exp(0.4 + c(-1, 1) * qnorm(0.95) * 0.2)),
               1e-8)
  # of a covariance by the chain rule: log sd_2 = log(F_21^2 + F_22^2) / 2
  theta <- c(0.3, -0.4, 0.1)
  v <- diag(c(0.04, 0.02, 0.03)) + 0.005
  joint <- posterior_of(matrix(theta), 1, free = list(1:3), theta_covariance = v)
  size <- 0.16 + exp(0.2)
  slope <- c(0, -0.4 / size, exp(0.2) / size)
  law <- bsvm:::effect_sd_law(joint, replace(block, "columns", list(1:2)), 1L, 2L)
  expect_close(law$sd, sqrt(drop(slope %*% v %*% slope)), 1e-7)
})

test_that("a fixed variance is itself", {
  fixed <- list(prior = prior_ridge(variance = 0.49), columns = 1L, factor = "g", label = "g",
                labels = "x")
  posterior <- posterior_of(matrix(0.2), 1, free = list(integer()))
  fixed$hyper <- bsvm:::mixture_hyper(posterior, fixed, 1L)
  fit <- list(posterior = posterior, blocks = list(), group_blocks = list(fixed))
  expect_close(bsvm:::block_spread(posterior, fit, 1L, level)[1:5], c(0.49, 0.7, 0, 0.7, 0.7),
               1e-14)
})
