#' Data of a model as numbers
#'
#' `bsvm_frame()` turns a formula and data, or a matrix, into numbers and checks them: the response
#' coded as -1 and +1, the design matrix, weights, offset, grouping factors and smooth terms. It is
#' the first of the four stages of [bsvm()].
#'
#' @details
#' `model.frame()` is called once, with the variables of random-effects terms included.
#' `model.matrix()` is called once for the population-level terms and once for each random-effects
#' term; mgcv makes the columns of smooth terms. Rows of weight zero are treated as absent, also for
#' the levels of factors, the bases of smooths, the standardisation and missing values. They are
#' stored in `absent` and get a fitted value after the fit.
#'
#' Columns of smooth terms come after the others. For each smooth, the columns without penalty come
#' first, named `s(x).fixed1`; the penalised columns follow, named `s(x).1` and so on.
#'
#' @inheritParams bsvm
#' @param ... Must be empty.
#' @return An object of class `bsvm_frame`, a list with
#' * `y`: n numbers, -1 or +1;
#' * `response`: an object of class `bsvm_response`, a list of `levels` (negative, positive) and
#'   `type`;
#' * `x`: the n x p design matrix on the user's scale. It is a `dgCMatrix` if `x` was given as a
#'   sparse matrix, or if a dense one would be large (above 1e7 cells) and less than 10 % full;
#' * `columns`: the p names of its columns; `assign`, `term_labels`: the term of each column;
#' * `intercept`: the position of the intercept, or 0; `implicit`: `TRUE` if that intercept is
#'   counted in `columns` but not stored in `x`;
#' * `weights`, `offset`: n numbers or `NULL`;
#' * `groups`: `NULL`, or a list named by grouping factor. Each element is a list of `name`,
#'   `variable`, `codes`, `levels` (m), `labels` (q) and `expressions`. It also has `z` (n x q,
#'   `NULL` for a column of ones), `effect_terms` (the term of each of the q effects) and `blocks`
#'   (effects that share a prior);
#' * `bases`: `NULL`, or a list of the terms with a basis, such as smooth terms. Each has `label`,
#'   `unpenalised` and `columns` (positions in the design), and `blocks` (of `columns`, one for each
#'   penalty). It also has the elements that new data require (for smooth terms `term`, `by`,
#'   `range`, `object`, `transform`, `expression`);
#' * `formula`, `terms` (without the data's environment), `xlevels`, `contrasts`, `na.action`,
#'   `row_names` (`NULL` if automatic), `nobs` (n);
#' * `rows`: the numbers of the rows chosen by `subset`, `NULL` for all;
#' * `bars`: did the formula have random-effects terms?
#' * `given`: for a formula, `weights` and `offset` as given, for all rows;
#' * `unknowns`: `NULL` or, if missing predictors are modelled, a list of `rule` and `auxiliary` (n
#'   rows), with missing values in `x`;
#' * `made`: `NULL`, or the variables of the rows of terms whose columns are not in `x`. These are
#'   Gaussian-process terms with `infer`, or with very many rows;
#' * `absent`: `NULL`, or the same elements for rows of weight zero, with their positions in `at`;
#' * `cluster`: as given.
#' @section Errors:
#' The errors of [bsvm()] that concern formula and data.
#' @seealso [bsvm_spec()], the next stage.
#' @examples
#' # how is the formula turned into numbers?
#' frame <- bsvm_frame(disease ~ sex + age, data = cath)
#' frame
#' head(frame$x)
#' @export
bsvm_frame <- function(x, ...) {
  UseMethod("bsvm_frame")
}

