# Design, groups and offset for new rows.
#
# `groups`: which grouping factors to place the rows in: TRUE, FALSE or their names. `group` is for
# fits from bsvm(x, y, group = ): the new rows' groups. Returns list(x, groups, offset): x k x p on
# the user's scale, a row of NA where a predictor is missing; groups a list by factor of list(codes,
# z, values): codes integer(k) into the levels, NA for a missing group, 0 for an unseen level (an
# error unless `allow_new_levels`), z k x q or NULL, values the levels in words; offset k numbers or
# NULL; `offset` is the new rows' own for a fit with that argument; `unknown` as in design_rows().
new_design <- function(fit, newdata, groups = TRUE, allow_new_levels = FALSE, group = NULL,
                       offset = NULL, unknown = "error") {
  parts <- fit[c("terms", "xlevels", "contrasts", "bases", "scale_model")]
  parts$sparse <- !is.null(fit$design$sparse)
  parts$groups <- if (is.character(groups)) fit$groups[groups] else if (groups) fit$groups
  if (allow_new_levels && unknown == "error") unknown <- "new"
  if (is.null(fit$terms)) {
    rows <- matrix_rows(fit$design, parts$groups, newdata, group, unknown)
  } else {
    rows <- design_rows(parts, newdata, unknown)
  }
  if (!allow_new_levels) check_new_levels(rows$groups)
  if (unknown != "missing") {
    check_new_sizes(rows)
    rows <- complete_rows(fit$missing$rule, fit, rows, new_auxiliary(fit, newdata))
  }
  if (has_row_names(newdata)) rownames(rows$x) <- row.names(newdata)
  rows$offset <- sum_offsets(rows$offset, argument_offset(fit, newdata, offset))
  rows
}

# Numbers whose squares doubles can't hold would give intervals that are no numbers.
check_new_sizes <- function(rows) {
  sizes <- lapply(c(list(rows$x), lapply(rows$groups, `[[`, "z"), rows$made), function(x) {
    x <- stored(x)
    if (length(x) == 0L) 0 else largest_size(x, absent = TRUE)
  })
  if (max(unlist(sizes)) <= 1e150) return(invisible())
  abort("newdata", "`newdata` has predictors of size ", format(max(unlist(sizes)), digits = 3L),
        "; they must not exceed 1e150, as in the fit. Look for wrong values, or for codes of ",
        "missing values, which must be `NA`.")
}

check_new_levels <- function(groups) {
  for (name in names(groups)) {
    unseen <- unique(groups[[name]]$values[groups[[name]]$codes %in% 0L])
    if (length(unseen) == 0L) next
    abort("newdata", "`newdata` has levels of the grouping factor `", name,
          "` the fit has not seen: ", enumerate(unseen, "'"),
          ". `allow_new_levels = TRUE` gives them the population mean and the larger variance; ",
          "`re_formula = NA` leaves all groups out.")
  }
}

# A factor level that was not seen is an error; with `unknown = "new"` it is NA with a warning. With
# `unknown = "missing"`, for rows of the fit's own data, it is NA, and infinite values pass.
design_rows <- function(parts, newdata, unknown = "error") {
  newdata <- check_newdata(newdata)
  terms <- stats::delete.response(parts$terms)
  columns <- new_columns(terms, newdata, unknown)
  columns <- match_factors(columns, parts$xlevels, unknown)
  check_classes(terms, columns)
  x <- if (isTRUE(parts$sparse)) sparse_design(terms, columns, parts$contrasts)$x
       else build_design(terms, columns, parts$contrasts)$x
  made <- rows_variables(parts$bases, terms, newdata, unknown)
  matrices <- lapply(parts$bases, function(basis) {
    if (!is_made(basis)) new_basis(basis, terms, newdata, unknown)
  })
  rows <- list(x = bind_columns(x, parts$bases, matrices), offset = stats::model.offset(columns),
               groups = group_rows(parts$groups, terms, newdata, unknown))
  rows$scale_columns <- new_scale_columns(parts$scale_model, terms, newdata, unknown)
  c(rows, if (!is.null(made)) list(made = made), left_over_of(matrices))
}

