#' Judge classifiers by hold-out and cross-validation
#'
#' Fits models to a part of the rows and looks at how well they classify the others, again and
#' again, with the same splits for all models: repeated random hold-out (Kim 2009), by which Luts
#' and Ormerod (2014, Section 4) judge classifiers, or cross-validation.
#'
#' @details
#' **Models** are given as a list, whose names are those in the result. One of them may be
#' * a fit by [bsvm()] from a formula: fitted to the training rows with the values its arguments had.
#'   Variables of `weights` and `offset` must be columns of `data`;
#' * a formula: `bsvm(formula, data)` with the defaults;
#' * what [tuned_svm()] gives;
#' * a function of a data frame, the training rows, which returns a model. What
#'   `predict(model, newdata)` gives may be classes (a factor, or as the response is coded), a
#'   numeric link (class +1 from zero on), a matrix or data frame of probabilities with a column a
#'   class, or a list (data frame) of some of `class`, `link` and `prob` (of class +1; in a data
#'   frame also columns named by class). Numbers that are all between 0 and 1 are refused unless
#'   they are classes: a list tells whether they are `link` or `prob`. Where it gives classes,
#'   `predict(model, newdata, type = "prob")` is tried for probabilities. The function may
#'   also return a function of new rows, which is then called in place of `predict()`.
#'
#' Group effects of levels that are not in the training rows have mean zero
#' (`allow_new_levels = TRUE`).
#'
#' **Splits** are drawn before anything is fitted, with R's random numbers, so [set.seed()] governs
#' them; each also gets a seed, which its models start from. Results are the same to the bit,
#' seconds aside, whatever `cores` and `cluster`, and a model's do not depend on which others there
#' are. With `stratify = TRUE` each class has the same share of its rows in the training set. With
#' `group` whole groups are tested or trained on, `prop` is a share of groups, and they are
#' stratified by the class of most of their rows. `prop` and `folds` speak of the rows that may be
#' tested (`test`): the others are in every training set, but for those of a group that is tested,
#' which are left out. Where a training set lacks a class, the split is drawn again.
#'
#' **Metrics** by name, of the tested rows of a split:
#' * `"ber"`, balanced error rate, the mean of the two classes' error rates; `"error"`, error rate;
#' * `"auc"`, area under the curve of receiver operating characteristic, of links, or of
#'   probabilities where there are none;
#' * `"brier"`, mean squared difference of class and probability; `"log_score"`, mean
#'   log-probability of the class that was seen (the higher, the better); `"slope"`, calibration
#'   slope: that of a logistic regression of the class on the predicted log odds. These need
#'   probabilities, which a fit has where `predict(type = "prob")` does;
#' * `"seconds"`, elapsed time of fit and predictions.
#'
#' A function is called with a list of `truth` and `class` (logical: is it class +1?), and, where
#' the model has them, `link` and `prob`, and returns one number.
#'
#' **Failures** do not stop a study: where a fit, a prediction or a metric fails, or a metric is
#' infinite, the value is `NA`, the reason is recorded, and a warning of class
#' `bsvm_warning_failure` counts them at the end. A model without a class, link or probability for
#' some tested row, and with it for others, has failed there. Warnings of fits are recorded too and
#' not shown.
#'
#' Processes for `cores` are forks, on Windows a cluster of their own. Functions among the models
#' find on a cluster what they bring along; what lies in the global environment has to be sent there
#' by [parallel::clusterExport()].
#'
#' @param models A list of models, or one; see Details.
#' @param data A data frame with the rows to fit to and to test.
#' @param times How many random splits; of `cross_validate()`, how many partitions into folds.
#' @param prop Share of the rows (groups) that are trained on, between 0 and 1.
#' @param folds How many folds, each of which is tested once.
#' @param group What goes to one side of a split as a whole: evaluated in `data`, a vector with an
#'   element a row, a column's name or a one-sided formula (`group = clinic`, `"clinic"` or `~
#'   clinic`).
#' @param stratify Should both sides have the same shares of the classes?
#' @param test Which rows may be tested, evaluated like `group`: `TRUE` or `FALSE` for each, such as
#'   `test = !is.na(x)`; all by default.
#' @param response The response, evaluated like `group`; by default the left side of the first
#'   formula among the models.
#' @param metrics Names of metrics, functions with names, or a list of both; see Details.
#' @param predictions Keep the predictions of all tested rows?
#' @param cores How many processes work at the same time. Each fit has the threads its `control`
#'   says.
#' @param cluster A cluster of package parallel, on whose nodes bsvm is installed, in place of
#'   `cores`.
#' @param progress Show a bar of progress?
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_holdout` with a row a split, model and metric: `model` and
#'   `metric` (factors in the order given), `split` (its number), `value`, and `failure`, why it is
#'   `NA`.
#'
#'   `holdout_splits()`: a list with an element a split, a list of the numbers of rows `train` and
#'   `test`. `holdout_runs()`: a data frame with a row a split and model: `model`, `split`, the
#'   number of `warnings`, and the first of them, `warning`. `holdout_predictions()`: with
#'   `predictions = TRUE`, a data frame with a row a tested row, split and model: `model`, `split`,
#'   `.row` (its number in `data`), `truth`, `.pred_class`, `.pred_` and each class (probabilities),
#'   `.link`; `NA` for what the model does not say. Package yardstick takes it, with `event_level =
#'   "second"`.
#' @section Errors: `bsvm_error_argument` for arguments that are not what they must be,
#'   `bsvm_error_unsupported` for fits that can't be fitted again to other rows (from `bsvm(x, y)`,
#'   with `subset`), `bsvm_error_response` for a response that has not two classes or a class that
#'   training sets lack, `bsvm_error_missing` for missing values of response or group,
#'   `bsvm_error_group` for one group of all rows, and `bsvm_error_data` for what is no data frame.
#' @references
#' Kim, J.-H. (2009). Estimating classification error rate: Repeated cross-validation, repeated
#' hold-out and bootstrap. *Computational Statistics & Data Analysis*, 53, 3735-3745.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Section 4).
#' @seealso [summary.bsvm_holdout()] for means and differences, [plot_ber()] for box plots,
#'   [tuned_svm()].
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), z = rnorm(200), clinic = gl(20, 10))
#' d$sick <- factor(d$x + rnorm(20)[d$clinic] + rnorm(200) > 0, labels = c("no", "yes"))
#' models <- list(
#'   plain = bsvm(sick ~ x + z, data = d, engine = "vb"),
#'   clinics = bsvm(sick ~ x + z + (1 | clinic), data = d, engine = "vb"),
#'   logistic = function(data) {
#'     fit <- glm(sick ~ x + z, family = binomial, data = data)
#'     function(new) list(prob = predict(fit, new, type = "response"))
#'   }
#' )
#' study <- holdout(models, d, times = 10, predictions = TRUE)
#' study
#' summary(study)
#' lengths(holdout_splits(study)[[1]])
#' head(holdout_predictions(study), 3)
#' head(holdout_runs(study), 3)
#'
#' # new clinics
#' holdout(models, d, times = 10, group = clinic)
#'
#' # of x where it is large; a metric of one's own
#' missed <- function(seen) mean(!seen$class[seen$truth])
#' holdout(models["plain"], d, times = 10, test = x > 0, metrics = list("error", missed = missed))
#'
#' cross_validate(models, d, folds = 5)
#' @export
holdout <- function(models, data, times = 100L, prop = 3 / 4, group = NULL, stratify = TRUE,
                    test = NULL, response = NULL, metrics = c("ber", "seconds"),
                    predictions = FALSE, cores = 1L, cluster = NULL, progress = interactive(),
                    ...) {
  check_dots(substitute(list(...)), "holdout()", holdout_hints)
  check_count(times, "times")
  check_level(prop, "prop")
  study <- prepare_study(models, data, stratify, metrics, predictions, environment(),
                         parent.frame())
  check_runner(cores, cluster, progress)
  splits <- random_splits(study$units, times, prop, study$levels)
  run_study(study, splits, list(kind = "holdout", times = times, prop = prop), cores, cluster,
            progress)
}

