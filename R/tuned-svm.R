#' A support vector machine with a tuned cost
#'
#' `tuned_svm()` specifies a support vector machine of the package e1071 whose cost is tuned. The
#' cost has the lowest balanced error rate over random splits of the training rows, first on a
#' coarse grid and then on a finer one around the best value. It is the benchmark of Luts and
#' Ormerod (2014, Section 4.1). [holdout()] accepts the specification as a model, and `fit()` fits
#' it.
#'
#' @details
#' `times` splits are drawn, stratified by class. Every value of both grids is evaluated on the same
#' splits. The first stage uses all pairs of `cost` and `gamma` (for a linear kernel all costs). The
#' second stage multiplies the best pair by all pairs of multiples in `fine`. If rates are equal,
#' the smallest cost is chosen, then the smallest `gamma`. Luts and Ormerod do not report their
#' grids; the default grids are powers of two. With the defaults a linear SVM is fitted 1601 times.
#'
#' Columns are standardised by the mean and standard deviation of the training rows. Random-effects
#' terms are removed from the formula, because an SVM has no group effects. Rows with missing values
#' are excluded, and have no prediction. An offset is an error. If [holdout()] uses the formula of a
#' fit, `weights` and `class.weights` of that fit are not used.
#'
#' @param kernel `"linear"` (default) or `"radial"`.
#' @param formula The formula; by default the formula of the first model of [holdout()].
#' @param cost The costs of the first stage: positive numbers.
#' @param gamma For the radial kernel, its parameters in the first stage; by default `2^c(-4, -2, 0,
#'   2, 4)` divided by the number of columns.
#' @param fine The factors by which the best cost (and `gamma`) is multiplied in the second stage.
#' @param times,prop The number of inner splits, and the share of training rows in each of them.
#' @param group Groups that are kept together in the inner splits: the name of a column or a
#'   one-sided formula.
#' @param object The value of `tuned_svm()`; for `predict()`, the value of `fit()`.
#' @param data,newdata A data frame.
#' @param type `"class"` (default), or `"link"`, the decision value, positive for the second level.
#' @param x The value of `tuned_svm()` or `fit()`.
#' @param ... Must be empty.
#' @return `tuned_svm()`: an object of class `bsvm_tuned_svm`.
#'
#' `fit()`: an object of class `bsvm_tuned_svm_fit`, a list with
#' * `cost` and `gamma` (`NULL` for a linear kernel);
#' * `grid`, a data frame with one row per value tried: `stage`, `cost`, `gamma`, mean `ber`;
#' * `svm`, from [e1071::svm()], for standardised columns;
#' * further elements for predictions.
#'
#' `predict()`: a factor or a numeric vector, `NA` for rows with missing values.
#' @section Errors:
#' * `bsvm_error_unsupported` if e1071 is not installed, and for an offset.
#' * `bsvm_error_argument` for invalid arguments.
#' * `bsvm_error_formula` for a formula without predictors.
#' * Errors of [bsvm()] that concern formula and data.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#'   (Section 4.1).
#' @seealso [holdout()].
#' @examplesIf requireNamespace("e1071", quietly = TRUE)
#' # does a Bayesian fit predict as well as a support vector machine with a tuned cost?
#' set.seed(1)
#' d <- subset(iris, Species != "setosa")
#' models <- list(bayes = bsvm(Species ~ ., data = d), tuned = tuned_svm(times = 5))
#' holdout(models, d, times = 3)
#'
#' # the tuned one alone
#' svm <- fit(tuned_svm(times = 5), Species ~ ., data = d)
#' svm
#' predict(svm, d[c(1, 51), ])
#' @export
tuned_svm <- function(kernel = c("linear", "radial"), formula = NULL, cost = 2^seq(-8, 8, by = 2),
                      gamma = NULL, fine = 2^seq(-1.5, 1.5, by = 0.5), times = 100L, prop = 3 / 4,
                      group = NULL, ...) {
  check_dots(substitute(list(...)), "tuned_svm()", NULL)
  kernel <- pick_one(kernel, c("linear", "radial"), "kernel")
  if (!is.null(formula)) check_svm_formula(formula)
  if (!is.null(gamma) && kernel == "linear") {
    abort("argument", "`gamma` is used only with `kernel = \"radial\"`.")
  }
  named <- is.character(group) && length(group) == 1L
  if (!is.null(group) && !named && !inherits(group, "formula")) {
    abort("argument", "`group` must be the name of a column or a one-sided formula; found ",
          describe(group), ".")
  }
  structure(list(kernel = kernel, formula = formula, cost = check_tried(cost, "cost"),
                 gamma = if (!is.null(gamma)) check_tried(gamma, "gamma"),
                 fine = check_tried(fine, "fine"), times = check_count(times, "times"),
                 prop = check_level(prop, "prop"), group = group),
            class = "bsvm_tuned_svm")
}

