# Factor terms: p53 status of breast tumours by cross-validation beside two steps, classes that do not
# depend on the variables, handwritten digits, seconds of each engine, sweeps beside matrix products,
# effective draws beside a plain sampler. The environment variable BSVM_P53 has the path of a table with
# a column p53 (1: mutant) and expression of genes from the third column on, BSVM_USPS that of digits
# with columns set, digit, p1 to p256.

run <- function() {
  source(file.path(getOption("bsvm.bench"), "factors-plain.R"), local = TRUE)
  rbind(tumour_figures(), chance_figures(), digit_figures(), factor_times(), sweep_figures(),
        plain_figures(plain_factor_draws))
}

tumours <- function(file) {
  raw <- utils::read.csv(file)
  data <- data.frame(p53 = factor(raw$p53, 0:1, c("wild type", "mutant")))
  data$expr <- as.matrix(raw[-(1:2)])
  data
}

stratified <- function(y, folds) {
  fold <- integer(length(y))
  for (own in split(seq_along(y), y)) fold[own] <- sample(rep_len(seq_len(folds), length(own)))
  fold
}

log_scores <- function(y, p) log(ifelse(y == levels(y)[2L], p, 1 - p))

calibration_slope <- function(y, p) {
  stats::coef(stats::glm(y ~ stats::qlogis(p), family = stats::binomial()))[[2L]]
}

# Probabilities of rows left out: the joint model, two steps (principal components of the training
# rows, then bsvm()), and variational Bayes.
tumour_figures <- function() {
  file <- Sys.getenv("BSVM_P53")
  if (!nzchar(file) || !file.exists(file)) {
    return(skipped("p53", "The variable BSVM_P53 must name a table of tumours."))
  }
  data <- tumours(file)
  set.seed(1)
  fold <- stratified(data$p53, 10L)
  out <- list(joint = numeric(nrow(data)), two = numeric(nrow(data)), vb = numeric(nrow(data)))
  seconds <- 0
  for (k in 1:10) {
    train <- data[fold != k, ]
    test <- data[fold == k, ]
    second <- function(fit, new) predict(fit, new, type = "prob")[, 2L]
    out$joint[fold == k] <- second(suppressWarnings(bsvm(p53 ~ factors(expr, k = 10), train)), test)
    seconds <- seconds + system.time(
      fit <- bsvm(p53 ~ factors(expr, k = 10), train, engine = "vb"))[["elapsed"]]
    out$vb[fold == k] <- second(fit, test)
    axes <- stats::prcomp(train$expr, scale. = TRUE, rank. = 10L)
    out$two[fold == k] <- second(bsvm(axes$x, train$p53), stats::predict(axes, test$expr))
  }
  y <- data$p53
  scores <- lapply(out, log_scores, y = y)
  apart <- scores$joint - scores$two
  share <- mean(y == "mutant")
  rbind(
    figure("p53: wrong of 236, joint model", sum((out$joint > 0.5) != (y == "mutant")), ""),
    figure("p53: wrong of 236, two steps", sum((out$two > 0.5) != (y == "mutant")), ""),
    figure("p53: log score, joint model", mean(scores$joint), "",
           at_least = mean(scores$two) - stats::sd(apart) / sqrt(length(y))),
    figure("p53: log score, two steps", mean(scores$two), ""),
    figure("p53: calibration slope, joint model", calibration_slope(y, out$joint), "", at_least = 0.8),
    figure("p53: log score, variational Bayes", mean(scores$vb), "",
           at_least = share * log(share) + (1 - share) * log(1 - share)),
    figure("p53: a fit by variational Bayes", seconds / 10, "s", at_most = 5))
}

