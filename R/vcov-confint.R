#' Posterior covariance and credible intervals of the population-level coefficients
#'
#' @details
#' Both are those of the posterior the engine found, on the scale of the predictors as given:
#' * [engine_vb()]: of a Gaussian approximation, too narrow;
#' * [engine_gaussian()]: of a mixture of Gaussians over the variances, whose quantiles `confint()`
#'   gives;
#' * [engine_map()]: from the curvature at the mode. Without integrated group effects there is none
#'   to speak of, and both are an error of class `bsvm_error_unsupported`;
#' * [engine_em()] and [engine_ecme()]: point estimates without any, and an error of that class;
#' * [engine_slice()] and [engine_gibbs()]: of the draws, whose quantiles `confint()` gives.
#'
#' Under the pseudo-likelihood, the default, that posterior is a pseudo-posterior, which counts each
#' row as more than it is worth: read its intervals as a ranking of what the data say more and less
#' about, not as confidence intervals (see [summary.bsvm()]). A message says so once a session.
#' Under `likelihood_hinge(normalized = TRUE)` they are credible intervals of a probability model.
#'
#' **Linear response.** `method = "linear_response"` is for fits by [engine_vb()]: in place of the
#' approximation's own covariance, how much its means move when the posterior is tilted a little,
#' which is what a covariance says. It takes the data (kept, or found again from the call) and one
#' more solve, and corrects most of what the mean field approximation leaves out of standard
#' deviations; means and variances stay as they are. **With group effects that may be little**,
#' where [engine_vb()] puts their variance far too low: on the toenail trial of the package HSAUR3
#' with `(1 | patientID)` the standard deviation of the intercept goes from 0.163 to 0.188, where
#' the exact one is 0.34, since the variance between patients stays at 3.5 for 11.0. Use
#' [engine_gaussian()] there. For other engines it is an error of class `bsvm_error_unsupported`.
#'
#' **Sandwich.** `method = "sandwich"` is for a response of numbers without group effects: the
#' covariance of estimates whose residuals do not have the likelihood's density, \eqn{V (\sum_i
#' g_i^2 x_i x_i^T) V}{V (sum g_i^2 x_i x_i') V} with \eqn{V} the posterior covariance and
#' \eqn{g_i}{g_i} the slope of row \eqn{i}{i}'s log density. Under [likelihood_quantile()] it is
#' what makes intervals of slopes cover (Yang, Wang and He 2016). Limits are those of a normal
#' distribution. It starts from a posterior covariance that is right; that of [engine_vb()] is too
#' small, and refused.
#'
#' With more penalised columns than rows the covariance is assembled only here; `confint()` and
#' `summary()` need its diagonal alone.
#'
#' @param object A fit from [bsvm()].
#' @param parm Which coefficients: names or positions; all if missing.
#' @param level Probability of the interval, a number between 0 and 1.
#' @param method `"posterior"` (default), `"linear_response"` or `"sandwich"`; see Details.
#' @param ... Not used.
#' @return `vcov()`: the p x p posterior covariance matrix of `fixef(object)`. `confint()`: a
#'   matrix with a row a coefficient and the columns `"2.5 %"` and `"97.5 %"` (for
#'   `level = 0.95`): quantiles of the draws or the mixture, or mean plus and minus normal quantiles
#'   times the posterior standard deviation.
#' @references
#' Giordano, R., Broderick, T. and Jordan, M. I. (2018). Covariances, robustness, and variational
#' Bayes. *Journal of Machine Learning Research*, 19(51), 1-49.
#'
#' Yang, Y., Wang, H. J. and He, X. (2016). Posterior inference in Bayesian quantile regression with
#' asymmetric Laplace likelihood. *International Statistical Review*, 84, 327-344.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' vcov(fit)
#' confint(fit)
#' confint(fit, "wt", level = 0.8)
#' confint(fit, method = "linear_response")
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
  check_dots(substitute(list(...)), "confint()", c(conf.level = "Here that is `level`."))
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
