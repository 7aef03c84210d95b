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
#' To compare models use [elbo()] of fits by [engine_vb()], which bounds the evidence of the same
#' pseudo-likelihood, or the errors on rows left out of the fit.
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
  refuse_normalised("logLik(), AIC() and BIC() are")
}

#' @rdname logLik.bsvm
#' @export
anova.bsvm <- function(object, ...) {
  refuse_normalised("anova() is")
}

#' @rdname logLik.bsvm
#' @importFrom rstantools log_lik posterior_predict
#' @export
log_lik.bsvm <- function(object, ...) {
  refuse_normalised("log_lik() is")
}

#' @rdname logLik.bsvm
#' @export
posterior_predict.bsvm <- function(object, ...) {
  abort("unsupported", "posterior_predict() is not defined for this fit: the hinge ",
        "pseudo-likelihood is not normalised over the two classes, so it is no law of the ",
        "response. Use predict() for classes and posterior_linpred() for draws of the link.")
}

#' @rdname logLik.bsvm
#' @importFrom stats simulate
#' @export
simulate.bsvm <- function(object, nsim = 1, seed = NULL, ...) {
  abort("unsupported", "simulate() is not defined for this fit: the hinge pseudo-likelihood is ",
        "not normalised over the two classes, so it is no law to draw responses from; ",
        "posterior_linpred() has draws of the link.")
}

#' @rdname logLik.bsvm
#' @importFrom stats family
#' @export
family.bsvm <- function(object, ...) {
  abort("unsupported", "family() is not defined for this fit: the hinge pseudo-likelihood is no ",
        "exponential family and has no link function; `fit$likelihood` says what was fitted.")
}

#' @rdname logLik.bsvm
#' @importFrom stats deviance
#' @export
deviance.bsvm <- function(object, ...) {
  refuse_normalised("deviance() is")
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
  refuse_normalised("loo() is")
}

#' @rdname logLik.bsvm
#' @exportS3Method loo::waic
waic.bsvm <- function(x, ...) {
  refuse_normalised("waic() is")
}

refuse_normalised <- function(what) {
  abort("unsupported", what, " not defined for this fit: the hinge pseudo-likelihood is not ",
        "normalised over the two classes, so it is not a likelihood of the response. ",
        "To compare models, use elbo(), the lower bound on its evidence by engine_vb(), or the ",
        "error on rows left out of the fit.")
}
