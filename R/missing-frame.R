# Missing predictors in the frame, to be modelled: frame$unknowns (R/latent.R) has next to the rule
#   auxiliary  n x a, numeric, variables that are no predictors; NA where missing
#   given      n x b, complete dummies among these

# Only numeric predictors may be missing: everything else is refused with a count. `columns` as in
# settle_missing(), `roles` as from column_roles().
# `where`: how rows can be excluded.
check_modelled <- function(columns, roles, rule, where = "with `subset` or in the data") {
  counts <- count_bad_columns(columns)
  if (is.null(counts)) return(invisible())
  infinite <- counts[, "Inf"] > 0
  if (any(infinite)) {
    refuse_infinite(counts[infinite, , drop = FALSE], "predictors", FALSE, sub(" or in .*", "", where))
  }
  of <- function(role) rownames(counts) %in% names(columns)[roles == role]
  if (any(of("needed"))) {
    refused <- counts[of("needed"), , drop = FALSE]
    abort(bad_class(rownames(refused), "missing"), count_text(refused), ". ", rule_name(rule),
          " models predictors only: rows without a response, weight, offset, group or varying ",
          "slope of group effects must be excluded, ", where, ".")
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
  check_auxiliary_columns(columns)
  terms <- attr(columns, "terms")
  design <- build_design(terms, columns)
  list(x = without_intercept(design$x, terms),
       recipe = list(terms = terms, xlevels = stats::.getXlevels(terms, columns),
                     contrasts = design$contrasts))
}

check_auxiliary_columns <- function(columns) {
  absent <- vapply(columns, function(v) !is.numeric(v) && anyNA(v), TRUE)
  if (!any(absent)) return(invisible())
  abort("missing", "Auxiliary variables that are missing must be numeric; found ",
        enumerate(names(columns)[absent]), ". addNA() makes a level of missing ones.")
}

without_intercept <- function(x, terms) {
  x[, attr(terms, "intercept") + seq_len(ncol(x) - attr(terms, "intercept")), drop = FALSE]
}

check_auxiliary <- function(x) {
  if (any(is.infinite(x))) abort("predictors", "`auxiliary` has infinite values.")
  x
}

# What the core needs of the imputation model, and what R needs to use it: list(law, arrays). `law` is
#   variables, center, scale   names, means and standard deviations of what is observed
#   column                     which column of the fit a variable is, 0: an auxiliary one
#   given, given_column        what they are regressed on: names, columns of the fit
# A complete column of two values is a dummy.
design_law <- function(frame, design) {
  columns <- setdiff(seq_along(design$columns), frame$intercept)
  facts <- if (is_streamed(frame)) frame$cluster$unknowns$facts else observed_facts(frame, columns)
  of <- function(field, type) vapply(facts, `[[`, type, field, USE.NAMES = FALSE)
  auxiliary <- colnames(frame$unknowns$auxiliary)
  own <- seq_along(columns)
  basis <- columns %in% columns_of(frame$bases)
  absent <- of("absent", 0)
  two <- of("two", TRUE)
  plain <- absent[own] == 0 & (basis | two[own])
  dummies <- two[-own]
  if (length(own) == 0L) dummies <- two
  modelled <- c(!plain, !dummies)
  if (!any(modelled)) return(NULL)
  names <- c(design$columns[columns], auxiliary)
  law <- list(variables = names[modelled], center = of("center", 0)[modelled],
              scale = of("scale", 0)[modelled],
              column = c(columns[!plain], rep(0L, sum(!dummies))),
              given = c("(Intercept)", names[!modelled]),
              given_column = c(0L, columns[plain], rep(-1L, sum(dummies))),
              rows = row_count(frame),
              missing = stats::setNames(absent[modelled], names[modelled]))
  list(law = law, arrays = if (is_streamed(frame)) streamed_arrays(frame, law, columns[plain], dummies)
                           else arrays_in_memory(frame, law, columns[plain], dummies))
}

# By column of the design and auxiliary variable: list(absent, how many are missing; two, is it complete
# with two values; center, scale).
observed_facts <- function(frame, columns) {
  facts <- function(v) {
    moments <- observed_moments(v)
    absent <- sum(is.na(v))
    list(absent = absent, two = absent == 0 && is_dummy(v), center = moments[1L], scale = moments[2L])
  }
  auxiliary <- frame$unknowns$auxiliary
  c(lapply(columns, function(j) facts(frame$x[, j - frame$implicit])),
    lapply(seq_len(NCOL(auxiliary) * !is.null(auxiliary)), function(j) facts(auxiliary[, j])))
}

arrays_in_memory <- function(frame, law, plain, dummies) {
  auxiliary <- frame$unknowns$auxiliary
  own <- law$column == 0L
  standard <- if (any(own)) {
    sweep(sweep(auxiliary[, !dummies, drop = FALSE], 2L, law$center[own]), 2L, law$scale[own], "/")
  }
  given <- cbind(rep(1, nrow(frame$x)), frame$x[, plain - frame$implicit, drop = FALSE],
                 auxiliary[, dummies, drop = FALSE])
  list(auxiliary = if (!is.null(standard)) unname(standard), given = unname(given))
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
  if (is_sparse(frame$x) || is_streamed(frame)) return(invisible())
  empty <- function(x) {
    if (is.null(x) || !anyNA(x)) return(logical(NCOL(x)))
    colSums(is.na(x)) == nrow(x)
  }
  absent <- c(empty(frame$x), if (!is.null(auxiliary)) empty(auxiliary))
  if (any(absent)) refuse_empty_columns(names[absent])
}

refuse_empty_columns <- function(names) {
  one <- length(names) == 1L
  abort("missing", if (one) "Column " else "Columns ", enumerate(names), if (one) " has" else " have",
        " no value in any row: nothing can be known of what is missing. Leave out such columns.")
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
  mechanism <- core_mechanism(rule, law)
  list(law = c(law, list(mechanism = mechanism, recipe = frame$unknowns$recipe)),
       core = list(name = rule$name,
                   parameters = c(mean_variance = settings$mean_variance, scale = settings$scale,
                                  df = df, probit_variance = mechanism$probit_variance,
                                  rows = law$rows),
                   arrays = lapply(c(mechanism[c("indicators", "by_given", "by")], found$arrays,
                                     list(column = law$column, center = center, factor = factor)),
                                   as_doubles)))
}

as_doubles <- function(x) {
  if (!is.null(x)) storage.mode(x) <- "double"
  x
}
