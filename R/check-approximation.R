#' Check of an approximate fit against the exact posterior
#'
#' `check_approximation()` compares means and standard deviations of a fit with the exact posterior.
#' It accepts fits with [engine_vb()], [engine_gaussian()] or [engine_map()], shows which values to
#' trust, and gives corrected values.
#'
#' @details
#' **Method.** The exact posterior is the posterior under the likelihood and priors of the fit.
#' Draws from the fit itself might miss what lies outside it, since the fit may be too narrow. The
#' draws therefore come from a wider distribution: Student t around the result of
#' [engine_gaussian()] for the same model, whichever engine is checked. Each draw is weighted by the
#' exact posterior density divided by the density of that distribution. The weighted means and
#' standard deviations are the corrected values. If the effects of a grouping factor (one or two for
#' each level) can be integrated out, they are.
#'
#' **Pareto k** is the shape of the upper tail of the weights (Vehtari et al. 2024). It shows only
#' whether the weights can be used: they can if k is below 0.7 and the effective sample size is at
#' least 100. Otherwise the corrected values come from short chains of [engine_slice()], or of
#' [engine_gibbs()] for sparse predictors that are too large to be made dense.
#'
#' Chains are used immediately if there are more than 100 coefficients, effects and variances, if
#' effects cannot be integrated out, or if the draws would be slower. Chains are accepted if R-hat
#' is at most 1.05 and the effective sample size at least 150; otherwise no value is corrected.
#'
#' **Which quantities.** `trust` is `TRUE` if the mean is within 0.1 standard deviations, and the
#' standard deviation within 10 %, of the corrected value, by a margin of two Monte Carlo errors. It
#' is `FALSE` if one of them is beyond its limit by the same margin. Otherwise it is `NA`: not
#' known. The fit is called close if all quantities are `TRUE`. A quantity with a very heavy tail
#' has no corrected standard deviation. Examples are a variance with a vague prior and few
#' coefficients or levels, and the coefficients of separated classes.
#'
#' **Accuracy of the check.** In a study of 201 fits of simulated data by all three engines
#' (`bench/check.R`), 61 were called close. Two of these were off by slightly more than 0.1 standard
#' deviations or 10 %. Corrected values were nearer to the truth for all 408 quantities that were
#' off, and within 0.1 standard deviations and 10 % for all 465 others. For 3 % of the quantities
#' there was no corrected value.
#'
#' **Cost.** The check draws 1000 points. It then draws more until the quantities are decided or
#' about two seconds of computation are used. Most checks need 0.1 to 1 seconds. The toenail data of
#' HSAUR3 (1908 rows) need 0.2 seconds, and 3 under the normalised likelihood, whose integrals are
#' computed by quadrature. Chains are slower: 6 seconds on the spam data (4601 rows, 57 predictors),
#' 2 to 4 for `(x | g)` on the 220 rows of MASS's bacteria.
#'
#' Random numbers come from R: [set.seed()] before the call makes the check repeatable. The data are
#' those kept in the fit (`keep_data = TRUE`); otherwise the call of the fit is evaluated again.
#'
#' @param fit A fit from [bsvm()] with [engine_vb()], [engine_gaussian()] or [engine_map()].
#' @param draws How many points to draw, at least 100. `NULL` (default): as many as needed, from
#'   1000 to 16000.
#' @param ... Must be empty.
#' @return An object of class `bsvm_check`, a list with
#' * `pareto_k`, `NA` if no weights were computed;
#' * `method`, how the corrected values were computed: `"importance"` or `"chains"`;
#' * `usable`: are there corrected values?
#' * `draws`, their number, and `ess`, the effective sample size (with chains the smallest of all
#'   quantities);
#' * `table`, a data frame with a row for each quantity, named by it. Population-level coefficients
#'   come first, on the original scale of the predictors. Then come standard deviations and
#'   correlations of blocks with an inferred variance, on the scale of the prior. They have the
#'   prefixes `sd_` and `cor_` and are otherwise named as in [summary.bsvm()] and [as_draws.bsvm()].
#'   The columns are:
#'   * `mean` and `sd` of the fit, and `mean_corrected` and `sd_corrected`;
#'   * `shift`, the mean of the fit minus the corrected mean, in corrected standard deviations, and
#'     `sd_ratio`, which is `sd` divided by `sd_corrected`;
#'   * `trust`: `TRUE`, `FALSE` or `NA`;
#'   * `shift_error` and `ratio_error`, the Monte Carlo errors of `shift` and of the logarithm of
#'     `sd_ratio`;
#' * `exact`, a list of the `name` of an engine that draws from this posterior exactly, and the
#'   approximate `seconds` it needs by default (`NA` if the check ran no chains). `NULL` if there is
#'   no such engine;
#' * `values` (quantities x draws) and their `weights`;
#' * for [plot()][plot.bsvm_check]: `marginals`, the fit's distributions of the coefficients
#'   (mixtures of normals: `mean` and `sd`, one column per component, and `weights`), and `spreads`,
#'   those of standard deviations and correlations;
#' * `engine`, `likelihood` and `centre`, by which [summary()][summary.bsvm] recognises the fit.
#'
#' The print method returns it invisibly.
#' @section Errors:
#' * `bsvm_error_argument` if `fit` is not a fit or was changed by hand, and for fewer than 100
#'   draws;
#' * `bsvm_error_unsupported` for a fit that is already exact, a mode without standard deviations,
#'   and a model from which no engine can draw. Also for a Gaussian-process term whose inducing
#'   points leave more than 1 % of its variance unexplained;
#' * `bsvm_error_data` if the data cannot be found again;
#' * `bsvm_error_numerical` if no weight can be computed;
#' * `bsvm_error_interrupted`.
#' @section Warnings:
#' `bsvm_warning_approximation` if a quantity is off, if a coefficient has no corrected standard
#' deviation, or if nothing could be corrected.
#' @references Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed
#'   importance sampling. *Journal of Machine Learning Research*, 25(72), 1-58.
#'
#' Yao, Y., Vehtari, A., Simpson, D. and Gelman, A. (2018). Yes, but did it work?: Evaluating
#'   variational inference. *Proceedings of the 35th International Conference on Machine Learning*,
#'   PMLR 80, 5581-5590.
#' @seealso [summary.bsvm()], which prints the same sentences with `check = TRUE`;
#'   [plot.bsvm_check()] for both distributions in a picture.
#' @examples
#' # can the estimated effect of the treatment at the last visit be trusted?
#' fit <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7)
#' check <- check_approximation(fit)
#' check
#' check$table["treatmentterbinafine", c("mean", "mean_corrected")]
#' @export
check_approximation <- function(fit, draws = NULL, ...) {
  need_arguments("fit", what = "check_approximation()")
  check_approximate_fit(fit, draws, substitute(list(...)), parent.frame())
}

