# Missing predictors in the frame, to be modelled: frame$unknowns (R/latent.R) has next to the rule
#   auxiliary  n x a, numeric, variables that are no predictors; NA where missing
#   given      n x b, complete dummies among these

# Only numeric predictors may be missing: everything else is refused with a count. `columns` as in
# settle_missing(), `roles` as from column_roles().
check_modelled <- function(columns, roles, rule) {
  counts <- count_bad_columns(columns)
  if (is.null(counts)) return(invisible())
  infinite <- counts[, "Inf"] > 0
  if (any(infinite)) refuse_infinite(counts[infinite, , drop = FALSE], "predictors", FALSE)
  of <- function(role) rownames(counts) %in% names(columns)[roles == role]
  if (any(of("needed"))) {
    refused <- counts[of("needed"), , drop = FALSE]
    abort(bad_class(rownames(refused), "missing"), count_text(refused), ". ", rule_name(rule),
          " models predictors only: rows without a response, weight, offset, group or varying ",
          "slope of group effects must be excluded, with `subset` or in the data.")
  }
  if (any(of("other"))) {
    abort("missing", count_text(counts[of("other"), , drop = FALSE]), ". ", rule_name(rule),
          " models numeric predictors. addNA() makes a level of a factor's missing values, ",
          "as.numeric() a number of TRUE and FALSE.")
  }
}

# Of the columns of a model frame: numeric predictors, other ones, and what every row needs.
column_roles <- function(columns, parts) {
  special <- c(names(columns)[1L], "(weights)", "(offset)", group_variable_names(parts))
  needed <- names(columns) %in% special | startsWith(names(columns), "offset(")
  ifelse(needed, "needed", ifelse(vapply(columns, is.numeric, TRUE), "numeric", "other"))
}

# Groups and what multiplies their effects.
group_variable_names <- function(parts) {
  unique(unlist(lapply(parts$bars, function(bar) {
    terms <- stats::terms(stats::as.formula(call("~", bar$lhs), env = globalenv()))
    multipliers <- vapply(as.list(attr(terms, "variables"))[-1L], text_of, "")
    c(text_of(bar$group), variables_in(bar$group), multipliers)
  })))
}

#' @export
frame_unknowns.bsvm_missing_normal <- function(rule, data, rows, n) {
  made <- auxiliary_matrix(rule$settings$auxiliary, data, n)
  auxiliary <- if (!is.null(made)) check_auxiliary(take_rows(made$x, rows))
  list(rule = rule, auxiliary = auxiliary, recipe = made$recipe)
}

# The auxiliary variables of some rows (NULL: all) of the n in the data.
auxiliary_matrix <- function(auxiliary, data, n) {
  if (is.null(auxiliary)) return(NULL)
  if (is.matrix(auxiliary)) {
    if (is.null(colnames(auxiliary))) {
      colnames(auxiliary) <- sprintf("auxiliary%d", seq_len(ncol(auxiliary)))
    }
    storage.mode(auxiliary) <- "double"
    check_side(auxiliary, n, "auxiliary", "data")
    return(list(x = auxiliary))
  }
  columns <- tryCatch(
    stats::model.frame(stats::terms(auxiliary), data, na.action = stats::na.pass),
    error = function(e) abort("data", "`auxiliary` can't be evaluated: ", conditionMessage(e), ".")
  )
  absent <- vapply(columns, function(v) !is.numeric(v) && anyNA(v), TRUE)
  if (any(absent)) {
    abort("missing", "Auxiliary variables that are missing must be numeric; found ",
          enumerate(names(columns)[absent]), ". addNA() makes a level of missing ones.")
  }
  terms <- attr(columns, "terms")
  design <- build_design(terms, columns)
  list(x = without_intercept(design$x, terms),
       recipe = list(terms = terms, xlevels = stats::.getXlevels(terms, columns),
                     contrasts = design$contrasts))
}

without_intercept <- function(x, terms) {
  x[, attr(terms, "intercept") + seq_len(ncol(x) - attr(terms, "intercept")), drop = FALSE]
}

check_auxiliary <- function(x) {
  if (any(is.infinite(x))) abort("predictors", "`auxiliary` has infinite values.")
  x
}

