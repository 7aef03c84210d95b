# engine_gaussian() against the exact posteriors of five studies under both likelihoods (stored:
# exact.R), errors of means in exact standard deviations; engine_vb() beside it.

for (part in c("studies.R", "exact-store.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  if (!installed(study_packages))
    return(skipped("gaussian", paste("Needed packages:", toString(study_packages))))
  if (is.null(stored_exact()))
    return(skipped("gaussian", "Rscript bench/exact.R has not stored the exact moments."))
  rows <- lapply(names(studies), function(name) {
    rbind(study_figures(name, "pseudo"), study_figures(name, "normalised"), vb_figures(name))
  })
  do.call(rbind, rows)
}

study_figures <- function(name, likelihood) {
  exact <- read_exact(name, likelihood)
  if (!nrow(exact)) return(skipped(paste(name, likelihood), "Exact moments are not stored."))
  errors <- errors_of(fit_study(studies[[name]](), likelihood, engine_gaussian()), exact)
  title <- sprintf("%s, %s: ", name, likelihood)
  rbind(stored_figures(title, exact),
        if (name %in% many) median_figures(title, errors) else largest_figures(title, errors))
}

# Those with many coefficients, of which the median counts.
many <- c("sonar", "spam")

# A row a parameter: error of the mean in exact sds, relative error of the sd.
errors_of <- function(fit, exact) {
  moments <- fit_moments(fit)
  stopifnot(identical(moments$parameter, exact$parameter))
  data.frame(parameter = exact$parameter, mean = abs(moments$mean - exact$mean) / exact$sd,
             sd = abs(moments$sd / exact$sd - 1), spread = moments$sd / exact$sd,
             is_log_sd = startsWith(exact$parameter, "log sd of "))
}

stored_figures <- function(title, exact) {
  rbind(figure(paste0(title, "exact draws (stored)"), exact$draws[1L], "draws", at_least = 10000,
               digits = 6L),
        figure(paste0(title, "their smallest effective sample size"), min(exact$size), "draws"),
        figure(paste0(title, "largest Monte Carlo error of their means"),
               max(exact$error / exact$sd), "sd"))
}

largest_figures <- function(title, errors) {
  fixed <- errors[!errors$is_log_sd, ]
  logs <- errors[errors$is_log_sd, ]
  rbind(figure(paste0(title, "largest error of a mean, coefficients"), max(fixed$mean), "sd",
               at_most = 0.15),
        figure(paste0(title, "the same, log variances"), max(logs$mean), "sd", at_most = 0.15),
        figure(paste0(title, "median error of a mean, coefficients"), stats::median(fixed$mean),
               "sd"),
        figure(paste0(title, "largest error of an sd, coefficients"), max(fixed$sd), "share",
               at_most = 0.1),
        figure(paste0(title, "the same, log variances"), max(logs$sd), "share"))
}

median_figures <- function(title, errors) {
  fixed <- errors[!errors$is_log_sd, ]
  logs <- errors[errors$is_log_sd, ]
  rbind(figure(paste0(title, "median error of a mean, coefficients"), stats::median(fixed$mean),
               "sd", at_most = 0.1),
        figure(paste0(title, "largest error of a mean, coefficients"), max(fixed$mean), "sd"),
        figure(paste0(title, "error of the mean, log variance"), logs$mean, "sd"),
        figure(paste0(title, "median error of an sd, coefficients"), stats::median(fixed$sd),
               "share", at_most = 0.05),
        figure(paste0(title, "largest error of an sd, coefficients"), max(fixed$sd), "share"),
        figure(paste0(title, "error of the sd, log variance"), logs$sd, "share"))
}

# Only the pseudo-likelihood, and no limits.
vb_figures <- function(name) {
  exact <- read_exact(name, "pseudo")
  if (!nrow(exact)) return(NULL)
  errors <- errors_of(fit_study(studies[[name]](), "pseudo", engine_vb()), exact)
  fixed <- errors[!errors$is_log_sd, ]
  logs <- errors[errors$is_log_sd, ]
  title <- sprintf("%s, engine_vb(): ", name)
  rbind(figure(paste0(title, "largest error of a mean, coefficients"), max(fixed$mean), "sd"),
        figure(paste0(title, "the same, log variances"), max(logs$mean), "sd"),
        figure(paste0(title, "median error of a mean, coefficients"), stats::median(fixed$mean),
               "sd"),
        figure(paste0(title, "median sd / exact, coefficients"), stats::median(fixed$spread),
               "ratio"),
        figure(paste0(title, "smallest sd / exact, coefficients"), min(fixed$spread), "ratio"))
}
