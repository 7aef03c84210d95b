#' Ridge prior
#'
#' Independent normal priors with mean zero and one common variance, which is either inferred or
#' fixed.
#'
#' @details
#' All coefficients with this prior share its variance. By default, and with `variance =
#' prior_half_t()` or `prior_inv_gamma()`, the variance is inferred together with the coefficients.
#' With a number it is fixed.
#'
#' **The default** is a half-t distribution on the standard deviation, [prior_half_t()]. It lets the
#' variance go to zero if the predictors have no effect. It bounds the variance if the classes can
#' be separated or a factor has few levels. The scale of this distribution is in the following units
#' (see [prior_half_t()]):
#' * for slopes, a standard deviation of the predictor;
#' * for varying slopes, the root mean square of the covariate;
#' * for smooth terms, the root mean square of the penalised part of the function.
#'
#' The prior of Luts and Ormerod (2014) is `prior_ridge(shape = 0.01, scale = 0.01)`. It does not
#' bound the variance from below or above, so the coefficients of separated classes diverge.
#'
#' Under the pseudo-likelihood a variance \eqn{s^2} is the penalty \eqn{1/(4 s^2)} of Luts and
#' Ormerod (2014), and the `cost` of LIBSVM and e1071 is \eqn{2 s^2}. The variance refers to the
#' coefficients of standardised predictors if [bsvm()] standardises, which is the default.
#'
#' Correlated group effects, as in `(x | g)`, have a covariance matrix instead of a variance. See
#' [prior_inv_wishart()], also for the meaning of `prior_half_t()` in this case.
#'
#' @param shape,scale Shape and scale of an inverse-gamma distribution of the variance: positive
#'   numbers. If only one is given, the other is 0.01 (a default `scale` is smaller under the
#'   normalised likelihood, see [prior_inv_gamma()]). Shorthand for `variance =
#'   prior_inv_gamma(shape, scale)`.
#' @param variance Instead of `shape` and `scale`: a positive number, which fixes the variance, or
#'   its distribution, [prior_half_t()] (default) or [prior_inv_gamma()].
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` if a number is not positive and finite, or if the variance is given in both
#' ways.
#' @references
#' Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
#' *Bayesian Analysis*, 1, 515-534.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#' support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#' 163-176 (Algorithms 1 and 2).
#' @seealso [prior_flat()], [prior_inv_wishart()]; [prior_for()] lists the parts of a model that can
#' be given a prior, [prior_summary()] the priors of a fit.
#' @examples
#' # does shrinkage change the estimates?
#' fit <- bsvm(disease ~ sex + age + log1p(duration), data = cath, prior = prior_ridge())
#' cbind(inferred = fixef(fit), given = fixef(update(fit, prior = prior_ridge(variance = 0.01))))
#'
#' # its own variance for one predictor, a fixed one for the others
#' own <- update(fit, prior = list(prior_ridge(variance = 1), age = prior_ridge()))
#' prior_summary(own)
#' @export
prior_ridge <- function(shape = NULL, scale = NULL, variance = NULL) {
  given <- !is.null(shape) || !is.null(scale)
  if (!is.null(variance) && given) {
    abort("prior", "prior_ridge() takes either `variance` or `shape` and `scale`, not both.")
  }
  if (is.null(variance)) {
    variance <- if (!given) prior_half_t()
                else prior_inv_gamma(if (is.null(shape)) 0.01 else shape, scale)
  }
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
