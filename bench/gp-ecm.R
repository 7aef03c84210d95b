# The paper's algorithm (001), corrected, beside the default: four data sets of 001, Table 1, on
# random halves, the same for both. Pseudo-inputs are in gp-usps.R. BSVM_REPEATS has the number of
# halves.

for (part in c("gp-data.R", "gp-rivals.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  if (!installed(c("mlbench", "MASS"))) {
    return(skipped("four data sets", "The packages mlbench and MASS are needed."))
  }
  rbind(figure("random halves", repeats(20L), ""),
        do.call(rbind, lapply(c("crabs", "ionosphere", "pima", "sonar"), halves)))
}

halves <- function(name) {
  data <- gp_sets[[name]]()
  clock <- study_clock()
  models <- list(default = timed_bsvm(clock, "default", y ~ gp(.)),
                 ecm = timed_bsvm(clock, "ecm", y ~ gp(.), likelihood = "hinge",
                                  engine = engine_ecm()))
  set.seed(1)
  study <- suppressMessages(suppressWarnings(
    holdout(models, data, times = repeats(20L), prop = 0.5, response = "y",
            metrics = c("error", "log_score"), progress = FALSE)
  ))
  study_rows(name, study_summary(study, clock), nrow(data))
}
