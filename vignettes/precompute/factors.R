# Results of the vignette `factors`: Table 3 of 001. BSVM_P53 names a table of tumours (p53 in the second
# column, 1: mutant, then expression of genes), BSVM_USPS the handwritten digits with columns set,
# digit, p1 to p256; kernlab is needed. An hour or two of processor time: the file that BSVM_KEPT names
# keeps what has been computed.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
suppressPackageStartupMessages(library(bsvm))

kept_file <- Sys.getenv("BSVM_KEPT")
kept <- if (nzchar(kept_file) && file.exists(kept_file)) readRDS(kept_file) else list()

# ---- data: y with two levels, a matrix x ----------------------------------------------------------

tumours <- local({
  raw <- utils::read.csv(Sys.getenv("BSVM_P53"))
  own <- data.frame(y = factor(raw$p53, 0:1, c("wild type", "mutant")))
  own$x <- as.matrix(raw[-(1:2)])
  own
})
digits <- local({
  raw <- utils::read.csv(Sys.getenv("BSVM_USPS"))
  raw <- raw[raw$digit %in% c(3, 5), ]
  own <- data.frame(y = factor(raw$digit, c(3, 5), c("three", "five")))
  own$x <- as.matrix(raw[paste0("p", 1:256)])
  own
})

# ---- methods: the probability of the second class of test rows ---------------------------------------

second <- function(fit, new) predict(fit, new, type = "prob")[, 2L]
joint <- function(term = list(), ...) {
  others <- list(...)
  function(train, test, standardize) {
    term <- as.call(c(quote(factors), quote(x), k = 10L, standardize = standardize, term))
    formula <- stats::as.formula(call("~", quote(y), term), globalenv())
    fit <- do.call(bsvm, c(list(formula, train), others))
    list(fit = fit, p = second(fit, test))
  }
}

principal <- function(train, test, standardize) {
  axes <- stats::prcomp(train$x, scale. = standardize, rank. = 10L)
  list(train = axes$x, test = stats::predict(axes, test$x))
}

on_scores <- function(scores, classify) {
  list(p = classify(unname(scores$train), unname(scores$test)))
}
linear_machine <- function(y) function(train, test) second(bsvm(train, y), test)
curved_machine <- function(y) function(train, test) {
  data <- data.frame(y = y)
  data$w <- train
  new <- data.frame(row = seq_len(nrow(test)))
  new$w <- test
  second(bsvm(y ~ gp(w), data), new)
}

# Laplace's approximation to a Gaussian process with a probit link (Rasmussen and Williams 2006,
# algorithms 3.1 and 3.2), intercept with variance 4; variance and length scale maximise the evidence.
probit_process <- function(y) function(train, test) {
  sign <- ifelse(y == levels(y)[2L], 1, -1)
  apart <- function(a, b) pmax(outer(rowSums(a^2), rowSums(b^2), "+") - 2 * tcrossprod(a, b), 0)
  within <- apart(train, train)
  at_mode <- function(theta) {
    k <- exp(theta[1L]) * exp(-within / exp(2 * theta[2L])) + 4
    f <- numeric(length(sign))
    for (step in 1:100) {
      z <- sign * f
      ratio <- exp(stats::dnorm(z, log = TRUE) - stats::pnorm(z, log.p = TRUE))
      w <- ratio^2 + z * ratio
      root <- chol(diag(length(f)) + tcrossprod(sqrt(w)) * k)
      b <- w * f + sign * ratio
      a <- b - sqrt(w) * backsolve(root, forwardsolve(t(root), sqrt(w) * (k %*% b)))
      f_new <- drop(k %*% a)
      if (max(abs(f_new - f)) < 1e-8) break
      f <- f_new
    }
    list(evidence = -sum(a * f) / 2 + sum(stats::pnorm(sign * f, log.p = TRUE)) -
           sum(log(diag(root))), slope = sign * ratio, w = w, root = root)
  }
  prior <- function(theta) stats::dnorm(theta[2L], log(sqrt(2 * ncol(train))), 1, log = TRUE)
  best <- stats::optim(c(1, log(sqrt(2 * ncol(train)))), function(theta) {
    -at_mode(theta)$evidence - prior(theta)
  })$par
  mode <- at_mode(best)
  across <- exp(best[1L]) * exp(-apart(train, test) / exp(2 * best[2L])) + 4
  v <- forwardsolve(t(mode$root), sqrt(mode$w) * across)
  variance <- exp(best[1L]) + 4 - colSums(v^2)
  stats::pnorm(drop(crossprod(across, mode$slope)) / sqrt(1 + variance))
}

