#' Calibration and accuracy of predicted probabilities
#'
#' `calibration()` compares predicted probabilities of a class with its observed shares among rows
#' that were not in the fit. It returns shares by bins, a smooth curve, the Brier score and its
#' parts, the log score, the calibration line, and the area under the ROC curve.
#'
#' @details
#' **Bins** are of equal width; empty bins are omitted. The limits of a bin's share are those of
#' Clopper and Pearson.
#'
#' The **curve** is a logistic regression on a natural cubic spline of the log odds with four knots
#' (three if quantiles are tied), with pointwise limits. It runs from the first bin to the last, and
#' is linear in the log odds beyond the 5 % and 95 % quantiles. There is no curve if the probabilities have fewer than eight
#' values, or if the curve would be infinite.
#'
#' Under the pseudo-likelihood, probabilities of a rare class (3 to 12 % of the rows in the data
#' sets tried) carry little information beyond the share of the class. Their calibration slopes on
#' held-out rows were 5 to 11; the ideal is 1. Probabilities under `likelihood_hinge(normalized =
#' TRUE)` do not have this problem.
#'
#' The **Brier score** is the mean squared difference of the probability and the class, 0 or 1. With
#' the bins' mean probabilities, the observed shares and the share of all rows it is `reliability -
#' resolution + uncertainty` (Murphy 1973). Because probabilities differ within a bin, a fourth
#' part, `within`, is added (Stephenson, Coelho and Jolliffe 2008). Reliability is zero for
#' calibrated probabilities, except for chance. Resolution is higher the better the probabilities
#' separate the classes.
#'
#' The **log score** is the mean log-probability of the observed class. If the observed class had
#' probability zero, its value is limited by rounding to -36.
#'
#' The **line** is a logistic regression on the predicted log odds. Calibrated probabilities have
#' intercept 0 and slope 1. A slope below 1 means that the probabilities are too extreme; it is `NA`
#' if classes are separated.
#'
#' A fit with `class.weights` gives probabilities for the weighted population (see
#' [predict.bsvm()]). Compared with unweighted rows they lie off the diagonal. Convert them first,
#' and give the converted probabilities together with `truth`.
#'
#' @param object A fit from [bsvm()], or the probabilities of any classifier: of the second class (a
#'   numeric vector), or of both (a matrix with two columns, identified by their names if it has
#'   column names).
#' @param newdata Rows that were not in the fit, with their response (a matrix for a fit from
#'   `bsvm(x, y)`).
#' @param truth The classes: a factor with two levels, logical, 0/1 or -1/+1. The probabilities are
#'   those of the second level of the factor, of `TRUE` or of 1.
#' @param map As in [predict.bsvm()].
#' @param bins The number of bins from 0 to 1.
#' @param level Probability of the limits.
#' @param re_formula,allow_new_levels,group,offset As in [predict.bsvm()].
#' @param y For a fit from `bsvm(x, y)`: the classes of the rows of `newdata`, coded as in the fit.
#' @param x An object from `calibration()`.
#' @param digits Significant digits.
#' @param row.names,optional Not used; arguments of the generic.
#' @param ... Must be empty.
#' @return An object of class `bsvm_calibration`, a list with
#'   * `bins`, a data frame: `predicted` (mean probability), `observed` (share), `n`, `lower`,
#'     `upper`;
#'   * `curve`, `NULL` or a data frame: `predicted`, `observed`, `lower`, `upper`;
#'   * `brier`, and `parts`: `reliability`, `resolution`, `uncertainty`, `within`;
#'   * `log_score`, `line` (`intercept`, `slope`), `auc`;
#'   * `nobs` (rows by class), `levels`, `level`, and `prob` and `truth` (logical) of the rows that
#'     had both.
#'
#'   `as.data.frame()` returns the bins; `print()` returns `x` invisibly.
#' @section Errors:
#' * `bsvm_error_newdata` for `newdata` that cannot be used or that have one class only;
#' * `bsvm_error_argument` for probabilities that are missing or not between 0 and 1, for classes
#'   that are not two or differ in number from the probabilities, and for other arguments;
#' * `bsvm_error_unsupported` for a fit whose response is not of classes.
#' @references
#' Murphy, A. H. (1973). A new vector partition of the probability score. *Journal of Applied
#' Meteorology*, 12, 595-600.
#'
#' Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in the Brier
#' score decomposition. *Weather and Forecasting*, 23, 752-757.
#' @seealso [plot.bsvm_calibration()], [calibration_map()].
#' @examples
#' # are the probabilities right for patients who were not in the fit?
#' odd <- seq_len(nrow(cath)) %% 2 == 1
#' fit <- bsvm(disease ~ sex + age, data = cath[odd, ])
#' calibration(fit, cath[!odd, ])
#'
#' # probabilities of any classifier
#' other <- glm(disease ~ sex + age, binomial(), data = cath[odd, ])
#' calibration(predict(other, cath[!odd, ], type = "response"), cath$disease[!odd])
#' @export
calibration <- function(object, ...) {
  need_arguments("object", what = "calibration()")
  UseMethod("calibration")
}

