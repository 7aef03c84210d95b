# The grouping factors of the bars, a list named by factor in the order they come; NULL without
# bars. Of each factor:
#   name, variable    its expression, as text and as language
#   codes, levels     integer(n) into character(m); levels that do not occur are dropped
#   labels            the multipliers (q); z is n x q, NULL for one column of ones
#   effect_terms      the term each of them comes from: "(Intercept)", "x", "f"
#   blocks            effects that share a prior: one, or several correlated ones
#   expressions       for each bar what rebuilds its multipliers: list(terms, xlevels, contrasts)
make_groups <- function(bars, columns, frame_terms, contrasts) {
  if (length(bars) == 0L) return(NULL)
  names <- vapply(bars, function(bar) text_of(bar$group), "")
  groups <- lapply(unique(names), function(name) {
    make_group(name, bars[names == name], columns, frame_terms, contrasts)
  })
  stats::setNames(groups, unique(names))
}

make_group <- function(name, bars, columns, frame_terms, contrasts) {
  variable <- bars[[1L]]$group
  designs <- lapply(bars, bar_design, columns = columns, frame_terms = frame_terms,
                    contrasts = contrasts)
  labels <- unlist(lapply(designs, `[[`, "labels"))
  if (anyDuplicated(labels)) refuse_twice(labels[duplicated(labels)], name)
  index <- index_groups(variable, columns, name)
  z <- bind_multipliers(designs, length(index$codes))
  check_multipliers(z, labels, name)
  warn_levels(index, length(labels), name)
  list(name = name, variable = variable, codes = index$codes, levels = index$levels, z = z,
       labels = labels, effect_terms = unlist(lapply(designs, `[[`, "effect_terms")),
       blocks = bar_blocks(bars, lengths(lapply(designs, `[[`, "labels"))),
       expressions = lapply(designs, `[[`, "expression"))
}

refuse_twice <- function(labels, name) {
  abort("formula", "The random-effects terms of `", name, "` have the effect ",
        enumerate(unique(labels)),
        " twice; each may stand once, as in `(1 | ", name, ") + (0 + x | ", name, ")`.")
}

# `||` makes each effect a block of its own.
bar_blocks <- function(bars, q) {
  ends <- cumsum(q)
  blocks <- Map(function(bar, from, to) {
    if (bar$independent) as.list(from:to) else list(from:to)
  }, bars, ends - q + 1L, ends)
  unlist(blocks, recursive = FALSE)
}

# The multipliers of one bar. `matrix` is NULL for the intercept alone.
bar_design <- function(bar, columns, frame_terms, contrasts) {
  if (identical(bar$lhs, 1)) return(list(labels = "(Intercept)", effect_terms = "(Intercept)"))
  terms <- stats::terms(stats::as.formula(call("~", bar$lhs), env = globalenv()))
  terms <- with_predvars(terms, frame_terms)
  own <- contrasts[intersect(names(contrasts), names(attr(terms, "dataClasses")))]
  design <- build_design(terms, columns, own)
  if (ncol(design$x) == 0L) refuse_empty(bar)
  expression <- list(terms = terms, xlevels = stats::.getXlevels(terms, columns),
                     contrasts = design$contrasts)
  effect_terms <- c("(Intercept)", attr(terms, "term.labels"))[design$assign + 1L]
  list(labels = colnames(design$x), effect_terms = effect_terms, matrix = design$x,
       expression = expression)
}

refuse_empty <- function(bar) {
  group <- deparse1(bar$group)
  abort("formula", "`(", deparse1(bar$lhs), " | ", group, ")` has no effect: write `(1 | ", group,
        ")`.")
}

bind_multipliers <- function(designs, n) {
  matrices <- lapply(designs, `[[`, "matrix")
  if (length(matrices) == 1L && is.null(matrices[[1L]])) return(NULL)
  matrices <- lapply(matrices, function(z) if (is.null(z)) matrix(1, n, 1L) else z)
  z <- do.call(cbind, matrices)
  attributes(z) <- list(dim = dim(z))
  z
}

# Multipliers that do not vary all stand for the intercept: there can be one, and none is zero.
check_multipliers <- function(z, labels, name) {
  if (is.null(z)) return(invisible())
  check_magnitudes(z, labels)
  constant <- which(vapply(seq_along(labels), function(k) min(z[, k]) == max(z[, k]), TRUE))
  zero <- constant[z[1L, constant] == 0]
  if (length(zero) > 0L) refuse_constant(labels[zero], "nothing", name)
  rest <- constant[order(labels[constant] != "(Intercept)")][-1L]
  if (length(rest) > 0L) refuse_constant(labels[rest], "those of an intercept", name)
}

refuse_constant <- function(labels, what, name) {
  abort("group", "The random-effects terms of `", name, "` have the covariate",
        plural(labels), " ",
        enumerate(labels), ", which ", if (length(labels) > 1L) "do" else "does", " not vary ",
        "among the rows of the fit: the effects can't be told from ", what, ". Remove ",
        if (length(labels) > 1L) "them." else "it.")
}

plural <- function(x) if (length(x) > 1L) "s" else ""

# lme4 stops here; the prior keeps such a model proper.
warn_levels <- function(index, q, name, n = length(index$codes)) {
  m <- length(index$levels)
  if (m == 1L) {
    warn("group", "The grouping factor `", name, "` has one level, '", index$levels,
         "': its effect can't be told from the intercept.")
  } else if (m * q >= n) {
    warn("group", "The grouping factor `", name, "` has ", m, " levels",
         if (q > 1L) paste0(" with ", q, " effects each"), " for ", in_full(n), " rows. The posterior ",
         "of the variance of its effects is close to the prior.")
  }
}

