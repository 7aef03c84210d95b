# Coverage of 95 % intervals on simulated logistic data; the truth is the estimator's own mean
# (logistic coefficients are not those of a hinge), the mean of the posterior means. First of the
# engine under the papers' prior, then of what bsvm() does by default, whatever that is.

truth <- c(0, 0.5, -0.5, 0.25, 0)

# 500 rows, 4 predictors, the last of which has no effect.
logistic_data <- function(n = 500L) {
  x <- matrix(stats::rnorm(4L * n), n, dimnames = list(NULL, paste0("x", 1:4)))
  data.frame(y = stats::rbinom(n, 1L, stats::plogis(drop(cbind(1, x) %*% truth))), x)
}

# 50 groups of 10 rows, standard deviation one between them; x3 is one of groups.
grouped_logistic_data <- function(groups = 50L, size = 10L) {
  n <- groups * size
  g <- gl(groups, size)
  x <- cbind(stats::rnorm(n), stats::rnorm(n), stats::rnorm(groups)[g], stats::rnorm(n))
  colnames(x) <- paste0("x", 1:4)
  link <- drop(cbind(1, x) %*% truth) + stats::rnorm(groups)[g]
  data.frame(y = stats::rbinom(n, 1L, stats::plogis(link)), x, g)
}

designs <- list(
  plain = list(formula = y ~ x1 + x2 + x3 + x4, draw = logistic_data),
  "random intercepts" = list(formula = y ~ x1 + x2 + x3 + x4 + (1 | g),
                             draw = grouped_logistic_data)
)

# Coefficients x (mean, sd, lower, upper) x data sets, of bsvm(formula, data, ...).
intervals_of <- function(design, sets, ..., seed = 1L) {
  set.seed(seed)
  simplify2array(lapply(seq_len(sets), function(set) {
    fit <- bsvm(design$formula, design$draw(), ..., control = bsvm_control(verbose = FALSE))
    cbind(fixef(fit), sqrt(diag(stats::vcov(fit))), suppressMessages(stats::confint(fit)))
  }))
}

# 5 coefficients x (mean, sd, lower, upper) x data sets.
simulated_intervals <- function(likelihood, sets, seed = 1L, engine = engine_gaussian()) {
  intervals_of(designs$plain, sets, likelihood = likelihood, engine = engine,
               prior = prior_ridge(shape = 0.01), seed = seed)
}

# Share of the intervals that hold the estimator's own mean, by coefficient.
coverage_of <- function(intervals) {
  own <- rowMeans(intervals[, 1L, ])
  rowMeans(intervals[, 3L, ] <= own & own <= intervals[, 4L, ])
}

spread_of <- function(intervals) {
  rowMeans(intervals[, 2L, ]) / apply(intervals[, 1L, ], 1L, stats::sd)
}

# Share of the intervals of a predictor without effect that do not hold zero.
false_positives_of <- function(intervals, term = "x4") {
  mean(intervals[term, 3L, ] > 0 | intervals[term, 4L, ] < 0)
}

run <- function() {
  normalised <- likelihood_hinge(normalized = TRUE)
  engine <- function(likelihood, sets) simulated_intervals(likelihood, sets)
  rbind(coverage_figures("normalised", engine(normalised, 200L), asked = TRUE),
        coverage_figures("normalised", engine(normalised, 2000L)),
        coverage_figures("pseudo", engine(likelihood_hinge(), 200L)),
        default_figures("plain"), default_figures("random intercepts"))
}

default_figures <- function(name, sets = 300L) {
  label <- paste0("default, ", name)
  seen <- intervals_of(designs[[name]], sets)
  rbind(coverage_figures(label, seen, asked = TRUE),
        figure(sprintf("%s, %d data sets: intervals of a null predictor without zero", label, sets),
               false_positives_of(seen), "share", near = 0.05, within = 0.03))
}

coverage_figures <- function(label, intervals, asked = FALSE) {
  covered <- coverage_of(intervals)
  title <- sprintf("%s, %d data sets: ", label, dim(intervals)[3L])
  rows <- lapply(seq_along(covered), function(j) {
    figure(paste0(title, "coverage, coefficient ", j - 1L, " (logistic ", truth[j], ")"),
           covered[[j]], "share", at_least = if (asked) 0.92, at_most = if (asked) 0.97)
  })
  rbind(do.call(rbind, rows),
        figure(paste0(title, "mean posterior sd / sd of the posterior means, median coefficient"),
               stats::median(spread_of(intervals)), "ratio"))
}