#' @rdname calibration
#' @export
calibration.bsvm <- function(object, newdata, map = NULL, bins = 10L, level = 0.95,
                             re_formula = NULL, allow_new_levels = FALSE, group = NULL,
                             offset = NULL, y = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "calibration()", predict_hints)
  need_classes(object$response, "calibration()",
               "Use holdout(), which judges predictions of any response.")
  newdata <- trial_rows(object, held_out(newdata))
  truth <- new_response_of(object, newdata, y)
  prob <- predict.bsvm(object, newdata, type = "prob", map = map, re_formula = re_formula,
                       allow_new_levels = allow_new_levels, group = group, offset = offset)[, 2L]
  known <- !is.na(prob) & !is.na(truth)
  check_both(truth[known])
  new_calibration(unname(prob[known]), truth[known] > 0, object$response$levels, bins, level)
}

#' @rdname calibration
#' @export
calibration.default <- function(object, truth, bins = 10L, level = 0.95, ...) {
  check_dots(substitute(list(...)), "calibration()", NULL)
  prob <- check_probabilities(object)
  if (missing(truth) || length(truth) != length(prob) || anyNA(truth)) {
    abort("argument", "`truth` must have the class of each of the ", length(prob),
          " probabilities; found ", if (missing(truth)) "none" else describe(truth),
          if (!missing(truth) && anyNA(truth)) " with missing values", ".")
  }
  coded <- tryCatch(code_response(truth), bsvm_error_response = function(e) {
    abort("argument", "`truth` can't be used: ", conditionMessage(e))
  })
  levels <- coded$response$levels
  if (!is.null(colnames(object))) prob <- second_probability(object, levels)
  new_calibration(prob, coded$y > 0, levels, bins, level)
}

check_probabilities <- function(prob) {
  if (is.matrix(prob) && ncol(prob) == 2L) prob <- prob[, 2L]
  good <- is.numeric(prob) && is.null(dim(prob)) && length(prob) > 0L
  if (!good) {
    abort("argument", "`object` must be a fit from bsvm() or probabilities: a vector for the ",
          "second class, or a matrix with a column for each class; found ", describe(prob), ".")
  }
  wrong <- sum(is.na(prob) | prob < 0 | prob > 1)
  if (wrong > 0L) {
    abort("argument", "Probabilities must lie between 0 and 1; of ", length(prob), " ", wrong,
          " do not, or are missing.")
  }
  as.double(prob)
}

new_calibration <- function(prob, truth, levels, bins, level) {
  check_count(bins, "bins")
  check_level(level)
  seen <- list(prob = prob, truth = truth)
  table <- calibration_bins(prob, truth, bins, level)
  structure(list(bins = table,
                 curve = calibration_curve(prob, truth, level, range(table$predicted)),
                 brier = metric_brier(seen), parts = brier_parts(seen, table),
                 log_score = metric_log_score(seen), line = calibration_line(truth, prob),
                 auc = metric_auc(seen), nobs = class_counts(ifelse(truth, 1, -1), levels),
                 levels = levels, level = level, prob = prob, truth = truth),
            class = "bsvm_calibration")
}

