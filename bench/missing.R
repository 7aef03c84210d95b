# Missing predictors: the cardiac data of 000, section 4.5, by engine_vb(), engine_gibbs() beside a
# sweep's bound, and engine_gaussian() under the normalised likelihood; 1e5 rows and 50 predictors;
# and simulated data beside mice and the same classifier.

for (part in c("gibbs.R", "memory.R", "cardiac-data.R", "large-missing-data.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

normalised <- likelihood_hinge(normalized = TRUE)

run <- function() rbind(cardiac_figures(), size_figures(), accuracy_figures())

# ---- the cardiac data ---------------------------------------------------------------------------

cardiac_figures <- function() {
  reason <- cardiac_missing()
  if (nzchar(reason)) return(skipped("cardiac", reason))
  data <- cardiac_data()
  rbind(fast_figures(data), effect_figures(data), gibbs_figures(data), sweep_figures(data))
}

fit_cardiac <- function(data, ..., missing = missing_normal(), likelihood = likelihood_hinge()) {
  suppressMessages(bsvm(cardiac_formula, data, missing = missing, likelihood = likelihood,
                        prior = papers_prior(), ...))
}

fast_figures <- function(data) {
  fits <- list(
    vb = function() fit_cardiac(data, engine = engine_vb()),
    gaussian = function() fit_cardiac(data, engine = engine_gaussian(), likelihood = normalised),
    complete = function() fit_cardiac(data, engine = engine_vb(), missing = missing_omit())
  )
  middle <- median_of(interleaved(fits, times = 11L))
  rbind(figure("cardiac, VB: whole fit (paper: 1028 s)", middle[["vb"]], "s", at_most = 0.2),
        figure("cardiac, VB: passes", fits$vb()$passes, "passes"),
        figure("cardiac, VB / VB of the complete rows", middle[["vb"]] / middle[["complete"]],
               "ratio"),
        figure("cardiac, engine_gaussian(), normalised: whole fit", middle[["gaussian"]], "s",
               at_most = 0.2))
}

# Three ways to the effect of cholesterol, on standardised predictors.
effect_figures <- function(data) {
  effect <- function(...) fixef(fit_cardiac(data, ...))[["cholesterol"]]
  gaussian <- engine_gaussian()
  complete <- effect(engine = gaussian, likelihood = normalised, missing = missing_omit())
  rbind(figure("cholesterol, complete rows, normalised", complete, ""),
        figure("cholesterol, all rows, normalised", effect(engine = gaussian,
                                                           likelihood = normalised),
               "", near = 0.114, within = 0.05),
        figure("cholesterol, complete rows, pseudo-likelihood",
               effect(engine = gaussian, missing = missing_omit()), ""),
        figure("cholesterol, all rows, pseudo-likelihood", effect(engine = gaussian), ""),
        figure("cholesterol, all rows, VB (the paper's)", effect(engine = engine_vb()), ""))
}

gibbs_figures <- function(data) {
  chains <- function(mixing) {
    run_chains(function() fit_gibbs(cardiac_formula, data, papers_prior(), mixing = mixing,
                                    missing = missing_normal()), ".", times = 3L)
  }
  if (!installed("posterior")) return(skipped("cardiac, Gibbs", "The package posterior is needed."))
  mixed <- chains(TRUE)
  plain <- chains(FALSE)
  rbind(figure("cardiac, 5000 + 5000 draws, whole fit (paper: 1719 s)",
               stats::median(mixed["seconds", ]), "s", at_most = 10),
        chain_figures("cardiac, mixing = TRUE", mixed),
        chain_figures("cardiac, mixing = FALSE", plain))
}

sweep_figures <- function(data) {
  reason <- sweep_limit_missing()
  if (nzchar(reason)) return(skipped("cardiac, a sweep / its bound", reason))
  bound <- cardiac_bound(data)
  figures_of <- function(mixing) sweep_rows(mixing, cardiac_sweeps(data, mixing, bound))
  rbind(figures_of(TRUE), figures_of(FALSE))
}

cardiac_sweeps <- function(data, mixing, bound) {
  engine <- engine_gibbs(draws = 1000L, burnin = 1000L, chains = 1L, mixing = mixing)
  frame <- bsvm_frame(cardiac_formula, data, missing = missing_normal())
  sweep_and_bound(bsvm_spec(frame, papers_prior(), "hinge", engine), bound)
}

# The rows' links are those of the posterior at the means of what is missing; rows without a
# cholesterol value come first.
cardiac_bound <- function(data) {
  fit <- fit_cardiac(data, engine = engine_gibbs(draws = 500L, burnin = 500L, chains = 2L))
  x <- as.matrix(data[-1L])
  found <- imputed(fit)
  x[found$row, "cholesterol"] <- found$mean
  f <- drop(cbind(1, x) %*% fixef(fit))
  order <- order(!is.na(data$cholesterol))
  y <- ifelse(data$disease == 1, 1, -1)
  function() {
    sweep_limit(y[order], f[order], rep(0, nrow(x)), x[order, ], repeats = 501L,
                entries = nrow(found))
  }
}

sweep_rows <- function(mixing, seen) {
  name <- function(what) sprintf("cardiac, mixing = %s: %s", mixing, what)
  bound <- sum(seen[c("draws", "entries", "algebra")])
  rbind(figure(name("a sweep"), 1e6 * seen[["sweep"]], "microseconds"),
        figure(name("n inverse-Gaussian draws"), 1e6 * seen[["draws"]], "microseconds"),
        figure(name("1246 draws of missing entries"), 1e6 * seen[["entries"]], "microseconds"),
        figure(name("one pass of the algebra"), 1e6 * seen[["algebra"]], "microseconds"),
        figure(name("a sweep / (draws + entries + algebra)"), seen[["sweep"]] / bound, "ratio",
               at_most = 2))
}

# ---- 1e5 rows -----------------------------------------------------------------------------------

size_figures <- function(n = 1e5) {
  input <- large_missing(n)
  rbind(size_memory(input), size_time(input))
}

size_memory <- function(input) {
  if (!file.exists("/proc/self/status")) return(skipped("1e5 x 50", "Memory is read from /proc."))
  seen <- measure_memory("large-missing-memory.R", character(), input)
  rbind(memory_rows(seen, "1e5 x 50", NULL),
        figure("1e5 x 50: (input + peak above it) / input", 1 + seen$peak / seen$input, "ratio",
               at_most = 3))
}

# Beside the same rows with zeros in place of what is missing.
size_time <- function(input) {
  absent <- is.na(input$x)
  pattern <- do.call(paste0, as.data.frame(+absent))
  full <- input
  full$x[absent] <- 0
  fits <- list(missing = function() fit_missing(input),
               full = function() bsvm(full$x, full$y, likelihood = "hinge",
                                      prior = papers_prior(), engine = engine_vb(),
                                      keep_data = FALSE))
  middle <- median_of(interleaved(fits, times = 3L, warm = FALSE))
  passes <- fits$missing()$passes
  figure_of <- function(what, ...) figure(paste0("1e5 x 50: ", what), ...)
  rbind(figure_of("patterns of what is missing", length(unique(pattern)), ""),
        figure_of("rows whose pattern no other row has", sum(table(pattern) == 1L), ""),
        figure_of("VB, whole fit", middle[["missing"]], "s"),
        figure_of("VB, passes", passes, "passes"),
        figure_of("VB, whole fit a pass", middle[["missing"]] / passes, "s"),
        figure_of("VB, whole fit with zeros in place of what is missing", middle[["full"]], "s"))
}

# ---- simulated data, beside mice ----------------------------------------------------------------

# Of the intercept and five slopes.
truth <- c(0, 0.5, -0.25, 0.25, 0, 0.125)

# The law of the response is the normalised hinge's; predictors are correlated 0.5.
simulated <- function(n) {
  x <- matrix(stats::rnorm(5L * n, sd = sqrt(0.5)), n, dimnames = list(NULL, paste0("x", 1:5)))
  x <- x + stats::rnorm(n, sd = sqrt(0.5))
  f <- drop(cbind(1, x) %*% truth)
  odds <- ifelse(abs(f) < 1, 4 * f, 2 * f + 2 * sign(f))
  data.frame(y = factor(stats::rbinom(n, 1L, stats::plogis(odds))), x)
}

with_gaps <- function(data, share = 0.3) {
  data[-1L] <- lapply(data[-1L], function(v) replace(v, stats::runif(length(v)) < share, NA))
  data
}

coefficients_of <- function(data, ...) {
  fixef(suppressMessages(bsvm(y ~ ., data, engine = engine_gaussian(), likelihood = normalised,
                              prior = papers_prior(), ...)))
}

pooled <- function(data, method, times = 20L) {
  completed <- mice::mice(data, m = times, method = method, printFlag = FALSE)
  fits <- vapply(seq_len(times), function(i) coefficients_of(mice::complete(completed, i)),
                 numeric(6L))
  rowMeans(fits)
}

estimators <- list(
  "missing_normal()" = function(data) coefficients_of(data, missing = missing_normal()),
  "mice, pmm" = function(data) pooled(data, "pmm"),
  "mice, norm" = function(data) pooled(data, "norm"),
  "complete rows" = function(data) coefficients_of(data, missing = missing_omit())
)

# estimators x (root mean square error of a slope, BER on complete rows, seconds) x data sets.
accuracy <- function(sets = 50L, n = 500L) {
  set.seed(1)
  test <- simulated(20000L)
  vapply(seq_len(sets), function(set) {
    data <- with_gaps(simulated(n))
    t(vapply(estimators, function(estimator) {
      b <- NULL
      taken <- seconds(function() b <<- estimator(data))
      c(error = sqrt(mean((b - truth)[-1L]^2)), ber = ber_of(b, test), seconds = taken)
    }, numeric(3L)))
  }, matrix(0, length(estimators), 3L))
}

ber_of <- function(b, test) {
  class <- drop(cbind(1, as.matrix(test[-1L])) %*% b) > 0
  mean(tapply(class != (test$y == 1), test$y, mean))
}

accuracy_figures <- function() {
  if (!installed("mice")) return(skipped("simulated", "The package mice is needed."))
  seen <- accuracy()
  middle <- apply(seen, 1:2, mean)
  rows <- lapply(names(estimators), function(name) {
    label <- function(what) paste0("simulated, ", name, ": ", what)
    rbind(figure(label("root mean square error of the slopes"), middle[name, "error"], ""),
          figure(label("BER"), middle[name, "ber"], ""),
          figure(label("seconds"), stats::median(seen[name, "seconds", ]), "s"))
  })
  rbind(do.call(rbind, rows), beside_mice(seen, "mice, pmm"), beside_mice(seen, "mice, norm"))
}

# Means of paired differences, and their standard errors.
beside_mice <- function(seen, rival) {
  label <- function(what) paste0("simulated, missing_normal() less ", rival, ": ", what)
  less <- seen["missing_normal()", , ] - seen[rival, , ]
  error <- apply(less, 1L, stats::sd) / sqrt(ncol(less))
  ratio <- stats::median(seen["missing_normal()", "seconds", ] / seen[rival, "seconds", ])
  rbind(figure(label("error"), mean(less["error", ]), "", at_most = 2 * error[["error"]]),
        figure(label("its standard error"), error[["error"]], ""),
        figure(label("BER"), mean(less["ber", ]), "", at_most = 2 * error[["ber"]]),
        figure(label("its standard error"), error[["ber"]], ""),
        figure(paste0("simulated, seconds of missing_normal() / ", rival), ratio, "ratio",
               at_most = 1))
}
