# How well a classifier does: the metrics of a response of two classes. A metric is a function of
# `seen`, a list for a set of tested rows:
#   truth  logical: is the row's class the second level, +1?
#   class  logical: was it predicted to be?
#   link   score that grows with the odds of class +1, or NULL
#   prob   probability of class +1, or NULL
# and gives one number, NA where `seen` lacks what it needs.

known_metrics <- function() {
  list(ber = metric_ber, error = metric_error, auc = metric_auc, brier = metric_brier,
       log_score = metric_log_score, slope = metric_slope)
}

# Balanced: the average of the two classes' shares of errors (000, section 4).
metric_ber <- function(seen) {
  if (!both_classes(seen$truth)) return(NA_real_)
  wrong <- seen$class != seen$truth
  (mean(wrong[seen$truth]) + mean(wrong[!seen$truth])) / 2
}

metric_error <- function(seen) mean(seen$class != seen$truth)

# The probability that a row of class +1 has the higher score, ties counting one half.
metric_auc <- function(seen) {
  score <- if (is.null(seen$link)) seen$prob else seen$link
  if (is.null(score) || anyNA(score) || !both_classes(seen$truth)) return(NA_real_)
  n <- as.numeric(sum(seen$truth))
  (sum(rank(score)[seen$truth]) - n * (n + 1) / 2) / (n * sum(!seen$truth))
}

metric_brier <- function(seen) {
  if (is.null(seen$prob)) NA_real_ else mean((seen$prob - seen$truth)^2)
}

# Mean log-probability of the class that was seen: the higher, the better. Finite, since a
# probability of one that was wrong, rounded in a double, is no proof of certainty.
metric_log_score <- function(seen) {
  if (is.null(seen$prob)) return(NA_real_)
  prob <- bounded_probability(seen$prob)
  mean(log(ifelse(seen$truth, prob, 1 - prob)))
}

# Of the log odds of the class in a logistic regression on those predicted: 1 is calibrated, less
# is too sure.
metric_slope <- function(seen) {
  if (is.null(seen$prob) || !both_classes(seen$truth)) return(NA_real_)
  calibration_line(seen$truth, seen$prob)[["slope"]]
}

both_classes <- function(truth) any(truth) && !all(truth)

# c(intercept, slope), NA where there is no finite one.
calibration_line <- function(truth, prob) {
  odds <- stats::qlogis(bounded_probability(prob))
  none <- c(intercept = NA_real_, slope = NA_real_)
  if (max(odds) == min(odds)) return(none)
  fit <- suppressWarnings(stats::glm.fit(cbind(1, odds), truth, family = stats::binomial()))
  separated <- min(odds[truth]) >= max(odds[!truth]) || max(odds[truth]) <= min(odds[!truth])
  if (!fit$converged || separated) return(none)
  c(intercept = fit$coefficients[[1L]], slope = fit$coefficients[[2L]])
}

# Within what a double can tell from 0 and 1.
bounded_probability <- function(prob) {
  pmin(pmax(prob, .Machine$double.eps), 1 - .Machine$double.eps)
}
