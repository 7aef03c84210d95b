#' Hinge likelihood
#'
#' The likelihood of the support vector machine for two classes. It is either the probability model
#' obtained by normalising the hinge loss over the two classes (the default of [bsvm()]), or the
#' pseudo-likelihood without normalisation.
#'
#' @details
#' With the response \eqn{y} coded as -1 or +1 and the linear predictor \eqn{f}, each row
#' contributes \eqn{L(y, f) = \exp\{-2 \max(0, 1 - y f)\}}{L(y, f) = exp(-2 max(0, 1 - y f))}.
#'
#' `normalized = TRUE` (in [bsvm()] also `likelihood = "normalized"`) divides by the sum over the
#' two classes,
#' \deqn{p(y | f) = \frac{L(y, f)}{L(1, f) + L(-1, f)} = \frac{1}{1 + \exp\{-y h(f)\}},}{p(y | f) =
#' L(y, f) / (L(1, f) + L(-1, f)) = 1 / (1 + exp(-y h(f))),}
#' with \eqn{h(f)}{h(f)} equal to \eqn{4 f}{4f} inside the margin, from -1 to 1, \eqn{2 f + 2}{2f +
#' 2} above it and \eqn{2 f - 2}{2f - 2} below it. This is logistic regression with log odds that
#' flatten beyond the margin. Its intervals, variances and class probabilities are calibrated.
#' Inside the margin the log odds are \eqn{4 f}{4f}, so coefficients are about a quarter of those of
#' logistic regression. The default scales of priors are smaller accordingly (see [prior_half_t()]).
#'
#' The normalised likelihood is not log-concave, and no latent scales make it conditionally normal.
#' It is supported by [engine_gaussian()], [engine_map()] and, for draws, [engine_slice()]. It is
#' not supported by [engine_vb()], [engine_gibbs()], [engine_em()], [engine_ecme()] and
#' [engine_ecm()].
#'
#' `normalized = FALSE` (`likelihood = "hinge"`) is the pseudo-likelihood \eqn{L}{L} itself. It does
#' not sum to one over the two classes, and the sum depends on \eqn{f}. Therefore it has no
#' log-likelihood (see [logLik.bsvm()]), and every row rewards a large \eqn{|f|}. The 95 % intervals
#' of its pseudo-posterior are too narrow. They covered the estimand in 58 to 74 % of simulated data
#' sets; the intervals of the normalised likelihood covered it in 94 to 97 %. The pseudo-posterior
#' finds group variance even if there is none, and under class imbalance it misses real effects. Its
#' class predictions are good, and every engine supports it.
#'
#' **A steeper or a skewed hinge:** `gamma` and `gamma0` of the pseudo-likelihood (Henao, Yuan and
#' Carin 2014). With \eqn{u = 1 - y f} and \eqn{c = \sqrt{1 + 2 \gamma_0/\gamma}}{c = sqrt(1 + 2
#' gamma0/gamma)},
#' \deqn{L(y, f) = \frac{\gamma_0}{c} \exp\{-\gamma (c |u| + u)\}.}{L(y, f) = gamma0/c exp(-gamma (c
#' |u| + u)).}
#' This is a density of \eqn{u}{u}, with slopes \eqn{\gamma (c + 1)}{gamma (c + 1)} inside the
#' margin and \eqn{\gamma (c - 1)}{gamma (c - 1)} beyond it. With `gamma0` above 0, rows far beyond
#' the margin are pulled back towards it, so every row is a support vector and no \eqn{f}{f} is
#' arbitrarily large. With `gamma0 = 0` there is no constant, and \eqn{L}{L} is \eqn{\exp\{-2 \gamma
#' \max(0, u)\}}{exp(-2 gamma max(0, u))}: all rows have weight `gamma`. The defaults, `gamma = 1`
#' and `gamma0 = 0`, give the hinge above.
#'
#' `gamma` acts as a temperature. Multiplying `gamma` and `gamma0` by `k` gives the same posterior
#' mode as multiplying the variance of the coefficients by `k`, but a narrower posterior. Only the
#' priors distinguish the two. Infer either `gamma` or the variances, not both. If both are
#' inferred, use proper and informative priors, such as `prior_half_t()` and `prior_gamma()` with
#' your own numbers.
#'
#' An inferred `gamma` also depends on `gamma0` and is hardly informed by the data. For example, for
#' `am ~ mpg + wt` with `mtcars` (slopes of variance 1, `prior_gamma(1, 1)`) its mean is 0.04, 0.11,
#' 0.29 and 0.39 at `gamma0` 0.001, 0.01, 0.1 and 1.
#'
#' **How `gamma` and `gamma0` are inferred.** Given the latent scales \eqn{\lambda}{lambda} of the
#' rows, gamma priors of both parameters are conjugate. `gamma0` is the rate of the exponential
#' prior of the scales, and its conditional distribution is Gamma(shape + n, rate + sum of the
#' scales).
#' * [engine_gibbs()] and [engine_slice()] draw them with the latent scales integrated out, which
#'   mixes faster.
#' * [engine_vb()] uses point estimates.
#' * [engine_gaussian()] includes them in its grid.
#' * [engine_ecm()] estimates `gamma` by its mode.
#' * [engine_map()], [engine_em()] and [engine_ecme()] accept only fixed numbers.
#'
#' `gamma` can't be inferred with `gamma0 = 0`: without the constant it goes to 0.
#'
#' `predict(map = "likelihood")` then returns \eqn{L}{L} of a class divided by its sum over the two
#' classes, for given `gamma` and `gamma0`. If they are inferred it is an error. The default,
#' `map = "logistic"`, estimates its own slope.
#'
#' **The default of bsvm()**, `likelihood = NULL`, is the normalised likelihood if the engine and
#' the priors support it. Some engines and priors support only the pseudo-likelihood:
#' * the engines `engine_vb()`, `engine_gibbs()`, `engine_em()`, `engine_ecme()` and `engine_ecm()`;
#' * the priors [prior_spike_slab()], [prior_laplace_zero()], [prior_bridge()] and [prior_lasso()];
#' * the model of missing values [missing_selection()].
#'
#' They select the pseudo-likelihood, with a message of class `bsvm_message_likelihood` once per
#' session. `likelihood = "hinge"` selects it without a message.
#'
#' **Probabilities.** \eqn{p(y | f)} is the probability of a class given the linear predictor.
#' `predict(type = "prob")` returns its average over the posterior, the posterior predictive
#' probability. For a fit with draws, [posterior_epred()][posterior_epred.bsvm] returns the
#' probability in each draw. [loo()][loo.bsvm], [log_lik()][log_lik.bsvm],
#' [posterior_predict()][posterior_predict.bsvm] and [pp_check()][pp_check.bsvm] use these draws.
#' The pseudo-likelihood has no probabilities of its own. [predict.bsvm()] describes maps from its
#' linear predictors to approximate probabilities, and [calibration()] checks them.
#'
#' @param normalized `FALSE` (default) for the pseudo-likelihood, `TRUE` for the probability model.
#' @param gamma,gamma0 Slope and skewness of the pseudo-likelihood: numbers (`gamma` from 1e-12,
#'   `gamma0` from 0, both up to 1e12), or their priors, made by `prior_gamma()`.
#' @param ... Must be empty.
#' @return An object of class `bsvm_likelihood`; `prior_gamma()` returns one of class
#'   `bsvm_hyperprior`.
#' @section Errors:
#' `bsvm_error_argument` if `normalized` is not `TRUE` or `FALSE`, for invalid `gamma` or `gamma0`,
#' and for any other argument. The same class is used for `gamma` or `gamma0` with `normalized =
#' TRUE`, and for an inferred `gamma` with `gamma0 = 0`. `bsvm_error_prior` for a shape or rate that
#' is not positive and finite; in [bsvm()], `bsvm_error_unsupported` for an engine that needs latent
#' scales.
#' @references
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27.
#'
#' Mallick, B. K., Ghosh, D. and Ghosh, M. (2005). Bayesian classification of tumours by using gene
#' expression data. *Journal of the Royal Statistical Society: Series B*, 67, 219-234.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Theorem 1).
#'
#' Sollich, P. (2002). Bayesian methods for support vector machines: evidence and predictive class
#' probabilities. *Machine Learning*, 46, 21-52.
#' @examples
#' # how probable is a species, given the size of the sepals?
#' set.seed(1)
#' fit <- bsvm(Species ~ Sepal.Length + Sepal.Width, data = iris, subset = Species != "setosa")
#' fit$likelihood
#' predict(fit, data.frame(Sepal.Length = c(5, 7), Sepal.Width = 3), type = "prob")
#'
#' # do classes differ under the pseudo-likelihood of the papers?
#' pseudo <- update(fit, likelihood = likelihood_hinge(normalized = FALSE))
#' table(predict(fit), predict(pseudo))
#'
#' # rows beyond the margin count as well; how much is inferred, given the variance of slopes
#' skewed <- update(fit, prior = prior_ridge(variance = 1),
#'                  likelihood = likelihood_hinge(gamma = prior_gamma(2, 2), gamma0 = 0.1))
#' summary(skewed, details = TRUE)
#' @export
likelihood_hinge <- function(normalized = FALSE, gamma = 1, gamma0 = 0, ...) {
  check_dots(substitute(list(...)), "likelihood_hinge()", likelihood_hints)
  check_flag(normalized, "normalized")
  numbers <- skew_numbers(gamma, gamma0)
  if (is.null(numbers)) return(plain_hinge(normalized))
  if (normalized) refuse_normalised_skew()
  skewed_hinge(numbers)
}

