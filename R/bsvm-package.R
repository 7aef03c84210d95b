#' Bayesian support vector machines
#'
#' The package fits support vector machines as Bayesian models. The hinge loss is a scale mixture of
#' normal densities, so a support vector machine can be extended in the same ways as a linear model.
#' The penalty is inferred instead of tuned, and grouped observations get random effects.
#'
#' [bsvm()] fits a model. Its four stages can also be called separately. [bsvm_frame()] turns a
#' formula and data (or a matrix) into numbers, [bsvm_spec()] assembles the model, [bsvm_run()] runs
#' the engine, and [new_bsvm()] assembles the fitted object.
#'
#' Priors are made by [prior_ridge()], [prior_flat()], [prior_bridge()], [prior_lasso()],
#' [prior_relevance()], [prior_spike_slab()] and [prior_laplace_zero()], likelihoods by
#' [likelihood_hinge()]. Engines are [engine_vb()], [engine_gaussian()], [engine_map()],
#' [engine_slice()], [engine_gibbs()], [engine_em()], [engine_ecme()] and [engine_ecm()].
#' [bsvm_control()] sets tolerances, threads and progress.
#'
#' `vignette("bsvm")` is one analysis from the question to the picture. A cheat sheet of one page is
#' `system.file("cheatsheet.pdf", package = "bsvm")`.
#'
#' [check_approximation()] shows how far an approximation is off, [inclusion()] which variables a
#' fit selects. Errors and warnings have classes, listed in [bsvm_conditions].
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
