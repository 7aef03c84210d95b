# missing_selection(): predictors that are not missing at random.

not_at_random <- function(n = 300, seed = 1) {
  set.seed(seed)
  x <- cbind(a = stats::rnorm(n), b = stats::rnorm(n))
  x[, "b"] <- 0.5 * x[, "a"] + sqrt(0.75) * x[, "b"]
  y <- ifelse(stats::runif(n) < stats::plogis(2 * x[, "a"] - 1.5 * x[, "b"]), 1, -1)
  full <- x
  x[stats::runif(n) < stats::pnorm(-0.5 + x[, "b"]), "b"] <- NA
  list(x = x, y = y, full = full)
}

# A plain sampler of the same posterior: App. C of 000 with Albert and Chib's latent normals for the
# indicator of column 2, whose probit has an intercept and that column.
plain_selection <- function(y, x, draws, burnin, variance, probit_sd = 2.5) {
  n <- nrow(x)
  d <- ncol(x)
  absent <- is.na(x[, 2])
  sign <- ifelse(absent, -1, 1)
  x[absent, 2] <- 0
  b <- numeric(d + 1)
  mu <- numeric(d)
  p <- diag(d)
  phi <- c(0, 0)
  kept <- NULL
  for (sweep in seq_len(burnin + draws)) {
    u <- abs(1 - y * drop(cbind(1, x) %*% b))
    z <- stats::rnorm(n)^2 # inverse Gaussian, mean 1/u, shape 1 (Michael, Schucany & Haas)
    m <- 1 / u
    w <- m + m^2 * z / 2 - m / 2 * sqrt(4 * m * z + m^2 * z^2)
    w <- ifelse(stats::runif(n) <= m / (m + w), w, m^2 / w)
    c <- cbind(1, x)
    root <- chol(crossprod(c * w, c) + diag(c(1e-8, rep(1 / variance, d))))
    b <- backsolve(root, forwardsolve(t(root), crossprod(c, y * (1 + w))) + stats::rnorm(d + 1))
    t <- cbind(1, x[, 2])
    centre <- drop(t %*% phi)
    tail <- stats::runif(n) * stats::pnorm(sign * centre)
    a <- centre - sign * stats::qnorm(tail) # beyond -sign centre, on the side of the sign
    s <- solve(crossprod(t) + diag(2) / probit_sd^2)
    phi <- drop(s %*% crossprod(t, a) + t(chol(s)) %*% stats::rnorm(2))
    i <- which(absent)
    precision <- p[2, 2] + w[i] * b[3]^2 + phi[2]^2
    linear <- p[2, 2] * mu[2] - p[2, 1] * (x[i, 1] - mu[1]) + y[i] * (1 + w[i]) * b[3] -
      w[i] * b[3] * (b[1] + b[2] * x[i, 1]) + phi[2] * (a[i] - phi[1])
    x[i, 2] <- linear / precision + stats::rnorm(length(i)) / sqrt(precision)
    s <- solve(n * p + diag(d) / 1e8)
    mu <- drop(s %*% p %*% colSums(x) + t(chol(s)) %*% stats::rnorm(d))
    scatter <- 0.01 * diag(d) + crossprod(sweep(x, 2, mu))
    p <- stats::rWishart(1, d + 1 + n, solve(scatter))[, , 1]
    if (sweep > burnin) kept <- rbind(kept, c(b, mu, phi))
  }
  kept
}

test_that("VB's bound never falls, and the mechanism it finds has the truth's sign", {
  data <- not_at_random()
  fit <- quiet_missing(data$x, data$y, missing = missing_selection(~ b),
              engine = engine_vb(accelerate = FALSE))
  expect_true(all(diff(fit$trace[-1L, "bound"]) > -1e-8))
  expect_lt(fit$missing$law$probit["b", "b"], -0.2)
  at_random <- quiet_missing(data$x, data$y, missing = missing_normal(), engine = "vb")
  truth <- data$full[is.na(data$x[, "b"]), "b"]
  expect_lt(abs(mean(imputed(fit)$mean - truth)), 0.8 * abs(mean(imputed(at_random)$mean - truth)))
})

test_that("a mechanism without predictors leaves values missing at random", {
  data <- not_at_random()
  one <- quiet_missing(data$x, data$y, missing = missing_selection(~ 1), engine = "vb",
              control = bsvm_control(tol = 1e-12))
  other <- quiet_missing(data$x, data$y, missing = missing_normal(), engine = "vb",
                control = bsvm_control(tol = 1e-12))
  expect_equal(coef(one), coef(other), tolerance = 1e-6)
  share <- mean(!is.na(data$x[, "b"]))
  expect_equal(one$missing$law$probit[[1L]], stats::qnorm(share), tolerance = 0.02)
  # The indicators' share of the bound, by quadrature over the intercept.
  n <- nrow(data$x)
  k <- sum(!is.na(data$x[, "b"]))
  log_p <- function(phi) {
    k * stats::pnorm(phi, log.p = TRUE) + (n - k) * stats::pnorm(-phi, log.p = TRUE) +
      stats::dnorm(phi, 0, 2.5, log = TRUE)
  }
  top <- stats::optimize(log_p, c(-3, 3), maximum = TRUE)$objective
  exact <- top + log(stats::integrate(function(phi) exp(log_p(phi) - top), -3, 3,
                                      rel.tol = 1e-10)$value)
  gap <- exact - (one$elbo - other$elbo)
  expect_gt(gap, 0)
  expect_lt(gap, 1)
})

test_that("Gibbs draws are those of a plain sampler", {
  data <- not_at_random(150)
  x <- scale(data$x)
  set.seed(2)
  plain <- plain_selection(data$y, x, 6000, 1000, variance = 2)
  fit <- quiet_missing(data$x, data$y, missing = missing_selection(~ b),
                       prior = prior_ridge(variance = 2),
                       engine = engine_gibbs(draws = 3000, burnin = 500, chains = 2))
  mean <- rowMeans(draw_matrix(fit$posterior$coefficients))
  sd <- apply(plain, 2, stats::sd)
  expect_lt(max(abs(mean - colMeans(plain)[1:3]) / sd[1:3]), 0.12)
  found <- c(fit$missing$law$mean[1L, ], fit$missing$law$probit)
  expect_lt(max(abs(found - colMeans(plain)[4:7]) / sd[4:7]), 0.12)
})

test_that("a dot stands for every column, less those taken out", {
  data <- not_at_random(60)
  columns <- function(mechanism) {
    fit <- quiet_missing(data$x, data$y, missing = missing_selection(mechanism), engine = "vb")
    rownames(fit$missing$law$probit)
  }
  expect_identical(columns(~ .), c("(Intercept)", colnames(data$x)))
  expect_identical(columns(~ . - a), c("(Intercept)", setdiff(colnames(data$x), "a")))
})

test_that("unknown names and engines are refused", {
  data <- not_at_random(60)
  fit <- function(...) quiet_missing(data$x, data$y, ...)
  expect_error(missing_selection(y ~ b), class = "bsvm_error_argument")
  expect_error(missing_selection(probit_sd = 0), class = "bsvm_error_argument")
  expect_error(fit(missing = missing_selection(~ zz), engine = "vb"),
               class = "bsvm_error_argument")
  expect_error(fit(missing = missing_selection(), engine = "gaussian"),
               class = "bsvm_error_unsupported")
})
