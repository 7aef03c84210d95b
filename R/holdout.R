#' Compare models by hold-out and cross-validation
#'
#' `holdout()` fits models to a part of the rows and measures how well they predict the other rows,
#' repeatedly and with the same splits for all models. Luts and Ormerod (2014, Section 4) compare
#' classifiers by such repeated random hold-out (Kim 2009). `cross_validate()` does the same by
#' cross-validation.
#'
#' @details
#' **Models** are given as a list, whose names appear in the result. Each model can be
#' * a fit by [bsvm()] from a formula, which is fitted to the training rows with the same arguments.
#'   Variables of `weights` and `offset` must be columns of `data`;
#' * a formula: `bsvm(formula, data)` with the defaults;
#' * an object from [tuned_svm()];
#' * a function of a data frame, the training rows, that returns a model. Its predictions come from
#'   `predict(model, newdata)`. The function can also return a function of new rows, which is then
#'   called in place of `predict()`.
#'
#' **Predictions** of the model of a function can be
#' * classes (a factor, or coded like the response). `predict(model, newdata, type = "prob")` is
#'   then tried for probabilities;
#' * a numeric linear predictor (class +1 if it is zero or above). Numbers that are all between 0
#'   and 1 and are not classes give an error: use a list to distinguish `link` and `prob`;
#' * a matrix or data frame of probabilities with one column per class;
#' * a list (or data frame) with some of `class`, `link` (the linear predictor) and `prob` (of class
#'   +1; in a data frame also columns named by class).
#'
#' Group effects of levels that are not in the training rows have mean zero (`allow_new_levels =
#' TRUE`).
#'
#' **Splits** are drawn before any model is fitted, with R's random numbers, so that [set.seed()]
#' makes them repeatable. Each split also has a seed for its models. Except for seconds, results are
#' exactly the same for any `cores` and `cluster`. The results of a model do not depend on the other
#' models.
#'
#' With `stratify = TRUE` each class has the same share of its rows in the training set. With
#' `group`, whole groups are tested or trained on, `prop` is a share of groups, and they are
#' stratified by the class of most of their rows. `prop` and `folds` refer to the rows that may be
#' tested (`test`). The other rows are in every training set, unless their group is tested: then
#' they are excluded. If a training set lacks a class, the split is drawn again.
#'
#' **Counts** of two classes, `cbind(successes, failures)`, are studied trial by trial: the trials of a
#' row are trained on or tested together, metrics are means over trials, and the default is
#' `"log_score"`. Functions among the models get a row for each trial, with its class in the column
#' `outcome`.
#'
#' **Rows in files or a database.** With a [bsvm_source()] as `data` the response and groups of all rows
#' are read once. Each fit and each set of predictions then reads the source again. Each reading must
#' give the same rows in the same order, so a query needs `ORDER BY`. If the number of rows differs, the
#' model fails for that split. Results are those of a data frame with the same rows and engines.
#'
#' Functions among the models get a [bsvm_source()] of the training rows, and their predictions are for a
#' [bsvm_source()] of the tested rows. A split takes 4 bytes for each row. `cores` and `cluster` work
#' with files; to fit each model on a cluster, use a function that calls `bsvm(cluster = )`. Counts and
#' [tuned_svm()] need a data frame.
#'
#' **Metrics** for the tested rows of a split are given by name:
#' * `"ber"`, balanced error rate, the mean of the two classes' error rates;
#' * `"error"`, error rate;
#' * `"auc"`, area under the receiver operating characteristic curve, of linear predictors or, if
#'   there are none, of probabilities;
#' * `"brier"`, mean squared difference of class and probability;
#' * `"log_score"`, mean log-probability of the observed class (higher is better);
#' * `"slope"`, calibration slope: the slope of a logistic regression of the class on the predicted
#'   log odds;
#' * `"seconds"`, elapsed time of fit and predictions.
#'
#' `"brier"`, `"log_score"` and `"slope"` require probabilities, which a fit has if `predict(type =
#' "prob")` is available.
#'
#' A metric can also be a function. It is called with a list of `truth` and `class` (logical: is it
#' class +1?) and, if the model has them, `link` and `prob`. It returns one number.
#'
#' **A response of numbers** is studied if the first fit has a likelihood for numbers
#' ([likelihood_eps_insensitive()] and others). `predict(model, newdata)` then returns numbers, or a
#' list, data frame or matrix. Its elements are `fit`, optionally `lower` and `upper` (or `lwr` and
#' `upr`), a 95 % predictive interval, and optionally `draws`, a matrix with one row of draws per
#' new response. Metrics are
#' * `"rmse"` and `"mae"`, root mean squared and mean absolute error;
#' * `"r2"`, the explained share of the variance of the tested rows;
#' * `"crps"`, the continuous ranked probability score of the draws in units of the response
#'   (Gneiting and Raftery 2007, lower is better);
#' * `"coverage"` and `"width"` of the intervals;
#' * `"seconds"`.
#'
#' Fits by [bsvm()] have all of them; an `lm` has those of its intervals. A metric that is a
#' function gets a list of `truth`, `fit`, `lower`, `upper` and `draws`.
#'
#' **Several responses** are studied if one of the models is a fit to several ([responses]). Other
#' models are functions whose `predict()` returns a matrix of numbers with one column per response.
#' It can also return an array of rows, `fit` (and perhaps `lower` and `upper`) and responses.
#' `"rmse"`, `"mae"`, `"r2"`, `"coverage"` and `"width"` are each one metric for every response,
#' such as `"rmse fat"`. Missing responses are excluded. In the list for a metric that is a
#' function, the elements are matrices.
#'
#' **Failures** do not stop a study. If a fit, a prediction or a metric fails, or a metric is
#' infinite, the value is `NA` and the reason is recorded. A warning of class `bsvm_warning_failure`
#' counts failures after the study. A model whose classes, linear predictors or probabilities are
#' `NA` for a tested row has failed there. Warnings of fits are recorded and not shown.
#'
#' Processes for `cores` are forks; on Windows they are a new cluster. Functions among the models
#' find on a cluster only the objects that they bring along. Objects in the global environment must
#' be sent there by [parallel::clusterExport()].
#'
#' @param models A list of models, or one; see Details.
#' @param data A data frame with the rows to fit to and to test; or a [bsvm_source()], or what it
#'   accepts, such as names of files.
#' @param times The number of random splits; for `cross_validate()`, the number of partitions into
#'   folds.
#' @param prop The share of the rows (groups) in the training set, between 0 and 1.
#' @param folds The number of folds, each of which is tested once.
#' @param group The groups that stay on one side of a split, evaluated in `data`: a vector with one
#'   element per row, a column's name or a one-sided formula (`group = clinic`, `"clinic"` or `~
#'   clinic`).
#' @param stratify Should both sides have the same shares of the classes?
#' @param test Which rows may be tested, evaluated like `group`: `TRUE` or `FALSE` for each, such as
#'   `test = !is.na(x)`; all by default.
#' @param response The response, evaluated like `group`; by default the left side of the first
#'   formula among the models.
#' @param metrics Names of metrics, functions with names, or a list of both; see Details.
#' @param predictions Keep the predictions of all tested rows?
#' @param cores How many processes work at the same time. Each fit also uses the threads of its
#'   `control`.
#' @param cluster A cluster of package parallel, on whose nodes bsvm is installed, in place of
#'   `cores`.
#' @param progress Should progress be shown, as a line on stderr with an estimate of the time left?
#'   `NULL` (default): only if the study takes over 10 seconds.
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_holdout` with one row per split, model and metric: `model`
#'   and `metric` (factors in the order given), `split` (its number), `value`, and `failure`, the
#'   reason if `value` is `NA`. A subset of its rows has the same class; a subset of its columns,
#'   `head()` and `tail()` are plain data frames.
#'
#'   * `holdout_splits()`: a list with one element per split, a list of the row numbers `train` and
#'     `test`.
#'   * `holdout_runs()`: a data frame with one row per split and model: `model`, `split`, the number
#'     of `warnings`, and the first of them, `warning`.
#'   * `holdout_predictions()`: with `predictions = TRUE`, a data frame with one row per tested row,
#'     split and model. Its columns are `model`, `split`, `.row` (the row number in `data`),
#'     `truth`, `.pred_class`, `.pred_` and each class (probabilities), and `.link`. Values that the
#'     model does not return are `NA`. Package yardstick accepts it, with `event_level = "second"`.
#' @section Errors:
#' * `bsvm_error_argument` for invalid arguments;
#' * `bsvm_error_unsupported` for fits that cannot be fitted again to other rows (from `bsvm(x, y)`,
#'   or with `subset`);
#' * `bsvm_error_response` for a response that does not have two classes, or for a class that is
#'   absent from training sets;
#' * `bsvm_error_missing` for missing values of response or group;
#' * `bsvm_error_group` if all rows are in one group;
#' * `bsvm_error_data` if `data` is not a data frame.
#' @references Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction,
#' and estimation. *Journal of the American Statistical Association*, 102, 359-378.
#'
#' Kim, J.-H. (2009). Estimating classification error rate: Repeated cross-validation, repeated
#' hold-out and bootstrap. *Computational Statistics & Data Analysis*, 53, 3735-3745.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Section 4).
#' @seealso [summary.bsvm_holdout()] for means and differences, [plot_ber()] for box plots,
#'   [tuned_svm()].
#' @examples
#' # does age improve the prediction of disease, and is logistic regression as good?
#' models <- list(
#'   sex = disease ~ sex,
#'   both = disease ~ sex + age,
#'   logistic = function(data) {
#'     fit <- glm(disease ~ sex + age, family = binomial, data = data)
#'     function(new) list(prob = predict(fit, new, type = "response"))
#'   }
#' )
#' set.seed(1)
#' study <- holdout(models, cath, times = 4, metrics = c("error", "auc"), predictions = TRUE)
#' study
#' summary(study)
#' lengths(holdout_splits(study)[[1]])
#' head(holdout_predictions(study), 3)
#' head(holdout_runs(study), 3)
#'
#' # patients younger than 50 as the test set, and a metric of one's own
#' missed <- function(seen) mean(!seen$class[seen$truth])
#' holdout(models["both"], cath, times = 4, test = age < 50,
#'         metrics = list("error", missed = missed))
#'
#' # the same from a file
#' file <- file.path(tempdir(), "cath.csv")
#' write.csv(cath, file, row.names = FALSE)
#' holdout(models[c("sex", "both")], file, times = 2)
#'
#' # all visits of a patient in the same fold
#' cross_validate(outcome ~ time * treatment, toenail, folds = 4, group = patientID,
#'                metrics = "auc")
#' @order 1
#' @export
holdout <- function(models, data, times = 100L, prop = 3 / 4, group = NULL, stratify = TRUE,
                    test = NULL, response = NULL, metrics = c("ber", "seconds"),
                    predictions = FALSE, cores = 1L, cluster = NULL, progress = NULL, ...) {
  check_dots(substitute(list(...)), "holdout()", holdout_hints)
  need_arguments("models", "data", what = "holdout()")
  check_count(times, "times")
  check_level(prop, "prop")
  check_runner(cores, cluster, progress)
  study <- prepare_study(models, data, stratify, if (!missing(metrics)) list(metrics), predictions,
                         environment(), parent.frame())
  splits <- random_splits(study$units, times, prop, study$response$levels)
  run_study(study, splits, list(kind = "holdout", times = times, prop = prop), cores, cluster,
            progress)
}

#' @rdname holdout
#' @order 2
#' @export
cross_validate <- function(models, data, folds = 10L, times = 1L, group = NULL, stratify = TRUE,
                           test = NULL, response = NULL, metrics = c("ber", "seconds"),
                           predictions = FALSE, cores = 1L, cluster = NULL, progress = NULL, ...) {
  check_dots(substitute(list(...)), "cross_validate()", holdout_hints)
  need_arguments("models", "data", what = "cross_validate()")
  check_count(folds, "folds", least = 2L)
  check_count(times, "times")
  check_runner(cores, cluster, progress)
  study <- prepare_study(models, data, stratify, if (!missing(metrics)) list(metrics), predictions,
                         environment(), parent.frame())
  splits <- fold_splits(study$units, folds, times, study$response$levels)
  run_study(study, splits, list(kind = "folds", times = times, folds = folds), cores, cluster,
            progress)
}

holdout_hints <- c(
  k = "Use `folds` instead, an argument of cross_validate().",
  v = "Use `folds` instead, an argument of cross_validate().",
  repeats = "Use `times` instead.",
  strata = "Splits are stratified by class; `stratify = FALSE` draws them without.",
  groups = "Use `group` instead.",
  threads = "Use `control` of each fit instead; `cores` is for processes.",
  seed = "Splits follow R's random numbers: call set.seed() before."
)

# Everything but the splits, checked. `metrics` is a list of the argument, NULL if it was not given:
# then the first metric of the response, and seconds. `call` is where the arguments that are
# evaluated in the data are, not yet looked at, `env` where the call was written.
prepare_study <- function(models, data, stratify, metrics, predictions, call, env) {
  check_flag(stratify, "stratify")
  check_flag(predictions, "predictions")
  source <- as_source(data)
  if (is.null(source)) check_rows_of(data)
  models <- check_models(models)
  if (!is.null(source)) {
    check_source_study(source, models, call$cores, call$cluster)
    data <- columns_of_study(source, models, call, env)
    refuse_source_counts(models, data, env)
    source$rows <- nrow(data)
  }
  group <- check_split_group(row_argument("group", data, call, env))
  testable <- check_testable(row_argument("test", data, call, env))
  trials <- trials_of_study(models, data, env)
  grouped <- !is.null(group)
  if (!is.null(trials)) {
    models <- trials$models
    data <- trials$data
    group <- if (grouped) group[trials$rows] else trials$rows
    testable <- rep_len(testable, max(trials$rows))[trials$rows]
  }
  kind <- study_kind(models)
  formulas <- Filter(Negate(is.null), lapply(models, model_formula, env))
  coded <- study_response(row_argument("response", data, call, env), formulas, data, kind)
  check_model_kinds(models, coded$response)
  usual <- if (is.null(trials)) default_metrics(coded$response) else c("log_score", "seconds")
  metrics <- check_metrics(if (is.null(metrics)) usual else metrics[[1L]], coded$response)
  first <- if (length(formulas) > 0L) formulas[[1L]]
  truth <- as_truth(coded$response, coded$y)
  list(data = if (is.null(source)) data else source, truth = truth, response = coded$response,
       metrics = metrics,
       learners = Map(as_learner, models, names(models), MoreArgs = list(first, env)),
       units = split_units(truth, group, testable, stratify),
       grouped = grouped, trials = !is.null(trials), predictions = predictions)
}

# Seeds come from R's random numbers after the splits, and nothing later uses these.
run_study <- function(study, splits, design, cores, cluster, progress) {
  job <- study[c("data", "truth", "response", "learners", "metrics", "predictions")]
  job$splits <- splits
  job$seeds <- sample.int(.Machine$integer.max, length(splits), replace = TRUE)
  results <- with_seed_kept(run_tasks(job, cores, cluster, progress))
  design <- c(design, study[c("grouped", "trials")],
              list(rows = NROW(study$truth), levels = study$response$levels))
  new_holdout(results, job, design)
}
