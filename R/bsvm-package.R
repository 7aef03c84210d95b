#' Bayesian support vector machines
#'
#' The package fits support vector machines as Bayesian models. The hinge loss is a scale mixture of
#' normal densities, so a support vector machine can be extended in the same ways as a linear model.
#' The penalty is inferred instead of tuned, and grouped observations get random effects.
#'
#' **Fit.** [bsvm()] fits a model. Its formula can have random effects, smooth functions, and the
#' terms of [gp] and [factors]. The default likelihood and engine suit most models. Start with the
#' examples of [bsvm()] and the data sets [toenail] and [cath].
#'
#' **What is the effect, and how sure is it?**
#' * [`plot(fit, "effects")`][plot.bsvm()] shows the probability (or response) as a function of
#'   predictors, with its interval. [`plot(fit)`][plot.bsvm()] shows coefficients, and other plots
#'   show group effects, smooth functions and chains.
#' * [hypothesis()] gives the probability of a statement such as "the effect is negative".
#' * [`emmeans::emmeans()`][emmeans.bsvm] gives means and contrasts on either scale.
#'   [`posterior_epred()`][posterior_epred.bsvm()] gives draws of the probability for any other
#'   quantity.
#' * [importance()] shows which predictors matter for predictions.
#' * [`summary()`][summary.bsvm()], [`confint()`][confint.bsvm()] and [`VarCorr()`][VarCorr.bsvm()]
#'   report coefficients and variances.
#'
#' **How good are predictions?** [`predict()`][predict.bsvm()] gives classes, and probabilities with
#' intervals. [calibration()] checks these probabilities, and [`loo()`][loo.bsvm()], [holdout()] and
#' [cross_validate()] compare models. [check_approximation()] shows how far an approximation is off,
#' [`pp_check()`][pp_check.bsvm()] whether the model reproduces the data.
#'
#' **Parts of a model.**
#' * Priors: [prior_ridge()] (default), [prior_flat()], [prior_bridge()], [prior_lasso()] and
#'   [prior_relevance()]. [prior_spike_slab()] and [prior_laplace_zero()] select variables, which
#'   [inclusion()] lists. [prior_for()] shows what can be set.
#' * Likelihoods: [likelihood_hinge()] is for two classes. [likelihood_eps_insensitive()],
#'   [likelihood_laplace()], [likelihood_quantile()] and [likelihood_gaussian()] are for a numeric
#'   response.
#' * Engines: [engine_gaussian()], [engine_slice()], [engine_map()], [engine_vb()],
#'   [engine_gibbs()], [engine_em()], [engine_ecme()] and [engine_ecm()].
#' * Missing predictors: [missing_normal()] and [missing_selection()].
#' * [bsvm_control()] sets tolerances, threads and progress.
#'
#' **Stages.** The four stages of [bsvm()] can also be called separately. [bsvm_frame()] turns a
#' formula and data (or a matrix) into numbers, [bsvm_spec()] assembles the model, [bsvm_run()] runs
#' the engine, and [new_bsvm()] assembles the fitted object. Errors and warnings have classes, which
#' [bsvm_conditions] lists.
#'
#' `vignette("bsvm")` is one analysis from the question to the picture. A cheat sheet of one page is
#' `system.file("cheatsheet.pdf", package = "bsvm")`.
#'
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#' *Bayesian Analysis*, 6, 1-23.
#' @useDynLib bsvm, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom stats anova coef confint fitted formula logLik model.frame model.matrix na.fail nobs
#' @importFrom stats predict residuals terms update vcov weights
#' @keywords internal
#' @docType package
#' @name bsvm-package
NULL
