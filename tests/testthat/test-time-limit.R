# setTimeLimit() is the caller's: it ends a fit with R's own error, and the next fit is well.

# The error of `code`, which is given `seconds`; NULL if it ended.
limited <- function(code, seconds = 0.5) {
  on.exit(setTimeLimit())
  tryCatch({
    setTimeLimit(elapsed = seconds, transient = TRUE)
    force(code)
    NULL
  }, error = identity)
}

expect_time_limit <- function(error) {
  expect_s3_class(error, "error")
  expect_false(inherits(error, "bsvm_error"))
  expect_identical(conditionMessage(error), gettext("reached elapsed time limit", domain = "R"))
}

test_that("a time limit ends fits of every kind as an error", {
  skip_on_cran()
  d <- grouped_data(3000, 300)
  x <- with_seed(1, matrix(rnorm(6e5), ncol = 60))
  y <- x[, 1] > 0
  quiet <- bsvm_control(verbose = FALSE)
  expect_time_limit(limited(
    bsvm(x, y, engine = engine_vb(accelerate = FALSE), prior = prior_ridge(variance = 1),
         likelihood = likelihood_hinge(), control = bsvm_control(tol = 1e-300, max_passes = 1e6L))
  ))
  expect_time_limit(limited(
    bsvm(y ~ x1 + (1 | g), d, engine = engine_gibbs(1e5, chains = 2), control = quiet,
         likelihood = likelihood_hinge())
  ))
  expect_time_limit(limited(
    bsvm(y ~ x1 + (1 | g), d, engine = engine_slice(1e5, chains = 1), control = quiet,
         likelihood = likelihood_hinge(normalized = TRUE))
  ))
  expect_time_limit(limited(
    bsvm(y ~ x1 + (t | g), d, engine = "gaussian", control = quiet,
         likelihood = likelihood_hinge(normalized = TRUE))
  ))
  expect_valid_fit(bsvm(y ~ x1, d, engine = "vb", likelihood = likelihood_hinge()))
})

test_that("a time limit ends a study, and is not one failure in it", {
  skip_on_cran()
  d <- binary_data(80)
  slow <- function(data) {
    Sys.sleep(0.2)
    function(new) new$x1
  }
  expect_time_limit(limited(holdout(list(slow = slow), d, response = "y", times = 50), 0.7))
})
