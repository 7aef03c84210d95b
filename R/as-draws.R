#' Draws from the posterior
#'
#' These methods return draws of coefficients, standard deviations and group effects from the
#' posterior, on the original scale of the predictors, in the formats of the package posterior.
#'
#' @details
#' **Fits with a sampler**, [engine_slice()] or [engine_gibbs()], return the draws of the fit, with
#' separate chains.
#'
#' **Other fits** with standard deviations, such as those with [engine_gaussian()] or
#' [engine_vb()], return independent draws from their approximate posterior in one chain. There are
#' 1000, or `ndraws`, always from the same seed. The attribute `"approximate"` contains the engine.
#' Rhat and effective sizes of such draws say nothing about the approximation;
#' [check_approximation()] does. If the fit knows only the mean of a parameter, it is constant in
#' the draws: for example, the parameters of the likelihood with [engine_vb()].
#'
#' **Variables.** In this order:
#' * the population-level coefficients, named as in [fixef.bsvm()];
#' * inferred variances of population-level terms as `var_<term>`, such as
#'   `var_population-level slopes`, on the scale of the prior (see [summary.bsvm()]);
#' * inferred parameters of the likelihood or of a term, by their names;
#' * `nu_<block>` and `alpha_<block>` of [prior_bridge()] and `pi_<block>` of [prior_spike_slab()],
#'   if they are inferred, and the scale `s_<block>` of [prior_laplace_zero()];
#' * standard deviations of group effects as `sd_patientID__Intercept`, and their correlations as
#'   `cor_patientID__Intercept__time`;
#' * the group effects as `r_patientID[12,Intercept]`, unless the engine had `keep_effects = FALSE`.
#'   Blanks and commas in the name of a level become a dot.
#'
#' The names are those of brms, except for the coefficients. `spread_draws(fit, r_patientID[id,
#' term])` of the package tidybayes takes the names of group effects apart.
#'
#' In a block with more columns than rows, the data carry no information about most directions of
#' the coefficients. In these directions the coefficients are drawn from their prior given the drawn
#' variance, which is exact. These draws are made on request from the seed of the fit and are the
#' same each time.
#'
#' @param x A fit from [bsvm()] with an engine that has standard deviations.
#' @param variable Names of the variables to return or, with `regex = TRUE`, regular expressions;
#'   all variables by default. Only these variables are computed.
#' @param regex Is `variable` a regular expression?
#' @param ndraws Number of draws: for a fit without draws, 1000 by default; for others, evenly
#'   spaced draws, as many of each chain (rounded down), all by default.
#' @param ... Not used.
#' @return A `draws` object of the package posterior; `as_draws()` returns a `draws_array`.
#'   `as.array()` returns a plain array (draws, chains, variables), which bayesplot accepts as
#'   `bayesplot::mcmc_trace(fit)`, and `as.matrix()` a matrix with one row per draw.
#'   `bayesplot::rhat()` and `bayesplot::neff_ratio()` return a named vector for a fit with draws.
#'   For a point estimate, an error of class `bsvm_error_unsupported`.
#' @seealso [posterior_linpred.bsvm()]; [hypothesis()] for statements about coefficients;
#'   [summary.bsvm()] for convergence.
#' @examplesIf requireNamespace("posterior", quietly = TRUE)
#' # does the infection recede faster under terbinafine, and how sure is that?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' draws <- posterior::as_draws_df(fit)
#' posterior::summarise_draws(draws, "mean", "sd")
#' mean(draws$`time:treatmentterbinafine` < 0)
#' @name as_draws.bsvm
#' @method as_draws bsvm
#' @rawNamespace S3method(posterior::as_draws,bsvm)
as_draws.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  check_fit(x, "x")
  as_draws_array.bsvm(x, variable, regex, ndraws, ...)
}

#' @rdname as_draws.bsvm
#' @method as_draws_array bsvm
#' @rawNamespace S3method(posterior::as_draws_array,bsvm)
as_draws_array.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  need_posterior("as_draws()")
  draws <- posterior::as_draws_array(plain_draws(x, variable, regex, ndraws, ...))
  if (!is.null(x$sampling)) return(draws)
  structure(draws, approximate = engine_call(x$engine))
}

#' @rdname as_draws.bsvm
#' @method as.array bsvm
#' @export
as.array.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  plain_draws(x, variable, regex, ndraws, ...)
}

#' @rdname as_draws.bsvm
#' @method as.matrix bsvm
#' @export
as.matrix.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  draws <- plain_draws(x, variable, regex, ndraws, ...)
  matrix(draws, ncol = dim(draws)[3L], dimnames = list(NULL, dimnames(draws)[[3L]]))
}

#' @rdname as_draws.bsvm
#' @param object A fit from [bsvm()] with draws.
#' @method rhat bsvm
#' @rawNamespace S3method(bayesplot::rhat,bsvm)
rhat.bsvm <- function(object, variable = NULL, regex = FALSE, ...) {
  chain_diagnostics(object, "rhat()", variable, regex)[, "Rhat"]
}

