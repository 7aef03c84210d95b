# Results of the vignette `defaults`: bsvm() without any choice compared with the papers' model,
# logistic regression and two support vector machines on data sets of other packages, and the
# coverage of its intervals in simulations. Data come from MASS, HSAUR3, kernlab, mlbench and lme4.
# Rscript vignettes/precompute/defaults.R [splits [data sets]]; some five minutes of one core.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
for (part in c("papers.R", "coverage.R")) source(file.path(here, "..", "..", "bench", part))
suppressPackageStartupMessages(library(bsvm))

asked <- as.integer(commandArgs(trailingOnly = TRUE))
splits <- c(asked, 20L)[1L]
sets <- c(asked[-1L], 300L)[1L]
quiet <- bsvm_control(verbose = FALSE)

# ---- the problems: list(formula, data) each, the response a factor -----------------------------

from <- function(name, package) {
  here <- new.env()
  utils::data(list = name, package = package, envir = here)
  here[[name]]
}

two_species <- function(species) {
  data <- droplevels(iris[iris$Species %in% species, ])
  list(Species ~ ., data)
}

ionosphere <- function() {
  data <- from("Ionosphere", "mlbench")[-2L] # the second column does not vary
  data$V1 <- as.numeric(data$V1)
  list(Class ~ ., data)
}

birthwt <- function() {
  data <- from("birthwt", "MASS")
  data[c("low", "race")] <- lapply(data[c("low", "race")], factor)
  list(low ~ age + lwt + race + smoke + ptl + ht + ui + ftv, data)
}

herds <- function() {
  counted <- from("cbpp", "lme4")
  animals <- function(size, ill) rep(0:1, c(size - ill, ill))
  data <- counted[rep(seq_len(nrow(counted)), counted$size), c("herd", "period")]
  data$ill <- factor(unlist(Map(animals, counted$size, counted$incidence)))
  list(ill ~ period + (1 | herd), data)
}

ticks <- function() {
  data <- from("grouseticks", "lme4")
  list(ticks ~ YEAR + height + (1 | BROOD),
       transform(data, ticks = factor(TICKS > 0), height = as.vector(scale(HEIGHT))))
}

problems <- list(
  "Pima" = function() list(type ~ ., rbind(from("Pima.tr", "MASS"), from("Pima.te", "MASS"))),
  "birthwt" = birthwt,
  "crabs, sex" = function() list(sex ~ FL + RW + CL + CW + BD, from("crabs", "MASS")),
  "crabs, sp" = function() list(sp ~ FL + RW + CL + CW + BD, from("crabs", "MASS")),
  "Sonar" = function() list(Class ~ ., from("Sonar", "mlbench")),
  "Ionosphere" = ionosphere,
  "spam" = function() list(type ~ ., from("spam", "kernlab")),
  "iris 1-2" = function() two_species(c("setosa", "versicolor")),
  "iris 2-3" = function() two_species(c("versicolor", "virginica")),
  "mtcars" = function() list(am ~ wt + hp + qsec + gear + carb,
                             transform(mtcars, am = factor(am))),
  "bacteria" = function() list(y ~ trt + week + (1 | ID), from("bacteria", "MASS")),
  "toenail" = function() list(outcome ~ time * treatment + (1 | patientID),
                              from("toenail", "HSAUR3")),
  "cbpp" = herds,
  "grouseticks" = ticks
)

# ---- models, each a function of the training rows ------------------------------------------------

papers_model <- function(formula) {
  prior <- papers_prior(grouping_of(formula))
  function(data) {
    bsvm(formula, data, likelihood = "hinge", prior = prior, engine = "vb", control = quiet)
  }
}

# Logistic regression, with the groups where there are some.
logistic <- function(formula) {
  if (is.null(grouping_of(formula))) {
    return(function(data) stats::glm(formula, stats::binomial, data))
  }
  function(data) {
    fit <- lme4::glmer(formula, data, stats::binomial)
    function(new) {
      list(prob = stats::predict(fit, new, type = "response", allow.new.levels = TRUE))
    }
  }
}

