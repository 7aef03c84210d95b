#' Slice sampling in whitened coordinates
#'
#' Draws from the exact posterior, under either likelihood, at a price not far above that of an
#' approximation: coefficients, group effects and variances, in several chains.
#'
#' @details
#' **What is drawn.** First [engine_gaussian()] finds a normal law near the posterior; how good it
#' is matters for speed alone. In its coordinates the posterior is nearly spherical, and a sweep
#' moves
#' * the coefficients by elliptical slices (Murray, Adams and MacKay 2010), six whitened
#'   coordinates at a time, the density divided by the normal law's being the slice's likelihood
#'   (after Fagan, Bhandari and Cunningham 2016). The linear predictors of all rows are kept, so
#'   that a trial costs one look at them; no sweep forms a Gram matrix. The effects of the
#'   grouping factor with most levels go along, by their regression on the coefficients;
#' * each group effect by a slice of its own over the rows of its level: those of that factor in
#'   every sweep, the others, which the ellipses move too, in every eighth;
#' * now and then each variance together with all coefficients and effects, which follow it as they
#'   do in that approximation;
#' * the variances given the coefficients;
#' * each block of coefficients together with its variance along its scale, and each coefficient
#'   along its own axis: in every sweep those that would hardly move otherwise, the others in every
#'   64th. Which these are is learnt in the second half of the burn-in and frozen then.
#'
#' **Group effects integrated out.** Under the pseudo-likelihood the effects of one factor with one
#' effect a level, as in `(1 | g)`, have an integral in closed form. Then the ellipses move
#' coefficients and log standard deviations together on the integrated posterior, and the effects
#' are drawn exactly given these. That can be done where coefficients, other effects and log
#' standard deviations are at most 12 together. It makes draws quicker, and is the default, where
#' levels are at least 150, rows at most ten a level, and no other variance is unknown; elsewhere
#' it makes them slower, beside another unknown variance many times.
#'
#' **Against [engine_gibbs()].** That engine has only the pseudo-likelihood, and needs a Gram matrix
#' a sweep. In return it takes every structure: sparse predictors, and several grouping factors
#' with three effects a level or more each, are errors here that name it. It is also the better
#' choice where the rows times coefficients do not fit in memory (1e8 numbers).
#'
#' Seeds, threads, interrupts, checkpoints and the warnings about chains are those of
#' [engine_gibbs()].
#'
#' @inheritParams engine_gibbs
#' @param integrate `NULL` (default) integrates group effects out where draws come quicker then;
#'   `TRUE` wherever it can; `FALSE` never.
#' @return An object of class `bsvm_engine`.
#' @section Errors: As [engine_gibbs()]; `bsvm_error_unsupported` for the structures above.
#' @references
#' Murray, I., Adams, R. P. and MacKay, D. J. C. (2010). Elliptical slice sampling. *Proceedings of
#' the 13th International Conference on Artificial Intelligence and Statistics*, 541-548.
#'
#' Fagan, F., Bhandari, J. and Cunningham, J. P. (2016). Elliptical slice sampling with expectation
#' propagation. *Proceedings of the 32nd Conference on Uncertainty in Artificial Intelligence*.
#'
#' Neal, R. M. (2003). Slice sampling. *Annals of Statistics*, 31, 705-767.
#' @seealso [engine_gaussian()], the approximation it starts from; [engine_gibbs()];
#'   [as_draws.bsvm()], [posterior_linpred.bsvm()], [summary.bsvm()], [plot.bsvm()].
#' @examples
#' set.seed(1)
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = engine_slice(draws = 500, burnin = 200),
#'             likelihood = likelihood_hinge(normalized = TRUE),
#'             prior = prior_ridge(variance = prior_half_t()))
#' summary(fit)
#' @export
engine_slice <- function(draws = NULL, burnin = 500, thin = 1, chains = 4, integrate = NULL,
                         checkpoint = NULL, resume = FALSE, keep_effects = TRUE, ...) {
  check_dots(substitute(list(...)), "engine_slice()",
             c(sampler_hints, mixing = "That is an argument of engine_gibbs()."))
  settings <- sampler_settings(draws, burnin, thin, chains, checkpoint, resume, keep_effects)
  if (!is.null(integrate)) check_flag(integrate, "integrate")
  engine <- new_engine("slice", c(integrate = isTRUE(integrate)) + 0,
                       sampler_label("Slice sampler", settings,
                                     if (isTRUE(integrate)) ", effects integrated out"))
  engine$settings <- c(settings, list(integrate = integrate))
  engine
}
