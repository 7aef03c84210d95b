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
#' predictions. `fit$posterior$inclusion` has what was found of each selected coefficient:
#' `columns` of the design, the `probability` that it is in, and the `mean` and `sd` it has if it
#' is, on the scale of the standardised columns.
#'
#' [engine_gibbs()] draws from the posterior: the indicators with the coefficients integrated out,
#' given latent scales as in Luts and Ormerod (2014, Appendix B, whose sampler draws them given
#' coefficients). Draws have exact zeros.
#'
#' [engine_vb()] bounds the evidence by a function with several local optima: see its `starts`.
#' It goes with dense predictors, beside blocks with other priors and one grouping factor.
#'
#' @param rho Prior probability that a coefficient is not zero: a number above 0 and at most 1.
#' @param shape,scale Shape and scale of the inverse-gamma law of the squared Laplace scale:
#'   positive numbers, 0.01 by default (`scale = NULL` is 0.01 under the pseudo-likelihood; see
#'   [prior_inv_gamma()]).
#' @return An object of class `bsvm_prior`.
#' @section Errors: `bsvm_error_prior` if `rho` is not above 0 and at most 1, or `shape` or `scale`
#'   is not positive and finite.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 3.2, Algorithm 3).
#' @seealso [prior_spike_slab()], [engine_vb()], [engine_gibbs()].
#' @examples
#' fit <- bsvm(am ~ ., data = mtcars, prior = prior_laplace_zero(0.2), engine = engine_vb())
#' fit$posterior$inclusion$probability
#' coef(fit)
#' @export
prior_laplace_zero <- function(rho, shape = 0.01, scale = NULL) {
  if (missing(rho)) abort("prior", "`rho` must be given: the prior probability of inclusion.")
  check_positive(rho, "rho", "prior")
  if (rho > 1) abort("prior", "`rho` must be at most 1; found ", describe(rho), ".")
  check_positive(shape, "shape", "prior")
  numbers <- c(rho = rho, shape = shape, scale = given_scale(scale, 0.01))
  new_prior("laplace_zero", numbers, laplace_zero_label(numbers), TRUE)
}

laplace_zero_label <- function(numbers) {
  paste0("Laplace-zero, rho ", numbers[["rho"]], ", inverse-gamma(", numbers[["shape"]], ", ",
         numbers[["scale"]], ") on the squared scale")
}

# What the core's variational Bayes can't select beside.
check_selection <- function(engine, blocks, groups, sparse) {
  if (engine$name != "vb" || !selects_any(blocks)) return(invisible())
  if (!sparse && length(groups) < 2L) return(invisible())
  abort("unsupported", "engine_vb() with a prior that selects can't take ",
        if (sparse) "sparse predictors. Give them as a dense matrix."
        else "several grouping factors. Leave one, or make the others' columns by model.matrix().")
}
