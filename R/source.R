# Rows that are read in chunks: a function, files, a database. What the rest of the package sees:
#
#   as_source(data)                the source, or NULL if `data` is anything else, as a data frame
#   source_names(source)           the names of its columns
#   open_source(source, columns)   list(read, close), for one reading from the first row on:
#     read()     the next chunk, a data frame of just `columns` in this order, with a row at least;
#                NULL at the end
#     close()    releases files, queries and transactions; it may be called twice, and must be
#                called after errors and interrupts too
#
# Chunks have been checked (R/source-check.R): columns are numbers, logical, text, factors, Date or
# POSIXct, the same in each chunk; logical ones that are NA throughout may stand for any. Errors
# have class "source".
#
# A source is list(label, names, open, anywhere): a line for print(), a function that returns the names,
# and open(columns), which returns list(read, place, close). Its read() returns the next chunk as it
# comes, with other columns or none, or NULL; place() is where that chunk is, for messages. `anywhere`:
# can another process read it?
new_source <- function(label, names, open, anywhere = FALSE) {
  structure(list(label = label, names = names, open = open, anywhere = anywhere),
            class = "bsvm_source")
}

#' Data that are read in chunks
#'
#' `bsvm_source()` describes rows that are in files, in a database, or come from a function. They
#' are read in chunks, once and in order, so they need not fit in memory.
#'
#' @details
#' **Files** are read one after the other. All of them must have the variables of the model, and
#' formats may be mixed. The format follows the extension (before `.gz`, `.bz2` or `.xz` of a text
#' file):
#' * `csv`, `tsv`: text with a header line. Fields are converted as [utils::read.csv()] converts
#'   them. A column has one type in all files. If the first rows are numbers and later rows are
#'   text, an error names file and row. `colClasses` then states the type;
#' * `parquet`: requires package nanoparquet. One file at a time is in memory;
#' * `rds`: a data frame saved with [saveRDS()]. One file at a time is in memory;
#' * `fst`: requires package fst.
#'
#' **A query** is sent once, in a read-only transaction that sees the database at one moment. The
#' transaction ends when all rows are read, or after an error. If the connection is in a transaction
#' already, the query is part of it. PostgreSQL through RPostgreSQL is read with a cursor. The
#' connection stays open.
#'
#' **A function** follows the convention of biglm: `f(reset = TRUE)` goes back to the first row, and
#' each `f(reset = FALSE)` returns the next rows as a data frame, or `NULL` at the end. The first
#' chunk is requested twice, to see whether the function really goes back.
#'
#' All chunks must agree. An error of class `bsvm_error_source` reports a chunk that lacks a column,
#' a column that changes its type, and a factor whose levels differ. Levels may be added at the end.
#' Columns are numbers, logical, text, factors, `Date` or `POSIXct`. Text becomes a factor with the
#' levels of all rows.
#'
#' **Fits.** `bsvm(y ~ x, data = source)` reads the source once. Factors have the levels of all rows.
#' The columns of the design matrix are written to files in [tempdir()], or in the folder `rows_folder` of
#' [bsvm_control()], which each iteration reads from there. They need 8 bytes for each row and column,
#' twice that with a grouping factor, and are removed after the fit. Memory does not grow with the
#' rows. The result is the same, to the last bit, as that of a data frame with these rows and the same
#' engine. An exception is [engine_gaussian()] with at most 12 rows for each column. With several
#' grouping factors the results agree up to rounding. Point estimates of many rows, or with a grouping
#' factor, agree as far as their duality gap tells.
#'
#' The response is two classes, or numbers under a likelihood of numbers. Formulas can have predictors,
#' factors, interactions, offsets, smooth terms, and random effects of grouping factors. The bases of
#' smooth terms are made from ten thousand rows, spread evenly over the source, and those with the
#' extremes of each variable. With at most ten thousand rows the fit is that of a data frame up to the
#' optimiser's tolerance. With more the basis differs, which matters where `k` is too small for the
#' function: give a larger `k`.
#'
#' Kernels of Gaussian-process terms `gp(x, z)` are learned from a thousand of these rows, as they are of
#' a data frame, and inducing points are chosen among them. The files then have a column for each
#' inducing point. `infer` must be `"none"`.
#'
#' `missing = missing_normal()` and [missing_selection()] model missing predictors as in a data frame.
#' [imputed()] is then an error, and `engine_gibbs()` has no checkpoint.
#'
#' **Several grouping factors**, such as `(1 | school / class)` or `(1 | person) + (1 | item)`, are
#' possible with [engine_gaussian()], [engine_vb()] and [engine_gibbs()]. The rows are sorted by the factor
#' with most levels. The effects of levels whose rows are in several files are updated together. With two
#' crossed factors these are all levels of the smaller one, with nested factors few of the outer one. The
#' memory for them is four matrices with a row and a column for each such effect. There can be at most
#' 20 000 of them. They do not go with missing predictors.
#'
#' **Many levels.** A grouping factor can have 1e7 levels. The variable must be a column that no other
#' term uses. Memory grows by about 30 bytes per level if the levels are whole numbers below 2^31 in
#' absolute value. Other numbers, dates and text need 100 to 250 bytes per level. From 2^24 numbers
#' on, the posterior of the effects is in files, in the folder `effects_folder` of [bsvm_control()].
#' These files have `8 q (q + p + 1) + 8` bytes per level, for `q` effects per level and `p` columns
#' of the design matrix. [engine_vb()] writes one such file and [engine_gaussian()] about ten.
#' [predict()] reads the levels of the new rows, and [ranef()] and [coef()] read all of them. The
#' fit can be saved with [saveRDS()] if the files stay at their place. A file that is missing or
#' damaged is an error of class `bsvm_error_disk`. Draws, such as those of [as_draws.bsvm()], need the
#' effects of all levels in memory.
#'
#' Refused are `subset`, several responses, and terms that depend on other rows, such as `scale(x)`,
#' `cumsum(x)` or `poly(x, 2)`. The engines are [engine_gaussian()] with `integrate = FALSE`, which is
#' the default, [engine_vb()], and [engine_gibbs()] with `mixing = FALSE`, whose chains run one after
#' another. `engine_gibbs()` needs a likelihood without inferred parameters, and selects among at most
#' 1000 columns. Point estimates are those of [engine_em()] and [engine_ecme()], which read the rows a
#' few times, in this session even if there is a cluster. For these, all rows of one level of a grouping
#' factor must fit in memory.
#'
#' Such a fit keeps at most 1000 rows, spread evenly over the source, or none with `keep_data = FALSE`.
#' `plot(fit, "effects")`, [importance()] and emmeans average over these. `fitted()`, `residuals()` and
#' other functions that need all rows are refused. `predict(fit, newdata = source)` reads the source in
#' chunks.
#' @param x A function with an argument `reset`, names of files, or a DBI connection.
#' @param chunk_size How many rows are read at once. It does not change any result.
#' @param format `NULL`, or one of `"csv"`, `"tsv"`, `"parquet"`, `"rds"` and `"fst"` for all files.
#' @param colClasses For text files, types by column, such as `c(sex = "character", age =
#'   "numeric")`: `"numeric"`, `"integer"`, `"logical"`, `"character"`, `"Date"` or `"POSIXct"` (in
#'   UTC).
#' @param sep,quote,dec,na.strings,fileEncoding,check.names For text files, as in
#'   [utils::read.csv()]. Text is UTF-8 unless `fileEncoding` is given.
#' @param query An SQL query that returns the rows, as one string.
#' @param ... Must be empty.
#' @return An object of class `bsvm_source`. Nothing has been read.
#' @section Errors:
#' `argument`: there is no such file, or the format is unknown. Errors while reading have class
#' `source`.
#' @seealso [bsvm()], [distribute()].
#' @examples
#' # two files with the rows of one data set
#' files <- file.path(tempdir(), c("first.csv", "second.csv"))
#' write.csv(cath[1:100, ], files[1], row.names = FALSE)
#' write.csv(cath[-(1:100), ], files[2], row.names = FALSE)
#' bsvm_source(files)
#'
#' # the same rows from a function
#' next_row <- 1
#' rows <- function(reset = FALSE) {
#'   if (reset) {
#'     next_row <<- 1
#'     return(NULL)
#'   }
#'   chunk <- cath[seq_len(nrow(cath)) %in% (next_row + 0:49), ]
#'   next_row <<- next_row + 50
#'   if (nrow(chunk) > 0) chunk
#' }
#' bsvm_source(rows)
#'
#' # how much does the probability of disease grow with age?
#' fit <- bsvm(disease ~ sex + age, data = files)
#' coef(fit)
#' table(predict(fit, files), cath$disease)
#' @export
bsvm_source <- function(x, ...) UseMethod("bsvm_source")

