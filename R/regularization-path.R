#' Regularization path
#'
#' `regularization_path()` returns the coefficients along a grid of scales `nu` of a bridge or lasso
#' prior, fitted with [engine_em()].
#'
#' @param object A fit from [bsvm()] with [engine_em()] and a grid, such as `prior = prior_lasso(nu
#'   = c(0.01, 0.1, 1))`. For `autoplot()`, a path.
#' @param x A path.
#' @param scaled If `TRUE` (default), the plot shows coefficients per standard deviation of the
#'   predictor, otherwise per unit of the predictor.
#' @param ... Must be empty.
#' @return `regularization_path()`: a data frame of class `bsvm_path` with one row for each `nu` and
#'   population-level coefficient. Its columns are `nu`, `term`, `estimate` (on the original scale
#'   of the predictors), `nonzero`, `objective` and `gap` (the relative duality gap of the
#'   objective). `nonzero` is the number of nonzero coefficients at this `nu`, in the block with the
#'   grid.
#'
#'   `plot()`: a `ggplot` of the coefficients and of the number of nonzero coefficients against
#'   `nu`. The 9 coefficients that become largest have their names at the right.
#'
#'   Each value of `nu` is solved to the precision in `gap`. The number of nonzero
#'   coefficients may still fall as `nu` grows: if predictors are correlated, one coefficient can
#'   return to zero when another grows. If `alpha` is below 1, an optimum may also be a local one.
#' @section Errors:
#' `bsvm_error_unsupported` for a fit without a path, and for `plot()` without ggplot2;
#' `bsvm_error_argument` if `object` is not a fit.
#' @references Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#'   *Bayesian Analysis*, 6, 1-23 (Figure 1).
#' @seealso [engine_em()], [prior_bridge()].
#' @examples
#' # in which order do measurements leave the model as the penalty grows?
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa",
#'             prior = prior_lasso(nu = c(0.02, 0.05, 0.1, 0.2, 0.5, 1)), engine = engine_em())
#' path <- regularization_path(fit)
#' head(path)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(path)
#' @order 1
#' @export
regularization_path <- function(object, ...) {
  check_dots(substitute(list(...)), "regularization_path()", NULL)
  need_arguments("object", what = "regularization_path()")
  need_estimate(object, "regularization_path()")
  path <- object$posterior$path
  if (is.null(path)) {
    abort("unsupported", "The fit has one value of `nu`. Give the prior a grid of them, as ",
          "`prior_lasso(nu = c(0.01, 0.1, 1))`.")
  }
  estimates <- vapply(seq_along(path$nu), path_coefficients,
                      numeric(length(object$design$columns)), object = object)
  estimates <- matrix(estimates, ncol = length(path$nu))
  moving <- path_columns(object)
  p <- nrow(estimates)
  each <- function(x) rep(x, each = p)
  structure(
    data.frame(nu = each(path$nu), term = rep(object$design$columns, length(path$nu)),
               estimate = as.vector(estimates),
               nonzero = each(colSums(estimates[moving, , drop = FALSE] != 0)),
               objective = each(path$objective), gap = each(path$gap)),
    terms = object$design$columns[moving], scale = object$design$scale[moving],
    local = is_local_path(object), class = c("bsvm_path", "data.frame")
  )
}

# Coefficients at value k, on the user's scale.
path_coefficients <- function(k, object) {
  point <- object$posterior
  point$mean <- point$path$mean[, k]
  point$effects <- point$path$effects[, k]
  population_mean(point, object$design)
}

# A penalty that is not convex may have several optima.
is_local_path <- function(object) {
  alpha <- object$blocks[[path_grid(object$blocks)$block]]$prior$parameters["alpha"]
  isTRUE(unname(alpha) < 1)
}

# The columns whose prior has the grid.
path_columns <- function(object) object$blocks[[path_grid(object$blocks)$block]]$columns
