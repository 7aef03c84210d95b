# Sources give the rows there are, however they are cut, or an error that says what is wrong.

test_that("rows are the same from every source, cut as it may be", {
  d <- rows_of_all_kinds()
  text <- rows_of_text()
  folder <- folder_for_rows()
  file <- function(ext) file.path(folder, paste0("d\u00e4ta.", ext))
  write.csv(text, file("csv"), row.names = FALSE)
  zipped <- gzfile(file("csv.gz"), "w", encoding = "UTF-8")
  write.csv(text, zipped, row.names = FALSE)
  close(zipped)
  write.table(text, file("tsv"), sep = "\t", qmethod = "double", row.names = FALSE)
  saveRDS(d, file("rds"))
  for (size in c(1, 7, 1000)) {
    found <- through_disk(bsvm_source(chunks_of(d, size)), piece_rows = 100)
    expect_identical(found, with_factors(d))
    for (ext in c("csv", "csv.gz", "tsv")) {
      found <- through_disk(bsvm_source(file(ext), chunk_size = size), piece_rows = 100)
      expect_identical(found, with_factors(text), info = paste(ext, size))
      expect_identical(found, read.csv(file("csv"), stringsAsFactors = TRUE))
    }
    found <- through_disk(bsvm_source(file("rds"), chunk_size = size), piece_rows = 100)
    expect_identical(found, with_factors(d))
  }
})

test_that("parquet and fst files are read, too", {
  d <- rows_of_all_kinds()
  folder <- folder_for_rows()
  for (format in c("nanoparquet", "fst")) {
    if (!requireNamespace(format, quietly = TRUE)) next
    ext <- if (format == "fst") "fst" else "parquet"
    files <- file.path(folder, paste0(c("a.", "b."), ext))
    write <- if (format == "fst") fst::write_fst else nanoparquet::write_parquet
    if (format == "nanoparquet") d$o <- NULL # order is lost
    write(d[1:120, ], files[1])
    write(d[-(1:120), ], files[2])
    for (size in c(1, 7, 1000)) {
      source <- bsvm_source(files, chunk_size = size)
      expect_identical(source_names(source), names(d))
      expect_identical(through_disk(source, piece_rows = 100), with_factors(d))
      expect_identical(through_disk(source, c("t", "x")), with_factors(d)[c("t", "x")])
    }
    expect_refusal(read_all(bsvm_source(files), c("x", "none")), "source", c("`none`", "a."))
    expect_refusal(read_all(bsvm_source(files), "none"), "source", "`none`")
  }
  skip_if_not_installed("nanoparquet")
  skip_if_not_installed("fst")
})

test_that("without its package a format is refused", {
  need <- bsvm:::need_reader
  local_replace("need_reader", function(package, what) need(paste0("no.", package), what))
  for (package in c(parquet = "nanoparquet", fst = "fst")) {
    file <- tempfile(fileext = c(nanoparquet = ".parquet", fst = ".fst")[package])
    on.exit(unlink(file), add = TRUE)
    writeLines("", file)
    expect_refusal(bsvm_source(file), "argument", paste0("install.packages(\"no.", package, "\")"))
  }
})

test_that("a query is read in one transaction that ends whatever happens", {
  d <- rows_of_all_kinds()[c("x", "k", "t", "late")]
  connection <- sqlite_of(d)
  on.exit(DBI::dbDisconnect(connection))
  for (size in c(1, 7, 1000)) {
    source <- bsvm_source(connection, query = "SELECT * FROM rows", chunk_size = size)
    expect_identical(source_names(source), names(d))
    expect_identical(through_disk(source, piece_rows = 100), with_factors(d))
    expect_false(in_transaction(connection))
  }
  reader <- open_source(source, "x")
  expect_equal(nrow(reader$read()), 250)
  expect_true(suppressWarnings(in_transaction(connection))) # of the open result
  reader$close()
  reader$close()
  expect_false(in_transaction(connection))
  wrong <- bsvm_source(connection, query = "SELECT * FROM nowhere")
  expect_refusal(source_names(wrong), "source", c("The query failed", "nowhere"))
  expect_refusal(spill_source(source, c("x", "z")), "source",
                 c("`z`", "rows 1 to 250 of the query"))
  expect_false(in_transaction(connection))
  empty <- bsvm_source(connection, query = "SELECT x FROM rows WHERE x > 1e9 AND k < 0")
  expect_identical(source_names(empty), "x")
  expect_refusal(spill_source(empty, "x"), "data", "no rows")
  expect_false(in_transaction(connection))
})

