# Which rows of a source take part in a fit, and which of them have its levels. As in a data frame,
# rows of weight zero are removed first, then those in which a variable of the model frame is
# missing: `y ~ is.na(x)` misses nothing.

# function(piece): list(rows, weights, offset) of those that take part.
row_chooser <- function(parts, given, na.action, rule = NULL) {
  omit <- !is.null(as_na_action(na.action))
  function(piece) {
    own <- list(rows = piece, weights = given_values("weights", given, piece, parts),
                offset = given_values("offset", given, piece, parts))
    if (any(own$weights == 0, na.rm = TRUE)) own <- chosen_rows(own, !own$weights %in% 0)
    if (omit && nrow(own$rows) > 0L) {
      columns <- model_columns(parts, own$rows, own[c("weights", "offset")], list())
      own <- chosen_rows(own, complete_cases(columns))
    }
    check_piece_modelled(own, parts, rule)
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

# list(prototype, weights, offset, n, at, groups, levels): n rows take part. Of these the prototype has
# the `first` ones and the first with each level of a variable of the model frame that is not a number,
# with each class, and with each combination of the variables of a grouping factor; of a
# lone_grouping() column, with the first `prototype_levels` of them. `all`: do all rows take part? Then
# the spill's prototype has the levels of columns already. Else `at` are the prototype's places among
# the n rows, `groups` those that are there for a grouping factor alone, and `levels`, by lone column,
# which of its levels occur. `classes`: is the response one of classes?
rows_of_levels <- function(spill, parts, choose, all, classes, first = prototype_rows) {
  if (all && !makes_levels(spill$prototype, parts, classes)) {
    return(c(prototype_of(list(choose(spill$prototype))), n = spill$rows))
  }
  prototype <- at <- groups <- list()
  known <- NULL
  n <- 0
  lone <- new_levels_seen(spill, parts)
  for (k in seq_len(spill$pieces)) {
    own <- choose(read_piece(spill, k))
    rows <- own$rows
    if (nrow(rows) == 0L) next
    keys <- keys_of_levels(rows, parts, classes, names(lone))
    if (is.null(known)) known <- lapply(keys, `[`, 0L)
    fresh <- Map(function(own, before) which(!duplicated(own) & !own %in% before), keys, known)
    if (classes && length(known[[1L]]) > 2L) fresh[[1L]] <- integer(0) # refused in any case
    known <- Map(function(before, own, new) c(before, own[new]), known, keys, fresh)
    for (name in names(lone)) fresh[[name]] <- note_levels(lone[[name]], rows[[name]])
    chosen <- sort(unique(c(seq_len(max(0, min(nrow(rows), first - n))), unlist(fresh))))
    prototype[[k]] <- chosen_rows(own, chosen)
    at[[k]] <- n + chosen
    of_groups <- names(fresh) %in% groups_alone(parts)
    groups[[k]] <- n + setdiff(unlist(fresh[of_groups]), unlist(fresh[!of_groups]))
    n <- n + nrow(rows)
  }
  if (n == 0) abort("data", "There are no rows to fit: all have weight 0 or missing values.")
  c(prototype_of(prototype), list(n = n, at = unlist(at), groups = unlist(groups),
                                  levels = lapply(lone, function(seen) which(seen$seen))))
}

# Grouping factors, and their variables, that no term with a basis has.
groups_alone <- function(parts) {
  groups <- lapply(parts$bars, function(bar) c(text_of(bar$group), variables_in(bar$group)))
  setdiff(unlist(groups), unlist(lapply(parts$bases, all.vars)))
}

# list(prototype, weights, offset) of parts as a row_chooser() has them.
prototype_of <- function(parts) {
  list(prototype = do.call(rbind, lapply(parts, `[[`, "rows")),
       weights = unlist(lapply(parts, `[[`, "weights")),
       offset = unlist(lapply(parts, `[[`, "offset")))
}

# The same of ten thousand rows, evenly spread, and those with levels and with the least and the
# greatest value of each number of the model frame: all rows, in their order, if there are no more.
# `spread`: which of them are not there for a level of a grouping factor alone.
most_spread_rows <- 10000

rows_spread <- function(spill, parts, choose, classes) {
  chosen <- rows_of_levels(spill, parts, choose, FALSE, classes, first = 0)
  wanted <- round(seq(1, chosen$n, length.out = min(chosen$n, most_spread_rows)))
  prototype <- list(list(rows = chosen$prototype, weights = chosen$weights, offset = chosen$offset))
  at <- list(chosen$at)
  ends <- list()
  before <- 0
  for (k in seq_len(spill$pieces)) {
    own <- choose(read_piece(spill, k))
    if (nrow(own$rows) == 0L) next
    places <- before + seq_len(nrow(own$rows))
    spread <- which(places %in% wanted)
    prototype[[k + 1L]] <- chosen_rows(own, spread)
    at[[k + 1L]] <- places[spread]
    ends <- later_ends(ends, own, places, parts)
    before <- before + nrow(own$rows)
  }
  at <- c(unlist(at), unlist(lapply(unname(ends), `[[`, "at")))
  kept <- order(at)[!duplicated(sort(at))]
  all <- prototype_of(c(prototype, lapply(ends, `[[`, "row")))
  spread <- !at %in% chosen$groups | at %in% wanted | at %in% unlist(lapply(ends, `[[`, "at"))
  list(prototype = all$prototype[kept, , drop = FALSE], weights = all$weights[kept],
       offset = all$offset[kept], n = chosen$n, at = at[kept], spread = spread[kept],
       levels = chosen$levels)
}

# By number of the model frame, and for its least and its greatest value: list(value, row, at) of the
# first row that has it.
later_ends <- function(ends, own, places, parts) {
  columns <- model_columns(parts, own$rows, list(), list())[-1L]
  for (name in names(columns)) {
    values <- columns[[name]]
    if (!is.numeric(values) || !is.null(dim(values)) || all(is.na(values))) next
    for (sign in c("-1", "1")) {
      key <- paste(sign, name)
      found <- which.max(as.numeric(sign) * values)
      value <- as.numeric(sign) * values[found]
      if (isTRUE(ends[[key]]$value >= value)) next
      ends[[key]] <- list(value = value, row = chosen_rows(own, found), at = places[found])
    }
  }
  ends
}

# Does the formula make levels, such as those of factor(x) or of groups a:b?
makes_levels <- function(rows, parts, classes) {
  columns <- c(model_columns(parts, rows, list(), list()), auxiliary_columns(parts, rows))
  leveled <- !vapply(columns, is.numeric, TRUE)
  leveled[1L] <- classes # they may be numbers
  made <- leveled & !names(columns) %in% names(rows)
  any(made) || any(lengths(lapply(parts$bars, function(bar) all.vars(bar$group))) > 1L)
}

# `lone`: a column that is looked at elsewhere.
keys_of_levels <- function(rows, parts, classes, lone) {
  columns <- c(model_columns(parts, rows, list(), list()), auxiliary_columns(parts, rows))
  leveled <- !vapply(columns, is.numeric, TRUE) & !names(columns) %in% lone
  response <- if (classes && is.null(dim(columns[[1L]]))) as.character(columns[[1L]])
  bars <- Filter(function(bar) !text_of(bar$group) %in% lone, parts$bars)
  crossed <- lapply(bars, function(bar) {
    names <- intersect(all.vars(bar$group), names(rows))
    do.call(paste, c(unname(as.list(rows[names])), sep = "\r"))
  })
  names(crossed) <- vapply(bars, function(bar) text_of(bar$group), "")
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
  variables <- unlist(lapply(c(list(parts$frame), parts$auxiliary), function(of) {
    as.list(attr(stats::terms(of), "variables"))[-1L]
  }))
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
