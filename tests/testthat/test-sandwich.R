# The sandwich covariance against its definition, and against what it is for.

test_that("under a normal likelihood and a flat prior it is White's", {
  data <- numbers_data(60)
  fit <- bsvm(y ~ x, data, prior = prior_flat(), likelihood = likelihood_gaussian(scale = 2),
              engine = engine_gaussian())
  model <- stats::lm(y ~ x, data)
  x <- stats::model.matrix(model)
  bread <- solve(crossprod(x))
  white <- bread %*% crossprod(x * stats::residuals(model)) %*% bread
  expect_close(vcov(fit, method = "sandwich"), white, 1e-4, scale = max(white))
  limits <- confint(fit, method = "sandwich", level = 0.9)
  expect_close(limits[, 2L] - coef(fit), stats::qnorm(0.95) * sqrt(diag(white)), 1e-4)
  expect_output(print(summary(fit, method = "sandwich")), "sandwich")
})

test_that("slopes of quantiles are covered as they should, where the posterior's are not", {
  skip_on_cran()
  covered <- vapply(1:120, function(seed) {
    data <- with_seed(seed, {
      x <- stats::runif(150)
      data.frame(x = x, y = 1 + x + (0.3 + x) * stats::rnorm(150))
    })
    truth <- 1 + stats::qnorm(0.8)
    fit <- bsvm(y ~ x, data, likelihood = likelihood_quantile(0.8), engine = engine_gaussian())
    inside <- function(method) {
      limits <- confint(fit, "x", method = method)
      limits[1L] <= truth && truth <= limits[2L]
    }
    suppressMessages(c(inside("posterior"), inside("sandwich")))
  }, c(TRUE, TRUE))
  share <- rowMeans(covered)
  expect_gt(share[2L], 0.88)
})

test_that("weights count rows, and what has no such covariance is refused", {
  data <- numbers_data(40)
  weight <- rep(1:2, 20)
  fit <- function(data, ..., engine = "gaussian") {
    bsvm(y ~ x, data, likelihood = likelihood_laplace(scale = 2), prior = prior_flat(),
         engine = engine, ...)
  }
  expect_close(vcov(fit(data, weights = weight), method = "sandwich"),
               vcov(fit(data[rep(1:40, weight), ]), method = "sandwich"), 0.02)
  expect_refusal(vcov(fit(data, engine = "vb"), method = "sandwich"), "unsupported",
                 "engine_gaussian()")
  set.seed(1)
  gaussian <- vcov(fit(data), method = "sandwich")
  for (engine in list(engine_slice(draws = 2000), engine_gibbs(draws = 2000))) {
    expect_close(vcov(fit(data, engine = engine), method = "sandwich"), gaussian, 0.15,
                 scale = sqrt(outer(diag(gaussian), diag(gaussian))))
  }
  expect_refusal(vcov(bsvm(am ~ wt, mtcars, engine = "vb"), method = "sandwich"), "unsupported", "numbers")
  data$g <- gl(8, 5)
  grouped <- bsvm(y ~ x + (1 | g), data, likelihood = likelihood_laplace(), engine = "gaussian")
  expect_refusal(vcov(grouped, method = "sandwich"), "unsupported", "`g`")
})
