#' Slice sampling in whitened coordinates
#'
#' Draws from the exact posterior, under either likelihood, at a price not far above that of an
#' approximation: coefficients, group effects and variances, in several chains.
#'
#' @details
#' **Models without grouping factors.** First [engine_gaussian()] finds a normal distribution near
#' the posterior; its quality matters for speed alone. In its coordinates the posterior is nearly
#' spherical, and an iteration moves
#' * the coefficients by elliptical slices (Murray, Adams and MacKay 2010), six whitened
#'   coordinates at a time; the density divided by the normal density is the slice's likelihood
#'   (after Fagan, Bhandari and Cunningham 2016). The linear predictors of all rows are kept, so
#'   a trial costs one look at them, and no iteration forms a Gram matrix;
#' * now and then each variance together with all coefficients, which follow it as they do in that
#'   approximation;
#' * the variances given the coefficients;
#' * each block of coefficients together with its variance, and each coefficient along its own axis:
#'   in every iteration if it would hardly move otherwise, else in every 64th. The second half of
#'   the burn-in decides, and then the choice is frozen.
#'
#' **Models with grouping factors.** A quadratic takes the place of each row's log-likelihood; it is
#' estimated in the burn-in from the mean and variance of the row's linear predictor, and then
#' frozen. With it the coefficients and effects have a normal distribution at any variances, and an
#' iteration moves
#' * the coefficients by slices along the axes of their covariance at the current variances, with
#'   all effects following their regression on the coefficients;
#' * the effects of each level by slices over the rows of that level, along the axes of their
#'   covariance. With several grouping factors the effects of the largest one follow those of the
#'   others;
#' * each parameter of a variance or covariance (of a Cholesky factor), and the coefficients or
#'   effects that it governs follow: well-determined effects hardly move, others change their scale
#'   with it;
#' * the variances given coefficients and effects, each block together with its variance, and all of
#'   them by a common factor (interweaving, after Yu and Meng 2011).
#'
#' The quadratics decide how fast the chains move; the posterior is the exact one.
#'
#' **How many draws.** With `draws = NULL` each chain first makes 300 draws. Then all chains go on
#' until every variance, covariance and coefficient (of more than 50 coefficients, 50 of them) has a
#' bulk and a tail effective sample size of at least 400, and Rhat is at most 1.01. They stop at
#' 10,000 draws a chain, from 1000 on if more than 15,000 would be needed, or earlier if draws would
#' need more than 256 MB or half of the option `bsvm.max_memory`; a warning then gives the figures.
#' The number depends on the draws alone, never on time: it is the same for the same seed on any
#' number of threads, and after a checkpoint. `print()` and `summary()` show it.
#'
#' **Group effects integrated out.** Under the pseudo-likelihood the effects of one factor with one
#' effect a level, as in `(1 | g)`, have an integral in closed form. With `integrate = TRUE` the
#' ellipses move coefficients and log standard deviations together on the integrated posterior,
#' and the effects are drawn exactly given these, if coefficients, other effects and log standard
#' deviations are at most 12 together. Draws are then less dependent and take longer.
#'
#' **Compared with [engine_gibbs()].** That engine has only the pseudo-likelihood, and needs a Gram
#' matrix in each iteration. In return it accepts sparse predictors, for which this engine is an
#' error, and models whose rows times coefficients do not fit in memory (1e8 numbers).
#'
#' Seeds, threads, interrupts, checkpoints and the warnings about chains are those of
#' [engine_gibbs()].
#'
#' @inheritParams engine_gibbs
#' @param burnin How many iterations each chain makes before the first draw; at least 0.
#' @param integrate `TRUE` integrates group effects out if that is possible; `NULL` (default) and
#'   `FALSE` do not.
#' @return An object of class `bsvm_engine`.
#' @section Errors: As [engine_gibbs()]; `bsvm_error_unsupported` for sparse predictors.
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
