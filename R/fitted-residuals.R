#' Fitted values and residuals
#'
#' @details
#' The fitted value of a row is its link `f`, the posterior mean of the linear predictor (offset
#' and group effects included); the predicted class is its sign. The residual is `1 - y f` with
#' `y` the class as -1 or +1: the argument of the hinge. It is negative for rows on the right side
#' outside the margin (no loss), between 0 and 1 on the right side inside the margin, and above 1
#' for misclassified rows. Rows above 0 are the support vectors counted by [summary.bsvm()].
#'
#' **Numbers.** The fitted value is the posterior mean of the linear predictor, the residual the
#' response less it. With `type = "tube"` it is how far the residual is outside the tube of
#' [likelihood_eps_insensitive()], at the tube's posterior mean, with its sign: 0 inside.
#'
#' Rows of weight zero take no part in the fit but have a fitted value.
#'
#' @param object A fit from [bsvm()].
#' @param type `"response"` (default) or, for numbers, `"tube"`.
#' @param ... Not used.
#' @return A numeric vector with an element a row; with `na.action = na.exclude` in the fit, rows
#'   left out for a missing value have `NA`.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' head(fitted(fit))
#' mean(residuals(fit) > 0)
#' @export
fitted.bsvm <- function(object, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "fitted()", NULL)
  stats::napredict(object$na.action, object$link)
}

#' @rdname fitted.bsvm
#' @export
residuals.bsvm <- function(object, type = c("response", "tube"), ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "residuals()", NULL)
  type <- pick_one(type, c("response", "tube"), "type")
  residual <- row_residuals(object$likelihood, object$y, object$link)
  if (type == "tube") residual <- beyond_tube(residual, object)
  stats::naresid(object$na.action, residual)
}

# Rows whose loss pulls at the fit, among those that took part in it: of classes those inside the
# margin or misclassified.
support_rows <- function(object) {
  if (inherits(object$posterior, "bsvm_point") && is_kind(object$response, "classes")) {
    return(seq_along(object$link) %in% support_vectors(object)$row)
  }
  used_rows(object) & is_support(likelihood_at(object), object$y, object$link)
}

used_rows <- function(object) if (is.null(object$weights)) TRUE else object$weights > 0