# What the core needs of the imputation model, and what R needs to use it: list(core, law). `law` is
#   variables, center, scale   names, means and standard deviations of what is observed
#   column                     which column of the fit a variable is, 0: an auxiliary one
#   given, given_column        what they are regressed on: names, columns of the fit
# A complete column of two values is a dummy.
design_law <- function(frame, design) {
  p <- length(design$columns)
  columns <- setdiff(seq_len(p), frame$intercept)
  x <- function(j) frame$x[, j - frame$implicit]
  absent <- vapply(columns, function(j) sum(is.na(x(j))), 0)
  basis <- columns %in% columns_of(frame$bases)
  plain <- absent == 0 & (basis | vapply(columns, function(j) is_dummy(x(j)), TRUE))
  own <- columns[!plain]
  auxiliary <- frame$unknowns$auxiliary
  dummies <- if (is.null(auxiliary)) logical() else {
    vapply(seq_len(ncol(auxiliary)), function(j) {
      !anyNA(auxiliary[, j]) && is_dummy(auxiliary[, j])
    }, TRUE)
  }
  modelled <- auxiliary[, !dummies, drop = FALSE]
  if (is.null(auxiliary)) modelled <- matrix(0, nrow(frame$x), 0L)
  moments <- cbind(vapply(own, function(j) observed_moments(x(j)), c(0, 0)),
                   apply(modelled, 2L, observed_moments))
  names <- c(design$columns[own], colnames(modelled))
  if (length(names) == 0L) return(NULL)
  given <- cbind(rep(1, nrow(frame$x)), do.call(cbind, lapply(columns[plain], x)),
                 auxiliary[, dummies, drop = FALSE])
  given_names <- c("(Intercept)", design$columns[columns[plain]], colnames(auxiliary)[dummies])
  law <- list(variables = names, center = moments[1L, ], scale = moments[2L, ],
              column = c(own, rep(0L, ncol(modelled))), given = given_names,
              given_column = c(0L, columns[plain], rep(-1L, sum(dummies))),
              rows = nrow(frame$x),
              missing = stats::setNames(c(absent[!plain], colSums(is.na(modelled))), names))
  list(law = law, given = unname(given), auxiliary = modelled)
}

is_dummy <- function(v) {
  first <- v[1L]
  other <- v[v != first]
  length(other) == 0L || all(other == other[1L])
}

observed_moments <- function(v) {
  v <- v[!is.na(v)]
  moments <- column_moments(v)
  c(moments$mean, if (length(v) < 2L || moments$sd == 0) 1 else moments$sd)
}

#' @export
check_unknown_columns.bsvm_missing_normal <- function(rule, frame) {
  auxiliary <- frame$unknowns$auxiliary
  names <- c(frame$columns[seq_len(ncol(frame$x)) + frame$implicit], colnames(auxiliary))
  twice <- intersect(colnames(auxiliary), frame$columns)
  if (length(twice) > 0L) {
    abort("argument", "`auxiliary` has ", enumerate(twice), ", which the design has too.")
  }
  if (is_sparse(frame$x)) return(invisible())
  empty <- function(x) {
    if (is.null(x) || !anyNA(x)) return(logical(NCOL(x)))
    colSums(is.na(x)) == nrow(x)
  }
  absent <- c(empty(frame$x), if (!is.null(auxiliary)) empty(auxiliary))
  if (!any(absent)) return(invisible())
  abort("missing", if (sum(absent) == 1L) "Column " else "Columns ", enumerate(names[absent]),
        if (sum(absent) == 1L) " has" else " have", " no value in any row: nothing can be known ",
        "of what is missing. Leave out such columns.")
}

# For the core: columns of its design, in its units.
#' @export
core_unknowns.bsvm_missing_normal <- function(rule, frame, design) {
  found <- design_law(frame, design)
  if (is.null(found)) return(NULL)
  law <- found$law
  settings <- rule$settings
  d <- length(law$variables)
  df <- if (is.null(settings$df)) d + 1 else settings$df
  if (df <= d - 1) {
    warn("improper", "An inverse-Wishart distribution of ", d, " variables with ",
         format(df), " degrees ",
         "of freedom is improper: it needs more than ", d - 1, ". The bound leaves its constant ",
         "out.")
  }
  dense <- law$column > 0L
  center <- factor <- numeric(d)
  center[dense] <- (law$center[dense] - design$center[law$column[dense]]) /
    design$scale[law$column[dense]]
  factor[dense] <- law$scale[dense] / design$scale[law$column[dense]]
  factor[!dense] <- 1
  auxiliary <- found$auxiliary
  auxiliary <- sweep(sweep(auxiliary, 2L, law$center[!dense]), 2L, law$scale[!dense], "/")
  mechanism <- core_mechanism(rule, law)
  list(law = c(law, list(mechanism = mechanism, recipe = frame$unknowns$recipe)),
       core = list(name = rule$name,
                   parameters = c(mean_variance = settings$mean_variance, scale = settings$scale,
                                  df = df, probit_variance = mechanism$probit_variance),
                   arrays = lapply(c(mechanism[c("indicators", "by_given", "by")], list(
                     column = law$column, center = center, factor = factor,
                     auxiliary = if (ncol(auxiliary) > 0L) unname(auxiliary),
                     given = found$given
                   )), as_doubles)))
}

as_doubles <- function(x) {
  if (!is.null(x)) storage.mode(x) <- "double"
  x
}
