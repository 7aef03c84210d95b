# Files as a source. A reader of one file, file_readers[[format]](file, columns, options, types), is
# list(names, open): names() returns the names of its columns, and open() list(read, close), as
# described in R/source.R. `types` is an environment in which readers of text keep what columns are.

check_files <- function(files) {
  if (length(files) == 0L || anyNA(files)) {
    abort("argument", "There must be at least one file; found ", describe(files), ".")
  }
  absent <- files[!file.exists(files)]
  if (length(absent) > 0L) abort("argument", "There is no file ", enumerate(absent, "\""), ".")
  folders <- files[dir.exists(files)]
  if (length(folders) > 0L) {
    abort("argument", "\"", folders[1L], "\" is a folder. Use list.files(\"", folders[1L],
          "\", full.names = TRUE) instead.")
  }
  normalizePath(files)
}

file_formats <- function(files, format) {
  known <- names(file_readers)
  if (!is.null(format)) {
    if (is.character(format) && length(format) == 1L && format %in% known) {
      return(rep(format, length(files)))
    }
    abort("argument", "`format` must be NULL or one of ", enumerate(known, "\"", last = "or"),
          "; found ", describe(format), ".")
  }
  found <- tolower(sub(".*[.]", "", sub("[.](gz|bz2|xz)$", "", basename(files))))
  unknown <- !found %in% known
  if (any(unknown)) {
    abort("argument", "The format of ", enumerate(basename(files)[unknown], "\""), " is unknown. ",
          "Use `format`, one of ", enumerate(known, "\"", last = "or"), ".")
  }
  found
}

label_files <- function(files, formats) {
  size <- sum(file.size(files))
  paste0(length(files), " ", paste(unique(formats), collapse = ", "),
         if (length(files) == 1L) " file (" else " files (", enumerate(basename(files), "", 3L),
         "), ", format(structure(size, class = "object_size"), units = "auto"))
}

check_readers <- function(formats) {
  packages <- c(parquet = "nanoparquet", fst = "fst")
  for (format in intersect(formats, names(packages))) {
    need_reader(packages[[format]], paste(format, "files"))
  }
}

need_reader <- function(package, what) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort("argument", "Reading ", what, " requires package ", package, "; install it with ",
          "install.packages(\"", package, "\").")
  }
}

names_from_file <- function(file, format, options) {
  of_file(file_readers[[format]](file, NULL, options)$names(), file, 0)
}

of_file <- function(code, file, row) {
  tryCatch(code, error = function(e) {
    pass_on(e)
    abort("source", "\"", basename(file), "\" can't be read after row ", in_full(row), ": ",
          sub("[.]$", "", conditionMessage(e)), ".")
  })
}

# One file after the other.
open_files <- function(files, formats, columns, options) {
  types <- new.env(parent = emptyenv())
  types$kinds <- list()
  at <- 0L
  current <- NULL
  from <- to <- 0
  read <- function() {
    repeat {
      if (is.null(current)) {
        if (at == length(files)) return(NULL)
        at <<- at + 1L
        from <<- to <<- 0
        reader <- file_readers[[formats[at]]](files[at], columns, options, types)
        current <<- of_file(reader$open(), files[at], 0)
      }
      chunk <- of_file(current$read(), files[at], to)
      if (!is.null(chunk)) {
        from <<- to + 1
        to <<- to + NROW(chunk)
        return(chunk)
      }
      close()
    }
  }
  close <- function() {
    opened <- current
    current <<- NULL
    if (!is.null(opened)) opened$close()
  }
  place <- function() {
    paste0("rows ", in_full(from), " to ", in_full(to),
           " of \"", basename(files[at]), "\"")
  }
  list(read = read, place = place, close = close)
}

# ---- formats other than text --------------------------------------------------------------------

file_readers <- list(
  csv = function(file, columns, options, types = NULL) text_reader(file, columns, options, types),
  tsv = function(file, columns, options, types = NULL) {
    if (is.null(options$sep)) options$sep <- "\t"
    text_reader(file, columns, options, types)
  },
  parquet = function(file, columns, options, types = NULL) {
    list(names = function() names_in_parquet(file),
         open = function() {
           there <- columns_there(columns, names_in_parquet(file))
           pieces_of(nanoparquet::read_parquet(file, col_select = there), options$chunk_size)
         })
  },
  rds = function(file, columns, options, types = NULL) {
    whole <- function() {
      data <- readRDS(file)
      if (is.data.frame(data)) return(data)
      abort("source", "\"", basename(file), "\" must have a data frame; found ", describe(data),
            ".")
    }
    list(names = function() names(whole()),
         open = function() pieces_of(whole(), options$chunk_size, columns))
  },
  fst = function(file, columns, options, types = NULL) {
    list(names = function() fst::metadata_fst(file)$columnNames,
         open = function() open_fst(file, columns, options$chunk_size))
  }
)

names_in_parquet <- function(file) {
  schema <- nanoparquet::read_parquet_schema(file)
  schema$name[!is.na(schema$type)]
}

# Those of `columns` that are there, but one at least, so that there are rows to be refused.
columns_there <- function(columns, there) {
  found <- intersect(columns, there)
  if (length(found) > 0L) found else there[1L]
}

# A data frame that is in memory, cut.
pieces_of <- function(data, size, columns = names(data)) {
  rows <- nrow(data)
  data <- as.list(data)[names(data) %in% columns]
  done <- 0
  read <- function() {
    if (done >= rows) return(NULL)
    at <- (done + 1):min(done + size, rows)
    done <<- done + length(at)
    cut <- function(x) if (length(dim(x)) > 1L) x[at, , drop = FALSE] else x[at]
    frame_of_columns(lapply(data, cut), names(data), length(at))
  }
  list(read = read, close = function() data <<- NULL)
}

open_fst <- function(file, columns, size) {
  about <- fst::metadata_fst(file)
  columns <- columns_there(columns, about$columnNames)
  done <- 0
  read <- function() {
    if (done >= about$nrOfRows) return(NULL)
    to <- min(done + size, about$nrOfRows)
    chunk <- fst::read_fst(file, columns, from = done + 1, to = to)
    done <<- to
    chunk
  }
  list(read = read, close = function() NULL)
}
