# What the intervals and variances mean: simulations under a logistic model, which shares no code
# with the package. Figures with more data sets are in bench/.

bsvm <- paper_bsvm

normalised <- likelihood_hinge(normalized = TRUE)

# Share of 95 % intervals, all coefficients, that hold the mean of the posterior means.
simulated_coverage <- function(likelihood, sets, n = 500) {
  set.seed(5)
  intervals <- replicate(sets, {
    x <- matrix(rnorm(4 * n), n)
    d <- data.frame(y = rbinom(n, 1, plogis(drop(x %*% c(0.5, -0.5, 0.25, 0)))), x)
    fit <- bsvm(y ~ ., d, engine = engine_gaussian(), likelihood = likelihood)
    cbind(fixef(fit), suppressMessages(confint(fit)))
  })
  own <- rowMeans(intervals[, 1, ])
  mean(intervals[, 2, ] <= own & own <= intervals[, 3, ])
}

test_that("95 % intervals cover under the normalised likelihood, and do not under the other", {
  skip_unless_extended()
  covered <- simulated_coverage(normalised, 100)
  expect_gt(covered, 0.92)
  expect_lt(covered, 0.975)
  expect_lt(simulated_coverage(likelihood_hinge(), 100), 0.85)
})

grouped_binary <- function(truth, seed) {
  set.seed(seed)
  g <- gl(400, 5)
  x <- rnorm(2000)
  data.frame(y = rbinom(2000, 1, plogis(x + truth * rnorm(400)[g])), x, g)
}

sd_over_slope <- function(data, likelihood) {
  fit <- bsvm(y ~ x + (1 | g), data, engine = engine_gaussian(), likelihood = likelihood,
              prior = list(g = prior_ridge(variance = prior_half_t())))
  attr(VarCorr(fit)$g, "stddev")[[1]] / fixef(fit)[["x"]]
}

test_that("a group standard deviation of one slope is found, as by maximum likelihood", {
  skip_unless_extended()
  skip_if_not_installed("lme4")
  for (seed in 1:3) {
    d <- grouped_binary(1, seed)
    fit <- lme4::glmer(y ~ x + (1 | g), d, binomial(), nAGQ = 9)
    expected <- attr(lme4::VarCorr(fit)$g, "stddev")[[1]] / lme4::fixef(fit)[["x"]]
    expect_close(sd_over_slope(d, normalised), expected, 0.02)
  }
})

test_that("no group variance is invented where there is none, but by the pseudo-likelihood", {
  skip_unless_extended()
  ratios <- vapply(1:5, function(seed) sd_over_slope(grouped_binary(0, seed), normalised), 0)
  expect_lt(mean(ratios), 0.25)
  expect_lt(max(ratios), 0.35)
  expect_gt(sd_over_slope(grouped_binary(0, 1), likelihood_hinge()), 0.6)
})
