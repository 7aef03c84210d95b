# Results of the vignette `toenail`: what five fits say of the trial, and a hold-out study. Some
# twenty minutes on two cores.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
library(bsvm)

data(toenail, package = "HSAUR3")
formula <- outcome ~ time * treatment + (1 | patientID)
honest <- likelihood_hinge(normalized = TRUE)
quiet <- bsvm_control(verbose = FALSE)
# As in 000; the scale goes with the likelihood.
papers_prior <- list(prior_flat(), patientID = prior_ridge(shape = 0.01))
fit <- function(...) {
  set.seed(1L)
  timed(suppressMessages(bsvm(formula, toenail, prior = papers_prior, control = quiet, ...)))
}

# ---- what the fits say --------------------------------------------------------------------------

fits <- list(
  "papers' VB" = fit(engine = engine_vb(), likelihood = "hinge"),
  "pseudo-posterior, exact" = fit(engine = engine_slice(draws = 5000L, burnin = 500L),
                                  likelihood = "hinge"),
  "normalised, exact" = fit(engine = engine_slice(draws = 5000L, burnin = 500L),
                            likelihood = honest),
  "normalised, engine_gaussian()" = fit(engine = engine_gaussian(), likelihood = honest)
)

# Fixed effects and the variance of the patients, with 95 % intervals.
said_by <- function(found, label) {
  interval <- suppressMessages(confint(found$value))
  sd <- tidy(found$value, effects = "ran_pars", conf.int = TRUE)
  sd <- sd[sd$group == "patientID", ]
  data.frame(fit = label, term = c(names(fixef(found$value)), "variance of patients"),
             mean = c(unname(fixef(found$value)), VarCorr(found$value)$patientID[1L]),
             lower = c(interval[, 1L], sd$conf.low^2), upper = c(interval[, 2L], sd$conf.high^2),
             seconds = found$seconds, row.names = NULL)
}

logistic <- timed(lme4::glmer(formula, toenail, family = stats::binomial, nAGQ = 20L))
said_by_glmer <- function(found) {
  estimate <- lme4::fixef(found$value)
  sd <- sqrt(diag(as.matrix(stats::vcov(found$value))))
  data.frame(fit = "glmer, 20 nodes", term = c(names(estimate), "variance of patients"),
             mean = c(unname(estimate), lme4::VarCorr(found$value)$patientID[1L]),
             lower = c(estimate - 1.96 * sd, NA), upper = c(estimate + 1.96 * sd, NA),
             seconds = found$seconds, row.names = NULL)
}
effects <- rbind(do.call(rbind, Map(said_by, fits, names(fits))), said_by_glmer(logistic))

# ---- the hold-out study -------------------------------------------------------------------------

train <- function(...) bsvm(formula, toenail, prior = papers_prior, control = quiet, ...)
with_glmer <- function(data) {
  model <- lme4::glmer(outcome ~ time * treatment + (1 | patientID), data,
                       family = stats::binomial)
  function(new) {
    list(prob = stats::predict(model, new, type = "response", allow.new.levels = TRUE))
  }
}
models <- list(
  "VB" = train(engine = engine_vb(), likelihood = "hinge"),
  "normalised" = train(engine = engine_gaussian(), likelihood = honest),
  "VB, no patients" = bsvm(outcome ~ time * treatment, toenail, likelihood = "hinge",
                           prior = prior_ridge(0.01, 0.01), engine = engine_vb(), control = quiet),
  "glmer" = with_glmer
)
sampler <- engine_gibbs(draws = 5000L, burnin = 5000L, chains = 1L)
gibbs <- suppressWarnings(train(engine = sampler, likelihood = "hinge"))
metrics <- c("ber", "error", "brier", "slope", "seconds")
study <- function(models, times) {
  message(format(Sys.time(), "%H:%M "), paste(names(models), collapse = ", "))
  set.seed(1L)
  holdout(models, toenail, times = times, metrics = metrics, cores = 2L)
}
studies <- list(all = study(models, 100L), gibbs = study(list(Gibbs = gibbs), 100L),
                tuned = study(list("tuned SVM" = tuned_svm(
                  formula = outcome ~ time * treatment, times = 10L)), 10L))
stopifnot(identical(holdout_splits(studies$all), holdout_splits(studies$gibbs)),
          identical(holdout_splits(studies$all)[1:10], holdout_splits(studies$tuned)))

store("toenail", list(
  effects = effects,
  values = values_of(studies),
  splits = vapply(studies, function(s) length(holdout_splits(s)), 0L)
))
