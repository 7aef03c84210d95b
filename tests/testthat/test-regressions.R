# One defect a test, found in review.

bsvm <- paper_bsvm

vb <- function(...) {
  call <- sys.call()
  call[[1L]] <- bsvm
  call$engine <- "vb"
  eval(call, parent.frame())
}
same_link <- function(fit, newdata) {
  expect_equal(unname(predict(fit, newdata, type = "link")), unname(fitted(fit)))
}

test_that("rows that `subset` chooses twice count twice", {
  d <- binary_data()
  rows <- c(1:60, 5, 5, 9)
  fit <- vb(y ~ x1 + x2, d, subset = rows)
  expect_equal(nobs(fit), 63)
  expect_equal(fixef(fit), fixef(vb(y ~ x1 + x2, d[rows, ])))
  expect_equal(nrow(model.frame(fit)), 63)
  expect_equal(nrow(predict(fit, interval = TRUE)), 63)
  expect_equal(nrow(augment(fit, sd = TRUE)), 63)
  d$w <- rep(c(0, 1, 1), 20)
  weighted <- vb(y ~ x1, d, subset = rows, weights = w)
  expect_equal(nobs(weighted), sum(d$w[rows] > 0))
  expect_equal(nrow(predict(weighted, interval = TRUE)), 63)
})

test_that("weights and offset of two columns are refused", {
  d <- binary_data()
  two <- cbind(seq_len(60), 1)
  expect_refusal(vb(y ~ x1, d, weights = two), "weights", c("one element a row (60)", "120"))
  expect_refusal(vb(y ~ x1, d, offset = two), "offset", c("one element a row (60)", "120"))
  expect_refusal(vb(y ~ x1 + offset(two), d), "offset", c("one element a row (60)", "120"))
})

test_that("predictors that changed after the fit are noticed", {
  d <- binary_data()
  fit <- vb(y ~ x1 + x2, d)
  d$x2[7] <- d$x2[7] + 1
  expect_refusal(predict(fit, interval = TRUE), "data", c("changed", "keep_data = TRUE"))
  expect_refusal(model.matrix(fit), "data", "changed")
})

test_that("data are evaluated once, and kept as raw variables of the chosen rows", {
  count <- 0
  counted <- function() {
    count <<- count + 1
    binary_data()
  }
  fit <- local({
    outside <- binary_data(seed = 3)$x1
    cut <- 3
    w <- rep(1:2, 30)
    vb((x2 > cut) ~ x1 + outside, counted(), subset = sample(60, 50), weights = w,
       keep_data = TRUE)
  })
  expect_equal(count, 1)
  expect_setequal(names(fit$data), c("x1", "x2", "outside", "w"))
  expect_equal(nrow(fit$data), 50)
  expect_equal(nrow(predict(fit, interval = TRUE)), 50)
  again <- update(fit, standardize = FALSE)
  expect_identical(again$y, fit$y)
  expect_identical(weights(again), weights(fit))
  expect_equal(nobs(update(again, . ~ . - outside, subset = 1:30)), 30)
  expect_equal(again$call$data, quote(counted()))
})

test_that("a matrix fit that keeps its data is fitted again to them", {
  fit <- local({
    d <- binary_data()
    vb(as.matrix(d[1:3]), d$y, weights = rep(1:2, 30), keep_data = TRUE)
  })
  expect_identical(weights(update(fit, standardize = FALSE)), weights(fit))
})

test_that("update() takes away what is not there, and finds variables where it is called", {
  d <- binary_data()
  fit <- vb(y ~ x1, d)
  own <- bsvm::bsvm(y ~ x1, d, engine = "vb", likelihood = "hinge")
  expect_identical(update(own, prior = NULL)$posterior, own$posterior)
  inside <- function() {
    other <- d$x3
    update(fit, . ~ . + other)
  }
  expect_named(fixef(inside()), c("(Intercept)", "x1", "other"))
})

test_that("matrices without columns or rows, and with a name twice", {
  d <- binary_data()
  none <- vb(matrix(0, 60, 0), d$y)
  expect_equal(unname(coef(none)), unname(coef(vb(y ~ 1, d))))
  expect_length(unique(predict(none, matrix(0, 3, 0), type = "link")), 1)
  x <- cbind(a = d$x1, a = d$x2)
  twice <- vb(x, d$y)
  same_link(twice, x)
  expect_silent(empty <- predict(twice, x[0, ]))
  expect_length(empty, 0)
})

test_that("the padding of a matrix has the matrix's names", {
  d <- binary_data()
  x <- as.matrix(d[1:2])
  rownames(x) <- paste0("row", 1:60)
  x[4, 1] <- NA
  expect_named(fitted(vb(x, d$y, na.action = na.exclude)), rownames(x))
})

