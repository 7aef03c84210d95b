#' Point estimates: EM and ECME
#'
#' `engine_em()` computes the posterior mode of the coefficients under ridge, lasso and bridge
#' penalties of fixed scale. `engine_ecme()` computes the mode of coefficients and scale together.
#' The mode is the optimum of the classical support vector machine, and comes with a certificate.
#'
#' @details
#' Both engines minimise
#' \deqn{2 \sum_i w_i \max(0, 1 - y_i f_i) + \sum_j |b_j/(\nu\sigma_j)|^\alpha}{2 sum_i w_i max(0, 1
#' - y_i f_i) + sum_j |b_j/(nu sigma_j)|^alpha}
#' over the coefficients. Penalties are those of [prior_bridge()] and [prior_lasso()]. With
#' \eqn{\alpha = 2} they are those of [prior_ridge()] with a fixed variance, [prior_flat()], and
#' group effects with a fixed variance \eqn{v = \nu^2/2}{v = nu^2/2}. With `prior_ridge(variance =
#' v)` this is the SVM of LIBSVM with `cost = 2 * v`. Under `likelihood_hinge(gamma = , gamma0 = )`
#' the loss of a row is \eqn{\gamma (c |u| + u)}{gamma (c |u| + u)}, \eqn{u = 1 - y_i f_i}, in place
#' of \eqn{2 \max(0, u)}{2 max(0, u)}.
#'
#' **The certificate.** For \eqn{\alpha \ge 1}{alpha >= 1} the objective is convex, and a dual
#' objective with one Lagrange multiplier per row bounds it from below. The fit has converged when
#' the two differ by less than `tol` of [bsvm_control()], relative to the objective.
#' `summary(details = TRUE)` reports this gap, which bounds the distance of the fit from the optimum. A fit that reaches
#' neither `tol` nor 1e-8 warns. For \eqn{\alpha < 1}{alpha < 1} there are local optima: the gap
#' then shows only that no small step decreases the objective. The fit is the best of `starts`.
#'
#' **The method.** EM weights the rows by \eqn{1/|1 - y_i f_i|}, which is infinite at support
#' vectors, and its steps become smaller and smaller. With `accelerate = TRUE` a primal-dual
#' interior point method solves 20 to 40 of the same systems with weights that stay finite. For
#' \eqn{\alpha < 1}{alpha < 1} the penalty is replaced by its tangents between such runs.
#'
#' With `accelerate = FALSE` the iterations of the papers run until the objective decreases by less
#' than `tol` (relative), or until `max_passes`. The gap may still be large then, and coefficients
#' that are zero at the optimum are small numbers. The systems are those of coefficients or of rows,
#' whichever are fewer. If there are many of both (3000 and more), they are solved by conjugate
#' gradients.
#'
#' **Simulated annealing.** With `annealing = 1000` each start first makes a thousand iterations of
#' a Gibbs sampler for the objective divided by a temperature. The temperature decreases from 1 to
#' 1e-4 by equal factors (Section 4.1). The descent starts at the lowest point that was visited.
#'
#' Annealing often finds lower optima if \eqn{\alpha < 1}{alpha < 1} and predictors are similar to
#' each other, but each iteration solves a system. With few iterations, random starts alone may do
#' better. With \eqn{\alpha \ge 1}{alpha >= 1} there is only one optimum. Annealing is then used
#' only before plain updates (`accelerate = FALSE`), as their start.
#'
#' **`engine_ecme()`** is for [prior_bridge()] and [prior_lasso()] with an inferred `nu`. It
#' alternates between the coefficients and `nu`, which is set to its mode given the coefficients
#' (CME-step). The mode refers to the joint density of the coefficients and
#' \eqn{\nu^{-\alpha}}{nu^-alpha}. The gap is the gap given `nu`.
#'
#' **A path.** With a grid of scales, as `prior_lasso(nu = c(0.01, 0.1, 1))`, `engine_em()` fits all
#' of them in turn. The fit is that of the last scale, and [regularization_path()] returns all. If
#' \eqn{\alpha < 1}{alpha < 1} and `starts` is above 1, each value also starts at the fits of its
#' neighbours, up the grid and down, and keeps the lowest optimum.
#'
#' **Rows of a source** ([bsvm_source()]). The optimum depends on the rows near their margin, and on
#' the sum of those inside it. So the method keeps the rows nearest to the margin in memory, and adds
#' up all others (Portnoy and Koenker 1997). It keeps 8 million numbers, or 20 rows for each
#' coefficient if that is more, which takes several times 64 MB. It starts with a sample and reads all
#' rows a few times, often two to ten, until the gap is below `tol`. The gap is that of all rows: what
#' is minimised in between is never above their objective. If \eqn{\alpha < 1}{alpha < 1}, `starts`
#' are tried on the sample. If all rows can be kept, the fit is that of a data frame.
#' `accelerate = FALSE` and `annealing` need a data frame, and [support_vectors()] is not available.
#'
#' **No standard deviations.** The mode lies at points where the loss and the penalty are not
#' differentiable, so that the curvature there contains no information about the posterior.
#' `vcov()`, `confint()` and standard deviations are therefore errors of class
#' `bsvm_error_unsupported`, and `summary()` shows `NA`. Use [engine_gibbs()] or, with ridge priors,
#' [engine_gaussian()].
#'
#' @param accelerate `TRUE` (default) for the interior point method, `FALSE` for the EM of the
#'   papers.
#' @param starts The number of starts if \eqn{\alpha < 1}{alpha < 1}; a whole number, 5 by default.
#'   The first start is always the same. The others are random and, like annealing, depend on
#'   [set.seed()].
#' @param annealing The number of iterations of simulated annealing before the descent from each
#'   start; a whole number, 0 (default) for none.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`.
#' @section Errors:
#' `bsvm_error_argument` for invalid arguments. The fit gives `bsvm_error_unsupported` for the
#' normalised likelihood, for priors with inferred variances, for `engine_em()` with an inferred
#' `nu`, and for `engine_ecme()` without one.
#' @section Warnings:
#' The fit gives `bsvm_warning_convergence` if the gap stays above `tol` and 1e-8 (with plain
#' updates: if `max_passes` is reached), on a path for each `nu`. It may also give
#' `bsvm_warning_interrupted` and `bsvm_warning_rank` (see [bsvm_conditions]).
#' @references
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Sections 3.1 to 3.3).
#'
#' Mehrotra, S. (1992). On the implementation of a primal-dual interior point method. *SIAM Journal
#' on Optimization*, 2, 575-601.
#'
#' Portnoy, S. and Koenker, R. (1997). The Gaussian hare and the Laplacian tortoise: computability of
#' squared-error versus absolute-error estimators. *Statistical Science*, 12, 279-300 (Section 5).
#' @seealso [support_vectors()], [regularization_path()]; [prior_bridge()] for the penalties.
#' @examples
#' # which flowers lie on the margin between two species?
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa",
#'             prior = prior_lasso(nu = 0.5), engine = engine_em())
#' fit
#' support_vectors(fit)
#'
#' # the scale estimated as well
#' estimated <- update(fit, prior = prior_lasso(), engine = engine_ecme())
#' summary(estimated)
#' @export
engine_em <- function(accelerate = TRUE, starts = 5L, annealing = 0L, ...) {
  check_dots(substitute(list(...)), "engine_em()", estimator_hints)
  new_estimator("em", accelerate, starts, annealing, "EM, point estimate")
}

