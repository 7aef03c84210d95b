# Other programs that are too slow to be run beside every measurement: run once, stored with
# machine and versions. Rscript bench/reference.R [crossed-glmer | verbagg-glmer | toenail-rstanarm]
# writes bench/results/reference.csv; read_reference() in references.R reads it.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
options(bsvm.bench = dirname(normalizePath(file)), width = 120L)
for (part in c("figures.R", "timing.R", "machine.R", "references.R", "crossed-data.R"))
  source(file.path(getOption("bsvm.bench"), part))

fit_glmer <- function(formula, data) {
  suppressMessages(suppressWarnings(lme4::glmer(formula, data, family = stats::binomial())))
}

crossed_glmer <- function() {
  data <- crossed_data(1e5)
  c(seconds = seconds(function() fit_glmer(crossed_formula, data)))
}

verbagg_glmer <- function() {
  data <- lme4::VerbAgg
  formula <- r2 ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)
  c(seconds = seconds(function() fit_glmer(formula, data)))
}

# The defaults: 4 chains of 1000 + 1000, one after the other.
toenail_rstanarm <- function() {
  fit <- NULL
  whole <- seconds(function() {
    fit <<- rstanarm::stan_glmer(outcome ~ treatment * time + (1 | patientID), HSAUR3::toenail,
                                 family = stats::binomial(), cores = 1L, seed = 1L, refresh = 0L)
  })
  size <- smallest_size(posterior::as_draws_array(fit$stanfit), "^\\(Int|^treat|^time|^Sigma")
  c(seconds = whole, seconds_after_warmup = sum(rstan::get_elapsed_time(fit$stanfit)[, "sample"]),
    smallest_ess = size, smallest_ess_a_second = size / whole)
}

programs <- list("crossed-glmer" = crossed_glmer, "verbagg-glmer" = verbagg_glmer,
                 "toenail-rstanarm" = toenail_rstanarm)

chosen <- commandArgs(trailingOnly = TRUE)
for (name in if (length(chosen)) chosen else names(programs))
  store_reference(name, c(programs[[name]](), speed_of_machine()))