check_svm_formula <- function(formula) {
  check_formula(formula)
  terms <- lapply(added_terms(formula[[3L]]), `[[`, "term")
  if (any(vapply(terms, is_call_to, TRUE, "offset"))) {
    abort("unsupported", "tuned_svm() does not support an offset: ",
          "give it a formula without one, as in `tuned_svm(formula = y ~ x)`.")
  }
}

check_tried <- function(x, name) {
  if (!is.numeric(x) || length(x) == 0L || !all(is.finite(x)) || any(x <= 0)) {
    abort("argument", "`", name, "` must be positive numbers; found ", describe(x), ".")
  }
  sort(unique(as.vector(x)))
}

#' @rdname tuned_svm
#' @export
fit.bsvm_tuned_svm <- function(object, formula = object$formula, data, ...) {
  check_dots(substitute(list(...)), "fit()", NULL)
  need_e1071()
  check_svm_formula(formula)
  check_rows_of(data)
  parts <- parse_formula(formula, data)
  frame <- bsvm_frame.formula(add_terms(parts$fixed, parts$bases), data,
                              na.action = stats::na.omit)
  x <- svm_columns(frame, frame)
  if (ncol(x) == 0L) {
    abort("formula", "tuned_svm() needs predictors, which the formula does not have: ",
          deparse1(formula), ".")
  }
  units <- split_units(frame$y > 0, inner_group(object$group, data, frame$na.action))
  splits <- random_splits(units, object$times, object$prop, frame$response$levels)
  best <- tune_svm(object, x, frame$y > 0, splits)
  chosen <- train_svm(x, frame$y > 0, best$cost, best$gamma)
  structure(c(best, chosen, frame[c("formula", "terms", "xlevels", "contrasts", "bases",
                                    "columns", "intercept", "nobs")],
              list(levels = frame$response$levels, kernel = object$kernel, times = object$times)),
            class = "bsvm_tuned_svm_fit")
}

need_e1071 <- function() {
  if (!requireNamespace("e1071", quietly = TRUE)) {
    abort("unsupported", "tuned_svm() needs the package e1071, which is not installed. ",
          "Install it with install.packages(\"e1071\").")
  }
}

# The machine has an intercept of its own. Columns that the core would make are as they are at first.
svm_columns <- function(rows, frame) {
  own <- list(bases = frame$bases, design = list(columns = frame$columns))
  learned <- learned_bases(frame)
  values <- stats::setNames(lapply(learned, first_values), basis_labels(learned))
  x <- as.matrix(settled_rows(own, rows[c("x", "made")], values)$x)
  if (frame$intercept > 0L) x[, -frame$intercept, drop = FALSE] else x
}

inner_group <- function(group, data, omitted) {
  if (is.null(group)) return(NULL)
  values <- row_values(group, data, "group")
  check_split_group(if (is.null(omitted)) values else values[-omitted])
}

# list(cost, gamma, grid) of both stages.
tune_svm <- function(spec, x, truth, splits) {
  gamma <- if (spec$kernel == "linear") NA_real_
           else if (is.null(spec$gamma)) 2^seq(-4, 4, by = 2) / max(ncol(x), 1L)
           else spec$gamma
  coarse <- judge_grid(spec$cost, gamma, x, truth, splits)
  best <- lowest(coarse)
  fine <- judge_grid(best$cost * spec$fine,
                     if (spec$kernel == "linear") NA_real_ else best$gamma * spec$fine,
                     x, truth, splits)
  best <- lowest(fine)
  list(cost = best$cost, gamma = if (!is.na(best$gamma)) best$gamma,
       grid = rbind(cbind(stage = 1L, coarse), cbind(stage = 2L, fine)))
}

