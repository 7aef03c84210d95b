# Memory is linear in the columns where draws are summarised, and large allocations are refused.

wide_fit <- function(n = 30, p = 80, ...) {
  with_seed(1, {
    x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
    y <- x[, 1] + rnorm(n) > 0
    unchecked(bsvm(x, y, engine = engine_gibbs(chains = 2, draws = 20, burnin = 20),
                   likelihood = likelihood_hinge(), prior = prior_ridge(variance = 0.1), ...))
  })
}

test_that("draws of coefficients are those of rows that pick one each", {
  fit <- wide_fit()
  chosen <- c(1L, 5L, 81L, 2L)
  expect_equal(coefficient_draws(fit, chosen),
               linear_draws(fit, list(x = selector(fit$design, chosen))), tolerance = 1e-10,
               ignore_attr = TRUE)
  sd <- sqrt(row_variances(coefficient_draws(fit)))
  expect_equal(unname(unchecked(summary(fit))$coefficients[, "SD"])[chosen], sd[chosen],
               tolerance = 0.5)
  expect_equal(drawn_sd(fit), sd)
})

test_that("large allocations are refused before any work, with what to write", {
  fit <- wide_fit()
  old <- options(bsvm.max_memory = 1e5)
  on.exit(options(old))
  expect_refusal(vcov(fit), "size", c("81 coefficients", "bsvm.max_memory", "confint()"))
  expect_true(all(is.finite(confint(fit))))
  expect_finite(unchecked(summary(fit))$coefficients[, "SD"])
  options(bsvm.max_memory = 1e4)
  expect_refusal(wide_fit(), "size", "bsvm.max_memory")
  x <- matrix(rnorm(2e4), 100, dimnames = list(NULL, paste0("v", 1:200)))
  expect_refusal(bsvm(x, rep(0:1, 50), engine = "gaussian", likelihood = likelihood_hinge(),
                      prior = prior_ridge(variance = 1)), "size", c("dense columns", "GiB"))
})

test_that("the option for memory must be one positive number", {
  old <- options(bsvm.max_memory = NULL)
  on.exit(options(old))
  for (bad in list("1e9", NaN, NA, -5, 0, c(1, 2), list(1))) {
    options(bsvm.max_memory = bad)
    for (engine in c("vb", "gaussian", "gibbs")) {
      expect_refusal(bsvm(am ~ wt, mtcars, engine = engine), "argument",
                     c("bsvm.max_memory", "positive number"))
    }
  }
  options(bsvm.max_memory = Inf)
  expect_s3_class(bsvm(am ~ wt, mtcars, engine = "gaussian"), "bsvm")
})

# A p x p matrix of 20000 columns takes 3.2 GB.
test_that("draws of 20000 coefficients are summarised in memory linear in them", {
  skip_on_cran()
  fit <- wide_fit(p = 20000)
  old <- options(bsvm.max_memory = 2e8)
  on.exit(options(old))
  before <- sum(gc(reset = TRUE)[, 2])
  expect_finite(unchecked(summary(fit))$coefficients[, "SD"])
  expect_finite(unchecked(confint(fit)))
  expect_identical(nrow(unchecked(tidy(fit, conf.int = TRUE))), 20001L)
  expect_lt(sum(gc()[, 6]) - before, 1000) # Mb more at most, whatever the process had before
})
