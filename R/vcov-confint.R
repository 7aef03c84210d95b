#' Posterior covariance and credible intervals of the population-level coefficients
#'
#' `vcov()` returns the posterior covariance matrix of the population-level coefficients, and
#' `confint()` their credible intervals. Both are on the original scale of the predictors.
#'
#' @details
#' The posterior depends on the engine:
#' * [engine_vb()]: a normal approximation, whose intervals are too narrow;
#' * [engine_gaussian()]: a mixture of normal distributions over the variances, of which `confint()`
#'   returns quantiles;
#' * [engine_map()]: a normal approximation from the curvature at the mode. Without integrated group
#'   effects the covariance is not available, which is an error of class `bsvm_error_unsupported`;
#' * [engine_em()] and [engine_ecme()]: only point estimates, and an error of the same class;
#' * [engine_slice()] and [engine_gibbs()]: draws, of which `confint()` returns quantiles.
#'
#' Under the pseudo-likelihood, intervals are too narrow. Use them to rank coefficients by how much
#' the data inform them, not as confidence intervals (see [summary.bsvm()]). A message reports this
#' once per session. Under `likelihood_hinge(normalized = TRUE)` they are credible intervals of a
#' probability model.
#'
#' **Linear response.** `method = "linear_response"` is for fits with [engine_vb()]. It replaces the
#' covariance of the approximation by the response of its means to a small change of the posterior.
#' It needs the data (kept, or found again from the call) and one more linear solve. It corrects
#' most of the underestimation of standard deviations by the mean-field approximation. Means and
#' variances are not changed. For other engines it is an error of class `bsvm_error_unsupported`.
#'
#' **With group effects the correction can be small**, because [engine_vb()] severely underestimates
#' their variance. On the toenail trial of the package HSAUR3 with `(1 | patientID)`, the standard
#' deviation of the intercept increases from 0.163 to 0.188, while the exact value is 0.34. The
#' variance between patients stays at 3.5 instead of 11.0. Use [engine_gaussian()] in this case.
#'
#' **Sandwich.** `method = "sandwich"` is for a numeric response without group effects. It is the
#' covariance of the estimates if the residuals do not have the density of the likelihood: \eqn{V
#' (\sum_i g_i^2 x_i x_i^T) V}{V (sum g_i^2 x_i x_i') V} with \eqn{V} the posterior covariance and
#' \eqn{g_i}{g_i} the derivative of the log density of row \eqn{i}{i}. Under [likelihood_quantile()]
#' only these intervals of slopes have the nominal coverage (Yang, Wang and He 2016). Limits are
#' computed from a normal distribution. The method requires a correct posterior covariance. The
#' covariance of [engine_vb()] is too small, so it is an error for this engine.
#'
#' With more penalised columns than rows the covariance matrix is computed only by `vcov()`.
#' `confint()` and `summary()` need only its diagonal.
#'
#' @param object A fit from [bsvm()].
#' @param parm Which coefficients: names or positions; all if missing.
#' @param level Probability of the interval, a number between 0 and 1.
#' @param method `"posterior"` (default), `"linear_response"` or `"sandwich"`; see Details.
#' @param ... Not used.
#' @return `vcov()`: the p x p posterior covariance matrix of `fixef(object)`.
#'
#' `confint()`: a matrix with one row per coefficient and the columns `"2.5 %"` and `"97.5 %"` (for
#' `level = 0.95`). The limits are quantiles of the draws or the mixture. For other engines they are
#' the mean plus and minus normal quantiles times the posterior standard deviation.
#' @references
#' Giordano, R., Broderick, T. and Jordan, M. I. (2018). Covariances, robustness, and variational
#' Bayes. *Journal of Machine Learning Research*, 19(51), 1-49.
#'
#' Yang, Y., Wang, H. J. and He, X. (2016). Posterior inference in Bayesian quantile regression with
#' asymmetric Laplace likelihood. *International Statistical Review*, 84, 327-344.
#' @examples
#' # how certain are the effects of sex and age?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' confint(fit)
#' confint(fit, "age", level = 0.8)
#' vcov(fit)
#' @export
vcov.bsvm <- function(object, method = c("posterior", "linear_response", "sandwich"), ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "vcov()", NULL)
  need_spread(object, "vcov()")
  posterior_coefficients(with_method(object, method, parent.frame()))$covariance()
}

#' @rdname vcov.bsvm
#' @export
confint.bsvm <- function(object, parm, level = 0.95,
                         method = c("posterior", "linear_response", "sandwich"), ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "confint()", c(conf.level = "Use `level` instead."))
  check_level(level)
  need_spread(object, "confint()")
  object <- with_method(object, method, parent.frame())
  names <- object$design$columns
  chosen <- choose_coefficients(names, parm)
  limits <- coefficient_limits(object$posterior, object, chosen, level)
  dimnames(limits) <- list(names[chosen], percent_names(level))
  hint_pseudo(object)
  limits
}

# A matrix has no room for it, and once is enough.
hint_pseudo <- function(object) {
  note <- note_of(object$likelihood, "intervals", object)
  if (!is.null(note)) inform("pseudo", note, once = "pseudo")
}

choose_coefficients <- function(names, parm) {
  if (missing(parm)) return(seq_along(names))
  if (!is.character(parm) && !is.numeric(parm) && !is.logical(parm)) {
    abort("argument", "`parm` must be names or positions of coefficients; found ", describe(parm),
          ". See names(fixef(fit)).")
  }
  chosen <- if (is.character(parm)) match(parm, names)
            else tryCatch(seq_along(names)[parm], error = function(e) NA)
  if (anyNA(chosen)) {
    abort("argument", "`parm` must name coefficients of the fit; not found: ",
          enumerate(rep_len(parm, length(chosen))[is.na(chosen)]), ". See names(fixef(fit)).")
  }
  chosen
}

# Two columns: mean -/+ quantile * sd.
normal_limits <- function(mean, sd, level) {
  quantile <- stats::qnorm((1 + check_level(level)) / 2)
  cbind(lower = mean - quantile * sd, upper = mean + quantile * sd)
}

check_level <- function(level, name = "level") {
  good <- is.numeric(level) && length(level) == 1L && isTRUE(level > 0 && level < 1)
  if (!good) {
    abort("argument", "`", name, "` must be one number between 0 and 1, such as 0.95; found ",
          describe(level), ".")
  }
  level
}

percent_names <- function(level) {
  tails <- c((1 - level) / 2, (1 + level) / 2)
  paste(format(100 * tails, trim = TRUE, scientific = FALSE, digits = 3), "%")
}
