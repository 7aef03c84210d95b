# A PostgreSQL table as a source, beside the driver's cursor alone: seconds to read all rows once,
# and peak memory, each in a process of its own. The server, on 127.0.0.1, ends with the case.
# BSVM_POSTGRES_ROWS sets other numbers of rows, such as "1e6,1e7".

run <- function() {
  if (!requireNamespace("RPostgreSQL", quietly = TRUE) || length(server_programs()) == 0L) {
    return(figure("a PostgreSQL table", NA, "RPostgreSQL or PostgreSQL is not installed."))
  }
  sizes <- as.numeric(strsplit(Sys.getenv("BSVM_POSTGRES_ROWS", "1e6"), ",")[[1L]])
  do.call(rbind, lapply(sizes, read_rows))
}

read_rows <- function(rows) {
  server <- start_server()
  on.exit(server$end())
  fill_table(server$port, rows)
  seen <- lapply(c("cursor", "source", "cursor", "source", "fit"), function(what) {
    c(read_table(server$port, what), list(what = what))
  })
  of <- function(what, field) {
    stats::median(vapply(Filter(function(one) one$what == what, seen), `[[`, 0, field))
  }
  name <- function(what) paste0(format(rows, big.mark = " ", scientific = FALSE), " x 21: ", what)
  rbind(figure(name("the driver's cursor alone"), of("cursor", "seconds"), "s"),
        figure(name("reading and spilling the source, times that"),
               of("source", "seconds") / of("cursor", "seconds"), "", at_most = 1.2),
        figure(name("peak resident memory"), of("source", "peak"), "MB", at_most = 500),
        figure(name("a fit, times the cursor"), of("fit", "seconds") / of("cursor", "seconds"), ""),
        figure(name("peak resident memory of the fit"), of("fit", "peak"), "MB", at_most = 500))
}

server_programs <- function() Sys.glob("/usr/lib/postgresql/*/bin")

# list(port, end). It does not run as root.
start_server <- function() {
  folder <- tempfile("postgres-", tmpdir = "/tmp")
  port <- 20000L + Sys.getpid() %% 20000L
  programs <- server_programs()
  run <- function(program, ...) {
    call <- paste(c(shQuote(file.path(programs[length(programs)], program)), ...), collapse = " ")
    is_root <- Sys.info()[["effective_user"]] == "root"
    if (is_root) call <- paste("cd / && runuser -u postgres --", call)
    stopifnot(system(paste(call, "> /dev/null 2>&1")) == 0)
  }
  run("initdb", "-D", folder, "-A", "trust", "-U", "postgres")
  run("pg_ctl", "-D", folder, "-w", "-o",
      shQuote(paste("-p", port, "-c listen_addresses=127.0.0.1 -k", folder)), "start")
  list(port = port, end = function() {
    run("pg_ctl", "-D", folder, "-m", "immediate", "stop")
    unlink(folder, recursive = TRUE)
  })
}

fill_table <- function(port, rows) {
  connection <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = "127.0.0.1", port = port,
                               user = "postgres", dbname = "postgres")
  on.exit(DBI::dbDisconnect(connection))
  columns <- paste0("random() - 0.5 AS x", 1:20, collapse = ", ")
  DBI::dbExecute(connection, paste(
    "CREATE TABLE rows AS SELECT *, CASE WHEN x1 - x2 + 2 * (random() - 0.5) > 0 THEN 1 ELSE 0 END",
    "AS y FROM (SELECT", columns, "FROM generate_series(1,", format(rows, scientific = FALSE),
    ")) AS drawn"))
}

read_table <- function(port, what) {
  script <- file.path(getOption("bsvm.bench"), "postgres-read.R")
  said <- system2("Rscript", c("--vanilla", shQuote(script), port, what), stdout = TRUE,
                  env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  seen <- as.numeric(strsplit(grep("^figures", said, value = TRUE), " +")[[1L]][2:3])
  list(seconds = seen[1L], peak = seen[2L])
}
