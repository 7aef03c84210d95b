# The standard deviation of slopes that hardly matter has much of its posterior at nothing; beside a
# mode farther up, or by itself. One slope and quadrature, the intercept all but fixed at zero.

# Posterior of theta = log s on a grid: half-t(df, scale) on s, b ~ N(0, s^2).
exact_log_sd <- function(x, y, normalized, df, scale) {
  log_p <- function(z) {
    h <- function(z) -2 * pmax(0, 1 - z)
    if (normalized) h(z) - log(exp(h(z)) + exp(h(-z))) else h(z)
  }
  theta <- seq(-10, 4, 0.05)
  value <- vapply(theta, function(t) {
    z <- seq(-8, 8, 0.02)
    b <- if (exp(t) > 0.1) seq(-6, 6, 0.01) else exp(t) * z
    step <- b[2L] - b[1L]
    margins <- outer(x * y, b)
    rows <- colSums(matrix(log_p(margins), length(x)))
    log(sum(exp(rows + stats::dnorm(b, 0, exp(t), log = TRUE)) * step))
  }, 0)
  log_prior <- theta - (df + 1) / 2 * log1p(exp(2 * theta) / (df * scale^2))
  mass <- exp(value + log_prior - max(value + log_prior))
  list(theta = theta, mass = mass / sum(mass))
}

test_that("the posterior of a variance near zero is the exact one", {
  for (n in c(40L, 100L)) for (normalized in c(FALSE, TRUE)) for (scale in c(0.25, 1)) {
    set.seed(1)
    x <- rnorm(n)
    y <- ifelse(runif(n) < plogis(0.4 * x), 1, -1)
    truth <- exact_log_sd(x, y, normalized, 3, scale)
    fit <- bsvm(cbind(x), factor(y), standardize = FALSE, engine = engine_gaussian(),
                likelihood = likelihood_hinge(normalized = normalized),
                prior = list("(Intercept)" = prior_ridge(variance = 1e-8),
                             prior_ridge(variance = prior_half_t(3, scale))))
    theta <- drop(fit$posterior$theta)
    weights <- fit$posterior$weights
    mean <- sum(truth$mass * truth$theta)
    sd <- sqrt(sum(truth$mass * (truth$theta - mean)^2))
    found <- sum(weights * theta)
    expect_lt(abs(found - mean), 0.06 * sd)
    expect_lt(abs(sqrt(sum(weights * (theta - found)^2)) / sd - 1), 0.1)
    expect_equal(sum(weights * exp(theta)), sum(truth$mass * exp(truth$theta)), tolerance = 0.05)
  }
})

# Rows near the pseudo-likelihood's margin: a mode at nothing, a dip, a mode farther up.
test_that("two modes of a variance are both there", {
  skip_if_not_installed("MASS")
  skip_on_cran()
  d <- MASS::birthwt
  x <- stats::model.matrix(~ factor(race) + age + lwt + smoke + ptl + ht + ui + ftv + I(age^2) +
                             I(lwt^2), d)[, -1]
  fit <- bsvm(x, factor(d$low), engine = engine_gaussian(), likelihood = likelihood_hinge(),
              prior = prior_ridge(variance = prior_half_t()))
  theta <- drop(fit$posterior$theta)
  weights <- fit$posterior$weights
  low <- sum(weights[theta < log(0.08)])
  expect_gt(low, 0.04)
  expect_lt(low, 0.4)
  expect_lt(min(theta), -4)
  dip <- which(diff(sign(diff(fit$posterior$log_density))) > 0)
  expect_length(dip, 1L)
})

# The mode at nothing must be found from a top far above it, whatever the contrasts: averages over
# kinks lose their way there in one step.
test_that("the reference level of a factor does not hide a variance's mode", {
  skip_if_not_installed("MASS")
  skip_on_cran()
  b <- MASS::bacteria
  fits <- lapply(c("placebo", "drug", "drug+"), function(base) {
    b$trt <- stats::relevel(factor(as.character(b$trt)), base)
    bsvm(y ~ trt + week + (1 | ID), b, engine = engine_gaussian(), likelihood = likelihood_hinge())
  })
  low <- vapply(fits, function(fit) {
    sum(fit$posterior$weights[drop(fit$posterior$theta) < log(0.35)])
  }, 0)
  expect_gt(min(low), 0.43)  # Gibbs sampling, 60000 draws: 0.51 to 0.58 in four chains
  expect_lt(max(low), 0.6)
  expect_lt(diff(range(low)), 0.02)
  week <- vapply(fits, function(fit) coef(fit)[["week"]], 0)
  expect_lt(diff(range(week)), 0.006 * sqrt(vcov(fits[[1L]])["week", "week"]))
})
