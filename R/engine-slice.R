#' Slice sampling in whitened coordinates
#'
#' `engine_slice()` draws coefficients, group effects and variances from the exact posterior, under
#' either likelihood, in several chains. Its cost is not far above that of an approximation.
#'
#' @details
#' **Models without grouping factors.** First [engine_gaussian()] finds a normal distribution near
#' the posterior; its quality affects only the speed. In its coordinates the posterior is nearly
#' spherical, and an iteration moves
#' * the coefficients by elliptical slices (Murray, Adams and MacKay 2010), six whitened coordinates
#'   at a time. The density divided by the normal density is the likelihood of the slice (after
#'   Fagan, Bhandari and Cunningham 2016). The linear predictors of all rows are kept, so that a
#'   trial reads them once, and no iteration forms a Gram matrix;
#' * in some iterations, each variance together with all coefficients, which follow it as they do in
#'   that approximation;
#' * the variances given the coefficients;
#' * each block of coefficients together with its variance, and each coefficient along its own axis.
#'   This is done in every iteration if the coefficient would hardly move otherwise, else in every
#'   64th. The choice is made in the second half of the burn-in and then frozen.
#'
#' **Models with grouping factors.** The log-likelihood of each row is approximated by a quadratic.
#' It is estimated in the burn-in from the mean and variance of the row's linear predictor, and then
#' frozen. Under this approximation, coefficients and effects have a normal distribution for any
#' variances, and an iteration moves
#' * the coefficients by slices along the axes of their covariance at the current variances, with
#'   all effects following their regression on the coefficients;
#' * the effects of each level by slices over the rows of that level, along the axes of their
#'   covariance. With several grouping factors the effects of the largest one follow those of the
#'   others;
#' * each parameter of a variance or covariance (of a Cholesky factor), together with the
#'   coefficients or effects that it governs: well-determined effects hardly move, others change
#'   their scale with it;
#' * the variances given coefficients and effects, each block together with its variance, and all of
#'   them by a common factor (interweaving, after Yu and Meng 2011).
#'
#' The quadratics affect only the speed of the chains; the posterior is the exact one.
#'
#' **How many draws.** With `draws = NULL` each chain first makes 300 draws. Then all chains
#' continue until Rhat is at most 1.01 and effective sample sizes, bulk and tail, are at least 400.
#' This applies to what `summary()` shows: variances, the groups' standard deviations
#' and correlations, parameters of the likelihood, and coefficients (of more than 50, to 50 of them).
#'
#' Chains stop at 10,000 draws each, or from 1000 on if more than 15,000 would be needed. They stop
#' earlier if draws would need more than 256 MB or half of the option `bsvm.max_memory`. In these
#' cases a warning gives the figures. The number of draws depends only on the draws, never on time.
#' It is the same for the same seed on any number of threads, and after a checkpoint.
#' `print()` shows it.
#'
#' **Group effects integrated out.** Under the pseudo-likelihood, the effects of one factor with one
#' effect per level, as in `(1 | g)`, have an integral in closed form. With `integrate = TRUE` the
#' ellipses move coefficients and log standard deviations together on the integrated posterior. The
#' group effects are then drawn exactly given these. This requires at most 12 coefficients, other
#' effects and log standard deviations together. Draws are then less dependent but slower.
#'
#' **Compared with [engine_gibbs()].** `engine_gibbs()` has only the pseudo-likelihood, and needs a
#' Gram matrix in each iteration. In return it supports sparse predictors, which are an error here,
#' and models whose rows times coefficients do not fit in memory (1e8 numbers).
#'
#' Seeds, threads, interrupts, checkpoints and the warnings about chains are the same as for
#' [engine_gibbs()].
#'
#' @inheritParams engine_gibbs
#' @param burnin How many iterations each chain makes before the first draw; at least 0.
#' @param integrate `TRUE` integrates group effects out if that is possible; `NULL` (default) and
#'   `FALSE` do not.
#' @return An object of class `bsvm_engine`.
#' @section Errors:
#' The same as for [engine_gibbs()]; in addition `bsvm_error_unsupported` for sparse predictors.
#' @references
#' Murray, I., Adams, R. P. and MacKay, D. J. C. (2010). Elliptical slice sampling. *Proceedings of
#' the 13th International Conference on Artificial Intelligence and Statistics*, 541-548.
#'
#' Fagan, F., Bhandari, J. and Cunningham, J. P. (2016). Elliptical slice sampling with expectation
#' propagation. *Proceedings of the 32nd Conference on Uncertainty in Artificial Intelligence*.
#'
#' Yu, Y. and Meng, X.-L. (2011). To center or not to center: that is not the question. *Journal of
#' Computational and Graphical Statistics*, 20, 531-570.
#'
#' Neal, R. M. (2003). Slice sampling. *Annals of Statistics*, 31, 705-767.
#' @seealso [engine_gaussian()], the approximation it starts from; [engine_gibbs()];
#'   [as_draws.bsvm()], [posterior_linpred.bsvm()], [summary.bsvm()], [plot.bsvm()].
#' @examples
#' # is an infection rarer under terbinafine at the last visit?
#' set.seed(1)
#' fit <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7, engine = engine_slice())
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
                                     if (isTRUE(integrate)) ", effects integrated out", 500L))
  engine$settings <- c(settings, list(integrate = integrate))
  engine
}

# Effects of a single factor that has several for each level stay in its state: they are eliminated
# from the quadratic that whitens, as in all engines.
#' @export
traits_of.bsvm_engine_slice <- function(engine) {
  new_traits(sparse = FALSE, latent = c("expected", "marginal"), latent_groups = FALSE,
             latent_links = TRUE, learned = "alone", integrates = TRUE, keeps_several = TRUE,
             word = "slice sampler")
}
