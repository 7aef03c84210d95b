#' Fitted values and residuals
#'
#' `fitted()` returns the linear predictor of each row. `residuals()` returns the argument of the
#' hinge loss or, for a response of numbers, the response minus its fitted value.
#'
#' @details
#' **Classes.** The fitted value of a row is `f`, the posterior mean of the linear predictor (offset
#' and group effects included). The predicted class is its sign. The residual is `1 - y f` with `y`
#' the class as -1 or +1. It is negative for correctly classified rows outside the margin (no loss),
#' between 0 and 1 for those inside the margin, and above 1 for misclassified rows. Rows above 0 are
#' the support vectors counted by [summary.bsvm()].
#'
#' **Numbers.** The fitted value is the posterior mean of the linear predictor, and the residual is
#' the response minus the fitted value. With `type = "tube"` the residual is its distance, with
#' sign, from the tube of [likelihood_eps_insensitive()] at the tube's posterior mean: 0 inside the
#' tube.
#'
#' Rows of weight zero do not affect the fit but have a fitted value.
#'
#' @param object A fit from [bsvm()].
#' @param type `"response"` (default) or, for numbers, `"tube"`.
#' @param ... Not used.
#' @return A numeric vector with one element per row. With `na.action = na.exclude` in the fit, rows
#'   that were excluded for a missing value have `NA`.
#' @examples
#' # which patients have no disease although the model expects it?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' head(cath[order(-residuals(fit)), ])
#' range(fitted(fit))
#' mean(residuals(fit) > 1) # share of rows on the wrong side
#' @export
fitted.bsvm <- function(object, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "fitted()", NULL)
  need_rows(object, "fitted()")
  stats::napredict(object$na.action, object$link)
}

#' @rdname fitted.bsvm
#' @export
residuals.bsvm <- function(object, type = c("response", "tube"), ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "residuals()", NULL)
  need_rows(object, "residuals()")
  type <- pick_one(type, c("response", "tube"), "type")
  residual <- row_residuals(object$likelihood, object$y, object$link)
  if (type == "tube") residual <- beyond_tube(residual, object)
  stats::naresid(object$na.action, residual)
}

# Rows whose loss pulls at the fit, among those that took part in it: of classes those inside the
# margin or misclassified. NA if the fit keeps no rows.
support_rows <- function(object) {
  if (!is.null(object$streamed)) return(NA)
  if (inherits(object$posterior, "bsvm_point") && is_kind(object$response, "classes")) {
    return(seq_along(object$link) %in% support_vectors(object)$row)
  }
  used_rows(object) & is_support(likelihood_at(object), object$y, object$link)
}

used_rows <- function(object) if (is.null(object$weights)) TRUE else object$weights > 0
