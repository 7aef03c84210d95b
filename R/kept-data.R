# Data that are evaluated once and, unless the user says otherwise, kept in the fit.

# A promise of bsvm(): an error in it is one of the argument, but for the caller's time limit.
force_argument <- function(value, name, class) {
  tryCatch(value, error = function(e) {
    if (inherits(e, "bsvm_error") || is_time_limit(e)) stop(e)
    abort(class, "`", name, "` can't be evaluated: ", sub("[.]$", "", conditionMessage(e)), ".")
  })
}

# Evaluates a call with values for some of its arguments. They go in under names: tracebacks write
# calls out.
eval_with <- function(call, values, env) {
  here <- new.env(parent = env)
  for (name in names(values)) {
    hidden <- paste0(".bsvm_", name)
    assign(hidden, values[[name]], envir = here)
    call[[name]] <- as.name(hidden)
  }
  eval(call, here)
}

# The raw variables the call uses, wherever they lay, of the rows `subset` chose.
kept_data <- function(frame, call, data, formula) {
  from <- formula_environment(formula)
  auxiliary <- frame$unknowns$rule$settings$auxiliary
  used <- unique(c(variables_in(open_formula(frame)), all.vars(call$weights),
                   all.vars(call$offset),
                   if (inherits(auxiliary, "formula")) all.vars(auxiliary)))
  n <- data_rows(list(formula = re_home(frame$formula, from)), data)
  kept <- raw_rows(used, from, data, frame$rows, n)
  kept[intersect(names(kept), used)]
}

# The changed call of a fit that keeps its data. `changed`: names of arguments that are given anew.
refit_kept <- function(call, object, changed, env) {
  kept <- if (is.null(object$formula)) object$data else list(data = object$data)
  kept <- Filter(Negate(is.null), kept[setdiff(names(kept), changed)])
  again <- call[!names(call) %in% names(kept)]
  if (!"subset" %in% changed) again <- without(again, "subset")
  if (!is.null(object$formula)) {
    if (!inherits(call$formula, "formula")) {
      again$formula <- re_home(object$formula, formula_home(object, env))
    }
    kept$data <- with_new_variables(object, again, env)
  }
  need_values(again)
  again[[1L]] <- bsvm
  fit <- eval_with(again, kept, env)
  fit$call <- clean_call(call)
  fit
}

without <- function(call, name) call[names(call) != name]

# ---- variables that the fit does not keep -------------------------------------------------------

# The kept data and what the changed call needs besides. A new variable is one of the data the fit
# was called with, if these are still what they were: anything else of that name may have other
# rows.
with_new_variables <- function(object, call, env) {
  needed <- c(variables_in(open_terms(call$formula)), all.vars(call$weights),
              all.vars(call$offset), all.vars(call$subset))
  needed <- needed[!grepl("^<.+>$", needed)] # values, of which clean_call() keeps no more
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
