# Design, group and offset for new rows.
#
# `groups = FALSE` leaves the grouping factor out (codes NULL). `group` is for fits from
# bsvm(x, y, group = ): the new rows' groups. Returns list(x, codes, z, offset): x k x p on the
# user's scale, a row of NA where a predictor is missing; codes integer(k) into the levels, NA for
# a missing group, 0 for an unseen level (an error unless `allow_new_levels`); z k x q or NULL;
# offset k numbers or NULL; `offset` is the new rows' own for a fit with that argument; `unknown` as
# in design_rows().
new_design <- function(fit, newdata, groups = TRUE, allow_new_levels = FALSE, group = NULL,
                       offset = NULL, unknown = "error") {
  parts <- c(fit[c("terms", "xlevels", "contrasts")], list(columns = fit$design$columns),
             list(group = if (groups) fit$group))
  if (is.null(fit$terms)) {
    rows <- matrix_rows(parts, newdata, group, given = !fit$design$implicit)
  } else {
    rows <- design_rows(parts, newdata, unknown)
  }
  check_new_levels(rows, parts$group, allow_new_levels)
  if (has_row_names(newdata)) rownames(rows$x) <- row.names(newdata)
  rows$unseen <- NULL
  rows$offset <- sum_offsets(rows$offset, argument_offset(fit, newdata, offset))
  rows
}

check_new_levels <- function(rows, group, allow_new_levels) {
  if (is.null(group) || allow_new_levels || !any(rows$codes %in% 0L)) return(invisible())
  abort("newdata", "`newdata` has levels of the grouping factor `", group$name,
        "` the fit has not seen: ", enumerate(rows$unseen, "'"),
        ". `allow_new_levels = TRUE` gives them the population mean and the larger variance; ",
        "`re_formula = NA` leaves all groups out.")
}

# `unknown = "missing"`: a factor level that was not seen is NA instead of an error.
design_rows <- function(parts, newdata, unknown = "error") {
  newdata <- check_newdata(newdata)
  terms <- stats::delete.response(parts$terms)
  columns <- new_columns(terms, newdata)
  columns <- match_factors(columns, parts$xlevels, unknown)
  check_classes(terms, columns)
  rows <- list(x = build_matrix(terms, columns, parts$contrasts),
               offset = stats::model.offset(columns))
  c(rows, group_rows(parts$group, terms, newdata, unknown))
}

check_newdata <- function(newdata) {
  if (!is.list(newdata)) {
    abort("newdata", "`newdata` must be a data frame; found ", describe(newdata), ".")
  }
  as.data.frame(newdata)
}

new_columns <- function(terms, newdata) {
  need_variables(variables_in(attr(terms, "variables")), terms, newdata)
  tryCatch(
    stats::model.frame(terms, newdata, na.action = stats::na.pass),
    error = function(e) {
      abort("newdata", "`newdata` can't be used: ", conditionMessage(e), ".")
    }
  )
}

# Variables must come from newdata, even if one of the same name lies about elsewhere.
need_variables <- function(variables, terms, newdata) {
  lacking <- setdiff(variables, c(names(newdata), kept_names(environment(terms))))
  if (length(lacking) > 0L) {
    abort("newdata", "`newdata` lacks the variable", if (length(lacking) > 1L) "s", " ",
          enumerate(lacking), ".")
  }
}

match_factors <- function(columns, xlevels, unknown) {
  for (name in names(xlevels)) {
    values <- as.character(columns[[name]])
    unseen <- setdiff(values, c(xlevels[[name]], NA))
    if (length(unseen) > 0L && unknown == "error") {
      abort("newdata", "`newdata` has levels of `", name, "` the fit has not seen: ",
            enumerate(unseen, "'"), "; known are ", enumerate(xlevels[[name]], "'"), ".")
    }
    columns[[name]] <- factor(values, levels = xlevels[[name]], exclude = NULL) # addNA() has NA
  }
  columns
}

