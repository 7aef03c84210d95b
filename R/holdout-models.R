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
  absent <- setdiff(variables_in(expression), names(data))
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
  if (inherits(model, "bsvm_tuned_svm")) return(model$formula)
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

# ---- predictions ------------------------------------------------------------------------------

# list(class, link, prob) of rows, as metrics take them: class and prob of the second level. `prob`:
# are probabilities wanted?
classify <- function(fitted, newdata, levels, prob) UseMethod("classify")

#' @export
classify.bsvm <- function(fitted, newdata, levels, prob) {
  found <- function(type) stats::predict(fitted, newdata, type = type, allow_new_levels = TRUE)
  said <- list(class = found("class"), link = found("link"))
  if (prob) said$prob <- tryCatch(found("prob"), bsvm_error_unsupported = function(e) NULL)
  read_prediction(said, levels, nrow(newdata))
}

#' @export
classify.bsvm_tuned_svm_fit <- function(fitted, newdata, levels, prob) {
  read_prediction(list(link = stats::predict(fitted, newdata, type = "link")), levels,
                  nrow(newdata))
}

#' @export
classify.function <- function(fitted, newdata, levels, prob) {
  read_prediction(fitted(newdata), levels, nrow(newdata))
}

# Probabilities are asked for by the name most packages have for them; what predict() makes of a
# type it does not know is not taken for them.
#' @export
classify.default <- function(fitted, newdata, levels, prob) {
  predict <- predict_of(fitted)
  said <- as_parts(predict(fitted, newdata), levels)
  if (prob && !is.null(said$class) && is.null(said$prob)) {
    said$prob <- tryCatch(as_parts(predict(fitted, newdata, type = "prob"), levels)$prob,
                          error = function(e) NULL)
    if (!has_columns(said$prob, levels)) said$prob <- NULL
  }
  read_prediction(said, levels, nrow(newdata))
}

# A link need not be zero where both classes are as likely (complementary log-log).
#' @export
classify.glm <- function(fitted, newdata, levels, prob) {
  if (!fitted$family$family %in% c("binomial", "quasibinomial")) return(NextMethod())
  said <- function(type) as.vector(stats::predict(fitted, newdata, type = type))
  prob <- said("response")
  read_prediction(list(class = levels[1L + (prob >= 0.5)], link = said("link"), prob = prob),
                  levels, nrow(newdata))
}

# Packages with S4 classes have a predict() of their own.
predict_of <- function(fitted) {
  home <- attr(class(fitted), "package")
  own <- isS4(fitted) && !is.null(home) && "predict" %in% getNamespaceExports(home)
  if (own) getExportedValue(home, "predict") else stats::predict
}

has_columns <- function(x, columns) length(dim(x)) == 2L && all(columns %in% colnames(x))

# What a model said, by its shape: list(class, link, prob), some of them NULL.
as_parts <- function(said, levels) {
  if (is.data.frame(said)) said <- frame_parts(said, levels)
  if (is.list(said) && any(part_names %in% names(said))) {
    return(said[intersect(part_names, names(said))])
  }
  if (is.factor(said) || is.character(said) || is.logical(said)) return(list(class = said))
  if (is.numeric(said) && NCOL(said) == 1L) return(number_part(as.vector(said), levels))
  if (is.numeric(said)) return(list(prob = said))
  abort("argument", "A prediction must be classes, links, probabilities, or a list of `class`, ",
        "`link` and `prob`; found ", describe(said), ".")
}

part_names <- c("class", "link", "prob")

# Probabilities may stand beside the class in columns of their own.
frame_parts <- function(said, levels) {
  names(said) <- sub("^[.]pred_", "", names(said))
  if (!any(part_names %in% names(said))) return(as.matrix(said))
  parts <- as.list(said)
  if (is.null(parts$prob) && has_columns(said, levels)) parts$prob <- as.matrix(said[levels])
  parts
}

# Numbers that are all names of classes are these. Others may be links or probabilities, which
# between 0 and 1 can't be told apart.
number_part <- function(said, levels) {
  if (all(class_names(said, levels) %in% c(levels, NA))) return(list(class = said))
  if (all(said >= 0 & said <= 1, na.rm = TRUE)) {
    abort("argument", "Predicted numbers that are all between 0 and 1 may be links or ",
          "probabilities: say which, as in `list(prob = )` or `list(link = )`.")
  }
  list(link = said)
}

# As the levels have them: 0 and 1 are FALSE and TRUE, too.
class_names <- function(class, levels) {
  class <- as.character(class)
  twin <- c(`0` = "FALSE", `1` = "TRUE", `FALSE` = "0", `TRUE` = "1")[class]
  unname(ifelse(!class %in% levels & twin %in% levels, twin, class))
}

read_prediction <- function(said, levels, n) {
  parts <- as_parts(said, levels)
  link <- parts$link
  prob <- second_probability(parts$prob, levels)
  class <- if (!is.null(parts$class)) is_second(parts$class, levels)
           else if (!is.null(link)) link >= 0
           else prob >= 0.5
  for (part in list(class, link, prob)) {
    if (!is.null(part) && length(part) != n) {
      abort("argument", "There must be one prediction a row (", n, "); found ", length(part), ".")
    }
  }
  lapply(list(class = class, link = link, prob = prob), unname)
}

is_second <- function(class, levels) {
  class <- class_names(class, levels)
  odd <- setdiff(class, c(levels, NA))
  if (length(odd) > 0L) {
    abort("argument", "Predicted classes must be ", enumerate(levels, "'"), "; found ",
          enumerate(odd, "'"), ".")
  }
  class == levels[2L]
}

second_probability <- function(prob, levels) {
  if (is.null(prob)) return(NULL)
  if (is.data.frame(prob)) prob <- as.matrix(prob)
  if (length(dim(prob)) == 2L) {
    if (!has_columns(prob, levels)) {
      found <- if (is.null(colnames(prob))) "no names" else enumerate(colnames(prob), "'")
      abort("argument", "Probabilities must have columns named ", enumerate(levels, "'"),
            "; found ", found, ".")
    }
    prob <- prob[, levels[2L]]
  }
  if (!is.numeric(prob) || any(prob < 0 | prob > 1, na.rm = TRUE)) {
    abort("argument", "Probabilities must be between 0 and 1.")
  }
  as.vector(prob)
}