check_newdata <- function(newdata) {
  if (is.data.frame(newdata)) return(as.data.frame(newdata))
  frame <- if (is.list(newdata)) tryCatch(as.data.frame(newdata), error = function(e) NULL)
  if (is.null(frame)) {
    abort("newdata", "`newdata` must be a data frame; found ", describe(newdata), ".")
  }
  frame
}

new_columns <- function(terms, newdata, unknown) {
  need_variables(variables_in(attr(terms, "variables")), terms, newdata)
  columns <- tryCatch(
    stats::model.frame(terms, newdata, na.action = stats::na.pass),
    error = function(e) {
      abort("newdata", "`newdata` can't be used: ", conditionMessage(e), ".")
    }
  )
  if (unknown != "missing") check_finite(columns)
  columns
}

# Missing values give NA; infinite ones would give NaN, or an infinite link.
check_finite <- function(columns) {
  infinite <- names(columns)[vapply(columns, has_infinite, TRUE)]
  if (length(infinite) > 0L) {
    abort("newdata", "`newdata` has infinite values of ", enumerate(infinite), ".")
  }
}

has_infinite <- function(column) {
  is.double(column) && !is.finite(sum(unclass(column))) && any(is.infinite(column))
}

# Variables must come from newdata, even if one of the same name lies about elsewhere.
need_variables <- function(variables, terms, newdata) {
  lacking <- setdiff(variables, c(names(newdata), kept_names(environment(terms))))
  if (length(lacking) > 0L) {
    abort("newdata", "`newdata` lacks the variable", if (length(lacking) > 1L) "s", " ",
          enumerate(lacking), ".")
  }
}

need_grouping <- function(variables, terms, newdata) {
  lacking <- setdiff(variables, c(names(newdata), kept_names(environment(terms))))
  if (length(lacking) == 0L) return(invisible())
  abort("newdata", "`newdata` lacks the grouping factor ", enumerate(lacking), ". Use ",
        "`re_formula = NA` for predictions without group effects, or add the column; ",
        "`allow_new_levels = TRUE` accepts new levels in it.")
}

match_factors <- function(columns, xlevels, unknown) {
  for (name in names(xlevels)) {
    values <- predictor_level_names(columns[[name]])
    codes <- match_levels(values, xlevels[[name]])
    unseen <- unique(values[codes %in% 0L])
    if (length(unseen) > 0L && unknown != "missing") {
      tell_new_levels(name, unseen, sum(codes %in% 0L), xlevels[[name]], unknown)
    }
    known <- xlevels[[name]][replace(codes, codes %in% 0L, NA)]
    columns[[name]] <- factor(known, levels = xlevels[[name]], exclude = NULL) # addNA() has NA
  }
  columns
}

tell_new_levels <- function(name, unseen, rows, known, unknown) {
  new <- paste0("`newdata` has levels of the factor `", name, "` that are new: ",
                enumerate(unseen, "'"))
  if (unknown == "new") {
    warn("new_levels", new, ". The ", rows, " row", if (rows > 1L) "s", " with such a level ",
         if (rows > 1L) "have" else "has", " the prediction NA.")
  } else {
    abort("newdata", new, "; levels of the fit are ", enumerate(known, "'"),
          ". `allow_new_levels = TRUE` gives NA for these rows.")
  }
}

# A factor's own names, in which a level for missing values is NA.
predictor_level_names <- function(values) {
  if (is.factor(values)) return(as.character(values))
  level_names(values)
}

