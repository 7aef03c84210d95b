# Oracles of Gaussian processes whose kernel is uncertain: plain R on a grid of (log length scale, log
# amplitude), one variable, squared exponential.

se_covariance <- function(x, v, l) exp(-outer(x, v, "-")^2 / (2 * l^2))

# list(points (G x 2), log_prior (G)): log l ~ N(log median, sd), s half-t(df, scale).
kernel_grid <- function(l, s, median, sd, df, scale) {
  points <- as.matrix(expand.grid(l = log(l), s = log(s)))
  list(points = points,
       log_prior = dnorm(points[, 1L], log(median), sd, log = TRUE) +
         dt(exp(points[, 2L]) / scale, df, log = TRUE) + points[, 2L])
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
normal_process <- function(x, y, v, sigma, grid, covariance = se_covariance) {
  n <- length(x)
  parts <- apply(grid$points, 1L, function(p) {
    k <- exp(2 * p[2L]) * covariance(x, x, exp(p[1L]))
    across <- exp(2 * p[2L]) * covariance(v, x, exp(p[1L]))
    root <- chol(k + sigma^2 * diag(n))
    half <- backsolve(root, cbind(y, t(across)), transpose = TRUE)
    c(-sum(log(diag(root))) - sum(half[, 1L]^2) / 2,
      crossprod(half[, -1L], half[, 1L]), exp(2 * p[2L]) - colSums(half[, -1L]^2))
  })
  m <- length(v)
  over_kernels(grid, parts[1L, ], parts[1L + seq_len(m), ], parts[1L + m + seq_len(m), ])
}

# Classes under the normalised hinge likelihood: log p(y | f), y = -1 or 1.
log_of_class <- function(f, y) {
  g <- y * f
  plogis(2 * pmax(1 + g, 0) - 2 * pmax(1 - g, 0), log.p = TRUE)
}

# The same by importance sampling at each point of the grid, from a Gaussian near the posterior that
# is wider by `wider`; the same noise at each. `size`: the least effective number of draws where it
# matters.
hinge_process <- function(x, y, v, grid, draws = 2500, wider = 1.15) {
  n <- length(x)
  m <- length(v)
  noise <- with_own_seed(1, matrix(rnorm(n * draws), n))
  rule <- hermite_rule(24)
  parts <- apply(grid$points, 1L, function(p) {
    k <- exp(2 * p[2L]) * (se_covariance(x, x, exp(p[1L])) + 1e-8 * diag(n))
    across <- exp(2 * p[2L]) * se_covariance(v, x, exp(p[1L]))
    root <- t(chol(k))
    near <- near_hinge(root, y, rule)
    z <- near$mean + wider * near$root %*% noise
    f <- root %*% z
    log_ratio <- colSums(log_of_class(f, y)) - colSums(z^2) / 2 + colSums(noise^2) / 2 +
      sum(log(diag(near$root))) + n * log(wider)
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
  c(out, list(size = min(parts[2L + 2L * m, out$weights > 1e-2 * max(out$weights)])))
}

# Of z, f = root z: list(mean, root), the expected slopes and curvatures of the rows' log p under it
# being its own, about.
near_hinge <- function(root, y, rule, steps = 30) {
  n <- length(y)
  mean <- numeric(n)
  weight <- rep(0.5, n)
  linear <- y
  for (step in seq_len(steps)) {
    precision <- diag(n) + crossprod(root, weight * root)
    mean <- drop(solve(precision, crossprod(root, linear)))
    f <- drop(root %*% mean)
    sd <- sqrt(colSums(backsolve(chol(precision), t(root), transpose = TRUE)^2))
    at <- f + outer(sd, rule$node)
    logs <- log_of_class(at, y) * rep(rule$weight, each = n)
    slope <- drop(logs %*% rule$node) / sd
    bend <- pmax(-drop(logs %*% (rule$node^2 - 1)) / sd^2, 1e-3)
    weight <- (weight + bend) / 2
    linear <- (linear + bend * f + slope) / 2
  }
  precision <- diag(n) + crossprod(root, weight * root)
  list(mean = mean, root = backsolve(chol(precision), diag(n)))
}

# Nodes and weights for N(0, 1).
hermite_rule <- function(size) {
  jacobi <- diag(0, size)
  k <- seq_len(size - 1L)
  jacobi[cbind(k, k + 1L)] <- jacobi[cbind(k + 1L, k)] <- sqrt(k)
  found <- eigen(jacobi, symmetric = TRUE)
  list(node = found$values, weight = found$vectors[1L, ]^2)
}

with_own_seed <- function(seed, code) {
  if (exists(".Random.seed", globalenv())) {
    old <- get(".Random.seed", globalenv())
    on.exit(assign(".Random.seed", old, globalenv()))
  }
  set.seed(seed)
  code
}
