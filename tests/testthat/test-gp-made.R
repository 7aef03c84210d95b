# Gaussian-process terms whose columns are made of the rows wherever these are read, since they would
# take much memory: the same fit as with columns in the frame, and the same answers.

data(crabs, package = "MASS")
few <- crabs[seq(1, 200, by = 2), ]

# list(kept, made) of the same call.
both <- function(...) {
  list(kept = quietly(bsvm(...)), made = with_columns_made(quietly(bsvm(...))))
}

with_columns_made <- function(code) {
  old <- options(bsvm.kept_cells = 0)
  on.exit(options(old))
  code
}

expect_same <- function(fits, tolerance, rows = crabs[c(1, 77, 150, 200), ], interval = TRUE) {
  expect_true(fits$made$bases[[length(fits$made$bases)]]$made)
  expect_false(isTRUE(fits$kept$bases[[length(fits$kept$bases)]]$made))
  expect_equal(fitted(fits$made), fitted(fits$kept), tolerance = tolerance)
  expect_equal(predict(fits$made, rows, type = "link", interval = interval),
               predict(fits$kept, rows, type = "link", interval = interval), tolerance = tolerance)
  expect_equal(coef(fits$made), coef(fits$kept), tolerance = tolerance)
}

test_that("the fit is the same under the engines that read rows in passes", {
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "gaussian"), 1e-8)
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "vb"), 1e-8)
  expect_same(both(CW ~ gp(FL, RW, points = 5), few, likelihood = likelihood_gaussian()), 1e-8)
})

test_that("linear terms, several kernels, `by`, weights and offsets go with it", {
  few$w <- rep(c(1, 2, 0, 0.5), 25)
  few$o <- few$CW / 10
  rows <- few[1:6, ]
  expect_same(both(sex ~ BD + offset(o) + gp(FL, RW, points = 8, by = sp) + gp(CL, points = 4), few,
                   weights = w, engine = "gaussian"), 1e-3, rows)
  expect_same(both(sex ~ 0 + gp(FL, points = 4, by = BD, kernel = kernel_se() + kernel_linear()), few, engine = "gaussian"), 1e-4, rows)
})

test_that("a fit with such columns can be read, compared and refitted", {
  fits <- both(sex ~ sp + gp(FL, RW, points = 5), few, engine = "gaussian")
  same <- function(f, tolerance = 1e-6) {
    expect_equal(f(fits$made), f(fits$kept), tolerance = tolerance)
  }
  same(function(fit) loo(fit)$estimates)
  same(VarCorr)
  same(vcov)
  same(model.matrix)
  same(function(fit) residuals(fit, type = "response"))
  same(function(fit) predict(fit, few, type = "prob"))
  same(function(fit) summary(fit)$gp$points)
  rebuilt <- with_columns_made(update(fits$made, engine = "vb"))
  expect_equal(fitted(rebuilt), fitted(update(fits$kept, engine = "vb")), tolerance = 1e-8)
  skip_if_not_installed("ggplot2")
  same(function(fit) plot(fit, "gp")$data)
})

test_that("rows of weight zero, missing ones and new ones with missing values are where they were", {
  few$FL[c(3, 10)] <- NA
  few$w <- rep(c(1, 0, 1), length.out = 100)
  fits <- both(sex ~ gp(FL, RW, points = 5), few, weights = w, na.action = na.exclude,
               engine = "gaussian")
  expect_equal(fitted(fits$made), fitted(fits$kept), tolerance = 1e-8)
  expect_equal(predict(fits$made, few, type = "link"), predict(fits$kept, few, type = "link"),
               tolerance = 1e-8)
})

test_that("sandwich covariances of regressions are those with columns in the frame", {
  # An inferred tube takes 450 iterations, and where they end depends on the last bits: 3e-7 to 2e-3
  # off for five such models.
  for (likelihood in list(likelihood_eps_insensitive(epsilon = 0.1, scale = 0.3),
                          likelihood_laplace())) {
    fits <- both(CW ~ sp + gp(FL, RW, points = 6), few, engine = "gaussian",
                 likelihood = likelihood)
    expect_equal(vcov(fits$made, method = "sandwich"), vcov(fits$kept, method = "sandwich"),
                 tolerance = 1e-8)
  }
})

# Much is left over by three points: what the rows' own responses tell does not include it.
test_that("probabilities of a pseudo-likelihood are the same", {
  fits <- both(sex ~ sp + gp(FL, RW, BD, kernel = kernel_se(0.5), points = 3), few, engine = "gaussian", likelihood = "hinge")
  expect_gt(bsvm:::largest_left_over(fits$kept), 0.01)
  expect_equal(fits$made$odds_slope, fits$kept$odds_slope, tolerance = 1e-6)
  expect_equal(predict(fits$made, few, type = "prob"), predict(fits$kept, few, type = "prob"),
               tolerance = 1e-6)
})

test_that("tuned_svm() has the same predictors, those of inferred kernels too", {
  skip_if_not_installed("e1071")
  tuned <- function(formula) {
    with_seed(1, fit(tuned_svm(times = 2), formula, data = few))
  }
  kept <- quietly(tuned(sex ~ gp(FL, RW, points = 8)))
  made <- with_columns_made(quietly(tuned(sex ~ gp(FL, RW, points = 8))))
  expect_identical(predict(made, crabs, type = "link"), predict(kept, crabs, type = "link"))
  inferred <- quietly(tuned(sex ~ gp(FL, RW, points = 8, infer = "factor")))
  expect_length(predict(inferred, crabs, type = "link"), 200L)
})

test_that("the option is checked, and new rows of any size are refused", {
  old <- options(bsvm.kept_cells = "many")
  on.exit(options(old))
  expect_refusal(bsvm(sex ~ gp(FL, points = 5), few), "argument", c("bsvm.kept_cells", "1e8"))
  options(bsvm.kept_cells = 0)
  made <- quietly(bsvm(sex ~ gp(FL, points = 5, kernel = kernel_linear()), few, engine = "gaussian"))
  expect_refusal(predict(made, transform(few, FL = 1e200)), "newdata", "1e150")
})

test_that("with few columns the frame has them, with many it has the variables", {
  frame <- quietly(bsvm_frame(sex ~ BD + gp(FL, RW, points = 5), few))
  expect_identical(dim(frame$x), c(100L, 7L))
  expect_null(frame$made)
  frame <- with_columns_made(quietly(bsvm_frame(sex ~ BD + gp(FL, RW, points = 5), few)))
  expect_identical(dim(frame$x), c(100L, 2L))
  expect_identical(lapply(frame$made, dim), list(`gp(FL, RW, points = 5)` = c(100L, 2L)))
  expect_length(frame$columns, 7L)
  # Not with what is integrated out, drawn, sparse or modelled.
  kept_with <- function(formula, data = few, ...) {
    with_columns_made(is.null(quietly(bsvm_frame(formula, data, ...))$made))
  }
  few$g <- factor(few$index)
  expect_true(kept_with(sex ~ gp(FL, points = 5) + (1 | g)))
  expect_true(kept_with(sex ~ gp(FL, points = 5), engine = "gibbs"))
  holes <- transform(few, BD = replace(BD, 1:3, NA))
  expect_true(kept_with(sex ~ BD + gp(FL, points = 5), holes, missing = missing_normal()))
  both <- with_columns_made(quietly(bsvm_frame(sex ~ gp(FL, points = 5) +
                                                 gp(RW, points = 5, infer = "factor"), few)))
  expect_named(both$made, "gp(RW, points = 5, infer = \"factor\")")
})
