#' Lower bound on the log evidence
#'
#' `elbo()` returns the variational lower bound on the log evidence of a fit, or an estimate of the
#' log evidence itself. The evidence is the marginal likelihood, or pseudo-likelihood. All
#' normalising constants of the priors are included, so that values can be compared between priors
#' on the same data, and with other programs.
#'
#' @details The bound is \eqn{E_q[\log p(y, b, s^2) - \log q(b, s^2)]}{E_q[log p - log q]}. It
#'   refers to the scale of the priors: coefficients of standardised predictors with
#'   `standardize = TRUE`, and of the design as given with `standardize = FALSE`. Under the
#'   pseudo-likelihood it bounds an evidence that is not normalised over the response. Differences
#'   between fits to the same response then only rank models under this loss.
#'
#' **`engine_gaussian()`.** The bounds given the variances are summed over a grid of variances. The
#' result is close to the log evidence and above the bound of [engine_vb()]. It is an estimate, not
#' a bound, because of the sum over the grid and, if group effects are integrated out, the normal
#' approximations at modes. Compare fits by the same engine.
#'
#' **Flat priors.** Each coefficient with [prior_flat()] lowers the bound, however useful the
#' coefficient is. It costs about the log of the ratio of its prior to its posterior standard
#' deviation, several nats (the prior standard deviation is 1e4 by default). Bounds of models that
#' differ in flat coefficients are therefore not comparable. In the toenail data of the package
#' HSAUR3, dropping the clear interaction of treatment and time raises the bound from -1222.5 to
#' -1213.4. Compare such models by [holdout()] or [loo()][loo.bsvm], or with [prior_ridge()] on
#' these coefficients.
#'
#' @param object A fit from [bsvm()] with `engine_vb()` or `engine_gaussian()`. For several
#'   responses with correlated residuals ([responses]) the value is an estimate of the log evidence
#'   by importance sampling. With independent residuals it is the sum over the responses.
#' @param ... Not used.
#' @return One number. A fit with [engine_gibbs()] or [engine_slice()] has draws and no bound, and a
#'   fit with [engine_map()] has a mode; both are errors of class `bsvm_error_unsupported`.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Sections 2 and 3).
#' @seealso [plot.bsvm()] with `which = "bound"` for its path.
#' @examples
#' # do the data favour a model with the duration of the symptoms?
#' small <- bsvm(disease ~ sex + age, data = cath)
#' large <- update(small, . ~ . + log1p(duration))
#' elbo(large) - elbo(small)
#' @export
elbo <- function(object, ...) {
  UseMethod("elbo")
}

#' @rdname elbo
#' @export
elbo.bsvm <- function(object, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "elbo()", NULL)
  if (is_independent(object$engine)) {
    abort("unsupported", "The log evidence is of all responses together. Use elbo() of the fit to ",
          "all of them.")
  }
  if (is.null(object$elbo)) {
    abort("unsupported", "A fit by ", call_of_engine(object), " has ",
          if (is.null(object$sampling)) "a mode" else "draws", " and no lower bound. elbo() is ",
          "for fits with `engine = engine_vb()` or `engine = engine_gaussian()`.")
  }
  object$elbo
}
