# What the exact posterior is known by: points weighted by importance or, where that fails, chains.
#
# Either is list(method, values, weights, mean_error, sd_error, pareto_k, ess, draws): quantities x
# draws with weights that sum to one, and for each quantity the Monte Carlo errors of its mean (in
# its standard deviations) and of the log of its standard deviation, and whether its tail is too
# `heavy` for the latter; `seconds` of chains is about how long the engine takes with its own
# settings.

# `number`: how many points, NULL for as many as the table needs. `decided(sample)`: do they do?
exact_sample <- function(target, number, decided) {
  weighted <- weighted_sample(target, number, decided)
  if (is_usable(weighted)) return(weighted)
  chains <- chain_sample(target, decided)
  if (!is.null(chains)) {
    chains["pareto_k"] <- list(if (is.null(weighted)) NA_real_ else weighted$pareto_k)
    return(chains)
  }
  if (is.null(weighted)) {
    abort("unsupported", "check_approximation() requires draws from the exact posterior, and no ",
          "engine has them for this model. Compare the fit with update(fit, engine = ",
          "engine_gaussian()), or use likelihood_hinge(), which engine_gibbs() supports.")
  }
  weighted
}

highest_k <- 0.7
least_ess <- 100

is_usable <- function(sample) {
  if (is.null(sample)) return(FALSE)
  if (sample$method == "chains") return(meets(sample, usable_chains))
  sample$pareto_k < highest_k && sample$ess >= least_ess
}

meets <- function(chains, limits) chains$rhat <= limits$rhat && chains$ess >= limits$ess

# ---- importance sampling ------------------------------------------------------------------------

# Of more unknowns than this the weights are unusable, or the chains quicker.
most_weighted <- 100L

# NULL where points can't be weighed: too many unknowns, effects that are not integrated out, no
# Gaussian to start from.
weighted_sample <- function(target, number, decided) {
  fit <- target$fit
  if (length(fit$groups) > 0L && target$integrated == 0L) return(NULL)
  most <- if (is.null(number)) most_points(target) else number
  if (unknown_count(target) > most_weighted || most < first_points) return(NULL)
  posterior <- gaussian_answer(target)
  if (is.null(posterior) || (nrow(posterior$theta) > 0L && ncol(posterior$theta) == 1L)) {
    return(NULL)
  }
  proposal <- new_proposal(posterior, target)
  points <- list(values = NULL, log_ratio = NULL)
  repeat {
    have <- length(points$log_ratio)
    points <- more_points(points, proposal, target,
                          if (is.null(number)) max(first_points, have) else number)
    sample <- new_weighted(points)
    if (length(points$log_ratio) >= most || !is_usable(sample) || decided(sample)) return(sample)
  }
}

unknown_count <- function(target) {
  fit <- target$fit
  others <- if (target$integrated > 0L) fit$groups[-target$integrated] else fit$groups
  fit_layout(fit)$size + length(fit$design$sparse) + sum(effect_counts(others)) +
    sum(vapply(all_blocks(fit), free_size, 0))
}

first_points <- 1000L

# About what the core looks at in two seconds; below `first_points` chains are quicker. A point costs
# rows x columns, the more by these factors where effects of a level (one, two) are integrated out.
most_points <- function(target) {
  at <- target$integrated
  effects <- if (at > 0L) length(target$fit$groups[[at]]$labels) else 0L
  factor <- if (is_normalised(target$fit$likelihood)) c(1, 30, 2000) else c(1, 3, 400)
  one <- length(target$problem$y) * (20 + ncol(target$problem$x)) * factor[effects + 1L]
  as.integer(min(16000, first_points * 2^floor(log2(3e6 / one))))
}

more_points <- function(points, proposal, target, number) {
  size <- 2^22 / max(1, unknown_count(target) + length(target$problem$y) / 16)
  in_chunks(number, size, function(at) {
    new <- proposal$draw(length(at))
    points$log_ratio <<- c(points$log_ratio,
                           target_log_density(target, new) - proposal$log_density(new))
    points$values <<- cbind(points$values, point_quantities(target$fit, new, target$integrated))
  })
  points
}

new_weighted <- function(points) {
  smoothed <- smoothed_weights(check_ratios(points$log_ratio))
  values <- points$values
  weights <- smoothed$weights
  mean <- drop(values %*% weights)
  square <- (values - mean)^2
  variance <- drop(square %*% weights)
  list(method = "importance", values = values, weights = weights,
       mean_error = sqrt(drop(square %*% weights^2) / variance),
       sd_error = sqrt(drop((square / variance - 1)^2 %*% weights^2)) / 2,
       heavy = heavy_rows(values, weights), pareto_k = smoothed$k, ess = 1 / sum(weights^2),
       draws = length(weights))
}

