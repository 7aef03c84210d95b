#' Laplace-zero prior: variable selection
#'
#' A coefficient is zero with probability `1 - rho`, and else has a Laplace law whose scale is
#' shared by all coefficients of the block and learnt.
#'
#' @details
#' With \eqn{\gamma_k}{g_k} one or zero and \eqn{s^2}{s2} common to the block,
#' \deqn{b_k = \gamma_k v_k, \quad P(\gamma_k = 1) = \rho, \quad
#'   v_k | s \sim \mathrm{Laplace}(0, s), \quad s^2 \sim \mathrm{IG}(shape, scale).}{%
#'   b_k = g_k v_k,  P(g_k = 1) = rho,  v_k | s ~ Laplace(0, s),  s2 ~ IG(shape, scale).}
#' `rho = 1` is the Laplace prior itself, without selection.
#'
#' The coefficients of the fit, `coef(fit)`, are averaged over inclusion, as are its covariance and
#' predictions. [inclusion()] has the probability that each is in, and the mean and sd it has if it
#' is. What is learnt of \eqn{s} is called `s`, on the scale of the standardised columns; given it
#' a coefficient that is in has standard deviation \eqn{\sqrt 2 s}{sqrt(2) s}.
#'
#' For a response of numbers, [likelihood_eps_insensitive()] and its relatives, `s` and `scale` are
#' in units of the response's spread, its median absolute deviation. The likelihood's own scale may
#' be given or inferred.
#'
#' [engine_gibbs()] draws from the posterior: the indicators with the coefficients integrated out,
#' given latent scales as in Luts and Ormerod (2014, Appendix B, whose sampler draws them given
#' coefficients). Draws have exact zeros.
#'
#' [engine_vb()] bounds the evidence by a function with several local optima: see its `starts`.
#' **Its probabilities of inclusion can be far from the posterior's**: on `birthwt` of the package
#' MASS, with `rho = 0.3, shape = 2, scale = 1`, its first start gives five of nine predictors
#' probabilities above 0.96 that the posterior gives less than 0.1; the optimum it now finds
#' includes one, with certainty, where the posterior has probabilities of 0.87 and 0.58 for two.
#' Compare them with `inclusion(fit, check = TRUE)`, which runs a short Gibbs sampler, before any
#' conclusion about single predictors, and prefer [engine_gibbs()] where it is affordable: a second
#' for 200 rows and 10 predictors. engine_vb() accepts dense predictors, other blocks with other
#' priors and one grouping factor (then with up to 2000 columns, where these are more than the
#' rows).
#'
#' @param rho Prior probability that a coefficient is not zero: a number above 0 and at most 1.
#' @param shape,scale Shape and scale of the inverse-gamma law of the squared Laplace scale:
#'   positive numbers, 0.01 by default (`scale = NULL` is 0.01 under the pseudo-likelihood; see
#'   [prior_inv_gamma()]).
#' @return An object of class `bsvm_prior`.
#' @section Errors: `bsvm_error_prior` if `rho` is not above 0 and at most 1, or `shape` or `scale`
#'   is not positive and finite, and of the fit where group effects get it; `bsvm_error_unsupported`
#'   of the fit for other engines, sparse predictors, and [engine_vb()] with several grouping
#'   factors.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 3.2, Algorithm 3).
#' @seealso [inclusion()], [plot_inclusion()]; [prior_spike_slab()], [engine_vb()],
#'   [engine_gibbs()].
#' @examples
#' fit <- bsvm(am ~ ., data = mtcars, prior = prior_laplace_zero(0.2), engine = engine_vb())
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
