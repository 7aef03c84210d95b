# Rows of a source on disk, so that they are read from the source once and from then on by position.
#
# spill_source(source, columns, folder, grouping, classes, lone) reads all rows in order and writes them in
# pieces of `piece_rows` rows, the last of which may be shorter: files piece-000001, ... in `folder`,
# each a list of plain vectors. How the source was cut into chunks changes nothing. It returns, and
# saves as meta.rds, an object of class bsvm_spill:
#   folder      its path; `made`: was it made for this?
#   rows        how many, a double; `pieces`: how many; `piece_rows`; `bytes` of each file
#   columns     a list by column of what is known of all rows (R/spill-columns.R)
#   prototype   a data frame: the first 1000 rows and each row with the first occurrence of a level
#               of text, factors and logical columns, or of a value of a column in `grouping`, or
#               of the first three of one in `classes`. A model frame of it has the levels of all
#               rows; but of columns in `lone`, which are also in `grouping`, it has the first
#               `prototype_levels` alone.
# read_piece(spill, k) is a data frame with the same types and levels for each k; drop_spill(spill)
# removes the files.
#
# If anything fails, or is interrupted, the source is closed and this spill's files are removed.
# Errors of writing, and of pieces that have changed since, have class "disk".

# R keeps several copies of rows while they are prepared, which are cut by columns of the source and
# then of the design.
spill_rows <- 65536L
spill_numbers <- 2^19
prototype_rows <- 1000
prototype_levels <- 20000

rows_of_piece <- function(columns) {
  as.integer(min(spill_rows, max(1024, spill_numbers %/% columns)))
}

spill_source <- function(source, columns, folder = NULL, grouping = character(),
                         classes = character(), verbose = NULL,
                         piece_rows = rows_of_piece(length(columns)),
                         write = write_value, lone = character()) {
  done <- FALSE
  reader <- spill <- NULL
  on.exit({
    if (!is.null(reader)) quietly(reader$close())
    if (!done && !is.null(spill)) drop_spill(spill)
  })
  suspendInterrupts({ # a folder that is not known stays
    spill <- c(spill_folder(folder), list(rows = 0, pieces = 0L, piece_rows = piece_rows))
  })
  reader <- open_source(source, columns)
  states <- lapply(columns, function(name) {
    new_column_state(name, if (name %in% grouping) Inf else if (name %in% classes) 3 else 0,
                     if (name %in% lone) prototype_levels else Inf)
  })
  next_piece <- recut(reader$read, piece_rows)
  tell <- progress_teller(NA, verbose, "rows read")
  on.exit(tell(NULL), add = TRUE)
  prototype <- list()
  while (!is.null(piece <- next_piece())) {
    noted <- Map(note_column, states, piece)
    values <- stats::setNames(lapply(noted, `[[`, "values"), columns)
    spill$pieces <- spill$pieces + 1L
    write(values, piece_file(spill, spill$pieces))
    spill$bytes[spill$pieces] <- file.size(piece_file(spill, spill$pieces))
    rows <- length(values[[1L]])
    first <- seq_len(max(0, min(rows, prototype_rows - spill$rows)))
    chosen <- sort(unique(c(first, unlist(lapply(noted, `[[`, "fresh")))))
    if (length(chosen) > 0L) prototype[[length(prototype) + 1L]] <- lapply(values, `[`, chosen)
    spill$rows <- spill$rows + rows
    tell(spill$rows)
  }
  if (spill$rows == 0) abort("data", "`data` has no rows: the source returned none.")
  spill$columns <- stats::setNames(lapply(states, known_column), columns)
  spill$prototype <- decode_columns(join_slices(prototype), spill$columns)
  spill <- structure(spill, class = "bsvm_spill")
  write(spill, file.path(spill$folder, "meta.rds"))
  done <- TRUE
  spill
}

read_piece <- function(spill, k) {
  file <- piece_file(spill, k)
  if (!isTRUE(file.size(file) == spill$bytes[k])) refuse_piece(file)
  found <- tryCatch(read_value(file), error = function(e) {
    pass_on(e)
    refuse_piece(file)
  })
  decode_columns(found, spill$columns)
}

