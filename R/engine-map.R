#' Posterior mode
#'
#' Variances at the mode of their posterior, coefficients at the mode given those, group effects
#' integrated out: the fast fit that users of `lme4::glmer()` expect.
#'
#' @details
#' The inferred standard deviations are fixed where their posterior density, as a function of their
#' logarithms, is highest; the coefficients are at the mode given these. The effects of one grouping
#' factor, of one or two a level, are integrated out of the likelihood as in [engine_gaussian()].
#' Then the log posterior is smooth, and its second derivatives in coefficients and log standard
#' deviations together give the covariance of the coefficients, the uncertainty of the variances
#' included, and intervals for the standard deviations.
#'
#' **Without groups** the mode is that of a loss with kinks. Rows lie exactly on them, as the
#' support vectors of the classical machine do, and second derivatives there say nothing about the
#' posterior. So `vcov()`, `confint()`, and standard deviations of coefficients, effects and links
#' are an error of class `bsvm_error_unsupported`, and `summary()` has `NA` for them; use
#' [engine_gaussian()]. Coefficients, predictions, variances and the curves of smooth terms (without
#' a band) are there.
#'
#' **Sparse predictors** may be many (1e5 and more). Coefficients are then the means of the Gaussian
#' that comes closest to the posterior given the variances, found by conjugate gradients; its
#' variances come from 128 draws with fixed random numbers, so results are repeatable. Standard
#' deviations and intervals are not available. Variances are at the mode of their approximate
#' posterior density; with more columns than rows that density may be flat, and the mode uncertain.
#'
#' **Groups that can't be integrated out** (three effects a level or more; more than 1000
#' coefficients and other effects; under the pseudo-likelihood one effect whose multiplier is zero
#' in some rows) are an error of class `bsvm_error_unsupported` before the fit if no predictors are
#' sparse, since the joint mode of effects and variances is no estimate of these.
#'
#' **What it leaves out.** A mode is not a mean: where a posterior is skewed (few rows, strong
#' effects, large variances) the two differ, and plug-in variances understate the spread of the
#' group effects. [engine_gaussian()] averages over the variances instead, at a few times the cost.
#'
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's coefficients, `VarCorr()` and the variances
#'   in `summary()` are modes, not means; group effects are means given those.
#' @section Errors: `bsvm_error_argument` for any argument; of the fit, `bsvm_error_unsupported` as
#'   above.
#' @references
#' Rue, H., Martino, S. and Chopin, N. (2009). Approximate Bayesian inference for latent Gaussian
#' models by using integrated nested Laplace approximations. *Journal of the Royal Statistical
#' Society B*, 71, 319-392.
#'
#' Bates, D., Maechler, M., Bolker, B. and Walker, S. (2015). Fitting linear mixed-effects models
#' using lme4. *Journal of Statistical Software*, 67(1), 1-48.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176.
#' @seealso [engine_gaussian()], [engine_gibbs()], [integrated_loglik()].
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = engine_map())
#' summary(fit)
#' @export
engine_map <- function(...) {
  check_dots(substitute(list(...)), "engine_map()", approximation_hints)
  new_engine("map", numeric(0), "posterior mode")
}

#' @export
traits_of.bsvm_engine_map <- function(engine) {
  new_traits(integrates = TRUE, needs_integrated = TRUE, mode = TRUE, word = "posterior mode",
             linear_response = "that of engine_map() is the curvature at the mode.")
}

#' @export
engine_note.bsvm_engine_map <- function(engine, x) mode_note(x, "engine_gaussian() has them.")

# `better`: which engine has what a mode has not.
mode_note <- function(x, better) {
  if (isTRUE(x$point) && !is.null(x$sparse)) return(no_sparse_spread)
  if (isTRUE(x$point)) {
    return(paste("The mode is at points where the loss is not differentiable and curvature gives",
                 "no standard",
                 "deviations;", better))
  }
  "Modes, and standard deviations from the curvature there; engine_gaussian() has means."
}

# Only a point: the posterior's mode on kinks of the loss, where no curvature tells its spread.
# engine_em() and engine_ecme() have no other.
is_point <- function(object) isTRUE(object$posterior$point)

need_spread <- function(object, what) {
  if (is_point(object)) {
    abort("unsupported", what, " needs posterior standard deviations, which a fit by ",
          call_of_engine(object),
          if (trait(object$engine, "needs_integrated")) " without integrated group effects",
          if (is.null(object$design$sparse)) {
            paste(" does not have: its mode is at points where the loss is not differentiable.",
                  with_spread(object))
          } else paste(" does not have.", no_sparse_spread))
  }
}

no_sparse_spread <- paste(
  "Standard deviations are not available: the covariance matrix of this many sparse predictors is",
  "too large. Use fewer predictors, or engine = \"gaussian\", which may take very long."
)