#' @export
bsvm_source.default <- function(x, ...) {
  abort("argument", "`x` must be a function of `reset`, names of files or a DBI connection; found ",
        describe(x), ".")
}

#' @export
bsvm_source.bsvm_source <- function(x, ...) {
  check_dots(substitute(list(...)), "bsvm_source()", source_hints)
  x
}

#' @rdname bsvm_source
#' @usage \method{bsvm_source}{function}(x, ...)
#' @export
# The usage is written out since pkgdown doesn't read the back-ticks of roxygen2 around `function`.
bsvm_source.function <- function(x, ...) {
  check_dots(substitute(list(...)), "bsvm_source()", source_hints)
  if (!resets(x)) {
    abort("argument", "The function must have an argument `reset`: f(reset = TRUE) goes back to ",
          "the first row, f(reset = FALSE) returns the next rows, or NULL at the end.")
  }
  state <- list2env(list(first = NULL, readings = 0), parent = emptyenv())
  new_source("a function of `reset`",
             names = function() names_from_function(x, state),
             open = function(columns) open_function(x, state))
}

#' @rdname bsvm_source
#' @export
bsvm_source.character <- function(x, chunk_size = 1e5, format = NULL, colClasses = NULL, sep = NULL,
                                  quote = "\"", dec = ".", na.strings = "NA", fileEncoding = "",
                                  check.names = TRUE, ...) {
  check_dots(substitute(list(...)), "bsvm_source()", source_hints)
  chunk_size <- check_count(chunk_size, "chunk_size")
  files <- check_files(x)
  formats <- file_formats(files, format)
  check_readers(formats)
  options <- list(chunk_size = chunk_size, colClasses = check_col_classes(colClasses), sep = sep,
                  quote = quote, dec = dec, na.strings = na.strings, fileEncoding = fileEncoding,
                  check.names = check_flag(check.names, "check.names"))
  new_source(label_files(files, formats),
             names = function() names_from_file(files[1L], formats[1L], options),
             open = function(columns) open_files(files, formats, columns, options),
             anywhere = TRUE)
}

