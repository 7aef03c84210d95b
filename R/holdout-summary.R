#' Means and differences of a hold-out study
#'
#' The `summary()` of [holdout()] or [cross_validate()] has the mean of each metric over the splits.
#' It also compares each model with a reference model, split by split.
#'
#' @details
#' `se` is the standard deviation over the splits (for a paired difference: the standard deviation
#' of the differences) divided by the square root of their number. Training sets of different splits
#' overlap, so that the values are not independent. As a measure of how far the mean may be from the
#' mean for new data of this size, `se` is therefore too small.
#'
#' `se_corrected` allows for the overlap (Nadeau and Bengio 2003). With J splits, \eqn{n_1}{n1}
#' training rows and \eqn{n_2}{n2} test rows, the variance of the mean is estimated as \eqn{1/J +
#' n_2/n_1}{1/J + n2/n1} times the variance of a value.
#'
#' @param object An object from [holdout()] or [cross_validate()].
#' @param reference The name of the model with which the others are compared; the first by default.
#' @param ... Must be empty.
#' @return An object of class `summary.bsvm_holdout`, a list of
#'   * `means`: a data frame with one row per model and metric: `model`, `metric`, `mean`, `sd`
#'     (over the splits), `se`, `se_corrected`, `splits` (how many have a value) and `failed` (how
#'     many have none);
#'   * `differences`: a data frame with one row per metric and model except the reference: `model`,
#'     `reference`, `metric`, `difference`, `se`, `se_corrected`, `splits`. `difference` is the mean
#'     of the model minus the mean of the reference, over splits in which both have a value;
#'   * `study`, the object.
#'
#'   If the object has lost its splits, `se_corrected` is `NA`.
#' @section Errors:
#' `bsvm_error_argument` for a reference that does not exist, and for an object that has lost
#' columns.
#' @references Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. *Machine
#'   Learning*, 52, 239-281.
#' @seealso [plot_ber()].
#' @examples
#' # by how much does age improve the prediction of disease?
#' models <- list(sex = disease ~ sex, both = disease ~ sex + age)
#' set.seed(1)
#' summary(cross_validate(models, cath, folds = 4, metrics = c("error", "auc")))
#' @export
summary.bsvm_holdout <- function(object, reference = NULL, ...) {
  check_dots(substitute(list(...)), "summary()", NULL)
  check_study(object, "summary()")
  models <- levels(droplevels(object$model))
  reference <- pick_one(if (is.null(reference)) models[1L] else reference, models, "reference")
  ratio <- test_ratio(attr(object, "splits"))
  structure(list(means = mean_table(object, ratio),
                 differences = difference_table(object, reference, ratio), study = object),
            class = "summary.bsvm_holdout")
}

# n2/n1, on average; NULL where the splits are not known.
test_ratio <- function(splits) {
  if (is.null(splits)) return(NULL)
  mean(vapply(splits, function(split) length(split$test) / length(split$train), 0))
}

mean_table <- function(study, ratio) {
  cells <- expand.grid(model = levels(droplevels(study$model)),
                       metric = levels(droplevels(study$metric)), stringsAsFactors = FALSE)
  rows <- Map(function(model, metric) {
    value <- study$value[study$model == model & study$metric == metric]
    found <- mean_and_error(value[!is.na(value)], ratio)
    data.frame(model = model, metric = metric, found, failed = sum(is.na(value)))
  }, cells$model, cells$metric)
  do.call(rbind, unname(rows))
}

mean_and_error <- function(value, ratio) {
  n <- length(value)
  sd <- if (n > 1L) stats::sd(value) else NA_real_
  data.frame(mean = if (n > 0L) mean(value) else NA_real_, sd = sd, se = sd / sqrt(n),
             se_corrected = if (is.null(ratio)) NA_real_ else sd * sqrt(1 / n + ratio), splits = n)
}

difference_table <- function(study, reference, ratio) {
  cells <- expand.grid(model = setdiff(levels(droplevels(study$model)), reference),
                       metric = levels(droplevels(study$metric)), stringsAsFactors = FALSE)
  rows <- Map(function(model, metric) {
    own <- study[study$metric == metric, ]
    ours <- own[own$model == model, ]
    theirs <- own[own$model == reference, ]
    difference <- ours$value - theirs$value[match(ours$split, theirs$split)]
    found <- mean_and_error(difference[!is.na(difference)], ratio)
    data.frame(model = model, reference = reference, metric = metric, difference = found$mean,
               found[c("se", "se_corrected", "splits")])
  }, cells$model, cells$metric)
  do.call(rbind, unname(rows))
}

#' @rdname summary.bsvm_holdout
#' @param x A summary.
#' @param digits Significant digits.
#' @export
print.summary.bsvm_holdout <- function(x, digits = 3L, ...) {
  check_digits(digits)
  say_design(attr(x$study, "design"))
  cat("\nMeans over the splits:\n")
  say_by_metric(x$means, digits)
  if (!is.null(x$differences)) {
    cat("\nDifferences from ", enumerate(x$differences$reference[1L]), ", split by split:\n",
        sep = "")
    say_by_metric(x$differences[names(x$differences) != "reference"], digits)
  }
  cat("\n`se` takes splits for independent, which they are not; `se_corrected` allows for that.\n")
  say_trouble(x$study)
  invisible(x)
}
