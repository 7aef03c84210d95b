# Runs of engine_em() and engine_ecme(), and their paths over a grid of scales.

run_estimator <- function(spec, control) {
  options <- estimate_options(spec, control)
  grid <- path_grid(spec$blocks)
  result <- if (is.null(grid)) estimate(spec, options) else run_path(spec, options, grid)
  if (is.null(grid)) warn_estimate(result)
  blocks <- with_points(spec, split_hyper(spec, c(result$hyper, result$group_hyper)))
  c(list(posterior = posterior_in_units(point_posterior(result), spec)), blocks,
    result[c("trace", "passes", "termination")])
}

estimate <- function(spec, options) {
  with_rows(spec, function(problem, rows) {
    with_core_conditions(core_estimate(problem, spec$model, options, rows))
  })
}

# What is random, starts where the objective has local optima and annealing, follows R's random
# numbers.
estimate_options <- function(spec, control) {
  local <- any(vapply(all_blocks(spec), function(block) {
    isTRUE(block$prior$parameters["alpha"] < 1)
  }, TRUE))
  settings <- spec$engine$settings
  starts <- if (local) settings$starts else 1L
  random <- starts > 1L || settings$annealing > 0L
  c(control[c("tol", "max_passes")],
    list(verbose = progress_pace(control$verbose), starts = starts, annealing = settings$annealing,
         seed = if (random) floor(stats::runif(1L) * 2^31) else 0,
         start = estimate_start(control$start, spec)))
}

# The core's dense coefficients, then its effects: a start only has those of sparse predictors.
estimate_start <- function(start, spec) {
  if (is.null(start)) return(NULL)
  design <- spec$design
  dense <- internal_start(start, design)
  sparse <- as.vector(start)[design$sparse] * design$scale[design$sparse] / design$unit
  effects <- group_coefficient_count(spec$problem)
  c(dense, numeric(effects - length(sparse)), sparse)
}

point_posterior <- function(result) {
  kept <- c("mean", "effects", "multipliers", "objective", "dual", "gap", "certified", "optima",
            "path")
  structure(c(result[intersect(kept, names(result))],
              list(effects_sd = rep(NA_real_, length(result$effects)), point = TRUE)),
            class = "bsvm_point")
}

# `where`: words for the part of a run that this is.
warn_estimate <- function(result, where = "") {
  if (result$termination == "converged") return(invisible())
  unit <- if (result$read_again) " readings of all rows" else " iterations"
  state <- paste0(result$passes, unit, where, ", at a relative gap of ",
                  format(result$gap, digits = 2L), " between the objective and its bound")
  if (result$termination == "interrupted") {
    return(warn("interrupted", "The fit was interrupted after ", state, ", and is kept as it was."))
  }
  why <- if (result$termination == "pass_limit") {
    ". Raise `max_passes` in bsvm_control()."
  } else if (result$read_again) {
    ", as the rows kept in memory do not determine the optimum. Fit a data frame."
  } else {
    ", where rounding errors outweigh progress. Standardise, or rescale predictors."
  }
  warn("convergence", "The fit ended after ", state, why)
}

# ---- paths ----------------------------------------------------------------------------------

# list(block, nu): which block has a grid, NULL if none.
path_grid <- function(blocks) {
  with_grid <- which(vapply(blocks, function(block) !is.null(block$prior$grid), TRUE))
  if (length(with_grid) == 0L) return(NULL)
  if (length(with_grid) > 1L) {
    abort("unsupported", "One prior can have a grid of `nu`; those of ",
          enumerate(vapply(blocks[with_grid], `[[`, "", "label")), " have.")
  }
  list(block = with_grid, nu = blocks[[with_grid]]$prior$grid)
}

# The last value's result, with `path`: list(nu, mean (coefficients x nu), effects, objective, gap).
# An interior point method gains nothing from the optimum at another scale, so each starts afresh;
# where there are local optima the neighbours' fits are starts too, on the way up and down. An
# interrupt ends it with what there is.
run_path <- function(spec, options, grid) {
  specs <- lapply(grid$nu, function(nu) with_scale(spec, grid$block, nu))
  runs <- run_each(specs, options)
  reached <- length(runs)
  if (options$starts > 1L && !is_stopped(runs[[reached]])) runs <- improve(runs, specs, options)
  nu <- grid$nu[seq_len(reached)]
  for (k in seq_len(reached)) warn_estimate(runs[[k]], paste(" at nu =", format(nu[k])))
  take <- function(part) vapply(runs, `[[`, 0, part)
  result <- runs[[reached]]
  if (any(vapply(runs, is_stopped, TRUE))) result$termination <- "interrupted"
  result$path <- list(nu = nu, mean = stack_columns(lapply(runs, `[[`, "mean")),
                      effects = stack_columns(lapply(runs, `[[`, "effects")),
                      objective = take("objective"), gap = take("gap"))
  result
}

is_stopped <- function(run) run$termination == "interrupted"

run_each <- function(specs, options) {
  runs <- list(estimate(specs[[1L]], options))
  for (spec in specs[-1L]) {
    last <- length(runs)
    if (is_stopped(runs[[last]])) break
    run <- estimate_or_null(spec, options)
    if (is.null(run)) runs[[last]]$termination <- "interrupted" else runs[[last + 1L]] <- run
  }
  runs
}

# NULL where an interrupt came before there was a result.
estimate_or_null <- function(spec, options) {
  tryCatch(estimate(spec, options), bsvm_error_interrupted = function(e) NULL)
}

improve <- function(runs, specs, options) {
  up <- seq_along(runs)[-1L]
  from <- c(up - 1L, rev(up))
  to <- c(up, rev(up) - 1L)
  for (j in seq_along(to)) {
    k <- to[j]
    runs[[k]] <- better_from(runs[[from[j]]], runs[[k]], specs[[k]], options)
    if (is_stopped(runs[[k]])) break
  }
  runs
}

# A run, or the one that starts at its neighbour if that ends lower.
better_from <- function(neighbour, run, spec, options) {
  options$starts <- 1L
  options$annealing <- 0L
  options$start <- c(neighbour$mean, neighbour$effects)
  other <- estimate_or_null(spec, options)
  best <- if (!is.null(other) && other$objective < run$objective) other else run
  best$optima <- c(run$optima, other$objective)
  if (is.null(other) || is_stopped(other)) best$termination <- "interrupted"
  best
}

# The spec with that scale in the block's core prior: dense blocks come first, then the groups'
# priors, then those of sparse blocks.
with_scale <- function(spec, block, nu) {
  dense <- length(spec$model$blocks)
  if (block <= dense) {
    spec$model$blocks[[block]]$parameters["nu"] <- nu
  } else {
    at <- length(spec$group_blocks) + block - dense
    spec$model$group_blocks[[at]]$parameters["nu"] <- nu
  }
  spec
}
