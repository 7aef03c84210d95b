# Studies of models whose predictions are known: metrics by hand, the same splits and bits however
# they are run, failures recorded.

bsvm <- paper_bsvm

d <- binary_data(80)
g <- grouped_data()
vb <- bsvm(y ~ x1 + x2, d, engine = "vb")
drawn <- unchecked(bsvm(y ~ x1, d, control = bsvm_control(verbose = FALSE),
                        engine = engine_gibbs(draws = 20, burnin = 5, chains = 1)))

study_of <- function(..., models = list(vb = vb, x = scored_by(x1)), data = d, seed = 1) {
  with_seed(seed, holdout(models, data, ...))
}

test_that("metrics are those of the tested rows", {
  models <- list(link = scored_by(x1), prob = scored_by(list(prob = plogis(x1))))
  study <- quiet_study(study_of(models = models, response = "y", times = 4, predictions = TRUE,
                                metrics = c("ber", "error", "auc", "brier")))
  for (i in 1:4) {
    test <- d[holdout_splits(study)[[i]]$test, ]
    yes <- test$y == "yes"
    found <- function(model, metric) {
      study$value[study$split == i & study$model == model & study$metric == metric]
    }
    wrong <- (test$x1 >= 0) != yes
    expect_equal(found("link", "error"), mean(wrong))
    expect_equal(found("link", "ber"), (mean(wrong[yes]) + mean(wrong[!yes])) / 2)
    expect_equal(found("link", "auc"), mean(outer(test$x1[yes], test$x1[!yes], ">")))
    expect_equal(found("prob", "brier"), mean((plogis(test$x1) - yes)^2))
    expect_equal(found("prob", "ber"), found("link", "ber"))
    kept <- holdout_predictions(study)
    kept <- kept[kept$split == i & kept$model == "prob", ]
    expect_identical(kept$truth, test$y)
    expect_equal(kept$.pred_yes, plogis(test$x1))
    expect_equal(kept$.pred_no, 1 - plogis(test$x1))
    expect_identical(kept$.pred_class == "yes", test$x1 >= 0)
    expect_true(all(is.na(kept$.link)))
    expect_identical(kept$.row, holdout_splits(study)[[i]]$test)
  }
})

test_that("the result is a tidy data frame, in the order given", {
  study <- study_of(times = 3)
  expect_s3_class(study, c("bsvm_holdout", "data.frame"), exact = TRUE)
  expect_identical(names(study), c("model", "split", "metric", "value", "failure"))
  expect_identical(levels(study$model), c("vb", "x"))
  expect_identical(levels(study$metric), c("ber", "seconds"))
  expect_equal(nrow(study), 12)
  expect_finite(study$value)
  expect_true(all(is.na(study$failure)))
  runs <- holdout_runs(study)
  expect_identical(names(runs), c("model", "split", "warnings", "warning"))
  expect_equal(nrow(runs), 6)
  expect_refusal(holdout_predictions(study), "unsupported", "`predictions = TRUE`")
  expect_refusal(holdout_splits(3), "argument", "holdout_splits()")
  expect_named(attributes(as.data.frame(study)), c("names", "row.names", "class"),
               ignore.order = TRUE)
  expect_refusal(holdout_runs(as.data.frame(untimed(study))), "argument", "holdout_runs()")
})

test_that("set.seed() governs, and the caller's numbers go on as if only splits had been drawn", {
  models <- list(drawn = drawn, x = scored_by(x1))
  one <- study_of(models = models, times = 3)
  expect_identical(untimed(study_of(models = models, times = 3)), untimed(one))
  expect_false(identical(untimed(study_of(models = models, times = 3, seed = 2)), untimed(one)))
  after <- function(models) {
    with_seed(1, {
      holdout(models, d, times = 3)
      runif(1)
    })
  }
  expect_identical(after(models), after(c(models["x"], list(vb = vb))))
})

test_that("a model does not depend on which others there are", {
  both <- untimed(study_of(models = list(x = scored_by(x1), drawn = drawn), times = 3,
                           response = "y"))
  alone <- untimed(study_of(models = list(drawn = drawn), times = 3))
  expect_identical(both$value[both$model == "drawn"], alone$value)
})

