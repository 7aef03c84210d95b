#' Log-likelihood and related functions that are not defined
#'
#' `logLik()` and related functions stop with an error of class `bsvm_error_unsupported`, because a
#' fit by [bsvm()] has no maximised log-likelihood. The related functions are `AIC()`, `BIC()`,
#' `anova()`, `deviance()`, `step()`, `df.residual()`, `sigma()` for classes, and `family()`.
#'
#' @details
#' **Pseudo-likelihood.** The loss of the support vector machine is minus the log of a
#' pseudo-likelihood, \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}. It does not sum to
#' one over the two classes, and the sum depends on `f`. It is therefore not a distribution of the
#' response: there is no log-likelihood, and responses can't be drawn. The following functions are
#' errors of the same class: [log_lik()][log_lik.bsvm], [loo()][loo.bsvm], [waic()][loo.bsvm],
#' [posterior_predict()][posterior_predict.bsvm], [simulate()][posterior_predict.bsvm],
#' [bayes_R2()][bayes_R2.bsvm] and [pp_check()][pp_check.bsvm].
#'
#' **Likelihood.** Under `likelihood_hinge(normalized = TRUE)`, and for a numeric response, there is
#' a likelihood. The functions of the last paragraph then work with draws from `engine_slice()`, and
#' [integrated_loglik()] returns the log-likelihood at given parameters. For a numeric response,
#' `sigma()` is the standard deviation of the density of the residuals. If their scale differs by
#' row, it is the standard deviation of a response drawn at random from the rows. A Bayesian fit has
#' no single log-likelihood and no maximised one, so `logLik()` and related functions are still an
#' error.
#'
#' **Alternatives.** To compare models use [holdout()], which computes errors on held-out rows for
#' any fits, or [loo()][loo.bsvm] under the normalised likelihood. [elbo()] can't compare models
#' that differ in coefficients with flat priors, or fits with different engines.
#'
#' For new rows, [predict.bsvm()] returns classes and probabilities, and [posterior_linpred.bsvm()]
#' draws of the linear predictor. [calibration()] shows how good the probabilities are.
#'
#' @param object A fit from [bsvm()].
#' @param ... Not used.
#' @return `sigma()` for a numeric response: one number, in its units. All other calls are an error
#'   of class `bsvm_error_unsupported`.
#' @references Sollich, P. (2002). Bayesian methods for support vector machines: evidence and
#'   predictive class probabilities. *Machine Learning*, 46, 21-52.
#' @examples
#' # which of two models is better? AIC() does not say, but loo() does
#' small <- bsvm(outcome ~ 1, data = toenail, subset = visit == 7)
#' large <- update(small, . ~ treatment)
#' tryCatch(AIC(large), bsvm_error_unsupported = conditionMessage)
#' loo_compare(list(small = loo(small), large = loo(large)))
#' @export
logLik.bsvm <- function(object, ...) {
  check_fit(object)
  refuse_measure(object, "logLik(), AIC() and BIC()", "are")
}

#' @rdname logLik.bsvm
#' @export
anova.bsvm <- function(object, ...) {
  check_fit(object)
  refuse_measure(object, "anova()")
}

#' @rdname logLik.bsvm
#' @param fit A fit from [bsvm()].
#' @param scale,k Not used.
#' @importFrom stats extractAIC
#' @export
extractAIC.bsvm <- function(fit, scale = 0, k = 2, ...) {
  check_fit(fit, "fit")
  refuse_measure(fit, "extractAIC(), and with it step() and drop1()", "are")
}

#' @rdname logLik.bsvm
#' @importFrom stats family
#' @export
family.bsvm <- function(object, ...) {
  check_fit(object)
  abort("unsupported", "family() is not defined for this fit: the ", object$likelihood$label,
        " is no exponential family and has no link function; `fit$likelihood` shows what was ",
        "fitted.")
}

#' @rdname logLik.bsvm
#' @importFrom stats deviance
#' @export
deviance.bsvm <- function(object, ...) {
  check_fit(object)
  refuse_measure(object, "deviance()")
}

#' @rdname logLik.bsvm
#' @importFrom stats df.residual
#' @export
df.residual.bsvm <- function(object, ...) {
  check_fit(object)
  abort("unsupported", "df.residual() is not defined for this fit: coefficients are shrunk, so ",
        "they do not use up whole degrees of freedom; nobs() has the number of rows.")
}

#' @rdname logLik.bsvm
#' @importFrom stats sigma
#' @export
sigma.bsvm <- function(object, ...) {
  check_fit(object)
  response_sd(object$likelihood, object)
}

refuse_measure <- function(object, what, is = "is") {
  why <- note_of(object$likelihood, "no_measure")
  if (is.null(why)) why <- "a Bayesian fit has no maximised likelihood"
  abort("unsupported", what, " ", is, " not defined for this fit: ", why, ". ",
        comparison_advice(object))
}

# `fit` is the fit in question, `d` its data, `other` another fit.
comparison_advice <- function(object) {
  study <- paste("To compare models by errors on held-out rows of their data `d`, use",
                 "holdout(list(first = fit, second = other), data = d)")
  drawn <- if (has_factors(object)) takes_normalised(object) else has_exact_draws(object)
  if (!is.null(object$missing) || !drawn) return(paste0(study, "."))
  draws <- if (has_factors(object)) normalised_call else drawn_call
  call <- if (is_law(object$likelihood)) "loo(fit)" else paste0("loo(", draws, ")")
  paste0(study, ". Or use ", call, " for each.")
}

drawn_call <- "update(fit, likelihood = \"normalized\", engine = \"slice\")"

# Could engine_slice() draw under a density of the response, with the fit's priors and structure?
has_exact_draws <- function(object) {
  object$likelihood <- law_of(object$likelihood)
  length(take_parts("slice", object)) > 0L && is.null(object$design$sparse) &&
    takes_learned(engine_slice(), object)
}

refuse_responses <- function(object, what) {
  why <- note_of(object$likelihood, "no_draws")
  abort("unsupported", what, " is not defined for this fit: ", why, ". Use predict() for classes ",
        "and posterior_linpred() for draws of the linear predictor.")
}

# Refuses fits without a density of the response, or without draws: `refuse` says that there is
# none.
need_law <- function(object, what, refuse) {
  need_density(object, what, refuse)
  need_draws(object, what)
}

need_density <- function(object, what, refuse) {
  if (!is_law(object$likelihood)) refuse(object, what)
}
