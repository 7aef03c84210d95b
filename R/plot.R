#' Plot of a fit
#'
#' `plot()` shows the coefficients, group effects, terms or diagnostics of a fit. It returns the
#' same ggplot as [autoplot.bsvm()], so layers can be added. It requires the package ggplot2, and
#' for draws bayesplot.
#'
#' @details
#' Coefficients are per standard deviation of the predictor, so that they can be compared. If one
#' interval is more than four times as wide as most others, it is cut with an arrow, and the caption
#' has its numbers. The columns of smooth and Gaussian-process terms are shown as functions, never
#' as coefficients.
#'
#' With draws, `"coefficients"` and `"groups"` show means and quantiles of the draws. The plots
#' `"intervals"` to `"rank"` come from the package bayesplot: [bayesplot::mcmc_intervals()],
#' [bayesplot::mcmc_dens_overlay()] (for one chain [bayesplot::mcmc_dens()]),
#' [bayesplot::mcmc_trace()] and [bayesplot::mcmc_rank_overlay()]. If chains agree, their traces
#' look alike and their ranks are uniform. Long names are broken into lines.
#'
#' Intervals in `"groups"` are quantiles of the draws, of a mixture of normal distributions
#' ([engine_gaussian()]) or of a normal distribution. If group effects are integrated out, their
#' posteriors are skewed, and [ranef()][ranef.bsvm] with `level` returns the quantiles of these
#' skewed posteriors.
#'
#' A smooth term is shown without the intercept and other terms, over the range of the data. The
#' ticks are the rows: those of the second class at the top, those of the first at the bottom. For a
#' numeric response, points are partial residuals. With `by = x` the term is shown without the
#' multiplication by `x`. With two covariates the plot is a map of the mean.
#'
#' A Gaussian-process term ([gp()][gp]) is shown alone too. Its mean over the rows is subtracted,
#' because the data can't distinguish it from the intercept. (It is not subtracted without an
#' intercept or with `by = x`.)
#' * *One variable*: a curve with its credible band and the rows, as for smooth terms.
#' * *Two variables*: a map of the mean with the rows and the class boundary. On the boundary the
#'   linear predictor is zero, with all other terms at their means over the rows.
#' * *More variables*: for each variable, the average of the function over the values of the other
#'   variables in up to 100 rows of the fit (partial dependence). The band is the credible interval
#'   of this average. If there are more than 12 variables, those with the largest variation of the
#'   function are shown. This plot needs the data of the fit.
#'
#' @param x,object A fit from [bsvm()].
#' @param which One of
#'   * `"coefficients"`: posterior mean and credible interval of the population-level coefficients,
#'     ordered by size, without the intercept unless `intercept = TRUE`;
#'   * `"effects"`: the probability of the second class, or the expected response, against each
#'     predictor or against those in `pars`, with its credible interval. Other predictors are
#'     averaged over up to 200 rows of the fit, or at reference values (`others`). Under the
#'     pseudo-likelihood, which has no probabilities, it is the linear predictor;
#'   * `"groups"`: the effects of one grouping factor with their intervals, ordered by size. With
#'     more than 60 levels, the 10 lowest and highest are named;
#'   * `"smooth"`: the smooth terms of the formula with pointwise credible intervals
#'     ([engine_map()] without integrated group effects has no intervals);
#'   * `"gp"`: the Gaussian-process terms of the formula;
#'   * `"relevance"`: 1/length scale of each variable, in units of its standard deviation, for
#'     kernels with `ard = TRUE`;
#'   * `"loadings"`: for a factor term (see [factors]), a heat map of the loadings of the
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
#'
#'   The default is `"loadings"` for a factor term, otherwise `"smooth"` or `"gp"` if the formula
#'   has such terms, otherwise `"coefficients"`. It is `"groups"` if there are group effects but no
#'   coefficients except the intercept, and `"intervals"` if `pars` is given.
#' @param level Probability of the intervals.
#' @param intercept Show the intercept among the coefficients?
#' @param scaled If `TRUE` (default), each coefficient is multiplied by the standard deviation of
#'   its column, so that coefficients of predictors in different units can be compared. If the data
#'   of the fit can't be found, the coefficients may be raw, as with `FALSE`; the axis says which.
#' @param n Maximum number of coefficients to show: the coefficients furthest from zero in standard
#'   deviations. The others are counted. For `"relevance"` and `"loadings"`, the maximum number of
#'   variables.
#' @param pars Names of parameters as in [as_draws.bsvm()]. By default at most `n` population-level
#'   coefficients (without those of smooth terms) and, except for `"intervals"`, variances. For
#'   `"effects"`, names of predictors: two names show the first along the axis, the second by
#'   colour. By default each of up to nine predictors by itself.
#' @param select Which smooth or Gaussian-process terms, or (for `"groups"`) which grouping factor:
#'   numbers or labels. By default the terms that fit into one plot, and the first factor.
#' @param type The scale of functions of one variable: `"link"` (default), the linear predictor, or
#'   `"prob"`, the probability of the second class with all other terms at their means over the
#'   rows.
#' @param groups For `"effects"`: which group effects are meant. `"known"` (default): each row has
#'   those of its own group. `"none"`: they are zero. `"new"`: the average over new groups, whose
#'   effects have the normal distribution of the model.
#' @param others For `"effects"`: other predictors are averaged over the rows of the fit
#'   (`"average"`, default), or at medians and most frequent levels (`"reference"`).
#' @param ... For `plot()`: arguments of `autoplot()`. Otherwise not used.
#' @return A `ggplot` object. An error of class `bsvm_error_unsupported` if the required package is
#'   not installed, or if the fit does not have what the plot needs. An error of class
#'   `bsvm_error_data` if the plot needs the data of the fit and they can't be found (`keep_data =
#'   FALSE`).
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # how does the probability of disease depend on age and sex?
#' fit <- bsvm(disease ~ sex + age, data = cath[1:500, ])
#' plot(fit, "effects", pars = c("age", "sex"))
#' plot(fit)
#'
#' # which patients differ most from the others?
#' trial <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' plot(trial, "groups")
#' @examplesIf requireNamespace("bayesplot", quietly = TRUE)
#' # have the chains mixed?
#' last <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7, engine = engine_slice())
#' plot(last, "trace")
#' @export
plot.bsvm <- function(x, ...) {
  check_fit(x, "x")
  do.call(autoplot.bsvm, list(x, ...), envir = parent.frame()) # data are looked for there
}
