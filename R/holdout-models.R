# The models of a study. A learner is a function of training rows that gives what predicts; what
# that says of the rows to test is read by classify().

# `formula` is the first one among the models, for those without; `env` is where holdout() was
# called.
as_learner <- function(model, name, formula, env) UseMethod("as_learner")

#' @export
as_learner.default <- function(model, name, formula, env) {
  abort("argument", "A model must be a fit by bsvm(), a formula, a function of training rows or ",
        "tuned_svm(); found ", describe(model), " for ", enumerate(name), ".")
}

#' @export
as_learner.function <- function(model, name, formula, env) model

#' @export
as_learner.formula <- function(model, name, formula, env) {
  check_formula(model)
  rm(formula, env)
  function(data) bsvm.formula(model, data = data, control = bsvm_control(verbose = FALSE))
}

#' @export
as_learner.bsvm_tuned_svm <- function(model, name, formula, env) {
  if (is.null(model$formula)) model$formula <- formula
  if (is.null(model$formula)) {
    abort("argument", "tuned_svm() takes its formula from the first model that has one, and none ",
          "has: give it one, as in `tuned_svm(formula = y ~ x)`.")
  }
  check_svm_formula(model$formula)
  rm(formula, env)
  function(data) fit.bsvm_tuned_svm(model, data = data)
}

#' @export
as_learner.bsvm <- function(model, name, formula, env) {
  if (is.null(model$formula)) {
    abort("unsupported", "The fit ", enumerate(name), " is from bsvm(x, y) and has no formula to ",
          "fit to rows of `data`. Give a function, such as ",
          "`function(data) bsvm(as.matrix(data[columns]), data$y)`.")
  }
  if (!is.null(model$call$subset)) {
    abort("unsupported", "The fit ", enumerate(name), " has `subset`, which can't be applied to ",
          "rows that are split anew. Fit without it, and give those rows as `data`.")
  }
  if (is.null(model$arguments)) {
    abort("unsupported", "The fit ", enumerate(name), " does not keep the arguments to fit it ",
          "again with. Fit it by bsvm(), or give `arguments` to new_bsvm().")
  }
  call <- model$call[c(1L, which(names(model$call) %in% by_row))]
  need_values(call)
  call[[1L]] <- bsvm.formula
  refitter(call, refit_values(model, env))
}

by_row <- c("weights", "offset")

# In a function of its own, so that the fit is not sent along to workers.
refitter <- function(call, values) {
  force(call)
  force(values)
  function(data) {
    for (name in intersect(by_row, names(call))) need_columns(call[[name]], data, name)
    eval_with(call, c(values, list(data = data)), formula_environment(values$formula))
  }
}

# What lies elsewhere has not the rows of a split, and may have changed since.
need_columns <- function(expression, data, name) {
  absent <- setdiff(variables_in(expression), columns_known(data))
  if (length(absent) > 0L) {
    abort("data", "The `", name, "` of the fit must be made of columns of `data`, which has no ",
          enumerate(absent), ".")
  }
}

# The arguments of a fit but for its rows. Where to start would tell of rows that are to be tested.
refit_values <- function(model, env) {
  control <- model$control
  control$verbose <- FALSE
  control["start"] <- list(NULL)
  c(list(formula = re_home(model$formula, formula_home(model, env)), engine = model$engine,
         likelihood = model$likelihood, standardize = model$standardize, control = control),
    own_arguments(model))
}

# The formula of a model with the offset it has as an argument, NULL if it has none.
model_formula <- function(model, env) {
  if (inherits(model, "formula")) return(model)
  if (inherits(model, c("bsvm_tuned_svm", "bsvm_responses"))) return(model$formula)
  if (!inherits(model, "bsvm") || is.null(model$formula)) return(NULL)
  offset <- if (!is.null(model$call$offset)) list(call("offset", model$call$offset))
  re_home(add_terms(model$formula, offset), formula_home(model, env))
}

# A named list of models.
check_models <- function(models) {
  one <- is.function(models) || is.object(models)
  if (one) models <- list(model = models)
  if (!is.list(models) || length(models) == 0L) {
    abort("argument", "`models` must be a model or a list of models; found ", describe(models), ".")
  }
  twice <- unique(names(models)[duplicated(names(models))])
  if (any(nzchar(twice))) {
    abort("argument", "`models` must have different names; found ", enumerate(twice[nzchar(twice)]),
          " twice. Name them as in list(first = fit, second = other).")
  }
  names(models) <- panel_labels(names(models), length(models), "model")
  models
}

# Not every model is for every kind of response.
check_model_kinds <- function(models, response) {
  if (!any(vapply(models, inherits, TRUE, "bsvm_tuned_svm"))) return(invisible())
  need_classes(response, "tuned_svm()", paste(
    "Give a function in its place, such as `function(data) e1071::svm(y ~ x, data)`."
  ))
}

# Next to a fit to several responses.
refuse_single <- function(models) {
  single <- names(Filter(function(model) {
    inherits(model, c("bsvm", "bsvm_tuned_svm", "formula"))
  }, models))
  if (length(single) == 0L) return(invisible())
  abort("argument", "All models must be of several responses, as the first fit of them is; ",
        enumerate(single), if (length(single) == 1L) " is" else " are", " not. Use a function that ",
        "fits each response, such as `function(data) lm(cbind(a, b) ~ x, data)`.")
}

# ---- predictions ------------------------------------------------------------------------------

# A model's predictions for new rows, as metrics of the response accept them. `prob`: are
# probabilities wanted?
classify <- function(fitted, newdata, response, prob) UseMethod("classify")

#' @export
classify.bsvm <- function(fitted, newdata, response, prob) {
  read_prediction(ask_fit(fitted$response, fitted, newdata, prob), response, rows_in(newdata))
}

#' @export
classify.bsvm_tuned_svm_fit <- function(fitted, newdata, response, prob) {
  read_prediction(list(link = stats::predict(fitted, newdata, type = "link")), response,
                  rows_in(newdata))
}

#' @export
classify.function <- function(fitted, newdata, response, prob) {
  read_prediction(fitted(newdata), response, rows_in(newdata))
}

#' @export
classify.default <- function(fitted, newdata, response, prob) {
  said <- ask_foreign(response, predict_of(fitted), fitted, newdata, prob)
  read_prediction(said, response, rows_in(newdata))
}

# A link need not be zero where both classes are as likely (complementary log-log).
#' @export
classify.glm <- function(fitted, newdata, response, prob) {
  if (!fitted$family$family %in% c("binomial", "quasibinomial")) return(NextMethod())
  said <- function(type) as.vector(stats::predict(fitted, newdata, type = type))
  prob <- said("response")
  class <- level_of(response$levels, prob >= 0.5)
  read_prediction(list(class = class, link = said("link"), prob = prob), response, rows_in(newdata))
}

# Packages with S4 classes have a predict() of their own.
predict_of <- function(fitted) {
  home <- attr(class(fitted), "package")
  own <- isS4(fitted) && !is.null(home) && "predict" %in% getNamespaceExports(home)
  if (own) getExportedValue(home, "predict") else stats::predict
}
