#' Epsilon-insensitive, Laplace and asymmetric Laplace likelihoods
#'
#' These likelihoods are for a numeric response. Their loss is that of support vector regression:
#' residuals inside a tube cost nothing, and other residuals cost in proportion to their distance
#' from the tube.
#'
#' @details
#' The residual is \eqn{r = y - f} with the linear predictor \eqn{f}. The epsilon-insensitive
#' density is
#' \deqn{p(y | f) = \frac{1}{2 (s + \epsilon)} \exp\{-\max(0, |r| - \epsilon) / s\},}{p(y | f) =
#' exp(-max(0, |r| - epsilon)/s) / (2 (s + epsilon)),}
#' where `scale` is \eqn{s}. It is normalised for every \eqn{f}, so it is a likelihood: posteriors,
#' intervals, predictive intervals, `log_lik()` and `loo()` have their usual meaning. The expected
#' share of rows outside the tube is \eqn{\nu = s / (s + \epsilon)}{nu = s/(s + epsilon)}, the `nu`
#' of nu-SVR.
#'
#' With `nu` 1 it is the Laplace density. With `nu` near 0.4 and `scale` near 0.55 standard
#' deviations it is close to a normal density. As `nu` goes to 0 it becomes uniform. By default both
#' are inferred, so the tails adapt to the data, from lighter than normal to Laplace.
#'
#' **Parameters** are in units of the response. `scale` and `epsilon` or `nu` may each be given. A
#' parameter that is not given is inferred, with the prior stated below. Improper priors are not
#' accepted: with them the posterior is improper whenever a model fits all rows to within the tube.
#'
#' `likelihood_laplace()` has \eqn{\epsilon = 0}, which is median regression.
#'
#' `likelihood_quantile()` is the asymmetric Laplace density of quantile regression. Its loss is
#' \eqn{\tau \max(0, r) + (1 - \tau) \max(0, -r)}{tau max(0, r) + (1 - tau) max(0, -r)} divided by
#' `scale`, and \eqn{f} is the `tau` quantile. The density is only a working model for the response,
#' so there is no predictive interval. Its posterior intervals of coefficients are calibrated if the
#' residuals have this density. For any density of the residuals, `method = "sandwich"` in `vcov()`,
#' `confint()` and `summary()` gives intervals of slopes (see [vcov.bsvm()]). With several `tau`,
#' [bsvm()] fits each one and returns the fits together ([bsvm_quantiles]); their predictions never
#' cross.
#'
#' **A scale that differs by row:** `scale = ~ x` or `~ g`. In row \eqn{i} the scale is
#' \deqn{s_i = s \exp(z_i' \gamma).}{s_i = s exp(z_i'gamma).}
#' The width of the tube is the same multiple of the scale in every row. \eqn{z} are the columns
#' that the formula defines from the variables of the data. A factor has the same columns as among
#' the predictors.
#'
#' The columns are centred, so that `scale` is the scale of a row at their means. Each coefficient
#' is N(0, 1) for one standard deviation of its column: with probability two thirds the scale
#' changes by less than a factor of 2.7 over one standard deviation. `summary()` shows the
#' coefficients as `scale: x`, for one unit of the column.
#'
#' Prediction intervals, quantiles, `posterior_predict()` and `log_lik()` use the scale of each row,
#' so new rows also need the predictors of the scale. `sigma()` is the standard deviation of a
#' response drawn at random from the rows. If rows are fitted exactly, such as all rows of one level
#' of `g`, their scale goes to zero, with a warning. Far from the rows of the fit the scale grows
#' exponentially, and so do intervals.
#'
#' **Coverage** of 95 % intervals of the default fit of `y ~ x + (1 | g)` to 120 rows in 12 groups,
#' in 300 simulated data sets each:
#'
#' * residuals from the density itself: slope 96 %, new responses 95 %, standard deviation of groups
#'   98 %;
#' * normal residuals: 97 %, 95 %, 97 %;
#' * t residuals with 3 degrees of freedom: 96 %, 95 %, 97 %;
#' * normal residuals, one in ten with 6 times the standard deviation: 99 %, 94 %, 98 %.
#'
#' **Relation to LIBSVM.** At given `scale` and `epsilon` under `prior_ridge(variance = v)`, the
#' posterior mode is epsilon-SVR with that epsilon and cost `C = v / scale`. It uses the same
#' (standardised) columns and an intercept that is not penalised. (LIBSVM scales the response, and
#' with it epsilon, unless scaling is switched off.)
#'
#' **Engines.** If `scale` or `nu` is inferred:
#' * [engine_gaussian()], with both as part of its grid;
#' * [engine_slice()];
#' * [engine_gibbs()], with exact draws and two latent scales per row;
#' * [engine_vb()], with both as point estimates at the highest bound.
#'
#' With all parameters given, [engine_em()] and [engine_map()] are available too.
#' [prior_spike_slab()] selects variables with [engine_gibbs()], and [prior_laplace_zero()] with
#' [engine_gibbs()] and [engine_vb()], whether or not the parameters are given.
#'
#' @param epsilon Half the width of the tube; a number of at least 0. Not together with `nu`.
#' @param scale The mean distance from the tube of the residuals outside it. `NULL` (default) infers
#'   it under `prior_half_t(3)`, with the median absolute deviation of the response as the scale of
#'   this prior. A positive number fixes it; [prior_half_t()] or [prior_inv_gamma()] is a prior (the
#'   latter for its square). A one-sided formula, such as `~ x`, lets it differ by row.
#' @param nu Share outside the tube: a number in (0, 1], or its prior, made by `prior_beta()`.
#' @param residual For several responses ([responses]). With `"independent"` residuals (default)
#'   each response is fitted separately. With `"correlated"` residuals this loss applies to a latent
#'   response whose normal residuals are correlated.
#' @param tau The quantile, a number between 0 and 1, or several.
#' @return An object of class `bsvm_likelihood`.
#' @section Errors:
#' `bsvm_error_argument` for numbers out of range, and for `epsilon` together with `nu` or with a
#' formula. The same class is used for a formula with a response, random-effects terms, smooth
#' terms, an offset or no predictor. `bsvm_error_predictors` if a predictor of the scale does not
#' vary; `bsvm_error_formula` if it is the response. A formula needs data, so with `bsvm(x, y)` or
#' `cluster` it is an error of class `bsvm_error_unsupported`.
#' @references
#' Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression for large p
#' small n problems. *Journal of Multivariate Analysis*, 108, 28-40.
#'
#' Schoelkopf, B., Smola, A. J., Williamson, R. C. and Bartlett, P. L. (2000). New support vector
#' algorithms. *Neural Computation*, 12, 1207-1245.
#'
#' Yu, K. and Moyeed, R. A. (2001). Bayesian quantile regression. *Statistics & Probability
#' Letters*, 54, 437-447.
#' @seealso [likelihood_gaussian()], [predict.bsvm()].
#' @examples
#' # how much longer is the stopping distance of a car that is faster?
#' fit <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive())
#' summary(fit)
#' predict(fit, data.frame(speed = c(10, 20)), interval = "prediction")
#'
#' # half of the rows expected outside the tube, or none inside
#' bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive(nu = prior_beta(5, 5)))
#' bsvm(dist ~ speed, data = cars, likelihood = likelihood_laplace())
#'
#' # do stopping distances scatter more at higher speeds?
#' spread <- bsvm(dist ~ speed, data = cars,
#'                likelihood = likelihood_eps_insensitive(scale = ~ speed))
#' summary(spread)
#' predict(spread, data.frame(speed = c(10, 20)), interval = "prediction")
#'
#' # the upper decile
#' coef(bsvm(dist ~ speed, data = cars, likelihood = likelihood_quantile(0.9)))
#' @export
likelihood_eps_insensitive <- function(epsilon = NULL, scale = NULL, nu = prior_beta(1, 1),
                                       residual = c("independent", "correlated")) {
  residual <- pick_one(residual, c("independent", "correlated"), "residual")
  if (!is.null(epsilon) && !missing(nu)) {
    abort("argument", "Give `epsilon` or `nu`, not both: nu = scale / (scale + epsilon).")
  }
  if (!is.null(epsilon)) epsilon <- check_width(epsilon)
  given <- c(epsilon = epsilon, fixed_number(scale, "scale"),
             if (is.null(epsilon)) kappa_of(nu))
  priors <- list(scale = prior_of_number(scale, "scale"),
                 nu = if (is.null(epsilon)) prior_of_share(nu))
  check_tube_follows(epsilon, scale)
  likelihood <- new_residual("eps_insensitive", given, "epsilon-insensitive", priors, scale)
  likelihood$residual <- residual
  likelihood
}