test_that("processes and clusters give the same bits", {
  skip_on_cran()
  models <- list(vb = vb, drawn = drawn, bad = function(data) stop("no"))
  run <- function(...) {
    quiet_study(study_of(models = models, times = 3, predictions = TRUE, response = "y", ...))
  }
  alone <- run()
  expect_true(any(!is.na(alone$failure)))
  same <- function(other) {
    expect_identical(untimed(other), untimed(alone))
    expect_identical(holdout_predictions(other), holdout_predictions(alone))
    expect_identical(holdout_splits(other), holdout_splits(alone))
    expect_identical(holdout_runs(other), holdout_runs(alone))
  }
  same(run(cores = 2))
  cluster <- parallel::makeCluster(2)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, .libPaths, .libPaths())
  same(run(cluster = cluster))
  expect_null(parallel::clusterEvalQ(cluster, bsvm:::remembered$job)[[1]])
})

test_that("a cluster of our own is as good as forks", {
  skip_on_cran()
  job <- list(data = d, truth = d$y == "yes", predictions = FALSE,
              response = new_response("classes", levels = levels(d$y)),
              learners = list(x = scored_by(x1)), metrics = known_metrics()["ber"],
              splits = list(list(train = 1:60, test = 61:80)), seeds = 1L)
  cluster <- new_cluster(1)
  on.exit(parallel::stopCluster(cluster))
  expect_identical(run_tasks(job, 1L, cluster, FALSE), run_tasks(job, 1L, NULL, FALSE))
})

test_that("cross-validation has the same shape and tests each row once", {
  study <- with_seed(1, cross_validate(list(x = scored_by(x1)), d, folds = 4, times = 2,
                                       response = y, metrics = "error", predictions = TRUE))
  expect_identical(levels(study$metric), "error")
  expect_identical(study$split, 1:8)
  kept <- holdout_predictions(study)
  expect_identical(sort(kept$.row), rep(1:80, each = 2))
  expect_equal(mean(study$value), mean((d$x1 >= 0) != (d$y == "yes")))
})

test_that("groups and rows to test are found in the data", {
  study <- with_seed(1, holdout(y ~ x1 + (1 | g), g, times = 3, group = g, test = t > -1))
  for (split in holdout_splits(study)) {
    expect_length(intersect(g$g[split$train], g$g[split$test]), 0)
    expect_true(all(g$t[split$test] > -1))
  }
  expect_finite(study$value)
  by_name <- with_seed(1, holdout(y ~ x1 + (1 | g), g, times = 3, group = "g", test = ~ t > -1))
  expect_identical(holdout_splits(by_name), holdout_splits(study))
})

test_that("complete rows are tested where incomplete ones are trained on", {
  s <- simulate_missing(80, 3, 0.15, seed = 1)
  holes <- data.frame(y = s$y, s$x)
  complete <- stats::complete.cases(holes)
  fit <- bsvm(y ~ x1 + x2 + x3, holes, missing = missing_normal(), engine = "vb")
  omit <- suppressMessages(bsvm(y ~ x1 + x2 + x3, holes, missing = "omit", engine = "vb"))
  models <- list(vb = fit, none = omit)
  study <- study_of(models = models, data = holes, times = 2, test = complete)
  expect_finite(study$value)
  for (split in holdout_splits(study)) {
    expect_true(all(complete[split$test]))
    expect_true(all(which(!complete) %in% split$train))
  }
  any <- quiet_study(study_of(models = models, data = holes, times = 2))
  expect_finite(any$value[any$model == "vb"])
  expect_match(any$failure[any$model == "none"], "rows have no prediction")
})

test_that("failures are recorded and counted, not fatal", {
  bad <- function(data) if (mean(data$x1) > 0.1) stop("a mean of ", "too much") else vb
  half <- list(x = scored_by(x1), bad = bad, worse = function(data) function(new) "maybe")
  study <- expect_warned(study_of(models = half, times = 6, response = "y"), "failure")
  expect_finite(study$value[study$model == "x"])
  failed <- vapply(holdout_splits(study), function(s) mean(d$x1[s$train]) > 0.1, TRUE)
  expect_true(any(failed) && !all(failed))
  own <- study[study$model == "bad" & study$metric == "ber", ]
  expect_identical(is.na(own$value), failed)
  expect_identical(own$failure, ifelse(failed, "a mean of too much", NA))
  expect_match(study$failure[study$model == "worse"], "'maybe'")
  expect_warning(study_of(models = half["worse"], times = 2, response = "y"),
                 "`worse`, ber and seconds: 2 of 2 values are missing", fixed = TRUE)
})