# Classes at random, 50 variables of 3 factors, 5 in the model: held-out log score less that of the
# constant, and how often the pseudo-likelihood is warned of.
chance_figures <- function(sets = 50L, n = 100L) {
  found <- vapply(seq_len(sets), function(seed) {
    set.seed(seed)
    w <- matrix(stats::rnorm(2 * n * 3), 2 * n)
    data <- data.frame(y = factor(sample(rep(0:1, n))))
    data$x <- w %*% matrix(stats::rnorm(150), 3L) + stats::rnorm(2 * n * 50)
    own <- seq_len(n)
    engine <- engine_gibbs(draws = 250L, burnin = 250L, chains = 2L)
    fit <- suppressWarnings(bsvm(y ~ factors(x, k = 5), data[own, ], engine = engine))
    new <- data[-own, ]
    share <- mean(data$y[own] == "1")
    score <- mean(log_scores(new$y, predict(fit, new, type = "prob")[, 2L])) -
      mean(log_scores(new$y, share))
    c(score, warned_of_determinacy(bsvm(y ~ factors(x, k = 5), data[own, ], likelihood = "hinge",
                                        engine = engine)))
  }, numeric(2L))
  rbind(figure("classes at random: log score less the constant's", mean(found[1L, ]), "",
               at_least = -0.03),
        figure("classes at random: warned of, pseudo-likelihood", 100 * mean(found[2L, ]), "%",
               at_least = 95))
}

warned_of_determinacy <- function(call) {
  warned <- FALSE
  withCallingHandlers(call, bsvm_warning_determinacy = function(w) {
    warned <<- TRUE
  }, warning = function(w) invokeRestart("muffleWarning"),
  message = function(m) invokeRestart("muffleMessage"))
  warned
}

# 236 rows of 1000 variables (p53), 773 of 256 (handwritten digits), 10 factors.
simulated <- function(n, p, k = 10L) {
  set.seed(1)
  w <- matrix(stats::rnorm(n * k), n)
  data <- data.frame(y = factor(w[, 1L]^2 + w[, 2L] + stats::rnorm(n) > 1))
  data$x <- w %*% matrix(stats::rnorm(k * p), k) + 2 * stats::rnorm(n * p)
  data
}

factor_times <- function() {
  small <- simulated(236L, 1000L)
  large <- simulated(773L, 256L)
  took <- function(formula, data, engine, likelihood = NULL) {
    system.time(suppressWarnings(bsvm(formula, data, engine = engine,
                                      likelihood = likelihood)))[["elapsed"]]
  }
  sweeps <- engine_gibbs(draws = 1000L, burnin = 1000L, chains = 1L)
  line <- y ~ factors(x, k = 10)
  curve <- y ~ factors(x, k = 10, classifier = "gp")
  rbind(
    figure("236 x 1000, linear, 2000 sweeps", took(line, small, sweeps), "s"),
    figure("236 x 1000, function, exact (pseudo-likelihood), 2000 sweeps",
           took(y ~ factors(x, k = 10, classifier = "gp", points = Inf), small, sweeps, "hinge"),
           "s", at_most = 120),
    figure("236 x 1000, function, 50 points, 2000 sweeps",
           took(y ~ factors(x, k = 10, classifier = "gp", points = 50), small, sweeps), "s",
           at_most = 20),
    figure("236 x 1000, function, 2000 sweeps", took(curve, small, sweeps), "s", at_most = 20),
    figure("236 x 1000, function, variational Bayes", took(curve, small, "vb"), "s", at_most = 5),
    figure("773 x 256, function, 2000 sweeps", took(curve, large, sweeps), "s", at_most = 300),
    figure("773 x 256, function, variational Bayes", took(curve, large, "vb"), "s", at_most = 20))
}

# 3 against 5: 767 to fit, 773 to test, by class as in the paper.
digit_figures <- function() {
  file <- Sys.getenv("BSVM_USPS")
  if (!nzchar(file) || !file.exists(file)) {
    return(skipped("digits", "The variable BSVM_USPS must name a table of digits."))
  }
  raw <- utils::read.csv(file)
  raw <- raw[raw$digit %in% c(3, 5), ]
  data <- data.frame(y = factor(raw$digit))
  data$x <- as.matrix(raw[paste0("p", 1:256)])
  set.seed(1)
  held <- c(sample(which(data$y == "3"), 418L), sample(which(data$y == "5"), 355L))
  error <- function(engine) {
    fit <- suppressWarnings(bsvm(y ~ factors(x, k = 10, classifier = "gp", standardize = FALSE),
                                 data[-held, ], engine = engine))
    100 * mean(predict(fit, data[held, ]) != data$y[held])
  }
  rbind(figure("digits: error, function, 2000 sweeps",
               error(engine_gibbs(draws = 1000L, burnin = 1000L, chains = 1L)), "%", at_most = 3.5),
        figure("digits: error, function, variational Bayes", error("vb"), "%", at_most = 3.5))
}

