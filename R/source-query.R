# An SQL query as a source. It is read once, in a read-only transaction that sees the database at
# one moment; the connection is the user's and stays open.

one_line <- function(query) {
  text <- gsub("[[:space:]]+", " ", trimws(query))
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

names_from_query <- function(con, query) {
  reader <- open_query(con, query, 1L)
  on.exit(reader$close())
  names(reader$read(at_end = TRUE))
}

# read(at_end = TRUE) returns a chunk without rows, too.
open_query <- function(con, query, size) {
  end <- begin_reading(con)
  fetch <- NULL
  close <- function() {
    if (!is.null(fetch)) quietly(fetch$close())
    quietly(end())
  }
  done <- FALSE
  on.exit(if (!done) close())
  fetch <- of_query(if (needs_cursor(con)) open_cursor(con, query, size)
                    else open_result(con, query, size))
  rows <- from <- 0
  read <- function(at_end = FALSE) {
    chunk <- of_query(fetch$read())
    from <<- rows + 1
    rows <<- rows + NROW(chunk)
    if (at_end || NROW(chunk) > 0L) chunk
  }
  place <- function() {
    paste0("rows ", in_full(from), " to ", in_full(rows),
           " of the query")
  }
  done <- TRUE
  list(read = read, place = place, close = close)
}

quietly <- function(code) tryCatch(suppressWarnings(code), error = function(e) NULL)

of_query <- function(code) {
  tryCatch(withCallingHandlers(code, warning = refuse_mixed), error = function(e) {
    pass_on(e)
    abort("source", "The query failed: ", sub("[.]?\\s*$", "", conditionMessage(e)), ".")
  })
}

# SQLite has a type for each value; its driver takes that of the first row and warns of others,
# which it converts, text to zeros.
refuse_mixed <- function(w) {
  text <- conditionMessage(w)
  if (!grepl("mixed type|coerc", text)) return()
  abort("source", "A column of the query has values of several types: ", sub("[.]$", "", text),
        ". Use CAST(column AS REAL) or CAST(column AS TEXT) in the query.")
}

open_result <- function(con, query, size) {
  result <- DBI::dbSendQuery(con, query)
  list(read = function() DBI::dbFetch(result, n = size),
       close = function() DBI::dbClearResult(result))
}

# RPostgreSQL has all rows in memory before the first is fetched.
needs_cursor <- function(con) inherits(con, "PostgreSQLConnection")

open_cursor <- function(con, query, size) {
  query <- sub(";\\s*$", "", query)
  execute_quietly(con, paste("DECLARE bsvm_rows NO SCROLL CURSOR FOR", query))
  fetch <- paste0("FETCH ", size, " FROM bsvm_rows")
  list(read = function() DBI::dbGetQuery(con, fetch),
       close = function() execute_quietly(con, "CLOSE bsvm_rows"))
}

execute_quietly <- function(con, statement) invisible(DBI::dbExecute(con, statement))

# Begins a transaction, if the connection is in none, and returns a function that ends it.
begin_reading <- function(con) {
  if (inherits(con, c("PqConnection", "PostgreSQLConnection"))) return(begin_postgres(con))
  begun <- tryCatch(DBI::dbBegin(con), error = function(e) FALSE)
  if (isFALSE(begun)) function() NULL else function() DBI::dbRollback(con)
}

# Within a transaction, now() stands still.
begin_postgres <- function(con) {
  now <- function() of_query(DBI::dbGetQuery(con, "SELECT CAST(now() AS TEXT) AS time")$time)
  if (identical(now(), now())) return(function() NULL)
  of_query(execute_quietly(con, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))
  function() execute_quietly(con, "ROLLBACK")
}