#' @rdname as_draws.bsvm
#' @method neff_ratio bsvm
#' @rawNamespace S3method(bayesplot::neff_ratio,bsvm)
neff_ratio.bsvm <- function(object, variable = NULL, regex = FALSE, ...) {
  chain_diagnostics(object, "neff_ratio()", variable, regex)[, "Bulk_ESS"] /
    draw_count(object$posterior)
}

chain_diagnostics <- function(object, what, variable, regex) {
  check_fit(object)
  need_draws(object, what)
  diagnose(parameter_draws(object, choose_variables(draw_names(object), variable, regex)))
}

# Array (draws, chains, variables).
plain_draws <- function(x, variable, regex, ndraws, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "as_draws()", NULL)
  ndraws <- check_ndraws(ndraws)
  fit <- drawn_fit(x, "as_draws()", ndraws)
  draws <- aperm(parameter_draws(fit, choose_variables(draw_names(fit), variable, regex)),
                 c(2L, 3L, 1L))
  if (is.null(ndraws) || ndraws == draw_count(fit$posterior)) return(draws)
  chosen_draws(fit, NULL, ndraws) # are there as many?
  draws[spread_over(nrow(draws), max(1, ndraws %/% ncol(draws))), , , drop = FALSE]
}

#' @rdname as_draws.bsvm
#' @method as_draws_df bsvm
#' @rawNamespace S3method(posterior::as_draws_df,bsvm)
as_draws_df.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  check_fit(x, "x")
  posterior::as_draws_df(as_draws_array.bsvm(x, variable, regex, ndraws, ...))
}

#' @rdname as_draws.bsvm
#' @method as_draws_matrix bsvm
#' @rawNamespace S3method(posterior::as_draws_matrix,bsvm)
as_draws_matrix.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  check_fit(x, "x")
  posterior::as_draws_matrix(as_draws_array.bsvm(x, variable, regex, ndraws, ...))
}

#' @rdname as_draws.bsvm
#' @method as_draws_list bsvm
#' @rawNamespace S3method(posterior::as_draws_list,bsvm)
as_draws_list.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  check_fit(x, "x")
  posterior::as_draws_list(as_draws_array.bsvm(x, variable, regex, ndraws, ...))
}

#' @rdname as_draws.bsvm
#' @method as_draws_rvars bsvm
#' @rawNamespace S3method(posterior::as_draws_rvars,bsvm)
as_draws_rvars.bsvm <- function(x, variable = NULL, regex = FALSE, ndraws = NULL, ...) {
  check_fit(x, "x")
  posterior::as_draws_rvars(as_draws_array.bsvm(x, variable, regex, ndraws, ...))
}

# Names of all variables, by kind, in their order.
draw_names <- function(fit) {
  names <- list(coefficients = fit$design$columns, variances = dimnames(inferred_draws(fit))[[1L]],
                effects = if (!is.null(fit$posterior$effects)) effect_names(fit$groups))
  unique <- make.unique(unlist(names, use.names = FALSE))
  split(unique, factor(rep(names(names), lengths(names)), names(names)))
}

# `names` without those that were not asked for; `argument` is what the user calls `variable`.
choose_variables <- function(names, variable, regex, argument = "variable") {
  check_flag(regex, "regex")
  if (is.null(variable)) return(names)
  all <- unlist(names, use.names = FALSE)
  refuse <- function(found) {
    abort("argument", "`", argument, "` must name variables of the draws; not found: ", found,
          ". There are ", enumerate(all), ".")
  }
  if (!is.character(variable) || anyNA(variable)) refuse(describe(variable))
  if (regex) lapply(variable, check_pattern, argument = argument)
  find <- if (regex) find_pattern else intersect
  found <- lapply(variable, find, all)
  none <- lengths(found) == 0L
  if (any(none)) refuse(enumerate(variable[none], "\""))
  lapply(names, intersect, y = unlist(found))
}

find_pattern <- function(pattern, all) grep(pattern, all, value = TRUE)

check_pattern <- function(pattern, argument) {
  problem <- tryCatch(is.logical(grepl(pattern, "")), warning = identity, error = identity)
  if (isTRUE(problem)) return(invisible())
  abort("argument", "`", argument, "` must be regular expressions; found ", describe(pattern),
        ": ", sub("[.]+$", "", conditionMessage(problem)), ".")
}

# Array (variable, draws, chains) of the variables wanted, a list as from draw_names().
parameter_draws <- function(fit, wanted) {
  all <- draw_names(fit)
  at <- Map(match, wanted, all)
  draws <- bind_variables(if (length(at$coefficients) > 0L) population_draws(fit, at$coefficients),
                          inferred_draws(fit)[at$variances, , , drop = FALSE],
                          if (length(at$effects) > 0L)
                            fit$posterior$effects[at$effects, , , drop = FALSE])
  dimnames(draws) <- list(unlist(wanted, use.names = FALSE), NULL, NULL)
  draws
}

# Draws of the population-level coefficients, on the user's scale.
population_draws <- function(fit, chosen = seq_along(fit$design$columns)) {
  array(coefficient_draws(fit, chosen),
        c(length(chosen), dim(fit$posterior$coefficients)[-1L]),
        dimnames = list(fit$design$columns[chosen], NULL, NULL))
}

# Draws of the inferred variances.
inferred_draws <- function(fit) variance_draws(all_blocks(fit), fit$posterior$variances)
