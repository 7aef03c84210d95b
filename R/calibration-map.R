#' Calibrate probabilities on held-out rows
#'
#' `calibration_map()` estimates the slope `a` of `p = plogis(a * f)`, with `f` the linear
#' predictor, from rows that were not in the fit. The result is a `map` for [predict.bsvm()].
#'
#' @details
#' `a` maximises the likelihood of the classes of `newdata` with the targets of Platt (2000). These
#' keep `a` finite if the linear predictor separates the classes. For a class with n rows, the
#' target is (n + 1) / (n + 2) instead of 1 if it is the second class. It is 1 / (n + 2) instead of
#' 0 if it is the first.
#'
#' Platt's map also has an intercept; this map does not. A linear predictor of zero has the
#' probability one half, so that probabilities agree with predicted classes. To move the border
#' between the classes, give `threshold` or `costs` to `predict()`.
#'
#' For a fit with `class.weights`, rows are weighted by these weights. The map then refers to the
#' same population as the other maps of the fit (see [predict.bsvm()]).
#'
#' The rows must not have been in the fit, because linear predictors of training rows are too large.
#' Use, for example, a third of the data, or rows that were collected later. Rows without a variable
#' or their class are excluded.
#'
#' @param object A fit from [bsvm()].
#' @param newdata Rows that were not in the fit, with their response (a matrix for a fit from
#'   `bsvm(x, y)`).
#' @param re_formula,allow_new_levels,group,offset As in [predict.bsvm()].
#' @param y For a fit from `bsvm(x, y)`: the classes of the rows of `newdata`, coded as in the fit.
#' @param x An object from `calibration_map()`.
#' @param digits Significant digits.
#' @param ... Must be empty.
#' @return An object of class `bsvm_calibration_map`, a list with `slope`, `nobs` (rows by class)
#'   and `levels`. `print()` returns it invisibly.
#' @section Errors:
#' * `bsvm_error_newdata` for fewer than ten rows, for rows of one class only, and for `newdata`
#'   that cannot be used. Also if the linear predictors do not grow with the odds of the second
#'   class, so that no slope is positive;
#' * `bsvm_error_argument` for other arguments;
#' * `bsvm_error_unsupported` for a fit whose response is not of classes.
#' @references Platt, J. C. (2000). Probabilities for SV machines. In *Advances in Large Margin
#'   Classifiers*, 61-74. MIT Press.
#' @seealso [calibration()] to assess the probabilities, on yet other rows.
#' @examples
#' # which slope turns linear predictors into probabilities for other patients?
#' third <- rep(1:3, length.out = nrow(cath))
#' fit <- bsvm(disease ~ sex + age, data = cath[third == 1, ])
#' map <- calibration_map(fit, cath[third == 2, ])
#' map
#' head(predict(fit, cath[third == 3, ], type = "prob", map = map))
#' @export
calibration_map <- function(object, newdata, re_formula = NULL, allow_new_levels = FALSE,
                            group = NULL, offset = NULL, y = NULL, ...) {
  check_dots(substitute(list(...)), "calibration_map()", predict_hints)
  need_arguments("object", what = "calibration_map()")
  check_fit(object)
  need_classes(object$response, "calibration_map()", paste0(
    "Use predict(type = \"", prediction_types(object$response)[1L], "\"), which needs no map."
  ))
  newdata <- trial_rows(object, held_out(newdata))
  truth <- new_response_of(object, newdata, y)
  link <- predict.bsvm(object, newdata, type = "link", re_formula = re_formula,
                       allow_new_levels = allow_new_levels, group = group, offset = offset)
  known <- !is.na(link) & !is.na(truth)
  slope <- platt_slope(link[known], check_both(truth[known], least_to_calibrate),
                       object$response$class_weights)
  structure(list(slope = slope, nobs = class_counts(truth[known], object$response$levels),
                 levels = object$response$levels), class = "bsvm_calibration_map")
}

least_to_calibrate <- 10L

held_out <- function(newdata) {
  if (missing(newdata) || is.null(newdata)) {
    abort("newdata", "`newdata` must be rows that were not in the fit, with their classes; found ",
          "none. Predictions of rows of the fit are too good.")
  }
  newdata
}

# -1 and +1, of both and enough of them.
check_both <- function(y, least = 2L) {
  if (length(y) < least || length(unique(y)) < 2L) {
    abort("newdata", "`newdata` must have at least ", least, " complete rows, of both classes; ",
          "found ", length(y), " row(s) of ", length(unique(y)), " class(es).")
  }
  y
}

class_counts <- function(y, levels) stats::setNames(c(sum(y < 0), sum(y > 0)), levels)

# Slope of a logistic regression through zero, of the population whose link is zero at one half.
platt_slope <- function(link, y, class_weights = NULL) {
  weight <- if (is.null(class_weights)) rep(1, length(y)) else unname(class_weights[1L + (y > 0)])
  target <- platt_targets(y, weight)[1L + (y > 0)]
  if (!(sum(weight * (target - 0.5) * link) > 0)) {
    abort("newdata", "In `newdata` the odds of the second class do not grow with the linear ",
          "predictor of the fit, so it predicts no better than chance. Use other rows.")
  }
  learn_odds_slope(y * link, y, 0 * y, weight, tol = 1e-9)
}

#' @rdname calibration_map
#' @export
print.bsvm_calibration_map <- function(x, digits = 4L, ...) {
  check_digits(digits)
  cat("Calibration map: probability of '", positive_level(x$levels), "' is plogis(",
      format(x$slope, digits = digits), " * link)\n", sep = "")
  cat("Learned from ", sum(x$nobs), " held-out rows: ",
      paste0(x$nobs, " of '", names(x$nobs), "'", collapse = ", "), "\n", sep = "")
  invisible(x)
}
