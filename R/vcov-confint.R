#' Posterior covariance and credible intervals of the population-level coefficients
#'
#' @details
#' Both are those of the posterior the engine found, on the scale of the predictors as given: with
#' `engine_vb()` of a Gaussian approximation to a pseudo-posterior (the posterior under a
#' pseudo-likelihood), with `engine_gibbs()` of the draws from that pseudo-posterior itself, whose
#' quantiles `confint()` gives. The intervals are too narrow in both cases, the first more so: read
#' them as a ranking of what the data say more and less about, not as confidence intervals (see
#' [summary.bsvm()]).
#'
#' With more penalised columns than rows the covariance is assembled only here; `confint()` and
#' `summary()` need its diagonal alone.
#'
#' @param object A fit from [bsvm()].
#' @param parm Which coefficients: names or positions; all if missing.
#' @param level Probability of the interval, a number between 0 and 1.
#' @param ... Not used.
#' @return `vcov()`: the p x p posterior covariance matrix of `fixef(object)`. `confint()`: a
#'   matrix with a row a coefficient and the columns `"2.5 %"` and `"97.5 %"` (for
#'   `level = 0.95`): quantiles of the draws, or mean plus and minus normal quantiles times the
#'   posterior standard deviation.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' vcov(fit)
#' confint(fit)
#' confint(fit, "wt", level = 0.8)
#' @export
vcov.bsvm <- function(object, ...) {
  posterior_coefficients(object)$covariance()
}

#' @rdname vcov.bsvm
#' @export
confint.bsvm <- function(object, parm, level = 0.95, ...) {
  check_dots(substitute(list(...)), "confint()", c(conf.level = "Here that is `level`."))
  check_level(level)
  names <- object$design$columns
  chosen <- choose_coefficients(names, parm)
  limits <- coefficient_limits(object$posterior, object, chosen, level)
  dimnames(limits) <- list(names[chosen], percent_names(level))
  limits
}

choose_coefficients <- function(names, parm) {
  if (missing(parm)) return(seq_along(names))
  chosen <- if (is.character(parm)) match(parm, names) else seq_along(names)[parm]
  if (anyNA(chosen)) {
    abort("argument", "`parm` must name coefficients of the fit; not found: ",
          enumerate(parm[is.na(chosen)]), ". See names(fixef(fit)).")
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