plain_hinge <- function(normalized) {
  if (normalized) {
    new_likelihood("hinge_normalized", numeric(0), "normalised hinge", TRUE,
                   class = c("normalized_hinge", "hinge"))
  } else {
    new_likelihood("hinge", numeric(0), "hinge pseudo-likelihood", FALSE,
                   class = c("pseudo_hinge", "hinge"))
  }
}

likelihood_hints <- c(
  normalised = "Use `normalized` instead.", normalise = "Use `normalized` instead.",
  normalize = "Use `normalized` instead.",
  cost = "In bsvm() it is `prior_ridge(variance = cost / 2)` with `likelihood = \"hinge\"`."
)

# ---- both ---------------------------------------------------------------------------------------

#' @export
response_kind.bsvm_likelihood_hinge <- function(likelihood) "classes"

#' @export
expected_response.bsvm_likelihood_hinge <- function(likelihood, f) normalised_map(f)

# The logistic function of the difference of the two classes' log pseudo-likelihoods.
normalised_map <- function(f) {
  f[] <- stats::plogis(2 * pmax(1 + f, 0) - 2 * pmax(1 - f, 0))
  f
}

#' @export
averaged_response.bsvm_likelihood_hinge <- function(likelihood, mean, sd) {
  density <- law_of(likelihood)
  with_core_conditions(
    core_averaged_probability(density$name, density$parameters, mean, sd)
  )
}

