# Studies of a response of numbers: metrics by hand, rivals by what they say.

seen <- list(truth = c(1, 2, 4), fit = c(1.5, 2, 3), lower = c(0, 2.5, 3), upper = c(2, 4, 5),
             draws = rbind(c(0, 1, 2), c(2, 2, 2), c(5, 3, 1)))

test_that("metrics are what they are by hand", {
  expect_equal(metric_rmse(seen), sqrt((0.25 + 0 + 1) / 3))
  expect_equal(metric_mae(seen), 0.5)
  expect_equal(metric_r2(seen), 1 - 1.25 / sum((seen$truth - mean(seen$truth))^2))
  expect_equal(metric_coverage(seen), 2 / 3)
  expect_equal(metric_width(seen), (2 + 1.5 + 2) / 3)
  score <- function(x, y) mean(abs(x - y)) - mean(abs(outer(x, x, `-`))) / 2
  expect_equal(metric_crps(seen), mean(c(score(c(0, 1, 2), 1), score(c(2, 2, 2), 2), score(c(5, 3, 1), 4))))
  expect_true(is.na(metric_crps(seen["fit"])))
})

test_that("fits, functions and lists of limits are compared", {
  fit <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive(), engine = "vb")
  set.seed(1)
  study <- suppressWarnings(holdout(list(
    bsvm = fit, lm = function(d) stats::lm(dist ~ speed, d),
    mean = function(d) function(new) rep(mean(d$dist), nrow(new))
  ), data = cars, times = 4, metrics = c("rmse", "mae", "r2", "crps", "coverage", "width"), predictions = TRUE))
  rows <- holdout_predictions(study)
  part <- rows[rows$model == "lm" & rows$split == 1, ]
  value <- function(model, metric) study$value[study$model == model & study$metric == metric & study$split == 1]
  expect_equal(value("lm", "rmse"), sqrt(mean((part$truth - part$.pred)^2)))
  expect_equal(value("lm", "coverage"), mean(part$truth >= part$.lower & part$truth <= part$.upper))
  expect_true(all(is.na(value("mean", "crps"))))
  expect_false(anyNA(study$value[study$model == "bsvm"]))
  train <- holdout_splits(study)[[1L]]$train
  again <- stats::lm(dist ~ speed, cars[train, ])
  expect_close(part$.pred, predict(again, cars[part$.row, ]), 1e-10)
  expect_s3_class(cross_validate(fit, data = cars, folds = 3, metrics = "rmse"), "bsvm_holdout")
})

test_that("a study is of numbers or of classes", {
  numbers <- bsvm(mpg ~ wt, data = mtcars, likelihood = likelihood_eps_insensitive(), engine = "vb")
  classes <- bsvm(am ~ wt, data = mtcars, engine = "vb")
  expect_error(holdout(list(numbers, classes), data = mtcars, times = 2), class = "bsvm_error")
  bad <- holdout(list(fit = numbers, words = function(d) function(new) rep("a", nrow(new))),
                 data = mtcars, times = 2, metrics = "rmse") |> suppressWarnings()
  expect_match(bad$failure[bad$model == "words"][1L], "number")
})