# `env`: where the data of the fit are found again.
check_approximate_fit <- function(fit, draws, dots, env) {
  check_dots(dots, "check_approximation()", check_hints)
  check_checkable(fit)
  as_made({
    stopifnot(is.character(fit$likelihood$name), is.character(fit$engine$name))
    check_registered(all_blocks(fit), fit$likelihood)
    check_count(fit$control$threads, "threads")
  })
  draws <- check_draws(draws)
  own <- as_made(list(moments = fit_moments(fit), marginals = coefficient_marginals(fit),
                      spreads = inferred_laws(fit)))
  out <- new_check(fit, as_made(check_target(fit, env)), own, draws)
  if (needs_warning(out)) warn("approximation", paste(check_sentences(out), collapse = " "))
  out
}

check_hints <- c(
  n = "Use `draws` instead.", S = "Use `draws` instead.", seed = "Call set.seed() before it.",
  exact = "It is an argument of plot()."
)

check_checkable <- function(fit) {
  check_fit(fit, "fit")
  refuse_modelled(fit, "check_approximation()")
  refuse_factors(fit, "check_approximation()")
  if (!is.null(fit$sampling)) {
    abort("unsupported", "A fit by ", call_of_engine(fit), " is made of draws from the exact ",
          "posterior: there is no approximation to check. summary() has the Monte Carlo error.")
  }
  if (is_point(fit)) {
    abort("unsupported", "The fit is a mode alone, without standard deviations to check. ",
          with_spread(fit))
  }
  check_explained(fit, "check_approximation()")
  if (!is.null(fit$start_bounds)) {
    abort("unsupported", "check_approximation() requires a posterior density, and under a prior ",
          "that selects coefficients may be exactly zero. Compare the fit with update(fit, engine ",
          "= engine_gibbs()).")
  }
  if (is_relevant(fit)) {
    abort("unsupported", "check_approximation() does not support prior_relevance(). Compare the ",
          "fit with update(fit, engine = engine_gibbs()).")
  }
  check_whole_fit(fit)
}