#' @rdname bsvm_frame
#' @export
bsvm_frame.formula <- function(formula, data = NULL, subset, weights, offset, na.action = na.fail,
                               contrasts = NULL, drop.unused.levels = TRUE, class.weights = NULL,
                               missing = NULL, likelihood = NULL, cluster = NULL, prior = NULL,
                               engine = NULL, control = bsvm_control(), ...) {
  check_dots(substitute(list(...)))
  check_cluster(cluster)
  check_data(data)
  check_flag(drop.unused.levels, "drop.unused.levels")
  rule <- as_missing(missing, !base::missing(na.action))
  parts <- parse_formula(formula, data, likelihood_scale(likelihood))
  given <- list(
    subset = if (!base::missing(subset)) evaluate(substitute(subset), data, formula, "subset"),
    weights = if (!base::missing(weights)) evaluate(substitute(weights), data, formula, "weights"),
    offset = if (!base::missing(offset)) evaluate(substitute(offset), data, formula, "offset")
  )
  check_weights(given$weights)
  check_offset(given$offset)
  rows <- choose_rows(given, parts, data)
  columns <- model_columns(parts, data, given, rows)
  if (models_missing(rule)) check_modelled(columns, column_roles(columns, parts), rule)
  settled <- if (models_missing(rule)) columns else settle_factors(columns, parts, function(own) {
    whole <- if (length(factor_terms(parts)) > 0L) names(own) else gp_columns_of(parts)
    settle_missing(own, rule_action(rule, na.action), complete = whole)
  })
  tell_omitted(rule, attr(settled, "na.action"), nrow(columns))
  places <- place_rows(rows, attr(settled, "na.action"))
  frame <- assemble_frame(parts, settled, data, contrasts, drop.unused.levels, likelihood)
  frame["unknowns"] <- list(frame_unknowns(model_rule(rule, frame$bases), data, rows$used,
                                           data_rows(parts, data)))
  frame[c("na.action", "row_names")] <- list(places$na.action, final_names(settled, data, places))
  frame["rows"] <- list(rows$all)
  frame$given <- given[c("weights", "offset")]
  frame["cluster"] <- list(cluster)
  frame <- weigh_classes(frame, class.weights)
  if (!inherits(prior, "bsvm_not_learned")) {
    refuse_choice(frame)
    refuse_empirical(engine)
  }
  frame <- learn_kernels(frame, prior, likelihood, progress_pace(control$verbose), engine)
  if (length(rows$zero) > 0L) frame$absent <- absent_rows(frame, parts, data, given, places)
  frame
}

#' @export
print.bsvm_frame <- function(x, ...) {
  of_rows <- describe_rows(x$response, x$y)
  cat("bsvm_frame: ", x$nobs, " rows", if (!is.null(of_rows)) paste0(" (", of_rows, ")"), ", ",
      length(x$columns), " columns", sep = "")
  for (group in x$groups) cat(", ", length(group$levels), " levels of ", group$name, sep = "")
  cat("\n")
  invisible(x)
}

check_data <- function(data) {
  if (is.function(data)) {
    abort("data", "`data` must be a data frame; found a function: there is no data frame of that ",
          "name where bsvm() was called.")
  }
  if (!is.null(data) && !is.list(data) && !is.environment(data)) {
    abort("data", "`data` must be a data frame; found ", describe(data), ".")
  }
  if (is.data.frame(data) && nrow(data) == 0L) abort("data", "`data` has no rows.")
}

# An argument that is evaluated in the data, then where the formula was made.
evaluate <- function(expression, data, formula, name) {
  class <- if (name == "subset") "argument" else name
  tryCatch(eval(expression, data, formula_environment(formula)), error = function(e) {
    through <- if (any(grepl("^[.][.]([.]|[0-9]+)$", all.names(expression)))) {
      " It came through `...`: give it by value, or evaluated in the data."
    }
    abort(class, "`", name, "` can't be evaluated: ", conditionMessage(e), ".", through)
  })
}

formula_environment <- function(formula) {
  if (is.null(environment(formula))) globalenv() else environment(formula)
}

