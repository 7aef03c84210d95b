# Data that are evaluated once and, unless the user says otherwise, kept in the fit.

# A promise of bsvm(): an error in it is one of the argument, but for the caller's time limit.
force_argument <- function(value, name, class) {
  tryCatch(value, error = function(e) {
    pass_on(e)
    abort(class, "`", name, "` can't be evaluated: ", sub("[.]$", "", conditionMessage(e)), ".")
  })
}

# Evaluates a call with values for some of its arguments. They go in under names: tracebacks write
# calls out. Data that were given as a value stay so marked.
eval_with <- function(call, values, env) {
  here <- new.env(parent = env)
  for (name in names(values)) {
    hidden <- if (is_value_mark(call[[name]])) as.character(call[[name]])
              else paste0(".bsvm_", name)
    assign(hidden, values[[name]], envir = here)
    call[[name]] <- as.name(hidden)
  }
  eval(call, here)
}

# The raw variables the call uses, wherever they lay, of the rows `subset` chose. Data that stood in
# the call as a value can't be found again by a name: all their columns are kept.
kept_data <- function(frame, call, data, formula) {
  from <- formula_environment(formula)
  auxiliary <- frame$unknowns$rule$settings$auxiliary
  used <- unique(c(variables_in(open_formula(frame)), all.vars(call$weights),
                   all.vars(call$offset),
                   if (inherits(auxiliary, "formula")) all.vars(auxiliary)))
  by_value <- !is.language(call$data) || is_value_mark(call$data)
  if (by_value && is.list(data)) used <- unique(c(used, names(data)))
  n <- data_rows(list(formula = re_home(frame$formula, from)), data)
  kept <- raw_rows(used, from, data, frame$rows, n)
  with_given(kept[intersect(names(kept), used)], frame, call)
}

# Weights and an offset that are no variable of the data, as columns that R can't write by mistake.
given_column <- c(weights = "(weights)", offset = "(offset)")

with_given <- function(kept, frame, call) {
  for (name in names(given_column)) {
    value <- frame$given[[name]]
    written <- call[[name]]
    if (is.null(value) || is.name(written) && as.character(written) %in% names(kept)) next
    kept[[given_column[[name]]]] <- take_rows(as.vector(value), frame$rows)
  }
  kept
}

# The changed call of a fit that keeps its data. `changed`: names of arguments that are given anew.
refit_kept <- function(call, object, changed, env) {
  kept <- if (is.null(object$formula)) object$data else list(data = object$data)
  kept <- Filter(Negate(is.null), kept[setdiff(names(kept), changed)])
  again <- if ("subset" %in% changed) call else without(call, "subset")
  if (!is.null(object$formula)) {
    again$formula <- home_formula(call, object, env)
    taken <- take_given(again, object, changed)
    again <- taken$call
    kept$data <- with_new_variables(taken$object, again, env)
  }
  need_values(again[!names(again) %in% names(kept)])
  refit(again, call, c(kept, kept_values(again, object, changed, env)), env)
}

# list(call, object): weights and offset of the kept data, less those that are given anew.
take_given <- function(call, object, changed) {
  for (name in names(given_column)) {
    column <- given_column[[name]]
    if (!column %in% names(object$data)) next
    if (name %in% changed) object$data[[column]] <- NULL else call[[name]] <- as.name(column)
  }
  list(call = call, object = object)
}

# The formula the fit had or, if its data are given anew, as it was written, which may have a `.`;
# at home where update() was called, with what it took from elsewhere.
home_formula <- function(call, object, env, written = FALSE) {
  if (inherits(call$formula, "formula")) return(call$formula)
  formula <- if (written && is_call_to(call$formula, "~")) eval(call$formula) else object$formula
  re_home(formula, formula_home(object, env))
}

# `call` is what the new fit keeps, `again` what is evaluated.
refit <- function(again, call, values, env) {
  again[[1L]] <- bsvm # found where the package is not attached, too
  fit <- eval_with(again, values, env)
  fit$call <- clean_call(call)
  fit
}

without <- function(call, name) call[names(call) != name]

# ---- values of arguments that are not changed ---------------------------------------------------

