bsvm <- paper_bsvm

d <- binary_data()

test_that("a frame holds the numbers of the formula", {
  frame <- bsvm_frame(y ~ x1 + f, d, weights = x3, offset = x2)
  expect_s3_class(frame, "bsvm_frame")
  expect_identical(frame$y, ifelse(d$y == "yes", 1, -1))
  expect_equal(unclass(frame$response), list(levels = c("no", "yes"), type = "factor"))
  expect_equal(frame$x, model.matrix(~ x1 + f, d), ignore_attr = TRUE)
  expect_identical(frame$columns, c("(Intercept)", "x1", "fb", "fc"))
  expect_equal(frame$assign, c(0, 1, 2, 2))
  expect_identical(frame$term_labels, c("x1", "f"))
  expect_identical(frame$intercept, 1L)
  expect_identical(frame$weights, d$x3)
  expect_identical(frame$offset, d$x2)
  expect_null(frame$groups)
  expect_null(frame$bases)
  expect_identical(frame$nobs, 60L)
  expect_false(frame$bars)
  expect_output(print(frame), "60 rows")
})

test_that("terms keep no data alive", {
  big <- rnorm(1e6)
  make <- function() {
    other <- big
    bsvm_frame(y ~ x1, d)
  }
  expect_lt(length(serialize(make()$terms, NULL)), 1e5)
})

test_that("subset by condition, number and name", {
  by_condition <- bsvm(y ~ x1, d, subset = x3 < 1, engine = "vb")
  rows <- which(d$x3 < 1)
  expect_identical(by_condition$posterior, bsvm(y ~ x1, d[rows, ], engine = "vb")$posterior)
  expect_identical(bsvm(y ~ x1, d, subset = rows, engine = "vb")$posterior,
                   by_condition$posterior)
  expect_equal(nobs(by_condition), length(rows))
  expect_refusal(bsvm(y ~ x1, d, subset = x3 > 1e9), "data", "`subset`")
  expect_refusal(bsvm(y ~ x1, d, subset = nonesuch > 1), "argument", "`subset`")
  expect_refusal(bsvm(y ~ x1, d, subset = c(TRUE, FALSE, TRUE)), "argument", "60")
})

test_that("contrasts and unused levels are as in model.matrix", {
  d$f <- factor(d$f, levels = c("a", "b", "c", "never"))
  fit <- bsvm(y ~ f, d, contrasts = list(f = "contr.sum"), engine = "vb")
  expect_named(fixef(fit), c("(Intercept)", "f1", "f2"))
  kept <- suppressWarnings(bsvm(y ~ f, d, drop.unused.levels = FALSE, engine = "vb"))
  expect_named(fixef(kept), c("(Intercept)", "fb", "fc", "fnever"))
  expect_refusal(bsvm(y ~ f, d, contrasts = list(z = "contr.sum")), "argument", "`z`")
  expect_refusal(bsvm(y ~ f, d, contrasts = list(f = "contr.nonesuch")), "predictors",
                 c("design matrix", "contr.nonesuch"))
  expect_refusal(bsvm(y ~ f, d, drop.unused.levels = 3), "argument", "`drop.unused.levels`")
})

test_that("class.weights multiply the weights of a class", {
  w <- ifelse(d$y == "yes", 3, 1)
  expect_identical(bsvm(y ~ x1, d, class.weights = c(yes = 3), engine = "vb")$posterior,
                   bsvm(y ~ x1, d, weights = w, engine = "vb")$posterior)
  expect_identical(
    bsvm(y ~ x1, d, class.weights = c(no = 2, yes = 3), weights = x3, engine = "vb")$posterior,
    bsvm(y ~ x1, d, weights = x3 * ifelse(y == "yes", 3, 2), engine = "vb")$posterior
  )
  expect_refusal(bsvm(y ~ x1, d, class.weights = c(maybe = 2)), "weights",
                 c("`class.weights`", "maybe"))
  expect_refusal(bsvm(y ~ x1, d, class.weights = c(yes = -2)), "weights", "positive")
  expect_refusal(bsvm(y ~ x1, d, class.weights = 2), "weights", "`class.weights`")
  expect_refusal(bsvm_frame(y ~ x1, d, class.weights = c(yes = 2e12)), "weights",
                 c("`class.weights`", "at most 1e+12", "2e+12"))
})

test_that("unknown variables and data of another kind are refused", {
  expect_refusal(bsvm(y ~ x1 + nonesuch, d), "data", c("`nonesuch`", "`data`"))
  expect_refusal(bsvm(y ~ x1, "d"), "argument", "no file \"d\"")
  expect_refusal(bsvm(y ~ x1, d[0, ]), "data", "no rows")
  expect_refusal(bsvm(y ~ x1 + c(1, 2), d), "data")
  expect_refusal(bsvm(y ~ x1, d, weights = nonesuch), "weights", "`weights`")
  empty <- logical(0)
  expect_refusal(bsvm(empty ~ 1), "data", "no rows")
})

test_that("a design of many rows is made in pieces, and is model.matrix()'s", {
  n <- 50011L
  data <- with_seed(1, data.frame(x = rnorm(n), t = sample(letters, n, TRUE),
                                  o = factor(sample(3, n, TRUE), ordered = TRUE),
                                  l = runif(n) < 0.5))
  data$t[1:50000] <- ifelse(data$t[1:50000] == "q", "a", data$t[1:50000]) # a level of the last rows
  data$x[7] <- NA
  formula <- ~ poly(z, 2) + x * t + o + l
  data$z <- rev(seq_len(n)) / n
  columns <- model.frame(formula, data, na.action = na.pass)
  contrasts <- list(t = "contr.sum")
  known <- model.matrix(formula, columns, contrasts.arg = contrasts)
  found <- bsvm:::build_design(attr(columns, "terms"), columns, contrasts)
  expect_identical(found$assign, attr(known, "assign"))
  expect_identical(found$contrasts, attr(known, "contrasts"))
  attributes(known) <- list(dim = dim(known), dimnames = list(NULL, colnames(known)))
  expect_identical(found$x, known)
})
