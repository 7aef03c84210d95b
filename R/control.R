#' Settings for fitting a model
#'
#' `bsvm_control()` sets tolerance, limits, threads, progress and starting values of a fit.
#' `threads` and `verbose` apply to every engine. `tol`, `max_passes` and `start` apply to
#' [engine_vb()], [engine_gaussian()], [engine_map()], [engine_em()], [engine_ecme()] and
#' [engine_ecm()]. [engine_gibbs()] has its own arguments for the numbers of draws and the
#' checkpoint.
#'
#' @param threads How many threads; a whole number, 1 by default. Results are identical for any
#'   number.
#' @param tol The tolerance for convergence; a positive number, 1e-10 by default. [engine_em()],
#'   [engine_ecme()] and [engine_ecm()] have converged when the relative duality gap is at most
#'   `tol` (for `engine_ecm()` 1e-8 if `tol` is less). Other engines have converged when the lower
#'   bound changes by less than `tol` (absolute) in one iteration. For [engine_gaussian()] and
#'   [engine_map()] the objective at a value of the variances replaces the bound.
#' @param max_passes The maximum number of iterations over the rows, at least 2; 2000 by default.
#'   With [engine_gaussian()] and [engine_map()] the limit applies to each stage: the search for the
#'   variances with the highest posterior density, each point of the grid, and the mode. If the
#'   search or the mode reaches the limit, the fit is kept with a warning of class
#'   `bsvm_warning_convergence`. A point of the grid that reaches it is kept without a warning. With
#'   [engine_em()] an iteration is a linear system, or a convex problem if `alpha` is below 1; the
#'   limit applies to each start and each `nu` of a grid. With [engine_ecm()] an iteration is an
#'   update after the kernel was learned.
#' @param verbose Should progress be shown, as a line on stderr with an estimate of the time left?
#'   `NULL` (default): only if the run takes over 10 seconds; `TRUE`: always; `FALSE`: never. On a
#'   terminal the line is rewritten; in a log there is a new line every 10 seconds.
#' @param start Starting values: population-level coefficients in the order and on the scale of
#'   `fixef()`, or an earlier fit with the same columns. `NULL` (default) starts at zero;
#'   [engine_em()] with `alpha` below 1 starts at the scale of the penalty. The result does not
#'   depend on the start, except with local optima: `engine_em()` with `alpha` below 1, and priors
#'   that select variables. Only the mean is carried over, not covariance, variances or group
#'   effects, so that `start` saves few iterations, if any.
#' @param timeout With `cluster`: after how many seconds without an answer a worker is given up, a
#'   positive number. `NULL` (default) chooses it by the size of the rows, and then by how long
#'   earlier iterations took (see [bsvm_cluster]).
#' @param rows_folder With [bsvm_source()]: an existing folder for the files with the rows, which are
#'   removed after the fit. `NULL` (default) is [tempdir()]. All computers of a `cluster` must see it. If R
#'   is killed during the fit, folders whose names begin with `bsvm-` are left there: remove them.
#' @param effects_folder With [bsvm_source()]: an existing folder for the effects of groups with very
#'   many levels, which are in files. `NULL` (default) is [tempdir()], whose files are removed when R
#'   ends. A saved fit needs these files at their place for [ranef()] and predictions.
#' @return An object of class `bsvm_control`.
#' @section Errors: `bsvm_error_argument` for an invalid value.
#' @examples
#' # do the estimates depend on the tolerance?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' tight <- update(fit, control = bsvm_control(tol = 1e-8))
#' fixef(tight) - fixef(fit)
#'
#' # start where another fit ended
#' update(fit, prior = prior_ridge(variance = 1), control = bsvm_control(start = fit))
#' @export
bsvm_control <- function(threads = 1L, tol = 1e-10, max_passes = 2000L, verbose = NULL,
                         start = NULL, timeout = NULL, rows_folder = NULL, effects_folder = NULL) {
  structure(
    list(threads = check_count(threads, "threads"),
         tol = check_positive(tol, "tol"),
         max_passes = check_passes(max_passes),
         verbose = check_verbose(verbose),
         start = check_start(start),
         timeout = if (!is.null(timeout)) check_positive(timeout, "timeout"),
         rows_folder = check_folder(rows_folder, "rows_folder"),
         effects_folder = check_folder(effects_folder, "effects_folder")),
    class = "bsvm_control"
  )
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_control <- function(x, ...) {
  cat("Control: threads ", x$threads, ", tol ", x$tol, ", max_passes ", x$max_passes,
      ", verbose ", if (is.null(x$verbose)) "NULL" else x$verbose,
      if (!is.null(x$start)) ", start given",
      if (!is.null(x$timeout)) c(", timeout ", x$timeout),
      if (!is.null(x$rows_folder)) c(", rows_folder ", x$rows_folder),
      if (!is.null(x$effects_folder)) c(", effects_folder ", x$effects_folder), "\n", sep = "")
  invisible(x)
}

check_folder <- function(folder, argument) {
  if (is.null(folder)) return(NULL)
  if (!is.character(folder) || length(folder) != 1L || is.na(folder) || !dir.exists(folder)) {
    abort("argument", "`", argument, "` must be the path of a folder that exists; found ",
          describe(folder), ".")
  }
  normalizePath(folder)
}

# Before a source is read.
check_writable <- function(folder, argument) {
  if (is.null(folder)) return(invisible())
  probe <- tempfile("probe-", folder)
  if (!dir.exists(folder) || !suppressWarnings(file.create(probe))) {
    abort("argument", "`", argument, "` must be a folder that exists and can be written; found \"",
          folder, "\".")
  }
  unlink(probe)
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
