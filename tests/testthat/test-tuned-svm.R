bsvm <- paper_bsvm

skip_if_not_installed("e1071")

d <- binary_data(90)
spec <- function(...) tuned_svm(..., times = 4)

# The grids one by one, in base R and e1071's own scaling.
plain_rates <- function(x, y, splits, cost, gamma = NULL) {
  mean(vapply(splits, function(split) {
    arguments <- list(x[split$train, ], y[split$train], cost = cost, scale = TRUE,
                      kernel = if (is.null(gamma)) "linear" else "radial")
    svm <- do.call(e1071::svm, c(arguments, if (!is.null(gamma)) list(gamma = gamma)))
    wrong <- predict(svm, x[split$test, ]) != y[split$test]
    mean(tapply(wrong, y[split$test], mean))
  }, 0))
}

plain_tuning <- function(x, y, splits, cost, gamma, fine) {
  tried <- function(cost, gamma) {
    grid <- expand.grid(gamma = if (is.null(gamma)) NA else gamma, cost = cost)
    grid$ber <- mapply(function(c, g) plain_rates(x, y, splits, c, if (!is.na(g)) g), grid$cost,
                       grid$gamma)
    grid
  }
  first <- tried(cost, gamma)
  best <- first[which.min(first$ber), ]
  second <- tried(best$cost * fine, if (!is.null(gamma)) best$gamma * fine)
  list(grid = rbind(first, second), best = second[which.min(second$ber), ])
}

inner_splits <- function(seed) {
  with_seed(seed, random_splits(split_units(d$y == "yes"), 4, 3 / 4, levels(d$y)))
}

test_that("the cost is the one a plain loop finds", {
  svm <- with_seed(1, fit(spec(cost = 2^c(4, -6, -2, 0, 2)), y ~ x1 + x2 + f, d))
  x <- model.matrix(~ x1 + x2 + f, d)[, -1]
  plain <- plain_tuning(x, d$y, inner_splits(1), 2^c(-6, -2, 0, 2, 4), NULL,
                        2^seq(-1.5, 1.5, 0.5))
  expect_equal(svm$grid$ber, plain$grid$ber)
  expect_equal(svm$grid$cost, plain$grid$cost)
  expect_equal(svm$cost, plain$best$cost)
  expect_null(svm$gamma)
  expect_gt(length(unique(svm$grid$ber)), 3)
  whole <- e1071::svm(x, d$y, kernel = "linear", cost = svm$cost)
  expect_identical(as.vector(predict(svm, d)), as.vector(predict(whole, x)))
  values <- attr(predict(whole, x, decision.values = TRUE), "decision.values")
  sign <- if (colnames(values) == "yes/no") 1 else -1
  expect_equal(unname(predict(svm, d, type = "link")), sign * as.vector(values))
})

test_that("of a radial kernel cost and gamma are", {
  svm <- with_seed(2, fit(spec("radial", cost = c(0.5, 4), gamma = c(0.1, 1), fine = c(0.5, 1)),
                          y ~ x1 + x2, d))
  plain <- plain_tuning(as.matrix(d[c("x1", "x2")]), d$y, inner_splits(2), c(0.5, 4), c(0.1, 1),
                        c(0.5, 1))
  expect_equal(svm$grid[c("cost", "gamma", "ber")], plain$grid[c("cost", "gamma", "ber")],
               ignore_attr = TRUE)
  expect_equal(c(svm$cost, svm$gamma), c(plain$best$cost, plain$best$gamma))
  expect_identical(svm$grid$stage, rep(1:2, c(4, 4)))
  default <- with_seed(2, fit(spec("radial", cost = 1, fine = 1), y ~ x1 + x2, d))
  expect_equal(default$grid$gamma[1:5], 2^c(-4, -2, 0, 2, 4) / 2)
})

test_that("swapped classes, bars, missing values and columns that do not vary are no trouble", {
  svm <- with_seed(1, fit(spec(cost = 1, fine = 1), y ~ x1 + x2, d))
  swapped <- transform(d, y = factor(y, levels = c("yes", "no")))
  other <- with_seed(1, fit(spec(cost = 1, fine = 1), y ~ x1 + x2, swapped))
  expect_equal(predict(other, d, type = "link"), -predict(svm, d, type = "link"),
               tolerance = 1e-3)
  expect_identical(levels(predict(other, d)), c("yes", "no"))
  rows <- d[rev(seq_len(nrow(d))), ]
  expect_equal(predict(fit(spec(cost = 1, fine = 1), y ~ x1 + x2, rows), d, type = "link"),
               predict(svm, d, type = "link"), tolerance = 1e-3)
  barred <- with_seed(1, fit(spec(cost = 1, fine = 1), y ~ x1 + x2 + (1 | f), d))
  expect_equal(predict(barred, d[c("x1", "x2")], type = "link"), predict(svm, d, type = "link"))
  holes <- transform(d, x1 = replace(x1, 3:5, NA), constant = 1)
  some <- with_seed(1, fit(spec(cost = 1, fine = 1), y ~ x1 + x2 + constant, holes))
  expect_equal(some$nobs, 87)
  expect_identical(which(is.na(predict(some, holes))), 3:5)
  expect_finite(predict(some, holes, type = "link")[-(3:5)])
})