#' @export
draw_response.bsvm_likelihood_hinge <- function(likelihood, f) {
  drawn <- stats::runif(length(f)) < expected_response(likelihood, f)
  structure(as.integer(drawn), dim = dim(f), dimnames = dimnames(f))
}

#' @export
row_residuals.bsvm_likelihood_hinge <- function(likelihood, y, f) 1 - y * f

#' @export
row_margins.bsvm_likelihood_hinge <- function(likelihood, y, f) y * f

#' @export
open_words.bsvm_likelihood_hinge <- function(likelihood) {
  list(open = "The classes can be separated", perfectly = "The classes can be separated perfectly",
       perhaps = "The classes can perhaps be separated",
       skewed = "as with classes that can almost be separated",
       unreliable = "estimates, intervals and probabilities are unreliable, and classes may be",
       all_unreliable = "estimates, probabilities and even classes are unreliable")
}

#' @export
response_sd.bsvm_likelihood_hinge <- function(likelihood, fit) {
  abort("unsupported", "sigma() is not defined for this fit: the response is a class and has no ",
        "residual variance; VarCorr() and summary() have the variances there are.")
}

#' @export
density_bends.bsvm_likelihood_hinge <- function(likelihood, y) cbind(rep(-1, length(y)), 1)

#' @export
is_support.bsvm_likelihood_hinge <- function(likelihood, y, f) y * f < 1