# Its rows in parts, so few at once that a design of so many columns is small.
piece_parts <- function(spill, k, columns) {
  piece <- read_piece(spill, k)
  most <- rows_of_piece(columns)
  if (nrow(piece) <= most) return(list(piece))
  part <- (seq_len(nrow(piece)) - 1L) %/% most
  lapply(split(seq_along(part), part), function(at) piece[at, , drop = FALSE])
}

refuse_piece <- function(file) {
  abort("disk", "The rows in \"", file, "\" are missing or damaged. Fit the model again.")
}

drop_spill <- function(spill) {
  unlink(file.path(spill$folder, spill_files(spill$folder)))
  empty <- length(list.files(spill$folder, all.files = TRUE, no.. = TRUE)) == 0L
  if (spill$made && empty) unlink(spill$folder, recursive = TRUE)
  invisible()
}

# ---- files --------------------------------------------------------------------------------------

piece_file <- function(spill, k) file.path(spill$folder, sprintf("piece-%06d", as.integer(k)))

spill_files <- function(folder) list.files(folder, "^(piece-[0-9]{6,}|meta[.]rds)$")

# list(folder, made): a folder that exists and can be written, without rows of another spill.
spill_folder <- function(folder) {
  if (is.null(folder)) folder <- tempfile("bsvm-rows-")
  if (!is.character(folder) || length(folder) != 1L || is.na(folder)) refuse_folder(folder)
  made <- !dir.exists(folder)
  if (made) suppressWarnings(dir.create(folder, recursive = TRUE))
  probe <- tempfile("probe-", folder)
  if (!dir.exists(folder) || !suppressWarnings(file.create(probe))) refuse_folder(folder)
  unlink(probe)
  if (length(spill_files(folder)) > 0L) {
    abort("argument", "The folder \"", folder, "\" already has rows of another fit. Use an empty ",
          "folder.")
  }
  list(folder = normalizePath(folder), made = made)
}

refuse_folder <- function(folder) {
  abort("argument", "`folder` must be the path of a folder that can be written; found ",
        describe(folder), ".")
}

# Bytes that the disk does not take are an error of serialize(), or of close() for the last of them.
write_value <- function(value, path, mode = "wb") {
  failed <- function(e) {
    abort("disk", "The rows can't be written to \"", dirname(path), "\": ",
          sub("[.]$", "", conditionMessage(e)), ". The disk may be full. The rows written so far ",
          "were removed. Use control = bsvm_control(rows_folder = \"path\") with a folder on a larger ",
          "disk.")
  }
  tryCatch({
    connection <- file(path, mode)
    status <- 0L
    tryCatch(serialize(value, connection, xdr = FALSE), finally = status <- close(connection))
    if (!is.null(status) && status != 0L) stop("the last bytes were not written")
  }, error = failed, warning = failed)
}

read_value <- function(path) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  unserialize(connection)
}

# ---- cutting ------------------------------------------------------------------------------------

# function() that returns the next `rows` rows of what read() returns, a list of columns, or the
# rest; NULL at the end.
recut <- function(read, rows) {
  chunk <- NULL
  used <- 0
  ended <- FALSE
  function() {
    slices <- list()
    have <- 0
    while (have < rows && !ended) {
      if (is.null(chunk) || used == nrow(chunk)) {
        chunk <<- read()
        used <<- 0
        ended <<- is.null(chunk)
        next
      }
      size <- min(rows - have, nrow(chunk) - used)
      own <- used + seq_len(size)
      slices[[length(slices) + 1L]] <- if (size == nrow(chunk)) chunk else lapply(chunk, `[`, own)
      used <<- used + size
      have <- have + size
    }
    if (have > 0) join_slices(slices)
  }
}

join_slices <- function(slices) {
  columns <- seq_along(slices[[1L]])
  if (length(slices) == 1L) return(as.list(slices[[1L]]))
  lapply(columns, function(k) join_column(lapply(slices, `[[`, k)))
}

# The last part that is not logical has the class and all levels; logical ones in other places are
# NA.
join_column <- function(parts) {
  typed <- Filter(function(part) !is.logical(part), parts)
  plain <- lapply(parts, function(part) {
    if (!is.null(attributes(part))) attributes(part) <- NULL # which copies
    part
  })
  values <- unlist(plain, use.names = FALSE)
  if (length(typed) > 0L) attributes(values) <- attributes(typed[[length(typed)]])
  values
}
