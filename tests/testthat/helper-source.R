# Sources of rows that are known, honest or not.

for (name in c("as_source", "source_names", "open_source", "spill_source", "read_piece",
               "drop_spill", "piece_parts", "chunk_checker", "rows_of_piece", "write_value")) {
  assign(name, getFromNamespace(name, "bsvm"))
}

# The port of a PostgreSQL server that ends with the test. It does not run as root.
local_postgres <- function(frame = parent.frame()) {
  programs <- Sys.glob("/usr/lib/postgresql/*/bin")
  skip_if(length(programs) == 0L, "PostgreSQL not installed")
  folder <- tempfile("postgres-", tmpdir = "/tmp")
  is_root <- Sys.info()[["effective_user"]] == "root"
  run <- function(program, ...) {
    call <- paste(c(shQuote(file.path(programs[length(programs)], program)), ...), collapse = " ")
    if (is_root) call <- paste("cd / && runuser -u postgres --", call)
    status <- system(paste(call, "> /dev/null 2>&1"))
    if (status != 0) stop(program, " of PostgreSQL failed with status ", status)
  }
  data <- c("-D", shQuote(folder))
  run("initdb", data, "-A", "trust", "-U", "postgres")
  port <- 20000L + Sys.getpid() %% 20000L
  run("pg_ctl", data, "-w", "-o", shQuote(paste("-p", port, "-c listen_addresses=127.0.0.1 -k", folder)),
      "start")
  end <- function() {
    run("pg_ctl", data, "-m", "immediate", "stop")
    unlink(folder, recursive = TRUE)
  }
  do.call(on.exit, list(as.call(list(end)), add = TRUE), envir = frame)
  port
}

# Every kind of column, with missing and infinite values; `late` has none in most rows.
rows_of_all_kinds <- function(n = 250) {
  with_seed(1, {
    d <- data.frame(x = round(rnorm(n), 6), k = sample(1:50, n, TRUE),
                    t = sample(c("b", "a", "\u00e9 z", "q,\"r"), n, TRUE),
                    l = sample(c(TRUE, FALSE, NA), n, TRUE),
                    f = factor(sample(c("u", "v"), n, TRUE), levels = c("v", "u", "w")),
                    o = factor(sample(1:3, n, TRUE), ordered = TRUE),
                    day = as.Date("2020-01-01") + sample(300, n, TRUE),
                    time = as.POSIXct("2020-01-01", tz = "UTC") + sample(1e6, n, TRUE),
                    late = replace(round(rnorm(n), 6), seq_len(n %/% 2), NA))
    d$t[5] <- NA
    d$x[7] <- Inf
    d$k[3] <- NA
    d
  })
}

# What text files can hold of them.
rows_of_text <- function(n = 250) {
  d <- rows_of_all_kinds(n)[c("x", "k", "t", "l", "late")]
  d$big <- replace(d$k, n, 1.5) # whole numbers until the last row
  d
}

with_factors <- function(d) {
  d[] <- lapply(d, function(x) if (is.character(x)) factor(x) else x)
  d
}

# A function that returns these chunks, one after the other.
chunks_in_turn <- function(...) {
  chunks <- list(...)
  at <- 0L
  function(reset = FALSE) {
    if (reset) {
      at <<- 0L
      return(NULL)
    }
    at <<- at + 1L
    if (at <= length(chunks)) chunks[[at]]
  }
}

chunks_of <- function(d, size = 700) {
  do.call(chunks_in_turn, lapply(unname(split(seq_len(nrow(d)), (seq_len(nrow(d)) - 1) %/% size)),
                                 function(rows) d[rows, , drop = FALSE]))
}

pieces_together <- function(spill) {
  do.call(rbind, lapply(seq_len(spill$pieces), function(k) read_piece(spill, k)))
}

# The rows of a source by way of the disk.
through_disk <- function(source, columns = source_names(source), ...) {
  spill <- spill_source(source, columns, ...)
  on.exit(drop_spill(spill))
  pieces_together(spill)
}

read_all <- function(source, columns) {
  reader <- open_source(source, columns)
  on.exit(reader$close())
  while (!is.null(reader$read())) NULL
}

# A folder whose name is not ASCII.
folder_for_rows <- function() {
  folder <- file.path(tempfile("rows-"), "\u00fcn\u00ef \u4e2d")
  skip_if(is.na(iconv(folder, "UTF-8", "")), "The file system does not have these letters.")
  dir.create(folder, recursive = TRUE)
  folder
}

sqlite_of <- function(d, name = "rows") {
  skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(connection, name, d)
  connection
}

in_transaction <- function(connection) {
  found <- tryCatch(DBI::dbBegin(connection), error = function(e) NULL)
  if (is.null(found)) return(TRUE)
  DBI::dbRollback(connection)
  FALSE
}

# Two classes with predictors of several kinds, and groups.
streamed_data <- function(n = 5000, levels = 60, seed = 1) {
  set.seed(seed)
  d <- data.frame(x = rnorm(n), z = rexp(n), f = sample(c("low", "middle", "high"), n, TRUE),
                  g = sample(sprintf("s%02d", seq_len(levels)), n, TRUE),
                  id = sample(20, n, TRUE), k = sample(0:3, n, TRUE))
  effect <- rnorm(levels)[match(d$g, sort(unique(d$g)))]
  d$y <- factor(ifelse(d$x - (d$f == "low") + effect + rlogis(n) > 0, "yes", "no"))
  d
}
