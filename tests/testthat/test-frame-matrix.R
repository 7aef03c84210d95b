bsvm <- paper_bsvm

d <- binary_data()
x <- as.matrix(d[c("x1", "x2", "x3")])

same_fit <- function(a, b) {
  expect_identical(a$posterior, b$posterior)
  expect_identical(fixef(a), fixef(b))
  expect_identical(elbo(a), elbo(b))
}

test_that("the matrix front door gives the formula's fit", {
  same_fit(bsvm(x, d$y, engine = "vb"), bsvm(y ~ x1 + x2 + x3, d, engine = "vb"))
  same_fit(bsvm(cbind("(Intercept)" = 1, x), d$y, engine = "vb"),
           bsvm(y ~ x1 + x2 + x3, d, engine = "vb"))
  same_fit(bsvm(x, d$y, weights = d$x3, offset = d$x2, engine = "vb"),
           bsvm(y ~ x1 + x2 + x3, d, weights = x3, offset = x2, engine = "vb"))
  same_fit(bsvm(x, d$y, standardize = FALSE, prior = prior_ridge(variance = 2), engine = "vb"),
           bsvm(y ~ x1 + x2 + x3, d, standardize = FALSE, prior = prior_ridge(variance = 2),
                engine = "vb"))
})

test_that("with a grouping factor it is the random intercept model", {
  g <- grouped_data()
  by_matrix <- bsvm(as.matrix(g[c("x1", "t")]), g$y, group = g$g, engine = "vb")
  by_formula <- bsvm(y ~ x1 + t + (1 | g), g, engine = "vb")
  same_fit(by_matrix, by_formula)
  expect_identical(unlist(ranef(by_matrix)$group), unlist(ranef(by_formula)$g))
  rows <- as.matrix(g[5:9, c("x1", "t")])
  expect_close(predict(by_matrix, rows, type = "link", group = g$g[5:9]), fitted(by_matrix)[5:9],
               tolerances[["rounding"]])
  expect_refusal(predict(by_matrix, rows), "newdata", c("`group`", "re_formula = NA"))
  expect_refusal(predict(by_matrix, rows, group = g$g[1:2]), "newdata", "`group`")
})

test_that("predict takes a matrix with the columns, in any order, or a data frame", {
  fit <- bsvm(x, d$y, engine = "vb")
  expect_close(predict(fit, x[, 3:1], type = "link"), fitted(fit), tolerances[["rounding"]])
  expect_close(predict(fit, unname(x), type = "link"), fitted(fit), tolerances[["rounding"]])
  expect_close(predict(fit, d, type = "link"), fitted(fit), tolerances[["rounding"]])
  expect_refusal(predict(fit, x[, 1:2]), "newdata", "`x3`")
  expect_refusal(predict(fit, matrix("a", 2, 3)), "newdata", c("numeric matrix", "character"))
})

test_that("unnamed columns get names, integer and logical matrices work", {
  expect_named(fixef(bsvm(unname(x), d$y, engine = "vb")), c("(Intercept)", "x1", "x2", "x3"))
  counts <- matrix(rep(0:2, 40), 60)
  expect_valid_fit(bsvm(counts, d$y, engine = "vb"))
  expect_valid_fit(bsvm(x > 1, d$y, engine = "vb"))
})

test_that("what is no numeric matrix with a response is refused", {
  expect_refusal(bsvm(d[1:3], d$y), "argument", "data frame")
  expect_refusal(bsvm(matrix("a", 60, 2), d$y), "predictors", "character")
  expect_refusal(bsvm(x), "response", "`y`")
  expect_refusal(bsvm(x, d$y[-1]), "response", c("60", "59"))
  expect_refusal(bsvm(x[0, ], d$y[0]), "data", "no rows")
  expect_refusal(bsvm(x, d$y, group = 1:3), "group", "`group`")
  expect_refusal(bsvm(x, d$y, weights = 1:3), "weights", "`weights`")
  expect_refusal(bsvm(x, d$y, offset = rep("1", 60)), "offset", "must be numbers")
  expect_refusal(bsvm(replace(x, 7, NA), d$y), "missing", c("`x1` has 1 NA", "na.action"))
  expect_refusal(bsvm(cbind("(Intercept)" = 2, x), d$y), "predictors", "all ones")
})

test_that("na.action works on a matrix too", {
  holes <- replace(x, c(5, 70), NA)
  fit <- bsvm(holes, d$y, na.action = na.omit, engine = "vb")
  expect_equal(nobs(fit), 58)
  fill <- function(columns) replace(columns, is.na(columns), 0)
  expect_refusal(bsvm(holes, d$y, na.action = fill), "argument", "na.omit")
  expect_identical(fit$posterior, bsvm(x[-c(5, 10), ], d$y[-c(5, 10)], engine = "vb")$posterior)
})
