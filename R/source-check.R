# Do the chunks of a source agree? What would give wrong answers without an error is refused here.

# function(chunk, place), which returns the chunk with just `columns`, as plain vectors. It
# remembers the kind of each column, and levels of factors.
chunk_checker <- function(columns) {
  kinds <- stats::setNames(rep(NA_character_, length(columns)), columns)
  known <- list()
  function(chunk, place) {
    if (!is.data.frame(chunk)) refuse_chunk(chunk, place())
    rows <- nrow(chunk)
    if (rows > 0L) check_chunk_names(names(chunk), columns, place)
    found <- if (rows > 0L) lapply(columns, function(name) plain_column(chunk[[name]], name, place))
    for (k in seq_along(found)) {
      name <- columns[k]
      kind <- column_kind(found[[k]])
      if (is.na(kind)) next
      if (!is.na(kinds[[k]]) && kind != kinds[[k]]) refuse_kind(name, kind, kinds[[k]], place())
      kinds[[k]] <<- kind
      if (!is.factor(found[[k]])) next
      check_chunk_levels(levels(found[[k]]), known[[name]], name, place)
      known[[name]] <<- levels(found[[k]])
    }
    frame_of_columns(found, if (rows > 0L) columns, rows)
  }
}

frame_of_columns <- function(columns, names, rows) {
  structure(if (is.null(columns)) list() else columns, names = as.character(names),
            class = "data.frame", row.names = .set_row_names(rows))
}

refuse_chunk <- function(chunk, place) {
  abort("source", "A source must return data frames, or NULL at the end; ", place, " is ",
        describe(chunk), ".")
}

check_chunk_names <- function(names, columns, place) {
  absent <- setdiff(columns, names)
  if (length(absent) > 0L) {
    abort("source", "There is no column ", enumerate(absent, last = "or"), " in ", place(),
          "; it has ", if (length(names) == 0L) "none" else enumerate(names), ".")
  }
  twice <- intersect(columns, names[duplicated(names)])
  if (length(twice) > 0L) {
    abort("source", "There are several columns ", enumerate(twice), " in ", place(),
          ". Rename them, such as with AS in a query.")
  }
}

# Without names and attributes that play no part; `integer64` as doubles.
plain_column <- function(x, name, place) {
  if (length(dim(x)) > 1L) refuse_matrix(x, name, place())
  if (inherits(x, "integer64")) return(from_integer64(x, name, place))
  plain <- is.factor(x) || inherits(x, c("Date", "POSIXct")) ||
    (!is.object(x) && (is.numeric(x) || is.logical(x) || is.character(x)))
  if (!plain) {
    abort("source", "`", name, "` is ", describe(x), " in ", place(), ". Columns must be numbers, ",
          "logical, text, factors, Date or POSIXct; convert it, such as with as.numeric() or ",
          "as.character().")
  }
  if (is.factor(x) && !is.null(attr(x, "contrasts"))) {
    abort("source", "`", name, "` has contrasts of its own in ", place(), ", which are not kept. ",
          "Use bsvm(..., contrasts = list(", name, " = )) instead, and drop them from the source.")
  }
  if (is.object(x)) unname(x) else as.vector(x)
}

refuse_matrix <- function(x, name, place) {
  p <- ncol(x)
  advice <- if (is.data.frame(x) || p > 1L) {
    c("Give each of its columns a name of its own, such as cbind(chunk, ", name, "1 = chunk$", name,
      "[, 1]), and write ", name, "1 + ... in the formula.")
  } else {
    c("Use as.vector(", name, ") instead.")
  }
  abort("source", "`", name, "` is a ", if (is.data.frame(x)) "data frame" else "matrix", " of ", p,
        if (p == 1L) " column" else " columns", " in ", place, ". ", paste(advice, collapse = ""))
}

# Database drivers return it. Its methods are there when its package is loaded, as the driver does.
from_integer64 <- function(x, name, place) {
  number <- if (isNamespaceLoaded("bit64")) suppressWarnings(as.double(x))
  if (is.null(number) || any(abs(number) >= 2^53, na.rm = TRUE)) {
    abort("source", "`", name, "` has whole numbers of 2^53 or more in ", place(), ", which ",
          "numbers in R cannot hold exactly. Use CAST(", name, " AS TEXT) in the query.")
  }
  number
}

# NA for a logical column without a value, which can stand for any.
column_kind <- function(x) {
  if (is.ordered(x)) return("an ordered factor")
  if (is.factor(x)) return("a factor")
  if (inherits(x, "Date")) return("a Date")
  if (inherits(x, "POSIXct")) return(paste(c("a POSIXct", attr(x, "tzone")[1L]), collapse = " "))
  if (is.character(x)) return("text")
  if (is.numeric(x)) return("a number")
  if (all(is.na(x))) NA_character_ else "logical"
}

refuse_kind <- function(name, kind, before, place) {
  abort("source", "`", name, "` is ", kind, " in ", place, ", but it was ", before, " before. ",
        "A column must have one type in all chunks; convert it in the source, such as with ",
        if (before == "text") "as.character()" else if (kind == "text") "as.numeric()" else
          "as.numeric() or as.character()", ".")
}

# Levels may be added at the end, so that a code always stands for the same level.
check_chunk_levels <- function(now, before, name, place) {
  if (identical(utils::head(now, length(before)), before) || is.null(before)) return(invisible())
  abort("source", "The levels of `", name, "` differ: they are ", enumerate(now, "\""), " in ",
        place(), ", but were ", enumerate(before, "\""), " before. Use the same levels in all ",
        "chunks, such as factor(", name, ", levels = ), or as.character(", name, ").")
}
