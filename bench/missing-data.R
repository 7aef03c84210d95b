# Makes vignettes/missing-data.rds, the stored results of the vignette:
# BSVM_ACATH=path/of/acath.csv Rscript bench/missing-data.R
# The cardiac catheterisation data five ways: complete rows and all, under both likelihoods.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
options(bsvm.bench = dirname(normalizePath(file)), width = 120L)
suppressPackageStartupMessages(library(bsvm))
for (part in c("figures.R", "timing.R", "machine.R", "papers.R", "cardiac-data.R"))
  source(file.path(getOption("bsvm.bench"), part))

if (nzchar(cardiac_missing())) stop(cardiac_missing())
data <- cardiac_data()
honest <- likelihood_hinge(normalized = TRUE)
gibbs <- engine_gibbs(draws = 5000, burnin = 1000, chains = 4, keep_effects = FALSE)

fit_rows <- function(missing, engine, likelihood) {
  suppressMessages(bsvm(cardiac_formula, data, missing = missing, engine = engine,
                        likelihood = likelihood, prior = papers_prior()))
}

fits <- list(
  complete_pseudo = function() fit_rows(missing_omit(), gibbs, likelihood_hinge()),
  complete_honest = function() fit_rows(missing_omit(), engine_gaussian(), honest),
  all_vb = function() fit_rows(missing_normal(), engine_vb(), likelihood_hinge()),
  all_gibbs = function() fit_rows(missing_normal(), gibbs, likelihood_hinge()),
  all_honest = function() fit_rows(missing_normal(), engine_gaussian(), honest)
)

effects_of <- function(name) {
  message(name, " ...")
  set.seed(1L)
  taken <- seconds(function() fit <<- fits[[name]]())
  if (taken < 2) taken <- median_of(interleaved(fits[name], times = 5L))[[1L]]
  interval <- suppressMessages(confint(fit))
  list(effects = data.frame(fit = name, term = names(fixef(fit)), mean = unname(fixef(fit)),
                            lower = interval[, 1L], upper = interval[, 2L], row.names = NULL),
       facts = data.frame(fit = name, rows = nobs(fit), seconds = taken),
       imputed = imputed_by_class(fit, name))
}

fit <- NULL
raw <- utils::read.csv(Sys.getenv("BSVM_ACATH"))$choleste

# In mg %: means of the imputed means and the spread of an imputed value, by class.
imputed_by_class <- function(fit, name) {
  if (is.null(fit$missing)) return(NULL)
  found <- imputed(fit)
  sick <- data$disease[found$row] == 1
  center <- mean(raw, na.rm = TRUE)
  scale <- stats::sd(raw, na.rm = TRUE)
  one <- function(class) {
    at <- sick == class
    data.frame(fit = name, disease = class, mean = center + scale * mean(found$mean[at]),
               sd = scale * sqrt(mean(found$sd[at]^2) + stats::var(found$mean[at])))
  }
  rbind(one(FALSE), one(TRUE))
}

observed_by_class <- function() {
  one <- function(class) {
    v <- raw[data$disease == class]
    data.frame(fit = "observed", disease = class, mean = mean(v, na.rm = TRUE),
               sd = stats::sd(v, na.rm = TRUE))
  }
  rbind(one(FALSE), one(TRUE))
}

results <- lapply(names(fits), effects_of)
bind <- function(part) do.call(rbind, lapply(results, `[[`, part))
stored <- list(effects = bind("effects"), facts = bind("facts"),
               imputed = rbind(observed_by_class(), bind("imputed")),
               absent = sum(is.na(raw)), processor = processor(), date = format(Sys.Date()),
               versions = R.version.string)
print(stored)
saveRDS(stored, file.path(getOption("bsvm.bench"), "..", "vignettes", "missing-data.rds"))