test_that("a factor may have NA for a level", {
  d <- binary_data()
  d$f[1:6] <- NA
  same_link(vb(y ~ x1 + addNA(f), d), d)
  d$f <- addNA(d$f)
  same_link(vb(y ~ x1 + f, d), d)
})

test_that("a constant is no grouping factor", {
  d <- grouped_data()
  for (bar in list(y ~ x1 + (1 | 1), y ~ x1 + (1 | NULL), y ~ x1 + (1 | "g"), y ~ (1 || 2))) {
    expect_refusal(vb(bar, d), "group", c("grouping factor", "factor(id)"))
  }
})

test_that("a row of weight zero may have a level the fit has not seen", {
  d <- binary_data()
  d$f <- factor(c("new", as.character(d$f[-1])))
  d$w <- c(0, rep(1, 59))
  fit <- vb(y ~ x1 + f, d, weights = w)
  expect_identical(which(is.na(predict(fit, interval = TRUE)$sd)), 1L)
  expect_true(anyNA(model.matrix(fit)[1, ]))
  expect_equal(summary(fit)$n_positive, sum(d$y[-1] == "yes"))
})

test_that("an offset that new data can't evaluate says so", {
  d <- binary_data()
  fit <- local({
    lg <- function(x) log(x)
    vb(y ~ x1, d, offset = lg(x3))
  })
  expect_refusal(predict(fit, d), "newdata", c("lg(x3)", "as `offset`"))
})

test_that("calls without formula or data are refused in words", {
  expect_refusal(bsvm(), "formula", c("formula and data", "bsvm(x, y)"))
  expect_refusal(bsvm(engine = "vb"), "formula", "formula and data")
  expect_refusal(prior_for(no_such ~ thing), "data", "`no_such`")
  expect_refusal(bsvm(y ~ x1, no_such_data), "data", c("`data` can't be evaluated", "no_such"))
  expect_refusal(bsvm(y ~ x1, stats::df), "data", c("a data frame", "found a function"))
})

test_that("what used to be taken silently is an error", {
  d <- grouped_data()
  fit <- vb(y ~ x1 + (1 | g), d)
  expect_refusal(vb(y ~ x1, d, na.action = "foo"), "argument", "`na.action`")
  expect_refusal(vb(y ~ x1, d, na.action = 3), "argument", "`na.action`")
  expect_refusal(vb(as.matrix(d[1:2]), d$y, na.action = 3), "argument", "`na.action`")
  expect_refusal(ranef(fit, sd = "a"), "argument", "`sd`")
  expect_refusal(predict(fit, d, group = d$g), "argument", c("`group`", "in `newdata`"))
  expect_refusal(predict(vb(y ~ x1, d), d, group = d$g), "argument", "has no groups")
  expect_refusal(vb(y ~ x1, d, class.weights = c(no = 1, no = 2)), "weights", "named once")
  skip_if_not_installed("ggplot2")
  expect_refusal(plot(fit, foo = 3), "argument", "`foo`")
  expect_refusal(plot(fit, intercept = "a"), "argument", "`intercept`")
  expect_refusal(plot(fit, scaled = NA), "argument", "`scaled`")
})

test_that("arguments of bsvm_control() and other spellings are pointed to", {
  d <- binary_data()
  for (name in c("threads", "tol", "max_passes", "verbose", "start")) {
    arguments <- c(list(y ~ x1, d), stats::setNames(list(1), name))
    expect_refusal(do.call(bsvm, arguments), "argument", sprintf("bsvm_control(%s = )", name))
  }
  expect_refusal(vb(y ~ x1, d, standardise = TRUE), "argument", "`standardize`")
  expect_refusal(vb(y ~ x1, d, priors = NULL), "argument", "`prior`")
})

test_that("flat priors are announced only where all are flat, few levels where they matter", {
  d <- grouped_data()
  own <- vb(y ~ x1 + (1 | g), d, prior = list(x1 = prior_ridge(0.01)))
  expect_no_match(capture.output(print(own)), "flat priors")
  few <- vb(y ~ x1 + (1 | f), d)
  expect_output(print(VarCorr(few)), "unreliable")
  expect_no_match(capture.output(print(VarCorr(own))), "unreliable")
})

test_that("infinite values of a matrix are not sent to `subset`", {
  x <- as.matrix(binary_data()[1:2])
  x[1] <- Inf
  error <- expect_error(vb(x, binary_data()$y), class = "bsvm_error_predictors")
  expect_match(conditionMessage(error), "exclude their rows from `x` and `y`", fixed = TRUE)
})
