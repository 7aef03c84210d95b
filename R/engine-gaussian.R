#' Gaussian approximation over a grid of variances
#'
#' `engine_gaussian()` is a deterministic approximation of the posterior. Means, standard deviations
#' and variances are close to the exact ones under either likelihood, and are available in seconds.
#'
#' @details
#' **Method.** The inferred standard deviations are not approximated but averaged over. Covariances
#' are represented by their Cholesky factors, with the diagonal in logarithms. The posterior density
#' of the logarithms of the standard deviations is computed at a few points around its mode, as in
#' Rue et al. (2009). One, two or three standard deviations have a lattice that covers the region of
#' high density; more have a central composite design. At each point the rest of the model is
#' approximated by a normal distribution. The fit is the weighted mixture of these distributions, so
#' that the posterior of a coefficient can be skewed; its intervals are quantiles of the mixture.
#'
#' Given the standard deviations there are two cases.
#' * **A grouping factor with one or two effects per level**, as in `(1 | g)`, `(x | g)` or `(x ||
#'   g)`. These effects are integrated out of the likelihood. The integral has a closed form under
#'   the pseudo-likelihood. Under the normalised likelihood it is computed by quadrature that allows
#'   for points where the loss is not differentiable. With two effects, the second is always
#'   integrated by quadrature. The posterior of the population-level coefficients is then close to
#'   normal. A normal distribution from mode and curvature is corrected by averages over that
#'   distribution. The averages replace it if they differ much, for example if effects are so small
#'   that they hardly smooth the loss. With several grouping factors, the effects of the factor with
#'   most levels are integrated out, and the effects of the others are treated as coefficients.
#' * **All other models**: no groups, three effects or more per level, sparse predictors, or more
#'   than 1000 coefficients and effects in addition to those integrated out. Coefficients and all
#'   effects have a normal distribution with full covariance. It maximises the bound on the
#'   evidence, with the exact expectation of the hinge loss (Gaussian variational inference).
#'   [engine_vb()] uses a further bound on this expectation and assumes that variances are
#'   independent of the coefficients. One step of expectation propagation at the optimum then
#'   corrects the weights of the mixture and the standard deviations, which would otherwise be a few
#'   per cent too small.
#'
#' Under the pseudo-likelihood both problems are concave for given variances. There is one optimum,
#' and the gradient in `summary(details = TRUE)` certifies it. Under the normalised likelihood they
#' may not be concave; without groups several starts are tried.
#'
#' **Time.** One effect per level needs milliseconds: on the toenail trial 1/40 of the time of
#' `lme4::glmer()`, and 1/11 under the normalised likelihood. Two effects are much slower, because
#' each evaluation is a quadrature in two dimensions and their covariance has three free parameters.
#' With `(time | patientID)` in the toenail trial the fit needs ten seconds; `integrate = FALSE` is
#' quick.
#'
#' **When to use it.** It is the default for many structures and sizes (see [bsvm()]). Under the
#' pseudo-likelihood of the papers, use it if standard deviations or variances matter, since those
#' of [engine_vb()] can be far off. On the toenail data of the package HSAUR3 with `(1 |
#' patientID)`, `engine_vb()` has a patients' variance of 3.5 and a standard deviation of the
#' intercept of 0.16. The values of the exact pseudo-posterior are 11.0 and 0.34.
#'
#' [engine_slice()] draws from the exact posterior, and is the reference if the two disagree.
#' [check_approximation()] shows whether it is needed. [engine_map()] is faster still, but does not
#' average over the variances. With many rows, a few hundred coefficients and no groups,
#' [engine_vb()] is cheaper, and its class predictions are much the same.
#'
#' **Several responses.** With correlated residuals ([responses]) the posterior given the variances
#' is normal. Variances are drawn by proposals from t distributions about their modes. The fit
#' therefore has draws, and `elbo()` is the log evidence by importance sampling.
#'
#' **Separated classes.** If a plane in columns with [prior_flat()] separates the classes perfectly,
#' the likelihood does not bound the coefficients and the posterior is effectively improper. The fit
#' then warns with class `bsvm_warning_rank`. The same warning is given for a variance that the data
#' do not bound; use the default for it, [prior_ridge()].
#'
#' @param integrate `TRUE` (default) integrates group effects out if possible. `FALSE` keeps them
#'   all in the normal distribution, for comparison: this is faster with very many rows per level,
#'   and less accurate with few.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's `posterior` is a mixture (see [bsvm_run()]),
#'   and every method works as for other engines:
#' * [summary.bsvm()] and [confint.bsvm()] have quantiles of the mixture;
#' * [ranef.bsvm()] with `level` has quantiles of the skewed posteriors of the group effects;
#' * [VarCorr.bsvm()] has means of variances and standard deviations;
#' * [elbo()] is an estimate of the log evidence.
#' @section Errors:
#' `bsvm_error_argument` if `integrate` is neither `TRUE` nor `FALSE`.
#' @references
#' Challis, E. and Barber, D. (2013). Gaussian Kullback-Leibler approximate inference. *Journal of
#' Machine Learning Research*, 14, 2239-2286.
#'
#' Rue, H., Martino, S. and Chopin, N. (2009). Approximate Bayesian inference for latent Gaussian
#' models by using integrated nested Laplace approximations. *Journal of the Royal Statistical
#' Society B*, 71, 319-392.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176.
#'
#' Minka, T. P. (2001). Expectation propagation for approximate Bayesian inference. *Uncertainty in
#' Artificial Intelligence*, 17, 362-369.
#' @seealso [engine_map()], [engine_vb()], [engine_gibbs()]; [likelihood_hinge()];
#'   [integrated_loglik()], the likelihood with group effects integrated out; [bsvm_control()] for
#'   the tolerance and the limit on iterations.
#' @examples
#' # how much do patients differ in their infection?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail,
#'             engine = engine_gaussian())
#' summary(fit)
#' VarCorr(fit)
#' head(ranef(fit, level = 0.9)$patientID)
#' @export
engine_gaussian <- function(integrate = TRUE, ...) {
  check_dots(substitute(list(...)), "engine_gaussian()", approximation_hints)
  check_flag(integrate, "integrate")
  engine <- new_engine("gaussian", numeric(0), paste0(
    "Gaussian approximation", if (!integrate) ", no effects integrated out"
  ))
  engine$settings <- list(integrate = integrate)
  engine
}

approximation_hints <- c(
  control_hints,
  nAGQ = "The quadrature is chosen inside, to be exact to eight digits.",
  draws = "Draws are for `engine = engine_slice()`.",
  accelerate = "That is an argument of engine_vb()."
)

#' @export
traits_of.bsvm_engine_gaussian <- function(engine) {
  new_traits(
    elsewhere = TRUE, passes = 50, latent = "expected", integrates = TRUE, word = "Gaussian engine",
    bound = "Log evidence (estimate)",
    linear_response = paste("engine_gaussian() averages over the variances and keeps all",
                            "covariances of the rest.")
  )
}