# list(codes, levels) of the grouping expression: a column of the model frame, or a:b crossed.
index_groups <- function(variable, columns, name) {
  values <- columns[[text_of(variable)]]
  if (is.null(values) && is_crossing(variable)) {
    sides <- lapply(as.list(variable)[-1L], index_groups, columns = columns, name = name)
    return(cross_index(sides[[1L]], sides[[2L]], name))
  }
  if (is.null(values)) refuse_group(variable)
  index_levels(values, name)
}

is_crossing <- function(variable) is_call_to(variable, ":")

# Levels in the order of interactions of factors: the first one varies slowest.
cross_index <- function(a, b, name) {
  m <- length(b$levels)
  pairs <- (a$codes - 1) * m + b$codes
  used <- sort(unique(pairs))
  levels <- paste(a$levels[(used - 1) %/% m + 1], b$levels[(used - 1) %% m + 1], sep = ":")
  if (anyDuplicated(levels)) refuse_same_names(levels, name)
  list(codes = match(pairs, used), levels = levels)
}

refuse_group <- function(variable) {
  abort("group", "The grouping factor `", deparse1(variable), "` must be a variable, a call ",
        "that makes one, such as factor(id), or two crossed, such as a:b.")
}

# list(codes, levels), only of the levels that occur.
index_levels <- function(values, name) {
  values <- check_group_values(values, name)
  index <- if (is.factor(values)) factor_index(values) else value_index(values)
  if (anyDuplicated(index$levels)) refuse_same_names(index$levels, name)
  index
}

check_group_values <- function(values, name) {
  if (inherits(values, "POSIXlt")) return(as.POSIXct(values))
  if (!is.null(dim(values)) || !is.atomic(values)) {
    abort("group", "The grouping factor `", name, "` must be a vector or a factor; found ",
          describe(values), ".")
  }
  values
}

refuse_same_names <- function(levels, name) {
  abort("group", "Two levels of the grouping factor `", name, "` have the same name, ",
        enumerate(unique(levels[duplicated(levels)]), "'"), ". Give them different names, as with ",
        "`levels(x) <-` of a factor `x`.")
}

factor_index <- function(values) {
  levels <- factor_level_names(values)
  used <- tabulate(values, length(levels)) > 0L
  if (all(used)) return(list(codes = as.integer(values), levels = levels))
  list(codes = cumsum(used)[values], levels = levels[used])
}

value_index <- function(values) {
  keyed <- level_keys(values)
  unique <- sort(unique(keyed$keys))
  list(codes = match(keyed$keys, unique), levels = keyed$name(unique))
}

# Values of a grouping expression in new data by name, to be matched with the levels.
group_values <- function(variable, columns) {
  values <- columns[[text_of(variable)]]
  if (!is.null(values)) return(level_names(check_group_values(values, text_of(variable))))
  sides <- lapply(as.list(variable)[-1L], group_values, columns = columns)
  crossed <- paste(sides[[1L]], sides[[2L]], sep = ":")
  crossed[is.na(sides[[1L]]) | is.na(sides[[2L]])] <- NA
  crossed
}

# Numbers of the effects over all factors: for each factor those of its multipliers.
effect_numbers <- function(groups) {
  ends <- cumsum(lengths(lapply(groups, `[[`, "labels")))
  Map(function(group, end) end - length(group$labels) + seq_along(group$labels), groups, ends)
}

# Which effects `re_formula` asks for: TRUE for all (NULL), FALSE for none (NA, ~0), or a list by
# factor of their numbers within the factor.
chosen_effects <- function(groups, re_formula) {
  if (is.null(re_formula)) return(TRUE)
  if (identical(re_formula, NA) || is_empty_formula(re_formula)) return(FALSE)
  bars <- if (inherits(re_formula, "formula")) bars_alone(re_formula[[length(re_formula)]])
  if (length(bars) == 0L) refuse_re_formula(re_formula)
  chosen <- lapply(bars, bar_effects, groups = groups)
  names <- vapply(bars, function(bar) text_of(bar$group), "")
  lapply(split(chosen, factor(names, unique(names))), function(k) sort(unique(unlist(k))))
}

is_empty_formula <- function(formula) {
  inherits(formula, "formula") && identical(formula[[length(formula)]], 0)
}

# The bars of a right-hand side that has nothing else but an intercept.
bars_alone <- function(rhs) {
  parts <- split_special(rhs)
  if (length(parts$bases) > 0L || !(identical(parts$fixed, 1) || identical(parts$fixed, 0))) {
    return(NULL)
  }
  unlist(lapply(parts$bars, expand_bar), recursive = FALSE)
}

refuse_re_formula <- function(re_formula) {
  abort("argument", "`re_formula` must be NULL (all group effects), NA or ~0 (none), or a formula ",
        "of random-effects terms, such as ~ (1 | id); found ",
        if (inherits(re_formula, "formula")) deparse1(re_formula) else describe(re_formula), ".")
}

bar_effects <- function(bar, groups) {
  group <- groups[[text_of(bar$group)]]
  terms <- stats::terms(stats::as.formula(call("~", bar$lhs), env = globalenv()))
  asked <- c(if (attr(terms, "intercept") == 1L) "(Intercept)", attr(terms, "term.labels"))
  if (is.null(group) || !all(asked %in% group$effect_terms)) {
    abort("argument", "`re_formula` asks for (", deparse1(bar$lhs), " | ", deparse1(bar$group),
          "), which the fit does not have. It has ",
          if (length(groups) == 0L) "no group effects."
          else paste0(enumerate(group_labels(groups), most = 20L), "."))
  }
  which(group$effect_terms %in% asked)
}