# Cost and width by five folds of the training rows.
tuned <- function(kernel) function(train, test, standardize) {
  widths <- if (kernel == "rbfdot") {
    unname(kernlab::sigest(train$x, scaled = standardize)[2L]) * 4^(-2:1)
  } else NA
  grid <- expand.grid(cost = 4^(-3:3), width = widths)
  fit <- function(cost, width, ...) {
    kernlab::ksvm(train$x, train$y, kernel = kernel, C = cost, scaled = standardize,
                  kpar = if (is.na(width)) list() else list(sigma = width), ...)
  }
  errors <- Map(function(cost, width) kernlab::cross(fit(cost, width, cross = 5L)), grid$cost,
                grid$width)
  best <- grid[which.min(unlist(errors)), ]
  list(p = kernlab::predict(fit(best$cost, best$width, prob.model = TRUE), test$x,
                            type = "probabilities")[, 2L])
}

# So many draws for all: probabilities average over them.
few <- engine_gibbs(draws = 250L, burnin = 300L)
methods <- list(
  "FM+L" = joint(list(feedback = "none"), engine = few),
  "FM+N" = joint(list(feedback = "none", classifier = "gp"), engine = few),
  "LDFM" = joint(engine = few),
  "VLDFM" = joint(engine = "vb"),
  "LDFM+N" = "LDFM", "VLDFM+N" = "VLDFM", # a process of the scores of these fits
  "NDFM" = joint(list(classifier = "gp"), engine = few),
  "VNDFM" = joint(list(classifier = "gp"), engine = "vb"),
  "LDFM, pseudo-likelihood" = joint(engine = few, likelihood = "hinge"),
  "NDFM, pseudo-likelihood" = joint(list(classifier = "gp"), engine = few, likelihood = "hinge"),
  "probit process on the scores of VLDFM" = "VLDFM",
  "10 principal components, linear" = function(train, test, standardize) {
    on_scores(principal(train, test, standardize), linear_machine(train$y))
  },
  "10 principal components, gp()" = function(train, test, standardize) {
    on_scores(principal(train, test, standardize), curved_machine(train$y))
  },
  "all variables, linear" = function(train, test, standardize) {
    list(p = linear_machine(train$y)(train$x, test$x))
  },
  "all variables, gp()" = function(train, test, standardize) {
    list(p = curved_machine(train$y)(train$x, test$x))
  },
  "ksvm, linear, tuned" = tuned("vanilladot"),
  "ksvm, radial, tuned" = tuned("rbfdot")
)

processor <- function() sum(proc.time()[c("user.self", "sys.self")])

