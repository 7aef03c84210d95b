# Linear-response covariance of the population-level coefficients (Giordano, Broderick & Jordan
# 2018): how the means of a variational fit move when its log posterior is tilted.

covariance_methods <- c("posterior", "linear_response", "sandwich")

# The fit with the covariance that `method` asks for.
with_method <- function(object, method, env) {
  method <- pick_one(method, covariance_methods, "method")
  if (method == "posterior") return(object)
  if (method == "sandwich") return(with_sandwich(object, env))
  check_variational(object)
  refuse_modelled(object, "`method = \"linear_response\"`")
  refuse_factors(object, "`method = \"linear_response\"`")
  rows <- rows_again(object, env)
  options <- c(object$control[c("tol", "max_passes", "threads")],
               list(verbose = FALSE, start = object$posterior$mean / object$design$unit))
  object$posterior$covariance <- object$design$unit^2 * with_core_conditions(
    core_linear_response(problem_again(object, rows), model_again(object), options)
  )
  object
}

check_variational <- function(object) {
  refuse <- function(...) {
    abort("unsupported", "`method = \"linear_response\"` corrects the covariance of variational ",
          "fits by engine_vb(): ", ..., " Leave `method` out.")
  }
  if (!is.null(object$sampling)) refuse("that of this fit is of draws from the posterior itself.")
  why <- trait(object$engine, "linear_response")
  if (!is.null(why)) refuse(why)
  if (selects_any(object$blocks)) {
    refuse("with a prior that selects their objective has several optima, and may jump.")
  }
  if (!is.null(object$design$sparse)) {
    abort("unsupported", "`method = \"linear_response\"` is not available with sparse predictors, ",
          "of whose coefficients no covariance matrix is formed.")
  }
}
