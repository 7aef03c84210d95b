#' Formula, terms, data, weights and sizes of a fit
#'
#' These methods return the parts from which a model was fitted: formula, terms, model frame, design
#' matrix, weights, and the numbers of rows and levels.
#'
#' @details
#' A fit keeps the variables that it used, unless `keep_data = FALSE`. In that case `model.frame()`
#' and `model.matrix()` evaluate the `data` and `subset` of its call again, in the environment from
#' which they are called. They check that rows and response are the same as in the fit;
#' `model.matrix()` also checks the linear predictors. If the check fails, the error has the class
#' `bsvm_error_data` and suggests `keep_data = TRUE`.
#'
#' Formula and terms do not carry the environment in which they were made. In the value of
#' `formula()` any `.` is written out, and random-effects terms are included. `terms()` returns the
#' terms of the population-level effects.
#'
#' @param x,formula,object A fit from [bsvm()].
#' @param ... Not used.
#' @return
#' * `formula()` and `terms()`: the formula and terms of the fit. For a fit from `bsvm(x, y)`, which
#'   has no formula, an error of class `bsvm_error_unsupported`.
#' * `model.frame()`: a data frame with the variables of the formula, including those of
#'   random-effects terms, and one row per fitted value. For a fit from `bsvm(x, y)`: the response,
#'   the columns of `x` and the groups.
#' * `model.matrix()`: the n x p population-level design matrix on the scale of the data, with
#'   attributes `"assign"` and `"contrasts"`.
#' * `nobs()`: the number of rows in the fit, without rows of weight zero.
#' * `weights()`: the weights, or `NULL` if there were none.
#' * `ngrps()`: the number of levels of each grouping factor, as a named vector. The generic belongs
#'   to lme4: attach lme4 or call `lme4::ngrps(fit)`.
#' @examples
#' # which rows and columns did the fit use?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' formula(fit)
#' nobs(fit)
#' head(model.frame(fit))
#' head(model.matrix(fit))
#' @name accessors
NULL

#' @rdname accessors
#' @export
formula.bsvm <- function(x, ...) {
  check_fit(x, "x")
  need_formula(x, "formula()")
  if (is.null(x$counts)) x$formula else x$counts$formula
}

#' @rdname accessors
#' @export
terms.bsvm <- function(x, ...) {
  check_fit(x, "x")
  need_formula(x, "terms()")
  x$terms
}

#' @rdname accessors
#' @export
model.frame.bsvm <- function(formula, ...) {
  check_fit(formula, "formula")
  frame_of_fit(formula, parent.frame())
}

#' @rdname accessors
#' @export
model.matrix.bsvm <- function(object, ...) {
  check_fit(object)
  data <- training_data(object, parent.frame())
  rows <- training_design(object, data, groups = FALSE)
  x <- settled_rows(object, rows, mean_values(object))$x
  rownames(x) <- row.names(data$x)
  structure(x, assign = object$design$assign, contrasts = object$contrasts)
}

#' @rdname accessors
#' @export
nobs.bsvm <- function(object, ...) {
  check_fit(object)
  if (is.null(object$counts)) object$nobs else length(unique(object$counts$used))
}

#' @rdname accessors
#' @export
weights.bsvm <- function(object, ...) {
  check_fit(object)
  need_rows(object, "weights()")
  if (is.null(object$weights)) return(NULL)
  stats::naresid(object$na.action, object$weights)
}

#' @rdname accessors
#' @method ngrps bsvm
#' @rawNamespace S3method(lme4::ngrps,bsvm)
ngrps.bsvm <- function(object, ...) {
  check_fit(object)
  group_counts(object)
}

need_formula <- function(object, what) {
  if (is.null(object$formula)) {
    abort("unsupported", what, " needs a formula, which a fit from bsvm(x, y) does not have.")
  }
}

frame_of_fit <- function(object, env) {
  data <- training_data(object, env)
  if (is.null(object$formula)) {
    columns <- c(list(y = data$y), as.data.frame(filled(data$x)),
                 if (!is.null(data$group)) data["group"])
    return(data.frame(columns, check.names = FALSE, row.names = unless_twice(rownames(data$x))))
  }
  again(stats::model.frame(open_formula(object), data$x, na.action = stats::na.pass,
                           drop.unused.levels = TRUE))
}

# A matrix, no sparse one.
filled <- function(x) {
  if (is.matrix(x)) return(x)
  check_memory(2 * 8 * as.numeric(nrow(x)) * ncol(x), "A model frame of these predictors takes",
               "model.matrix() keeps them sparse.")
  as.matrix(x)
}

