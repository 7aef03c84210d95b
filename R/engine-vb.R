#' Variational Bayes
#'
#' `engine_vb()` fits the mean field approximation of Luts and Ormerod (2014). It assumes that
#' coefficients, latent scales and variances are independent, and maximises a lower bound on the log
#' evidence of the pseudo-likelihood.
#'
#' @details
#' For given variances the bound is concave, so that there is one optimum, and the gradient
#' certifies it. The updates of the papers reach it slowly. With `accelerate = TRUE` the mean is
#' updated by Newton steps with the true curvature, each checked against the bound, and the
#' covariance by the update of the papers. Both reach the same optimum.
#'
#' The engine needs the latent scales of the pseudo-likelihood and does not support
#' `likelihood_hinge(normalized = TRUE)`: see [engine_gaussian()].
#'
#' The approximation is fast, but its standard deviations are too small. `vcov(fit, method =
#' "linear_response")` corrects them without groups. With groups it corrects them only as far as the
#' variances are right. **With group effects the means can be far off, too.** The toenail data of
#' the package HSAUR3, with `(1 | patientID)`, are an example. The variance between patients is 3.5
#' and the intercept -0.35 (standard deviation 0.16). The exact posterior of the same model, from
#' which [engine_slice()] draws, has 11.0 and -1.10 (0.34).
#'
#' With random slopes, `(time | patientID)`, the error is larger: the variances are 4.2 for the
#' intercept and 0.038 for the slope, but their exact posterior means are about 180 and 3.2. The
#' error grows with fewer rows per level and with a larger variance. Predicted classes are affected
#' little.
#'
#' **Variable selection.** With [prior_laplace_zero()] the objective has local optima, so that the
#' fit depends on its start; the fit is the best of several starts. The first start includes all
#' coefficients. From this start alone a fit can include many small coefficients although an optimum
#' with a few large ones is far better. The default (`starts = NULL`) therefore also starts with the
#' largest half, quarter, ... of the coefficients selected from the first start, measured in
#' standard deviations.
#'
#' With a number of `starts`, all but the first start at random (from R's random numbers): each
#' coefficient is included or half included. `starts = 1` is the algorithm of the paper. The bounds
#' of all starts are in `fit$start_bounds`, and `summary(details = TRUE)` shows their range.
#'
#' If the scale of residuals is inferred, it may grow before coefficients are found, and then none
#' is found. The default therefore also has starts with all coefficients and the scale held at its
#' first value, a half, a quarter and an eighth of it. If the scale of residuals is given, this is
#' done with the scale of the tube. The scale is released once the coefficients have converged.
#' Random starts hold it at these values in turn.
#'
#' On the spam data of the package kernlab with `prior_laplace_zero(0.01)` one start needs 0.2 s,
#' and twelve random starts raise the bound from -2100.62 to -2095.64.
#'
#' @param accelerate `TRUE` (default) for Newton steps in the mean, `FALSE` for the plain updates.
#' @param starts The number of starts with [prior_laplace_zero()]: a whole number, or `NULL`
#'   (default), see Details. With `accelerate = FALSE` the default is 1. Without that prior there is
#'   one optimum, and one start.
#' @return An object of class `bsvm_engine`.
#' @section Errors:
#' `bsvm_error_argument` if `accelerate` is neither `TRUE` nor `FALSE`, or `starts` is neither
#' `NULL` nor a whole number of at least 1.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#'   (Algorithms 1 to 3).
#' @seealso [engine_gaussian()], which is closer to the posterior; [engine_gibbs()] for draws from
#'   the posterior itself; [bsvm_control()] for the tolerance and the limit on iterations.
#' @examples
#' # how fast does the infection recede? (an answer within a tenth of a second)
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail, engine = engine_vb())
#' fixef(fit)
#'
#' # is the lower bound as high without acceleration?
#' plain <- update(fit, engine = engine_vb(accelerate = FALSE))
#' elbo(fit) - elbo(plain)
#' @export
engine_vb <- function(accelerate = TRUE, starts = NULL) {
  check_flag(accelerate, "accelerate")
  starts <- if (is.null(starts)) as.integer(!accelerate) else check_count(starts, "starts")
  engine <- new_engine("vb", c(accelerate = as.numeric(accelerate)), paste0(
    "variational Bayes", if (!accelerate) ", plain updates",
    if (starts > 1L) paste0(", ", starts, " starts")
  ))
  # none: the core's choice of starts
  engine$settings <- list(starts = starts)
  engine
}

#' @export
traits_of.bsvm_engine_vb <- function(engine) {
  new_traits(elsewhere = TRUE, passes = 20, latent = "augmented", dense_selection = TRUE, inverse_means = TRUE,
             trace = "Lower bound")
}

#' @export
engine_note.bsvm_engine_vb <- function(engine, x) {
  if (is_said(x)) return(NULL)
  if (!is.null(x$start_bounds)) {
    return(paste("A variational approximation: standard deviations are too small, and",
                 "probabilities of inclusion too close to 0 and 1."))
  }
  relevant <- any(startsWith(x$priors, "relevance, ")) || !is.null(x$factors)
  paste0(
    if (identical(x$method, "linear_response"))
      "Standard deviations are by linear response; means are those of a variational approximation"
    else "A variational approximation: standard deviations are too small",
    ". ", if (!relevant) "engine_gaussian() is closer, ",
    "engine_", if (is.null(x$missing) && !relevant) "slice" else "gibbs",
    "() draws from the posterior itself."
  )
}

#' @export
group_note.bsvm_engine_vb <- function(engine, x) {
  if (length(x$ngroups) == 0L) return(NULL)
  paste0("Under variational Bayes these may be far too low",
         if (identical(x$method, "linear_response")) {
           ", and standard deviations of coefficients with them"
         }, ".")
}