#' @rdname bsvm_source
#' @exportS3Method bsvm_source DBIConnection
bsvm_source.DBIConnection <- function(x, query, chunk_size = 1e5, ...) {
  check_dots(substitute(list(...)), "bsvm_source()", source_hints)
  need_reader("DBI", "a database")
  chunk_size <- check_count(chunk_size, "chunk_size")
  if (missing(query) || !is.character(query) || length(query) != 1L || is.na(query)) {
    abort("argument", "`query` must be one SQL query, such as bsvm_source(connection, query = ",
          "\"SELECT y, x FROM rows\").")
  }
  new_source(paste0("a query on a ", class(x)[1L], ": ", one_line(query)),
             names = function() names_from_query(x, query),
             open = function(columns) open_query(x, query, chunk_size))
}

source_hints <- c(data = "The first argument is a function, names of files or a DBI connection.",
                  header = "The first line of a text file must have the names of its columns.",
                  chunksize = "Use `chunk_size` instead.", nrows = "Use `chunk_size` instead.")

#' @export
print.bsvm_source <- function(x, ...) {
  cat("bsvm_source: ", x$label, "\n", sep = "")
  invisible(x)
}

# NULL if `data` is no source, which includes functions such as stats::df without `reset`.
as_source <- function(data) {
  if (!is.null(dim(data))) return(NULL)
  if (inherits(data, "bsvm_source")) return(data)
  if (is.character(data) || inherits(data, "DBIConnection") || resets(data)) bsvm_source(data)
}

