#' Update and refit a model
#'
#' `update()` changes arguments or the formula in the call of a fit and fits the model again, like
#' [stats::update()] for other models. It uses the data kept in the fit, unless `data` (or `x` or
#' `y`) is given.
#'
#' @details
#' Arguments that are not changed keep their values in the fit, even if their variables have been
#' removed or changed since.
#'
#' The kept data are the variables and rows of the first fit; a new `subset` selects from these
#' rows. A new variable is looked up in the `data` of the first call, evaluated in the environment
#' from which `update()` is called. This requires that the kept variables are still the same there.
#' A new variable that is not in `data` is an error. A fit whose call contains the data as a value,
#' for example from [do.call()], keeps all columns. With `keep_data = FALSE`, or if `data` is given,
#' the arguments `data`, `subset`, `weights` and `offset` of the call are evaluated again.
#'
#' If a new engine or prior changes the likelihood (see [bsvm()]), a message of class
#' `bsvm_message_likelihood` reports it.
#'
#' @param object A fit from [bsvm()].
#' @param formula. A change of the formula, in which `.` stands for the current part: `. ~ . - x`.
#'   Random-effects terms are added and removed like other terms: `. ~ . + (1 | g)`.
#' @param ... Arguments of [bsvm()] to change or add; `NULL` removes an argument.
#' @param evaluate If `FALSE`, the changed call is returned without evaluation.
#' @return The new fit, or the call.
#' @section Errors:
#' * `bsvm_error_unsupported` for a change of the formula of a fit from `bsvm(x, y)`.
#' * `bsvm_error_data` if required data are not kept in the fit and can't be found again.
#' * `bsvm_error_argument`, `bsvm_error_weights` or `bsvm_error_offset` for other invalid arguments.
#' * Errors of [bsvm()].
#' @examples
#' # do the effects of sex and age change with other predictors or priors?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' fixef(update(fit, . ~ . - age))
#' fixef(update(fit, . ~ . + log1p(duration)))
#' fixef(update(fit, prior = prior_ridge(variance = 1)))
#' update(fit, standardize = FALSE, evaluate = FALSE)
#' @export
update.bsvm <- function(object, formula., ..., evaluate = TRUE) {
  check_fit(object)
  check_flag(evaluate, "evaluate")
  object <- as_called(object)
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
  again <- if (keeps) refit_kept else refit_call
  fit <- again(call, object, names(changes), env)
  if (!"likelihood" %in% names(changes)) tell_changed_likelihood(object, fit)
  fit
}

# The changed call where the data are those of the call, or given anew.
refit_call <- function(call, object, changed, env) {
  need_values(call)
  again <- call
  lazy <- if (!is.null(object$formula)) lazy_arguments
  if (!is.null(object$formula)) again$formula <- home_formula(call, object, env, written = TRUE)
  of_data <- setdiff(intersect(arguments_of_data, names(call)), c(lazy, changed))
  values <- c(sapply(of_data, call_value, call = call, env = env, simplify = FALSE),
              kept_values(again, object, changed, env))
  if ("data" %in% changed && is.language(call$data)) {
    values$data <- force_argument(eval(call$data, env), "data", "data")
  }
  data <- if (is.null(values$data)) call$data else values$data
  wanted <- setdiff(intersect(lazy, names(call)), changed)
  source <- if (length(wanted) > 0L) as_source(data)
  for (name in wanted) {
    need_found(name, call[[name]], if (is.null(source)) names(data) else source_names(source),
               environment(again$formula))
  }
  refit(again, call, values, env)
}

# Arguments that are evaluated in the data, and whose values for other rows the fit does not keep.
need_found <- function(name, written, known, home) {
  absent <- Filter(function(v) !exists(v, home), setdiff(all.vars(written), known))
  if (length(absent) == 0L) return(invisible())
  abort(if (name == "subset") "argument" else name, "The fit's `", name, "`, `",
        deparse(written, nlines = 1L), "`, can't be evaluated again: ", enumerate(absent),
        if (length(absent) == 1L) " is" else " are", " neither in the data nor where update() was ",
        "called. Give it anew: update(fit, ..., ", name, " = ).")
}

tell_changed_likelihood <- function(before, after) {
  if (identical(before$likelihood$name, after$likelihood$name)) return(invisible())
  inform("likelihood", "update() has changed the likelihood from the ", before$likelihood$label,
       " to the ", after$likelihood$label, ": coefficients, variances and intervals of the two ",
       "fits can't be compared. Give `likelihood` to choose.")
}

# Data given as values, as by do.call(), are not in the call that is kept.
need_values <- function(call) {
  lost <- vapply(as.list(call), is_value_mark, TRUE)
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
