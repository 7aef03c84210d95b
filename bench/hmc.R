# Hamiltonian Monte Carlo in plain R: exact draws from any log density with a gradient, to measure
# the deterministic engines against. A Gaussian guess whitens the coordinates; a bad one costs time
# only. Kinks of the density cost acceptance, not exactness.

# log_density(x): list(value, gradient). Chains start scattered twice as wide as the guess; returns
# an array draws x chains x dimensions, with the share of proposals accepted.
hmc <- function(log_density, mean, covariance, draws, chains = 4L, ..., seed = 1L) {
  set.seed(seed)
  root <- t(chol(covariance))
  look <- function(z) {
    at <- log_density(mean + drop(root %*% z))
    list(value = at$value, gradient = drop(crossprod(root, at$gradient)))
  }
  runs <- lapply(seq_len(chains), function(chain) {
    hmc_chain(look, 2 * stats::rnorm(length(mean)), draws, ...)
  })
  moved <- vapply(runs, function(run) mean + root %*% t(run$z), matrix(0, length(mean), draws))
  structure(aperm(moved, c(2L, 3L, 1L)), accepted = mean(vapply(runs, `[[`, 0, "accepted")))
}

# The warm-up finds a step with which 0.8 of the proposals are accepted.
hmc_chain <- function(look, z, draws, warmup = 500L, path = 1.6) {
  state <- list(z = z, here = look(z))
  step <- 0.5 * length(z)^-0.25
  out <- matrix(0, draws, length(z))
  accepted <- 0
  for (k in seq_len(warmup + draws)) {
    steps <- max(1L, round(path * stats::runif(1L, 0.5, 1.5) / step))
    proposal <- leapfrog(state$z, state$here, look, step, steps)
    accept <- log(stats::runif(1L)) < proposal$energy
    if (accept) state <- proposal[c("z", "here")]
    if (k <= warmup) {
      step <- step * exp((min(1, exp(proposal$energy)) - 0.8) / sqrt(k))
    } else {
      accepted <- accepted + accept
      out[k - warmup, ] <- state$z
    }
  }
  list(z = out, accepted = accepted / draws)
}

# `energy`: log of the ratio that a proposal is accepted by, -Inf where the density is not finite.
leapfrog <- function(z, here, look, step, steps) {
  p <- stats::rnorm(length(z))
  start <- here$value - sum(p^2) / 2
  p <- p + step / 2 * here$gradient
  for (k in seq_len(steps)) {
    z <- z + step * p
    here <- look(z)
    if (!is.finite(here$value)) return(list(z = z, here = here, energy = -Inf))
    p <- p + step * here$gradient
  }
  p <- p - step / 2 * here$gradient
  energy <- here$value - sum(p^2) / 2 - start
  list(z = z, here = here, energy = if (is.nan(energy)) -Inf else energy)
}
