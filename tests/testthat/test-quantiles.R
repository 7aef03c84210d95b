# Several quantiles: each is its own fit, and they never cross.

crossing_data <- function() {
  with_seed(5, {
    x <- stats::rnorm(25)
    data.frame(x = x, y = x + (1 + 0.8 * x) * stats::rnorm(25))
  })
}

test_that("each is the fit of its own, and predictions do not cross", {
  data <- crossing_data()
  tau <- c(0.9, 0.25, 0.5)
  fits <- bsvm(y ~ x, data, likelihood = likelihood_quantile(tau), engine = "vb")
  expect_named(fits, c("0.25", "0.5", "0.9"))
  alone <- bsvm(y ~ x, data, likelihood = likelihood_quantile(0.5), engine = "vb")
  expect_identical(coef(fits)[, "0.5"], fixef(alone))
  new <- data.frame(x = c(-6, -2, 0, 3, NA))
  found <- predict(fits, new)
  expect_true(all(diff(t(found[1:4, ])) >= 0))
  raw <- sapply(unclass(fits), predict, newdata = new)
  expect_true(any(diff(t(raw[1:4, ])) < 0)) # there is something to sort
  expect_equal(unname(found[1:4, ]), unname(t(apply(raw[1:4, ], 1, sort))))
  expect_true(all(is.na(found[5, ])))
  expect_true(all(diff(t(fitted(fits))) >= 0))
})

test_that("a matrix, prints, intervals and pictures", {
  data <- crossing_data()
  fits <- bsvm(as.matrix(data["x"]), data$y, likelihood = likelihood_quantile(c(0.2, 0.8), scale = 0.5),
               engine = "gaussian")
  expect_identical(fits[[1L]]$likelihood$parameters[["scale"]], 0.5)
  expect_output(print(fits), "0.2")
  expect_output(print(summary(fits)), "quantile 0.8")
  expect_identical(confint(fits)[["0.8"]], suppressMessages(confint(fits[["0.8"]], method = "sandwich")))
  skip_if_not_installed("ggplot2")
  expect_s3_class(plot(fits), "ggplot")
})

test_that("what can't be is refused", {
  expect_refusal(likelihood_quantile(c(0.5, 0.5)), "argument", "`tau`")
  expect_refusal(likelihood_quantile(c(0.5, 1.5)), "argument", "`tau`")
  fits <- bsvm(y ~ x, crossing_data(), likelihood = likelihood_quantile(c(0.2, 0.8)), engine = "vb")
  expect_refusal(predict(fits, interval = TRUE), "argument", "`interval`")
})

test_that("other methods work on all of them, and some can be taken", {
  data <- crossing_data()
  fits <- bsvm(y ~ x, data, likelihood = likelihood_quantile(c(0.2, 0.5, 0.8)), engine = "vb")
  expect_identical(dim(residuals(fits)), c(25L, 3L))
  expect_identical(nobs(fits), 25L)
  expect_equal(formula(fits), y ~ x, ignore_attr = TRUE)
  expect_s3_class(fits["0.5"], "bsvm_quantiles")
  expect_identical(rownames(coef(update(fits, . ~ 1))), "(Intercept)")
  expect_named(likelihood_quantile(c(0.1, 0.10000001)), c("0.1", "0.10000001"))
})

test_that("what is for one quantile says how to get it", {
  fit <- bsvm(mpg ~ wt, mtcars, likelihood = likelihood_quantile(c(0.3, 0.6)))
  for (f in list(hypothesis, importance, prior_predict, posterior_epred, simulate, as.matrix, tidy)) {
    expect_refusal(f(fit), "unsupported", "`fit[[1]]`")
  }
  expect_s3_class(hypothesis(fit[[1]]), "bsvm_hypothesis")
})
