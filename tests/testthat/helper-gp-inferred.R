# Oracles of Gaussian processes whose kernel is uncertain: plain R on a grid of (log length scale, log
# amplitude), one variable, squared exponential.

se_covariance <- function(x, v, l) exp(-outer(x, v, "-")^2 / (2 * l^2))

# list(points (G x 2), log_prior (G)): log l ~ N(log median, sd), s half-t(3, scale).
kernel_grid <- function(l, s, median, sd, scale) {
  points <- as.matrix(expand.grid(l = log(l), s = log(s)))
  list(points = points,
       log_prior = dnorm(points[, 1L], log(median), sd, log = TRUE) +
         dt(exp(points[, 2L]) / scale, 3, log = TRUE) + points[, 2L])
}

# Posterior moments over the grid: `numbers` (mean and sd of l and s), `mean` and `sd` of f at inputs
# v, given log evidence (G), and conditional means and variances of f (inputs x G).
over_kernels <- function(grid, evidence, mean, variance) {
  log_density <- evidence + grid$log_prior
  w <- exp(log_density - max(log_density))
  w <- w / sum(w)
  numbers <- exp(grid$points)
  centre <- colSums(w * numbers)
  f <- drop(mean %*% w)
  list(numbers = cbind(mean = centre, sd = sqrt(colSums(w * numbers^2) - centre^2)),
       mean = f, sd = sqrt(drop((variance + mean^2) %*% w) - f^2), weights = w)
}

# Numbers y = f + N(0, sigma^2): everything is normal given the kernel.
normal_process <- function(x, y, v, sigma, grid) {
  n <- length(x)
  parts <- apply(grid$points, 1L, function(p) {
    k <- exp(2 * p[2L]) * se_covariance(x, x, exp(p[1L]))
    across <- exp(2 * p[2L]) * se_covariance(v, x, exp(p[1L]))
    root <- chol(k + sigma^2 * diag(n))
    half <- backsolve(root, cbind(y, t(across)), transpose = TRUE)
    c(-sum(log(diag(root))) - sum(half[, 1L]^2) / 2,
      crossprod(half[, -1L], half[, 1L]), exp(2 * p[2L]) - colSums(half[, -1L]^2))
  })
  m <- length(v)
  over_kernels(grid, parts[1L, ], parts[1L + seq_len(m), ], parts[1L + m + seq_len(m), ])
}

# Classes under the normalised hinge likelihood: log p(y | f), y = -1 or 1.
log_hinge <- function(f, y) {
  g <- y * f
  plogis(2 * pmax(1 + g, 0) - 2 * pmax(1 - g, 0), log.p = TRUE)
}

# The same by importance sampling at each point of the grid, from a normal law at the mode (of a
# smoothed likelihood) that is wider by `wider`; the same noise at each.
hinge_process <- function(x, y, v, grid, draws = 3000, wider = 1.15) {
  n <- length(x)
  m <- length(v)
  noise <- with_given_seed_in_tests(1, matrix(rnorm(n * draws), n))
  parts <- apply(grid$points, 1L, function(p) {
    k <- exp(2 * p[2L]) * (se_covariance(x, x, exp(p[1L])) + 1e-8 * diag(n))
    across <- exp(2 * p[2L]) * se_covariance(v, x, exp(p[1L]))
    root <- t(chol(k))
    b <- mode_of_hinge(root, y)
    w <- hinge_weight(drop(root %*% b))
    spread <- chol(diag(n) + crossprod(root, w * root))
    z <- b + wider * backsolve(spread, noise)
    f <- root %*% z
    log_ratio <- colSums(log_hinge(f, y)) - colSums(z^2) / 2 + colSums(noise^2) / 2 -
      sum(log(diag(spread))) + n * log(wider)
    top <- max(log_ratio)
    u <- exp(log_ratio - top)
    solved <- backsolve(t(root), backsolve(root, t(across), upper.tri = FALSE))
    there <- crossprod(solved, f)
    mean <- drop(there %*% u) / sum(u)
    c(top + log(mean(u)), mean,
      drop(there^2 %*% u) / sum(u) - mean^2 + exp(2 * p[2L]) - colSums(t(across) * solved),
      sum(u)^2 / sum(u^2))
  })
  out <- over_kernels(grid, parts[1L, ], parts[1L + seq_len(m), ], parts[1L + m + seq_len(m), ])
  c(out, list(size = min(parts[2L + 2L * m, out$weights > 1e-3 * max(out$weights)])))
}

# A logistic law of slope 3 stands for the likelihood.
hinge_weight <- function(f) pmax(9 * plogis(3 * f) * plogis(-3 * f), 0.05)

mode_of_hinge <- function(root, y) {
  b <- numeric(length(y))
  value <- function(b) sum(plogis(3 * y * drop(root %*% b), log.p = TRUE)) - sum(b^2) / 2
  for (step in 1:50) {
    f <- drop(root %*% b)
    w <- 9 * plogis(3 * f) * plogis(-3 * f)
    gradient <- drop(crossprod(root, 3 * y * plogis(-3 * y * f))) - b
    move <- solve(diag(length(b)) + crossprod(root, w * root), gradient)
    by <- 1
    while (value(b + by * move) < value(b) && by > 1e-4) by <- by / 2
    b <- b + by * move
    if (max(abs(by * move)) < 1e-6) break
  }
  b
}

with_given_seed_in_tests <- function(seed, code) {
  if (exists(".Random.seed", globalenv())) {
    old <- get(".Random.seed", globalenv())
    on.exit(assign(".Random.seed", old, globalenv()))
  }
  set.seed(seed)
  code
}