# ---- the density --------------------------------------------------------------------------------

# Minus log(1 + exp(-(log odds))), whichever its sign.
#' @export
log_density.bsvm_likelihood_normalized_hinge <- function(likelihood, y, f) {
  margin <- y * f
  odds <- 2 * pmax(1 + margin, 0) - 2 * pmax(1 - margin, 0)
  stats::plogis(odds, log.p = TRUE)
}

# Inside the margin the log odds are 4 f.
normalised_scale <- 1 / 4

#' @export
coefficient_scale.bsvm_likelihood_normalized_hinge <- function(likelihood) normalised_scale

#' @export
note_of.bsvm_likelihood_normalized_hinge <- function(likelihood, about, fit = NULL) {
  if (about != "coefficients") return(NULL)
  "Four times a coefficient is comparable to one of logistic regression."
}

# Beyond, exact draws of f take more and more tries.
#' @export
most_drawn_weight.bsvm_likelihood_normalized_hinge <- function(likelihood) 4

# ---- the pseudo-likelihood ----------------------------------------------------------------------

#' @export
log_density.bsvm_likelihood_pseudo_hinge <- function(likelihood, y, f) -2 * pmax(1 - y * f, 0)

# The loss counts twice.
#' @export
libsvm_cost.bsvm_likelihood_pseudo_hinge <- function(likelihood, variance) 2 * variance

# One effect has a closed form.
#' @export
integral_costs.bsvm_likelihood_pseudo_hinge <- function(likelihood) c(1, 3, 400)

#' @export
has_concave_kinks.bsvm_likelihood_pseudo_hinge <- function(likelihood) TRUE

#' @export
law_of.bsvm_likelihood_pseudo_hinge <- function(likelihood) likelihood_hinge(normalized = TRUE)

#' @export
note_of.bsvm_likelihood_pseudo_hinge <- function(likelihood, about, fit = NULL) {
  switch(
    about,
    intervals = pseudo_note(fit),
    variances = c(paste("Variances under the pseudo-likelihood do not compare with those of other",
                        "models."), calibrated_advice(fit)),
    caption = "Credible intervals of a pseudo-posterior: too narrow",
    no_measure = paste("the hinge pseudo-likelihood does not sum to one over the two classes, so",
                       "it is not a likelihood of the response"),
    no_draws = paste("the hinge pseudo-likelihood is not normalised over the two classes, so it is",
                     "no distribution of the response; likelihood_hinge(normalized = TRUE) is one")
  )
}

# By bench/results/coverage.csv: 500 rows, four predictors, 200 data sets.
pseudo_note <- function(fit) {
  paste(c("95 % intervals of a pseudo-posterior are too narrow: they covered the estimand in 58 to",
          "74 % of simulated data sets.", calibrated_advice(fit)), collapse = " ")
}

# NULL where nothing takes the fit's priors under the normalised likelihood.
calibrated_advice <- function(fit) {
  if (takes_normalised(fit)) paste("Use", normalised_call, "for calibrated ones.")
}

normalised_call <- "update(fit, likelihood = \"normalized\", engine = NULL)"

takes_normalised <- function(fit) {
  if (has_factors(fit)) return(!is_exact(factors_of(fit)))
  fit$likelihood <- law_of(fit$likelihood)
  length(take_parts("gaussian", fit)) > 0L && is.null(fit$missing)
}