# Their expressions in the call may be unknown where update() is called, or be something else.
kept_values <- function(call, object, changed, env) {
  known <- object[c("engine", "likelihood", "standardize", "control")]
  known <- c(object$arguments, known[setdiff(names(known), names(object$arguments))],
             list(keep_data = !is.null(object$data) || !is.null(object$streamed$rows)))
  wanted <- setdiff(names(call), c("", "formula", arguments_of_data, changed))
  lost <- setdiff(wanted, names(known))
  c(known[intersect(wanted, names(known))],
    sapply(lost, call_value, call = call, env = env, simplify = FALSE))
}

# The value of what the fit does not keep: an argument of its call, evaluated anew.
call_value <- function(name, call, env) {
  tryCatch(eval(call[[name]], env), error = function(e) {
    pass_on(e)
    class <- if (name %in% arguments_of_data) "data" else "argument"
    written <- deparse(call[[name]], nlines = 1L)
    abort(class, "The fit does not keep its `", name, "`, and `", written, "` can't be evaluated ",
          "here: ", sub("[.]$", "", conditionMessage(e)), ". Give it anew: update(fit, ..., ", name,
          " = ).")
  })
}

# ---- variables that the fit does not keep -------------------------------------------------------

# The kept data and what the changed call needs besides. A new variable is one of the data the fit
# was called with, if these are still what they were: anything else of that name may have other
# rows.
with_new_variables <- function(object, call, env) {
  needed <- c(variables_in(open_terms(call$formula)), all.vars(call$weights),
              all.vars(call$offset), all.vars(call$subset), variables_of_scale(call$likelihood))
  needed <- needed[!grepl("^<.+>$", needed)] # marks of values
  new <- setdiff(needed, c(names(object$data), kept_names(environment(object$formula)), "."))
  n <- nrow(object$data)
  if (length(new) == 0L) return(object$data)
  source <- tryCatch(eval(object$call$data, env), error = function(e) NULL)
  if (is.null(object$call$data)) source <- env
  in_source <- vapply(new, function(name) is_variable(name, source), TRUE)
  elsewhere <- !in_source & vapply(new, function(name) {
    NROW(get0(name, env)) %in% c(n, if (is.data.frame(source)) nrow(source))
  }, TRUE)
  if (is.null(source)) refuse_lost(new)
  if (any(elsewhere)) refuse_elsewhere(new[elsewhere])
  if (!any(in_source)) return(object$data)
  rows <- source_rows(object, source, env)
  same <- !is.null(rows) && all(vapply(names(object$data), function(name) {
    !is_variable(name, source) ||
      identical(take_rows(variable_in(name, source), rows), object$data[[name]])
  }, TRUE))
  if (!same) refuse_lost(new[in_source])
  for (name in new[in_source]) object$data[[name]] <- take_rows(variable_in(name, source), rows)
  object$data
}

variable_in <- function(name, source) {
  if (is.environment(source)) get0(name, source) else source[[name]]
}

is_variable <- function(name, source) {
  value <- variable_in(name, source)
  !is.null(value) && !is.function(value) && NROW(value) > 1L
}

# The rows of the call's data that `subset` chose, NULL if that can't be told.
source_rows <- function(object, source, env) {
  first <- Filter(function(name) is_variable(name, source), names(object$data))
  if (length(first) == 0L) return(NULL)
  n <- NROW(variable_in(first[1L], source))
  subset <- tryCatch(eval(object$call$subset, source, env), error = function(e) NULL)
  if (is.null(object$call$subset)) return(seq_len(n))
  if (is.null(subset)) return(NULL)
  tryCatch(row_numbers(subset, n, row.names(source)), bsvm_error = function(e) NULL)
}

refuse_elsewhere <- function(names) {
  abort("data", "The fit does not keep ", enumerate(names), ", and `data` of its call does not ",
        "have ", if (length(names) == 1L) "it" else "them", ". Give update() a data frame that ",
        "has all variables: update(fit, ..., data = cbind(data, ", names[1L], ")).")
}

refuse_lost <- function(names) {
  abort("data", "The fit does not keep ", enumerate(names), ", and the data of its call can't be ",
        "found again or have changed since. Give update() the data: update(fit, ..., data = ).")
}
