#' Flat prior
#'
#' Independent normal priors with mean zero and a variance so large that they do not shrink. Columns
#' with this prior are neither penalised nor standardised.
#'
#' @details
#' The prior is proper, so the lower bound remains comparable (see [elbo()] for models that differ
#' in coefficients with flat priors). If the data contain no information about a coefficient
#' (collinear columns, perfectly separable classes), it keeps a finite mean and a huge standard
#' deviation, and the fit warns (class `bsvm_warning_rank`).
#'
#' @param variance A positive number, 1e8 by default as in Luts and Ormerod (2014).
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` if `variance` is not a positive finite number.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 2).
#' @seealso [prior_ridge()].
#' @examples
#' # do the estimates change without any shrinkage?
#' fit <- bsvm(disease ~ sex + age, data = cath, prior = prior_flat())
#' prior_summary(fit)
#' cbind(flat = fixef(fit), default = fixef(update(fit, prior = prior_ridge())))
#' @export
prior_flat <- function(variance = 1e8) {
  variance <- check_positive(variance, "variance", "prior")
  new_prior("normal", c(variance = variance), paste0("flat, variance ", format(variance)), FALSE)
}
