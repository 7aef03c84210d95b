#' Point estimates: EM and ECME
#'
#' The posterior mode of the coefficients under ridge, lasso and bridge penalties of fixed scale
#' (`engine_em()`), or of coefficients and scale together (`engine_ecme()`): the classical support
#' vector machine's own optimum, with a certificate.
#'
#' @details
#' Both minimise
#' \deqn{2 \sum_i w_i \max(0, 1 - y_i f_i) + \sum_j |b_j/(\nu\sigma_j)|^\alpha}{2 sum_i w_i max(0, 1
#' - y_i f_i) + sum_j |b_j/(nu sigma_j)|^alpha}
#' in the coefficients: those of [prior_bridge()] and [prior_lasso()], and with \eqn{\alpha = 2} of
#' [prior_ridge()] with a fixed variance, [prior_flat()] and group effects of a fixed variance
#' \eqn{v = \nu^2/2}{v = nu^2/2}. With `prior_ridge(variance = v)` it is LIBSVM's machine with
#' `cost = 2 * v`. Under `likelihood_hinge(gamma = , gamma0 = )` the loss of a row is \eqn{\gamma (c
#' |u| + u)}{gamma (c |u| + u)}, \eqn{u = 1 - y_i f_i}, in place of \eqn{2 \max(0, u)}{2 max(0, u)}.
#'
#' **The certificate.** For \eqn{\alpha \ge 1}{alpha >= 1} the objective is convex, and a dual
#' objective at multipliers of the rows bounds it from below. The fit ends where the two are nearer
#' than `tol` of [bsvm_control()], relative to the objective; `summary()` reports the gap, which
#' proves how far the fit is from the optimum, and a fit that reaches neither `tol` nor 1e-8 warns.
#' For \eqn{\alpha < 1}{alpha < 1} there are local optima: the gap then says only that no small step
#' leads down. The fit is the best of `starts`.
#'
#' **The method.** EM's rows are weighted by \eqn{1/|1 - y_i f_i|}, which is infinite at support
#' vectors, and its steps become ever smaller. With `accelerate = TRUE` a primal-dual interior point
#' method solves the same systems with weights that stay finite, 20 to 40 times; for
#' \eqn{\alpha < 1}{alpha < 1} the penalty is replaced by its tangents between such runs. With
#' `accelerate = FALSE` the papers' iteration runs until the objective falls by less than `tol`
#' (relative), or for `max_passes`: its gap may still be large then, and coefficients that are zero
#' at the optimum are small numbers. The systems are those of coefficients or of rows, whichever are
#' fewer; where there are many of both (3000 and more), conjugate gradients solve them.
#'
#' **Simulated annealing.** With `annealing = 1000` each start first makes a thousand sweeps of the
#' Gibbs sampler under the objective over a temperature, which falls from 1 to 1e-4 by equal factors
#' (Section 4.1); the descent starts at the lowest point that was seen. It often finds
#' lower optima where \eqn{\alpha < 1}{alpha < 1} and predictors resemble each other, at the price
#' of a system solved each sweep; with few sweeps random starts alone may do better. With
#' \eqn{\alpha \ge 1}{alpha >= 1} there is one optimum: sweeps are made before plain updates alone
#' (`accelerate = FALSE`), to which they lead.
#'
#' **`engine_ecme()`** is for [prior_bridge()] and [prior_lasso()] whose `nu` is inferred: it puts
#' `nu` at its mode given the coefficients, in turn with these (CME-step), as the mode of the joint
#' density of the coefficients and \eqn{\nu^{-\alpha}}{nu^-alpha}. The gap is that given `nu`.
#'
#' **A path.** With a grid of scales, as `prior_lasso(nu = c(0.01, 0.1, 1))`, `engine_em()` fits all
#' of them in turn; the fit is that of the last, and [regularization_path()] has them all. Where
#' \eqn{\alpha < 1}{alpha < 1} and `starts` is above 1, each value also starts at the fits of its
#' neighbours, up the grid and down, and keeps the lowest optimum.
#'
#' **No spread.** The mode lies on kinks of the loss and of the penalty, where curvature says
#' nothing about the posterior. So `vcov()`, `confint()` and standard deviations are an error of
#' class `bsvm_error_unsupported`, and `summary()` has `NA` for them; use [engine_gibbs()], or with
#' ridge priors [engine_gaussian()].
#'
#' @param accelerate `TRUE` (default) for the interior point method, `FALSE` for the papers' EM.
#' @param starts How many starts where \eqn{\alpha < 1}{alpha < 1}: the first is always the same,
#'   the others are random and follow [set.seed()], as annealing does. A whole number, 5 by
#'   default.
#' @param annealing How many sweeps of simulated annealing come before each start's descent; a whole
#'   number, 0 (default) for none.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`.
#' @section Errors: `bsvm_error_argument` for arguments that are not what they must be; of the fit,
#'   `bsvm_error_unsupported` for the normalised likelihood, for priors with inferred variances,
#'   with `engine_em()` for a `nu` to be inferred, with `engine_ecme()` where there is none.
#' @section Warnings: Of the fit, `bsvm_warning_convergence` where the gap stays above `tol` and
#'   1e-8 (plain updates: where `max_passes` is reached), of a path for each `nu`;
#'   `bsvm_warning_interrupted` and `bsvm_warning_rank` (see [bsvm_conditions]).
#' @references
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Sections 3.1 to 3.3).
#'
#' Mehrotra, S. (1992). On the implementation of a primal-dual interior point method. *SIAM Journal
#' on Optimization*, 2, 575-601.
#' @seealso [support_vectors()], [regularization_path()]; [prior_bridge()] for the penalties.
#' @examples
#' fit <- bsvm(am ~ mpg + wt + qsec, data = mtcars, prior = prior_lasso(nu = 0.5),
#'             engine = engine_em())
#' fit
#' support_vectors(fit)
#'
#' learnt <- update(fit, prior = prior_lasso(), engine = engine_ecme())
#' summary(learnt)
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

estimator_traits <- function(...) new_traits(mode = TRUE, learned = "none", ...)

#' @export
engine_note.bsvm_engine_em <- function(engine, x) {
  mode_note(x, "engine_gibbs() draws from the posterior.")
}

#' @export
engine_note.bsvm_engine_ecme <- engine_note.bsvm_engine_em
