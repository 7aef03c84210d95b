bsvm <- paper_bsvm

d <- grouped_data()

test_that("infinite values in newdata are refused by name, missing ones give NA", {
  fit <- bsvm(y ~ x1 + log(x3) + (t || g), d, engine = "vb")
  put <- function(name, value) {
    new <- d[1:3, ]
    new[[name]][2] <- value
    new
  }
  for (name in c("x1", "t")) {
    for (value in c(Inf, -Inf)) {
      expect_refusal(predict(fit, put(name, value)), "newdata",
                     c("infinite", sprintf("`%s`", name)))
    }
    expect_identical(is.na(predict(fit, put(name, NA), type = "link")), c(FALSE, TRUE, FALSE),
                     ignore_attr = TRUE)
  }
  expect_refusal(predict(fit, put("x3", 0)), "newdata", "`log(x3)`")
  expect_finite(predict(fit, put("t", Inf), type = "link", re_formula = NA))
})

test_that("the same for matrices, sparse ones, offsets and smooths", {
  x <- as.matrix(d[c("x1", "x2")])
  fit <- bsvm(x, d$y, engine = "vb")
  new <- x[1:3, ]
  new[2, 2] <- Inf
  expect_refusal(predict(fit, new), "newdata", "`x2`")
  offset <- bsvm(y ~ x1, d, offset = x2, engine = "vb")
  expect_refusal(predict(offset, d[1:2, ], offset = c(1, Inf)), "newdata", "offset")
  expect_refusal(predict(offset, transform(d[1:2, ], x2 = -Inf)), "newdata", "offset")
  skip_if_not_installed("Matrix")
  sparse <- bsvm(methods::as(x, "CsparseMatrix"), d$y, engine = "vb")
  expect_refusal(predict(sparse, methods::as(new, "CsparseMatrix")), "newdata", "`x2`")
  skip_if_not_installed("mgcv")
  smooth <- bsvm(y ~ s(x1, k = 4), d, engine = "vb")
  expect_refusal(predict(smooth, data.frame(x1 = c(0, Inf))), "newdata", "`x1`")
})

test_that("rows of weight zero may be infinite", {
  w <- replace(rep(1, 120), 2, 0)
  far <- transform(d, x1 = replace(x1, 2, Inf))
  fit <- bsvm(y ~ x1, far, weights = w, engine = "vb")
  expect_identical(which(!is.finite(fitted(fit))), 2L, ignore_attr = TRUE)
})

test_that("new predictors beyond what squares hold are refused, not answered with NaN", {
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb", likelihood = likelihood_hinge())
  expect_refusal(predict(fit, data.frame(x1 = 1e308, x2 = 1), interval = TRUE), "newdata",
                 c("1e+308", "1e150"))
  expect_finite(predict(fit, data.frame(x1 = c(1e150, -1e100), x2 = 1), interval = TRUE))
  matrix <- bsvm(as.matrix(d[c("x1", "x2")]), d$y, engine = "vb", likelihood = likelihood_hinge())
  expect_refusal(predict(matrix, cbind(x1 = 1, x2 = -1e200)), "newdata", "1e+200")
  g <- grouped_data()
  slopes <- bsvm(y ~ x1 + (t | g), g, engine = "vb", likelihood = likelihood_hinge())
  expect_refusal(predict(slopes, transform(g[1:2, ], t = 1e200)), "newdata", "1e+200")
})