#' @rdname likelihood_eps_insensitive
#' @export
likelihood_laplace <- function(scale = NULL, residual = c("independent", "correlated")) {
  residual <- pick_one(residual, c("independent", "correlated"), "residual")
  given <- c(epsilon = 0, fixed_number(scale, "scale"))
  likelihood <- new_residual("eps_insensitive", given, "Laplace",
                             list(scale = prior_of_number(scale, "scale")), scale)
  likelihood$residual <- residual
  likelihood
}

#' @rdname likelihood_eps_insensitive
#' @export
likelihood_quantile <- function(tau, scale = NULL) {
  if (missing(tau)) abort("argument", "`tau` must be given: the quantile, between 0 and 1.")
  if (length(tau) > 1L) return(several_quantiles(tau, scale))
  if (check_number(tau, "tau", "argument") <= 0 || tau >= 1) {
    abort("argument", "`tau` must be above 0 and below 1; found ", describe(tau), ".")
  }
  new_residual("asymmetric_laplace", c(tau = as.double(tau), fixed_number(scale, "scale")),
               paste0("asymmetric Laplace (", format(tau), " quantile)"),
               list(scale = prior_of_number(scale, "scale")), scale, class = "quantile")
}

#' @param shape1,shape2 Shapes of the beta distribution of `nu`, positive numbers.
#' @rdname likelihood_eps_insensitive
#' @export
prior_beta <- function(shape1 = 1, shape2 = 1) {
  numbers <- c(shape1 = check_positive(shape1, "shape1", "prior"),
               shape2 = check_positive(shape2, "shape2", "prior"))
  new_hyperprior("beta", numbers, beta_label(numbers))
}