#' @rdname engine_em
#' @export
engine_ecme <- function(accelerate = TRUE, starts = 5L, annealing = 0L, ...) {
  check_dots(substitute(list(...)), "engine_ecme()", estimator_hints)
  new_estimator("ecme", accelerate, starts, annealing, "ECME, point estimate with its scale")
}

estimator_hints <- c(
  control_hints,
  nu = "Use `prior = prior_bridge(nu = )` or `prior_lasso(nu = )` instead.",
  cost = "The penalty is `prior = prior_ridge(variance = cost / 2)`.",
  draws = "Draws are for `engine = engine_gibbs()`."
)

new_estimator <- function(name, accelerate, starts, annealing, label) {
  check_flag(accelerate, "accelerate")
  starts <- check_count(starts, "starts")
  annealing <- check_count(annealing, "annealing", least = 0L)
  engine <- new_engine(name, c(accelerate = as.numeric(accelerate)),
                       paste0(label, if (annealing > 0L) ", annealed",
                              if (!accelerate) ", plain updates"))
  engine$settings <- list(starts = starts, annealing = annealing)
  engine
}

#' @export
traits_of.bsvm_engine_em <- function(engine) {
  estimator_traits(
    grid = TRUE, nu = "given",
    priors_needed = paste(" It requires given variances or scales, as in prior_ridge(variance = 2)",
                          "or prior_lasso(nu = 1).")
  )
}

#' @export
traits_of.bsvm_engine_ecme <- function(engine) {
  estimator_traits(
    nu = "inferred",
    priors_needed = paste(" It requires prior_lasso() or prior_bridge(), whose scale it estimates,",
                          "and a given variance elsewhere, as in prior_ridge(variance = 2).")
  )
}

estimator_traits <- function(...) {
  new_traits(streams = TRUE, passes = 4, mode = TRUE, learned = "none", ...)
}

# The papers' iterations and annealing weigh all rows.
#' @export
for_rows_elsewhere.bsvm_engine_em <- function(engine) {
  if (engine$parameters[["accelerate"]] == 1 && engine$settings$annealing == 0L) return(engine)
  abort("unsupported", engine_call(engine), " with `accelerate = FALSE` or `annealing` needs all ",
        "rows in this R session: give `data` as a data frame, or leave these arguments out.")
}

#' @export
for_rows_elsewhere.bsvm_engine_ecme <- for_rows_elsewhere.bsvm_engine_em

#' @export
engine_note.bsvm_engine_em <- function(engine, x) {
  mode_note(x, "engine_gibbs() draws from the posterior.")
}

#' @export
engine_note.bsvm_engine_ecme <- engine_note.bsvm_engine_em