test_that("inner splits keep groups whole", {
  g <- grouped_data()
  g$g[1:2] <- NA
  grouped <- with_seed(1, fit(spec(cost = c(0.1, 1), group = "g"), y ~ x1 + t, g[-(1:2), ]))
  splits <- with_seed(1, random_splits(split_units(g$y[-(1:2)] == "yes", g$g[-(1:2)]), 4, 3 / 4,
                                       levels(g$y)))
  x <- as.matrix(g[-(1:2), c("x1", "t")])
  expect_equal(grouped$grid$ber[1:2],
               c(plain_rates(x, g$y[-(1:2)], splits, 0.1), plain_rates(x, g$y[-(1:2)], splits, 1)))
  expect_refusal(fit(spec(group = "g"), y ~ x1, g), "missing", "`group`")
})

test_that("holdout() fits it with the formula of the first model, or its own", {
  vb <- bsvm(y ~ x1 + (1 | f), d, engine = "vb")
  models <- list(vb = vb, first = spec(cost = 1), own = spec(cost = 1, formula = y ~ x2))
  study <- with_seed(1, holdout(models, d, times = 2, predictions = TRUE))
  expect_finite(study$value)
  split <- holdout_splits(study)[[1]]
  kept <- holdout_predictions(study)
  direct <- function(formula) {
    set.seed(kept_seed)
    predict(fit(spec(cost = 1), formula, d[split$train, ]), d[split$test, ], type = "link")
  }
  kept_seed <- with_seed(1, {
    random_splits(split_units(d$y == "yes"), 2, 3 / 4, levels(d$y))
    sample.int(.Machine$integer.max, 2, replace = TRUE)[1]
  })
  found <- function(model) kept$.link[kept$model == model & kept$split == 1]
  expect_equal(found("first"), unname(direct(y ~ x1)))
  expect_equal(found("own"), unname(direct(y ~ x2)))
})

test_that("it prints what it does and what it found", {
  expect_output(print(spec()), "linear kernel, 9 costs, then 7 about the best, each by 4 hold-outs")
  svm <- with_seed(1, fit(spec(cost = 1, fine = 1), y ~ x1, d))
  expect_output(print(svm), "linear kernel, 90 rows\ncost 1, balanced error rate 0[.][0-9]+ over 4")
})

test_that("what can't be tuned is refused", {
  expect_refusal(tuned_svm("polynomial"), "argument", "`kernel`")
  expect_refusal(tuned_svm(cost = c(1, -1)), "argument", "`cost`")
  expect_refusal(tuned_svm("radial", gamma = "a"), "argument", "`gamma`")
  expect_refusal(tuned_svm(gamma = 1), "argument", "`gamma`")
  expect_refusal(tuned_svm(fine = numeric(0)), "argument", "`fine`")
  expect_refusal(tuned_svm(times = 0), "argument", "`times`")
  expect_refusal(tuned_svm(prop = 2), "argument", "`prop`")
  expect_refusal(tuned_svm(group = 1:3), "argument", "`group`")
  expect_refusal(tuned_svm(formula = ~ x), "formula")
  expect_refusal(tuned_svm(folds = 3), "argument", "`folds`")
  expect_refusal(fit(spec(), NULL, d), "formula")
  expect_refusal(fit(spec(), y ~ 1, d), "formula", c("predictors", "y ~ 1"))
  expect_refusal(fit(spec(), y ~ (1 | f), d), "formula", "predictors")
  expect_refusal(fit(spec(), y ~ x1, as.list(d)), "data")
  svm <- fit(spec(cost = 1, fine = 1), y ~ x1, d)
  expect_refusal(predict(svm, d, type = "prob"), "argument", "`type`")
})

test_that("an offset is refused, of whichever model", {
  expect_refusal(tuned_svm(formula = y ~ x1 + offset(x2)), "unsupported", "offset")
  expect_refusal(fit(spec(), y ~ offset(x2) + x1 + (1 | f), d), "unsupported", "offset")
  refused <- function(first) {
    expect_refusal(holdout(list(first = first, svm = spec()), d, times = 1), "unsupported",
                   "offset")
  }
  refused(y ~ x1 + offset(x2))
  refused(bsvm(y ~ x1 + offset(x2), d, engine = "vb"))
  refused(bsvm(y ~ x1, d, offset = x2, engine = "vb"))
  own <- list(first = bsvm(y ~ x1, d, offset = x2, engine = "vb"),
              svm = spec(cost = 1, fine = 1, formula = y ~ x1))
  expect_finite(with_seed(1, holdout(own, d, times = 1))$value)
})