# list(all, used, zero): row numbers; all after `subset`, used those with a positive weight, zero
# those without. `all` and `used` are NULL for every row; without zero weights they are the same.
choose_rows <- function(given, parts, data) {
  zero <- which(given$weights == 0)
  if (is.null(given$subset) && length(zero) == 0L) return(list())
  n <- data_rows(parts, data)
  check_weights(given$weights, n)
  check_offset(given$offset, n)
  all <- row_numbers(given$subset, n, row.names(data))
  used <- all[!all %in% zero]
  if (length(all) == 0L) abort("data", "`subset` leaves no rows.")
  if (length(used) == 0L) abort("weights", "At least one of the weights must be above 0.")
  list(all = all, used = used, zero = all[all %in% zero])
}

data_rows <- function(parts, data) {
  if (is.data.frame(data)) nrow(data) else NROW(evaluate_response(parts, data))
}

evaluate_response <- function(parts, data) {
  evaluate(parts$formula[[2L]], data, parts$formula, "data")
}

row_numbers <- function(subset, n, names) {
  if (is.null(subset)) return(seq_len(n))
  if (is.logical(subset) && length(subset) == n) return(which(subset))
  rows <- if (is.character(subset)) match(subset, names) else subset
  good <- is.numeric(rows) && !anyNA(rows) && all(abs(rows) <= n & rows == round(rows)) &&
    !(any(rows < 0) && any(rows > 0))
  if (!good) {
    abort("argument", "`subset` must be a logical vector with an element a row (", n,
          ") or whole numbers, all positive or all negative, or names of rows; found ",
          describe(subset), ".")
  }
  seq_len(n)[rows]
}

# The model frame, missing values still in it. Rows of weight zero are removed first:
# model.frame() takes its subset only after it has evaluated, say, poly(x, 2) on all rows.
model_columns <- function(parts, data, given, rows) {
  environment(parts$frame) <- formula_environment(parts$frame)
  given$subset <- rows$used
  if (length(rows$zero) > 0L) {
    left <- setdiff(seq_along(given$weights), which(given$weights == 0))
    data <- raw_rows(variables_in(parts$frame), formula_environment(parts$frame), data, left,
                     length(given$weights))
    given <- list(subset = match(rows$used, left), weights = given$weights[left],
                  offset = given$offset[left])
  }
  arguments <- c(list(parts$frame, data = data, na.action = stats::na.pass), given)
  columns <- tryCatch(
    do.call(stats::model.frame.default, arguments, quote = TRUE),
    error = function(e) explain_frame_error(e, parts, data, given)
  )
  if (nrow(columns) == 0L) abort("data", "There are no rows to fit.")
  check_size(nrow(columns))
  columns
}

# What model.frame() says depends on the language; what is wrong is looked up where possible.
explain_frame_error <- function(e, parts, data, given) {
  outside <- setdiff(variables_in(parts$frame), c(names(data), "."))
  from <- formula_environment(parts$frame)
  found <- vapply(outside, function(v) !is.null(get0(v, envir = from)), TRUE)
  is_function <- vapply(outside, function(v) is.function(get0(v, envir = from)), TRUE)
  if (!all(found)) refuse_unknown(outside[!found], data)
  n <- data_rows(parts, data)
  for (name in c("weights", "offset")) check_length(given[[name]], n, name)
  if (any(is_function)) refuse_unknown(outside[is_function], data)
  refuse_incomplete_terms(parts, data)
  abort("data", "The variables of the formula can't be put together: ", conditionMessage(e), ".")
}

