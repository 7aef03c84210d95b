#' Gaussian likelihood
#'
#' A likelihood with normal residuals for a numeric response, for comparison with the likelihoods of
#' support vector regression.
#'
#' @details
#' The response is \eqn{y = f + e}{y = f + e}, where \eqn{e} is normal with mean zero and standard
#' deviation `scale`. With the same priors and formula, [engine_gaussian()] and [engine_slice()] fit
#' the same model as other Bayesian packages for linear mixed and additive models. The likelihood is
#' not robust against outliers; [likelihood_eps_insensitive()] is.
#'
#' @param scale The standard deviation of the residuals, in units of the response. `NULL` (default)
#'   infers it under `prior_half_t(3)`, with the median absolute deviation of the response as the
#'   scale of this prior. A positive number fixes it; [prior_half_t()] or [prior_inv_gamma()] is a
#'   prior (the latter for its square). A one-sided formula, such as `~ x`, lets it differ by row
#'   ([likelihood_eps_insensitive()]).
#' @param residual With several responses ([responses]): are the residuals of a row `"correlated"`
#'   (default) or `"independent"`? `"paper"` adds a second, independent normal residual for each
#'   response to the correlated residuals, for comparison. Only the sum of both covariances is
#'   identified.
#' @return An object of class `bsvm_likelihood`.
#' @section Errors:
#' `bsvm_error_argument` for an invalid `scale`.
#' @seealso [likelihood_eps_insensitive()].
#' @examples
#' # how far does a car need to stop, and how exact is that?
#' fit <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_gaussian())
#' sigma(fit)
#' predict(fit, data.frame(speed = 15), interval = "prediction")
#' @export
likelihood_gaussian <- function(scale = NULL, residual = c("correlated", "independent", "paper")) {
  residual <- pick_one(residual, residual_kinds, "residual")
  given <- fixed_number(scale, "scale")
  likelihood <- new_likelihood(
    "normal", if (is.null(given)) numeric(0) else c(sd = unname(given)), "Gaussian", TRUE,
    class = c("gaussian", "residual"),
    priors = Filter(Negate(is.null), list(scale = prior_of_number(scale, "scale")))
  )
  likelihood$scale_formula <- scale_formula(scale)
  likelihood$residual <- residual
  with_given_values(likelihood)
}

# Kinds of residuals of several responses (R/responses.R).
residual_kinds <- c("correlated", "independent", "paper")

residual_sd <- function(values) if (is.null(values$sd)) values$scale else values$sd

#' @export
residual_density.bsvm_likelihood_gaussian <- function(likelihood, values, r) {
  stats::dnorm(r, 0, residual_sd(values), log = TRUE)
}

#' @export
residual_cdf.bsvm_likelihood_gaussian <- function(likelihood, values, t, sd) {
  stats::pnorm(t, 0, sqrt(residual_sd(values)^2 + sd^2))
}

#' @export
residual_quantile.bsvm_likelihood_gaussian <- function(likelihood, values, p) {
  stats::qnorm(p, 0, residual_sd(values))
}

#' @export
residual_moments.bsvm_likelihood_gaussian <- function(likelihood, values) {
  list(mean = 0, variance = residual_sd(values)^2)
}

#' @export
expected_terms.bsvm_likelihood_gaussian <- function(likelihood, y, weight, mean, variance) {
  precision <- weight / residual_sd(likelihood$values)^2
  list(slope = precision * (y - mean), curvature = precision)
}

# p^weight is a normal density of variance s^2/weight times a constant.
#' @export
log_average.bsvm_likelihood_gaussian <- function(likelihood, y, weight, mean, variance) {
  square <- residual_sd(likelihood$values)^2
  own <- square / weight
  stats::dnorm(y, mean, sqrt(own + variance), log = TRUE) +
    (log(2 * pi * own) - weight * log(2 * pi * square)) / 2
}

#' @export
residual_score.bsvm_likelihood_gaussian <- function(likelihood, r) {
  r / residual_sd(likelihood$values)^2
}

# Every residual but zero pulls.
#' @export
is_support.bsvm_likelihood_gaussian <- function(likelihood, y, f) y != f

# Of normal residuals and effects the Gaussian of all together is exact.
#' @export
integrates.bsvm_likelihood_gaussian <- function(likelihood, effects) FALSE

#' @export
unit_numbers.bsvm_likelihood_gaussian <- function(likelihood) c("sd", "scale")

#' @export
model_title.bsvm_likelihood_gaussian <- function(likelihood) "Bayesian regression"