beta_label <- function(numbers) {
  paste0("beta(", format(numbers[["shape1"]]), ", ", format(numbers[["shape2"]]), ")")
}

# A likelihood of residuals. `given`: the core's numbers; `priors`: those of the others, by name;
# `scale` as the user gave it.
new_residual <- function(name, given, label, priors, scale, class = NULL) {
  likelihood <- new_likelihood(name, if (is.null(given)) numeric(0) else given, label, TRUE,
                               class = c(class, name, "two_hinges", "residual"),
                               priors = Filter(Negate(is.null), priors))
  likelihood$scale_formula <- scale_formula(scale)
  with_given_values(likelihood)
}

# A tube of one width in rows of different scales would be a density of another shape in each.
check_tube_follows <- function(epsilon, scale) {
  if (!is_formula(scale) || is.null(epsilon) || epsilon == 0) return(invisible())
  abort("argument", "With `scale` a formula the tube is as many scales wide in every row: give ",
        "`nu`, not `epsilon`.")
}

check_width <- function(epsilon) {
  if (check_number(epsilon, "epsilon", "argument") < 0) {
    abort("argument", "`epsilon` must be at least 0; found ", describe(epsilon), ".")
  }
  as.double(epsilon)
}

# c(name = x) of a number, NULL of a prior.
fixed_number <- function(x, name) {
  if (is.null(x) || inherits(x, "bsvm_hyperprior") || is_formula(x)) return(NULL)
  if (is.object(x) || !is.numeric(x)) refuse_scale(x, name)
  stats::setNames(check_positive(x, name, "argument"), name)
}

prior_of_number <- function(x, name) {
  if (is.null(x) || is_formula(x)) return(prior_half_t(3))
  if (!inherits(x, "bsvm_hyperprior")) return(NULL)
  if (!x$name %in% c("half_t", "ridge")) refuse_scale(x, name)
  check_component(x, "hyperprior")
}

refuse_scale <- function(x, name) {
  abort("argument", "`", name, "` must be a positive number, prior_half_t(), prior_inv_gamma() or a ",
        "formula such as ~ x; found ",
        if (inherits(x, "bsvm_hyperprior")) x$label else describe(x), ".")
}

# The core's number is epsilon / scale = (1 - nu) / nu.
kappa_of <- function(nu) {
  if (inherits(nu, "bsvm_hyperprior")) return(NULL)
  good <- is.numeric(nu) && !is.object(nu) && length(nu) == 1L && is.finite(nu) && nu > 0 && nu <= 1
  if (!good) {
    abort("argument", "`nu` must be a number above 0 and at most 1, or prior_beta(); found ",
          describe(nu), ".")
  }
  c(kappa = (1 - nu) / nu)
}

prior_of_share <- function(nu) {
  if (!inherits(nu, "bsvm_hyperprior")) return(NULL)
  if (nu$name == "beta") return(check_component(nu, "hyperprior"))
  abort("argument", "The prior of `nu` must be made by prior_beta(); found ", nu$label, ".")
}

