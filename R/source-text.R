# Text files as a source. Fields are read as text and converted block by block, each as read.csv()
# would convert the whole column. `types$kinds` has what columns have been so far, in all files:
# "number", "logical" or "text"; `types$blank` those that had empty fields before this was known.

col_classes <- c("character", "integer", "numeric", "logical", "Date", "POSIXct")

check_col_classes <- function(x) {
  if (is.null(x)) return(NULL)
  x[x %in% "double"] <- "numeric"
  x[x %in% "factor"] <- "character"
  named <- !is.null(names(x)) && all(nzchar(names(x))) && !anyDuplicated(names(x))
  if (is.character(x) && named && all(x %in% col_classes)) return(x)
  abort("argument", "`colClasses` must be a vector such as c(age = \"numeric\", sex = ",
        "\"character\"), with types of ", enumerate(col_classes, "\"", last = "or"), ".")
}

text_reader <- function(file, columns, options, types) {
  if (is.null(options$sep)) options$sep <- ","
  list(names = function() {
    opened <- open_text(file, options)
    on.exit(close(opened$connection))
    opened$header
  }, open = function() {
    opened <- open_text(file, options)
    wanted <- opened$header %in% columns
    tryCatch(check_chunk_names(opened$header, columns, function() paste0("\"", basename(file), "\"")),
             error = function(e) {
               close(opened$connection)
               stop(e)
             })
    what <- ifelse(wanted, list(""), list(NULL))
    rows <- 0
    read <- function() {
      fields <- scan_text(opened$connection, options, what = what, nmax = options$chunk_size)
      fields <- stats::setNames(fields[wanted], opened$header[wanted])
      n <- length(fields[[1L]])
      if (n == 0L) return(NULL)
      place <- list(file = basename(file), row = rows)
      rows <<- rows + n
      frame_of_columns(lapply(names(fields), function(name) {
        convert_text(fields[[name]], name, options, types, place)
      }), names(fields), n)
    }
    list(read = read, close = function() close(opened$connection))
  })
}

# list(connection, header), after the header line.
open_text <- function(file, options) {
  encoding <- options$fileEncoding
  start <- readBin(file, "raw", 3L)
  if (!nzchar(encoding) && identical(start, as.raw(c(0xef, 0xbb, 0xbf)))) encoding <- "UTF-8-BOM"
  connection <- file(file, "rt", encoding = if (nzchar(encoding)) encoding else "native.enc")
  done <- FALSE
  on.exit(if (!done) close(connection))
  header <- scan_text(connection, options, what = "", nlines = 1L)
  if (length(header) == 0L) stop("it has no header line")
  if (options$check.names) header <- make.names(header, unique = TRUE)
  done <- TRUE
  list(connection = connection, header = header)
}

# What scan() warns of are rows that were not read as they stand.
scan_text <- function(connection, options, ...) {
  withCallingHandlers(
    scan(connection, ..., sep = options$sep, quote = options$quote, dec = options$dec,
         na.strings = options$na.strings, quiet = TRUE, multi.line = FALSE, comment.char = "",
         encoding = if (nzchar(options$fileEncoding)) "unknown" else "UTF-8"),
    warning = function(w) stop(conditionMessage(w), call. = FALSE)
  )
}

# `place` is the file, and how many of its rows came before.
convert_text <- function(text, name, options, types, place) {
  class <- options$colClasses[name]
  if (length(class) == 1L && !is.na(class)) return(convert_as(text, name, class, options, place))
  before <- types$kinds[[name]]
  if (identical(before, "text")) return(text)
  value <- convert_guess(text, name, options)
  now <- if (is.numeric(value)) "number" else if (!is.logical(value)) "text" else
    if (all(is.na(value))) NULL else "logical"
  if (is.null(now) || is.null(before)) {
    if (identical(now, "text")) {
      if (name %in% types$blank) refuse_blank(name, place)
      value <- text
    } else if (is.null(now) && any(!is.na(text))) {
      types$blank <- c(types$blank, name)
    }
    if (is.null(before) && !is.null(now)) types$kinds[[name]] <- now
  } else if (now != before) {
    refuse_field(text, name, before, options, place)
  }
  value
}

# Text in another encoding may be an error of type.convert().
convert_guess <- function(text, name, options) {
  tryCatch(
    utils::type.convert(text, as.is = TRUE, dec = options$dec, na.strings = options$na.strings),
    error = function(e) {
      check_utf8(text, name)
      stop(e)
    }
  )
}

convert_as <- function(text, name, class, options, place) {
  if (class == "character") return(text)
  if (class %in% c("Date", "POSIXct")) {
    time <- function(x) if (class == "Date") as.Date(x) else as.POSIXct(x, tz = "UTC")
    text[!nzchar(text)] <- NA
    value <- tryCatch(time(text), error = function(e) time(rep(NA_character_, length(text))))
    wrong <- which(is.na(value) & !is.na(text))
    if (length(wrong) > 0L) refuse_class(text, wrong[1L], name, class, place)
    return(value)
  }
  value <- convert_guess(text, name, options)
  fits <- all(is.na(value)) || switch(class, logical = is.logical(value),
                                      integer = is.integer(value), is.numeric(value))
  if (!fits) refuse_class(text, first_unlike(text, class, options), name, class, place)
  storage.mode(value) <- if (class == "numeric") "double" else class
  value
}

# The position of the first field that is not of a type.
first_unlike <- function(text, type, options) {
  number <- function(x) suppressWarnings(as.numeric(sub(options$dec, ".", x, fixed = TRUE)))
  like <- switch(type,
    logical = text %in% c("T", "F", "TRUE", "FALSE", "true", "false", "True", "False"),
    integer = !is.na(number(text)) & number(text) %in% suppressWarnings(as.integer(text)),
    !is.na(number(text)) | trimws(text) == "NaN"
  )
  which(!like & !is.na(text) & nzchar(trimws(text)))[1L]
}

refuse_field <- function(text, name, before, options, place) {
  at <- first_unlike(text, before, options)
  abort("source", "`", name, "` has ", field_at(text, at, place), ", but earlier rows are ",
        if (before == "number") "numbers" else "TRUE or FALSE", ". Use bsvm_source(files, ",
        "colClasses = c(", name, " = \"character\")).")
}

refuse_blank <- function(name, place) {
  abort("source", "`", name, "` is text from rows ", in_full(place$row + 1),
        " of \"", place$file, "\" on, and only empty fields come before. Use bsvm_source(files, ",
        "colClasses = c(", name, " = \"character\")).")
}

refuse_class <- function(text, at, name, class, place) {
  abort("source", "`", name, "` has ", field_at(text, at, place), ", which is not of type \"",
        class, "\" as `colClasses` states.")
}

field_at <- function(text, at, place) {
  row <- in_full(place$row + at)
  paste0("\"", text[at], "\" in row ", row, " of \"", place$file, "\" (line ",
         in_full(place$row + at + 1), " if each row has one line)")
}