#' @rdname holdout
#' @export
cross_validate <- function(models, data, folds = 10L, times = 1L, group = NULL, stratify = TRUE,
                           test = NULL, response = NULL, metrics = c("ber", "seconds"),
                           predictions = FALSE, cores = 1L, cluster = NULL,
                           progress = interactive(), ...) {
  check_dots(substitute(list(...)), "cross_validate()", holdout_hints)
  check_count(folds, "folds", least = 2L)
  check_count(times, "times")
  study <- prepare_study(models, data, stratify, metrics, predictions, environment(),
                         parent.frame())
  check_runner(cores, cluster, progress)
  splits <- fold_splits(study$units, folds, times, study$levels)
  run_study(study, splits, list(kind = "folds", times = times, folds = folds), cores, cluster,
            progress)
}

holdout_hints <- c(
  k = "Here it is `folds`, an argument of cross_validate().",
  v = "Here it is `folds`, an argument of cross_validate().",
  repeats = "Here it is `times`.",
  strata = "Splits are stratified by class; `stratify = FALSE` draws them without.",
  groups = "Here it is `group`.",
  threads = "It goes into the `control` of each fit; `cores` is for processes.",
  seed = "Splits follow R's random numbers: call set.seed() before."
)

# Everything but the splits, checked. `call` is where the arguments that are evaluated in the data
# are, not yet looked at, `env` where the call was written.
prepare_study <- function(models, data, stratify, metrics, predictions, call, env) {
  check_flag(stratify, "stratify")
  check_flag(predictions, "predictions")
  check_rows_of(data)
  models <- check_models(models)
  metrics <- check_metrics(metrics)
  formulas <- Filter(Negate(is.null), lapply(models, model_formula, env))
  response <- study_response(row_argument("response", data, call, env), formulas, data)
  group <- row_argument("group", data, call, env)
  testable <- check_testable(row_argument("test", data, call, env))
  first <- if (length(formulas) > 0L) formulas[[1L]]
  truth <- response$y > 0
  list(data = data, truth = truth, levels = response$levels, metrics = metrics,
       learners = Map(as_learner, models, names(models), MoreArgs = list(first, env)),
       units = split_units(truth, check_split_group(group), testable, stratify),
       grouped = !is.null(group), predictions = predictions)
}

