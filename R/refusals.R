#' What a pseudo-likelihood does not define
#'
#' The support vector machine's loss is the log of a pseudo-likelihood
#' \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}. It does not sum to one over the
#' two classes, and the sum depends on `f`, so it has no log-likelihood to report and no law to draw
#' responses from. `logLik()`, and with it `AIC()` and `BIC()`, `anova()`, `deviance()`,
#' `df.residual()`, `sigma()`, `family()`, `simulate()`, the `log_lik()` and `posterior_predict()`
#' of the package rstantools and the `loo()` and `waic()` of the package loo therefore stop with an
#' error of class `bsvm_error_unsupported`.
#'
#' Under `likelihood_hinge(normalized = TRUE)` there is a likelihood, and [integrated_loglik()] has
#' it at stated parameters, under both. What these functions report of a Bayesian fit, averages over
#' the posterior and penalties made of them, is not there yet, and an error of the same class.
#'
#' To compare models use [elbo()] of fits by [engine_gaussian()] or [engine_vb()] to the same
#' response under the same likelihood, or the errors on rows left out of the fit.
#'
#' For new rows, [predict.bsvm()] gives classes and [posterior_linpred.bsvm()] draws of the link.
#'
#' @param object,x A fit from [bsvm()].
#' @param nsim,seed,... Not used; arguments of the generics.
#' @return None: each call is an error of class `bsvm_error_unsupported`.
#' @references Sollich, P. (2002). Bayesian methods for support vector machines: evidence and
#'   predictive class probabilities. *Machine Learning*, 46, 21-52.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' tryCatch(AIC(fit), bsvm_error_unsupported = conditionMessage)
#' elbo(fit)
#' @export
logLik.bsvm <- function(object, ...) {
  refuse_measure(object, "logLik(), AIC() and BIC()", "are")
}

#' @rdname logLik.bsvm
#' @export
anova.bsvm <- function(object, ...) {
  refuse_measure(object, "anova()")
}

#' @rdname logLik.bsvm
#' @importFrom rstantools log_lik posterior_predict
#' @export
log_lik.bsvm <- function(object, ...) {
  refuse_measure(object, "log_lik()")
}

#' @rdname logLik.bsvm
#' @export
posterior_predict.bsvm <- function(object, ...) {
  refuse_responses(object, "posterior_predict()")
}

#' @rdname logLik.bsvm
#' @importFrom stats simulate
#' @export
simulate.bsvm <- function(object, nsim = 1, seed = NULL, ...) {
  refuse_responses(object, "simulate()")
}

#' @rdname logLik.bsvm
#' @importFrom stats family
#' @export
family.bsvm <- function(object, ...) {
  abort("unsupported", "family() is not defined for this fit: the ", object$likelihood$label,
        " is no exponential family and has no link function; `fit$likelihood` says what was ",
        "fitted.")
}

#' @rdname logLik.bsvm
#' @importFrom stats deviance
#' @export
deviance.bsvm <- function(object, ...) {
  refuse_measure(object, "deviance()")
}

#' @rdname logLik.bsvm
#' @importFrom stats df.residual
#' @export
df.residual.bsvm <- function(object, ...) {
  abort("unsupported", "df.residual() is not defined for this fit: coefficients are shrunk, so ",
        "they do not use up whole degrees of freedom; nobs() has the number of rows.")
}

#' @rdname logLik.bsvm
#' @importFrom stats sigma
#' @export
sigma.bsvm <- function(object, ...) {
  abort("unsupported", "sigma() is not defined for this fit: the response is a class and has no ",
        "residual variance; VarCorr() and summary() have the variances there are.")
}

#' @rdname logLik.bsvm
#' @exportS3Method loo::loo
loo.bsvm <- function(x, ...) {
  refuse_measure(x, "loo()")
}

#' @rdname logLik.bsvm
#' @exportS3Method loo::waic
waic.bsvm <- function(x, ...) {
  refuse_measure(x, "waic()")
}

refuse_measure <- function(object, what, is = "is") {
  if (is_normalised(object$likelihood)) {
    abort("unsupported", what, " ", is, " not there yet for the normalised likelihood: a Bayesian ",
          "fit has a posterior, over which they would have to average. integrated_loglik() has ",
          "the log-likelihood at stated parameters; to compare models, use elbo(), an estimate of ",
          "the log evidence by engine_gaussian(), or the error on rows left out of the fit.")
  }
  abort("unsupported", what, " ", is, " not defined for this fit: the hinge pseudo-likelihood is ",
        "not normalised over the two classes, so it is not a likelihood of the response; ",
        "likelihood_hinge(normalized = TRUE) is one. To compare models, use elbo(), the evidence ",
        "of the pseudo-likelihood by engine_vb() or engine_gaussian(), or the error on rows left ",
        "out of the fit.")
}

refuse_responses <- function(object, what) {
  if (is_normalised(object$likelihood)) {
    abort("unsupported", what, " is not there yet for the normalised likelihood. Use predict() ",
          "for classes and, with `interval = TRUE`, for links.")
  }
  abort("unsupported", what, " is not defined for this fit: the hinge pseudo-likelihood is not ",
        "normalised over the two classes, so it is no law of the response; ",
        "likelihood_hinge(normalized = TRUE) is one. Use predict() for classes and ",
        "posterior_linpred() for draws of the link.")
}
