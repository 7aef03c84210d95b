# What Gaussian-process terms are measured against, and how: models of holdout() and
# cross_validate() whose fits write down how long they looked for their kernel and how long they took
# in all.

# Processor time: other programs on the machine stretch it less. A clock for all models of one study.
processor_clock <- function() sum(proc.time()[1:2])

study_clock <- function() {
  taken <- NULL
  list(add = function(model, tuning, total) {
         taken <<- rbind(taken, data.frame(model, tuning, total))
       },
       taken = function() taken)
}

# A model that tunes, then fits. `tune` gives what `fit` needs besides the data; `prob` gives a
# matrix of probabilities with a column for each class.
timed_model <- function(clock, name, tune, fit, prob) {
  function(data) {
    started <- processor_clock()
    tuned <- quietly(tune(data))
    between <- processor_clock()
    fitted <- quietly(fit(data, tuned))
    clock$add(name, between - started, processor_clock() - started)
    function(new) as.data.frame(prob(fitted, new))
  }
}

quietly <- function(task) {
  utils::capture.output(value <- suppressWarnings(suppressMessages(task)))
  value
}

# Kernels are learned inside of bsvm(), which says how long that took by the wall clock; of the
# processor time it is given the same share.
timed_bsvm <- function(clock, name, ...) {
  arguments <- list(...)
  function(data) {
    start <- proc.time()
    fit <- do.call(bsvm, c(arguments, list(data = data, control = bsvm_control(verbose = FALSE))))
    taken <- proc.time() - start
    total <- sum(taken[1:2])
    learning <- summary(fit)$gp$learning$seconds
    clock$add(name, if (is.null(learning)) 0 else total * learning / taken[[3L]], total)
    fit
  }
}

# 24 points. Of equal errors the smallest cost wins, then the smallest gamma.
tuned_over <- function(d) expand.grid(gamma = 2^c(-4, -2, 0, 2) / d, cost = 2^c(-2, 0, 2, 4, 6, 8))

best_of <- function(grid, error) {
  grid$error <- vapply(seq_len(nrow(grid)), function(k) error(grid[k, ]), 0)
  grid[which.min(grid$error), ]
}

inputs_of <- function(data) sum(vapply(data[names(data) != "y"], NCOL, 0L))

tuned_ksvm <- function(clock) {
  machine <- function(data, at, ...) {
    kernlab::ksvm(y ~ ., data, kernel = "rbfdot", kpar = list(sigma = at$gamma), C = at$cost, ...)
  }
  timed_model(clock, "ksvm",
    tune = function(data) {
      best_of(tuned_over(inputs_of(data)), function(at) kernlab::cross(machine(data, at, cross = 5L)))
    },
    fit = function(data, tuned) machine(data, tuned, prob.model = TRUE),
    prob = function(fit, new) kernlab::predict(fit, new, type = "probabilities"))
}

tuned_e1071 <- function(clock) {
  machine <- function(data, at, ...) {
    e1071::svm(y ~ ., data, gamma = at$gamma, cost = at$cost, ...)
  }
  timed_model(clock, "e1071",
    tune = function(data) {
      best_of(tuned_over(inputs_of(data)), function(at) 100 - machine(data, at, cross = 5L)$tot.accuracy)
    },
    fit = function(data, tuned) machine(data, tuned, probability = TRUE),
    prob = function(fit, new) attr(predict(fit, new, probability = TRUE), "probabilities"))
}

default_gausspr <- function(clock) {
  timed_model(clock, "gausspr", tune = function(data) NULL,
    fit = function(data, tuned) kernlab::gausspr(y ~ ., data),
    prob = function(fit, new) kernlab::predict(fit, new, type = "probabilities"))
}

# Data frame of a study: model, error in percent, log score, median seconds of a fit in all and of
# tuning, failures, warnings.
study_summary <- function(study, clock) {
  runs <- holdout_runs(study)
  taken <- clock$taken()
  rows <- lapply(levels(study$model), function(model) {
    of <- function(metric) mean(study$value[study$model == model & study$metric == metric], na.rm = TRUE)
    own <- taken[taken$model == model, ]
    data.frame(model, error = 100 * of("error"), log_score = of("log_score"),
               seconds = stats::median(own$total), tuning = stats::median(own$tuning),
               failed = sum(is.na(study$value[study$model == model])),
               warned = sum(runs$warnings[runs$model == model]),
               warning = c(stats::na.omit(runs$warning[runs$model == model]), "")[1L])
  })
  do.call(rbind, rows)
}

# Rows of the results of one data set. `paper` is the paper's own error in percent.
study_rows <- function(label, seen, n, paper = NULL, best = "bsvm") {
  rows <- do.call(rbind, lapply(seq_len(nrow(seen)), function(k) {
    of <- seen[k, ]
    name <- function(what) paste0(label, ", ", of$model, ": ", what)
    rbind(figure(name("error"), of$error, "%"), figure(name("log score"), of$log_score, ""),
          figure(name("a fit"), of$seconds, "s"), figure(name("of it, finding the kernel"), of$tuning, "s"),
          if (of$failed > 0L) figure(name("failed"), of$failed, "values"),
          if (of$warned > 0L) figure(name("warned"), of$warned, "fits"))
  }))
  if (!"ksvm" %in% seen$model) return(rows)
  own <- seen[seen$model == best, ]
  ksvm <- seen[seen$model == "ksvm", ]
  better <- min(ksvm$error, paper)
  binomial <- 100 * sqrt(better / 100 * (1 - better / 100) / n)
  rbind(rows,
        figure(paste0(label, ": error less the better of ksvm's and the paper's"),
               (own$error - better) / binomial, "binomial standard errors", at_most = 1),
        figure(paste0(label, ": log score less ksvm's"), own$log_score - ksvm$log_score, "", at_least = 0),
        figure(paste0(label, ": a fit / ksvm, tuned"), own$seconds / ksvm$seconds, "ratio", at_most = 0.5))
}