test_that("warnings of fits are kept and not shown", {
  loud <- function(data) {
    warning("loud")
    message("louder")
    function(new) new$x1
  }
  study <- expect_silent(study_of(models = list(loud = loud), times = 2, response = "y"))
  expect_identical(holdout_runs(study)$warnings, c(1L, 1L))
  expect_identical(holdout_runs(study)$warning, c("loud", "loud"))
  expect_output(print(study), "`loud`: warnings in 2 of 2 splits (loud)", fixed = TRUE)
})

test_that("metrics that fail or are NA are recorded", {
  metrics <- list("ber", stop = function(seen) stop("hm"), two = function(seen) 1:2,
                  none = function(seen) NA, rows = function(seen) length(seen$truth), "brier",
                  "auc")
  classes <- function(data) function(new) new$x1 > 0
  yes <- transform(d, y = y == "yes")
  study <- quiet_study(study_of(models = list(c = classes), data = yes, times = 1, response = "y",
                                metrics = metrics))
  expect_identical(as.character(study$metric),
                   c("ber", "stop", "two", "none", "rows", "brier", "auc"))
  expect_identical(is.na(study$value), c(FALSE, TRUE, TRUE, TRUE, FALSE, TRUE, TRUE))
  expect_equal(study$value[5], length(holdout_splits(study)[[1]]$test))
  expect_match(study$failure[-c(1, 5)], "hm|one number|is NA|no probabilities|no scores")
  alone <- quiet_study(study_of(models = list(x = scored_by(x1)), response = "y", times = 1,
                                stratify = FALSE, prop = 0.99, metrics = c("ber", "error")))
  expect_identical(alone$failure, c("only one class was tested", NA))
})

test_that("a metric of one's own has probabilities, whatever it is called", {
  mine <- function(seen) mean(seen$prob)
  study <- study_of(models = list(vb = vb), times = 2, metrics = list(ber = mine, seconds = mine))
  expect_finite(study$value)
  direct <- study_of(models = list(vb = vb), times = 2, metrics = list(mine = mine))
  expect_identical(study$value, rep(direct$value, each = 2))
  expect_true(needs_class_only(NULL) && needs_class_only(metric_ber))
  expect_false(needs_class_only(mine) || needs_class_only(metric_brier))
})

test_that("infinite metrics are failures, not values that vanish", {
  odd <- list("error", inf = function(seen) -Inf, nan = function(seen) NaN)
  study <- expect_warned(study_of(models = list(vb = vb), times = 2, metrics = odd), "failure")
  expect_identical(study$failure, rep(c(NA, "the metric is infinite", "the metric is NA"), 2))
  expect_identical(is.na(study$value), rep(c(FALSE, TRUE, TRUE), 2))
  expect_identical(summary(study)$means$failed, c(0L, 2L, 2L))
})

test_that("a row without some part of its prediction is a failure", {
  holes <- function(...) list(truth = c(TRUE, FALSE, TRUE), ...)
  judged <- function(...) judge(holes(...), NA_character_, 1, known_metrics()["error"])$failures
  class <- c(TRUE, TRUE, FALSE)
  expect_identical(judged(class = class, link = c(1, Inf, -Inf), prob = c(1, 1, 0)),
                   c(error = NA_character_))
  expect_match(judged(class = class, prob = c(NA, 0.5, NaN)), "2 of 3 rows have no prediction")
  expect_match(judged(class = replace(class, 1, NA), link = c(1, NA, -1)), "2 of 3 rows")
  expect_match(judged(class = replace(class, 1, NA)), "1 of 3 rows")
})

test_that("Ctrl-C in a fit ends the study", {
  stopped <- function(data) {
    warn("interrupted", "The fit was interrupted.")
    vb
  }
  ended <- tryCatch(study_of(models = list(s = stopped), response = "y", times = 2),
                    interrupt = function(e) class(e)[1])
  expect_identical(ended, "bsvm_error_interrupted")
})

test_that("a worker that is lost is a failure", {
  job <- list(metrics = list(ber = NULL, auc = NULL))
  lost <- "the process that ran it was killed, and so was a second one"
  expect_identical(lost_task(NULL, job)$failures, rep(lost, 2))
  expect_identical(lost_task(list(values = 1), job), list(values = 1))
})

test_that("progress is told when asked for", {
  shown <- capture.output(study <- study_of(times = 2, progress = TRUE), type = "message")
  expect_match(shown, "of [0-9]+ fits, about [0-9]+ s left", all = FALSE)
})