# Errors that only a changed fit can cause.
as_made <- function(expression) {
  tryCatch(expression, error = function(e) {
    pass_on(e)
    refuse_changed(sub("[.]$", "", conditionMessage(e)))
  })
}

least_draws <- 100L

check_draws <- function(draws) {
  if (is.null(draws)) return(NULL)
  if (check_count(draws, "draws") < least_draws) {
    abort("argument", "`draws` must be at least ", least_draws, " for Pareto k to mean anything; ",
          "found ", describe(draws), ".")
  }
  as.integer(draws)
}

# ---- the result ---------------------------------------------------------------------------------

new_check <- function(fit, target, own, draws) {
  table_of <- function(sample) check_table(own$moments, sample)
  sample <- tryCatch(
    exact_sample(target, draws, function(sample) is_decided(table_of(sample))),
    "C++Error" = function(e) refuse_changed(conditionMessage(e)) # at the core's door
  )
  usable <- is_usable(sample)
  table <- table_of(sample)
  structure(list(
    pareto_k = sample$pareto_k, method = sample$method, usable = usable, draws = sample$draws,
    ess = sample$ess, table = if (usable) table else without_corrected(table),
    exact = exact_answer(target, sample), marginals = own$marginals, spreads = own$spreads,
    values = sample$values, weights = sample$weights,
    engine = fit$engine, likelihood = fit$likelihood, centre = fit$posterior$mean
  ), class = "bsvm_check")
}

# A difference that is too small for its Monte Carlo error is told, and no reason to worry; nor is a
# vague prior's heavy tail of a standard deviation, but that of a coefficient is.
needs_warning <- function(check) {
  !check$usable || any(check$table$trust %in% FALSE) ||
    anyNA(check$table$sd_corrected[seq_len(nrow(check$marginals$mean))])
}

is_close <- function(check) all(check$table$trust %in% TRUE)

# list(name, seconds): the engine that draws from this posterior, and about how long it takes with
# its own settings, NA where no chains were run. NULL if there is none.
exact_answer <- function(target, sample) {
  engine <- target_engine(target)
  if (is.null(engine)) return(NULL)
  list(name = engine_call(engine),
       seconds = if (is.null(sample$seconds)) NA_real_ else sample$seconds)
}

# list(mean, sd, weights), a row a coefficient on the user's scale and a column a part.
coefficient_marginals <- function(fit) {
  own <- function(fit) lapply(posterior_coefficients(fit)[c("mean", "sd")], unname)
  if (inherits(fit$posterior, "bsvm_mixture")) {
    return(c(component_moments(fit, own), list(weights = fit$posterior$weights)))
  }
  c(lapply(own(fit), as.matrix), list(weights = 1))
}
