# Studies of sources are those of data frames with the same rows.

study_file <- function() {
  d <- streamed_data(1500, levels = 20)
  file <- tempfile(fileext = ".csv")
  write.csv(d, file, row.names = FALSE)
  list(file = file, d = read.csv(file))
}

test_that("a study of a source has the values of one of a data frame", {
  own <- study_file()
  on.exit(unlink(own$file), add = TRUE)
  models <- list(
    a = bsvm(y ~ x + f, own$d, weights = 1 + k, control = bsvm_control(verbose = FALSE)),
    b = function(data) {
      bsvm(y ~ x + (1 | g), data, engine = engine_vb(), likelihood = "hinge")
    }
  )
  same <- function(study) {
    here <- with_seed(3, study(own$d))
    for (source in list(own$file, chunks_of(own$d, 97), bsvm_source(own$file, chunk_size = 400))) {
      there <- with_seed(3, study(source))
      expect_identical(there[c("model", "metric", "split")], here[c("model", "metric", "split")])
      expect_identical(there$value, here$value)
      expect_identical(holdout_splits(there), holdout_splits(here))
    }
    here
  }
  same(function(data) holdout(models, data, times = 2, metrics = c("error", "log_score", "auc")))
  grouped <- same(function(data) {
    cross_validate(y ~ x + f, data, folds = 3, group = g, test = x > -1, metrics = "brier",
                   predictions = TRUE)
  })
  expect_false(anyNA(grouped$value))
  same(function(data) { # an argument that draws random numbers draws them once
    cross_validate(y ~ x, data, folds = 3, group = sample(9, 1500, TRUE), metrics = "error")
  })
  same(function(data) {
    holdout(bsvm(z ~ x, own$d, likelihood = "gaussian"), data, times = 2,
            metrics = c("rmse", "crps", "coverage"))
  })
  study <- function(data) {
    with_seed(3, holdout(function(data) bsvm(y ~ s(x), data), data, times = 1, response = own$d$y))
  }
  expect_equal(study(own$file)$value[1L], study(own$d)$value[1L], tolerance = 1e-3)
  kept <- function(data) with_seed(3, holdout_predictions(
    holdout(models, data, times = 1, predictions = TRUE, response = "y")))
  expect_identical(kept(own$file), kept(own$d))
  skip_on_cran()
  cores <- with_seed(3, cross_validate(y ~ x + f, own$file, folds = 3, group = "g", cores = 2,
                                       test = x > -1, metrics = "brier"))
  expect_identical(cores$value, grouped$value)
})

test_that("some rows of a source are those of its chunks", {
  own <- study_file()
  on.exit(unlink(own$file), add = TRUE)
  read <- function(keep, size) {
    reader <- open_source(bsvm:::rows_of_source(bsvm_source(own$file, chunk_size = size), keep), "k")
    on.exit(reader$close())
    out <- NULL
    while (!is.null(chunk <- reader$read())) out <- c(out, chunk$k)
    out
  }
  for (size in c(1, 7, 1500)) {
    for (keep in list(1L, 1500L, c(2L, 7L, 8L, 14L, 1000L), seq_len(1500L))) {
      expect_identical(read(keep, size), own$d$k[keep])
    }
  }
})

test_that("what studies of sources do not support is refused", {
  own <- study_file()
  on.exit(unlink(own$file), add = TRUE)
  expect_refusal(holdout(y ~ x, chunks_of(own$d), cores = 2), "unsupported",
                 c("`cores`", "a function of `reset`"))
  expect_refusal(holdout(y ~ x, chunks_of(own$d), cores = NULL), "argument", "`cores`")
  expect_refusal(holdout(list(y ~ x, tuned_svm()), own$file), "unsupported", "tuned_svm()")
  expect_refusal(holdout(cbind(k, 3 - k) ~ x, own$file), "unsupported", "counts")
  expect_refusal(holdout(absent ~ x, own$file), "argument", "absent")
  expect_refusal(holdout(y ~ x, 3), "data", c("data frame", "source"))
  expect_refusal(holdout(y ~ x, own$file, group = absent), "argument", "`group`")
  expect_warning(study <- holdout(y ~ gp(x, infer = "all"), own$file, times = 1), "A source of rows does not",
                 class = "bsvm_warning_failure")
  expect_true(all(is.na(study$value)))
})

test_that("a source that has other rows in a later reading is no result", {
  own <- study_file()
  on.exit(unlink(own$file), add = TRUE)
  grows <- function(data) {
    write.table(own$d[1:3, ], own$file, sep = ",", append = TRUE, row.names = FALSE, col.names = FALSE)
    bsvm(y ~ x, data)
  }
  expect_warning(study <- holdout(grows, own$file, times = 1, response = own$d$y), "1503 rows, and 1500",
                 class = "bsvm_warning_failure")
  expect_true(all(is.na(study$value)))
})
