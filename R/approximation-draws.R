# Draws from the exact posterior: points weighted by importance or, if that fails, chains.
#
# Either is list(method, values, weights, mean_error, sd_error, tail, pareto_k, ess, draws). Values
# are quantities x draws, with weights that sum to one. For each quantity there are the Monte Carlo
# errors of its mean (in its standard deviations) and of the log of its standard deviation, and the
# shape of the tail of its squared deviations. `seconds` of chains is about how long the engine
# takes with its own settings.

# `number`: how many points, NULL for as many as the table needs. `decided(sample)`: do they do?
# A coefficient's heavy tail may be one of the weights alone: then chains have none.
exact_sample <- function(target, number, decided) {
  weighted <- weighted_sample(target, number, decided)
  coefficients <- seq_along(target$fit$design$columns)
  good <- is_usable(weighted)
  if (good && !any(has_heavy_tail(weighted)[coefficients])) return(weighted)
  chains <- chain_sample(target, number, decided)
  if (good && !(is_usable(chains) && same_size(weighted, chains, coefficients))) return(weighted)
  if (!is.null(chains)) {
    chains["pareto_k"] <- list(if (is.null(weighted)) NA_real_ else weighted$pareto_k)
    return(chains)
  }
  if (is.null(weighted)) {
    abort("unsupported", "check_approximation() requires draws from the exact posterior, and no ",
          "engine has them for this model. ",
          if (!is_approximation(target$fit$engine) || is_mode(target$fit$engine))
            "Compare the fit with update(fit, engine = engine_gaussian()), or use "
          else "Use ",
          "likelihood_hinge(), which engine_gibbs() supports.")
  }
  weighted
}

# Are these rows' standard deviations within a factor of two?
same_size <- function(one, other, rows) {
  sds <- function(sample) {
    values <- sample$values[rows, , drop = FALSE]
    sqrt(drop((values - drop(values %*% sample$weights))^2 %*% sample$weights))
  }
  all(sds(one) <= 2 * sds(other) & sds(other) <= 2 * sds(one))
}

highest_k <- 0.7
least_ess <- 100
hopeless_k <- 1 # of few points k is a rough estimate: up to here more are drawn

is_usable <- function(sample) {
  if (is.null(sample)) return(FALSE)
  if (sample$method == "chains") return(meets(sample, usable_chains))
  sample$pareto_k < highest_k && sample$ess >= least_ess
}

meets <- function(chains, limits) chains$rhat <= limits$rhat && chains$ess >= limits$ess

# ---- importance sampling ------------------------------------------------------------------------

# With more unknown parameters than this the weights are unusable, or chains are quicker.
most_weighted <- 100L

# NULL where points can't be weighted: too many unknowns, effects that are not integrated out, no
# Gaussian to start from.
weighted_sample <- function(target, number, decided) {
  fit <- target$fit
  if (length(fit$groups) > 0L && target$integrated == 0L) return(NULL)
  most <- if (is.null(number)) most_points(target) else number
  slow <- is.null(number) && most < first_points
  unknowns <- unknown_count(target)
  nothing <- unknowns == sum(vapply(all_blocks(fit), free_size, 0)) # no coefficients
  if (slow || nothing || unknowns > most_weighted) return(NULL)
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
    if ((is_usable(sample) && decided(sample)) || sample$pareto_k > hopeless_k ||
          sample$draws >= most) return(sample)
  }
}

unknown_count <- function(target) {
  fit <- target$fit
  others <- if (target$integrated > 0L) fit$groups[-target$integrated] else fit$groups
  fit_layout(fit)$size + length(fit$design$sparse) + sum(effect_counts(others)) +
    sum(vapply(all_blocks(fit), free_size, 0))
}

first_points <- 1000L

# About what the core looks at in two seconds; below `first_points` chains are quicker. A point
# costs rows x columns, the more where effects of a level are integrated out.
most_points <- function(target) {
  at <- target$integrated
  effects <- if (at > 0L) length(target$fit$groups[[at]]$labels) else 0L
  one <- length(target$problem$y) * (20 + length(target$fit$design$columns)) *
    integral_costs(target$fit$likelihood)[effects + 1L]
  as.integer(min(16000, first_points * 2^floor(log2(3e6 / one))))
}

# Far out a standard deviation may be infinite; the weight of its point is then next to nothing.
largest_value <- 1e50

more_points <- function(points, proposal, target, number) {
  size <- min(1000, 2^22 / unknown_count(target))
  started <- proc.time()[["elapsed"]]
  in_chunks(number, size, function(at) {
    say_draws(at[1L] - 1L, number, started, target)
    new <- proposal$draw(length(at))
    points$log_ratio <<- c(points$log_ratio,
                           target_log_density(target, new) - attr(new, "log_density"))
    values <- point_quantities(target$fit, new, target$integrated)
    values[] <- pmin(pmax(values, -largest_value), largest_value)
    points$values <<- cbind(points$values, values)
  })
  points
}

