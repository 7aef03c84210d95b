# Data that are evaluated once and, on request, kept in the fit.

# `data` of bsvm(), a promise.
force_data <- function(data) {
  tryCatch(data, error = function(e) {
    abort("data", "`data` can't be evaluated: ", sub("[.]$", "", conditionMessage(e)), ".")
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
  used <- unique(c(variables_in(open_formula(frame)), all.vars(call$weights),
                   all.vars(call$offset)))
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
  if (!is.null(object$formula) && !inherits(call$formula, "formula")) {
    again$formula <- re_home(object$formula, formula_home(object, env))
  }
  need_values(again)
  again[[1L]] <- bsvm
  fit <- eval_with(again, kept, env)
  fit$call <- clean_call(call)
  fit
}

without <- function(call, name) call[names(call) != name]
