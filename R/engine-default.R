# The engine of `engine = NULL`: the cheapest one whose answer is near the exact posterior, means
# within a tenth of a standard deviation, standard deviations within 10 %, variances within 20 %.
# What is near was measured once, structure by structure and size by size: bench/default-engine.R,
# with its figures in bench/results/default-engine.csv. Nothing is timed when a model is fitted, so
# that the same data have the same engine on every machine.
#
#   few rows        posteriors are skewed, draws are cheap        engine_slice()
#   many rows       the posterior is nearly normal                engine_gaussian(); if it turns out
#                                                                 skewed (below), engine_slice()
#   kernels that are inferred   columns are made anew for each draw   engine_gaussian()
#   several effects for each level, nested factors, large crossed ones
#                   covariances are skewed, and lattices of three
#                   numbers slow                                  engine_slice()
#   priors that select, bridge and lasso priors                   engine_gibbs(), and engine_vb()
#                                                                 with a message if draws take too
#                                                                 long
few_rows <- 200
few_cells <- 4000      # rows times coefficients: half a second of draws
most_cells <- 5e4      # five seconds
most_columns <- 60     # next to several effects or factors
most_structured <- 1e7
most_crossed <- 40     # levels of the smaller crossed factors together
most_gram <- 1e6       # rows times squared coefficients in each of Gibbs sampling's iterations

default_engine <- function(frame, likelihood, assigned) {
  if (has_factors(frame)) return(factor_engine())
  if (is_streamed(frame)) return(streamed_engine(frame, likelihood, assigned))
  for_sparse <- sparse_engine(frame, likelihood, assigned)
  if (!is.null(for_sparse)) {
    return(chosen(for_sparse, switch(
      for_sparse,
      gaussian = "near the exact posterior for this structure and size",
      map = "a point estimate, as the covariance of this many sparse predictors is too large"
    )))
  }
  draws <- draws_are_better(frame) && suits_draws(frame) && !may_interpolate(frame, likelihood)
  first <- if (draws) "slice" else "gaussian"
  draws <- if (draws_are_cheap(frame, assigned)) c("gibbs", "vb") else c("vb", "gibbs")
  candidates <- unique(c(first, "gaussian", "slice", draws, "em"))
  able <- Find(function(name) can_take(name, frame, likelihood, assigned), candidates)
  if (identical(able, "vb")) tell_vb()
  chosen(c(able, candidates)[1L], switch(
    c(able, candidates)[1L],
    slice = if (is_structured(frame$groups)) "exact draws, for this structure of groups"
            else "exact draws, for few rows",
    gaussian = "near the exact posterior for this structure and size",
    gibbs = "exact draws under this prior",
    vb = "an approximation, since draws would take long",
    "point estimates"
  ))
}

# `chosen`: why, for print().
chosen <- function(name, why) {
  engine <- as_component(name, "engine")
  engine$chosen <- why
  engine
}

cells <- function(frame) as.numeric(length(frame$y)) * max(1, length(frame$columns))

# With a length scale that is inferred draws of 200 rows take fifty times as long: 25 s for 0.5 s, and
# four minutes if the classes can be separated.
suits_draws <- function(frame) draws_know_all(frame) && length(learned_bases(frame)) == 0L

# Samplers have no variance that inducing points leave over: without it amplitudes grow, and separate
# the rows (USPS, 25 points that leave over 0.3 %: log score -0.151, -0.109 by engine_gaussian()).
draws_know_all <- function(frame) is.null(frame$left_over)

draws_are_better <- function(frame) {
  if (length(frame$groups) == 0L) return(length(frame$y) <= few_rows && cells(frame) <= few_cells)
  is_structured(frame$groups) && length(frame$columns) <= most_columns &&
    cells(frame) <= most_structured
}

# Where coefficients can fit all rows exactly, an inferred scale of residuals goes near zero with
# them, which chains leave slowly; the Gaussian engine's means and standard deviations are within 4
# % of long chains there.
may_interpolate <- function(frame, likelihood) {
  has_parameters(likelihood) && length(frame$columns) > length(frame$y)
}

# More than one effect for each level; or factors that are nested, or whose crossing is too large
# for the Gaussian engine, which integrates the effects of one factor out and keeps the others.
is_structured <- function(groups) {
  if (any(lengths(lapply(groups, `[[`, "labels")) > 1L)) return(TRUE)
  levels <- lengths(lapply(groups, `[[`, "levels"))
  length(groups) > 1L && (sum(levels) - max(levels) > most_crossed || any_nested(groups))
}

any_nested <- function(groups) {
  pairs <- utils::combn(length(groups), 2L, simplify = FALSE)
  any(vapply(pairs, function(pair) {
    a <- groups[[pair[1L]]]
    b <- groups[[pair[2L]]]
    together <- length(unique(a$codes * (length(b$levels) + 1) + b$codes))
    together <= max(length(a$levels), length(b$levels))
  }, TRUE))
}

# Under prior_relevance() draws are worth more, half a minute: the bound has poor local optima.
draws_are_cheap <- function(frame, assigned) {
  work <- length(frame$y) * as.numeric(length(frame$columns))^2
  work <= most_gram * (if (is_relevant(assigned)) 10 else 1)
}

tell_vb <- function() {
  inform("engine", "Fitted with engine_vb(), since draws would take long for this many rows and ",
         "columns. Standard deviations are too small, and probabilities of inclusion too close to ",
         "0 and 1. engine = \"gibbs\" draws from the exact posterior.")
}

