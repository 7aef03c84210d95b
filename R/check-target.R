# The exact posterior an approximate fit is checked against, and who draws from it.

# list(problem, model, integrated, quick, threads): as the core takes them, on the data of the fit
# found again in `env`; integrated is the number of the factor whose effects are integrated out, 0
# for none.
check_target <- function(fit, env) {
  rows <- rows_again(fit, env)
  groups <- groups_again(fit$groups, rows)
  model <- model_again(fit)
  sparse <- !is.null(fit$design$sparse)
  model$integrated <- integrable_term(groups, fit$likelihood, sparse, fit_layout(fit)$size)
  list(problem = problem_again(fit, rows), model = model, integrated = model$integrated + 1L,
       quick = TRUE, threads = fit$control$threads)
}

target_log_density <- function(target, points) {
  with_core_conditions(core_log_posterior(target$problem, target$model, points, target$quick,
                                          target$threads))
}

# ---- who is exact -------------------------------------------------------------------------------

# The engine that draws from the exact posterior of such a model, with its default settings; NULL if
# none does. `integrated`: can a factor's effects be integrated out?
exact_engine <- function(likelihood, groups, sparse, integrated) {
  slice <- get0("engine_slice", envir = environment(exact_engine), mode = "function")
  covered <- !sparse && (length(groups) < 2L || integrated)
  if (!is.null(slice) && covered) return(slice())
  if (!is_normalised(likelihood)) engine_gibbs()
}

# list(name, seconds): what it is called, and, `timed`, about how long it takes with default
# settings on as many threads as the fit had; NA where that can't be told. NULL if there is none.
exact_answer <- function(fit, target, timed) {
  engine <- exact_engine(fit$likelihood, fit$groups, !is.null(fit$design$sparse),
                         target$integrated > 0L)
  if (is.null(engine)) return(NULL)
  seconds <- NA_real_
  if (timed) seconds <- tryCatch(default_seconds(engine, fit, target), error = function(e) seconds)
  list(name = paste0("engine_", engine$name, "()"), seconds = seconds)
}

# What one sweep takes, preparation apart.
default_seconds <- function(engine, fit, target, least = 0.1) {
  settings <- engine$settings
  seconds <- function(sweeps) {
    engine$settings[c("draws", "most", "burnin", "chains")] <- list(sweeps, 0L, 0L, 1L)
    sweep_seconds(engine, fit, target)
  }
  start <- seconds(1L)
  sweeps <- 21L
  while ((took <- seconds(sweeps) - start) < least && sweeps < 1000L) sweeps <- 5L * sweeps
  turns <- ceiling(settings$chains / min(settings$chains, target$threads))
  start + max(0, took) / (sweeps - 1) * (settings$burnin + settings$draws * settings$thin) * turns
}

sweep_seconds <- function(engine, fit, target) {
  model <- target$model
  model$engine <- engine[c("name", "parameters")]
  if (engine$name == "gibbs") model$integrated <- -1L
  options <- sampler_options(engine, utils::modifyList(fit$control, list(verbose = FALSE)))
  started <- proc.time()[["elapsed"]]
  with_core_conditions(core_sample(target$problem, model, options))
  proc.time()[["elapsed"]] - started
}
