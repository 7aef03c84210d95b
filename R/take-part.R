# Which rows of a source take part in a fit, and which of them have its levels. As in a data frame,
# rows of weight zero are removed first, then those in which a variable of the model frame is
# missing: `y ~ is.na(x)` misses nothing.

# function(piece): list(rows, weights, offset) of those that take part.
row_chooser <- function(parts, given, na.action) {
  omit <- !is.null(as_na_action(na.action))
  function(piece) {
    own <- list(rows = piece, weights = given_values("weights", given, piece, parts),
                offset = given_values("offset", given, piece, parts))
    if (any(own$weights == 0, na.rm = TRUE)) own <- chosen_rows(own, !own$weights %in% 0)
    if (omit && nrow(own$rows) > 0L) {
      columns <- model_columns(parts, own$rows, own[c("weights", "offset")], list())
      own <- chosen_rows(own, complete_cases(columns))
    }
    for (name in c("weights", "offset")) check_given(own[[name]], name)
    own
  }
}

given_values <- function(name, given, rows, parts) {
  if (is.null(given[[name]])) return(NULL)
  value <- evaluate(given[[name]], rows, parts$formula, name)
  if (name == "weights") check_weights(value, nrow(rows)) else check_offset(value, nrow(rows))
}

chosen_rows <- function(own, keep) {
  list(rows = own$rows[keep, , drop = FALSE], weights = own$weights[keep],
       offset = own$offset[keep])
}

check_given <- function(value, name) {
  if (is.null(value) || all(is.finite(value))) return(invisible())
  abort(name, "`", name, "` has ", if (anyNA(value)) "missing" else "infinite", " values. ",
        if (anyNA(value)) "`na.action = na.omit` excludes these rows."
        else "Replace them, or give these rows weight 0.")
}

# list(prototype, n): n rows take part. Of these the prototype has the first ones and the first with
# each level of a variable of the model frame that is not a number, with each class, and with each
# combination of the variables of a grouping factor. `all`: do all rows take part? Then the spill's
# prototype has the levels of columns already. `classes`: is the response one of classes?
rows_of_levels <- function(spill, parts, choose, all, classes) {
  if (all && !makes_levels(spill$prototype, parts, classes)) {
    return(list(prototype = choose(spill$prototype)$rows, n = spill$rows))
  }
  prototype <- list()
  known <- NULL
  n <- 0
  for (k in seq_len(spill$pieces)) {
    rows <- choose(read_piece(spill, k))$rows
    if (nrow(rows) == 0L) next
    keys <- keys_of_levels(rows, parts, classes)
    if (is.null(known)) known <- lapply(keys, `[`, 0L)
    fresh <- Map(function(own, before) which(!duplicated(own) & !own %in% before), keys, known)
    if (classes && length(known[[1L]]) > 2L) fresh[[1L]] <- integer(0) # refused in any case
    known <- Map(function(before, own, at) c(before, own[at]), known, keys, fresh)
    first <- seq_len(max(0, min(nrow(rows), prototype_rows - n)))
    prototype[[k]] <- rows[sort(unique(c(first, unlist(fresh)))), , drop = FALSE]
    n <- n + nrow(rows)
  }
  if (n == 0) abort("data", "There are no rows to fit: all have weight 0 or missing values.")
  list(prototype = do.call(rbind, prototype), n = n)
}

# Does the formula make levels, such as those of factor(x) or of groups a:b?
makes_levels <- function(rows, parts, classes) {
  columns <- model_columns(parts, rows, list(), list())
  leveled <- !vapply(columns, is.numeric, TRUE)
  leveled[1L] <- classes # they may be numbers
  made <- leveled & !names(columns) %in% names(rows)
  any(made) || any(lengths(lapply(parts$bars, function(bar) all.vars(bar$group))) > 1L)
}

keys_of_levels <- function(rows, parts, classes) {
  columns <- model_columns(parts, rows, list(), list())
  leveled <- !vapply(columns, is.numeric, TRUE)
  response <- if (classes && is.null(dim(columns[[1L]]))) as.character(columns[[1L]])
  crossed <- lapply(parts$bars, function(bar) {
    names <- intersect(all.vars(bar$group), names(rows))
    do.call(paste, c(unname(as.list(rows[names])), sep = "\r"))
  })
  c(list(response), lapply(columns[-1L][leveled[-1L]], as.character), crossed)
}

# ---- terms that depend on other rows ------------------------------------------------------------

# A term such as scale(x), cumsum(x) or x / max(x) has other values in other rows, which halves and
# single rows show.
refuse_data_dependent <- function(prototype, parts, given) {
  values <- function(at) values_alone(prototype[at, , drop = FALSE], parts, given)
  n <- nrow(prototype)
  all <- values(seq_len(n))
  half <- seq_len(max(1, n %/% 2))
  parts_of <- c(list(half, setdiff(seq_len(n), half)), unique(round(seq(1, n, length.out = 10))))
  differs <- logical(length(all))
  row_by_row <- vapply(all, NROW, 0L) == n # others are refused with the model frame
  for (at in Filter(length, parts_of)) {
    own <- values(at)
    differs <- differs | !mapply(function(a, b) same_values(take_rows(a, at), b), all, own)
  }
  differs <- differs & row_by_row
  if (!any(differs)) return(invisible())
  abort("unsupported", "A source of rows does not support terms that depend on other rows: ",
        enumerate(names(all)[differs]), ". Compute them in the function or query, or write them ",
        "with given numbers, such as `I((x - 10) / 2)`.")
}

# NA of ifelse(test, NA, 1) has another type alone.
same_values <- function(a, b) {
  identical(is.na(a), is.na(b)) && all(a == b, na.rm = TRUE)
}

# The variables of the formula, `weights` and `offset` as these rows alone have them, without
# attributes; NULL for those that few rows can't have.
values_alone <- function(rows, parts, given) {
  home <- formula_environment(parts$formula)
  variables <- as.list(attr(stats::terms(parts$frame), "variables"))[-1L]
  names(variables) <- vapply(variables, deparse1, "")
  lapply(c(variables, Filter(Negate(is.null), given)), function(variable) {
    value <- tryCatch(suppressWarnings(eval(variable, rows, home)), error = function(e) NULL)
    if (is.factor(value) || inherits(value, "POSIXlt")) value <- as.character(value)
    size <- dim(value)
    attributes(value) <- NULL
    if (length(size) == 2L) dim(value) <- size
    value
  })
}