# A row a bin that is not empty.
calibration_bins <- function(prob, truth, bins, level) {
  bin <- pmin(floor(prob * bins), bins - 1)
  n <- as.vector(tapply(prob, bin, length))
  hits <- as.vector(tapply(truth, bin, sum))
  tail <- (1 - level) / 2
  data.frame(predicted = as.vector(tapply(prob, bin, mean)), observed = hits / n, n = n,
             lower = ifelse(hits > 0, stats::qbeta(tail, hits, n - hits + 1), 0),
             upper = ifelse(hits < n, stats::qbeta(1 - tail, hits + 1, n - hits), 1))
}

# They add up to the Brier score, resolution taken off.
brier_parts <- function(seen, bins) {
  share <- bins$n / sum(bins$n)
  base <- mean(seen$truth)
  reliability <- sum(share * (bins$predicted - bins$observed)^2)
  resolution <- sum(share * (bins$observed - base)^2)
  uncertainty <- base * (1 - base)
  c(reliability = reliability, resolution = resolution, uncertainty = uncertainty,
    within = metric_brier(seen) - (reliability - resolution + uncertainty))
}

# ---- the smooth curve ---------------------------------------------------------------------------

curve_knots <- c(0.05, 0.35, 0.65, 0.95)

# From one of the `ends` to the other, and at least between the outer knots.
calibration_curve <- function(prob, truth, level, ends, points = 101L) {
  odds <- stats::qlogis(bounded_probability(prob))
  knots <- unique(stats::quantile(odds, curve_knots, names = FALSE))
  if (length(unique(odds)) < 8L || length(knots) < 3L) return(NULL)
  basis <- spline_basis(odds, knots)
  fit <- suppressWarnings(stats::glm.fit(basis, truth, family = stats::binomial()))
  if (!fit$converged || fit$rank < ncol(basis) || fit$boundary) return(NULL)
  ends <- range(ends, stats::plogis(range(knots)))
  at <- seq(ends[1L], ends[2L], length.out = points)
  grid <- spline_basis(stats::qlogis(bounded_probability(at)), knots)
  centre <- drop(grid %*% fit$coefficients)
  half <- stats::qnorm((1 + level) / 2) * sqrt(rowSums((grid %*% chol2inv(fit$qr$qr)) * grid))
  if (!all(is.finite(half)) || max(abs(fit$linear.predictors)) > 30) return(NULL)
  data.frame(predicted = at, observed = stats::plogis(centre), lower = stats::plogis(centre - half),
             upper = stats::plogis(centre + half))
}

# Constant, x and truncated cubes that are linear beyond the outer knots (Stone and Koo 1985).
spline_basis <- function(x, knots) {
  k <- length(knots)
  cube <- function(knot) pmax(x - knot, 0)^3
  width <- knots[k] - knots[k - 1L]
  bends <- vapply(seq_len(k - 2L), function(j) {
    (cube(knots[j]) - (cube(knots[k - 1L]) * (knots[k] - knots[j]) -
                         cube(knots[k]) * (knots[k - 1L] - knots[j])) / width) /
      (knots[k] - knots[1L])^2
  }, numeric(length(x)))
  cbind(1, x, matrix(bends, length(x)))
}

# ---- methods ------------------------------------------------------------------------------------

#' @rdname calibration
#' @export
print.bsvm_calibration <- function(x, digits = 3L, ...) {
  check_digits(digits)
  number <- function(value) format(value, digits = digits)
  cat("Calibration of the probability of '", positive_level(x$levels), "' on ", sum(x$nobs),
      " rows, ", x$nobs[[2L]], " of them of that class\n", sep = "")
  cat("Brier score ", number(x$brier), " = ", number(x$parts[["reliability"]]), " reliability - ",
      number(x$parts[["resolution"]]), " resolution + ", number(x$parts[["uncertainty"]]),
      " uncertainty ", if (x$parts[["within"]] < 0) "- " else "+ ",
      number(abs(x$parts[["within"]])), " within bins\n", sep = "")
  cat("Line: intercept ", number(x$line[["intercept"]]), ", slope ", number(x$line[["slope"]]),
      "; log score ", number(x$log_score), "; AUC ", number(x$auc), "\n\n", sep = "")
  print(format(x$bins, digits = digits), row.names = FALSE)
  invisible(x)
}

#' @rdname calibration
#' @export
as.data.frame.bsvm_calibration <- function(x, row.names = NULL, optional = FALSE, ...) x$bins
