# engine_gaussian() from formula to fitted object: on toenail beside lme4::glmer (Laplace), on spam
# beside engine_vb() to 1e-10, and its passes over the rows from a cold start.

source(file.path(getOption("bsvm.bench"), "studies.R"), local = TRUE)

run <- function() {
  if (!installed(c("HSAUR3", "lme4", "kernlab")))
    return(skipped("gaussian-time", "The packages HSAUR3, lme4 and kernlab are needed."))
  rbind(trial_time(studies$toenail()), spam_time(studies$spam()), all_passes())
}

# Without what a user need not say, but for the prior.
fit_default <- function(study, likelihood, engine = engine_gaussian()) {
  bsvm(study[[1L]], study[[2L]], engine = engine, likelihood = likelihoods[[likelihood]],
       prior = prior_of(study))
}

fit_glmer <- function(study) {
  suppressMessages(suppressWarnings(lme4::glmer(study[[1L]], study[[2L]],
                                                family = stats::binomial())))
}

trial_time <- function(study) {
  tasks <- list(pseudo = function() fit_default(study, "pseudo"),
                normalised = function() fit_default(study, "normalised"),
                map = function() fit_default(study, "normalised", engine_map()),
                glmer = function() fit_glmer(study))
  middle <- median_of(interleaved(tasks, times = 11L))
  ratio <- middle / middle[["glmer"]]
  rbind(figure("toenail, pseudo: whole fit", 1e3 * middle[["pseudo"]], "ms"),
        figure("toenail, normalised: whole fit", 1e3 * middle[["normalised"]], "ms"),
        figure("toenail, normalised: engine_map(), whole fit", 1e3 * middle[["map"]], "ms"),
        figure("toenail: glmer (Laplace), whole fit", 1e3 * middle[["glmer"]], "ms"),
        figure("toenail, pseudo: bsvm / glmer", ratio[["pseudo"]], "ratio", at_most = 1 / 20),
        figure("toenail, normalised: bsvm / glmer", ratio[["normalised"]], "ratio",
               at_most = 1 / 10),
        figure("toenail, normalised: engine_map() / glmer", ratio[["map"]], "ratio"))
}

spam_time <- function(study) {
  fit <- function(engine, likelihood = "pseudo") {
    function() bsvm(study[[1L]], study[[2L]], engine = engine, prior = papers_prior(),
                    likelihood = likelihoods[[likelihood]], standardize = FALSE,
                    control = bsvm_control(tol = 1e-10))
  }
  tasks <- list(gaussian = fit(engine_gaussian()), vb = fit(engine_vb()),
                normalised = fit(engine_gaussian(), "normalised"))
  middle <- median_of(interleaved(tasks, times = 11L))
  rbind(figure("spam, pseudo: whole fit", 1e3 * middle[["gaussian"]], "ms"),
        figure("spam: engine_vb() to 1e-10, whole fit", 1e3 * middle[["vb"]], "ms"),
        figure("spam, pseudo: engine_gaussian() / engine_vb()",
               middle[["gaussian"]] / middle[["vb"]], "ratio", at_most = 2),
        figure("spam, normalised: whole fit", 1e3 * middle[["normalised"]], "ms"))
}

all_passes <- function() {
  rows <- lapply(names(studies), function(name) {
    rbind(passes_of(name, "pseudo"), passes_of(name, "normalised"))
  })
  do.call(rbind, rows)
}

# Forty are asked on spam under the pseudo-likelihood.
passes_of <- function(name, likelihood) {
  fit <- fit_study(studies[[name]](), likelihood, engine_gaussian())
  limit <- if (name == "spam" && likelihood == "pseudo") 40
  title <- sprintf("%s, %s: passes from a cold start", name, likelihood)
  rbind(figure(paste0(title, ", in all"), fit$passes, "passes", at_most = limit),
        figure(paste0(title, ", until the highest point of the variances"), nrow(fit$trace),
               "passes", at_most = limit))
}