check_rows_of <- function(data) {
  if (!is.data.frame(data)) {
    abort("data", "`data` must be a data frame, whose rows can be split; found ", describe(data),
          ".")
  }
  check_data(data)
}

# list(y, levels): what all formulas have on the left, or what was given.
study_response <- function(given, formulas, data) {
  sides <- lapply(formulas, function(formula) {
    check_formula(formula)
    value_in(formula[[2L]], data, formula_environment(formula), "response")
  })
  if (!is.null(given)) sides <- c(list(given), sides)
  if (length(sides) == 0L) {
    abort("argument", "`response` must be given where no model has a formula: what is to be ",
          "predicted, such as `response = y`.")
  }
  coded <- lapply(sides, code_complete, n = nrow(data))
  same <- vapply(coded, function(other) identical(other[c("y", "levels")],
                                                  coded[[1L]][c("y", "levels")]), TRUE)
  if (!all(same)) {
    abort("argument", "All models must have the same response, coded in the same way; ",
          enumerate(names(coded)[!same]), " differ", if (sum(!same) == 1L) "s", " from the first.")
  }
  coded[[1L]]
}

code_complete <- function(y, n) {
  if (NROW(y) != n) {
    abort("response", "The response must have one element a row (", n, "); found ", describe(y),
          ".")
  }
  if (anyNA(y)) {
    abort("missing", "The response must have no missing values; found ", sum(is.na(y)), ". Leave ",
          "these rows out: they can be neither tested nor trained on.")
  }
  code_response(y)
}

# A named list of functions; NULL for "seconds".
check_metrics <- function(metrics) {
  if (is.function(metrics)) metrics <- list(metrics)
  if (!is.character(metrics) && !is.list(metrics) || length(metrics) == 0L) refuse_metric(metrics)
  metrics <- as.list(metrics)
  names <- if (is.null(names(metrics))) rep("", length(metrics)) else names(metrics)
  known <- c(known_metrics(), list(seconds = NULL))
  for (k in seq_along(metrics)) {
    metric <- metrics[[k]]
    if (is.function(metric) && nzchar(names[k])) next
    if (!is.character(metric) || length(metric) != 1L || !metric %in% names(known)) {
      refuse_metric(metric)
    }
    metrics[k] <- known[metric]
    names[k] <- metric
  }
  if (anyDuplicated(names)) {
    abort("argument", "`metrics` must have different names; found ",
          enumerate(unique(names[duplicated(names)]), "\""), " twice.")
  }
  stats::setNames(metrics, names)
}

refuse_metric <- function(metric) {
  abort("argument", "`metrics` must be among ", enumerate(c(names(known_metrics()), "seconds"),
        "\""), ", or functions with names, as in `list(\"ber\", mine = function(seen) ...)`; ",
        "found ", describe(metric), if (is.function(metric)) " without a name", ".")
}

check_runner <- function(cores, cluster, progress) {
  check_count(cores, "cores")
  check_flag(progress, "progress")
  if (!is.null(cluster) && !inherits(cluster, "cluster")) {
    abort("argument", "`cluster` must be made by parallel::makeCluster(); found ",
          describe(cluster), ".")
  }
}

# Seeds come from R's random numbers after the splits, and nothing later uses these.
run_study <- function(study, splits, design, cores, cluster, progress) {
  job <- study[c("data", "truth", "levels", "learners", "metrics", "predictions")]
  job$splits <- splits
  job$seeds <- sample.int(.Machine$integer.max, length(splits), replace = TRUE)
  results <- with_seed_kept(run_tasks(job, cores, cluster, progress))
  design <- c(design, study["grouped"], list(rows = nrow(study$data), levels = study$levels))
  new_holdout(results, job, design)
}

