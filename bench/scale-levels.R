# A fit with very many levels in an R of its own: Rscript scale-levels.R <rows> <levels> <columns>.
# Rows come from a function of `reset`, and effects go to a file. Prints one line of numbers: rows,
# levels, seconds of the whole fit, peak resident memory in MB from the first row to predictions, the
# file's size in MB, iterations, and the correlation of the true effects of the first rows' levels
# with their estimates.
arguments <- commandArgs(TRUE)
n <- as.numeric(arguments[1L])
m <- as.numeric(arguments[2L])
p <- as.integer(arguments[3L])
size <- 1e5

suppressMessages(library(bsvm))

peak_memory <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

effect_of <- function(level) stats::qnorm((level * 0.6180339887) %% 1 * 0.998 + 0.001)

# Each level occurs in turn, so that all do.
chunk_at <- function(at) {
  set.seed(at / size)
  rows <- min(size, n - at)
  x <- matrix(stats::rnorm(rows * p), rows, dimnames = list(NULL, paste0("x", seq_len(p))))
  g <- as.integer(((at + seq_len(rows) - 1) * 7) %% m) + 1L
  f <- x[, 1L] - x[, 2L] + effect_of(g)
  data.frame(x, g = g, y = as.integer(f + stats::rlogis(rows) > 0))
}

at <- 0
rows <- function(reset = FALSE) {
  if (reset) {
    at <<- 0
    return(NULL)
  }
  if (at >= n) return(NULL)
  chunk <- chunk_at(at)
  at <<- at + nrow(chunk)
  chunk
}

folder <- tempfile("effects-")
dir.create(folder)
invisible(gc())
cat("5", file = "/proc/self/clear_refs") # the peak starts anew
seconds <- system.time({
  fit <- bsvm(stats::reformulate(c(paste0("x", seq_len(p)), "(1 | g)"), "y"), rows,
              likelihood = "hinge", prior = list(prior_flat(), g = prior_ridge()),
              engine = engine_vb(), control = bsvm_control(effects_folder = folder, verbose = FALSE))
})[["elapsed"]]
new <- chunk_at(0)[1:2000, ]
found <- predict(fit, new, type = "link") - predict(fit, new, type = "link", re_formula = NA)
files <- list.files(folder, full.names = TRUE)
cat("figures", n, m, seconds, peak_memory(), sum(file.size(files)) / 2^20, fit$passes,
    stats::cor(found, effect_of(new$g)), "\n")
