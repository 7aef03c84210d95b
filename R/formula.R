# Splits a formula into its parts:
#   formula  the user's, as typed, with `.` written out
#   fixed    without bars and terms with a basis
#   frame    every variable once, for model.frame()
#   bars     list of list(lhs, group, independent): language, language, was it `||`
#   bases    list of the terms with a basis: calls such as s(x)
#   scale    the formula of the likelihood's scale, or NULL
# `data` is only asked for its names, and which columns are factors.
parse_formula <- function(formula, data, scale = NULL) {
  check_formula(formula)
  check_name_lengths(formula, data)
  formula <- re_home(stats::formula(formula), formula_environment(formula)) # terms() are one too
  formula <- write_out_columns(formula, data)
  parts <- split_special(formula[[3L]], data)
  bars <- unlist(lapply(parts$bars, expand_bar, data), recursive = FALSE)
  fixed <- formula
  fixed[[3L]] <- parts$fixed
  fixed <- write_out_dot(fixed, data, bars, parts$bases)
  special <- c(parts$bars, parts$bases)
  refuse_response_as_predictor(fixed, special)
  refuse_response_in_scale(fixed, scale)
  list(formula = spell_dot(formula, fixed, special), fixed = fixed,
       frame = add_terms(fixed, c(lapply(special, open_term), if (!is.null(scale)) scale[[2L]])),
       bars = bars, bases = parts$bases, scale = scale)
}

check_formula <- function(formula) {
  if (!inherits(formula, "formula")) {
    abort("formula", "`formula` must be a formula such as `y ~ x`; found ", describe(formula), ".")
  }
  if (length(formula) != 3L) {
    abort("formula", "The formula has no response: ", deparse1(formula),
          ". Put it on the left, as in `y ~ x`.")
  }
}

# R's parser reads names of up to 8191 bytes.
check_name_lengths <- function(formula, data) {
  used <- all.names(formula, unique = TRUE)
  if ("." %in% used) used <- c(used, names(data))
  size <- nchar(used, "bytes")
  if (all(size <= 8000L, na.rm = TRUE)) return(invisible())
  long <- used[which.max(size)]
  abort("data", "The name of a variable, ", substr(long, 1L, 20L), "..., has ", max(size),
        " bytes, and R reads formulas with names of at most 8000. Rename the column.")
}

# R drops the response from the predictors with a warning of its own, and then looks for it in new
# data.
refuse_response_as_predictor <- function(fixed, special) {
  response <- text_of(fixed[[2L]])
  opened <- lapply(c(list(fixed[[3L]]), lapply(special, open_term)), function(rhs) {
    factors <- attr(stats::terms(stats::as.formula(call("~", rhs), globalenv())), "factors")
    if (length(factors) > 0L) rownames(factors)[rowSums(factors) > 0]
  })
  if (!response %in% unlist(opened)) return(invisible())
  abort("formula", "The response `", response, "` is among the predictors too: ",
        "take it off the right-hand side of the formula.")
}

# A rate may have a scale that depends on what it is divided by: y / n ~ x with scale = ~ n. What is
# taken from an object, such as d$y or d[, 1], is a variable by itself.
refuse_response_in_scale <- function(fixed, scale) {
  if (is.null(scale)) return(invisible())
  response <- fixed[[2L]]
  taken <- any(c("$", "[", "[[") %in% all.names(response))
  own <- if (taken) text_of(response) else all.vars(response)
  used <- c(all.vars(scale), rownames(attr(stats::terms(scale), "factors")))
  if (length(own) == 0L || !all(own %in% used)) return(invisible())
  abort("formula", "`scale` can't depend on the response; found ", deparse1(scale), ".")
}

bar_names <- c("|", "||")

# deparse1() of what is mostly a name.
text_of <- function(term) if (is.name(term)) as.character(term) else deparse1(term)

is_call_to <- function(term, names) {
  is.call(term) && is.name(term[[1L]]) && as.character(term[[1L]]) %in% names
}

is_bar <- function(term) is_call_to(term, bar_names)

has_special <- function(rhs) {
  names <- all.names(rhs, unique = TRUE)
  any(bar_names %in% names) || names_basis(names)
}

# list(fixed = right-hand side without bars and terms with a basis, 1 if nothing else is left; bars,
# bases = lists of calls). Inside a function's call, as in I(a | b), a bar is R's own `or`.
split_special <- function(rhs, data = NULL) {
  if (!has_special(rhs)) return(list(fixed = rhs))
  added <- added_terms(rhs)
  terms <- lapply(added, `[[`, "term")
  bar <- vapply(terms, is_bar, TRUE)
  basis <- vapply(terms, is_basis_term, TRUE)
  minus <- vapply(added, function(a) a$sign == "-", TRUE)
  for (term in terms[!bar & !basis]) refuse_inner(term, data)
  for (term in terms[basis]) refuse_nested(term, data)
  if (any(minus & (bar | basis))) refuse_crossed(terms[minus & (bar | basis)][[1L]])
  list(fixed = join_terms(added[!bar & !basis]), bars = terms[bar], bases = terms[basis])
}

