# Studies of several responses.

several <- function(data = mtcars, ...) {
  set.seed(1)
  suppressWarnings(bsvm(cbind(mpg, hp) ~ wt + disp, data, likelihood = likelihood_gaussian(),
                        engine = engine_gibbs(draws = 200, burnin = 50, chains = 1), ...))
}

by_lm <- function(data) stats::lm(cbind(mpg, hp) ~ wt + disp, data)

test_that("metrics are those of each response, by hand", {
  set.seed(2)
  study <- suppressWarnings(holdout(list(own = several(), lm = by_lm), mtcars, times = 3,
                                    metrics = c("rmse", "mae hp", "coverage", "width"),
                                    predictions = TRUE))
  expect_setequal(levels(study$metric), c("rmse mpg", "rmse hp", "mae hp", "coverage mpg",
                                          "coverage hp", "width mpg", "width hp"))
  splits <- holdout_splits(study)
  seen <- holdout_predictions(study)
  for (k in 1:3) {
    rows <- splits[[k]]
    fit <- by_lm(mtcars[rows$train, ])
    error <- as.matrix(mtcars[rows$test, c("mpg", "hp")]) - predict(fit, mtcars[rows$test, ])
    value <- function(metric, model) {
      study$value[study$split == k & study$metric == metric & study$model == model]
    }
    expect_equal(value("rmse mpg", "lm"), sqrt(mean(error[, 1L]^2)), tolerance = 1e-12)
    expect_equal(value("mae hp", "lm"), mean(abs(error[, 2L])), tolerance = 1e-12)
    own <- seen[seen$split == k & seen$model == "own" & seen$response == "hp", ]
    expect_identical(own$.row, rows$test)
    expect_equal(own$truth, mtcars$hp[rows$test])
    expect_equal(value("rmse hp", "own"), sqrt(mean((own$.pred - own$truth)^2)), tolerance = 1e-12)
    expect_equal(value("width hp", "own"), mean(own$.upper - own$.lower), tolerance = 1e-12)
    expect_equal(value("coverage hp", "own"),
                 mean(own$.lower <= own$truth & own$truth <= own$.upper))
  }
  # a fit to the rows of a split has its predictions
  again <- several(mtcars[splits[[1L]]$train, ])
  own <- seen[seen$split == 1 & seen$model == "own" & seen$response == "mpg", ".pred"]
  expect_lt(max(abs(own - predict(again, mtcars[splits[[1L]]$test, ])[, "mpg"])), 1)
})

test_that("independent residuals, missing responses, arrays and folds are studied", {
  data <- transform(mtcars, mpg = replace(mpg, c(3, 9), NA))
  robust <- update(several(), data = data,
                   likelihood = likelihood_gaussian(residual = "independent"), engine = NULL)
  study <- suppressWarnings(cross_validate(robust, data, folds = 4))
  expect_false(anyNA(study$value))
  expect_setequal(levels(study$metric), c("rmse mpg", "rmse hp", "seconds"))
  one <- function(data) function(newdata) {
    array(1, c(nrow(newdata), 3L, 2L), list(NULL, c("fit", "lower", "upper"), NULL))
  }
  study <- holdout(list(robust, one = one), data, times = 1, metrics = "coverage")
  expect_identical(study$value[study$model == "one"], c(0, 0))
})

test_that("responses go by their names, and metrics may be functions", {
  fit <- several()
  turned <- function(data) {
    model <- stats::lm(cbind(hp, mpg) ~ wt + disp, data)
    function(newdata) stats::predict(model, newdata)
  }
  mine <- function(seen) mean(abs(seen$truth - seen$fit))
  study <- suppressWarnings(holdout(list(fit, lm = by_lm, turned = turned), mtcars, times = 2,
                                    metrics = list(mine = mine, "rmse", "mae hp")))
  expect_setequal(levels(study$metric), c("mine", "rmse mpg", "rmse hp", "mae hp"))
  expect_equal(study$value[study$model == "turned"], study$value[study$model == "lm"],
               tolerance = 1e-12)
  logs <- suppressWarnings(bsvm(cbind(log(mpg), hp) ~ wt, mtcars, likelihood = likelihood_gaussian(),
                                engine = engine_gibbs(draws = 50, burnin = 50, chains = 1)))
  study <- suppressWarnings(holdout(logs, mtcars, times = 1))
  expect_true("rmse log(mpg)" %in% levels(study$metric))
})

test_that("models that do not say all responses are told, and others refused", {
  fit <- several()
  bad <- function(data) function(newdata) numeric(nrow(newdata))
  study <- suppressWarnings(holdout(list(fit, bad = bad), mtcars, times = 1))
  expect_true(all(grepl("must be a matrix", study$failure[study$model == "bad"])))
  short <- function(data) function(newdata) matrix(0, nrow(newdata), 3)
  study <- suppressWarnings(holdout(list(fit, bad = short), mtcars, times = 1))
  expect_true(all(grepl("2 responses; found", study$failure[study$model == "bad"])))
  expect_error(holdout(list(fit, function(data) 1), mtcars, metrics = "ber"),
               class = "bsvm_error_argument")
  expect_error(holdout(list(fit, bsvm(mpg ~ wt, mtcars, likelihood = likelihood_gaussian())),
                       mtcars), "is not", class = "bsvm_error_argument")
  expect_error(holdout(list(fit, cbind(mpg, hp) ~ wt), mtcars), class = "bsvm_error_argument")
  one <- function(data) function(new) {
    array(1, c(nrow(new), 2L, 2L), list(NULL, c("fit", "lwr"), NULL))
  }
  study <- suppressWarnings(holdout(list(fit, one = one), mtcars, times = 1))
  expect_true(all(grepl("the other too", study$failure[study$model == "one"])))
  expect_error(holdout(list(fit, tuned_svm(cbind(mpg, hp) ~ wt)), mtcars),
               class = "bsvm_error")
  weighted <- several(weights = rep(2, 32))
  expect_error(holdout(weighted, mtcars), class = "bsvm_error_unsupported")
})
