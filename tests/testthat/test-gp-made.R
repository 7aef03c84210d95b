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

test_that("the fit is the same under every engine without draws", {
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "gaussian"), 1e-8)
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "vb"), 1e-8)
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "ecm"), 1e-4)
  expect_same(both(sex ~ gp(FL, RW, points = 5), few, engine = "em",
                   prior = list(gp = prior_ridge(variance = 4))), 1e-6, interval = FALSE)
  expect_same(both(CW ~ gp(FL, RW, points = 5), few, likelihood = likelihood_gaussian()), 1e-8)
})

test_that("linear terms, several kernels, `by`, groups, weights and offsets go with it", {
  few$w <- rep(c(1, 2, 0, 0.5), 25)
  few$o <- few$CW / 10
  few$g <- factor(few$index %% 7)
  rows <- few[1:6, ]
  expect_same(both(sex ~ BD + offset(o) + gp(FL, RW, points = 8, by = sp) + gp(CL, points = 4), few,
                   weights = w, engine = "gaussian"), 1e-3, rows)
  expect_same(both(sex ~ 0 + gp(FL, points = 4, by = BD, kernel = kernel_se() + kernel_linear()) +
                     (1 | g), few, engine = "gaussian"), 1e-4, rows)
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

test_that("draws of rows are around what is predicted", {
  fit <- with_columns_made(quietly(bsvm(sex ~ sp + gp(FL, RW, points = 8), few,
                                        engine = engine_slice(draws = 200, chains = 2))))
  drawn <- posterior_linpred(fit, newdata = few)
  expect_identical(dim(drawn), c(400L, 100L))
  expect_equal(colMeans(drawn), predict(fit, few, type = "link"), tolerance = 0.02,
               ignore_attr = TRUE)
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
  fits <- both(CW ~ sp + gp(FL, RW, points = 6), few, engine = "gaussian",
               likelihood = likelihood_eps_insensitive())
  expect_equal(vcov(fits$made, method = "sandwich"), vcov(fits$kept, method = "sandwich"),
               tolerance = 1e-6)
})

test_that("with few columns the frame has them, with many it has the variables", {
  frame <- quietly(bsvm_frame(sex ~ BD + gp(FL, RW, points = 5), few))
  expect_identical(dim(frame$x), c(100L, 7L))
  expect_null(frame$made)
  frame <- with_columns_made(quietly(bsvm_frame(sex ~ BD + gp(FL, RW, points = 5), few)))
  expect_identical(dim(frame$x), c(100L, 2L))
  expect_identical(lapply(frame$made, dim), list(`gp(FL, RW, points = 5)` = c(100L, 2L)))
  expect_length(frame$columns, 7L)
  # Sparse predictors and such that are modelled go with columns in the frame.
  sparse <- with_columns_made(quietly(bsvm_frame(sex ~ factor(index) + gp(FL, points = 5), few)))
  expect_identical(ncol(sparse$x) + length(bsvm:::made_columns(sparse)), length(sparse$columns))
})
