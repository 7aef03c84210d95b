# engine_gaussian() of several responses: the log evidence.

two_responses <- function(n = 40L, seed = 3L) {
  set.seed(seed)
  d <- data.frame(x = runif(n, -2, 2), z = rnorm(n))
  e <- matrix(rnorm(2L * n), n) %*% chol(matrix(c(1, 0.7, 0.7, 1), 2L))
  d$a <- sin(2 * d$x) + 0.3 * e[, 1L]
  d$b <- 50 * (d$z + cos(2 * d$x) + 0.5 * e[, 2L])
  d
}

fit_evidence <- function(formula, data, ..., seed = 1L) {
  set.seed(seed)
  bsvm(formula, data, likelihood = likelihood_gaussian(), engine = engine_gaussian(), ...)
}

test_that("differences of the evidence are the odds of a choice of kernels", {
  d <- two_responses()
  prior <- list(gp = prior_ridge(variance = prior_half_t(3, 5)))
  short <- fit_evidence(cbind(a, b) ~ z + gp(x, kernel = kernel_se(lengthscale = 0.5)), d,
                        prior = prior)
  long <- fit_evidence(cbind(a, b) ~ z + gp(x, kernel = kernel_se(lengthscale = 0.9)), d,
                       prior = prior)
  set.seed(2)
  chosen <- bsvm(cbind(a, b) ~ z + gp(x, kernel = kernel_choice(kernel_se(lengthscale = 0.5),
                                                              kernel_se(lengthscale = 0.9))),
                 d, likelihood = likelihood_gaussian(), prior = prior,
                 engine = engine_gibbs(draws = 5000L, burnin = 500L))
  is_short <- chosen$kernels[[1L]] == 1
  share <- mean(is_short)
  expected <- plogis(elbo(short) - elbo(long))
  expect_gt(expected, 0.03)
  expect_lt(expected, 0.97)
  error <- sd(apply(matrix(is_short, 250L), 2L, mean)) / sqrt(length(is_short) / 250)
  expect_lt(abs(share - expected), 4 * error + 0.02)
})

test_that("draws are those of Gibbs sampling, and close to independent", {
  d <- two_responses()
  formula <- cbind(a, b) ~ z + gp(x)
  exact <- fit_evidence(formula, d)
  set.seed(5)
  gibbs <- bsvm(formula, d, likelihood = likelihood_gaussian(),
                engine = engine_gibbs(draws = 2000L, burnin = 300L))
  expect_lt(exact$evidence$pareto_k, 0.5)
  expect_lt(exact$evidence$error, 0.1)
  sd <- apply(posterior_linpred(gibbs), c(2L, 3L), sd)
  expect_lt(max(abs(predict(exact) - predict(gibbs)) / sd), 0.15)
  own <- VarCorr(exact)$residual__
  other <- VarCorr(gibbs)$residual__
  expect_lt(max(abs(attr(own, "table")$sd[, "Estimate"] / attr(other, "table")$sd[, "Estimate"] - 1)),
            0.03)
  expect_lt(abs(attr(own, "table")$correlation[, "Estimate"] -
                  attr(other, "table")$correlation[, "Estimate"]), 0.03)
  expect_gt(min(posterior::summarise_draws(posterior::as_draws(exact), "ess_bulk")$ess_bulk), 500)
})

test_that("the evidence is in units of the responses", {
  d <- two_responses()
  fit <- fit_evidence(cbind(a, b) ~ z + gp(x), d)
  scaled <- fit_evidence(cbind(a, b) ~ z + gp(x), transform(d, a = 10 * a + 3))
  expect_equal(elbo(scaled), elbo(fit) - nrow(d) * log(10), tolerance = 1e-6)
  linear <- fit_evidence(cbind(a, b) ~ z, d)
  scaled <- fit_evidence(cbind(a, b) ~ z, transform(d, a = 1e6 * a, b = b / 1e6))
  expect_equal(elbo(scaled), elbo(linear), tolerance = 1e-6)
  expect_output(print(summary(fit)), "engine_gaussian\\(\\): 4 chains")
  expect_output(print(fit), "Log evidence -.*Pareto k")
  expect_output(print(fit$fits$a), "draws about the modes of the variances")
  expect_error(elbo(fit$fits$a), "all of them", class = "bsvm_error_unsupported")
})

test_that("independent residuals have the sum of the responses' evidences", {
  d <- two_responses()
  fit <- bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_gaussian(residual = "independent"),
              engine = engine_gaussian())
  expect_equal(elbo(fit), sum(sapply(fit$fits, elbo)))
})

test_that("models without an evidence are refused with what to use", {
  d <- two_responses()
  d$g <- gl(8L, 5L)
  refused <- function(..., data = d, pattern) {
    expect_error(fit_evidence(..., data = data), pattern, class = "bsvm_error_unsupported")
  }
  refused(cbind(a, b) ~ x + (1 | g), pattern = "without grouping factors.*engine_gibbs")
  refused(cbind(a, b) ~ x, data = replace(d, cbind(1L, 3L), NA), pattern = "without missing values")
  refused(cbind(a, b) ~ gp(x) + gp(z), pattern = "at most one block of many columns.*gp\\(x\\)")
  refused(cbind(a, b) ~ gp(x, kernel = kernel_choice(kernel_se(1), kernel_matern(lengthscale = 1))),
          pattern = "not a choice")
  expect_error(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_laplace(residual = "correlated"),
                    engine = engine_gaussian()), "without a second", class = "bsvm_error_unsupported")
  refused(cbind(a, b) ~ x, prior = prior_lasso(), pattern = "another prior.*engine_gibbs")
  expect_error(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_gaussian(),
                    engine = engine_gaussian(integrate = FALSE)), "integrate",
               class = "bsvm_error_unsupported")
  set.seed(1)
  gibbs <- suppressWarnings(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_gaussian(),
                                 engine = engine_gibbs(draws = 20L, burnin = 10L)))
  expect_error(elbo(gibbs), "engine_gaussian", class = "bsvm_error_unsupported")
})

test_that("a huge outlier does not keep modes from being found", {
  d <- two_responses()
  d$a[15L] <- 1e6
  fit <- suppressWarnings(fit_evidence(cbind(a, b) ~ x, d))
  expect_true(is.finite(elbo(fit)))
})

test_that("a prior of the only slope goes by name", {
  d <- two_responses()
  fit <- fit_evidence(cbind(a, b) ~ z, d, prior = list(z = prior_ridge()))
  expect_equal(elbo(fit), elbo(fit_evidence(cbind(a, b) ~ z, d, prior = prior_ridge())),
               tolerance = 0.05)
})
