# Two classes, or numbers, that depend on the first of a few factors of many variables.
factor_data <- function(n = 60L, p = 20L, k = 2L, seed = 1, noise = 1) {
  set.seed(seed)
  w <- matrix(rnorm(n * k), n)
  x <- w %*% matrix(rnorm(k * p), k) + noise * rnorm(n * p)
  colnames(x) <- paste0("g", seq_len(p))
  d <- data.frame(y = factor(ifelse(1.5 * w[, 1L] + rnorm(n) > 0, "yes", "no")), age = rnorm(n),
                  z = 3 * w[, 1L] + rnorm(n), x)
  d$x <- x
  attr(d, "scores") <- w
  d
}

few_draws <- function(draws = 60L, burnin = 60L, chains = 2L, ...) {
  engine_gibbs(draws = draws, burnin = burnin, chains = chains, ...)
}

# Draws so few that chains have not met yet.
quiet_factors <- function(formula, data, ..., engine = few_draws()) {
  suppressWarnings(bsvm(formula, data, ..., engine = engine), classes = "bsvm_warning_convergence")
}

# Scores of one standardised row given its variables, those missing left out, and of a draw its share
# of the link: dense and by the definition, from the joint normal distribution of x and w.
plain_row <- function(x, mean, loadings, noise, beta) {
  seen <- which(!is.na(x))
  k <- ncol(loadings)
  a <- loadings[seen, , drop = FALSE]
  marginal <- a %*% t(a) + diag(1 / rep_len(noise, nrow(loadings))[seen], length(seen))
  gain <- if (length(seen) > 0L) t(a) %*% solve(marginal) else matrix(0, k, 0L)
  score <- drop(gain %*% (x[seen] - mean[seen]))
  covariance <- diag(k) - gain %*% a
  list(score = score, covariance = covariance, mean = sum(score * beta),
       variance = drop(beta %*% covariance %*% beta))
}

# That of the rows `x` (standardised) for kept draw j of a chain.
plain_links <- function(fit, x, j, chain) {
  kept <- fit$posterior$factors$kept
  lapply(seq_len(nrow(x)), function(i) {
    plain_row(x[i, ], kept$mean[, j, chain],
              matrix(kept$loadings[, , j, chain], ncol(x)), kept$noise[, j, chain],
              kept$beta[, j, chain])
  })
}