test_that("a query within the user's transaction leaves it open", {
  connection <- sqlite_of(data.frame(x = 1:3))
  on.exit(DBI::dbDisconnect(connection))
  DBI::dbBegin(connection)
  DBI::dbExecute(connection, "INSERT INTO rows VALUES (4)")
  source <- bsvm_source(connection, query = "SELECT x FROM rows")
  expect_identical(through_disk(source)$x, 1:4)
  expect_true(in_transaction(connection))
  DBI::dbRollback(connection)
  expect_identical(through_disk(source)$x, 1:3)
})

test_that("types that SQLite mixes, or that numbers can't hold, are refused", {
  connection <- sqlite_of(data.frame(x = 1:3))
  on.exit(DBI::dbDisconnect(connection))
  query <- function(sql) bsvm_source(connection, query = sql)
  mixed <- query("SELECT 1 AS a UNION ALL SELECT 'z'")
  expect_refusal(read_all(mixed, "a"), "source", c("several types", "CAST"))
  mixed <- query("SELECT 1 AS a UNION ALL SELECT 1.5")
  expect_identical(through_disk(mixed)$a, c(1, 1.5))
  skip_if_not_installed("bit64")
  large <- query("SELECT 3000000000 AS a UNION ALL SELECT 4")
  expect_identical(through_disk(large)$a, c(3e9, 4))
  large <- query("SELECT 9007199254740993 AS a")
  expect_refusal(read_all(large, "a"), "source", c("2^53", "CAST(a AS TEXT)"))
})

test_that("PostgreSQL is read within its bounds", {
  skip_on_cran()
  skip_if_not_installed("RPostgreSQL")
  port <- local_postgres()
  d <- rows_of_all_kinds()[c("k", "t", "l", "late")]
  drivers <- list(RPostgreSQL = "PostgreSQL", RPostgres = "Postgres")
  for (package in Filter(function(p) requireNamespace(p, quietly = TRUE), names(drivers))) {
    driver <- getExportedValue(package, drivers[[package]])()
    connection <- DBI::dbConnect(driver, host = "127.0.0.1", port = port, user = "postgres",
                                 dbname = "postgres")
    DBI::dbWriteTable(connection, "rows_of_bsvm", d, row.names = FALSE)
    ask <- function(sql) DBI::dbGetQuery(connection, sql)[[1L]]
    inside <- function() ask("SELECT CAST(now() AS TEXT)") == ask("SELECT CAST(now() AS TEXT)")
    source <- bsvm_source(connection, query = "SELECT * FROM rows_of_bsvm;", chunk_size = 7)
    expect_identical(through_disk(source, piece_rows = 100), with_factors(d))
    reader <- open_source(source, "k")
    reader$read()
    if (package == "RPostgreSQL") {
      expect_identical(ask("SHOW transaction_read_only"), "on")
      expect_identical(ask("SHOW transaction_isolation"), "repeatable read")
    }
    reader$close()
    expect_false(inside())
    wrong <- bsvm_source(connection, query = "SELECT * FROM nowhere")
    expect_refusal(source_names(wrong), "source", "nowhere")
    expect_refusal(read_all(source, "z"), "source", "`z`")
    expect_false(inside())
    DBI::dbExecute(connection, "BEGIN")
    expect_identical(nrow(through_disk(source)), 250L)
    expect_true(inside())
    DBI::dbExecute(connection, "ROLLBACK")
    DBI::dbExecute(connection, "DROP TABLE rows_of_bsvm")
    DBI::dbDisconnect(connection)
  }
})

