# Makes vignettes/how-exact.rds, the stored results of the vignette: Rscript bench/how-exact.R
# After Rscript bench/run.R slice, whose effective draws a second it takes over. Some minutes.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
options(bsvm.bench = dirname(normalizePath(file)), width = 120L)
suppressPackageStartupMessages(library(bsvm))
for (part in c("figures.R", "timing.R", "machine.R", "papers.R", "studies.R", "exact-store.R",
               "pareto.R"))
  source(file.path(getOption("bsvm.bench"), part))

case_of <- function(name) {
  case <- new.env()
  sys.source(file.path(getOption("bsvm.bench"), paste0(name, ".R")), case)
  case
}

quietly <- function(expr) suppressWarnings(suppressMessages(expr))

# ---- the approximations beside exact draws ------------------------------------------------------

exact_engine <- engine_slice(draws = 5000, burnin = 1000, chains = 4, keep_effects = FALSE)

study_results <- function(name, likelihood) {
  message(name, ", ", likelihood, " ...")
  set.seed(1L)
  study <- studies[[name]]()
  exact <- draw_moments(quietly(fit_study(study, likelihood, exact_engine)))
  gaussian <- fit_moments(fit_study(study, likelihood, engine_gaussian()))
  moments <- beside("engine_gaussian()", gaussian, exact)
  if (likelihood == "pseudo") moments <- rbind(moments, variational_moments(study, exact))
  list(moments = cbind(study = name, likelihood, moments, row.names = NULL),
       exact = cbind(study = name, likelihood, exact_facts(name, likelihood, exact)),
       times = cbind(study = name, likelihood, times_of(study, likelihood)))
}

# The linear response is one of coefficients: it has no variances.
variational_moments <- function(study, exact) {
  fit <- fit_study(study, "pseudo", engine_vb())
  response <- data.frame(parameter = names(fixef(fit)), mean = unname(fixef(fit)),
                         sd = unname(sqrt(diag(vcov(fit, method = "linear_response")))))
  rbind(beside("engine_vb()", fit_moments(fit), exact),
        beside("engine_vb(), linear response", response, exact))
}

draw_moments <- function(fit) {
  draws <- posterior::as_draws_array(fit)
  rows <- lapply(posterior::variables(draws), function(name) {
    one <- posterior::extract_variable_matrix(draws, name)
    if (startsWith(name, "var_")) one <- log(one) / 2
    if (startsWith(name, "sd_")) one <- log(one)
    data.frame(mean = mean(one), sd = stats::sd(one), error = posterior::mcse_mean(one),
               size = posterior::ess_bulk(one), rhat = posterior::rhat(one))
  })
  name <- sub("^(var|sd)_", "log sd of ", posterior::variables(draws))
  cbind(parameter = sub(":? \\(Intercept\\)$|__Intercept$", "", name), do.call(rbind, rows))
}

beside <- function(engine, moments, exact) {
  at <- seq_len(nrow(moments))
  data.frame(engine, parameter = moments$parameter,
             shift = (moments$mean - exact$mean[at]) / exact$sd[at],
             ratio = moments$sd / exact$sd[at],
             variance = startsWith(moments$parameter, "log sd of "))
}

# Beside the moments of an independent sampler (exact.R).
exact_facts <- function(name, likelihood, exact) {
  other <- read_exact(name, likelihood)
  data.frame(size = min(exact$size), rhat = max(exact$rhat),
             mean_error = max(exact$error / exact$sd),
             other_shift = max(abs(other$mean - exact$mean) / exact$sd),
             other_error = max(sqrt(other$error^2 + exact$error^2) / exact$sd))
}

# Seconds of whole fits: medians of three, of the sampler one with its default settings.
times_of <- function(study, likelihood) {
  fits <- list(gaussian = function() fit_study(study, likelihood, engine_gaussian()))
  if (likelihood == "pseudo") fits$vb <- function() fit_study(study, likelihood, engine_vb())
  taken <- median_of(interleaved(fits, times = 3L))
  slice <- seconds(function() quietly(fit_study(study, likelihood, engine_slice())))
  data.frame(engine = c(names(taken), "slice"), seconds = c(unname(taken), slice))
}

study_facts <- function(name) {
  study <- studies[[name]]()
  fit <- fit_study(study, "pseudo", engine_gaussian())
  groups <- if (length(fit$groups)) vapply(ranef(fit), nrow, 0L)
  data.frame(study = name, rows = nrow(study[[2L]]), coefficients = length(fixef(fit)),
             groups = toString(sprintf("%d levels of %s", groups, names(groups))))
}

# ---- effective draws a second, as measured by slice.R --------------------------------------------

rate_table <- function() {
  figures <- read_figures("slice")
  rate <- function(study, what) {
    quantity <- paste0(study, what, "smallest effective sample size a second")
    as.numeric(figures$seen[match(quantity, figures$quantity)])
  }
  row <- function(study) {
    now <- rate(study, ", Stan: ")
    data.frame(study, slice = rate(study, ": engine_slice(), pseudo, "),
               gibbs = rate(study, ": engine_gibbs(mixing = FALSE), "),
               mixing = rate(study, ": engine_gibbs(mixing = TRUE), "),
               normalised = rate(study, ": engine_slice(), normalised, "),
               stan = if (is.na(now)) rate(study, ", Stan (stored): ") else now,
               stan_stored = is.na(now))
  }
  do.call(rbind, lapply(names(studies), row))
}

# ---- what the pseudo-likelihood misleads about --------------------------------------------------

# The stored run of coverage.R, so that there is one figure.
coverage_table <- function(sets = 200L) {
  stored <- utils::read.csv(file.path(getOption("bsvm.bench"), "results", "coverage.csv"))
  rows <- lapply(names(likelihoods), function(likelihood) {
    own <- startsWith(stored$quantity, sprintf("%s, %d data sets: ", likelihood, sets))
    covered <- as.numeric(stored$seen[own & grepl(": coverage,", stored$quantity)])
    spread <- as.numeric(stored$seen[own & grepl("mean posterior sd", stored$quantity)])
    data.frame(likelihood, lowest = min(covered), highest = max(covered), spread, sets)
  })
  do.call(rbind, rows)
}

group_table <- function(sets = 10L) {
  case <- case_of("group-sd")
  engine <- engine_slice(draws = 1000, burnin = 300, chains = 1, keep_effects = FALSE)
  rows <- lapply(0:1, function(truth) {
    seen <- quietly(case$ratios(truth, sets, engine))
    data.frame(truth, sets, t(colMeans(seen)))
  })
  do.call(rbind, rows)
}

# ---- all of it ----------------------------------------------------------------------------------

bind <- function(results, part) do.call(rbind, lapply(results, `[[`, part))

cases <- expand.grid(likelihood = names(likelihoods), study = names(studies),
                     stringsAsFactors = FALSE)
results <- unname(Map(study_results, cases$study, cases$likelihood))
stored <- list(moments = bind(results, "moments"), exact = bind(results, "exact"),
               times = bind(results, "times"),
               studies = do.call(rbind, lapply(names(studies), study_facts)),
               pareto = pareto_table(), rates = rate_table(), coverage = coverage_table(),
               groups = group_table(), processor = processor(), date = format(Sys.Date()),
               versions = paste0(R.version.string, ", ", packages(c("lme4", "rstanarm", "rstan"))))
print(stored[setdiff(names(stored), "moments")])
saveRDS(stored, file.path(getOption("bsvm.bench"), "..", "vignettes", "how-exact.rds"))
