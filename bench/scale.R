# Rows in files: a pass beside arithmetic in memory and beside reading alone, and peak memory under a
# limit of 4 GB of addresses. Rows are 1e8, or as many as fill a quarter of the free disk;
# BSVM_SCALE_ROWS sets another number.

run <- function() {
  free <- getNamespace("bsvm")$free_bytes(tempdir())
  wanted <- as.numeric(Sys.getenv("BSVM_SCALE_ROWS", "1e8"))
  rows_for <- function(p) min(wanted * 21 / (p + 1), free / 4 / (8 * (p + 1)))
  do.call(rbind, c(
    lapply(c(20L, 100L), function(p) {
      do.call(rbind, lapply(1:2, function(threads) scale_rows(rows_for(p), p, threads)))
    }),
    list(whole_fit_rows())
  ))
}

scale_rows <- function(n, p, threads) {
  script <- file.path(getOption("bsvm.bench"), "scale-shards.R")
  base <- if (p > 50L) 2e5 else 1e6
  command <- paste("ulimit -v 4194304; exec Rscript --vanilla", shQuote(script),
                   format(n, scientific = FALSE), p, threads, format(base, scientific = FALSE))
  said <- system2("sh", c("-c", shQuote(command)), stdout = TRUE,
                  env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  seen <- as.numeric(strsplit(grep("^figures", said, value = TRUE), " +")[[1L]][2:7])
  name <- function(what) sprintf("%d columns, %d thread%s: %s", p, threads,
                                 if (threads > 1L) "s" else "", what)
  limit <- max(seen[c(2L, 4L)])
  rbind(figure(name("rows in files"), seen[1L], ""),
        figure(name("a row in a pass, in memory"), seen[2L], "ns"),
        figure(name("reading it alone"), seen[4L], "ns"),
        figure(name("a pass, times the larger of these"), seen[3L] / limit, "", at_most = 1.3),
        figure(name("peak resident memory"), seen[5L], "MB", at_most = 1000),
        figure(name("passes of a fit"), seen[6L], ""))
}

# From a source to the fit, beside the fit in memory.
whole_fit_rows <- function() {
  set.seed(1)
  n <- 1e6
  data <- as.data.frame(matrix(stats::rnorm(n * 20), n))
  data$y <- as.integer(data$V1 - data$V2 + stats::rlogis(n) > 0)
  at <- 0
  rows <- function(reset = FALSE) {
    if (reset) {
      at <<- 0
      return(NULL)
    }
    if (at >= n) return(NULL)
    own <- at + seq_len(min(1e5, n - at))
    at <<- max(own)
    data[own, ]
  }
  here <- there <- NULL
  memory <- system.time(here <- bsvm(y ~ ., data, keep_data = FALSE))[["elapsed"]]
  streamed <- system.time(there <- bsvm(y ~ ., rows))[["elapsed"]]
  rbind(figure("1 000 000 x 20 from a function, default engine: seconds", streamed, "s"),
        figure("... times those in memory", streamed / memory, ""),
        figure("... the same bits", as.numeric(identical(here$posterior, there$posterior)), "",
               at_least = 1))
}
