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

slice_of <- function(draws) engine_slice(draws = draws, burnin = 1000L, chains = 1L)

gibbs_of <- function(mixing) {
  function(draws) {
    engine_gibbs(draws = draws, burnin = 1000L, chains = 1L, mixing = mixing)
  }
}

chains <- list(
  slice = list(label = "engine_slice(), pseudo", likelihood = "pseudo", engine = slice_of,
               draws = 5000L),
  gibbs = list(label = "engine_gibbs(mixing = FALSE)", likelihood = "pseudo",
               engine = gibbs_of(FALSE), draws = 10000L),
  mixing = list(label = "engine_gibbs(mixing = TRUE)", likelihood = "pseudo",
                engine = gibbs_of(TRUE), draws = 5000L),
  normalised = list(label = "engine_slice(), normalised", likelihood = "normalised",
                    engine = slice_of, draws = 5000L)
)

rate_figures <- function(name, study) {
  seen <- chain_rates(study)
  rate <- seen["rate", ]
  title <- function(what) paste0(name, ": ", what)
  rbind(do.call(rbind, lapply(names(chains), function(chain) {
    seen_figures(title(chains[[chain]]$label), seen[, chain])
  })),
  figure(title("engine_slice() / engine_gibbs(mixing = FALSE)"),
         rate[["slice"]] / rate[["gibbs"]], "ratio", at_least = over_gibbs[[name]]),
  figure(title("engine_slice() / engine_gibbs(mixing = TRUE)"),
         rate[["slice"]] / rate[["mixing"]], "ratio"),
  stan_figures(name, study, rate[["normalised"]], over_stan[[name]]))
}

seen_figures <- function(title, seen) {
  rbind(figure(paste0(title, ", smallest effective sample size a second"), seen[["rate"]], "1/s"),
        figure(paste0(title, ", a kept sweep"), 1e3 * seen[["sweep"]], "ms"))
}

# (rate, sweep) x chains: effective draws a second of sampling, seconds of a sweep. Medians of three
# turns with a seed each, in which all samplers run.
chain_rates <- function(study, times = 3L) {
  turn <- function(seed) {
    vapply(chains, function(chain) timed_chain(study, chain, seed), c(rate = 0, sweep = 0))
  }
  turns <- vapply(seq_len(times), turn, matrix(0, 2L, length(chains)))
  out <- apply(turns, 1:2, stats::median)
  dimnames(out) <- list(c("rate", "sweep"), names(chains))
  out
}

# The same burn-in with one draw after it takes the preparation and the burn-in out.
timed_chain <- function(study, chain, seed) {
  fit_of <- function(draws) run_sampler(study, chain$likelihood, chain$engine(draws), seed)
  fit <- fit_of(chain$draws)
  taken <- fit$sampling$seconds - fit_of(1L)$sampling$seconds
  size <- smallest_size(posterior::as_draws_array(fit), "^[^[]*$")
  c(rate = size / taken, sweep = taken / (chain$draws - 1))
}

run_sampler <- function(study, likelihood, engine, seed) {
  set.seed(seed)
  suppressWarnings(bsvm(study[[1L]], study[[2L]], engine = engine,
                        likelihood = likelihoods[[likelihood]], prior = prior_of(study),
                        standardize = FALSE, control = bsvm_control(threads = 1L)),
                   classes = "bsvm_warning")
}
