#' The lower bound of a fit
#'
#' The variational lower bound on the log evidence (the log marginal likelihood, or
#' pseudo-likelihood) at the end of a fit, or an estimate of the log evidence itself, with every
#' normalising constant of the priors, so that it can be compared with another program's and between
#' priors on the same data.
#'
#' @details
#' It is \eqn{E_q[\log p(y, b, s^2) - \log q(b, s^2)]}{E_q[log p - log q]}, with the hinge part in
#' closed form. The bound refers to the scale of the priors: with `standardize = TRUE`
#' the coefficients of standardised predictors, with `standardize = FALSE` those of the design as
#' given. Under the pseudo-likelihood it bounds the evidence of what is not normalised over the
#' response: differences between fits to the same response rank models under that loss, and no more.
#'
#' **`engine_gaussian()`.** Its bounds given the variances are summed over their values. So the
#' number is an estimate of the log evidence: close, and above [engine_vb()]'s bound, but where
#' group effects are integrated out (normal laws at modes), and for the sum over the grid, not a
#' bound. Compare fits by the same engine.
#'
#' **Flat priors.** Each coefficient with [prior_flat()] costs about the log of the ratio of its
#' prior to its posterior standard deviation, several nats (the prior's is 1e4 by default), however
#' much it is worth. So the bounds of models that differ in flat coefficients do not compare. In
#' the toenail data of the package HSAUR3, dropping the clear interaction of treatment and time
#' raises the bound from -1222.5 to -1213.4. Compare such models by [holdout()] or
#' [loo()][loo.bsvm], or with [prior_ridge()] on these coefficients.
#'
#' @param object A fit from [bsvm()] with `engine_vb()` or `engine_gaussian()`. For several responses
#'   with correlated residuals ([responses]) the value is an estimate of the log evidence by
#'   importance sampling. With independent residuals it is the sum over the responses.
#' @param ... Not used.
#' @return One number. For a fit by [engine_gibbs()] or [engine_slice()], which have draws and no
#'   bound, or by [engine_map()], which has a mode, an error of class `bsvm_error_unsupported`.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Sections 2 and 3).
#' @seealso [plot.bsvm()] with `which = "bound"` for its path.
#' @examples
#' small <- bsvm(am ~ mpg, data = mtcars, engine = "vb")
#' large <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
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