# ---- the density at its numbers -----------------------------------------------------------------

# list(a, b, e1, e2) as two-hinges.R has them, for `values`, a list of numbers by name.
residual_hinges <- function(likelihood, values) UseMethod("residual_hinges")

#' @export
residual_hinges.bsvm_likelihood_eps_insensitive <- function(likelihood, values) {
  epsilon <- if (is.null(values$epsilon)) values$scale * values$kappa else values$epsilon
  list(a = 1 / values$scale, b = 1 / values$scale, e1 = epsilon, e2 = epsilon)
}

#' @export
own_values.bsvm_likelihood_eps_insensitive <- function(likelihood, values) {
  list(scale = values$scale, epsilon = residual_hinges(likelihood, values)$e1)
}

#' @export
residual_hinges.bsvm_likelihood_asymmetric_laplace <- function(likelihood, values) {
  list(a = values$tau / values$scale, b = (1 - values$tau) / values$scale, e1 = 0, e2 = 0)
}

#' @export
residual_density.bsvm_likelihood_two_hinges <- function(likelihood, values, r) {
  hinges_log_density(r, residual_hinges(likelihood, values))
}

#' @export
residual_cdf.bsvm_likelihood_two_hinges <- function(likelihood, values, t, sd) {
  hinges_normal_cdf(t, sd, residual_hinges(likelihood, values))
}

#' @export
residual_quantile.bsvm_likelihood_two_hinges <- function(likelihood, values, p) {
  hinges_quantile(p, residual_hinges(likelihood, values))
}

#' @export
residual_moments.bsvm_likelihood_two_hinges <- function(likelihood, values) {
  hinges_moments(residual_hinges(likelihood, values))
}

#' @export
expected_terms.bsvm_likelihood_two_hinges <- function(likelihood, y, weight, mean, variance) {
  hinges <- weighted_hinges(residual_hinges(likelihood, likelihood$values), weight)
  hinges_expected_terms(y - mean, sqrt(variance), hinges)
}

#' @export
log_average.bsvm_likelihood_two_hinges <- function(likelihood, y, weight, mean, variance) {
  hinges <- residual_hinges(likelihood, likelihood$values)
  weight * log(hinges_constant(hinges)) +
    hinges_log_average(y - mean, sqrt(variance), weighted_hinges(hinges, weight))
}

#' @export
residual_score.bsvm_likelihood_two_hinges <- function(likelihood, r) {
  hinges <- residual_hinges(likelihood, likelihood$values)
  hinges$a * (r > hinges$e1) - hinges$b * (r < -hinges$e2)
}

#' @export
is_support.bsvm_likelihood_two_hinges <- function(likelihood, y, f) {
  hinges <- residual_hinges(likelihood, likelihood$values)
  r <- y - f
  r >= hinges$e1 | r <= -hinges$e2
}

#' @export
integrates.bsvm_likelihood_two_hinges <- function(likelihood, effects) TRUE

#' @export
has_concave_kinks.bsvm_likelihood_two_hinges <- function(likelihood) TRUE

# The core's numbers that have the response's unit.
#' @export
unit_numbers.bsvm_likelihood_two_hinges <- function(likelihood) c("epsilon", "scale")

# ---- words --------------------------------------------------------------------------------------

#' @export
model_title.bsvm_likelihood_two_hinges <- function(likelihood) "Bayesian support vector regression"

#' @export
model_title.bsvm_likelihood_quantile <- function(likelihood) "Bayesian quantile regression"

# What is expected is the quantile: the density about it is a device.
#' @export
expected_response.bsvm_likelihood_quantile <- function(likelihood, f) f

#' @export
need_predictive.bsvm_likelihood_quantile <- function(likelihood) {
  abort("unsupported", "There are no new responses, nor intervals of them, under ",
        "likelihood_quantile(): its density of the response is a device. predict(interval = ",
        "\"confidence\") has intervals of the quantile itself, and under ",
        "likelihood_eps_insensitive() there are predictive ones.")
}

#' @export
note_of.bsvm_likelihood_quantile <- function(likelihood, about, fit = NULL) {
  if (about != "intervals") return(NULL)
  robust <- !is.null(fit$design) && has_sandwich(fit)
  paste0("Intervals are those of coefficients whose residuals have the asymmetric Laplace density; ",
         "with other residuals they may be too narrow or too wide.",
         if (robust) " Those of summary(fit, method = \"sandwich\") hold for any.")
}