check_classes <- function(terms, columns) {
  expected <- attr(terms, "dataClasses")
  expected <- expected[intersect(names(expected), names(columns))]
  expected <- expected[!expected %in% c("factor", "ordered", "character")]
  found <- vapply(columns[names(expected)], stats::.MFclass, "")
  wrong <- names(expected)[expected != found]
  if (length(wrong) > 0L) {
    abort("newdata", "In `newdata`, ", enumerate(paste0("`", wrong, "` must be ", expected[wrong],
          ", not ", found[wrong]), ""), ", as in the data of the fit.")
  }
}

# list(codes, z, unseen) of the grouping factor; empty without one.
group_rows <- function(group, terms, newdata, unknown) {
  if (is.null(group)) return(list())
  need_variables(variables_in(group$variable), terms, newdata)
  variable <- stats::terms(stats::as.formula(call("~", group$variable), environment(terms)))
  values <- group_values(group$variable, new_columns(variable, newdata))
  codes <- match_levels(values, group$levels)
  list(codes = codes, z = new_multipliers(group, terms, newdata, unknown),
       unseen = unique(as.character(values)[codes %in% 0L]))
}

new_multipliers <- function(group, terms, newdata, unknown) {
  designs <- lapply(group$expressions, function(expression) {
    if (is.null(expression)) return(list(matrix = NULL))
    environment(expression$terms) <- environment(terms)
    columns <- new_columns(expression$terms, newdata)
    columns <- match_factors(columns, expression$xlevels, unknown)
    list(matrix = build_matrix(expression$terms, columns, expression$contrasts))
  })
  bind_multipliers(designs, nrow(newdata))
}

# Rows for a fit from bsvm(x, y).
matrix_rows <- function(parts, newdata, group, given) {
  names <- if (given) parts$columns else parts$columns[-1L]
  x <- new_matrix(newdata, names)
  rows <- list(x = if (given) x else cbind(rep(1, nrow(x)), x))
  dimnames(rows$x) <- list(rownames(x), parts$columns)
  if (is.null(parts$group)) return(rows)
  if (is.null(group)) {
    abort("newdata", "The fit has groups: give those of the new rows as `group`, or leave groups ",
          "out with `re_formula = NA`.")
  }
  check_side(group, nrow(x), "group", "newdata")
  rows$codes <- match_levels(group, parts$group$levels)
  rows$unseen <- unique(as.character(group)[rows$codes %in% 0L])
  rows
}

new_matrix <- function(newdata, names) {
  if (is.data.frame(newdata)) newdata <- data.matrix(newdata)
  if (!is.matrix(newdata) || !is.numeric(newdata)) {
    abort("newdata", "`newdata` must be a numeric matrix, as in the fit; found ",
          describe(newdata), ".")
  }
  if (is.null(colnames(newdata)) && ncol(newdata) == length(names)) return(newdata)
  found <- if (!is.null(colnames(newdata))) matrix_columns(newdata)
  if (all(names %in% found)) return(newdata[, match(names, found), drop = FALSE])
  abort("newdata", "`newdata` must have the columns of the fit: ", enumerate(names), ".")
}

# The `offset` argument of the fit: given anew, or evaluated in the new data.
argument_offset <- function(fit, newdata, offset) {
  if (!is.null(offset)) return(check_offset(offset, NROW(newdata)))
  expression <- fit$call$offset
  if (is.null(expression)) return(NULL)
  variables <- all.vars(expression)
  if (is.data.frame(newdata) && length(variables) > 0L && all(variables %in% names(newdata))) {
    value <- tryCatch(eval(expression, newdata, globalenv()), error = function(e) {
      abort("newdata", "The fit's `offset`, ", deparse(expression, nlines = 1L), ", can't be ",
            "evaluated in `newdata`: ", conditionMessage(e), ". Give the new rows' as `offset`.")
    })
    return(check_offset(value, nrow(newdata)))
  }
  abort("newdata", "The fit has an `offset`, ", deparse(expression, nlines = 1L), ", which is not ",
        "in `newdata`. Give the new rows' as `offset`, or fit with offset(...) in the formula.")
}
