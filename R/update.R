#' Fit again with something changed
#'
#' Takes the call of a fit, changes arguments or the formula, and fits again, as [stats::update()]
#' does for other models: to the data the fit keeps, unless `data` (or `x` or `y`) is given.
#'
#' @details
#' The kept data are the variables and rows of the first fit, of which a new `subset` takes some. A
#' new variable is looked up in the `data` of the first call, evaluated where `update()` was called,
#' if the variables that the fit keeps are still the same there; if it is not in `data`, that is an
#' error. A fit with `keep_data = FALSE` evaluates its whole call again.
#'
#' If an engine or a prior changes the likelihood (see [bsvm()]), a message of class
#' `bsvm_message_likelihood` says so.
#'
#' @param object A fit from [bsvm()].
#' @param formula. A change of the formula, in which `.` stands for what is there:
#'   `. ~ . - x`. Terms with bars are added and taken away like any other: `. ~ . + (1 | g)`.
#' @param ... Arguments of [bsvm()] to change or add; `NULL` takes one away.
#' @param evaluate If `FALSE`, the changed call is returned and not evaluated.
#' @return The new fit, or the call.
#' @section Errors: `bsvm_error_unsupported` for a change of formula in a fit from `bsvm(x, y)`,
#'   which has none; `bsvm_error_data` if the call had the data as values (as from [do.call()]) and
#'   they are not given anew; and those of [bsvm()].
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars)
#' fixef(update(fit, . ~ . - mpg))
#' fixef(update(fit, . ~ . + qsec))
#' fixef(update(fit, prior = prior_ridge(variance = 1)))
#' update(fit, standardize = FALSE, evaluate = FALSE)
#' @export
update.bsvm <- function(object, formula., ..., evaluate = TRUE) {
  check_fit(object)
  check_flag(evaluate, "evaluate")
  call <- object$call
  env <- parent.frame()
  if (!missing(formula.)) call$formula <- changed_formula(object, formula., env)
  changes <- match.call(expand.dots = FALSE)$...
  for (name in names(changes)) {
    call <- without(call, name)
    if (!is.null(changes[[name]])) call[[name]] <- changes[[name]]
  }
  if (!evaluate) return(call)
  keeps <- !is.null(object$data) && !any(c("data", "x", "y") %in% names(changes))
  fit <- if (keeps) refit_kept(call, object, names(changes), env) else refit_call(call, env)
  if (!"likelihood" %in% names(changes)) tell_changed_likelihood(object, fit)
  fit
}

refit_call <- function(call, env) {
  need_values(call)
  call[[1L]] <- bsvm # found where the package is not attached, too
  eval(call, env)
}

tell_changed_likelihood <- function(before, after) {
  if (identical(before$likelihood$name, after$likelihood$name)) return(invisible())
  inform("likelihood", "update() has changed the likelihood from the ", before$likelihood$label,
       " to the ", after$likelihood$label, ": coefficients, variances and intervals of the two ",
       "fits can't be compared. Give `likelihood` to choose.")
}

# Data given as values, as by do.call(), are not in the call that is kept.
need_values <- function(call) {
  lost <- vapply(as.list(call), function(a) is.name(a) && grepl("^<.+>$", as.character(a)), TRUE)
  if (any(lost)) {
    abort("data", "The fit was called with values in place of names, and does not keep them: give ",
          enumerate(names(call)[lost]), " to update().")
  }
}

changed_formula <- function(object, change, env) {
  need_formula(object, "update() with a formula")
  if (!inherits(change, "formula")) {
    abort("formula", "`formula.` must be a formula such as `. ~ . + x`; found ", describe(change),
          ".")
  }
  re_home(stats::update.formula(object$formula, change), formula_home(object, env))
}
