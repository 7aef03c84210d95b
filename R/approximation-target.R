# The exact posterior an approximate fit is checked against, and the engines that are run on it.

# list(fit, problem, model, integrated, quick, threads): the fit with all predictors dense, and what
# the core takes, on the data of the fit found again in `env`; integrated is the number of the
# factor whose effects are integrated out, 0 for none.
check_target <- function(fit, env) {
  rows <- rows_again(fit, env)
  fit <- dense_fit(fit, nrow(rows$x))
  groups <- groups_again(fit$groups, rows)
  model <- model_again(fit)
  sparse <- !is.null(fit$design$sparse)
  model$integrated <- if (length(learned_bases(fit)) > 0L) -1L
                      else integrable_term(groups, fit$likelihood, sparse, fit_layout(fit)$size)
  list(fit = fit, problem = problem_again(fit, rows), model = model,
       integrated = model$integrated + 1L, quick = TRUE, threads = fit$control$threads)
}

# Sparse predictors of a small design as dense ones, which importance sampling and slices need.
most_dense_cells <- 2e7

dense_fit <- function(fit, rows) {
  if (rows * length(fit$design$columns) <= most_dense_cells) fit$design["sparse"] <- list(NULL)
  fit
}

target_log_density <- function(target, points) {
  points <- points_in_units(points, target$fit)
  with_core_conditions(core_log_posterior(target$problem, target$model, points, target$quick,
                                          target$threads))
}

# ---- other engines on the same posterior --------------------------------------------------------

# As bsvm_spec() makes it.
target_spec <- function(target, engine) {
  model <- target$model
  model$engine <- engine[c("name", "parameters")]
  fit <- target$fit
  if (is_sampler(engine) && !integrates_effects(engine, fit$groups)) model$integrated <- -1L
  new_spec(target$problem, model, fit$design, fit$blocks, fit$group_blocks, fit$likelihood, engine)
}

# The bsvm_mixture that engine_gaussian() finds; NULL if it is not usable. Its warnings are
# about the model, and the fit has given them.
gaussian_answer <- function(target) {
  spec <- target_spec(target, engine_gaussian())
  control <- bsvm_control(threads = target$threads, verbose = target$fit$control$verbose)
  tryCatch(suppressWarnings(run_approximation(spec, control))$posterior,
           bsvm_error_numerical = function(e) NULL)
}

# The engine that draws from the exact posterior of such a model, with its default settings; NULL if
# none does.
target_engine <- function(target) {
  slices <- is.null(target$fit$design$sparse) && takes_learned(engine_slice(), target$fit)
  if (slices) return(engine_slice())
  if (takes_likelihood(engine_gibbs(), target$fit$likelihood)) engine_gibbs()
}