# The terms of a sum, each with its sign.
added_terms <- function(term, sign = "+") {
  if (is_call_to(term, "(")) return(added_terms(term[[2L]], sign))
  if (!is_call_to(term, c("+", "-"))) return(list(list(term = term, sign = sign)))
  own <- as.character(term[[1L]])
  last <- if (own == sign) "+" else "-"
  if (length(term) == 2L) return(added_terms(term[[2L]], last))
  c(added_terms(term[[2L]], sign), added_terms(term[[3L]], last))
}

join_terms <- function(added) {
  rhs <- NULL
  for (a in added) {
    if (is.null(rhs) && a$sign == "+") {
      rhs <- a$term
    } else {
      rhs <- call(a$sign, if (is.null(rhs)) 1 else rhs, a$term)
    }
  }
  if (is.null(rhs)) 1 else rhs
}

# Bars and terms with a basis may be added, not crossed: none below `*`, `:` and their like, or in
# a call.
refuse_inner <- function(term, data = NULL) {
  if (is_bar(term) || is_basis_term(term)) refuse_crossed(term)
  if (is_call_to(term, c("(", "+", "-", "*", ":", "/", "^", "%in%"))) {
    for (part in as.list(term)[-1L]) refuse_inner(part, data)
  } else {
    refuse_nested(term, data)
  }
}

# No bar that can't be R's `or`, and no term with a basis, among the arguments of a call.
refuse_nested <- function(term, data, call = term) {
  if (!is.call(term)) return(invisible())
  for (part in Filter(is.call, as.list(term))) {
    if (is_basis_term(part) || (is_bar(part) && !can_be_or(part, data))) refuse_argument(part, call)
    refuse_nested(part, data, call)
  }
}

refuse_argument <- function(term, call) {
  text <- deparse1(term)
  abort("formula", words_for_term(term)$what, " can only be added: `", text, "` stands inside `",
        deparse1(call), "`. ",
        if (is_bar(term)) paste0("Write `+ (", text, ")`; where `|` means `or`, both its sides ",
                                 "must be logical.")
        else paste0("Write `+ ", text, "`."))
}

can_be_or <- function(bar, data) {
  !any(vapply(as.list(bar)[-1L], is_not_logical, TRUE, data = data))
}

# 1, 0 + x, or a column of the data that is not logical or 0/1.
is_not_logical <- function(term, data) {
  while (is_call_to(term, "(")) term <- term[[2L]]
  if (is_call_to(term, c("+", "-"))) {
    return(any(vapply(added_terms(term), function(added) is.numeric(added$term), TRUE)))
  }
  if (!is.name(term)) return(is.numeric(term))
  value <- if (!is.function(data)) data[[as.character(term)]]
  !is.null(value) && !is.logical(value) && !(is.numeric(value) && all(value %in% c(0, 1, NA)))
}

refuse_crossed <- function(term) {
  text <- deparse1(term)
  words <- words_for_term(term)
  abort("formula", words$what, " can only be added: `", text,
        "` is crossed with another term or taken away. Write `+ ",
        if (is_bar(term)) paste0("(", text, ")`.") else paste0(text, "`."), words$instead)
}

words_for_term <- function(term) {
  if (is_bar(term)) list(what = "A term with a bar") else basis_words(basis_kind(term))
}

# One bar -> one entry for each grouping factor in it (g/h has two). A plain name needs no parser.
expand_bar <- function(bar, data = NULL) {
  group <- bar[[3L]]
  if (has_special(bar[[2L]])) refuse_inner(bar[[2L]], data)
  if (!is.language(group) || is_call_to(group, "-")) refuse_group(group)
  independent <- identical(bar[[1L]], quote(`||`))
  bar[[1L]] <- quote(`|`)
  single_bars <- if (is.name(group)) list(bar) else reformulas::findbars(bar)
  if (length(single_bars) == 0L) refuse_group(group)
  lapply(single_bars, function(single) {
    list(lhs = single[[2L]], group = single[[3L]], independent = independent)
  })
}