# Terms such as poly(x, 2), which fail where x has missing values.
refuse_incomplete_terms <- function(parts, data) {
  terms <- as.list(attr(stats::terms(parts$frame), "variables"))[-1L]
  home <- formula_environment(parts$frame)
  value <- function(term) tryCatch(eval(term, data, home), error = function(e) NULL)
  failed <- Filter(function(term) is.call(term) && is.null(value(term)), terms)
  for (term in failed) {
    absent <- Filter(function(v) is.numeric(value(as.name(v))) && anyNA(value(as.name(v))),
                     variables_in(term))
    if (length(absent) == 0L) next
    abort("missing", "`", deparse1(term), "` can't be made where ", enumerate(absent), " ",
          if (length(absent) == 1L) "has" else "have", " missing values. missing_normal() models ",
          "columns of the design: in place of poly(x, 2) write x + I(x^2).")
  }
}

refuse_unknown <- function(names, data) {
  abort("data", "Unknown ", if (length(names) == 1L) "variable " else "variables ",
        enumerate(names), ": not found ", if (!is.null(data)) "in `data` or ",
        "where the formula was made.")
}

check_length <- function(x, n, name) {
  if (!is.null(x) && length(x) != n) {
    abort(name, "`", name, "` must have one element a row (", n, "); found ", length(x), ".")
  }
}

check_weights <- function(weights, n = length(weights)) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights)) {
    abort("weights", "`weights` must be numbers; found ", describe(weights), ".")
  }
  check_length(weights, n, "weights")
  if (any(weights < 0, na.rm = TRUE)) {
    abort("weights", "`weights` must not be negative; found ", sum(weights < 0, na.rm = TRUE),
          " below 0.")
  }
  check_total_weight(weights)
  as.vector(as.double(weights))
}

# The log-likelihood is of the size of the weights' sum. With a larger sum, differences that decide
# on the posterior drown in rounding.
most_weight <- 1e12

# Infinite ones are refused together with missing values.
check_total_weight <- function(weights, what = "`weights`") {
  total <- sum(as.double(weights), na.rm = TRUE)
  if (total <= most_weight || is.infinite(max(weights, na.rm = TRUE))) return(invisible())
  abort("weights", what, " must have a sum of at most ", format(most_weight), "; found ",
        format(total, digits = 3L), ". A row of weight 2 counts as two rows, and the posterior of ",
        "more rows than this is too narrow to be computed. Divide all weights by the same number, ",
        "such as their mean.")
}

check_offset <- function(offset, n = length(offset)) {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset)) {
    abort("offset", "The offset must be numbers; found ", describe(offset), ".")
  }
  check_length(offset, n, "offset")
  as.vector(as.double(offset))
}

# Everything that comes from the model frame. `columns` has no missing values.
assemble_frame <- function(parts, columns, data, contrasts, drop_unused, likelihood) {
  frame_terms <- attr(columns, "terms")
  coded <- code_response(columns[[1L]], drop_unused, names(columns)[1L], kind_for(likelihood))
  if (drop_unused) columns <- drop_levels(columns)
  check_contrasts(contrasts, columns)
  design <- fixed_design(parts, columns, frame_terms, contrasts)
  x <- design$x
  weights <- check_weights(columns[["(weights)"]], nrow(columns))
  scales <- frame_scales(parts$scale, columns, frame_terms, contrasts, weights)
  kept <- kept_environment(parts$formula, data, data_rows(parts, data))
  new_frame(
    y = coded$y, response = coded$response, x = x,
    columns = design$columns, assign = design$assign, term_labels = design$term_labels,
    intercept = match(0L, design$assign, 0L), implicit = FALSE,
    weights = weights,
    offset = check_offset(frame_offset(columns), nrow(columns)),
    groups = make_groups(parts$bars, columns, frame_terms, contrasts), bases = design$bases,
    formula = re_home(parts$formula, kept), terms = re_home(design$terms, kept),
    xlevels = design$xlevels, contrasts = design$contrasts, bars = length(parts$bars) > 0L,
    made = design$made, scale_model = re_home_terms(scales$scale_model, kept),
    scale_columns = scales$scale_columns
  )
}

