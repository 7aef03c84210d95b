# Results of the vignette `cardiac`; BSVM_ACATH has the path of acath.csv (see the vignette):
# BSVM_ACATH=acath.csv Rscript vignettes/precompute/cardiac.R. Some ten minutes on two cores.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
library(bsvm)

raw <- utils::read.csv(Sys.getenv("BSVM_ACATH"))
patients <- with(raw, data.frame(disease = sigdz, sex, age, duration = log1p(cad.dur),
                                 cholesterol = choleste))
patients[-1L] <- lapply(patients[-1L], function(v) as.vector(scale(v)))
formula <- disease ~ sex + age + duration + cholesterol
papers_prior <- prior_ridge(shape = 0.01) # its scale goes with the likelihood
honest <- likelihood_hinge(normalized = TRUE)
train <- function(...) {
  suppressWarnings(suppressMessages(
    bsvm(formula, patients, prior = papers_prior, control = bsvm_control(verbose = FALSE), ...)
  ))
}
sampler <- engine_gibbs(draws = 5000L, burnin = 5000L, chains = 1L)

# A model of complete rows only.
complete <- function(...) {
  arguments <- list(...)
  function(data) {
    data <- stats::na.omit(data)
    do.call(bsvm, c(list(formula, data = data, prior = papers_prior,
                         control = bsvm_control(verbose = FALSE)), arguments))
  }
}
models <- list(
  "VB" = train(missing = missing_normal(), engine = engine_vb(), likelihood = "hinge"),
  "normalised" = train(missing = missing_normal(), engine = engine_gaussian(),
                       likelihood = honest),
  "VB, complete rows" = complete(engine = engine_vb(), likelihood = "hinge"),
  "normalised, complete rows" = complete(engine = engine_gaussian(), likelihood = honest)
)
gibbs <- train(missing = missing_normal(keep_draws = FALSE), engine = sampler, likelihood = "hinge")

study <- function(models, times) {
  message(format(Sys.time(), "%H:%M "), paste(names(models), collapse = ", "))
  set.seed(1L)
  holdout(models, patients, times = times, test = !is.na(cholesterol),
          metrics = c("ber", "error", "brier", "slope", "seconds"), response = disease, cores = 2L)
}
studies <- list(all = study(models, 100L), gibbs = study(list(Gibbs = gibbs), 100L),
                tuned = study(list("tuned SVM" = tuned_svm(formula = formula, times = 10L)), 10L))
stopifnot(identical(holdout_splits(studies$all), holdout_splits(studies$gibbs)),
          identical(holdout_splits(studies$all)[1:10], holdout_splits(studies$tuned)))

store("cardiac", list(values = values_of(studies),
                      rows = nrow(patients), incomplete = sum(is.na(patients$cholesterol))))
