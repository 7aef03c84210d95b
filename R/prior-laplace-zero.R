#' Laplace-zero prior for variable selection
#'
#' A coefficient is zero with probability `1 - rho`. Otherwise it has a Laplace distribution, with a
#' scale that is inferred and shared by all coefficients of the block.
#'
#' @details
#' With indicators \eqn{\gamma_k}{g_k} equal to one or zero, and \eqn{s^2}{s2} common to the block,
#' \deqn{b_k = \gamma_k v_k, \quad P(\gamma_k = 1) = \rho, \quad
#'   v_k | s \sim \mathrm{Laplace}(0, s), \quad s^2 \sim \mathrm{IG}(shape, scale).}{%
#'   b_k = g_k v_k,  P(g_k = 1) = rho,  v_k | s ~ Laplace(0, s),  s2 ~ IG(shape, scale).}
#' `rho = 1` is the Laplace prior itself, without selection.
#'
#' The coefficients of the fit, `coef(fit)`, their covariance and predictions are averaged over
#' inclusion. [inclusion()] returns the probability that each coefficient is included, and its mean
#' and standard deviation given inclusion. The posterior of \eqn{s} is reported as `s`, on the scale
#' of the standardised columns. Given \eqn{s}, an included coefficient has standard deviation
#' \eqn{\sqrt 2 s}{sqrt(2) s}.
#'
#' For a numeric response ([likelihood_eps_insensitive()] and related likelihoods), `s` and `scale`
#' are in units of the median absolute deviation of the response. The scale of the likelihood itself
#' may be given or inferred.
#'
#' [engine_gibbs()] draws from the posterior. It draws the indicators with the coefficients
#' integrated out, given latent scales as in Luts and Ormerod (2014, Appendix B). (Their sampler
#' draws the indicators given the coefficients.) Draws contain exact zeros.
#'
#' [engine_vb()] maximises a lower bound that has several local optima, see its argument `starts`.
#' **Its inclusion probabilities can be far from the posterior probabilities.** An example is
#' `birthwt` of the package MASS, with `rho = 0.3, shape = 2, scale = 1`. The first start gives five
#' of nine predictors probabilities above 0.96, while their posterior probabilities are below 0.1.
#' The optimum that is returned includes one predictor with certainty, while the posterior has
#' probabilities of 0.87 and 0.58 for two. Compare the probabilities with `inclusion(fit, check =
#' TRUE)`, which runs a short Gibbs sampler, before you draw conclusions about single predictors.
#' Prefer [engine_gibbs()] if it is affordable: it needs a second for 200 rows and 10 predictors.
#'
#' `engine_vb()` supports dense predictors, other blocks with other priors, and one grouping factor.
#' With a grouping factor it supports up to 2000 columns if there are more columns than rows.
#'
#' @param rho Prior probability that a coefficient is not zero: a number above 0 and at most 1.
#' @param shape,scale Shape and scale of the inverse-gamma distribution of the squared Laplace
#'   scale: positive numbers, 0.01 by default (`scale = NULL` is 0.01 under the pseudo-likelihood;
#'   see [prior_inv_gamma()]).
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` if `rho` is not above 0 and at most 1, if `shape` or `scale` is not positive
#' and finite, and in the fit if group effects have this prior. `bsvm_error_unsupported` in the fit
#' for other engines, for sparse predictors, and for [engine_vb()] with several grouping factors.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 3.2, Algorithm 3).
#' @seealso [inclusion()], [plot_inclusion()]; [prior_spike_slab()], [engine_vb()],
#'   [engine_gibbs()].
#' @examples
#' # which of four measurements are needed to tell two species apart?
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa",
#'             prior = prior_laplace_zero(0.2))
#' inclusion(fit)
#' coef(fit)
#' @export
prior_laplace_zero <- function(rho, shape = 0.01, scale = NULL) {
  if (missing(rho)) abort("prior", "`rho` must be given: the prior probability of inclusion.")
  rho <- check_positive(rho, "rho", "prior")
  if (rho > 1) abort("prior", "`rho` must be at most 1; found ", describe(rho), ".")
  shape <- check_positive(shape, "shape", "prior")
  numbers <- c(rho = rho, shape = shape, scale = given_scale(scale, 0.01))
  new_prior("laplace_zero", numbers, laplace_zero_label(numbers), TRUE)
}

laplace_zero_label <- function(numbers) {
  paste0("Laplace-zero, rho ", numbers[["rho"]], ", inverse-gamma(", numbers[["shape"]], ", ",
         numbers[["scale"]], ") on the squared scale")
}
