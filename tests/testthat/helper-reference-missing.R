# Algorithm 4 of 000 in plain R, row by row as it is printed (misprints mended): y -1 or +1, x (n, d)
# with NA, an intercept implied. Returns coefficients, covariance, the bound with every constant, the
# imputation model and imputed means and covariances.
twin_missing <- function(y, x, passes = 5000L, tol = 1e-13, beta_variance = 1e8, shape = 0.01,
                         rate = 0.01, mean_variance = 1e8, psi = 0.01, df = ncol(x) + 1,
                         variance = NULL) {
  n <- nrow(x)
  d <- ncol(x)
  absent <- is.na(x)
  filled <- x
  filled[absent] <- 0
  spread <- array(0, c(d, d, n))
  for (i in seq_len(n)) diag(spread[, , i])[absent[i, ]] <- 1
  w <- rep(1, n)
  inverse_u <- if (is.null(variance)) 1 else 1 / variance
  precision <- diag(d)
  mu <- numeric(d)
  bound <- -Inf
  for (pass in seq_len(passes)) {
    # The coefficients.
    c <- cbind(1, filled)
    a <- crossprod(c * w, c) + diag(c(1 / beta_variance, rep(inverse_u, d)))
    a[-1, -1] <- a[-1, -1] + apply(spread, 1:2, function(s) sum(w * s))
    s <- solve(a)
    b <- drop(s %*% crossprod(c, y * (1 + w)))
    omega <- s + tcrossprod(b)
    # Every row's missing entries and weight.
    chi <- numeric(n)
    entropy <- 0
    for (i in seq_len(n)) {
      m <- which(absent[i, ])
      if (length(m) > 0L) {
        q <- precision + w[i] * omega[-1, -1]
        inverse <- solve(q[m, m, drop = FALSE])
        o <- setdiff(seq_len(d), m)
        h <- precision %*% mu + y[i] * (1 + w[i]) * b[-1] - w[i] * omega[-1, 1]
        if (length(o) > 0L) h <- h - q[, o, drop = FALSE] %*% x[i, o]
        filled[i, m] <- inverse %*% h[m]
        spread[, , i] <- 0
        spread[m, m, i] <- inverse
        entropy <- entropy + 0.5 * (length(m) * (1 + log(2 * pi)) +
                                      as.numeric(determinant(inverse)$modulus))
      }
      ci <- c(1, filled[i, ])
      chi[i] <- (1 - y[i] * sum(ci * b))^2 + sum(ci * (s %*% ci)) + sum(spread[, , i] * omega[-1, -1])
    }
    w <- 1 / sqrt(chi)
    # The imputation model and the coefficients' variance.
    s_mu <- solve(diag(d) / mean_variance + n * precision)
    mu <- drop(s_mu %*% precision %*% colSums(filled))
    centred <- sweep(filled, 2, mu)
    scatter <- psi * diag(d) + n * s_mu + crossprod(centred) + apply(spread, 1:2, sum)
    formed <- s_mu
    precision <- (df + n) * solve(scatter)
    second <- sum(b[-1]^2) + sum(diag(s)[-1])
    if (is.null(variance)) {
      rate_q <- rate + second / 2
      inverse_u <- (shape + d / 2) / rate_q
    }
    old <- bound
    c <- cbind(1, filled)
    ridge <- if (is.null(variance)) {
      shape * log(rate) - lgamma(shape) - (shape + d / 2) * log(rate_q) + lgamma(shape + d / 2)
    } else {
      -d / 2 * log(variance) - second / (2 * variance)
    }
    bound <- sum(y * c %*% b) - n - sum(sqrt(chi)) + ridge -
      0.5 * log(beta_variance) - (b[1]^2 + s[1, 1]) / (2 * beta_variance) + (1 + d) / 2 +
      0.5 * as.numeric(determinant(s)$modulus) +
      d / 2 + 0.5 * as.numeric(determinant(formed)$modulus) - n * d / 2 * log(2 * pi) -
      d / 2 * log(mean_variance) - (sum(mu^2) + sum(diag(formed))) / (2 * mean_variance) +
      df / 2 * d * log(psi) - (df + n) / 2 * as.numeric(determinant(scatter)$modulus) +
      d * n / 2 * log(2) + log_gamma_d((df + n) / 2, d) - log_gamma_d(df / 2, d) + entropy
    if (pass > 2L && bound < old - 1e-8 * abs(old)) stop("the twin's bound fell")
    if (bound - old < tol) break
  }
  list(coefficients = b, covariance = s, bound = bound, mean = mu, precision = precision,
       filled = filled, spread = spread, passes = pass, inverse_u = inverse_u,
       sigma = scatter / (df + n - d - 1))
}

log_gamma_d <- function(x, d) sum(lgamma(x - (seq_len(d) - 1) / 2))

# Predictors with a share of the values of some columns missing completely at random.
simulate_missing <- function(n, d, share, columns = d, seed = 1, slope = 1) {
  set.seed(seed)
  sigma <- 0.5^abs(outer(seq_len(d), seq_len(d), "-"))
  x <- matrix(stats::rnorm(n * d), n) %*% chol(sigma)
  colnames(x) <- paste0("x", seq_len(d))
  y <- ifelse(stats::runif(n) < stats::plogis(slope * drop(x %*% rep_len(c(2, -1), d))), 1, -1)
  full <- x
  x[, columns][stats::runif(n * length(columns)) < share] <- NA
  list(x = x, y = y, full = full)
}
