# Toenail trial by Gibbs sampling: 5000 + 5000 draws of one chain on one core; a sweep beside
# what it cannot avoid; effective draws a second, with and without the mixing moves, beside
# rstanarm's logistic model of the same formula (stored).

source(file.path(getOption("bsvm.bench"), "gibbs.R"), local = TRUE)

trial_formula <- outcome ~ treatment * time + (1 | patientID)

run <- function() {
  if (!installed(c("HSAUR3", "posterior")))
    return(skipped("toenail-gibbs", "The packages HSAUR3 and posterior are needed."))
  toenail <- HSAUR3::toenail
  rbind(sweep_figures(toenail), mixing_figures(toenail))
}

sweep_figures <- function(data) {
  reason <- sweep_limit_missing()
  if (nzchar(reason)) return(skipped("a sweep / its bound", reason))
  bound <- trial_bound(data)
  figures_of <- function(mixing) sweep_rows(mixing, trial_sweeps(data, mixing, bound), nrow(data))
  rbind(figures_of(TRUE), figures_of(FALSE))
}

trial_sweeps <- function(data, mixing, bound) {
  engine <- engine_gibbs(draws = 5000L, burnin = 5000L, chains = 1L, mixing = mixing)
  frame <- bsvm_frame(trial_formula, data)
  sweep_and_bound(bsvm_spec(frame, papers_prior("patientID"), "hinge", engine), bound)
}

# The rows' links are those of the posterior.
trial_bound <- function(data) {
  x <- stats::model.matrix(~ treatment * time, data)
  link <- fitted(fit_gibbs(trial_formula, data, papers_prior("patientID"), draws = 500L))
  y <- ifelse(data$outcome == levels(data$outcome)[2L], 1, -1)
  function() sweep_limit(y, link, as.integer(data$patientID), x)
}

sweep_rows <- function(mixing, seen, n) {
  name <- function(what) sprintf("mixing = %s: %s", mixing, what)
  rbind(figure(name("a sweep"), 1e6 * seen[["sweep"]], "microseconds"),
        figure(name("n inverse-Gaussian draws"), 1e6 * seen[["draws"]], "microseconds"),
        figure(name("one inverse-Gaussian draw"), 1e9 * seen[["draws"]] / n, "ns"),
        figure(name("one pass of the grouped algebra"), 1e6 * seen[["algebra"]], "microseconds"),
        figure(name("a sweep / (draws + algebra)"),
               seen[["sweep"]] / (seen[["draws"]] + seen[["algebra"]]), "ratio", at_most = 2))
}

mixing_figures <- function(data) {
  names <- "^\\(Intercept\\)$|^treatment|^time|^sd_"
  chains <- function(mixing) {
    run_chains(function() {
      fit_gibbs(trial_formula, data, papers_prior("patientID"), mixing = mixing)
    }, names)
  }
  mixed <- chains(TRUE)
  plain <- chains(FALSE)
  rbind(figure("5000 + 5000 draws, whole fit", stats::median(mixed["seconds", ]), "s", at_most = 3),
        chain_figures("mixing = TRUE", mixed), chain_figures("mixing = FALSE", plain),
        figure("mixing = TRUE / FALSE, a second", rate_of(mixed) / rate_of(plain), "ratio"),
        stan_figures(rate_of(mixed)))
}

# Half of our sweeps and a good half of rstanarm's time are warm-up: with and without.
stan_figures <- function(rate) {
  stan <- as.list(read_reference("toenail-rstanarm"))
  whole <- stan$smallest_ess / stan$seconds
  after <- stan$smallest_ess / stan$seconds_after_warmup
  rbind(figure("rstanarm (stored): smallest effective sample size a second", whole, "1/s"),
        figure("rstanarm (stored): the same after warm-up", after, "1/s"),
        figure("bsvm / rstanarm, warm-up counted", rate / whole, "ratio", at_least = 5),
        figure("bsvm / rstanarm, after warm-up", 2 * rate / after, "ratio", at_least = 5),
        machine_figure("toenail-rstanarm"))
}