new_holdout <- function(results, job, design) {
  models <- names(job$learners)
  tasks <- seq_along(results)
  runs <- data.frame(model = factor(models[task_model(tasks, job)], models),
                     split = task_split(tasks, job))
  each <- rep(tasks, each = length(job$metrics))
  values <- data.frame(
    runs[each, ], metric = factor(rep(names(job$metrics), length(tasks)), names(job$metrics)),
    value = unlist(lapply(results, `[[`, "values")),
    failure = unlist(lapply(results, `[[`, "failures")), row.names = NULL
  )
  runs$warnings <- lengths(lapply(results, `[[`, "warnings"))
  runs$warning <- vapply(results, function(result) result$warnings[1L], "")
  out <- structure(values, class = c("bsvm_holdout", "data.frame"), design = design, runs = runs,
                   splits = job$splits,
                   predictions = if (job$predictions) join_predictions(results, runs))
  warn_failures(out)
  out
}

join_predictions <- function(results, runs) {
  rows <- lapply(results, `[[`, "predictions")
  count <- vapply(rows, NROW, 1L)
  each <- rep(seq_along(rows), count)
  data.frame(runs[each, c("model", "split")], do.call(rbind, rows), check.names = FALSE,
             row.names = NULL)
}

warn_failures <- function(study) {
  lines <- failure_lines(study)
  if (length(lines) > 0L) warn("failure", paste(lines, collapse = "\n"))
}

# "`vb`, brier: 100 of 100 values are missing (the model gives no probabilities)"; metrics that
# fail for the same reason together.
failure_lines <- function(study) {
  failed <- as.data.frame(study)[!is.na(study$failure), ]
  cells <- split(failed, list(failed$metric, failed$model), drop = TRUE)
  of <- vapply(cells, function(cell) as.character(cell$model[1L]), "")
  metric <- vapply(cells, function(cell) as.character(cell$metric[1L]), "")
  what <- vapply(cells, function(cell) {
    paste0(nrow(cell), " of ", length(unique(study$split)), " values are missing (",
           cell$failure[1L], ")")
  }, "")
  key <- paste(of, what)
  vapply(split(seq_along(key), factor(key, unique(key))), function(same) {
    paste0(enumerate(of[same[1L]]), ", ", enumerate(metric[same], ""), ": ", what[same[1L]])
  }, "", USE.NAMES = FALSE)
}

#' @rdname holdout
#' @param object A result of `holdout()` or `cross_validate()`.
#' @export
holdout_splits <- function(object) part_of_study(object, "splits", "holdout_splits()")

#' @rdname holdout
#' @export
holdout_runs <- function(object) part_of_study(object, "runs", "holdout_runs()")

#' @rdname holdout
#' @export
holdout_predictions <- function(object) {
  if (inherits(object, "bsvm_holdout") && is.null(attr(object, "predictions"))) {
    abort("unsupported", "The predictions were not kept: call holdout() or cross_validate() with ",
          "`predictions = TRUE`.")
  }
  part_of_study(object, "predictions", "holdout_predictions()")
}

# What has been through other hands may have lost these.
part_of_study <- function(object, part, what) {
  found <- if (inherits(object, "bsvm_holdout")) attr(object, part)
  if (is.null(found)) {
    abort("argument", what, " takes what holdout() or cross_validate() returns; found ",
          describe(object), ".")
  }
  found
}

#' @rdname holdout
#' @param x A result of `holdout()` or `cross_validate()`.
#' @param digits Significant digits.
#' @export
print.bsvm_holdout <- function(x, digits = 3L, ...) {
  check_digits(digits)
  say_design(attr(x, "design"))
  means <- mean_table(x, NULL)
  say_by_metric(means[c("model", "metric", "mean", "se", "splits")], digits)
  say_trouble(x)
  invisible(x)
}

say_design <- function(design) {
  if (is.null(design)) return(cat("Part of a study of classifiers\n"))
  what <- if (design$grouped) "groups" else "rows"
  cat(if (design$kind == "holdout") {
    c("Hold-out: ", design$times, " random splits, ", format(100 * design$prop, digits = 3),
      " % of the ", what, " trained on")
  } else {
    c("Cross-validation: ", design$folds, " folds of ", what,
      if (design$times > 1L) c(", ", design$times, " times"))
  }, "; ", design$rows, " rows of data\n", sep = "")
}

# Each metric in digits of its own.
say_by_metric <- function(table, digits) {
  parts <- lapply(split(table, factor(table$metric, unique(table$metric))), format, digits = digits)
  print(do.call(rbind, unname(parts)), row.names = FALSE)
}

# What failed, and how many fits gave warnings.
say_trouble <- function(study) {
  writeLines(failure_lines(study))
  runs <- attr(study, "runs")
  for (model in levels(runs$model)) {
    own <- runs[runs$model == model & runs$warnings > 0L, ]
    if (nrow(own) == 0L) next
    cat(enumerate(model), ": warnings in ", nrow(own), " of ", sum(runs$model == model),
        " splits (", own$warning[1L], ")\n", sep = "")
  }
}
