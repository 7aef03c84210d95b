#' Plot a fit
#'
#' `plot()` returns the same ggplot as [autoplot.bsvm()], so it prints at the console and can be
#' added to. It needs the package ggplot2, and for draws bayesplot.
#'
#' @details
#' With draws, `"coefficients"` and `"groups"` show means and quantiles of the draws. The pictures
#' `"trace"` to `"density"` are those of the package bayesplot: [bayesplot::mcmc_trace()],
#' [bayesplot::mcmc_rank_overlay()], [bayesplot::mcmc_intervals()] and
#' [bayesplot::mcmc_dens_overlay()] (of one chain [bayesplot::mcmc_dens()]). Chains that agree look
#' alike in the first, and have ranks that are spread evenly in the second. Long names are broken
#' into lines.
#'
#' Intervals in `"groups"` are quantiles of the draws, of a mixture of normal laws
#' ([engine_gaussian()]) or of a normal law. Where group effects are integrated out their posteriors
#' are skewed, and [ranef()][ranef.bsvm] with `level` has the quantiles of those.
#'
#' A smooth term is shown by itself, without intercept, other terms or (with `by = x`) the
#' multiplication by `x`, over the range of the data; with two covariates as a map of its mean.
#'
#' A Gaussian-process term ([gp()][gp]) is shown by itself, too, and less its mean over the rows,
#' which can't be told from the intercept (without an intercept, and with `by = x`, as it is). *One variable*: a curve with its
#' band, and the rows as a rug, of a response of numbers as partial residuals. *Two variables*: a
#' map of its mean with the rows and the class boundary, that is where the linear predictor is zero,
#' all other terms at their means over the rows. *More variables*: along each variable the average
#' of the function over what up to 100 rows of the fit have in the other variables (partial
#' dependence), with the credible interval of that average; of more than 12 variables those along
#' which it varies most. The picture of more than two variables needs the data of the fit.
#'
#' @param x,object A fit from [bsvm()].
#' @param which One of
#'   * `"coefficients"`: posterior mean and credible interval of the population-level coefficients,
#'     ordered by size, the intercept left out unless asked for; the default without draws;
#'   * `"groups"`: the group effects with their intervals, ordered by size, one grouping factor;
#'   * `"smooth"`: the smooth terms of the formula with a band of credible intervals, pointwise;
#'     without one, and the default, by [engine_map()] without integrated group effects, where
#'     the spread is not known;
#'   * `"gp"`: the Gaussian-process terms of the formula; the default if the formula has nothing
#'     else;
#'   * `"relevance"`: 1/length scale of each variable, in units of its standard deviation, of kernels
#'     with `ard = TRUE`;
#'   * `"loadings"`: of a factor term ([factors]), a heat map of the largest loadings of the `n`
#'     variables that have any, and the default of such a fit; `"scores"`: the rows on the two factors
#'     that move the linear predictor most (or those that `select` names, as `c("F1", "F2")`), by
#'     response; `"determinacy"`: what share of each factor the variables determine;
#'   * `"residuals"`: of a response of numbers, residuals against fitted values, with the tube of
#'     [likelihood_eps_insensitive()] at its posterior mean;
#'   * `"predictive"`: of a response of numbers, its predictive intervals, rows in the order of
#'     their fitted values;
#'   * `"bound"`: the lower bound and the size of the gradient, pass by pass ([engine_vb()]); of
#'     [engine_em()] the objective and the gap;
#'   * `"intervals"`, `"density"`, `"trace"`, `"rank"`: the draws of variables ([engine_gibbs()]);
#'     the first of them is the default with draws.
#' @param level Probability of the intervals.
#' @param intercept Show the intercept among the coefficients?
#' @param scaled If `TRUE`, each coefficient is multiplied by the scale its column was divided by
#'   inside (its standard deviation where it was standardised), which makes those of columns
#'   in different units comparable.
#' @param n How many coefficients to show at most: those furthest from zero in standard deviations;
#'   of `"relevance"` how many variables.
#' @param pars Names of variables as in [as_draws.bsvm()]; by default population-level
#'   coefficients (without those of smooth terms) and, but for `"intervals"`, variances, at most `n`
#'   of them.
#' @param select Which smooth or Gaussian-process terms, or (for `"groups"`) which grouping factor:
#'   numbers or labels; by default all smooth terms, the Gaussian-process terms that fit into one
#'   picture, and the first factor.
#' @param ... For `plot()`: arguments of `autoplot()`. Else not used.
#' @return A `ggplot` object. An error of class `bsvm_error_unsupported` where the package needed is
#'   not installed, or the fit does not have what is to be shown; of class `bsvm_error_data` where
#'   the data of the fit are needed and can't be found (`keep_data = FALSE`).
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' plot(fit)
#' plot(fit, "groups")
#' @examplesIf requireNamespace("bayesplot", quietly = TRUE)
#' cars <- bsvm(am ~ mpg + wt, data = mtcars, engine = engine_gibbs(draws = 500, burnin = 200))
#' plot(cars, "trace")
#' @export
plot.bsvm <- function(x, ...) {
  check_fit(x, "x")
  do.call(autoplot.bsvm, list(x, ...), envir = parent.frame()) # data are looked for there
}
