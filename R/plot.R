#' Plot a fit
#'
#' `plot()` returns the same ggplot as [autoplot.bsvm()], so it prints at the console and can be
#' added to. It needs the package ggplot2.
#'
#' @param x,object A fit from [bsvm()].
#' @param which One of
#'   * `"coefficients"`: posterior mean and credible interval of the population-level coefficients,
#'     ordered by size, the intercept left out unless asked for;
#'   * `"groups"`: the group effects with their intervals, ordered by size;
#'   * `"bound"`: the lower bound and the size of the gradient, pass by pass.
#' @param level Probability of the intervals.
#' @param intercept Show the intercept among the coefficients?
#' @param scaled If `TRUE`, each coefficient is multiplied by the scale its column was divided by
#'   inside (its standard deviation where it was standardised), which makes those of columns
#'   in different units comparable.
#' @param n How many coefficients to show at most: those furthest from zero in standard deviations.
#' @param ... For `plot()`: arguments of `autoplot()`. Else not used.
#' @return A `ggplot` object. An error of class `bsvm_error_unsupported` where ggplot2 is not
#'   installed, and for `which = "groups"` without a grouping factor.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' plot(fit)
#' plot(fit, "groups")
#' @export
plot.bsvm <- function(x, ...) {
  autoplot.bsvm(x, ...)
}
