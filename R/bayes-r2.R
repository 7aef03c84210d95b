#' Bayesian R-squared
#'
#' `bayes_R2()` computes, for each draw, the share of the variance of the response that the model
#' explains. This is the variance of the expected response over rows, divided by the sum of itself
#' and the residual variance.
#'
#' @details For one draw, let \eqn{m_i}{m_i} be the expected response of row \eqn{i}{i}, as in
#' [posterior_epred()][posterior_epred.bsvm], including group effects. Let \eqn{v_i}{v_i} be the
#' variance of the response around it. Then R-squared is \eqn{var(m) / (var(m) +
#' mean(v))}{var(m)/(var(m) + mean(v))} (Gelman and others, 2019). For a response of numbers
#' \eqn{v_i}{v_i} is the variance of the residuals' density at the draw; for classes it is \eqn{m_i
#' (1 - m_i)}{m_i (1 - m_i)}. Rows are weighted by their weights.
#'
#' @param object A fit from [bsvm()] with an engine that has standard deviations, under a
#'   likelihood that is a density of the response.
#' @param re_formula,draw_ids As in [posterior_linpred.bsvm()].
#' @param ... Must be empty.
#' @return A numeric vector with one element per draw.
#' @section Errors:
#' `bsvm_error_unsupported` under the pseudo-likelihood, and for a point estimate.
#' @references
#' Gelman, A., Goodrich, B., Gabry, J. and Vehtari, A. (2019). R-squared for Bayesian regression
#' models. *The American Statistician*, 73, 307-309.
#' @seealso [posterior_epred.bsvm()], [sigma()][logLik.bsvm].
#' @examples
#' # how much of the variation of stopping distances does speed explain?
#' set.seed(1)
#' fit <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive())
#' quantile(bayes_R2(fit), c(0.025, 0.5, 0.975))
#' @export
bayes_R2.bsvm <- function(object, re_formula = NULL, draw_ids = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "bayes_R2()", linpred_hints)
  need_density(object, "bayes_R2()", refuse_measure)
  refuse_inferred(object, "bayes_R2()")
  need_predictive(object$likelihood)
  object <- drawn_fit(object, "bayes_R2()")
  f <- link_draws(object, NULL, re_formula, FALSE, draw_ids, NULL, NULL, parent.frame())
  likelihood <- drawn_likelihood(object, draw_ids)
  weight <- if (is.null(object$weights)) rep(1, ncol(f)) else unname(object$weights)
  weight <- weight / sum(weight)
  mean <- expected_response(likelihood, f)
  explained <- drop((mean - drop(mean %*% weight))^2 %*% weight)
  explained / (explained + residual_variance(likelihood, mean, weight))
}

# The variance of the response about its means (draws x rows), weighted over the rows: one number
# per draw.
residual_variance <- function(likelihood, mean, weight) UseMethod("residual_variance")

#' @export
residual_variance.bsvm_likelihood <- function(likelihood, mean, weight) {
  drop((mean * (1 - mean)) %*% weight)
}

#' @export
residual_variance.bsvm_likelihood_residual <- function(likelihood, mean, weight) {
  variance <- residual_moments(likelihood, likelihood$values)$variance
  if (is.matrix(variance)) drop(variance %*% weight) else variance
}
