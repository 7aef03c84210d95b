#' Gaussian approximation over a grid of variances
#'
#' The deterministic engine to trust: close to the exact posterior in means, standard deviations and
#' variances, under either likelihood, in seconds.
#'
#' @details
#' **What it does.** The inferred standard deviations (of covariances their Cholesky factors, with
#' the diagonal in logarithms) are not approximated but averaged over: the posterior density of
#' their logarithms is found at a few points around its mode (of one, two or three of them on a
#' lattice, as far as the density counts; of more in a central composite design, both as Rue et al.
#' 2009 have it), and the rest of the model is approximated at each by a normal law. The fit is the
#' weighted mixture of these. So a coefficient's posterior may be skewed, and its intervals are
#' quantiles of the mixture.
#'
#' Given the standard deviations there are two cases.
#' * **A grouping factor with one or two effects a level**, as in `(1 | g)`, `(x | g)` or `(x ||
#'   g)`: these effects are integrated out of the likelihood, under the pseudo-likelihood in closed
#'   form, under the normalised one by quadrature that knows the kinks of the loss (of two effects,
#'   the second by quadrature). What is left, the population-level coefficients, is close to normal:
#'   mode and curvature give its law, mended by averages over that law, or replaced by them where
#'   they differ by much, as where effects are so small that they hardly smooth the kinks. With
#'   several grouping factors that is done for the one with most levels, and the effects of the
#'   others are treated as coefficients.
#' * **Else** (no groups; three effects a level or more; sparse predictors; more than 1000
#'   coefficients and effects beside those integrated out) coefficients and all effects have a
#'   normal law with full covariance that maximises the bound on the evidence, with the exact
#'   expectation of the hinge loss in it (Gaussian variational inference). [engine_vb()] bounds that
#'   expectation once more and takes variances as independent of the coefficients. At the optimum
#'   each row's factor is once given the moments that the row itself implies (a step of expectation
#'   propagation), which mends the standard deviations, a few per cent too small until then, and
#'   the weights of the mixture.
#'
#' Under the pseudo-likelihood both are concave problems for given variances: there is one optimum,
#' and the gradient `summary()` reports certifies it. Under the normalised likelihood they need not
#' be; without groups several starts are tried.
#'
#' **Time.** One effect a level takes milliseconds: on the toenail trial 1/40 of the time of
#' `lme4::glmer()`, and 1/11 under the normalised likelihood. Two are much slower, since each look
#' at the rows is a quadrature in two dimensions and their covariance has three free parameters:
#' with `(time | patientID)` there, ten seconds; `integrate = FALSE` is quick.
#'
#' **When to use it.** It is the default for many structures and sizes (see [bsvm()]). For the
#' papers' pseudo-posterior, whenever standard deviations or variances by [engine_vb()] matter: on
#' the toenail data of the package HSAUR3 with `(1 | patientID)` that engine
#' has the patients' variance at 3.5 and the intercept's standard deviation at 0.16, where the exact
#' pseudo-posterior has 11.0 and 0.34. [engine_slice()] draws from the exact posterior and is
#' the judge where the two disagree, [check_approximation()] asks whether to call it; [engine_map()]
#' is faster still and does without averaging over the variances.
#'
#' With many rows, a few hundred coefficients and no groups, [engine_vb()] costs less, and its class
#' predictions are much the same.
#'
#' **Several responses.** With correlated residuals ([responses]) the posterior given the variances is
#' normal. Variances are drawn by proposals from t distributions about their modes, so that the fit
#' has draws, and `elbo()` is the log evidence by importance sampling.
#'
#' **Separated classes.** Where a plane in columns with [prior_flat()] separates the classes
#' perfectly the likelihood bounds nothing, and the posterior is as good as improper: the fit warns
#' with class `bsvm_warning_rank`. The same holds for variances, and the same warning says so: where
#' the data do not bound one, use the default, [prior_ridge()].
#'
#' @param integrate `TRUE` (default) integrates group effects out where that can be done. `FALSE`
#'   keeps them all in the normal law, for comparison: faster with very many rows a level, and worse
#'   where there are few.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's `posterior` is a mixture (see [bsvm_run()]);
#'   every method works as for other engines: [summary.bsvm()] and [confint.bsvm()] have quantiles
#'   of the mixture, [ranef.bsvm()] with `level` those of the skewed posteriors of the group
#'   effects, [VarCorr.bsvm()] means of variances and standard deviations, and [elbo()] an estimate
#'   of the log evidence.
#' @section Errors: `bsvm_error_argument` if `integrate` is neither `TRUE` nor `FALSE`.
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
#'   tolerance and passes.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = engine_gaussian())
#' summary(fit)
#'
#' # random intercepts, integrated out
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = engine_gaussian())
#' VarCorr(fit)
#' head(ranef(fit, level = 0.9)$clinic)
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
    elsewhere = TRUE, latent = "expected", integrates = TRUE, word = "Gaussian engine",
    bound = "Log evidence (estimate)",
    linear_response = paste("engine_gaussian() averages over the variances and keeps all",
                            "covariances of the rest.")
  )
}
