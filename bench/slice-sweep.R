# A sweep of engine_slice() over the dense coefficients of spam beside what it cannot avoid: two
# products of the n x P matrix with a vector, and a look at the n terms of the likelihood for every
# trial on an ellipse.

sweep_figures <- function() {
  reasons <- c(sweep_limit_missing(), blas_missing())
  if (any(nzchar(reasons)))
    return(skipped("a sweep / its limit", paste(reasons, collapse = " ")))
  study <- studies$spam()
  rbind(limit_figures(study, "pseudo"), limit_figures(study, "normalised"))
}

limit_figures <- function(study, likelihood) {
  fit <- fit_study(study, likelihood, engine_gaussian())
  trials <- mean_trials(fit, study, likelihood)
  looks <- trials * ceiling(length(fixef(fit)) / 4)
  seen <- sweep_beside_limit(study, likelihood, fit)
  limit <- 2 * seen[["dgemv"]] + looks * seen[["terms"]]
  title <- function(what) sprintf("spam, %s: %s", likelihood, what)
  rbind(figure(title("trials on an ellipse of four, counted on the same density"), trials, ""),
        figure(title("OpenBLAS dgemv, n x P"), 1e3 * seen[["dgemv"]], "ms"),
        figure(title("n terms of the likelihood"), 1e3 * seen[["terms"]], "ms"),
        figure(title("a sweep"), 1e3 * seen[["sweep"]], "ms"),
        figure(title("a sweep / (2 dgemv + trials x terms)"), seen[["sweep"]] / limit, "ratio",
               at_most = 3))
}

# Medians of turns.
sweep_beside_limit <- function(study, likelihood, fit, turns = 7L) {
  y <- signs_of(study)
  n <- length(y)
  turn <- function(seed) {
    blas <- blas_limit(n, length(fixef(fit)))
    terms <- sweep_limit(y, fitted(fit), rep(0, n), matrix(0, n, 0L), repeats = 501L)
    c(dgemv = blas$dgemv, terms = terms[[likelihood]], sweep = sweep_seconds(study, likelihood))
  }
  apply(vapply(seq_len(turns), turn, c(dgemv = 0, terms = 0, sweep = 0)), 1L, stats::median)
}

sweep_seconds <- function(study, likelihood, draws = 500L) {
  seconds_of <- function(draws) {
    engine <- engine_slice(draws = draws, burnin = 200L, chains = 1L)
    run_sampler(study, likelihood, engine, seed = 1L)$sampling$seconds
  }
  (seconds_of(draws) - seconds_of(1L)) / (draws - 1)
}

signs_of <- function(study) {
  answer <- study[[2L]][[all.vars(study[[1L]])[1L]]]
  ifelse(answer == levels(answer)[2L], 1, -1)
}

# ---- trials, counted by the same ellipses in plain R, with the penalty held at its mean --------

mean_trials <- function(fit, study, likelihood, sweeps = 50L) {
  set.seed(1L)
  density <- white_density(fit, study, likelihood)
  z <- numeric(length(fixef(fit)))
  blocks <- split(seq_along(z), (seq_along(z) - 1L) %/% 4L)
  counts <- matrix(0, length(blocks), sweeps)
  for (sweep in seq_len(sweeps)) for (k in seq_along(blocks)) {
    moved <- ellipse_move(density, z, blocks[[k]])
    z <- moved$z
    counts[k, sweep] <- moved$trials
  }
  mean(counts[, -seq_len(10L)])
}

# log of the posterior over the normal law that whitens it.
white_density <- function(fit, study, likelihood) {
  margins <- signs_of(study) * stats::model.matrix(study[[1L]], study[[2L]])
  centre <- fixef(fit)
  root <- t(chol(vcov(fit)))
  logs <- log_sd_moments(fit)
  sd <- c(1e4, rep(exp(logs$mean[1L]), length(centre) - 1L))
  function(z) {
    b <- centre + drop(root %*% z)
    sum(hinge_terms(drop(margins %*% b), likelihood)) - sum((b / sd)^2) / 2 + sum(z^2) / 2
  }
}

hinge_terms <- function(margin, likelihood) {
  right <- -2 * pmax(0, 1 - margin)
  if (likelihood == "pseudo") return(right)
  wrong <- -2 * pmax(0, 1 + margin)
  right - pmax(right, wrong) - log1p(exp(-abs(right - wrong)))
}

ellipse_move <- function(density, z, at) {
  nu <- stats::rnorm(length(at))
  level <- density(z) + log(stats::runif(1L))
  high <- stats::runif(1L, 0, 2 * pi)
  angle <- high
  low <- high - 2 * pi
  for (trials in seq_len(200L)) {
    trial <- replace(z, at, cos(angle) * z[at] + sin(angle) * nu)
    if (density(trial) > level) break
    if (angle < 0) low <- angle else high <- angle
    angle <- stats::runif(1L, low, high)
  }
  list(z = trial, trials = trials)
}
