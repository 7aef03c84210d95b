# Long runs of Hamiltonian Monte Carlo on the exact posteriors of the studies (studies.R) under both
# likelihoods, minutes each: made once, stored with machine and versions.
# Rscript bench/exact.R [study ...] writes bench/results/exact.csv; gaussian.R reads it.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
options(bsvm.bench = dirname(normalizePath(file)), width = 120L)
suppressPackageStartupMessages(library(bsvm))
for (part in c("figures.R", "timing.R", "machine.R", "papers.R", "studies.R", "exact-density.R",
               "hmc.R", "exact-store.R"))
  source(file.path(getOption("bsvm.bench"), part))

chains <- 4L
draws_a_chain <- c(toenail = 2500L, pima = 5000L, sonar = 5000L, spam = 5000L, verbagg = 2500L)

exact_moments <- function(study, fit, draws) {
  density <- exact_density(study, fit)
  guess <- joint_guess(fit)
  if (fit$posterior$integrated > 0L) check_integral(study, fit, density, guess)
  draws <- hmc(density, guess$mean, guess$covariance, draws, chains)
  kept <- c(seq_along(fixef(fit)), layout_of(fit)$size + seq_len(nrow(fit$posterior$theta)))
  rows <- lapply(kept, function(k) moments_of(draws[, , k]))
  cbind(parameter = fit_moments(fit)$parameter, do.call(rbind, rows),
        accepted = attr(draws, "accepted"))
}

moments_of <- function(draws) {
  data.frame(mean = mean(draws), sd = stats::sd(draws), error = posterior::mcse_mean(draws),
             size = posterior::ess_bulk(draws), rhat = posterior::rhat(draws))
}

# Mean and covariance of coefficients, other effects and log standard deviations by the engine:
# what the sampler whitens with.
joint_guess <- function(fit) {
  parts <- fit$posterior$components
  joint <- if (is.null(parts[[1L]]$joint_mean)) c("mean", "covariance")
           else c("joint_mean", "joint_covariance")
  means <- rbind(vapply(parts, function(part) part[[joint[1L]]], parts[[1L]][[joint[1L]]]),
                 fit$posterior$theta)
  within <- Reduce(`+`, Map(function(part, weight) weight * part[[joint[2L]]], parts,
                            fit$posterior$weights))
  between <- stats::cov.wt(t(means), fit$posterior$weights, method = "ML")
  at <- seq_len(nrow(within))
  between$cov[at, at] <- between$cov[at, at] + within
  list(mean = between$center, covariance = between$cov)
}

# The core's integral against a sum over a grid, here and there: a hundredth of a nat is less than a
# sampler can notice.
check_integral <- function(study, fit, density, guess) {
  set.seed(2L)
  points <- replicate(3L, guess$mean + drop(t(chol(guess$covariance)) %*%
                                               stats::rnorm(length(guess$mean))))
  layout <- layout_of(fit)
  difference <- apply(points, 2L, function(x) {
    prior <- add(flat_law(x, layout$flat), ridge_laws(x, layout$ridges))
    density(x)$value - prior$value - grid_loglik(study, fit, x)
  })
  message("  core's integral less a sum over a grid: ", toString(signif(difference, 2L)))
  stopifnot(max(abs(difference)) < 1e-2)
}

run_exact <- function(name, likelihood) {
  message(name, ", ", likelihood, " ...")
  study <- studies[[name]]()
  fit <- fit_study(study, likelihood, engine_gaussian())
  draws <- draws_a_chain[[name]]
  moments <- NULL
  taken <- seconds(function() moments <<- exact_moments(study, fit, draws))
  store_exact(name, likelihood, cbind(moments, draws = chains * draws, seconds = taken))
}

chosen <- commandArgs(trailingOnly = TRUE)
for (name in if (length(chosen)) chosen else names(studies))
  for (likelihood in names(likelihoods)) run_exact(name, likelihood)
