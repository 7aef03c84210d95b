# Probabilities of fits beside those of kernlab::ksvm() (Platt's, by threefold cross-validation), on
# the same random splits of five data sets; and their calibration on data of the normalised model.

source(file.path(getOption("bsvm.bench"), "studies.R"), local = TRUE)

run <- function() {
  needed <- c("kernlab", "mlbench", "HSAUR3")
  beside <- if (installed(needed)) {
    do.call(rbind, lapply(names(judged), study_figures))
  } else {
    skipped("five data sets", "The packages kernlab, mlbench and HSAUR3 are needed.")
  }
  rbind(beside, simulated_figures())
}

judged <- c(studies[c("toenail", "pima", "sonar", "spam")], list(
  ionosphere = function() list(Class ~ ., ionosphere_data())
))

# Its second column does not vary.
ionosphere_data <- function() {
  here <- new.env()
  utils::data("Ionosphere", package = "mlbench", envir = here)
  own <- here$Ionosphere[-2L]
  own$V1 <- as.numeric(own$V1)
  own
}

by_ksvm <- function(formula, kernel) {
  without_bars <- reformulas::nobars(formula)
  function(data) {
    fit <- NULL
    utils::capture.output(fit <- kernlab::ksvm(without_bars, data, kernel = kernel,
                                               prob.model = TRUE))
    function(new) kernlab::predict(fit, new, type = "probabilities")
  }
}

study_figures <- function(name) {
  study <- judged[[name]]()
  by_bsvm <- function(likelihood) {
    bsvm(study[[1L]], study[[2L]], engine = engine_gaussian(), prior = prior_of(study),
         likelihood = likelihoods[[likelihood]])
  }
  models <- list(pseudo = by_bsvm("pseudo"), normalised = by_bsvm("normalised"),
                 ksvm = by_ksvm(study[[1L]], "vanilladot"), rbf = by_ksvm(study[[1L]], "rbfdot"))
  set.seed(1)
  seen <- holdout(models, study[[2L]], times = splits(name),
                  metrics = c("brier", "log_score", "slope"))
  brier_rows(name, seen, models)
}

# The paper's hundred, but where a split takes long.
splits <- function(name) switch(name, spam = 5L, toenail = 20L, 100L)

brier_rows <- function(name, seen, models) {
  of <- function(model, metric) seen$value[seen$model == model & seen$metric == metric]
  rows <- lapply(names(models), function(model) {
    label <- function(what) paste0(name, ", ", model, ": ", what)
    rbind(figure(label("Brier score"), mean(of(model, "brier")), ""),
          figure(label("log score"), mean(of(model, "log_score")), ""),
          figure(label("calibration slope"), mean(of(model, "slope"), na.rm = TRUE), ""))
  })
  less <- of("pseudo", "brier") - of("ksvm", "brier")
  rbind(do.call(rbind, rows),
        figure(paste0(name, ", pseudo less ksvm: Brier score"), mean(less), "", at_most = 0),
        figure(paste0(name, ", pseudo less ksvm: its standard error"),
               stats::sd(less) / sqrt(length(less)), ""))
}

# Three slopes and an intercept of the normalised model's own law.
simulated_figures <- function(n = 500L, tested = 20000L) {
  set.seed(1)
  draw <- function(n) {
    x <- matrix(stats::rnorm(3L * n), n, dimnames = list(NULL, c("x1", "x2", "x3")))
    f <- drop(cbind(1, x) %*% c(0.1, 0.6, -0.4, 0.2))
    odds <- 2 * pmax(1 + f, 0) - 2 * pmax(1 - f, 0)
    data.frame(y = stats::rbinom(n, 1L, stats::plogis(odds)), x)
  }
  slopes <- vapply(seq_len(20L), function(set) {
    data <- draw(n)
    new <- draw(tested)
    vapply(likelihoods, function(likelihood) {
      fit <- bsvm(y ~ ., data, engine = engine_gaussian(), likelihood = likelihood,
                  prior = papers_prior())
      calibration(predict(fit, new, type = "prob"), new$y)$line[["slope"]]
    }, 0)
  }, c(0, 0))
  rbind(figure("simulated, normalised: calibration slope", mean(slopes["normalised", ]), "",
               near = 1, within = 0.1),
        figure("simulated, pseudo-likelihood: calibration slope", mean(slopes["pseudo", ]), ""))
}
