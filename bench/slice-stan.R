# Stan's logistic models of the studies by rstanarm with its own priors: another model with the same
# formula. Where it takes no more than minutes it runs beside, else the stored figure counts.

# Smallest effective sample size a second of sampling, measured on an earlier machine.
stan_stored <- c(toenail = 28, pima = 3363, sonar = 554, spam = 37.5, verbagg = 1.2)
stan_beside <- c("toenail", "pima", "sonar", "spam")

stan_figures <- function(name, study, rate, asked) {
  title <- function(what) paste0(name, ", ", what)
  stored <- stan_stored[[name]]
  runs <- name %in% stan_beside && installed(c("rstanarm", "rstan"))
  if (!runs) return(rbind(
    figure(title("Stan (stored): smallest effective sample size a second"), stored, "1/s"),
    figure(title("engine_slice(), normalised / Stan (stored)"), rate / stored, "ratio",
           at_least = asked)))
  now <- stan_rate(study)
  rbind(figure(title("Stan: smallest effective sample size a second"), now, "1/s"),
        figure(title("engine_slice(), normalised / Stan"), rate / now, "ratio", at_least = asked),
        figure(title("Stan (stored): smallest effective sample size a second"), stored, "1/s"),
        figure(title("engine_slice(), normalised / Stan (stored)"), rate / stored, "ratio"))
}

# One chain of 1000 + 1000; the seconds are those of the second thousand.
stan_rate <- function(study, seed = 1L) {
  grouped <- length(reformulas::findbars(study[[1L]])) > 0L
  fit <- if (grouped) rstanarm::stan_glmer else rstanarm::stan_glm
  seen <- suppressWarnings(fit(study[[1L]], data = study[[2L]], family = stats::binomial(),
                               chains = 1L, iter = 2000L, seed = seed, refresh = 0L))$stanfit
  size <- smallest_size(posterior::as_draws_array(seen), "^(?!b\\[|mean_PPD|log-posterior)")
  size / sum(rstan::get_elapsed_time(seen)[, "sample"])
}
