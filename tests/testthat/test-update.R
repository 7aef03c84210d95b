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

# ---- arguments whose variables are gone ---------------------------------------------------------

# A fit whose arguments were variables of a function.
local_fit <- function(...) {
  control <- bsvm_control(verbose = FALSE)
  costs <- c("0" = 1, "1" = 2)
  prior <- prior_ridge(variance = 1)
  way <- "vb"
  kind <- "hinge"
  no <- FALSE
  yes <- TRUE
  bsvm(am ~ wt + hp, mtcars, control = control, class.weights = costs, prior = prior, engine = way,
       likelihood = kind, standardize = no, keep_data = yes, ...)
}

direct_fit <- function(formula = am ~ wt, data = mtcars, ...) {
  bsvm(formula, data, class.weights = c("0" = 1, "1" = 2), prior = prior_ridge(variance = 1),
       engine = "vb", likelihood = "hinge", standardize = FALSE, ...)
}

test_that("arguments that were variables of a function keep their values", {
  fit <- local_fit()
  smaller <- update(fit, . ~ . - hp)
  expect_identical(smaller$posterior, direct_fit()$posterior)
  expect_identical(smaller$call$control, quote(control))
  expect_identical(update(smaller, . ~ . + I(wt^2))$posterior,
                   direct_fit(am ~ wt + I(wt^2))$posterior)
  some <- mtcars[1:20, ]
  expect_identical(update(fit, . ~ . - hp, data = some)$posterior,
                   direct_fit(data = some)$posterior)
  fits <- list()
  for (kind in c("vb", "map")) {
    fits[[kind]] <- bsvm(am ~ wt + hp, mtcars, engine = kind, likelihood = "hinge")
  }
  expect_identical(update(fits$vb, . ~ . - hp)$engine$name, "vb")
})

test_that("an argument whose variable was NULL is still the default", {
  fit <- (function(way = NULL, kind = NULL) {
    bsvm(am ~ wt + hp, mtcars, engine = way, likelihood = kind, prior = prior_ridge(variance = 1))
  })()
  expect_identical(update(fit, . ~ . - hp)$engine$chosen, fit$engine$chosen)
  expect_message(vb <- update(fit, engine = "vb"), class = "bsvm_message_likelihood")
  expect_identical(vb$likelihood$name, "hinge")
})

test_that("weights, subset and offset that were variables of a function keep their values", {
  w <- rep(1:2, 16)
  fit <- (function(w, double) {
    heavy <- mtcars$wt > 2.5
    o <- rep(0.1, 32)
    o[3] <- 0.2
    bsvm(am ~ wt + hp, mtcars, weights = double(w), offset = 1 * o, subset = heavy, engine = "vb",
         likelihood = "hinge")
  })(w, function(x) 2 * x)
  heavy <- mtcars$wt > 2.5
  same <- bsvm(am ~ wt, mtcars, weights = 2 * w, offset = replace(rep(0.1, 32), 3, 0.2),
               subset = heavy, engine = "vb", likelihood = "hinge")
  rm(heavy, w)
  smaller <- update(fit, . ~ . - hp)
  expect_identical(smaller$posterior, same$posterior)
  expect_identical(smaller$call$weights, quote(double(w)))
  expect_identical(update(update(fit, standardize = FALSE), standardize = TRUE)$posterior,
                   fit$posterior)
  plain <- update(fit, weights = NULL, offset = NULL)
  expect_named(plain$data, c("hp", "wt", "am"), ignore.order = TRUE)
  expect_null(weights(update(plain, . ~ . - hp)))
  expect_refusal(update(fit, data = mtcars, subset = NULL, offset = NULL), "weights",
                 c("double(w)", "`w`", "weights = )"))
  expect_refusal(update(fit, data = mtcars, weights = NULL, offset = NULL), "argument", "`heavy`")
})

test_that("a fit from a file can be changed in another process", {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(local_fit(), file)
  child <- child_result(c(
    sprintf("fit <- readRDS(%s)", deparse1(file)),
    "result <- update(fit, . ~ . - hp)$posterior"
  ))
  expect_false(child$died, info = child$said)
  expect_identical(child$value, direct_fit()$posterior)
})