test_that("it prints the design and the means", {
  expect_output(print(study_of(times = 2)), "Hold-out: 2 random splits, 75 % of the rows trained")
  folds <- with_seed(1, cross_validate(vb, d, folds = 3, times = 2))
  expect_output(print(folds), "3 folds of rows, 2 times; 80 rows of data")
  shown <- capture.output(print(structure(study_of(times = 2), design = NULL, runs = NULL)))
  expect_match(shown[1], "Part of a study")
})

test_that("what can't be studied is refused", {
  expect_refusal(study_of(data = as.list(d)), "data", "`data`")
  expect_refusal(study_of(data = d[0, ]), "data", "no rows")
  expect_refusal(study_of(models = list(scored_by(x1))), "argument", "`response`")
  expect_refusal(study_of(models = list(a = y ~ x1, b = x2 > 3 ~ x1)), "argument", "`b` differs")
  expect_refusal(study_of(models = list(a = y ~ x1, a = y ~ x2, y ~ 1)), "argument", "`a` twice")
  expect_refusal(study_of(response = f), "response", "two classes")
  expect_refusal(study_of(data = transform(d, y = replace(y, 3, NA))), "missing", "found 1")
  expect_refusal(study_of(group = rep("one", 80)), "group", "`group`")
  expect_refusal(study_of(group = replace(f, 2, NA)), "missing", "`group`")
  expect_refusal(study_of(test = x1), "argument", "`test`")
  expect_refusal(study_of(test = x1 > 100), "argument", "`test`")
  expect_refusal(study_of(times = 0), "argument", "`times`")
  expect_refusal(study_of(prop = 1), "argument", "`prop`")
  expect_refusal(study_of(stratify = NA), "argument", "`stratify`")
  expect_refusal(study_of(predictions = 1), "argument", "`predictions`")
  expect_refusal(study_of(cores = 0), "argument", "`cores`")
  expect_refusal(study_of(cluster = 2), "argument", "`cluster`")
  expect_refusal(study_of(progress = "bar"), "argument", "`progress`")
  expect_refusal(study_of(metrics = "accuracy"), "argument", c("\"ber\"", "\"accuracy\""))
  expect_refusal(study_of(metrics = function(seen) 1), "argument", "without a name")
  expect_refusal(study_of(metrics = c("ber", "ber")), "argument", "\"ber\" twice")
  expect_refusal(study_of(repeats = 3), "argument", c("`repeats`", "`times`"))
  expect_refusal(cross_validate(vb, d, folds = 1), "argument", "`folds`")
  expect_refusal(cross_validate(vb, d, k = 5), "argument", "`folds`")
})

# A model whose process is killed the first `times` times that one of its fits is made.
killed <- function(folder, times) {
  function(data) {
    before <- length(list.files(folder))
    if (before < times) {
      file.create(tempfile("killed", folder))
      tools::pskill(Sys.getpid(), tools::SIGKILL)
      Sys.sleep(10)
    }
    function(new) new$x1
  }
}

test_that("splits of a process that was killed are run again, once", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- new_folder("killed")
  dir.create(folder, showWarnings = FALSE)
  on.exit(unlink(folder, recursive = TRUE))
  x <- scored_by(x1)
  study <- function(k) {
    quiet_study(study_of(models = list(k = k, x = x), response = "y", times = 3, cores = 2,
                         metrics = "ber"))
  }
  again <- study(killed(folder, 1))
  expect_length(list.files(folder), 1)
  expect_identical(untimed(again), untimed(study(x)))
  hopeless <- study(killed(folder, 1000))
  lost <- as.list(hopeless)$model == "k"
  expect_true(all(is.na(hopeless$value[lost])))
  expect_match(hopeless$failure[lost], "killed")
  expect_finite(hopeless$value[!lost])
})

test_that("splits of a cluster that lost a process are recorded as failed", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- new_folder("killed")
  dir.create(folder, showWarnings = FALSE)
  cluster <- parallel::makeCluster(2)
  on.exit({
    unlink(folder, recursive = TRUE)
    try(parallel::stopCluster(cluster), silent = TRUE)
  })
  study <- quiet_study(study_of(models = list(k = killed(folder, 1)), response = "y", times = 3,
                                cluster = cluster, metrics = "ber"))
  expect_true(all(is.na(study$value)))
  expect_match(study$failure, "make a new cluster", fixed = TRUE)
})
