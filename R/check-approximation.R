#' How far off is an approximate fit?
#'
#' Importance sampling from the fit towards the exact posterior says how close a fit by
#' [engine_vb()], [engine_gaussian()] or [engine_map()] is, and where it is close corrects its means
#' and standard deviations.
#'
#' @details
#' **How.** Points are drawn from the law the fit found of everything it did not know: coefficients,
#' group effects and the free parameters of inferred variances. Each is weighed by the exact
#' posterior density over that of this law. The exact posterior is that under the fit's own
#' likelihood and priors, be it the pseudo-likelihood or the normalised one. Where the effects of a
#' grouping factor (one or two a level) can be integrated out of the likelihood, they are, on both
#' sides: what is compared is the law of all the rest. The law of [engine_gaussian()] is the mixture
#' the fit holds, with the points of its log standard deviations widened to normal laws that keep
#' their means and covariances; that of [engine_map()] is normal in coefficients and log standard
#' deviations; that of [engine_vb()] has the variances independent of the coefficients.
#'
#' **Pareto k** is the shape of the weights' upper tail (Vehtari et al. 2024). Below 0.7 the weights
#' are good enough to correct means and standard deviations with; from 0.7 on they are not, and the
#' approximation as a whole is far from the exact posterior (Yao et al. 2018). It judges all
#' unknowns together: with many of them it may be high although each by itself is nearly right. It
#' is about tails, too: with many draws a Gaussian's may make it high although the weights are
#' nearly equal, and worth (`ess`) nearly all draws; the sentence then says so.
#'
#' **Which quantities.** Below 0.7 one is trusted if its mean is off by at most 0.2 of its exact
#' standard deviations and its standard deviation by a factor of at most 1.15, or either by no more
#' than three times its Monte Carlo error. From 0.7 on none is vouched for: `trust` is `NA`, or
#' `FALSE` where the weights, poor as they are, move the mean by more than 0.2 of the fit's own
#' standard deviations and by more than chance would move any of the quantities (in one case of a
#' hundred) with as few draws as the weights are worth (`ess`). Such weights never reach far beyond
#' the fit, so its true errors are rather larger than they show.
#'
#' **Cost.** A draw costs a look at all rows: 1000 draws 0.2 seconds on the toenail data of HSAUR3
#' (1908 rows), patients integrated out in closed form, and 1.5 under the normalised likelihood, by
#' quadrature. Two effects a level, `(x | g)`, take 3 and 12 seconds on the 220 rows of MASS's
#' bacteria. When k is 0.7 or more, a few sweeps of the exact engine are timed.
#'
#' Random numbers are R's own: [set.seed()] before the call makes it repeatable. The data of the fit
#' are those kept in it (`keep_data = TRUE`) or its call is evaluated again.
#'
#' @param fit A fit from [bsvm()] by [engine_vb()], [engine_gaussian()] or [engine_map()].
#' @param draws How many points to draw, at least 100; 1000 by default.
#' @param ... Must be empty.
#' @return An object of class `bsvm_check`, a list with
#' * `pareto_k`, `draws`, and `ess`, how many independent draws the weights are worth;
#' * `table`, a data frame with a row a quantity, named by it: population-level coefficients on the
#'   scale of the predictors as given, then of blocks with an inferred variance the standard
#'   deviations (`sd_`, else named as in [summary.bsvm()] and [as_draws.bsvm()], and on the scale of
#'   the prior) and correlations (`cor_`). Columns: `mean` and `sd` by the approximation, of the
#'   draws as they are; `mean_exact` and `sd_exact`, of the same draws weighed, `NA` if k is 0.7 or
#'   more; `shift`, the approximation's mean less the exact one in exact standard deviations;
#'   `sd_ratio`, `sd` over `sd_exact`; and `trust`, `TRUE`, `FALSE` or `NA`;
#' * `exact`, a list of the `name` of an engine that draws from this posterior exactly and about how
#'   many `seconds` it takes with its default settings (`NA` where k is below 0.7), or `NULL`
#'   if there is none;
#' * `values` (quantities x draws) and their `weights`, and `marginals` of the coefficients by the
#'   approximation (mixtures of normals: `mean` and `sd`, a column a part, and `weights`), for
#'   [plot()][plot.bsvm_check]; and `engine`, `likelihood` and `centre`, by which
#'   [summary()][summary.bsvm] knows the fit.
#'
#' The print method returns it invisibly.
#' @section Errors: `bsvm_error_argument` for what is no fit, and for fewer than 100 draws;
#'   `bsvm_error_unsupported` for a fit that is exact already, a mode without standard deviations,
#'   and where the package loo is missing; `bsvm_error_data` if the data can't be found again;
#'   `bsvm_error_numerical` where no weight can be computed; `bsvm_error_interrupted`.
#' @section Warnings: `bsvm_warning_approximation` if Pareto k is 0.7 or more: which quantities not
#'   to trust, which engine has the exact answer and in about how many seconds.
#' @references Vehtari, A., Simpson, D., Gelman, A., Yao, Y. and Gabry, J. (2024). Pareto smoothed
#'   importance sampling. *Journal of Machine Learning Research*, 25(72), 1-58.
#'
#' Yao, Y., Vehtari, A., Simpson, D. and Gelman, A. (2018). Yes, but did it work?: Evaluating
#'   variational inference. *Proceedings of the 35th International Conference on Machine Learning*,
#'   PMLR 80, 5581-5590.
#' @seealso [summary.bsvm()], which says the same in a sentence with `check = TRUE`;
#'   [plot.bsvm_check()] for the two laws side by side.
#' @examplesIf requireNamespace("loo", quietly = TRUE)
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = engine_gaussian())
#' check <- check_approximation(fit)
#' check
#' check$table["x", c("mean", "mean_exact")]
#' @export
check_approximation <- function(fit, draws = NULL, ...) {
  check_approximate_fit(fit, draws, substitute(list(...)), parent.frame())
}