# Draws the exact posterior rules out weigh nothing, and count in k as the lightest.
check_ratios <- function(log_ratio) {
  finite <- is.finite(log_ratio)
  if (!all(finite | log_ratio %in% -Inf) || sum(finite) < least_draws / 2) {
    abort("numerical", "The posterior density could not be computed at ", sum(!finite), " of ",
          length(finite), " draws. Check the scale of predictors and priors, and whether the ",
          "classes are separated.")
  }
  log_ratio[!finite] <- min(log_ratio[finite]) - 700
  log_ratio - max(log_ratio)
}

# list(k, weights) of log ratios.
smoothed_weights <- function(log_ratio) {
  n <- length(log_ratio)
  if (diff(range(log_ratio)) < 1e-9) return(list(k = 0, weights = rep(1 / n, n)))
  smoothed <- suppressWarnings(loo::psis(log_ratio, r_eff = 1))
  list(k = smoothed$diagnostics$pareto_k[[1L]],
       weights = as.vector(stats::weights(smoothed, log = FALSE)))
}

# Which standard deviations have too heavy a tail for their own standard deviation to be estimated:
# the shape of the tail of what their variance is the mean of. With a vague prior and few
# coefficients or levels it is nearly infinite.
highest_row_k <- 0.5

heavy_rows <- function(values, weights) {
  vapply(seq_len(nrow(values)), function(k) {
    if (!startsWith(rownames(values)[k], "sd_")) return(FALSE)
    away <- abs(values[k, ] - sum(values[k, ] * weights) / sum(weights))
    own <- away > 0 & weights > 0
    smoothed_weights(log(away[own]^2 * weights[own]))$k > highest_row_k
  }, TRUE)
}

# ---- chains -------------------------------------------------------------------------------------

chain_number <- 4L
chain_draws <- c(250L, 1000L, 4000L) # a chain, of which the first two fifths more are burn-in
good_chains <- list(rhat = 1.02, ess = 400)
usable_chains <- list(rhat = 1.05, ess = 100)

# Short chains, longer ones where these do not do; NULL if no engine draws from such a posterior.
chain_sample <- function(target, decided) {
  engine <- target_engine(target)
  if (is.null(engine)) return(NULL)
  full <- with(engine$settings, chains * (burnin + draws * thin))
  for (draws in chain_draws) {
    short <- engine
    short$settings[c("draws", "burnin", "chains", "keep_effects")] <-
      list(draws, as.integer(0.4 * draws), chain_number, !is.null(target$fit$design$sparse))
    started <- proc.time()[["elapsed"]]
    sample <- new_chains(short, target)
    if (meets(sample, good_chains) && (draws > chain_draws[1L] || decided(sample))) break
  }
  taken <- proc.time()[["elapsed"]] - started
  sample$seconds <- taken * full / (1.4 * draws * chain_number)
  sample$engine <- paste0("engine_", engine$name, "()")
  sample
}

new_chains <- function(engine, target) {
  spec <- target_spec(target, engine)
  control <- bsvm_control(threads = target$threads, verbose = target$fit$control$verbose)
  run <- suppressWarnings(run_sampler(spec, control))
  fit <- target$fit
  fit[c("posterior", "sampling")] <- run[c("posterior", "sampling")]
  values <- drawn_quantities(fit)
  chains <- array(values, c(nrow(values), engine$settings$draws, chain_number))
  found <- vapply(seq_len(nrow(values)), function(k) chain_worth(chains[k, , ]), numeric(4L))
  list(method = "chains", values = values, weights = rep(1 / ncol(values), ncol(values)),
       mean_error = 1 / sqrt(found[2L, ]), sd_error = found[4L, ],
       heavy = heavy_rows(values, rep(1, ncol(values))), ess = min(found[2:3, ]),
       rhat = max(found[1L, ]), draws = ncol(values))
}

# Rhat, effective draws of the mean (bulk and not), and the error of the log of the sd.
chain_worth <- function(x) {
  suppressWarnings(c(
    posterior::rhat(x), posterior::ess_mean(x), posterior::ess_bulk(x),
    posterior::mcse_sd(x) / stats::sd(x)
  ))
}
