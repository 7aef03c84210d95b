# A fit whose rows are in shards, in an R of its own: Rscript scale-shards.R <rows> <columns> <threads>
# <rows in memory>. Prints one line of numbers: rows, nanoseconds a row and pass in memory, streamed,
# and of reading alone; peak resident memory of the streamed part in MB, and passes of a whole fit.
arguments <- commandArgs(TRUE)
n <- as.numeric(arguments[1L])
p <- as.integer(arguments[2L])
threads <- as.integer(arguments[3L])
base_rows <- as.numeric(arguments[4L])

suppressMessages(library(bsvm))
inside <- asNamespace("bsvm")

peak_memory <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

simulated <- function(rows, seed) {
  set.seed(seed)
  x <- matrix(stats::rnorm(rows * p), rows, dimnames = list(NULL, paste0("x", seq_len(p))))
  f <- drop(x %*% rep(c(0.3, -0.3, 0, 0), length.out = p))
  data.frame(x, y = as.integer(f + stats::rlogis(rows) > 0))
}

formula <- stats::reformulate(paste0("x", seq_len(p)), "y")
engine <- engine_vb()
data <- simulated(base_rows, 1)

# Seconds of a pass, from fits of two and of ten, the least of so many.
pass_seconds <- function(spec, times = 3L) {
  taken <- vapply(c(2, 10), function(passes) {
    control <- bsvm_control(threads = threads, max_passes = passes, tol = 1e-300, verbose = FALSE)
    min(replicate(times, system.time(suppressWarnings(bsvm_run(spec, control)))[["elapsed"]]))
  }, 0)
  diff(taken) / 8
}

in_memory <- pass_seconds(bsvm_spec(bsvm_frame(formula, data), likelihood = "hinge",
                                    engine = engine)) / base_rows

# The rows in shards, the first of which, a whole one, is copied until there are enough.
make_shards <- function() {
  rest <- data
  rows <- function(reset = FALSE) {
    if (reset) {
      rest <<- data
      return(NULL)
    }
    chunk <- utils::head(rest, 65536)
    rest <<- rest[-seq_len(nrow(chunk)), ]
    if (nrow(chunk) > 0L) chunk
  }
  given <- list(formula = formula, na.action = stats::na.fail, contrasts = NULL,
                drop.unused.levels = TRUE, class.weights = NULL, likelihood = "hinge",
                prior = NULL, missing = NULL, engine = engine, standardize = TRUE,
                control = bsvm_control(verbose = FALSE))
  source <- bsvm_source(rows)
  parts <- inside$parse_formula(formula, inside$names_alone(source))
  prepared <- inside$prepare_rows(source, parts, list(), given)
  shards <- prepared$shards
  whole <- inside$core_shard_shape(shards$paths[1L])$n
  copies <- max(1, ceiling(n / whole))
  paths <- file.path(shards$folder, sprintf("copy-%05d", seq_len(copies)))
  file.copy(shards$paths[1L], paths)
  shards$paths <- paths
  shards$n <- copies * whole
  shards$shards <- copies
  shards$bytes <- sum(file.size(paths))
  list(frame = inside$with_sample(prepared$frame, shards), shards = shards)
}

made <- make_shards()
rm(data)
invisible(gc())
cat("5", file = "/proc/self/clear_refs") # the peak starts anew
spec <- bsvm_spec(made$frame, likelihood = "hinge", engine = engine)
# Ten passes over gigabytes take minutes, beside which little else counts.
streamed <- pass_seconds(spec, if (made$shards$bytes > 4e9) 1L else 3L) / made$shards$n
reading <- system.time(for (path in made$shards$paths) {
  inside$core_shard_shape(path)
})[["elapsed"]] / made$shards$n
fit <- bsvm_run(spec, bsvm_control(threads = threads, verbose = FALSE))
cat("figures", made$shards$n, 1e9 * c(in_memory, streamed, reading), peak_memory(), fit$passes, "\n")
inside$drop_shards(made$shards)