# One row of `split` a method and test row: list(p, seconds) a method.
run <- function(name, data, own, standardize) {
  train <- data[!own, ]
  test <- data[own, ]
  out <- list()
  scores <- list()
  for (method in names(methods)) {
    key <- paste(name, method)
    known <- kept[[key]]
    set.seed(1)
    if (is.null(known)) {
      from <- methods[[method]]
      start <- processor()
      made <- timed(if (is.character(from)) {
        on_scores(scores[[from]], if (grepl("probit", method)) probit_process(train$y)
                                  else curved_machine(train$y))
      } else from(train, test, standardize))$value
      known <- list(p = made$p, seconds = processor() - start)
      if (method %in% c("LDFM", "VLDFM")) {
        known$scores <- list(train = factor_scores(made$fit), test = factor_scores(made$fit, test))
      }
      if (!is.null(made$fit)) known$determinacy <- summary(made$fit)$factors$determinacy
      kept[[key]] <<- known
      if (nzchar(kept_file)) saveRDS(kept, kept_file)
      message(key, ": ", sum((known$p > 0.5) != (test$y == levels(test$y)[2L])), " of ", nrow(test),
              " wrong, ", round(known$seconds, 1), " s")
    }
    scores[[method]] <- known$scores
    out[[method]] <- known
  }
  out
}

stratified <- function(y, folds) {
  fold <- integer(length(y))
  for (own in split(seq_along(y), y)) fold[own] <- sample(rep_len(seq_len(folds), length(own)))
  fold
}
set.seed(1)
fold <- stratified(tumours$y, 10L)
held <- sort(c(sample(which(digits$y == "three"), 418L), sample(which(digits$y == "five"), 355L)))
digit_run <- run("digits", digits, seq_len(nrow(digits)) %in% held, FALSE)
tumour_runs <- lapply(1:10, function(k) run(paste("tumours", k), tumours, fold == k, TRUE))

# ---- tables -----------------------------------------------------------------------------------------

# A matrix of probabilities, a column a method.
digit_p <- vapply(digit_run, `[[`, numeric(length(held)), "p")
tumour_p <- vapply(names(methods), function(method) {
  p <- numeric(nrow(tumours))
  for (k in 1:10) p[fold == k] <- tumour_runs[[k]][[method]]$p
  p
}, numeric(nrow(tumours)))
digit_y <- digits$y[held] == "five"
tumour_y <- tumours$y == "mutant"

log_scores <- function(p, y) log(ifelse(y, p, 1 - p))
table_of <- function(p, y, seconds) {
  data.frame(method = colnames(p), wrong = colSums((p > 0.5) != y),
             error = 100 * colMeans((p > 0.5) != y),
             "log score" = colMeans(apply(p, 2L, log_scores, y = y)), seconds = seconds,
             row.names = NULL, check.names = FALSE)
}
# In how many rows only one of two is wrong, and the mean difference of log scores.
paired <- function(p, y, one, other) {
  wrong <- (p > 0.5) != y
  apart <- log_scores(p[, one], y) - log_scores(p[, other], y)
  data.frame(one = one, other = other, "only one wrong" = sum(wrong[, one] & !wrong[, other]),
             "only other wrong" = sum(!wrong[, one] & wrong[, other]),
             "log score, difference" = mean(apart),
             "standard error" = stats::sd(apart) / sqrt(length(y)), check.names = FALSE)
}
pairs <- list(c("LDFM", "FM+L"), c("NDFM", "FM+N"), c("NDFM", "10 principal components, gp()"),
              c("LDFM", "10 principal components, linear"), c("NDFM", "all variables, gp()"),
              c("NDFM", "ksvm, radial, tuned"), c("NDFM", "probit process on the scores of VLDFM"),
              c("NDFM", "VNDFM"))
compare <- function(p, y) do.call(rbind, lapply(pairs, function(own) paired(p, y, own[1L], own[2L])))
mean_of <- function(what) {
  vapply(names(methods), function(method) {
    own <- unlist(lapply(tumour_runs, function(split) split[[method]][[what]]))
    if (is.null(own)) NA_real_ else mean(own)
  }, 0)
}
store("factors", list(
  digits = table_of(digit_p, digit_y, vapply(digit_run, `[[`, 0, "seconds")),
  tumours = table_of(tumour_p, tumour_y, mean_of("seconds")),
  paired = list(digits = compare(digit_p, digit_y), tumours = compare(tumour_p, tumour_y)),
  determinacy = mean_of("determinacy"), mutants = mean(tumour_y), fives = mean(digit_y)))