judge_grid <- function(cost, gamma, x, truth, splits) {
  grid <- expand.grid(gamma = gamma, cost = cost)[c("cost", "gamma")]
  rates <- vapply(splits, function(split) {
    vapply(seq_len(nrow(grid)), function(k) {
      svm <- train_svm(x[split$train, , drop = FALSE], truth[split$train], grid$cost[k],
                       grid$gamma[k])
      link <- decision_values(svm, x[split$test, , drop = FALSE])
      metric_ber(list(truth = truth[split$test], class = link >= 0))
    }, 0)
  }, numeric(nrow(grid)))
  grid$ber <- rowMeans(matrix(rates, nrow(grid)), na.rm = TRUE)
  grid
}

# Rows stand in the order of cost, then gamma.
lowest <- function(grid) {
  if (all(is.nan(grid$ber))) {
    abort("response", "The inner splits of tuned_svm() never had both classes to test: there are ",
          "too few rows of one class.")
  }
  grid[which.min(grid$ber), ]
}

# list(svm, center, scale)
train_svm <- function(x, truth, cost, gamma) {
  center <- colMeans(x)
  scale <- apply(x, 2L, stats::sd)
  scale[!is.finite(scale) | scale == 0] <- 1
  arguments <- list(sweep_scale(x, center, scale), factor(truth), scale = FALSE,
                    type = "C-classification", cost = cost, fitted = FALSE,
                    kernel = if (length(gamma) == 0L || is.na(gamma)) "linear" else "radial")
  if (arguments$kernel == "radial") arguments$gamma <- gamma
  svm <- do.call(e1071::svm, arguments, quote = TRUE)
  svm$call <- NULL # it holds the data
  list(svm = svm, center = center, scale = scale)
}

sweep_scale <- function(x, center, scale) sweep(sweep(x, 2L, center), 2L, scale, `/`)

# Positive for class TRUE; e1071 names its column by which class is positive.
decision_values <- function(fitted, x) {
  if (nrow(x) == 0L) return(numeric(0))
  said <- stats::predict(fitted$svm, sweep_scale(x, fitted$center, fitted$scale),
                         decision.values = TRUE)
  values <- attr(said, "decision.values")
  as.vector(values) * if (startsWith(colnames(values), "TRUE")) 1 else -1
}

#' @rdname tuned_svm
#' @export
predict.bsvm_tuned_svm_fit <- function(object, newdata, type = c("class", "link"), ...) {
  check_dots(substitute(list(...)), "predict()", predict_hints)
  type <- pick_one(type, c("class", "link"), "type")
  rows <- design_rows(object[c("terms", "xlevels", "contrasts", "bases")], newdata)
  x <- svm_columns(rows, object)
  complete <- stats::complete.cases(x)
  link <- rep(NA_real_, nrow(x))
  link[complete] <- decision_values(object, x[complete, , drop = FALSE])
  names(link) <- row_labels(newdata)
  if (type == "link") link else score_class(link, object$levels)
}

#' @rdname tuned_svm
#' @export
print.bsvm_tuned_svm <- function(x, ...) {
  cat("Tuned support vector machine: ", x$kernel, " kernel, ", length(x$cost), " costs, then ",
      length(x$fine), " about the best, each by ", x$times, " hold-outs\n", sep = "")
  invisible(x)
}

#' @rdname tuned_svm
#' @export
print.bsvm_tuned_svm_fit <- function(x, ...) {
  cat("Support vector machine by e1071, ", x$kernel, " kernel, ", x$nobs, " rows\ncost ",
      format(x$cost, digits = 4L),
      if (!is.null(x$gamma)) c(", gamma ", format(x$gamma, digits = 4L)),
      ", balanced error rate ", format(lowest(x$grid[x$grid$stage == 2L, ])$ber, digits = 3L),
      " over ", x$times, " hold-outs of the rows\n", sep = "")
  invisible(x)
}
