#' What steers a run
#'
#' `threads` and `verbose` are for every engine; `tol`, `max_passes` and `start` steer
#' [engine_vb()], [engine_gaussian()], [engine_map()], [engine_em()], [engine_ecme()] and
#' [engine_ecm()].
#' [engine_gibbs()] has the numbers of its draws and its checkpoint as arguments of its own.
#'
#' @param threads How many threads; a whole number, 1 by default. Results are identical for any
#'   number.
#' @param tol Of [engine_em()] and [engine_ecm()] the relative duality gap at which the fit ends (of
#'   the latter 1e-8 if `tol` is less). Of the others it ends
#'   when the lower bound (of [engine_gaussian()] and [engine_map()] the
#'   objective at a value of the variances) changes by less than this (absolute) in a pass over the
#'   rows; a positive number, 1e-10 by default.
#' @param max_passes At most this many passes over the rows to the optimum, at least 2; 2000 by
#'   default. With [engine_gaussian()] and [engine_map()] that holds for each stage: the climb to
#'   the variances with the highest posterior density, each point of the grid, the mode. A fit
#'   whose climb, or mode, ends there is kept, with a warning of class
#'   `bsvm_warning_convergence`; so is a point of the grid, without one. With [engine_em()] a pass
#'   is a linear system, or below `alpha = 1` a convex problem, and the number holds for each start
#'   and each `nu` of a grid; with [engine_ecm()] it is an update after the kernel was learned.
#' @param verbose Should progress be shown, as a line on stderr with an estimate of the time left?
#'   `NULL` (default): only if the run takes over 10 seconds; `TRUE`: always; `FALSE`: never. On a
#'   terminal the line is rewritten, in a log there is a new one every 10 seconds.
#' @param start Where to start: population-level coefficients in the order and on the scale of
#'   `fixef()`, or a former fit with the same columns. `NULL` (default) starts at zero, with
#'   [engine_em()] below `alpha = 1` at the penalty's scale. The end is the same but where there are
#'   local optima (there, and where a prior selects). Only the mean is carried over, not covariance,
#'   variances or group effects, so it saves few passes if any.
#' @return An object of class `bsvm_control`.
#' @section Errors: `bsvm_error_argument` for a value that is not what it must be.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb", control = bsvm_control(tol = 1e-6))
#' update(fit, control = bsvm_control(start = fit))
#' @export
bsvm_control <- function(threads = 1L, tol = 1e-10, max_passes = 2000L, verbose = NULL,
                         start = NULL) {
  structure(
    list(threads = check_count(threads, "threads"),
         tol = check_positive(tol, "tol"),
         max_passes = check_passes(max_passes),
         verbose = check_verbose(verbose),
         start = check_start(start)),
    class = "bsvm_control"
  )
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_control <- function(x, ...) {
  cat("Control: threads ", x$threads, ", tol ", x$tol, ", max_passes ", x$max_passes,
      ", verbose ", if (is.null(x$verbose)) "NULL" else x$verbose,
      if (!is.null(x$start)) ", start given", "\n", sep = "")
  invisible(x)
}

# The first pass only finds a place to start from.
check_passes <- function(max_passes) {
  check_count(max_passes, "max_passes")
  if (max_passes < 2) abort("argument", "`max_passes` must be at least 2; found ", max_passes, ".")
  as.integer(max_passes)
}

# Coefficients only: a control object that held a fit would end up in the next fit's.
check_start <- function(start) {
  if (inherits(start, "bsvm")) return(posterior_coefficients(check_fit(start, "start"))$mean)
  if (!is.null(start) && !(is.numeric(start) && all(is.finite(start)))) {
    abort("argument", "`start` must be finite coefficients or a fit from bsvm(); found ",
          describe(start), ".")
  }
  start
}

check_control <- function(control) {
  if (!inherits(control, "bsvm_control")) {
    abort("argument", "`control` must be made by bsvm_control(); found ", describe(control), ".")
  }
  check_component(control, "control")
}
