# Coverage of 95 % intervals: logistic data, 500 rows, 4 predictors; the truth is the estimator's
# own mean (logistic coefficients are not those of a hinge), the mean of the posterior means.

truth <- c(0, 0.5, -0.5, 0.25, 0)

logistic_data <- function(n = 500L) {
  x <- matrix(stats::rnorm(4L * n), n, dimnames = list(NULL, paste0("x", 1:4)))
  data.frame(y = stats::rbinom(n, 1L, stats::plogis(drop(cbind(1, x) %*% truth))), x)
}

# 5 coefficients x (mean, sd, lower, upper) x data sets.
simulated_intervals <- function(likelihood, sets, seed = 1L, engine = engine_gaussian()) {
  set.seed(seed)
  vapply(seq_len(sets), function(set) {
    fit <- bsvm(y ~ ., logistic_data(), engine = engine, likelihood = likelihood)
    cbind(fixef(fit), sqrt(diag(stats::vcov(fit))), suppressMessages(stats::confint(fit)))
  }, matrix(0, 5L, 4L))
}

# Share of the intervals that hold the estimator's own mean, by coefficient.
coverage_of <- function(intervals) {
  own <- rowMeans(intervals[, 1L, ])
  rowMeans(intervals[, 3L, ] <= own & own <= intervals[, 4L, ])
}

spread_of <- function(intervals) {
  rowMeans(intervals[, 2L, ]) / apply(intervals[, 1L, ], 1L, stats::sd)
}

run <- function() {
  normalised <- likelihood_hinge(normalized = TRUE)
  rbind(coverage_figures("normalised", normalised, 200L, asked = TRUE),
        coverage_figures("normalised", normalised, 2000L),
        coverage_figures("pseudo", likelihood_hinge(), 200L))
}

coverage_figures <- function(label, likelihood, sets, asked = FALSE) {
  intervals <- simulated_intervals(likelihood, sets)
  covered <- coverage_of(intervals)
  title <- sprintf("%s, %d data sets: ", label, sets)
  rows <- lapply(seq_along(covered), function(j) {
    figure(paste0(title, "coverage, coefficient ", j - 1L, " (logistic ", truth[j], ")"),
           covered[[j]], "share", at_least = if (asked) 0.92, at_most = if (asked) 0.97)
  })
  rbind(do.call(rbind, rows),
        figure(paste0(title, "mean posterior sd / sd of the posterior means, median coefficient"),
               stats::median(spread_of(intervals)), "ratio"))
}