# A frame: what bsvm_frame() promises of each field is checked (`made`: R/basis-made.R,
# `scale_model` and `scale_columns`: R/scale-model.R). The last seven are set later: rows that come
# in or are left out, and where they are fitted; `weights` is changed by weights of classes.
new_frame <- function(y, response, x, columns, assign, term_labels, intercept, implicit, weights,
                      offset, groups, bases = NULL, formula = NULL, terms = NULL, xlevels = NULL,
                      contrasts = NULL, nobs = nrow(x), bars = FALSE, made = NULL,
                      scale_model = NULL, scale_columns = NULL, na.action = NULL,
                      row_names = NULL, rows = NULL, given = NULL, unknowns = NULL,
                      absent = NULL, cluster = NULL, left_over = NULL) {
  frame <- structure(mget(names(formals())), class = "bsvm_frame")
  check_frame(frame)
  frame
}

# The population-level terms, then those with a basis: list(x, columns, assign, contrasts, terms,
# term_labels, xlevels, bases, made).
fixed_design <- function(parts, columns, frame_terms, contrasts) {
  terms <- with_predvars(stats::terms(parts$fixed), frame_terms)
  xlevels <- stats::.getXlevels(terms, columns)
  check_levels(xlevels)
  own <- contrasts[intersect(names(contrasts), names(xlevels))]
  design <- design_matrix(terms, columns, xlevels, own)
  labels <- attr(terms, "term.labels")
  env <- formula_environment(parts$formula)
  bases <- model_bases(parts$bases, columns, frame_terms, env, design$x)
  design <- bind_bases(design, bases, length(labels))
  check_columns(design, parts, any(vapply(columns, anyNA, TRUE)))
  c(design, list(terms = terms, term_labels = c(labels, basis_labels(bases)),
                 xlevels = xlevels,
                 bases = without_matrices(bases), made = frame_variables(bases)))
}

re_home_terms <- function(model, environment) {
  if (!is.null(model)) model$terms <- re_home(model$terms, environment)
  model
}

re_home <- function(formula, environment) {
  environment(formula) <- environment
  formula
}

# model.offset() adds up offset() terms and the argument.
frame_offset <- function(columns) {
  tryCatch(stats::model.offset(columns), error = function(e) {
    abort("offset", "The offset must be numbers: ", conditionMessage(e), ".")
  })
}

# Only factors with a level that does not occur are touched.
drop_levels <- function(columns) {
  for (name in names(columns)[vapply(columns, is.factor, TRUE)]) {
    column <- columns[[name]]
    if (any(tabulate(column, nlevels(column)) == 0L)) columns[[name]] <- droplevels(column)
  }
  columns
}

check_contrasts <- function(contrasts, columns) {
  if (!is.null(contrasts) && (!is.list(contrasts) || is.null(names(contrasts)))) {
    abort("argument", "`contrasts` must be a list named by factors, as in ",
          "list(f = \"contr.sum\"); found ", describe(contrasts), ".")
  }
  unknown <- setdiff(names(contrasts), names(columns))
  if (length(unknown) > 0L) {
    abort("argument", "`contrasts` names ", enumerate(unknown), ", not a factor of the formula.")
  }
}

check_columns <- function(design, parts, absent) {
  x <- design$x
  if (length(design$columns) == 0L && length(parts$bars) == 0L) {
    abort("formula", "The formula has nothing to fit: ", deparse1(parts$formula),
          ". Use `y ~ 1` for an intercept alone.")
  }
  if (!is_sparse(x)) check_size(nrow(x), ncol(x))
  check_magnitudes(x, absent = absent)
}

# `class.weights` multiplies the weights of each class.
weigh_classes <- function(frame, class.weights) {
  if (is.null(class.weights)) return(frame)
  frame$response <- with_class_weights(frame$response, class.weights)
  weights <- class_factors(frame$response, frame$y)
  frame$weights <- if (is.null(frame$weights)) weights else frame$weights * weights
  check_total_weight(frame$weights, "`weights` times `class.weights`")
  frame
}
