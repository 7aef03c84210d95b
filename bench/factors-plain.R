# A plain Gibbs sampler of the linear factor model under the pseudo-likelihood, with latent scales (001,
# section 5, corrected; fixed variances one, common noise): each of scores, coefficients, latent
# scales, loadings and noise given all others. x standardised, y -1 or 1.
# w (n, K) scores; a (p, K + 1) means and loadings; b (K + 1) intercept and coefficients; psi precision
# of the noise; tau (n) reciprocals of the latent scales.

plain_factor_draws <- function(x, y, k, draws, burnin) {
  n <- nrow(x)
  p <- ncol(x)
  normal <- function(rows, columns = 1L) matrix(stats::rnorm(rows * columns), rows)
  axes <- svd(x, k, 0)
  w <- sqrt(n) * axes$u
  b <- numeric(k + 1L)
  psi <- 1
  tau <- rep(1, n)
  squares <- sum(x^2)
  kept <- matrix(0, draws, 4L, dimnames = list(NULL, c("leftover", "explained", "offset", "psi")))
  for (s in seq_len(burnin + draws)) {
    # means and loadings, in a's rows: one precision for all variables
    w1 <- cbind(1, w)
    root <- chol(psi * crossprod(w1) + diag(k + 1L))
    to <- crossprod(w1, x)
    a <- t(backsolve(root, forwardsolve(t(root), psi * to) + normal(k + 1L, p)))
    left <- squares - 2 * sum(t(a) * to) + sum(crossprod(a) * crossprod(w1))
    psi <- stats::rgamma(1L, 1 + n * p / 2, 1 + left / 2)
    # scores given b and the latent scales: from their law given x, moved to the pseudo-responses
    loadings <- a[, -1L, drop = FALSE]
    inner <- chol(diag(k) + psi * crossprod(loadings))
    s_matrix <- chol2inv(inner)
    m <- psi * (x %*% loadings - rep(crossprod(loadings, a[, 1L]), each = n)) %*% s_matrix
    beta <- b[-1L]
    along <- drop(s_matrix %*% beta)
    v <- sum(beta * along)
    w <- m + t(backsolve(inner, normal(k, n)))
    z <- y * (1 + 1 / tau) - b[1L]
    off <- (z - w %*% beta - stats::rnorm(n) / sqrt(tau)) / (v + 1 / tau)
    w <- w + off %*% along
    # coefficients and latent scales
    w1 <- cbind(1, w)
    root <- chol(crossprod(w1 * sqrt(tau)) + diag(k + 1L))
    b <- drop(backsolve(root, forwardsolve(t(root), crossprod(w1, y * (tau + 1))) + normal(k + 1L)))
    u <- abs(1 - y * drop(w1 %*% b))
    tau <- inverse_gaussian(1 / pmax(u, 1e-10))
    if (s > burnin) {
      beta <- b[-1L]
      f <- m %*% beta
      kept[s - burnin, ] <- c(sum(beta * (s_matrix %*% beta)), stats::var(f) * (n - 1) / n,
                              b[1L] + mean(f), psi)
    }
  }
  kept
}

# With shape one (Michael, Schucany and Haas 1976).
inverse_gaussian <- function(mean) {
  z <- stats::rnorm(length(mean))^2
  small <- mean + mean^2 * z / 2 - mean / 2 * sqrt(4 * mean * z + mean^2 * z^2)
  small <- pmax(small, 1e-300)
  ifelse(stats::runif(length(mean)) <= mean / (mean + small), small, mean^2 / small)
}
