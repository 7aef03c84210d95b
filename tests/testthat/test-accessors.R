bsvm <- paper_bsvm

d <- grouped_data()
fit <- bsvm(y ~ x1 + f + (1 + t || g), d, engine = "vb")

test_that("formula, terms and sizes", {
  expect_equal(formula(fit), y ~ x1 + f + (1 + t || g), ignore_formula_env = TRUE)
  expect_identical(attr(terms(fit), "term.labels"), c("x1", "f"))
  expect_equal(nobs(fit), 120)
  expect_null(weights(fit))
  expect_identical(weights(bsvm(y ~ x1, d, weights = x3, engine = "vb")), d$x3)
  skip_if_not_installed("lme4")
  expect_equal(lme4::ngrps(fit), c(g = 12L))
})

test_that("model.frame and model.matrix are those of the data", {
  frame <- model.frame(fit)
  expect_setequal(names(frame), c("y", "x1", "f", "t", "g"))
  expect_equal(frame$x1, d$x1)
  expect_equal(model.matrix(fit), model.matrix(~ x1 + f, d), ignore_attr = "contrasts")
})

test_that("the same after na.omit and subset, and from kept data", {
  d$x1[4] <- NA
  chosen <- bsvm(y ~ x1, d, subset = x3 < 2, na.action = na.omit, engine = "vb")
  rows <- setdiff(which(d$x3 < 2), 4)
  expect_equal(model.frame(chosen)$x1, d$x1[rows])
  expect_equal(nrow(model.matrix(chosen)), nobs(chosen))
  kept <- local({
    gone <- d
    bsvm(y ~ x1, gone, na.action = na.omit, keep_data = TRUE, engine = "vb")
  })
  expect_equal(model.frame(kept)$x1, d$x1[-4])
})

test_that("data that are gone or changed are an error that names keep_data", {
  lost <- local({
    gone <- d
    bsvm(y ~ x1, gone, engine = "vb")
  })
  expect_refusal(model.frame(lost), "data", "keep_data = TRUE")
  expect_refusal(predict(lost, interval = TRUE), "data", "keep_data = TRUE")
  expect_s3_class(predict(lost), "factor")
  changed <- bsvm(y ~ x1, d, engine = "vb")
  d <- d[120:1, ]
  expect_refusal(model.matrix(changed), "data", c("changed", "keep_data = TRUE"))
})

test_that("a matrix fit has no formula", {
  x <- as.matrix(d[c("x1", "t")])
  by_matrix <- bsvm(x, d$y, engine = "vb")
  expect_refusal(formula(by_matrix), "unsupported", "formula()")
  expect_refusal(terms(by_matrix), "unsupported", "terms()")
  expect_equal(unname(model.matrix(by_matrix)), unname(cbind(1, x)), ignore_attr = TRUE)
  expect_equal(names(model.frame(by_matrix)), c("y", "x1", "t"))
  skip_if_not_installed("Matrix")
  x <- Matrix::Matrix(as.matrix(d[c("x1", "t")]), sparse = TRUE)
  sparse <- bsvm(x, d$y, keep_data = TRUE)
  expect_equal(model.frame(sparse), model.frame(by_matrix), ignore_attr = TRUE)
  old <- options(bsvm.max_memory = 1000)
  on.exit(options(old))
  expect_refusal(model.frame(sparse), "size", "model.matrix()")
})

test_that("generics of other packages are theirs", {
  expect_identical(bsvm::fixef, nlme::fixef)
  expect_identical(bsvm::ranef, nlme::ranef)
  expect_identical(bsvm::VarCorr, nlme::VarCorr)
  expect_identical(bsvm::tidy, generics::tidy)
})