# The formula with bars and smooth terms opened: every variable once.
open_formula <- function(object) {
  of_scale <- object$scale_model$terms
  add_terms(open_terms(object$formula),
            if (!is.null(of_scale)) list(stats::formula(of_scale)[[2L]]))
}

# The data of the fit, one row a fitted link: list(x, y, group), with x the data frame of the
# formula or the matrix. Kept in the fit, or from its call evaluated again in `env`.
training_data <- function(object, env) {
  need_rows(object, "This function")
  data <- again(if (is.null(object$formula)) matrix_again(object, env) else data_again(object, env))
  same <- nrow(data$x) == length(object$link) &&
    (inherits(object, "bsvm_factor_model") || # without a response
       identical(recode_values(object$response, data$y), unname(object$y)))
  if (!same) refuse_data("have changed since: rows or response are not those of the fit. ")
  data
}

again <- function(expression) {
  tryCatch(expression, error = function(e) {
    refuse_data("can't be found again: ", sub("[.]$", "", conditionMessage(e)), ". ")
  })
}

refuse_data <- function(...) {
  abort("data", "The data of the fit ", ..., "Fit with `keep_data = TRUE`, or give the rows as ",
        "`newdata` to predict().")
}

data_again <- function(object, env) {
  home <- formula_home(object, env)
  data <- if (is.null(object$data)) eval(object$call$data, env) else object$data
  n <- NROW(eval(object$formula[[2L]], data, home))
  needed <- setdiff(all.vars(open_formula(object)), kept_names(environment(object$terms)))
  data <- raw_rows(needed, env, data, NULL, n)
  data <- data[again_rows(object, data, home), , drop = FALSE]
  list(x = data, y = eval(object$formula[[2L]], data, home))
}

# `subset` has been at work on data that are kept.
again_rows <- function(object, data, home) {
  if (is.null(object$data)) {
    subset <- eval(object$call$subset, data, home)
    return(kept_rows(object, row_numbers(subset, nrow(data), row.names(data))))
  }
  all <- seq_len(nrow(data))
  if (nrow(data) == length(object$link)) all else kept_rows(object, all)
}

# Where the formula is at home again: in `env`, with what it took from elsewhere.
formula_home <- function(object, env) {
  kept <- environment(object$formula)
  if (identical(kept, globalenv())) env else list2env(as.list(kept), parent = env)
}

matrix_again <- function(object, env) {
  data <- object$data
  if (is.null(data)) data <- lapply(as.list(object$call)[c("x", "y", "group")], eval, env)
  lapply(data[c("x", "y", "group")], take_rows, rows = kept_rows(object, seq_len(nrow(data$x))))
}

# `na.action` counts the rows after `subset`.
kept_rows <- function(object, rows) {
  if (is.null(object$na.action)) rows else rows[-object$na.action]
}

# As new_design(), for the fit's own rows: their offset is the fit's, and rows of weight zero may
# have levels the fit has not seen. A link that is not the fit's tells of changed predictors.
# `groups`: TRUE, FALSE or the names of the factors wanted.
training_design <- function(object, data, groups) {
  force(data)
  object$call$offset <- NULL
  design <- again(new_design(object, data$x, allow_new_levels = TRUE, group = data$group,
                             unknown = "missing"))
  design$x <- fill_imputed(design$x, object$missing)
  design <- complete_rows(object$missing$rule, object, design, # those of weight zero
                          known = object$missing$imputed$row)
  design$imputed <- imputed_entries(object)
  design$offset <- object$offset
  check_link(object, design)
  wanted <- if (isTRUE(groups)) names(object$groups) else if (is.character(groups)) groups
  design$groups <- design$groups[names(design$groups) %in% wanted]
  design
}

check_link <- function(object, design) {
  if (!is.null(object$undrawn)) object$posterior <- object$undrawn # draws have other means
  link <- posterior_linear(object, design, sd = FALSE)$mean
  if (!is.null(design$offset)) link <- link + design$offset
  same <- identical(is.na(link), unname(is.na(object$link))) &&
    all(abs(link - object$link) <= 1e-6 * pmax(1, abs(link)), na.rm = TRUE)
  if (same) return(invisible())
  refuse_data("have changed since, or a term depends on rows that were excluded, as x - mean(x) ",
              "does (scale(x) remembers): the linear predictors of the rows are not those of the ",
              "fit. ")
}
