# Several responses: the biscuit doughs of 004 beside partial least squares, sweeps, and effective
# draws beside a plain sampler. The environment variable BSVM_COOKIE has the path of cookie.csv.gz
# (columns set, sample, fat, sucrose, flour, water, w1100 to w2498), as in ppls::cookie.

run <- function() {
  rbind(dough_figures(), many_responses(), one_large_kernel(), effective_draws())
}

constituents <- c("fat", "sucrose", "flour", "water")

# 256 wavelengths, calibration sample 23 left out, as in the paper.
doughs <- function(file) {
  raw <- utils::read.csv(file)
  data <- raw[c("set", "sample", constituents)]
  data$nir <- as.matrix(raw[paste0("w", seq(1380, 2400, 4))])
  list(train = data[data$set == "calibration" & data$sample != 23, ],
       test = data[data$set == "validation", ])
}

dough_figures <- function() {
  file <- Sys.getenv("BSVM_COOKIE")
  if (!nzchar(file) || !file.exists(file)) {
    return(skipped("biscuit doughs", "The variable BSVM_COOKIE must name cookie.csv.gz."))
  }
  data <- doughs(file)
  truth <- as.matrix(data$test[constituents])
  fit_of <- function(...) {
    set.seed(1)
    bsvm(cbind(fat, sucrose, flour, water) ~ gp(nir, kernel = kernel_linear()), data$train,
         likelihood = likelihood_gaussian(), ...)
  }
  seconds <- system.time(fit <- fit_of())[["elapsed"]]
  found <- predict(fit, data$test, interval = "prediction")
  errors <- colMeans((found[, "fit", ] - truth)^2)
  cover <- colMeans(found[, "lower", ] <= truth & truth <= found[, "upper", ])
  width <- colMeans(found[, "upper", ] - found[, "lower", ])
  smooth <- bsvm(cbind(fat, sucrose, flour, water) ~ gp(nir), data$train,
                 likelihood = likelihood_gaussian())
  smooth_errors <- colMeans((predict(smooth, data$test) - truth)^2)
  most <- c(0.17, 0.62, 0.38, 0.14)
  widest <- c(2.2, 4.8, 4.5, 1.3)
  rows <- lapply(1:4, function(j) {
    name <- constituents[j]
    rbind(figure(paste0(name, ": squared error, linear kernel"), errors[j], "", at_most = most[j]),
          figure(paste0(name, ": squared error, learned kernel"), smooth_errors[j], "",
                 at_most = most[j]),
          figure(paste0(name, ": coverage of 95 % intervals"), 100 * cover[j], "%", at_least = 90),
          figure(paste0(name, ": their mean width"), width[j], "%", at_most = widest[j]))
  })
  long <- system.time(suppressWarnings(fit_of(
    engine = engine_gibbs(draws = 5000L, burnin = 5000L, chains = 1L))))[["elapsed"]]
  rbind(figure("biscuit doughs: a fit", seconds, "s"), do.call(rbind, rows),
        pls_figure(data, errors),
        figure("biscuit doughs: 5000 + 5000 sweeps, 160 coefficients", long, "s", at_most = 8),
        paper_figures(data))
}

# The paper's models, a variance for each coefficient: seconds of 5000 + 5000 sweeps on one processor,
# and of its four chains of 100,000 on two.
paper_figures <- function(data) {
  seconds_of <- function(likelihood, draws, burnin, thin = 1L, chains = 1L, threads = 1L) {
    set.seed(1)
    suppressWarnings(bsvm(
      cbind(fat, sucrose, flour, water) ~ gp(nir, kernel = kernel_linear()), data$train,
      likelihood = likelihood,
      prior = list(gp = prior_relevance(1e-8, 1e-5), residual = prior_inv_wishart(5, 10 * diag(4))),
      engine = engine_gibbs(draws = draws, burnin = burnin, thin = thin, chains = chains),
      control = bsvm_control(threads = threads, verbose = FALSE)))$sampling$seconds
  }
  gaussian <- likelihood_gaussian(residual = "paper", scale = prior_inv_gamma(1, 10))
  tube <- likelihood_eps_insensitive(residual = "correlated")
  rbind(
    figure("MBRVM: 5000 + 5000 sweeps", seconds_of(gaussian, 5000L, 5000L), "s", at_most = 8),
    figure("MBSVM: 5000 + 5000 sweeps", seconds_of(tube, 5000L, 5000L), "s", at_most = 8),
    figure("MBRVM: 4 chains of 100,000 sweeps, two processors",
           seconds_of(gaussian, 10000L, 50000L, 5L, 4L, 2L), "s", at_most = 240))
}

pls_figure <- function(data, errors) {
  if (!installed("pls")) return(skipped("partial least squares", "The package pls is needed."))
  fit <- pls::plsr(cbind(fat, sucrose, flour, water) ~ nir, ncomp = 6L, data = data$train)
  own <- stats::predict(fit, newdata = data$test, ncomp = 6L)[, , 1L]
  of_pls <- colMeans((own - as.matrix(data$test[constituents]))^2)
  rbind(do.call(rbind, lapply(1:4, function(j) {
    figure(paste0(constituents[j], ": squared error of PLS2, 6 components"), of_pls[j], "")
  })), figure("constituents no worse than PLS2", sum(errors <= of_pls), "of 4", at_least = 3))
}

