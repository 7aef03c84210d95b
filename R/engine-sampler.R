# Shared by engine_gibbs() and engine_slice(): their arguments and the checks of these.

sampler_settings <- function(draws, burnin, thin, chains, checkpoint, resume, keep_effects) {
  adaptive <- is.null(draws)
  settings <- list(
    draws = if (adaptive) first_draws else check_count(draws, "draws"),
    most = if (adaptive) most_draws else 0L, burnin = check_count(burnin, "burnin", least = 0L),
    thin = check_count(thin, "thin"), chains = check_chains(chains),
    keep_effects = check_flag(keep_effects, "keep_effects"),
    checkpoint = check_checkpoint(checkpoint),
    resume = check_resume(resume, checkpoint), checkpoint_interval = 30
  )
  check_sweeps(settings)
  settings
}

# Where no number is given: draws of each chain at first, and at most.
first_draws <- 300L
most_draws <- 10000L

# Arguments of other samplers, and their names here.
sampler_hints <- c(
  iter = "Here `draws` counts what is kept, after `burnin` iterations.",
  n.iter = "Here `draws` counts what is kept, after `burnin` iterations.",
  warmup = "The iterations before the draws are `burnin`.",
  ndraws = "Use `draws`, a number for each chain.",
  nchains = "Use `chains` instead.", n_chains = "Use `chains` instead.",
  n.chains = "Use `chains` instead.",
  cores = "Threads go into `control = bsvm_control(threads = )`.",
  threads = "Threads go into `control = bsvm_control(threads = )`.",
  verbose = "Use `control = bsvm_control(verbose = )` instead.",
  start = "Chains can't be given a start.", init = "Chains can't be given a start.",
  seed = "For a seed, call set.seed() before the fit."
)

# `name`, how many draws, and `more`; `burnin`: the engine's default.
sampler_label <- function(name, settings, more = NULL, burnin = 1000L) {
  paste0(name, ", ", if (settings$most > 0L) adaptive_text(settings) else chains_text(settings),
         if (settings$burnin != burnin) paste0(" after ", settings$burnin, " of burn-in"),
         if (settings$thin > 1L) paste0(", one kept of ", settings$thin), more)
}

check_chains <- function(chains) {
  if (check_count(chains, "chains") > 1000) {
    abort("argument", "`chains` must be at most 1000; found ", describe(chains), ".")
  }
  as.integer(chains)
}

# Of all chains; more where they go on until draws are effective.
least_sweeps <- function(settings) {
  settings$chains * (settings$burnin + as.numeric(settings$draws) * settings$thin)
}

check_sweeps <- function(settings) {
  sweeps <- settings$burnin + as.numeric(settings$draws) * settings$thin
  if (sweeps > 1e9) {
    abort("argument", "`burnin` + `draws` * `thin`, the iterations of a chain, must be at most ",
          "1e9; ",
          "found ", sprintf("%.0f", sweeps), ".")
  }
}

check_checkpoint <- function(checkpoint) {
  if (is.null(checkpoint)) return("")
  good <- is.character(checkpoint) && length(checkpoint) == 1L && !is.na(checkpoint) &&
    nzchar(checkpoint)
  if (!good) {
    abort("argument", "`checkpoint` must be NULL or the name of a file; found ",
          describe(checkpoint), ".")
  }
  path.expand(checkpoint)
}

has_checkpoint <- function(engine) isTRUE(nzchar(engine$settings$checkpoint))

check_resume <- function(resume, checkpoint) {
  check_flag(resume, "resume")
  if (resume && is.null(checkpoint)) {
    abort("argument", "`resume = TRUE` needs `checkpoint`, the name of the file to go on from.")
  }
  resume
}

adaptive_text <- function(settings) {
  paste0(settings$chains, if (settings$chains == 1L) " chain" else " chains", ", draws until ",
         ess_limit, " are effective")
}

# "4 chains of 1000 draws": of an engine's settings or of what a fit has.
chains_text <- function(sampling) {
  paste0(sampling$chains, if (sampling$chains == 1L) " chain" else " chains", " of ",
         sampling$draws, if (sampling$draws == 1L) " draw" else " draws")
}