test_that("chunks that contradict each other are refused, with the place and what to write", {
  one <- data.frame(x = 1:2, f = factor(c("a", "b")), t = c("p", "q"))
  lie <- function(..., columns = names(one)) {
    read_all(bsvm_source(chunks_in_turn(one, data.frame(x = 1, f = one$f, t = "p")[0, ], ...)),
             columns)
  }
  then <- function(...) {
    chunk <- one
    new <- list(...)
    chunk[names(new)] <- new
    chunk
  }
  expect_null(lie(one, then(x = c(1.5, NA)), then(x = c(NA, NA)), then(t = c(NA, NA))))
  expect_null(lie(then(f = factor(c("a", "c"), levels = c("a", "b", "c")))))
  expect_refusal(lie(list(1)), "source", c("data frames", "chunk 3", "a list"))
  expect_refusal(lie(one["x"]), "source", c("`f` or `t`", "chunk 3"))
  expect_refusal(lie(stats::setNames(cbind(one, 1), c("x", "f", "t", "x"))), "source", "several")
  expect_refusal(lie(then(x = c("1", "2"))), "source", c("`x` is text", "a number before"))
  expect_refusal(lie(then(x = c(TRUE, NA))), "source", "`x` is logical")
  expect_refusal(lie(then(x = factor(1:2))), "source", "`x` is a factor")
  expect_refusal(lie(then(x = as.Date(c("2020-01-01", NA)))), "source", "`x` is a Date")
  expect_refusal(lie(then(t = factor(c("p", "q")))), "source", c("`t` is a factor", "text before"))
  expect_refusal(lie(then(f = factor(c("a", "b"), ordered = TRUE))), "source", "an ordered factor")
  expect_refusal(lie(then(f = factor(c("a", "b"), levels = c("b", "a")))), "source",
                 c("levels of `f` differ", "\"b\" and \"a\"", "chunk 3", "factor(f, levels = )"))
  expect_refusal(lie(then(f = factor(c("a", "c")))), "source", "levels of `f` differ")
  expect_refusal(lie(then(f = factor(c("a", "a")))), "source", "levels of `f` differ")
  expect_refusal(lie(then(x = list(1, 2))), "source", c("`x` is a list", "as.numeric()"))
  expect_refusal(lie(then(x = 1i * 1:2)), "source", "`x` is a complex")
  expect_refusal(lie(then(x = as.difftime(1:2, units = "secs"))), "source", "\"difftime\"")
  matrices <- one
  matrices$x <- matrix(1:4, 2)
  expect_refusal(lie(matrices), "source", c("matrix of 2 columns", "x1 = chunk$x[, 1]"))
  matrices$x <- scale(1:2)
  expect_refusal(lie(matrices), "source", c("1 column ", "as.vector(x)"))
  matrices$x <- one
  expect_refusal(lie(matrices), "source", "data frame of 3 columns")
  expect_null(lie(matrices, columns = "t"))
  zones <- lapply(c("UTC", "CET"), function(tz) data.frame(z = as.POSIXct(0, tz, "1970-01-01")))
  expect_refusal(read_all(bsvm_source(do.call(chunks_in_turn, zones)), "z"), "source", "CET")
})

