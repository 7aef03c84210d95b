# engine_slice() on the five studies: effective draws a second beside engine_gibbs() and Stan's
# logistic models, a sweep over dense coefficients beside the machine's limit, and Pareto k of the
# approximate engines. One chain, one thread; seconds of sampling alone.

for (part in c("studies.R", "gibbs.R", "slice-stan.R", "slice-sweep.R", "pareto.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  if (!installed(c(study_packages, "posterior", "loo")))
    return(skipped("slice", paste("Needed packages:", toString(study_packages), "posterior, loo")))
  rates <- lapply(names(studies), function(name) rate_figures(name, studies[[name]]()))
  rbind(do.call(rbind, rates), sweep_figures(), pareto_figures())
}

# Asked of engine_slice() over engine_gibbs(mixing = FALSE), and over Stan.
over_gibbs <- c(toenail = 20, spam = 20, pima = 20, sonar = 5, verbagg = 5)
over_stan <- c(toenail = 10, pima = 10, sonar = 10, spam = 3, verbagg = 20)

samplers <- list(
  slice = function(draws) engine_slice(draws = draws, burnin = 1000L, chains = 1L),
  gibbs = function(draws) {
    engine_gibbs(draws = draws, burnin = 1000L, chains = 1L, mixing = FALSE)
  },
  mixing = function(draws) engine_gibbs(draws = draws, burnin = 1000L, chains = 1L, mixing = TRUE)
)

draws_kept <- c(slice = 5000L, gibbs = 10000L, mixing = 5000L)

rate_figures <- function(name, study) {
  seen <- function(sampler, likelihood = "pseudo") chain_rate(study, likelihood, sampler)
  pseudo <- seen("slice")
  gibbs <- seen("gibbs")
  mixing <- seen("mixing")
  normalised <- seen("slice", "normalised")
  title <- function(what) paste0(name, ": ", what)
  rbind(seen_figures(title("engine_slice(), pseudo"), pseudo),
        seen_figures(title("engine_gibbs(mixing = FALSE)"), gibbs),
        seen_figures(title("engine_gibbs(mixing = TRUE)"), mixing),
        seen_figures(title("engine_slice(), normalised"), normalised),
        figure(title("engine_slice() / engine_gibbs(mixing = FALSE)"),
               pseudo[["rate"]] / gibbs[["rate"]], "ratio", at_least = over_gibbs[[name]]),
        figure(title("engine_slice() / engine_gibbs(mixing = TRUE)"),
               pseudo[["rate"]] / mixing[["rate"]], "ratio"),
        stan_figures(name, study, normalised[["rate"]], over_stan[[name]]))
}

seen_figures <- function(title, seen) {
  rbind(figure(paste0(title, ", smallest effective sample size a second"), seen[["rate"]], "1/s"),
        figure(paste0(title, ", a kept sweep"), 1e3 * seen[["sweep"]], "ms"))
}

# Medians of three chains: effective draws a second of sampling, seconds of a sweep.
chain_rate <- function(study, likelihood, sampler, times = 3L) {
  one <- function(seed) timed_chain(study, likelihood, sampler, seed)
  apply(vapply(seq_len(times), one, c(rate = 0, sweep = 0)), 1L, stats::median)
}

# The same burn-in with one draw after it takes the preparation and the burn-in out.
timed_chain <- function(study, likelihood, sampler, seed) {
  draws <- draws_kept[[sampler]]
  fit <- run_sampler(study, likelihood, samplers[[sampler]](draws), seed)
  less <- run_sampler(study, likelihood, samplers[[sampler]](1L), seed)
  taken <- fit$sampling$seconds - less$sampling$seconds
  size <- smallest_size(posterior::as_draws_array(fit), "^[^[]*$")
  c(rate = size / taken, sweep = taken / (draws - 1))
}

run_sampler <- function(study, likelihood, engine, seed) {
  set.seed(seed)
  suppressWarnings(bsvm(study[[1L]], study[[2L]], engine = engine,
                        likelihood = likelihoods[[likelihood]], standardize = FALSE,
                        control = bsvm_control(threads = 1L)), classes = "bsvm_warning")
}
