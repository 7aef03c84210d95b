#' Judge models by hold-out and cross-validation
#'
#' Fits models to a part of the rows and looks at how well they predict the others, again and
#' again, with the same splits for all models: repeated random hold-out (Kim 2009), by which Luts
#' and Ormerod (2014, Section 4) judge classifiers, or cross-validation.
#'
#' @details
#' **Models** are given as a list, whose names are those in the result. One of them may be
#' * a fit by [bsvm()] from a formula: fitted to the training rows with the values that its
#'   arguments had. Variables of `weights` and `offset` must be columns of `data`;
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
#' **A response of numbers** is that of a study whose first fit has a likelihood for it
#' ([likelihood_eps_insensitive()] and others). What `predict(model, newdata)` gives are then
#' numbers, or a list, data frame or matrix with `fit` and perhaps `lower` and `upper` (or `lwr` and
#' `upr`), a 95 % predictive interval, and `draws`, a matrix with a row of draws of each new
#' response. Metrics are `"rmse"` and `"mae"`, root mean squared and mean absolute error; `"r2"`,
#' the share of the tested rows' variance explained; `"crps"`, the continuous ranked probability
#' score of the draws in units of the response, the lower the better (Gneiting and Raftery 2007);
#' `"coverage"` and `"width"` of the intervals; and `"seconds"`. Fits by [bsvm()] have all of them,
#' an `lm` those of its intervals. A function of a list gets `truth`, `fit`, `lower`, `upper` and
#' `draws`.
#'
#' **Several responses** are studied if one of the models is a fit to several ([responses]). Other
#' models are functions whose `predict()` gives a matrix of numbers, a column for each response, or
#' an array of rows, `fit` (and perhaps `lower` and `upper`) and responses. `"rmse"`, `"mae"`,
#' `"r2"`,
#' `"coverage"` and `"width"` are each one metric for every response, such as `"rmse fat"`. Missing
#' responses are excluded. A function of a list gets matrices.
#'
#' A function is called with a list of `truth` and `class` (logical: is it class +1?), and, where
#' the model has them, `link` and `prob`, and returns one number.
#'
#' **Failures** do not stop a study: where a fit, a prediction or a metric fails, or a metric is
#' infinite, the value is `NA`, the reason is recorded, and a warning of class
#' `bsvm_warning_failure` counts them at the end. A model whose classes, links or probabilities are
#' `NA` for some tested row has failed there. Warnings of fits are recorded too and not shown.
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
#' @param progress Should progress be shown, as a line on stderr with an estimate of the time left?
#'   `NULL` (default): only if the study takes over 10 seconds.
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_holdout` with a row a split, model and metric: `model` and
#'   `metric` (factors in the order given), `split` (its number), `value`, and `failure`, why it is
#'   `NA`. Some of its rows have that class too; some of its columns, `head()` and `tail()` are a
#'   plain data frame.
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
#' @order 1
#' @export
holdout <- function(models, data, times = 100L, prop = 3 / 4, group = NULL, stratify = TRUE,
                    test = NULL, response = NULL, metrics = c("ber", "seconds"),
                    predictions = FALSE, cores = 1L, cluster = NULL, progress = NULL, ...) {
  check_dots(substitute(list(...)), "holdout()", holdout_hints)
  need_arguments("models", "data", what = "holdout()")
  check_count(times, "times")
  check_level(prop, "prop")
  study <- prepare_study(models, data, stratify, if (!missing(metrics)) list(metrics), predictions,
                         environment(), parent.frame())
  check_runner(cores, cluster, progress)
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
  study <- prepare_study(models, data, stratify, if (!missing(metrics)) list(metrics), predictions,
                         environment(), parent.frame())
  check_runner(cores, cluster, progress)
  splits <- fold_splits(study$units, folds, times, study$response$levels)
  run_study(study, splits, list(kind = "folds", times = times, folds = folds), cores, cluster,
            progress)
}

holdout_hints <- c(
  k = "Here it is `folds`, an argument of cross_validate().",
  v = "Here it is `folds`, an argument of cross_validate().",
  repeats = "Here it is `times`.",
  strata = "Splits are stratified by class; `stratify = FALSE` draws them without.",
  groups = "Here it is `group`.",
  threads = "Use `control` of each fit instead; `cores` is for processes.",
  seed = "Splits follow R's random numbers: call set.seed() before."
)

# Everything but the splits, checked. `metrics` is a list of the argument, NULL if it was not given:
# then the first metric of the response, and seconds. `call` is where the arguments that are
# evaluated in the data are, not yet looked at, `env` where the call was written.
prepare_study <- function(models, data, stratify, metrics, predictions, call, env) {
  check_flag(stratify, "stratify")
  check_flag(predictions, "predictions")
  check_rows_of(data)
  models <- check_models(models)
  kind <- study_kind(models)
  formulas <- Filter(Negate(is.null), lapply(models, model_formula, env))
  coded <- study_response(row_argument("response", data, call, env), formulas, data, kind)
  check_model_kinds(models, coded$response)
  metrics <- check_metrics(if (is.null(metrics)) default_metrics(coded$response) else metrics[[1L]],
                           coded$response)
  group <- row_argument("group", data, call, env)
  testable <- check_testable(row_argument("test", data, call, env))
  first <- if (length(formulas) > 0L) formulas[[1L]]
  truth <- as_truth(coded$response, coded$y)
  list(data = data, truth = truth, response = coded$response, metrics = metrics,
       learners = Map(as_learner, models, names(models), MoreArgs = list(first, env)),
       units = split_units(truth, check_split_group(group), testable, stratify),
       grouped = !is.null(group), predictions = predictions)
}


# Seeds come from R's random numbers after the splits, and nothing later uses these.
run_study <- function(study, splits, design, cores, cluster, progress) {
  job <- study[c("data", "truth", "response", "learners", "metrics", "predictions")]
  job$splits <- splits
  job$seeds <- sample.int(.Machine$integer.max, length(splits), replace = TRUE)
  results <- with_seed_kept(run_tasks(job, cores, cluster, progress))
  design <- c(design, study["grouped"],
              list(rows = nrow(study$data), levels = study$response$levels))
  new_holdout(results, job, design)
}