# `.` means the other columns of the data: not the grouping factors, and not what a term with a
# basis already has in it.
write_out_dot <- function(fixed, data, bars, bases) {
  if (any(vapply(bars, function(bar) "." %in% all.vars(bar$lhs), logical(1)))) {
    abort("formula", "`.` can't stand in a term with a bar; write out its columns.")
  }
  if (!"." %in% all.vars(fixed[[3L]])) return(fixed)
  if (length(names(data)) == 0L) {
    abort("formula", "`.` in the formula needs `data`, a data frame with named columns.")
  }
  unusable <- which(names(data) %in% c("", ".", NA))
  if (length(unusable) > 0L) {
    abort("formula", "`.` stands for all columns of `data`, of which number ", unusable[1L],
          " has no name, or the name `.`. Rename it, or write out the columns.")
  }
  taken <- c(lapply(bars, function(bar) all.vars(bar$group)),
             lapply(bases, function(term) basis_effects(basis_kind(term), term, data)))
  added <- added_terms(fixed[[3L]]) # terms() stumbles over `- g` where `.` has no g
  fixed[[3L]] <- join_terms(Filter(function(a) {
    a$sign == "+" || !text_of(a$term) %in% unlist(taken)
  }, added))
  others <- setdiff(names(data), unlist(taken))
  columns <- structure(rep(list(logical(0)), length(others)), names = others,
                       class = "data.frame", row.names = integer(0))
  written <- stats::formula(stats::terms(fixed, data = columns, simplify = TRUE))
  environment(written) <- environment(fixed)
  written
}

# The formula as typed; `.` gives way to the columns it stands for, in its place if it is added, not
# crossed, and nothing is taken away. `fixed` is without `.`, bars and terms with a basis.
spell_dot <- function(formula, fixed, special) {
  if (!"." %in% all.vars(formula[[3L]])) return(formula)
  added <- added_terms(formula[[3L]])
  minus <- vapply(added, function(a) a$sign == "-", TRUE)
  dot <- vapply(added, function(a) identical(a$term, quote(.)), TRUE)
  plain <- function(a) !is_bar(a$term) && !is_basis_term(a$term)
  others <- join_terms(Filter(plain, added[!dot]))
  if (any(minus) || sum(dot) != 1L || "." %in% all.vars(others)) return(add_terms(fixed, special))
  terms <- stats::terms(fixed)
  variables <- stats::setNames(as.list(attr(terms, "variables"))[-1L],
                               rownames(attr(terms, "factors")))
  columns <- setdiff(labels(terms),
                     labels(stats::terms(stats::as.formula(call("~", others), globalenv()))))
  columns <- lapply(columns, function(label) list(term = variables[[label]], sign = "+"))
  added <- append(added[!dot], columns, which(dot) - 1L)
  formula[[3L]] <- join_terms(lapply(added, in_brackets))
  formula
}

in_brackets <- function(added) {
  if (is_bar(added$term)) added$term <- call("(", added$term)
  added
}

add_terms <- function(formula, terms) {
  for (term in terms) {
    if (is_bar(term)) term <- call("(", term)
    formula[[3L]] <- call("+", formula[[3L]], term)
  }
  formula
}

# A bar or a term with a basis as a sum of its variables.
open_term <- function(term) {
  parts <- if (is_bar(term)) as.list(term)[-1L] else basis_variables(basis_kind(term), term)
  Reduce(function(a, b) call("+", a, b), parts)
}

# The formula with every variable once: bars and terms with a basis opened.
open_terms <- function(formula) {
  parts <- split_special(formula[[3L]])
  formula[[3L]] <- parts$fixed
  add_terms(formula, lapply(c(parts$bars, parts$bases), open_term))
}

# all.vars() takes the two sides of `package::name` for variables; this does not.
variables_in <- function(term) {
  if (!any(c("::", ":::") %in% all.names(term, unique = TRUE))) return(all.vars(term))
  if (is_call_to(term, c("::", ":::")) || !is.call(term)) return(all.vars(term)[is.name(term)])
  parts <- as.list(term)
  if (is.name(parts[[1L]])) parts <- parts[-1L]
  unique(unlist(lapply(parts, variables_in)))
}

# An environment for terms that are kept: the data stay behind, but what the formula takes from
# elsewhere (functions that are not on the search path, constants such as a number of knots)
# comes along. `n` is the number of rows: what has as many elements is a variable.
kept_environment <- function(formula, data, n) {
  from <- environment(formula)
  outside <- setdiff(variables_in(formula), names(data))
  used <- setdiff(all.names(formula, unique = TRUE), c(names(data), bar_names))
  kept <- list()
  for (name in used) {
    value <- get0(name, envir = from)
    wanted <- if (is.function(value)) is_local_function(name, value, outside)
              else name %in% outside && !is.null(value) && NROW(value) != n
    if (wanted) kept[[name]] <- if (is.function(value)) light_function(value) else value
  }
  if (length(kept) == 0L) return(globalenv())
  list2env(kept, parent = globalenv())
}

# A function the global environment does not reach.
is_local_function <- function(name, value, outside) {
  !identical(get0(name, envir = globalenv(), mode = "function"), value) && !name %in% outside
}

kept_names <- function(environment) {
  if (identical(environment, globalenv())) character(0) else ls(environment)
}