# Twenty responses, 1000 rows, linear predictors.
many_responses <- function(n = 1000L, q = 20L) {
  do.call(rbind, lapply(c(5L, 20L, 50L), function(p) {
    set.seed(3)
    x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
    data <- as.data.frame(x)
    data$y <- x %*% matrix(stats::rnorm(p * q), p) +
      matrix(stats::rnorm(n * q), n) %*% (diag(q) + matrix(stats::rnorm(q * q), q) / 3)
    seconds <- system.time(suppressWarnings(
      bsvm(y ~ ., data, likelihood = likelihood_gaussian())))[["elapsed"]]
    figure(paste0("20 responses, ", p, " predictors, 1000 rows"), seconds, "s", at_most = 5)
  }))
}

# All 4000 rows are inducing points.
one_large_kernel <- function(n = 4000L, sweeps = 100L) {
  set.seed(4)
  data <- data.frame(x1 = stats::runif(n), x2 = stats::runif(n))
  data$y <- cbind(sin(6 * data$x1), cos(5 * data$x2), data$x1 * data$x2, data$x1^2) +
    matrix(stats::rnorm(4L * n), n) %*% chol(0.3 * diag(4L) + 0.2)
  engine <- engine_gibbs(draws = sweeps - 1L, burnin = 1L, chains = 1L)
  facts <- suppressWarnings(suppressMessages(bsvm(
    y ~ gp(x1, x2, points = Inf, kernel = kernel_matern(1.5, lengthscale = 0.5)), data,
    likelihood = likelihood_gaussian(), engine = engine)))$sampling
  rbind(figure("4000 rows, 4 responses, one kernel: its eigendecomposition", facts$prepared, "s"),
        figure("4000 rows, 4 responses, one kernel: a sweep",
               1e3 * (facts$seconds - facts$prepared) / sweeps, "ms", at_most = 60))
}

# Smallest effective draws a second of fitted values and residual covariance, beside a sampler in
# plain R that draws all coefficients at once given the variances.
effective_draws <- function(n = 120L, q = 3L, m = 40L) {
  if (!installed("posterior")) {
    return(skipped("effective draws", "The package posterior is needed."))
  }
  set.seed(6)
  x <- cbind(1, matrix(stats::rnorm(n * m), n) / sqrt(m))
  y <- x %*% rbind(1:q, matrix(stats::rnorm(m * q), m)) + matrix(stats::rnorm(n * q), n)
  data <- data.frame(x = I(x[, -1L]))
  data$y <- y
  engine <- engine_gibbs(draws = 2000L, burnin = 300L, chains = 1L)
  fit <- suppressWarnings(bsvm(y ~ x, data, likelihood = likelihood_gaussian(), engine = engine))
  ours <- c(apply(posterior_linpred(fit)[, 1:20, ], 2:3, posterior::ess_basic),
            apply(fit$residual[, , 1L], 1L, posterior::ess_basic))
  seconds <- system.time(plain <- plain_sampler(x, y, 2000L))[["elapsed"]]
  theirs <- apply(plain, 2L, posterior::ess_basic)
  rbind(figure("smallest effective draws a second", min(ours) / fit$sampling$seconds, ""),
        figure("of a plain sampler", min(theirs) / seconds, ""),
        figure("ratio", min(ours) / fit$sampling$seconds / (min(theirs) / seconds), "",
               at_least = 10))
}

plain_sampler <- function(x, y, draws) {
  p <- ncol(x)
  q <- ncol(y)
  n <- nrow(x)
  xx <- crossprod(x)
  sigma <- diag(q)
  tau <- rep(1, q)
  mix <- rep(1, q)
  out <- matrix(0, draws, 20L * q + q * (q + 1L) / 2L)
  for (s in seq_len(draws)) {
    inverse <- solve(sigma)
    prior <- as.vector(vapply(tau, function(t) c(1 / 1600, rep(1 / t, p - 1L)), numeric(p)))
    root <- chol(kronecker(inverse, xx) + diag(prior))
    linear <- as.vector(crossprod(x, y) %*% inverse)
    b <- matrix(backsolve(root, backsolve(root, linear, transpose = TRUE) + stats::rnorm(p * q)), p)
    mix <- 1 / stats::rgamma(q, 2, 3 / tau + 1)
    tau <- 1 / stats::rgamma(q, (3 + p - 1) / 2, 3 / mix + colSums(b[-1L, ]^2) / 2)
    a <- 1 / stats::rgamma(q, (2 + q) / 2, 2 * diag(inverse) + 1)
    rest <- crossprod(y - x %*% b) + diag(4 / a)
    sigma <- solve(stats::rWishart(1L, 2 + q - 1 + n, solve(rest))[, , 1L])
    out[s, ] <- c(x[1:20, ] %*% b, sigma[lower.tri(sigma, diag = TRUE)])
  }
  out
}
