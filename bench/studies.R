# The studies that engine_gaussian() is measured on, each with a formula and data; those without
# groups have standardised predictors and an inferred ridge penalty.

source(file.path(getOption("bsvm.bench"), "spam-data.R"), local = TRUE)

mlbench_data <- function(name, class) {
  here <- new.env()
  utils::data(list = name, package = "mlbench", envir = here)
  own <- here[[name]]
  at <- match(class, names(own))
  data.frame(scale(own[-at]), own[at])
}

answers <- r2 ~ (Anger + Gender + btype + situ)^2 + (1 | id) + (1 | item)

studies <- list(
  toenail = function() list(outcome ~ time * treatment + (1 | patientID), HSAUR3::toenail),
  pima = function() list(diabetes ~ ., mlbench_data("PimaIndiansDiabetes", "diabetes")),
  sonar = function() list(Class ~ ., mlbench_data("Sonar", "Class")),
  spam = function() list(type ~ ., spam_data()),
  verbagg = function() list(answers, lme4::VerbAgg)
)

study_packages <- c("HSAUR3", "mlbench", "kernlab", "lme4")

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))

fit_study <- function(study, likelihood, engine) {
  bsvm(study[[1L]], study[[2L]], engine = engine, likelihood = likelihoods[[likelihood]],
       prior = prior_of(study), standardize = FALSE)
}

prior_of <- function(study) {
  groups <- lapply(reformulas::findbars(study[[1L]]), function(bar) deparse(bar[[3L]]))
  papers_prior(unlist(groups))
}

# Means and standard deviations: population coefficients, then log standard deviations. In units of
# their sds, errors of a log standard deviation and of a log variance are the same.
fit_moments <- function(fit) {
  logs <- log_sd_moments(fit)
  coefficients <- fixef(fit)
  data.frame(parameter = c(names(coefficients), logs$parameter),
             mean = unname(c(coefficients, logs$mean)), sd = c(sqrt(diag(vcov(fit))), logs$sd),
             row.names = NULL)
}

# Of engine_gaussian() over its points, of engine_vb() those of a log inverse-gamma variable.
log_sd_moments <- function(fit) {
  blocks <- Filter(function(block) block$prior$name == "ridge", c(fit$blocks, fit$group_blocks))
  parameter <- paste("log sd of", vapply(blocks, `[[`, "", "label"))
  if (fit$engine$name == "vb") {
    shape <- vapply(blocks, function(block) block$hyper[["shape"]], 0)
    scale <- vapply(blocks, function(block) block$hyper[["scale"]], 0)
    return(data.frame(parameter, mean = (log(scale) - digamma(shape)) / 2,
                      sd = sqrt(trigamma(shape)) / 2))
  }
  theta <- fit$posterior$theta
  mean <- drop(theta %*% fit$posterior$weights)
  data.frame(parameter, mean, sd = sqrt(drop((theta - mean)^2 %*% fit$posterior$weights)))
}
