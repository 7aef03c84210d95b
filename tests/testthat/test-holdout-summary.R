d <- binary_data(80)
models <- list(x1 = scored_by(x1), x2 = scored_by(3 - x2),
               half = function(data) if (min(data$x3) > 0.02) stop("no") else scored_by(x3)(data))
study <- with_seed(1, quiet_study(holdout(models, d, times = 8, response = "y",
                                          metrics = c("error", "auc"))))
wide <- function(metric, model) study$value[study$metric == metric & study$model == model]

test_that("means and standard errors are those over the splits", {
  means <- summary(study)$means
  expect_identical(means$model, rep(c("x1", "x2", "half"), 2))
  own <- means[means$model == "x1" & means$metric == "auc", ]
  values <- wide("auc", "x1")
  expect_equal(own$mean, mean(values))
  expect_equal(own$se, sd(values) / sqrt(8))
  split <- holdout_splits(study)[[1]]
  ratio <- length(split$test) / length(split$train)
  expect_equal(own$se_corrected, sd(values) * sqrt(1 / 8 + ratio))
  half <- means[means$model == "half" & means$metric == "error", ]
  values <- wide("error", "half")
  expect_true(anyNA(values) && !all(is.na(values)))
  expect_equal(half$failed, sum(is.na(values)))
  expect_equal(half$splits, sum(!is.na(values)))
  expect_equal(half$mean, mean(values, na.rm = TRUE))
})

test_that("differences are paired", {
  found <- summary(study, reference = "x2")$differences
  expect_identical(unique(found$reference), "x2")
  expect_setequal(found$model, c("x1", "half"))
  both <- wide("error", "half") - wide("error", "x2")
  own <- found[found$model == "half" & found$metric == "error", ]
  expect_equal(own$difference, mean(both, na.rm = TRUE))
  expect_equal(own$se, sd(both, na.rm = TRUE) / sqrt(sum(!is.na(both))))
  expect_equal(own$splits, sum(!is.na(both)))
})

test_that("one model has no differences, one split no error, a part no correction", {
  alone <- with_seed(1, holdout(models["x1"], d, times = 1, response = "y"))
  expect_null(summary(alone)$differences)
  expect_identical(summary(alone)$means$se, c(NA_real_, NA_real_))
  expect_true(all(is.na(summary(structure(study, splits = NULL))$means$se_corrected)))
  part <- study[study$split > 2 & study$metric == "auc" & study$model != "half", ]
  expect_identical(summary(part)$means$splits, c(6L, 6L))
  expect_identical(summary(part)$differences$model, "x2")
})

test_that("it prints both tables", {
  shown <- capture.output(print(summary(study)))
  expect_match(paste(shown, collapse = "\n"),
               "Means over the splits.*Differences from `x1`.*se_corrected.*`half`, error and auc")
  capture.output(expect_invisible(print(summary(study))))
})

test_that("a reference that is not there is refused", {
  expect_refusal(summary(study, reference = "z"), "argument", c("`reference`", "\"z\""))
  expect_refusal(summary(study, ref = "x1", 3), "argument")
})