# ---- a Gaussian that turns out skewed -----------------------------------------------------------

# list(spec, result) of a model whose engine is the default's: the Gaussian engine is looked after.
run_default <- function(frame, spec, prior, control) {
  result <- bsvm_run(spec, control)
  near <- is.null(spec$engine$chosen) || !is.null(spec$missing) || !suits_draws(frame) ||
    !is_skewed(result, spec)
  if (near) return(list(spec = spec, result = result))
  able <- cells(frame) <= most_cells && can_take("slice", frame, spec$likelihood, spec)
  if (!able) {
    inform("engine", "The posterior is skewed, ", open_words(spec$likelihood)$skewed, ": ",
           "means and standard deviations by engine_gaussian() are rough. check_approximation() ",
           "shows how rough.")
    spec$engine$chosen <- "rough, since the posterior is skewed and too large for draws"
    return(list(spec = spec, result = result))
  }
  engine <- chosen("slice", "exact draws, for a skewed posterior")
  again <- bsvm_spec(frame, prior, spec$likelihood, engine, spec$standardize)
  list(spec = again, result = bsvm_run(again, control))
}

# Along the path on which one coefficient moves and the others follow by their regression on it, at
# given variances, a normal posterior has standard deviation one. Separated classes and groups
# without events make one side flat, or near variances of zero both sides steep.
#   reach     nodes, in standard deviations
#   limits    of the standard deviation along any path at the likeliest variances
#   bent      of the size of its logarithm, averaged over likely variances, which are looked at
#             unless all are below `straight` at the likeliest
# With random effects limits are narrow, since paths show less of what is skewed: ordinary data
# (bench/default-engine.R) have 1.000 to 1.016, lme4's cbpp 1.10, where a standard deviation is
# 15 % too small.
reach <- c(-4, -2.5, -1.25, 0, 1.25, 2.5, 4)
limits_of_sd <- list(plain = c(0.88, 1.1), groups = c(0.93, 1.06))
most_bent <- c(plain = 0.12, groups = 0.045)
straight <- 0.03
most_parts <- 5L
most_paths <- 100
fewest_rows <- 2.5     # for each coefficient of a model without random effects
most_path_cells <- 1e7

# With few rows for each coefficient, and slopes with one variance, directions are skewed, but no
# coefficient is one of them, and they are near (bench/default-dense.R).
is_skewed <- function(result, spec) {
  wide <- length(spec$design$rotation) > 0L
  near_normal <- is_approximation(spec$engine) && !is_mode(spec$engine)
  if (wide || !near_normal || result$termination == "interrupted") return(FALSE)
  parts <- likely_parts(result$posterior)
  d <- length(parts[[1L]]$mean)
  n <- length(spec$problem$y)
  kind <- if (length(spec$group_blocks) > 0L) "groups" else "plain"
  if (d == 0L || d > most_paths || d * n > most_path_cells) return(FALSE)
  if (kind == "plain" && n < fewest_rows * d) return(FALSE)
  limits <- limits_of_sd[[kind]]
  sds <- path_sds(parts[[1L]], spec)
  if (any(is.na(sds) | sds < limits[1L] | sds > limits[2L])) return(TRUE)
  if (all(abs(log(sds)) < straight)) return(FALSE)
  others <- lapply(parts[-1L], path_sds, spec = spec)
  bends <- abs(log(unlist(c(list(sds), others))))
  weights <- vapply(parts, `[[`, 0, "weight")
  any(is.na(bends)) || any(matrix(bends, d) %*% weights > most_bent[[kind]] * sum(weights))
}

# The parts of a mixture with the most weight, from the likeliest.
likely_parts <- function(posterior) {
  likely <- order(-posterior$weights)[seq_len(min(most_parts, length(posterior$weights)))]
  lapply(likely, function(k) {
    component <- posterior$components[[k]]
    joint <- inherits(component, "bsvm_integrated")
    own <- length(component$group_mean) > 0L || !is.null(component$group_file)
    apart <- !is.null(component$effects) || (posterior$integrated == 0L && own)
    if (!joint && apart) return(list())
    list(mean = if (joint) component$joint_mean else component$mean,
         covariance = if (joint) component$joint_covariance else component$covariance,
         theta = posterior$theta[, k], integrated = posterior$integrated > 0L,
         weight = posterior$weights[k])
  })
}

path_sds <- function(part, spec) {
  d <- length(part$mean)
  slopes <- part$covariance / rep(sqrt(diag(part$covariance)), each = d)
  paths <- lapply(seq_len(d), function(j) part$mean + outer(slopes[, j], reach))
  points <- do.call(cbind, paths)
  points <- rbind(points, matrix(part$theta, length(part$theta), ncol(points)))
  if (!part$integrated) spec$model$integrated <- -1L
  points <- points_in_units(points, spec)
  density <- with_core_conditions(core_log_posterior(spec$problem, spec$model, points, TRUE, 1L))
  apply(matrix(density, length(reach)), 2L, sd_of_density)
}

# The standard deviation of a density, given its logarithm at the nodes.
sd_of_density <- function(logs) {
  if (!all(is.finite(logs))) return(NA_real_)
  t <- seq(reach[1L], -reach[1L], length.out = 161L)
  weights <- exp(stats::spline(reach, logs - max(logs), xout = t)$y)
  mean <- stats::weighted.mean(t, weights)
  sqrt(stats::weighted.mean((t - mean)^2, weights))
}
