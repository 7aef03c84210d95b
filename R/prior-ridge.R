#' Ridge prior
#'
#' Independent normal priors with mean zero and one common variance, which is either inferred or
#' given.
#'
#' @details
#' All coefficients that share the prior share its variance. With `shape` and `scale`, or with
#' `variance = prior_inv_gamma()` or `prior_half_t()`, the variance is inferred along with the
#' coefficients; with a number it stays fixed.
#'
#' A variance \eqn{s^2} is the penalty \eqn{1/(4 s^2)} of Luts and Ormerod (2014), and LIBSVM's
#' (and e1071's) `cost` is \eqn{2 s^2}. It refers to the coefficients of standardised predictors
#' if [bsvm()] standardises, which it does by default.
#'
#' A scale that is not given goes with the likelihood (see [prior_inv_gamma()]): under
#' `likelihood_hinge(normalized = TRUE)` it is a sixteenth, 0.000625.
#'
#' Where the classes are separated, or a factor has few levels, the data hardly bound a variance
#' from above, and neither does inverse-gamma(0.01, 0.01); `variance = prior_half_t()` does.
#'
#' Correlated group effects, as in `(x | g)`, have a covariance matrix instead of a variance: see
#' [prior_inv_wishart()], also for what `variance = prior_half_t()` means there.
#'
#' @param shape,scale Shape and scale of an inverse-gamma law of the variance: positive numbers,
#'   0.01 by default (`scale = NULL` is 0.01 under the pseudo-likelihood). Shorthand for
#'   `variance = prior_inv_gamma(shape, scale)`.
#' @param variance Instead of `shape` and `scale`: a positive number, which fixes the variance, or
#'   its law, [prior_inv_gamma()] or [prior_half_t()].
#' @return An object of class `bsvm_prior`.
#' @section Errors: `bsvm_error_prior` if a number is not positive and finite, or both ways of
#'   giving the variance are used.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Algorithms 1 and 2).
#' @seealso [prior_flat()], [prior_inv_wishart()]; [prior_for()] lists what in a model can be given
#'   a prior, [prior_summary()] which prior it had.
#' @examples
#' prior_ridge()
#' prior_ridge(variance = 2)
#' prior_ridge(variance = prior_half_t(df = 3, scale = 2.5))
#'
#' # its own variance for one predictor, a fixed one for the others
#' fit <- bsvm(am ~ mpg + wt + qsec, data = mtcars, engine = "vb",
#'             prior = list(prior_ridge(variance = 1), wt = prior_ridge()))
#' prior_summary(fit)
#' @export
prior_ridge <- function(shape = 0.01, scale = NULL, variance = NULL) {
  if (!is.null(variance) && !(missing(shape) && missing(scale))) {
    abort("prior", "prior_ridge() takes either `variance` or `shape` and `scale`, not both.")
  }
  if (is.null(variance)) variance <- prior_inv_gamma(shape, scale)
  if (inherits(variance, "bsvm_hyperprior")) {
    check_component(variance, "hyperprior")
    prior <- new_prior(variance$name, variance$parameters, paste0("ridge, ", variance$label), TRUE)
    prior$open_scale <- variance$open_scale
    return(prior)
  }
  if (is.object(variance)) {
    abort("prior", "`variance` must be a positive number, prior_inv_gamma() or prior_half_t(); ",
          "found ", describe(variance), ".")
  }
  variance <- check_positive(variance, "variance", "prior")
  new_prior("normal", c(variance = variance), paste0("ridge, variance ", variance), TRUE)
}
