#' Plot of a fit
#'
#' `plot()` shows the coefficients, group effects, terms or diagnostics of a fit. It returns the
#' same ggplot as [autoplot.bsvm()], so layers can be added. It requires the package ggplot2, and
#' for draws bayesplot.
#'
#' @details
#' With draws, `"coefficients"` and `"groups"` show means and quantiles of the draws. The plots
#' `"trace"` to `"density"` come from the package bayesplot: [bayesplot::mcmc_trace()],
#' [bayesplot::mcmc_rank_overlay()], [bayesplot::mcmc_intervals()] and
#' [bayesplot::mcmc_dens_overlay()] (for one chain [bayesplot::mcmc_dens()]). If chains agree, their
#' traces look alike and their ranks are uniform. Long names are broken into lines.
#'
#' Intervals in `"groups"` are quantiles of the draws, of a mixture of normal distributions
#' ([engine_gaussian()]) or of a normal distribution. If group effects are integrated out, their
#' posteriors are skewed, and [ranef()][ranef.bsvm] with `level` returns the quantiles of these
#' skewed posteriors.
#'
#' A smooth term is shown without the intercept and other terms, over the range of the data. With
#' `by = x` it is shown without the multiplication by `x`. With two covariates the plot is a map of
#' the mean.
#'
#' A Gaussian-process term ([gp()][gp]) is shown alone too. Its mean over the rows is subtracted,
#' because the data can't distinguish it from the intercept. (It is not subtracted without an
#' intercept or with `by = x`.)
#' * *One variable*: a curve with its credible band. The rows are shown as a rug, or as partial
#'   residuals for a numeric response.
#' * *Two variables*: a map of the mean with the rows and the class boundary. On the boundary the
#'   linear predictor is zero, with all other terms at their means over the rows.
#' * *More variables*: for each variable, the average of the function over the values of the other
#'   variables in up to 100 rows of the fit (partial dependence). The band is the credible interval
#'   of this average. If there are more than 12 variables, those with the largest variation of the
#'   function are shown. This plot needs the data of the fit.
#'
#' @param x,object A fit from [bsvm()].
#' @param which One of
#'   * `"coefficients"` (default without draws): posterior mean and credible interval of the
#'     population-level coefficients, ordered by size, without the intercept unless `intercept =
#'     TRUE`;
#'   * `"groups"`: the effects of one grouping factor with their intervals, ordered by size;
#'   * `"smooth"`: the smooth terms of the formula with pointwise credible intervals. It is the
#'     default for [engine_map()] without integrated group effects, which has no intervals;
#'   * `"gp"` (default if the formula has no other terms): the Gaussian-process terms of the
#'     formula;
#'   * `"relevance"`: 1/length scale of each variable, in units of its standard deviation, for
#'     kernels with `ard = TRUE`;
#'   * `"loadings"` (default with a factor term, see [factors]): a heat map of the loadings of the
#'     `n` variables with the largest loadings;
#'   * `"scores"`: for a factor term, the rows by response on the two factors that change the linear
#'     predictor most. `select = c("F1", "F2")` chooses other factors;
#'   * `"determinacy"`: for a factor term, the share of each factor that the variables determine;
#'   * `"residuals"`: for a numeric response, residuals against fitted values, with the tube of
#'     [likelihood_eps_insensitive()] at its posterior mean;
#'   * `"predictive"`: for a numeric response, predictive intervals of the rows, in the order of
#'     their fitted values;
#'   * `"bound"`: the lower bound and the size of the gradient at each iteration ([engine_vb()]), or
#'     the objective and the gap ([engine_em()]);
#'   * `"intervals"`, `"density"`, `"trace"`, `"rank"`: the draws of parameters ([engine_gibbs()]).
#'     The first of these is the default with draws.
#' @param level Probability of the intervals.
#' @param intercept Show the intercept among the coefficients?
#' @param scaled If `TRUE`, each coefficient is multiplied by the scale that its column was divided
#'   by in the fit (the standard deviation of a standardised column). This makes coefficients of
#'   columns in different units comparable.
#' @param n Maximum number of coefficients to show: the coefficients furthest from zero in standard
#'   deviations. For `"relevance"`, the maximum number of variables.
#' @param pars Names of parameters as in [as_draws.bsvm()]. By default at most `n` population-level
#'   coefficients (without those of smooth terms) and, except for `"intervals"`, variances.
#' @param select Which smooth or Gaussian-process terms, or (for `"groups"`) which grouping factor:
#'   numbers or labels. By default all smooth terms, the Gaussian-process terms that fit into one
#'   plot, and the first factor.
#' @param ... For `plot()`: arguments of `autoplot()`. Otherwise not used.
#' @return A `ggplot` object. An error of class `bsvm_error_unsupported` if the required package is
#'   not installed, or if the fit does not have what the plot needs. An error of class
#'   `bsvm_error_data` if the plot needs the data of the fit and they can't be found (`keep_data =
#'   FALSE`).
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
