# What is known of a column of a spill after all rows were read, known_column():
#   type       "double", "integer", "logical" or "factor"
#   class      NULL, "factor", c("ordered", "factor"), "Date" or c("POSIXct", "POSIXt"); `tzone`
#   text       was it text, which became a factor?
#   levels     of a factor; of text sorted as factor() sorts them
#   codes      of text: the level of each code that is on disk
#   occurs     of a factor that was no text: which of its levels do
#   values     the values that occur, sorted: of logical columns, and of others in `grouping` that
#              are not factors; of the response, some of them if it has more than two
#   missing    how many are NA; `infinite`: how many are not finite otherwise
#   min, max   of the finite values, in days or seconds for Date and POSIXct; NA without any
#
# On disk text is codes of a dictionary in the order of first occurrence, factors are their codes,
# and dates and times are doubles. A piece may have logical NAs or integers in a column of another
# type.

# `most`: how many different values are wanted. Of a response of classes three are enough to refuse it.
# `rows`: of how many of them, or of how many levels, the first rows are wanted.
new_column_state <- function(name, most, rows = Inf) {
  state <- new.env(parent = emptyenv())
  state$name <- name
  state$most <- most
  state$rows <- rows
  state$kind <- NA_character_
  state$missing <- state$infinite <- 0
  state$range <- c(Inf, -Inf)
  state$whole <- TRUE
  state
}

# list(values, fresh): what is written, and the first rows of levels that were not seen before.
note_column <- function(state, x) {
  if (anyNA(x)) state$missing <- state$missing + sum(is.na(x))
  kind <- column_kind(x)
  if (is.na(kind)) return(list(values = as.vector(x)))
  state$kind <- kind
  if (is.character(x)) return(note_text(state, x))
  if (is.factor(x)) return(note_factor(state, x))
  state$class <- if (is.object(x)) class(x)
  state$tzone <- attr(x, "tzone")
  values <- as.vector(unclass(x))
  if (is.object(x)) values <- as.double(values)
  if (is.numeric(values)) note_numbers(state, values)
  most <- if (is.logical(x)) Inf else state$most
  list(values = values,
       fresh = if (length(state$known) < most) note_values(state, values, most))
}

# A hash table is made of the shorter side.
note_text <- function(state, x) {
  found <- unique(x[!is.na(x)])
  known <- state$dictionary
  if (length(known) > length(found)) {
    places <- match(known, found, 0L)
    codes <- integer(length(found))
    codes[places] <- which(places > 0L)
  } else {
    codes <- match(found, known, 0L)
  }
  new <- found[codes == 0L]
  check_utf8(new, state$name)
  codes[codes == 0L] <- length(known) + seq_along(new)
  state$dictionary <- c(known, enc2utf8(new))
  list(values = codes[match(x, found)], fresh = first_rows(state, length(known), new, x))
}

# Of new values, when `known` are known: the first rows of those that rows are wanted of.
first_rows <- function(state, known, new, x) match(utils::head(new, max(0, state$rows - known)), x)

note_factor <- function(state, x) {
  levels <- levels(x)
  if (length(levels) > length(state$seen)) {
    check_utf8(utils::tail(levels, length(levels) - length(state$seen)), state$name)
    state$seen[seq_along(levels) > length(state$seen)] <- FALSE
  }
  state$levels <- enc2utf8(levels)
  state$class <- class(x)
  codes <- as.integer(x)
  found <- unique(codes[!is.na(codes)])
  new <- found[!state$seen[found]]
  known <- if (is.finite(state$rows)) sum(state$seen) else 0
  state$seen[new] <- TRUE
  list(values = codes, fresh = first_rows(state, known, new, codes))
}

check_utf8 <- function(levels, name) {
  wrong <- !validUTF8(enc2utf8(levels))
  if (!any(wrong)) return(invisible())
  abort("source", "`", name, "` has text that is not UTF-8, such as \"",
        iconv(levels[wrong][1L], "latin1", "UTF-8"), "\" if it is latin1. Use bsvm_source(files, ",
        "fileEncoding = \"latin1\"), or iconv().")
}

note_numbers <- function(state, values) {
  state$whole <- state$whole && is.integer(values)
  own <- suppressWarnings(c(min(values, na.rm = TRUE), max(values, na.rm = TRUE)))
  if (!all(is.finite(own))) {
    finite <- is.finite(values)
    state$infinite <- state$infinite + sum(is.infinite(values))
    own <- if (any(finite)) range(values[finite]) else c(Inf, -Inf)
  }
  state$range <- c(min(state$range[1L], own[1L]), max(state$range[2L], own[2L]))
}

# `state$known` are sorted values. Once rows are wanted of no more of them, those of pieces wait until
# they are as many as are known, so that merging takes the same time a row however many there are.
note_values <- function(state, values, most) {
  found <- sort(unique(values))
  known <- state$known
  if (length(known) >= state$rows) {
    state$waiting[[length(state$waiting) + 1L]] <- found
    if (sum(lengths(state$waiting)) >= length(known)) merge_waiting(state)
    return(NULL)
  }
  if (length(known) > 0L) {
    at <- findInterval(found, known)
    found <- found[at == 0L | known[pmax(at, 1L)] != found]
  }
  if (length(found) > 0L) state$known <- sort(c(known, found))
  first_rows(state, length(known), utils::head(found, most), values)
}

# Pairs of neighbours first, which takes the logarithm of their number and not their number.
merge_waiting <- function(state) {
  runs <- state$waiting
  while (length(runs) > 1L) {
    pairs <- split(runs, (seq_along(runs) - 1L) %/% 2L)
    runs <- lapply(unname(pairs), function(pair) Reduce(core_union_sorted, pair))
  }
  if (length(runs) > 0L) state$known <- core_union_sorted(state$known, runs[[1L]])
  state$waiting <- NULL
}

known_column <- function(state) {
  merge_waiting(state)
  text <- identical(state$kind, "text")
  order <- if (text) order(state$dictionary)
  factor <- text || !is.null(state$levels)
  numbers <- !factor && !state$kind %in% c(NA, "logical")
  range <- if (numbers && state$range[1L] <= state$range[2L]) state$range else c(NA_real_, NA_real_)
  type <- if (factor) "factor" else if (!numbers) "logical" else
    if (state$whole) "integer" else "double"
  list(type = type, class = if (text) "factor" else state$class, tzone = state$tzone, text = text,
       levels = if (text) state$dictionary[order] else state$levels,
       codes = if (text) order(order), occurs = if (!text) state$seen,
       values = if (state$whole && is.double(state$known)) as.integer(state$known) else state$known,
       missing = state$missing,
       infinite = state$infinite, min = as.double(range[1L]), max = as.double(range[2L]))
}

decode_columns <- function(values, columns) {
  decoded <- Map(decode_column, unname(values), unname(columns))
  frame_of_columns(decoded, names(columns), length(values[[1L]]))
}

decode_column <- function(x, column) {
  if (column$type == "factor") {
    x <- as.integer(x)
    if (column$text) x <- column$codes[x]
    return(structure(x, levels = column$levels, class = column$class))
  }
  storage.mode(x) <- column$type
  if (!is.null(column$tzone)) attr(x, "tzone") <- column$tzone
  class(x) <- column$class
  x
}
