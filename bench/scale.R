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
    list(whole_fit_rows(), worker_rows(), few_levels_rows(), several_factor_rows(),
         point_estimate_rows(), many_level_rows(wanted, free))
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

# Random intercepts with ten rows a level, whose effects go to a file.
many_level_rows <- function(wanted, free, p = 4L) {
  n <- min(wanted, free / 3 / (8 * (p + 4))) # rows twice while they are sorted, states of levels
  levels <- floor(n / 10)
  seen <- figures_of("scale-levels.R", format(c(n, levels, p), scientific = FALSE, trim = TRUE))
  name <- function(what) paste0("(1 | g), ", p, " columns: ", what)
  rbind(figure(name("rows from a function"), seen[1L], ""),
        figure(name("levels"), seen[2L], ""),
        figure(name("seconds"), seen[3L], "s"),
        figure(name("peak resident memory"), seen[4L], "MB", at_most = 1000),
        figure(name("file of effects"), seen[5L], "MB"),
        figure(name("iterations"), seen[6L], ""),
        figure(name("correlation of effects with the true ones"), seen[7L], "", at_least = 0.5))
}

# Made-up rows, and a function of `reset` that returns them.
made_rows <- function(n, levels) {
  set.seed(1)
  data <- as.data.frame(matrix(stats::rnorm(n * 20), n))
  data$g <- sample(levels, n, TRUE)
  data$y <- as.integer(data$V1 - data$V2 + stats::rnorm(levels)[data$g] + stats::rlogis(n) > 0)
  data
}

in_chunks_of <- function(data, size = 1e5) {
  at <- 0
  function(reset = FALSE) {
    if (reset) {
      at <<- 0
      return(NULL)
    }
    if (at >= nrow(data)) return(NULL)
    own <- at + seq_len(min(size, nrow(data) - at))
    at <<- max(own)
    data[own, ]
  }
}

# From a source to the fit, beside the fit in memory.
whole_fit_rows <- function() {
  data <- made_rows(1e6, 20000)
  here <- there <- NULL
  formula <- y ~ . - g
  memory <- system.time(here <- bsvm(formula, data, keep_data = FALSE))[["elapsed"]]
  streamed <- system.time(there <- bsvm(formula, in_chunks_of(data)))[["elapsed"]]
  rbind(figure("1 000 000 x 20 from a function, default engine: seconds", streamed, "s"),
        figure("... times those in memory", streamed / memory, ""),
        figure("... the same bits", as.numeric(identical(here$posterior, there$posterior)), "",
               at_least = 1))
}

# Passes of one and of two workers over sockets, from fits of three and of nine.
worker_rows <- function(n = 1e6, p = 200L, size = 1e5) {
  at <- 0
  source <- function(reset = FALSE) {
    if (reset) {
      at <<- 0
      return(NULL)
    }
    if (at >= n) return(NULL)
    at <<- at + size
    set.seed(at / size)
    x <- matrix(stats::rnorm(size * p), size, dimnames = list(NULL, paste0("x", seq_len(p))))
    data.frame(x, y = as.integer(x[, 1L] - x[, 2L] + stats::rlogis(size) > 0))
  }
  seconds <- vapply(1:2, function(workers) {
    cluster <- parallel::makePSOCKcluster(workers)
    on.exit(parallel::stopCluster(cluster))
    rows <- distribute(source, cluster)
    fit <- function(passes) {
      control <- bsvm_control(max_passes = passes, tol = 1e-300, verbose = FALSE)
      system.time(suppressWarnings(
        bsvm(y ~ ., rows, likelihood = "hinge", engine = engine_vb(), control = control)
      ))[["elapsed"]]
    }
    (min(fit(9L), fit(9L)) - min(fit(3L), fit(3L))) / 6
  }, 0)
  rbind(figure("1 000 000 x 200, engine_vb(): a pass by one worker", seconds[1L], "s"),
        figure("... by two workers, times as fast", seconds[1L] / seconds[2L], "", at_least = 1.7))
}

# Levels that no file has as a whole, in an R of their own: seconds and peak memory, beside a data frame
# that is there already.
few_levels_rows <- function() {
  seen <- figures_of("scale-few-levels.R")
  rbind(figure("3 000 000 x 20 in 5 levels, (1 | g), engine_vb() on 2 threads: seconds", seen[1L], "s"),
        figure("... peak resident memory", seen[2L], "MB", at_most = 1000),
        figure("... seconds, times those of a data frame", seen[1L] / seen[3L], ""),
        figure("... the same bits", seen[4L], "", at_least = 1))
}

# Crossed factors, in an R of its own.
several_factor_rows <- function() {
  seen <- figures_of("scale-several.R")
  rbind(figure("1 000 000 x 10, 100 000 levels crossed with 200, engine_vb(): seconds", seen[1L], "s"),
        figure("... peak resident memory", seen[2L], "MB", at_most = 1000),
        figure("... seconds, times those of a data frame", seen[1L] / seen[3L], ""),
        figure("... largest difference of effects, in sds of these", seen[4L], "", at_most = 1e-10))
}

# The line of numbers that a script prints.
figures_of <- function(name, ...) {
  script <- file.path(getOption("bsvm.bench"), name)
  said <- system2("Rscript", c("--vanilla", shQuote(script), ...), stdout = TRUE,
                  env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  as.numeric(strsplit(grep("^figures", said, value = TRUE), " +")[[1L]][-1L])
}

# The classical machine's optimum, without and with the effects of 20 000 levels.
point_estimate_rows <- function() {
  data <- made_rows(1e6, 20000)
  ridge <- prior_ridge(variance = 1)
  do.call(rbind, lapply(list(list("", y ~ . - g, ridge),
                             list(" and (1 | g)", y ~ . - g + (1 | g), list(ridge, g = ridge))),
                        function(of) {
    fit <- function(rows) {
      bsvm(of[[2L]], rows, prior = of[[3L]], likelihood = "hinge", engine = engine_em(),
           keep_data = FALSE)
    }
    here <- there <- NULL
    memory <- system.time(here <- fit(data))[["elapsed"]]
    streamed <- system.time(there <- fit(in_chunks_of(data)))[["elapsed"]]
    gap <- there$posterior$objective / here$posterior$objective - 1
    rbind(figure(paste0("1 000 000 x 20", of[[1L]], " from a function, engine_em(): seconds"),
                 streamed, "s"),
          figure("... times those in memory", streamed / memory, ""),
          figure("... readings of all rows", there$passes, ""),
          figure("... relative difference of the objectives", abs(gap), "", at_most = 1e-9))
  }))
}
