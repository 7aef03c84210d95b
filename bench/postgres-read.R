# Rscript postgres-read.R <port> <cursor, source or fit>: reads the table of postgres.R, and prints
# "figures", seconds and peak resident memory in MB.

arguments <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(bsvm))
chunk <- 5e4
connection <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = "127.0.0.1",
                             port = as.integer(arguments[1L]), user = "postgres",
                             dbname = "postgres")

read_cursor <- function() {
  DBI::dbExecute(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  DBI::dbExecute(connection, "DECLARE own NO SCROLL CURSOR FOR SELECT * FROM rows")
  while (nrow(DBI::dbGetQuery(connection, sprintf("FETCH %d FROM own", chunk))) > 0L) NULL
  DBI::dbExecute(connection, "ROLLBACK")
}

source_of_table <- function() {
  bsvm_source(connection, query = "SELECT * FROM rows", chunk_size = chunk)
}

read_source <- function() {
  own <- getNamespace("bsvm")
  own$drop_spill(own$spill_source(source_of_table(), own$source_names(source_of_table())))
}

fit <- function() bsvm(y ~ ., source_of_table(), control = bsvm_control(verbose = FALSE))

taken <- system.time(switch(arguments[2L], cursor = read_cursor(), source = read_source(),
                            fit = fit()))[["elapsed"]]
peak <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
cat("figures", taken, as.numeric(gsub("[^0-9]", "", peak)) / 1024, "\n")
