test_that("update changes formula, arguments and data", {
  d <- binary_data()
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb")
  expect_named(fixef(update(fit, . ~ . - x2)), c("(Intercept)", "x1"))
  expect_named(fixef(update(fit, . ~ . + f)), c("(Intercept)", "x1", "x2", "fb", "fc"))
  fixed <- update(fit, prior = prior_ridge(variance = 1))
  expect_identical(fixed$posterior,
                   bsvm(y ~ x1 + x2, d, prior = prior_ridge(variance = 1),
                        engine = "vb")$posterior)
  expect_equal(nobs(update(fit, data = d[1:40, ])), 40)
  expect_true(is.call(update(fit, standardize = FALSE, evaluate = FALSE)))
})

test_that("bars are added and taken away", {
  g <- grouped_data()
  fit <- bsvm(y ~ x1, g, engine = "vb")
  grouped <- update(fit, . ~ . + (1 | g))
  expect_equal(names(ranef(grouped)), "g")
  expect_refusal(ranef(update(grouped, . ~ . - (1 | g))), "unsupported")
  deeper <- update(grouped, . ~ . + (0 + t | g))
  expect_equal(ncol(ranef(deeper)$g), 2)
})

test_that("a call whose data were values can't be evaluated again", {
  fit <- do.call(bsvm, list(y ~ x1, binary_data(), engine = "vb", keep_data = FALSE))
  expect_refusal(update(fit, . ~ 1), "data", "values in place of names")
})

test_that("a matrix fit has no formula to change", {
  d <- binary_data()
  fit <- bsvm(as.matrix(d[1:3]), d$y, engine = "vb")
  expect_refusal(update(fit, . ~ . - x1), "unsupported", "formula")
  expect_equal(update(fit, standardize = FALSE)$standardize, FALSE)
})

test_that("evaluate is TRUE or FALSE", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(update(fit, evaluate = "a"), "argument", "`evaluate`")
})

test_that("update() finds the variables of a fit without `data`, inside a function too", {
  y <- rep(0:1, 20)
  x <- with_seed(1, rnorm(40))
  z <- with_seed(2, rnorm(40))
  fit <- bsvm(y ~ x, engine = "gaussian")
  inside <- function(k) update(k, . ~ . + z)
  expect_identical(fixef(inside(fit)), fixef(bsvm(y ~ x + z, engine = "gaussian")))
})
