# Data and oracles for a predictor that is measured with a known error (fixtures/measured.cpp): a
# twin of variational Bayes, and the exact posterior by sums over a grid.

error_sd <- 0.3

measured_data <- function(n, seed = 3) {
  with_seed(seed, {
    true <- rnorm(n)
    d <- data.frame(x = true + error_sd * rnorm(n), w = rnorm(n), k = rep(1:2, length.out = n))
    d$y <- factor(ifelse(runif(n) < plogis(0.6 + 2 * true), "yes", "no"))
    d
  })
}

signs_of <- function(d) ifelse(d$y == "yes", 1, -1)

# Variational Bayes on a dense design, the last column measured: rows' q(x_i) in turn with all else.
twin_measured <- function(y, design, precision, weight, passes = 3000L) {
  at <- ncol(design)
  measured <- x <- design[, at]
  left <- rep(error_sd^2, length(y))
  w <- rep(1, length(y))
  for (pass in seq_len(passes)) {
    design[, at] <- x
    total <- crossprod(design * (weight * w), design) + diag(precision)
    total[at, at] <- total[at, at] + sum(weight * w * left)
    s <- solve(total)
    b <- drop(s %*% crossprod(design, weight * y * (1 + w)))
    omega <- s + tcrossprod(b)
    rest <- design
    rest[, at] <- 0
    left <- 1 / (1 / error_sd^2 + weight * w * omega[at, at])
    x <- left * (measured / error_sd^2 +
                   weight * (y * (1 + w) * b[at] - w * drop(rest %*% omega[, at])))
    design[, at] <- x
    m <- drop(design %*% b)
    chi <- (1 - y * m)^2 + rowSums((design %*% s) * design) + left * omega[at, at]
    w <- 1 / sqrt(chi)
  }
  entries <- 0.5 * (log(left / error_sd^2) + 1 - ((x - measured)^2 + left) / error_sd^2)
  bound <- sum(weight * (y * m - 1 - sqrt(chi))) + sum(entries) +
    0.5 * as.numeric(determinant(s)$modulus) + length(b) / 2 + sum(log(precision)) / 2 -
    sum(precision * (b^2 + diag(s))) / 2
  list(mean = b, covariance = s, bound = bound, x = x, sd = sqrt(left))
}

# log p(y | f), f a vector.
log_class <- function(y, f, normalised) {
  out <- -2 * pmax(0, 1 - y * f)
  if (normalised) out - log(exp(-2 * pmax(0, 1 - f)) + exp(-2 * pmax(0, 1 + f))) else out
}

# The posterior of intercept (flat prior) and slope (variance 4) on a grid about `center`, the errors
# integrated out row by row; and of new rows the probability of class +1 under the normalised
# likelihood.
exact_measured <- function(d, normalised, center, spread, new) {
  z <- seq(-6, 6, by = 0.25)
  share <- dnorm(z) / sum(dnorm(z))
  at <- seq(-7, 7, length.out = 41)
  b <- as.matrix(expand.grid(center[1] + at * spread[1], center[2] + at * spread[2]))
  log_average <- function(x, y, normalised) {
    sums <- 0
    for (k in seq_along(z)) {
      sums <- sums + share[k] * exp(log_class(y, b[, 1] + b[, 2] * (x + error_sd * z[k]),
                                              normalised))
    }
    log(sums)
  }
  rows <- Map(log_average, d$x, signs_of(d), normalised)
  log_joint <- Reduce(`+`, rows) + dnorm(b[, 2], 0, 2, log = TRUE)
  weight <- exp(log_joint - max(log_joint))
  c(weighted_moments(b, weight), list(probability = vapply(new, function(x) {
    sum(exp(log_average(x, 1, TRUE)) * weight) / sum(weight)
  }, 0)))
}