linear_machine <- function(formula) {
  formula <- reformulas::nobars(formula)
  function(data) {
    fit <- e1071::svm(formula, data, kernel = "linear", probability = TRUE)
    function(new) {
      class <- stats::predict(fit, new, probability = TRUE)
      list(class = class, prob = attr(class, "probabilities")[, levels(class)[2L]])
    }
  }
}

kernel_machine <- function(formula) {
  formula <- reformulas::nobars(formula)
  function(data) {
    utils::capture.output( # the fit prints its iterations
      fit <- kernlab::ksvm(formula, data, kernel = "rbfdot", prob.model = TRUE)
    )
    function(new) {
      prob <- kernlab::predict(fit, new, type = "probabilities")
      list(class = kernlab::predict(fit, new), prob = prob[, kernlab::lev(fit)[2L]])
    }
  }
}

grouping_of <- function(formula) {
  bars <- reformulas::findbars(formula)
  if (length(bars) > 0L) deparse(bars[[1L]][[3L]])
}

# A formula is a model with all defaults.
models_of <- function(formula) {
  list("default" = formula, "papers' VB" = papers_model(formula), "glm, glmer" = logistic(formula),
       "linear SVM" = linear_machine(formula), "kernel SVM" = kernel_machine(formula))
}

# ---- hold-out ------------------------------------------------------------------------------------

metrics <- c("ber", "log_score", "brier", "slope", "seconds")

# The study, and its means and differences by summary(). Without the splits, which are most of it.
judge <- function(name, by_group = FALSE) {
  formula <- problems[[name]]()[[1L]]
  data <- problems[[name]]()[[2L]]
  times <- min(splits, if (nrow(data) > 4000L || by_group) max(splits %/% 2L, 1L) else splits)
  group <- if (by_group) data[[grouping_of(formula)]]
  set.seed(1L)
  found <- timed(holdout(models_of(formula), data, times = times, group = group,
                         metrics = metrics))
  message(sprintf("%s%s: %d rows, %.0f s", name, if (by_group) ", new groups" else "", nrow(data),
                  found$seconds))
  said <- summary(found$value)
  study <- found$value
  study$value <- signif(study$value, 6L)
  attr(study, "splits") <- NULL
  attr(study, "runs") <- NULL
  list(study = study, means = said$means, differences = said$differences,
       rows = nrow(data), engine = bsvm(formula, data, control = quiet)$engine$name,
       predictors = length(attr(stats::terms(reformulas::nobars(formula), data = data),
                                "term.labels")),
       groups = if (!is.null(grouping_of(formula))) nlevels(factor(data[[grouping_of(formula)]])))
}

grouped <- Filter(function(name) !is.null(grouping_of(problems[[name]]()[[1L]])), names(problems))
studies <- sapply(names(problems), judge, simplify = FALSE)
new_groups <- sapply(grouped, judge, by_group = TRUE, simplify = FALSE)

# ---- coverage ------------------------------------------------------------------------------------

papers_intervals <- function(design, engine, sets) {
  intervals_of(design, sets, likelihood = "hinge", engine = engine,
               prior = papers_prior(grouping_of(design$formula)))
}

# The second in the plain design is the run of bench/coverage.R, with its data sets.
interval_makers <- list(
  "default" = function(design) intervals_of(design, sets),
  "papers' model, engine_gaussian()" = function(design) {
    papers_intervals(design, "gaussian", min(sets, 200L))
  },
  "papers' VB" = function(design) papers_intervals(design, "vb", sets)
)

coverage_row <- function(design, model) {
  found <- timed(interval_makers[[model]](designs[[design]]))
  covered <- coverage_of(found$value)
  message(sprintf("%s, %s: coverage %.3f to %.3f, %.0f s", design, model, min(covered),
                  max(covered), found$seconds))
  data.frame(design, model, lowest = min(covered), highest = max(covered),
             false_positives = false_positives_of(found$value),
             spread = stats::median(spread_of(found$value)), sets = dim(found$value)[3L],
             seconds = found$seconds / dim(found$value)[3L])
}

cases <- expand.grid(model = names(interval_makers), design = names(designs),
                     stringsAsFactors = FALSE)
coverage <- do.call(rbind, Map(coverage_row, cases$design, cases$model, USE.NAMES = FALSE))

store("defaults", list(studies = studies, new_groups = new_groups, coverage = coverage))