# In each chunk after the first ten seconds.
say_draws <- function(done, number, started, target) {
  taken <- proc.time()[["elapsed"]] - started
  if (taken < 10 || isFALSE(target$fit$control$verbose)) return(invisible())
  message("check_approximation(): ", done, " of ", number, " draws, about ",
          words_for_seconds(taken * (number - done) / done), " left")
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
       tail = row_tails(square, weights), pareto_k = smoothed$k, ess = 1 / sum(weights^2),
       draws = length(weights))
}

# Draws that the exact posterior rules out have no weight, and count in k as the lightest.
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

# With a vague prior and few coefficients or levels, or separated classes, a variance may be nearly
# infinite: the shape of each row's tail as Pareto k. Only rows of which a few draws are a good part
# of all are looked at.
large_share <- 0.02

row_tails <- function(square, weights) {
  share <- square * rep(weights, each = nrow(square))
  total <- rowSums(share)
  largest <- over_columns(share, pmax)
  vapply(seq_len(nrow(share)), function(k) {
    if (!isTRUE(largest[k] > large_share * total[k])) return(0)
    own <- share[k, ] > 0
    smoothed_weights(log(share[k, own]) - log(total[k]))$k
  }, 0)
}

# ---- chains -------------------------------------------------------------------------------------

chain_number <- 4L
chain_draws <- c(240L, 960L, 4800L) # in each chain, after two fifths as many of burn-in
good_chains <- list(rhat = 1.02, ess = 400)
usable_chains <- list(rhat = 1.05, ess = 150)

# Short chains, longer ones where these do not do; NULL if no engine draws from such a posterior.
chain_sample <- function(target, number, decided) {
  engine <- target_engine(target)
  if (is.null(engine)) return(NULL)
  full <- with(engine$settings, chains * (burnin + draws * thin))
  rounds <- if (!is.null(number)) 8L * as.integer(ceiling(number / (8L * chain_number)))
            else if (unknown_count(target) > most_weighted) chain_draws[-1L] else chain_draws
  begun <- proc.time()[["elapsed"]]
  for (draws in rounds) {
    say_round(draws, begun, target)
    short <- engine
    short$settings[c("draws", "most", "burnin", "chains", "keep_effects")] <-
      list(draws, 0L, as.integer(0.4 * draws), chain_number, !is.null(target$fit$design$sparse))
    started <- proc.time()[["elapsed"]]
    sample <- new_chains(short, target)
    if (meets(sample, good_chains) && decided(sample)) break
    if (meets(sample, usable_chains) && draws > chain_draws[1L]) break
  }
  taken <- proc.time()[["elapsed"]] - started
  sample$seconds <- taken * full / (1.4 * draws * chain_number)
  sample$engine <- engine_call(engine)
  sample
}

# With thousands of coefficients what is made of the draws takes longer than these.
say_round <- function(draws, begun, target) {
  taken <- proc.time()[["elapsed"]] - begun
  if (taken < 3 || isFALSE(target$fit$control$verbose)) return(invisible())
  message("check_approximation(): goes on with ", chain_number, " chains of ", draws, " draws, ",
          "about ", words_for_seconds(taken * 5))
}

new_chains <- function(engine, target) {
  spec <- target_spec(target, engine)
  control <- bsvm_control(threads = target$threads, verbose = target$fit$control$verbose)
  run <- suppressWarnings(run_sampler(spec, control))
  fit <- target$fit
  fit[c("posterior", "sampling")] <- run[c("posterior", "sampling")]
  values <- drawn_quantities(fit)
  c(list(method = "chains", values = values, weights = rep(1 / ncol(values), ncol(values)),
         draws = ncol(values)), chain_worth(values))
}

# list(mean_error, sd_error, ess, rhat) of draws, chain by chain: errors from the means of batches,
# eight a chain, R-hat from half chains.
chain_worth <- function(values) {
  batches <- 8L * chain_number
  mean <- rowMeans(values)
  square <- (values - mean)^2
  variance <- rowMeans(square)
  error <- function(x) sqrt(row_variances(batch_means(x, batches)) / batches)
  mean_error <- error(values) / sqrt(variance)
  between <- row_variances(batch_means(values, 2L * chain_number))
  list(mean_error = mean_error, sd_error = error(square) / variance / 2,
       tail = row_tails(square, rep(1, ncol(values))), ess = 1 / max(mean_error)^2,
       rhat = sqrt(1 + max(between / (variance - between))))
}

batch_means <- function(x, number) {
  size <- ncol(x) / number
  stack_columns(lapply(seq_len(number), function(k) {
    rowMeans(x[, (k - 1L) * size + seq_len(size), drop = FALSE])
  }))
}
