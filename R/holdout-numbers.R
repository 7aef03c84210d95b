# Studies of a response of numbers. What models say is read by its shape: numbers, a list or data
# frame with `fit` and perhaps `lower` and `upper` (a 95 % predictive interval) and `draws` of new
# responses, a row of each (for the score).

#' @export
as_truth.bsvm_response_numbers <- function(response, y) y

#' @export
known_metrics_of.bsvm_response_numbers <- function(response) {
  list(rmse = metric_rmse, mae = metric_mae, r2 = metric_r2, crps = metric_crps,
       coverage = metric_coverage, width = metric_width)
}

#' @export
default_metrics.bsvm_response_numbers <- function(response) {
  c("rmse", "mae", "seconds")
}

#' @export
why_no_value.bsvm_response_numbers <- function(response, metric, seen) {
  if (identical(metric, metric_crps)) {
    if (is.null(seen$draws)) return("the model gives no draws")
  } else if (is.null(seen$lower)) {
    return("the model gives no intervals")
  }
  "the metric is NA"
}

#' @export
ask_fit.bsvm_response_numbers <- function(response, fitted, newdata, prob) {
  wanted <- !is_point(fitted) && !inherits(fitted$likelihood, "bsvm_likelihood_quantile")
  if (!wanted) return(stats::predict(fitted, newdata, allow_new_levels = TRUE))
  said <- draws <- list()
  each_block(fitted, newdata, scored_rows, function(block) {
    rows <- prediction_rows(fitted, block, NULL, TRUE, NULL, NULL, parent.frame())
    k <- length(said) + 1L
    said[[k]] <<- stats::predict(fitted, block, interval = "prediction", allow_new_levels = TRUE)
    draws[[k]] <<- predictive_draws(fitted, rows, scored_draws)
  })
  c(as.list(do.call(rbind, said)), list(draws = do.call(rbind, draws)))
}

# A mean score's error is the rows' then, not these draws'.
scored_draws <- 400L
scored_rows <- 8192L # at once

#' @export
ask_foreign.bsvm_response_numbers <- function(response, predict, fitted, newdata, prob) {
  if (identical(class(fitted), "lm") && identical(predict, stats::predict)) {
    return(predict(fitted, newdata, interval = "prediction"))
  }
  predict(fitted, newdata)
}

#' @export
read_prediction.bsvm_response_numbers <- function(said, response, n) {
  if (is.matrix(said) && !is.null(colnames(said))) said <- as.data.frame(said)
  if (is.list(said)) names(said) <- sub("^lwr$", "lower", sub("^upr$", "upper", names(said)))
  known <- c("fit", "lower", "upper")
  parts <- if (is.list(said)) as.list(said)[intersect(known, names(said))]
           else list(fit = as.vector(said))
  draws <- if (is.list(said)) said[["draws"]]
  if (!is.null(draws) && !(is.matrix(draws) && is.numeric(draws) && nrow(draws) == n)) {
    abort("argument", "`draws` of a prediction must be a numeric matrix with a row per test row (", n,
          "); found ", describe(draws), ".")
  }
  for (part in parts) {
    if (!is.numeric(part) || length(part) != n) {
      abort("argument", "A prediction must have one number per test row (", n, "); found ",
            describe(part), ".")
    }
  }
  if (is.null(parts$fit)) {
    abort("argument", "A prediction must be numbers, or a list or data frame with `fit`; found ",
          describe(said), ".")
  }
  c(lapply(parts, function(part) unname(as.double(part))), list(draws = draws))
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

# The continuous ranked probability score E|x - y| - E|x - x'|/2 of draws x (Gneiting and Raftery
# 2007), in units of the response: the mean absolute error where there is no spread.
metric_crps <- function(seen) {
  if (is.null(seen$draws)) return(NA_real_)
  size <- ncol(seen$draws)
  sorted <- sorted_rows(seen$draws)
  spread <- drop(sorted %*% (2 * seq_len(size) - size - 1)) / size^2
  mean(rowMeans(abs(seen$draws - seen$truth)) - spread)
}

metric_coverage <- function(seen) {
  if (is.null(seen$lower)) return(NA_real_)
  mean(seen$truth >= seen$lower & seen$truth <= seen$upper)
}

metric_width <- function(seen) {
  if (is.null(seen$lower)) NA_real_ else mean(seen$upper - seen$lower)
}
