# Studies of a response of numbers. What models say is read by its shape: numbers, a list or data
# frame with `fit` and perhaps `lower` and `upper` (a 95 % predictive interval).

#' @export
as_truth.bsvm_response_numbers <- function(response, y) y

#' @export
known_metrics_of.bsvm_response_numbers <- function(response) {
  list(rmse = metric_rmse, mae = metric_mae, r2 = metric_r2, coverage = metric_coverage,
       width = metric_width)
}

#' @export
why_no_value.bsvm_response_numbers <- function(response, metric, seen) {
  if (is.null(seen$lower)) return("the model gives no intervals")
  "the metric is NA"
}

#' @export
ask_fit.bsvm_response_numbers <- function(response, fitted, newdata, prob) {
  wanted <- !is_point(fitted) && !inherits(fitted$likelihood, "bsvm_likelihood_quantile")
  stats::predict(fitted, newdata, interval = if (wanted) "prediction" else FALSE,
                 allow_new_levels = TRUE)
}

#' @export
ask_foreign.bsvm_response_numbers <- function(response, predict, fitted, newdata, prob) {
  predict(fitted, newdata)
}

#' @export
read_prediction.bsvm_response_numbers <- function(said, response, n) {
  if (is.matrix(said) && !is.null(colnames(said))) said <- as.data.frame(said)
  parts <- if (is.list(said)) as.list(said)[intersect(c("fit", "link", "lower", "upper"), names(said))]
           else list(fit = as.vector(said))
  if (is.null(parts$fit)) parts <- c(list(fit = parts$link), parts[c("lower", "upper")])
  parts$link <- NULL
  parts <- Filter(Negate(is.null), parts)
  for (part in parts) {
    if (!is.numeric(part) || length(part) != n) {
      abort("argument", "There must be one predicted number a row (", n, "); found ",
            describe(part), ".")
    }
  }
  if (is.null(parts$fit)) {
    abort("argument", "A prediction must be numbers, or a list or data frame with `fit`; found ",
          describe(said), ".")
  }
  lapply(parts, function(part) unname(as.double(part)))
}

#' @export
prediction_frame.bsvm_response_numbers <- function(response, seen, rows) {
  number <- function(x) if (is.null(x)) rep(NA_real_, length(rows)) else x
  data.frame(.row = rows, truth = seen$truth, .pred = number(seen$fit),
             .lower = number(seen$lower), .upper = number(seen$upper))
}

# ---- metrics ------------------------------------------------------------------------------------
# Functions of `seen`, list(truth, fit, lower, upper): the limits of a 95 % interval, or NULL.

metric_rmse <- function(seen) sqrt(mean((seen$fit - seen$truth)^2))

metric_mae <- function(seen) mean(abs(seen$fit - seen$truth))

# The share of the variance about the tested rows' mean; NA where these have none.
metric_r2 <- function(seen) {
  total <- sum((seen$truth - mean(seen$truth))^2)
  if (total > 0) 1 - sum((seen$fit - seen$truth)^2) / total else NA_real_
}

metric_coverage <- function(seen) {
  if (is.null(seen$lower)) return(NA_real_)
  mean(seen$truth >= seen$lower & seen$truth <= seen$upper)
}

metric_width <- function(seen) {
  if (is.null(seen$lower)) NA_real_ else mean(seen$upper - seen$lower)
}
