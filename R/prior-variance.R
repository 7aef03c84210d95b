#' Laws of a variance
#'
#' What [prior_ridge()] takes as `variance` when the variance is to be inferred.
#'
#' @details
#' `prior_inv_gamma()` is the law of the papers: density proportional to
#' \eqn{v^{-shape-1} \exp(-scale/v)}{v^(-shape-1) exp(-scale/v)} in the variance \eqn{v}.
#' `prior_half_t()` puts a half-t law on the standard deviation, with density proportional to
#' \eqn{(1 + (s/scale)^2/df)^{-(df+1)/2}}{(1 + (s/scale)^2/df)^(-(df+1)/2)}, `s > 0`: it does not
#' keep the variance from zero.
#'
#' @param shape,scale Shape and scale of the inverse-gamma law; for `prior_half_t()`, `scale` is
#'   that of the standard deviation. Positive numbers.
#' @param df Degrees of freedom; a positive number.
#' @return An object of class `bsvm_hyperprior`.
#' @section Errors: `bsvm_error_prior` for a number that is not positive and finite.
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Section 2.2).
#'
#' Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
#' *Bayesian Analysis*, 1, 515-534.
#' @seealso [prior_ridge()].
#' @examples
#' prior_ridge(variance = prior_inv_gamma(2, 1))
#' prior_ridge(variance = prior_half_t(df = 3, scale = 1))
#' @export
prior_inv_gamma <- function(shape = 0.01, scale = 0.01) {
  parameters <- c(shape = check_positive(shape, "shape", "prior"),
                  scale = check_positive(scale, "scale", "prior"))
  new_hyperprior("ridge", parameters,
                 paste0("inverse-gamma(", shape, ", ", scale, ") on the variance"))
}

#' @rdname prior_inv_gamma
#' @export
prior_half_t <- function(df = 3, scale = 1) {
  parameters <- c(df = check_positive(df, "df", "prior"),
                  scale = check_positive(scale, "scale", "prior"))
  new_hyperprior("half_t", parameters,
                 paste0("half-t(", df, ", ", scale, ") on the standard deviation"))
}

# `name` is the core's name of a normal prior whose variance has this law.
new_hyperprior <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label), class = "bsvm_hyperprior")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_hyperprior <- function(x, ...) {
  cat("Law of a variance: ", x$label, "\n", sep = "")
  invisible(x)
}