source_names <- function(source) source$names()

most_empty <- 1000

open_source <- function(source, columns) {
  force(columns) # which may ask the source for its names
  reader <- source$open(columns)
  check <- chunk_checker(columns)
  open <- TRUE
  read <- function() {
    for (empty in seq_len(most_empty)) {
      chunk <- reader$read()
      if (is.null(chunk)) return(NULL)
      chunk <- check(chunk, reader$place)
      if (nrow(chunk) > 0L) return(chunk)
    }
    abort("source", "The source returned ", most_empty, " chunks without rows, one after the other. ",
          "At its end it must return NULL.")
  }
  close <- function() {
    if (open) reader$close()
    open <<- FALSE
  }
  list(read = read, close = close)
}

# ---- functions ----------------------------------------------------------------------------------

resets <- function(f) is.function(f) && "reset" %in% names(formals(args(f)))

# `state$first` is the beginning of the first chunk at the first reading, in a list;
# `state$readings` counts the readings, since a function is at one row only.
open_function <- function(f, state) {
  rewind_function(f, state)
  if (is.null(state$first)) {
    state$first <- list(head_of(ask_function(f, 1)))
    rewind_function(f, state)
  }
  own <- state$readings
  number <- 0
  check <- function() {
    if (state$readings == own) return(invisible())
    abort("source", "The function went back to the first row for another reading before this ",
          "one had ended. Read the source once at a time.")
  }
  read <- function() {
    check()
    number <<- number + 1
    chunk <- ask_function(f, number)
    check() # it may have read itself
    if (number == 1 && !identical(list(head_of(chunk)), state$first)) {
      abort("source", "The function returned another first chunk than before. After ",
            "f(reset = TRUE) it must return the same rows again, in the same order.")
    }
    chunk
  }
  list(read = read, place = function() paste0("chunk ", number), close = function() NULL)
}

names_from_function <- function(f, state) {
  rewind_function(f, state)
  chunk <- ask_function(f, 1)
  if (is.null(chunk)) abort("source", "The function returned no rows.")
  if (!is.data.frame(chunk)) refuse_chunk(chunk, "chunk 1")
  names(chunk)
}

# Rows that come with `reset = TRUE` would be lost.
rewind_function <- function(f, state) {
  state$readings <- state$readings + 1
  found <- ask_function(f, reset = TRUE)
  if (is.data.frame(found) && nrow(found) > 0L) {
    abort("source", "The function returned ", nrow(found), " rows for f(reset = TRUE), which must ",
          "only go back to the first row. Use `if (reset) { ...; return(NULL) }` at its beginning.")
  }
}

ask_function <- function(f, number, reset = FALSE) {
  tryCatch(f(reset = reset), error = function(e) {
    if (is_time_limit(e)) stop(e)
    call <- if (reset) "f(reset = TRUE)" else paste0("f(reset = FALSE), chunk ", number)
    abort("source", "The function failed in ", call, ": ", sub("[.]$", "", conditionMessage(e)),
          ".")
  })
}

# Enough of a chunk to know it again.
head_of <- function(chunk) {
  if (!is.data.frame(chunk)) return(chunk)
  list(names(chunk), nrow(chunk), lapply(chunk, utils::head, 100L))
}