# `env`: where the data of the fit are found again.
check_approximate_fit <- function(fit, draws, dots, env) {
  check_dots(dots, "check_approximation()", check_hints)
  check_checkable(fit)
  draws <- check_draws(draws)
  need_loo()
  target <- check_target(fit, env)
  out <- new_check(fit, target, draws)
  if (needs_warning(out)) warn("approximation", paste(check_sentences(out), collapse = " "))
  out
}

check_hints <- c(
  n = "Here it is `draws`.", S = "Here it is `draws`.", seed = "Call set.seed() before it.",
  exact = "It is an argument of plot()."
)

check_checkable <- function(fit) {
  if (!inherits(fit, "bsvm")) {
    abort("argument", "`fit` must be made by bsvm(); found ", describe(fit), ".")
  }
  refuse_modelled(fit, "check_approximation()")
  if (!is.null(fit$sampling)) {
    abort("unsupported", "A fit by ", call_of_engine(fit), " is made of draws from the exact ",
          "posterior: there is no approximation to check. summary() has the Monte Carlo error.")
  }
  if (is_point(fit)) {
    abort("unsupported", "The fit is a mode alone, without standard deviations to check. ",
          with_spread(fit))
  }
  if (!is.null(fit$start_bounds)) {
    abort("unsupported", "The posterior under a prior that selects has no density to check a fit ",
          "against: coefficients may be exactly zero.")
  }
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

need_loo <- function() {
  if (!requireNamespace("loo", quietly = TRUE)) {
    abort("unsupported", "Pareto k needs the package loo, which is not installed. Install it with ",
          "install.packages(\"loo\").")
  }
}

# ---- the result ---------------------------------------------------------------------------------

new_check <- function(fit, target, draws) {
  own <- fit_moments(fit)
  decided <- function(sample) !anyNA(check_table(own, sample)$trust[!sample$heavy])
  sample <- exact_sample(target, draws, decided)
  usable <- is_usable(sample)
  table <- check_table(own, sample)
  structure(list(
    pareto_k = sample$pareto_k, method = sample$method, usable = usable, draws = sample$draws,
    ess = sample$ess, table = if (usable) table else without_corrected(table),
    exact = exact_answer(target, sample), marginals = coefficient_marginals(fit),
    values = sample$values, weights = sample$weights,
    engine = fit$engine, likelihood = fit$likelihood, centre = fit$posterior$mean
  ), class = "bsvm_check")
}

# A difference that is too small for its Monte Carlo error is told, and no reason to worry.
needs_warning <- function(check) !check$usable || any(check$table$trust %in% FALSE)

is_close <- function(check) all(check$table$trust %in% TRUE)

# list(name, seconds): the engine that draws from this posterior, and about how long it takes with
# its own settings, NA where no chains were run. NULL if there is none.
exact_answer <- function(target, sample) {
  engine <- target_engine(target)
  if (is.null(engine)) return(NULL)
  list(name = paste0("engine_", engine$name, "()"),
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