check_classes <- function(terms, columns) {
  expected <- attr(terms, "dataClasses")
  expected <- expected[intersect(names(expected), names(columns))]
  expected <- expected[!expected %in% c("factor", "ordered", "character")]
  found <- vapply(columns[names(expected)], stats::.MFclass, "")
  wrong <- names(expected)[expected != found]
  if (length(wrong) > 0L) {
    words <- ifelse(expected == "other", "of another class (such as Date)", expected)
    abort("newdata", "In `newdata`, ", enumerate(paste0("`", wrong, "` must be ", words[wrong],
          ", not ", found[wrong]), ""), ", as in the data of the fit.")
  }
}

# For each grouping factor list(codes, z, values); NULL without one.
group_rows <- function(groups, terms, newdata, unknown) {
  if (length(groups) == 0L) return(NULL)
  lapply(groups, function(group) {
    need_grouping(variables_in(group$variable), terms, newdata)
    variable <- stats::terms(stats::as.formula(call("~", group$variable), environment(terms)))
    columns <- new_columns(variable, newdata, unknown)
    z <- new_multipliers(group, terms, newdata, unknown)
    known <- known_codes(group, columns[[text_of(group$variable)]])
    if (!is.null(known)) c(known["codes"], list(z = z), known["values"])
    else group_codes(group, group_values(group$variable, columns), z)
  })
}

group_codes <- function(group, values, z) {
  list(codes = match_levels(values, group$levels), z = z, values = values)
}

new_multipliers <- function(group, terms, newdata, unknown) {
  designs <- lapply(group$expressions, function(expression) {
    if (is.null(expression)) return(list(matrix = NULL))
    environment(expression$terms) <- environment(terms)
    columns <- new_columns(expression$terms, newdata, unknown)
    columns <- match_factors(columns, expression$xlevels, unknown)
    list(matrix = build_design(expression$terms, columns, expression$contrasts)$x)
  })
  bind_multipliers(designs, nrow(newdata))
}

# Rows for a fit from bsvm(x, y).
matrix_rows <- function(design, groups, newdata, group, unknown = "error") {
  x <- new_matrix(newdata, if (design$implicit) design$columns[-1L] else design$columns)
  if (unknown != "missing" && has_infinite(stored(x))) check_finite(looked_at_columns(x))
  rows <- list(x = with_intercept(design, x))
  dimnames(rows$x) <- list(rownames(x), design$columns)
  if (is.null(groups)) return(rows)
  if (is.null(group)) {
    abort("newdata", "The fit has groups: give those of the new rows as `group`, or leave groups ",
          "out with `re_formula = NA`.")
  }
  check_side(group, nrow(x), "group", "newdata")
  rows$groups <- given_groups(groups, group)
  rows
}

new_matrix <- function(newdata, names) {
  if (is.data.frame(newdata)) newdata <- data.matrix(newdata)
  if (inherits(newdata, "Matrix")) newdata <- as_sparse(newdata)
  if (!is_sparse(newdata) && (!is.matrix(newdata) || !is.numeric(newdata))) {
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
  if (!is.null(offset)) return(new_offset(offset, NROW(newdata)))
  expression <- fit$call$offset
  if (is.null(expression)) return(NULL)
  variables <- all.vars(expression)
  if (is.data.frame(newdata) && length(variables) > 0L && all(variables %in% names(newdata))) {
    value <- tryCatch(eval(expression, newdata, globalenv()), error = function(e) {
      abort("newdata", "The fit's `offset`, ", deparse(expression, nlines = 1L), ", can't be ",
            "evaluated in `newdata`: ", conditionMessage(e), ". Give the new rows' as `offset`.")
    })
    return(new_offset(value, nrow(newdata)))
  }
  abort("newdata", "The fit has an `offset`, ", deparse(expression, nlines = 1L), ", which is not ",
        "in `newdata`. Give the new rows' as `offset`, or fit with offset(...) in the formula.")
}

new_offset <- function(offset, n) {
  offset <- check_offset(offset, n)
  if (any(is.infinite(offset))) abort("newdata", "The new rows' offset has infinite values.")
  offset
}