test_that("a fit of data given as a value keeps all their columns", {
  fit <- do.call(bsvm, list(am ~ wt, mtcars, subset = 1:25, weights = rep(2, 32), engine = "vb",
                            likelihood = "hinge"))
  expect_named(fit$data, c(names(mtcars), "(weights)"), ignore.order = TRUE)
  more <- update(fit, . ~ . + hp)
  same <- bsvm(am ~ wt + hp + qsec, mtcars, subset = 1:25, weights = rep(2, 32), engine = "vb",
               likelihood = "hinge")
  expect_identical(update(more, . ~ . + qsec)$posterior, same$posterior)
  expect_lt(length(serialize(more$call, NULL)), 1000)
  expect_refusal(update(fit, . ~ . + nowhere), "data", "`nowhere`")
})

test_that("a matrix fit keeps the values of its arguments", {
  fit <- (function(x, y, w, prior) bsvm(x, y, weights = w, prior = prior, engine = "vb"))(
    as.matrix(mtcars[c("wt", "hp")]), mtcars$am, rep(2, 32), prior_ridge(variance = 1))
  expect_identical(update(update(fit, standardize = FALSE), standardize = TRUE)$posterior,
                   fit$posterior)
})

test_that("what is not kept is named, with what to write", {
  lost <- (function() {
    gone <- mtcars
    heavy <- rep(TRUE, 32)
    bsvm(am ~ wt, gone, subset = heavy, keep_data = FALSE, engine = "vb")
  })()
  expect_refusal(update(lost, . ~ . + hp), "data", c("`gone`", "update(fit, ..., data = )"))
  expect_refusal(update(lost, data = mtcars), "argument", c("`heavy`", "subset = )"))
  expect_identical(fixef(update(lost, data = mtcars, subset = NULL)), fixef(lost))
  expect_refusal(update(lost, data = stop("no file")), "data", "no file")
  frame <- bsvm_frame(am ~ wt, mtcars)
  spec <- bsvm_spec(frame, prior_ridge(variance = 1), engine = "vb")
  fit <- new_bsvm(frame, spec, bsvm_run(spec), quote(bsvm(am ~ wt, mtcars, prior = p, engine = e)))
  expect_refusal(update(fit, standardize = FALSE), "argument", c("`prior`", "`p`", "prior = )"))
})

test_that("what users of other models call works for smooths, groups, processes and matrices", {
  skip_if_not_installed("mgcv")
  d <- grouped_data()
  d$w <- rep(1:2, 60)
  few <- engine_slice(draws = 50, burnin = 50, chains = 1)
  quiet <- function(code) suppressMessages(suppressWarnings(code))
  formulas <- list(y ~ x1 + t, y ~ s(x1, k = 4) + t, y ~ gp(x1, points = 5) + t, y ~ t + x1 + (1 | g))
  for (formula in formulas) {
    fit <- quiet(bsvm(formula, d, engine = few, weights = w, likelihood = "normalized"))
    expect_identical(nobs(fit), 120L)
    expect_identical(as.numeric(weights(fit)), as.numeric(d$w))
    expect_identical(nrow(model.frame(fit)), 120L)
    expect_identical(colnames(model.matrix(fit)), names(fixef(fit)))
    expect_identical(dim(simulate(fit, 2, seed = 1)), c(120L, 2L))
    without <- quiet(update(fit, . ~ . - t))
    expect_false("t" %in% names(fixef(without)))
    expect_identical(all.vars(formula(without)), setdiff(all.vars(formula), "t"))
    expect_refusal(df.residual(fit), "unsupported", "shrunk")
  }
  fit <- quiet(bsvm(as.matrix(d[c("x1", "t")]), d$y, engine = few))
  expect_identical(dim(model.matrix(fit)), c(120L, 3L))
  expect_identical(dim(simulate(fit, 2)), c(120L, 2L))
  expect_refusal(update(fit, . ~ . - t), "unsupported", "bsvm(x, y)")
})
