#' What a pseudo-likelihood does not define
#'
#' The support vector machine's loss is the log of a pseudo-likelihood
#' \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}. It does not sum to one over the
#' two classes, and the sum depends on `f`, so it has no log-likelihood to report and no law to draw
#' responses from. `logLik()`, and with it `AIC()` and `BIC()`, `anova()`, and the `log_lik()` and
#' `posterior_predict()` of the package rstantools therefore stop with an error of class
#' `bsvm_error_unsupported`.
#'
#' To compare models use [elbo()] of fits by [engine_vb()], which bounds the evidence of the same
#' pseudo-likelihood, or the errors on rows left out of the fit.
#'
#' For new rows, [predict.bsvm()] gives classes and [posterior_linpred.bsvm()] draws of the link.
#'
#' @param object A fit from [bsvm()].
#' @param ... Not used.
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

refuse_normalised <- function(what) {
  abort("unsupported", what, " not defined for this fit: the hinge pseudo-likelihood is not ",
        "normalised over the two classes, so it is not a likelihood of the response. ",
        "To compare models, use elbo(), the lower bound on its evidence by engine_vb(), or the ",
        "error on rows left out of the fit.")
}
