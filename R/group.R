# The grouping factor of the bars, NULL without bars:
#   name, variable    its expression, as text and as language
#   codes, levels     integer(n) into character(m); levels that do not occur are dropped
#   labels            the multipliers (q); z is n x q, NULL for one column of ones
#   expressions       for each bar what rebuilds its multipliers: list(terms, xlevels, contrasts)
make_group <- function(bars, columns, frame_terms, contrasts) {
  if (length(bars) == 0L) return(NULL)
  variable <- only_factor(bars)
  name <- text_of(variable)
  designs <- lapply(bars, bar_design, columns = columns, frame_terms = frame_terms,
                    contrasts = contrasts)
  labels <- unlist(lapply(designs, `[[`, "labels"))
  if (anyDuplicated(labels)) refuse_twice(labels[duplicated(labels)], name)
  index <- index_levels(group_values(variable, columns), name)
  list(name = name, variable = variable, codes = index$codes, levels = index$levels,
       z = bind_multipliers(designs, length(index$codes)), labels = labels,
       expressions = lapply(designs, `[[`, "expression"))
}

only_factor <- function(bars) {
  names <- unique(vapply(bars, function(bar) text_of(bar$group), ""))
  if (length(names) > 1L) {
    abort("unsupported", "Only one grouping factor can be fitted so far; the bars have ",
          length(names), ": ", enumerate(names), ". Keep one of them, or make one factor of two ",
          "with `(1 | a:b)`.")
  }
  bars[[1L]]$group
}

refuse_twice <- function(labels, name) {
  abort("formula", "The bars for `", name, "` have the effect ", enumerate(unique(labels)),
        " twice; each may stand once, as in `(1 | ", name, ") + (0 + x | ", name, ")`.")
}

# The multipliers of one bar. `matrix` is NULL for the intercept alone.
bar_design <- function(bar, columns, frame_terms, contrasts) {
  if (identical(bar$lhs, 1)) return(list(labels = "(Intercept)", matrix = NULL, expression = NULL))
  terms <- stats::terms(stats::as.formula(call("~", bar$lhs), env = globalenv()))
  terms <- with_predvars(terms, frame_terms)
  own <- contrasts[intersect(names(contrasts), names(attr(terms, "dataClasses")))]
  matrix <- build_matrix(terms, columns, own)
  check_multipliers(bar, colnames(matrix))
  expression <- list(terms = terms, xlevels = stats::.getXlevels(terms, columns),
                     contrasts = attr(matrix, "contrasts"))
  list(labels = colnames(matrix), matrix = matrix, expression = expression)
}

check_multipliers <- function(bar, labels) {
  text <- function(op) paste0("`(", deparse1(bar$lhs), " ", op, " ", deparse1(bar$group), ")`")
  if (length(labels) == 0L) {
    abort("formula", text("|"), " has no effect: write `(1 | ", deparse1(bar$group), ")`.")
  }
  if (length(labels) > 1L && !bar$independent) {
    abort("unsupported", text("|"), " asks for correlated effects (", enumerate(labels),
          "), which can't be fitted yet. ", text("||"), " fits them as independent.")
  }
}

bind_multipliers <- function(designs, n) {
  matrices <- lapply(designs, `[[`, "matrix")
  if (length(matrices) == 1L && is.null(matrices[[1L]])) return(NULL)
  matrices <- lapply(matrices, function(z) if (is.null(z)) matrix(1, n, 1L) else z)
  z <- do.call(cbind, matrices)
  attributes(z) <- list(dim = dim(z))
  z
}

# The values of the grouping expression: a column of the model frame, or a:b crossed.
group_values <- function(variable, columns) {
  values <- columns[[text_of(variable)]]
  if (is.null(values) && is_call_to(variable, ":")) {
    sides <- lapply(as.list(variable)[-1L], group_values, columns = columns)
    values <- cross_values(sides[[1L]], sides[[2L]])
  }
  if (is.null(values)) {
    refuse_group(variable)
  }
  values
}

refuse_group <- function(variable) {
  abort("group", "The grouping factor `", deparse1(variable), "` must be a variable, a call ",
        "that makes one, such as factor(id), or two crossed, such as a:b.")
}

cross_values <- function(a, b) {
  value <- paste(a, b, sep = ":")
  value[is.na(a) | is.na(b)] <- NA
  value
}

# list(codes, levels), only of the levels that occur. One level is allowed, with a warning.
index_levels <- function(values, name) {
  if (!is.null(dim(values)) || is.list(values)) {
    abort("group", "The grouping factor `", name, "` must be a vector or a factor; found ",
          describe(values), ".")
  }
  index <- if (is.factor(values)) factor_index(values) else value_index(values)
  if (length(index$levels) == 1L) {
    warn("group", "The grouping factor `", name, "` has one level, '", index$levels,
         "': its effect can't be told from the intercept.")
  }
  index
}

factor_index <- function(values) {
  levels <- levels(values)
  used <- tabulate(values, length(levels)) > 0L
  if (all(used)) return(list(codes = as.integer(values), levels = levels))
  list(codes = cumsum(used)[values], levels = levels[used])
}

value_index <- function(values) {
  unique <- sort(unique(values))
  list(codes = match(values, unique), levels = as.character(unique))
}

# Codes of new values: NA stays NA, a level the fit has not seen is 0.
match_levels <- function(values, levels) {
  codes <- match(as.character(values), levels, nomatch = 0L)
  codes[is.na(values)] <- NA
  codes
}
