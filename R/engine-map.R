#' Posterior mode
#'
#' `engine_map()` is the fast fit known from `lme4::glmer()`. Variances are at the mode of their
#' posterior and coefficients at the mode given the variances; group effects are integrated out.
#'
#' @details
#' The inferred standard deviations are set to the mode of their posterior density, as a function of
#' their logarithms. The coefficients are at the mode given these standard deviations. The effects
#' of one grouping factor, one or two per level, are integrated out of the likelihood as in
#' [engine_gaussian()]. The log posterior is then smooth. Its second derivatives in coefficients and
#' log standard deviations together give the covariance of the coefficients, including the
#' uncertainty of the variances, and intervals for the standard deviations.
#'
#' **Without groups** the loss is not differentiable everywhere. At the mode, rows lie exactly at
#' points where it is not, like the support vectors of the classical SVM. Second derivatives at the
#' mode contain no information about the posterior. `vcov()`, `confint()`, and standard deviations
#' of coefficients, effects and linear predictors are therefore errors of class
#' `bsvm_error_unsupported`, and `summary()` shows `NA`; use [engine_gaussian()]. Coefficients,
#' predictions, variances and the curves of smooth terms (without a band) are available.
#'
#' **Sparse predictors** can be many (1e5 and more). Coefficients are then the means of the Gaussian
#' distribution that is closest to the posterior given the variances, computed by conjugate
#' gradients. Its variances come from 128 draws with fixed random numbers, so that results are
#' repeatable. Standard deviations and intervals are not available. Variances are at the mode of
#' their approximate posterior density; with more columns than rows that density may be flat, and
#' the mode uncertain.
#'
#' **Groups that cannot be integrated out** are an error of class `bsvm_error_unsupported` before
#' the fit if no predictors are sparse. The joint mode of effects and variances is not a useful
#' estimate of them. Such models have
#' * three effects or more per level;
#' * more than 1000 coefficients and other effects; or
#' * under the pseudo-likelihood, one effect per level with a covariate that is zero in some rows.
#'
#' **Limitations.** A mode is not a mean: if a posterior is skewed (few rows, strong effects, large
#' variances) the two differ. Plug-in variances also understate the standard deviations of the group
#' effects. [engine_gaussian()] averages over the variances instead, at a few times the cost.
#'
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's coefficients, `VarCorr()` and the variances
#'   in `summary()` are modes, not means. Group effects are means given these modes.
#' @section Errors:
#' `bsvm_error_argument` for any argument. The fit gives `bsvm_error_unsupported` in the cases
#' described above.
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
#' # does the infection recede faster under terbinafine, by a fit as fast as that of lme4?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail, engine = engine_map())
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
  if (is_said(x)) return(NULL)
  "Modes, and standard deviations from the curvature there; engine_gaussian() has means."
}

# Only a point: the posterior's mode where the loss is not differentiable, so that no curvature
# tells its spread.
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