# 250 rows, 10 factors, one thread: the general form (local shrinkage) and the reduced one.
sweep_figures <- function() {
  if (!requireNamespace("RcppEigen", quietly = TRUE)) {
    return(skipped("a sweep", "The matrix products need the package RcppEigen."))
  }
  limit <- new.env()
  Rcpp::sourceCpp(file.path(getOption("bsvm.bench"), "factors-limit.cpp"), env = limit)
  do.call(rbind, lapply(c(1e3, 1e4, 1e5), function(p) {
    data <- simulated(250L, p)
    sweep <- function(prior, count) {
      took <- function(burnin) {
        engine <- engine_gibbs(draws = 50L, burnin = burnin, chains = 1L)
        system.time(suppressWarnings(bsvm(
          y ~ factors(x, k = 10), data, prior = list(loadings = prior), engine = engine,
          keep_data = FALSE, control = bsvm_control(threads = 1))))[["elapsed"]]
      }
      1e3 * (took(20L + count) - took(20L)) / count
    }
    products <- 1e3 * limit$two_products(data$x, matrix(stats::rnorm(2500), 250L),
                                         if (p < 1e5) 101L else 11L)
    general <- sweep(prior_lasso(), if (p < 1e5) 400L else 60L)
    of <- paste0("250 x ", format(p, scientific = FALSE), ": ")
    rbind(figure(paste0(of, "a sweep, general form"), general, "ms"),
          figure(paste0(of, "in matrix products"), general / products, "times", at_most = 3),
          figure(paste0(of, "a sweep, reduced form"), sweep(prior_ridge(), 2000L), "ms",
                 at_most = 5))
  }))
}

# Smallest number of effective draws a second, linear model under the pseudo-likelihood with fixed
# variances, which a plain sampler has.
plain_figures <- function(plain_factor_draws) {
  file <- Sys.getenv("BSVM_P53")
  known <- nzchar(file) && file.exists(file)
  data <- if (known) tumours(file) else simulated(236L, 1000L)
  names(data) <- c("y", "x")
  data$x <- scale(data$x)
  one <- prior_ridge(variance = 1)
  ours <- system.time(fit <- suppressWarnings(bsvm(
    y ~ factors(x, k = 10), data, likelihood = "hinge",
    prior = list(factors = one, loadings = one, "(Intercept)" = one),
    engine = engine_gibbs(draws = 4000L, burnin = 500L, chains = 1L),
    control = bsvm_control(threads = 1))))[["elapsed"]]
  plain <- system.time(draws <- plain_factor_draws(
    data$x, ifelse(data$y == levels(data$y)[2L], 1, -1), 10L, 8000L, 500L))[["elapsed"]]
  shown <- c("leftover", "explained", "psi")
  effective <- function(x) min(apply(x[, shown], 2L, posterior::ess_bulk))
  own <- t(fit$posterior$factors$identified[, , 1L])
  set <- if (known) "p53" else "236 x 1000"
  rbind(figure(paste0(set, ", pseudo-likelihood: effective draws a second"), effective(own) / ours, ""),
        figure(paste0(set, ", pseudo-likelihood: times those of a plain sampler in R"),
               effective(own) / ours / (effective(draws) / plain), "times", at_least = 5),
        figure(paste0(set, ", pseudo-likelihood: of draws, times those of a plain sampler"),
               effective(own) / 4000 / (effective(draws) / 8000), "times"))
}