test_that("a function must go back, and only that, when it is told to", {
  d <- data.frame(x = 1:9)
  stuck <- 0
  once <- function(reset = FALSE) {
    if (reset) return(NULL)
    stuck <<- stuck + 1
    if (stuck < 4) d[stuck, , drop = FALSE]
  }
  expect_refusal(read_all(bsvm_source(once), "x"), "source",
                 c("another first chunk", "reset = TRUE"))
  eager <- function(reset = FALSE) d
  expect_refusal(read_all(bsvm_source(eager), "x"), "source", c("returned 9 rows", "return(NULL)"))
  changed <- 1
  source <- bsvm_source(function(reset = FALSE) {
    if (reset) return(changed <<- changed + 1)
    data.frame(x = changed)
  })
  expect_identical(source_names(source), "x")
  expect_refusal(read_all(source, "x"), "source", "another first chunk")
  fails <- chunks_in_turn(d, d)
  failing <- function(reset = FALSE) {
    found <- fails(reset)
    if (!reset && environment(fails)$at == 2L) stop("the tape is torn.")
    found
  }
  expect_refusal(read_all(bsvm_source(failing), "x"), "source", c("chunk 2", "the tape is torn."))
  twice <- bsvm_source(chunks_in_turn(d, d))
  reader <- open_source(twice, "x")
  reader$read()
  source_names(twice)
  expect_refusal(reader$read(), "source", "another reading")
  expect_refusal(source_names(bsvm_source(chunks_in_turn())), "source", "no rows")
  expect_refusal(source_names(bsvm_source(chunks_in_turn(3))), "source", c("chunk 1", "3"))
  expect_refusal(spill_source(bsvm_source(chunks_in_turn(d[0, , drop = FALSE])), "x"), "data",
                 "no rows")
})

test_that("what is a source is known from what is none", {
  for (data in list(NULL, cath, list(x = 1), globalenv(), stats::df, data, 3)) {
    expect_null(as_source(data))
  }
  f <- chunks_in_turn(cath)
  expect_s3_class(as_source(f), "bsvm_source")
  expect_identical(as_source(bsvm_source(f))$label, "a function of `reset`")
  expect_refusal(as_source("nowhere.csv"), "argument", "no file \"nowhere.csv\"")
  expect_refusal(bsvm_source(stats::df), "argument", c("`reset`", "NULL at the end"))
  expect_refusal(bsvm_source(3), "argument", c("DBI connection", "3"))
  expect_refusal(bsvm_source(f, chunksize = 3), "argument", "`chunk_size`")
  expect_refusal(bsvm_source(character()), "argument", "at least one file")
  expect_refusal(bsvm_source(tempdir()), "argument", c("is a folder", "list.files("))
  file <- tempfile(fileext = ".dat")
  on.exit(unlink(file))
  writeLines(c("x", "1"), file)
  expect_refusal(bsvm_source(file), "argument", c("unknown", "\"csv\""))
  expect_refusal(bsvm_source(file, format = "xls"), "argument", "`format`")
  expect_identical(through_disk(bsvm_source(file, format = "csv"))$x, 1L)
  expect_refusal(bsvm_source(file, format = "csv", chunk_size = 0), "argument", "`chunk_size`")
  for (wrong in list("numeric", c(x = "complex"), list(x = "numeric"))) {
    expect_refusal(bsvm_source(file, format = "csv", colClasses = wrong), "argument",
                   "`colClasses`")
  }
  expect_output(print(bsvm_source(file, format = "csv")),
                paste0("bsvm_source: 1 csv file (", basename(file), "), 4 bytes"), fixed = TRUE)
  expect_output(print(bsvm_source(f)), "bsvm_source: a function of `reset`")
  connection <- sqlite_of(cath)
  on.exit(DBI::dbDisconnect(connection), add = TRUE)
  expect_refusal(bsvm_source(connection), "argument", c("`query`", "SELECT"))
  expect_refusal(as_source(connection), "argument", "`query`")
  expect_output(print(bsvm_source(connection, query = "SELECT *\n FROM  rows")),
                "a query on a SQLiteConnection: SELECT * FROM rows", fixed = TRUE)
})

test_that("a source that reads itself is refused", {
  chunks <- chunks_of(data.frame(x = 1:50), 10)
  asked <- 0
  source <- as_source(function(reset = FALSE) {
    asked <<- asked + !reset
    if (asked == 4 && !reset) read_all(source, "x")
    chunks(reset)
  })
  expect_error(read_all(source, "x"), "Read the source once at a time", class = "bsvm_error_source")
})
