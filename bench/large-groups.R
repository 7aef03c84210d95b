# Random intercepts at size: memory through both front doors, and time from 1e4 to 1e6 rows.

source(file.path(getOption("bsvm.bench"), "large-groups-data.R"), local = TRUE)

run <- function() {
  rbind(memory_figures("rows", "formula", 3), memory_figures("matrix", "matrix", 1),
        time_figures())
}

# The input goes through a file, so that the process that is measured never made it.
memory_figures <- function(door, label, most, n = 1e6) {
  if (!file.exists("/proc/self/status")) return(skipped(label, "Memory is read from /proc."))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  input <- large_groups(n)
  saveRDS(if (door == "rows") as_rows(input) else input, file, compress = FALSE)
  script <- shQuote(file.path(getOption("bsvm.bench"), "large-groups-memory.R"))
  said <- system2(file.path(R.home("bin"), "Rscript"), c(script, door, shQuote(file)),
                  stdout = TRUE)
  seen <- as.list(utils::read.csv(text = said))
  memory_rows(seen, label, most)
}

memory_rows <- function(seen, label, most) {
  name <- function(what) paste0(label, ": ", what)
  rbind(figure(name("input"), seen$input / 2^20, "MB"),
        figure(name("peak above the input"), seen$peak / 2^20, "MB"),
        figure(name("peak / input"), seen$peak / seen$input, "ratio", at_most = most),
        figure(name("kept by the fit / input"), seen$kept / seen$input, "ratio"),
        figure(name("peak counted from"), if (seen$reset) "the fit" else "the start", ""))
}

time_figures <- function(sizes = c(1e4, 1e5, 1e6)) {
  inputs <- lapply(sizes, function(n) as_rows(large_groups(n)))
  passes <- vapply(inputs, function(data) fit_rows(data)$passes, 0)
  tasks <- lapply(inputs, function(data) function() fit_rows(data))
  middle <- median_of(interleaved(tasks, times = 5L, warm = FALSE))
  slope <- function(y) stats::coef(stats::lm(log(y) ~ log(sizes)))[[2L]]
  rbind(do.call(rbind, Map(size_rows, sizes, middle, passes)),
        figure("exponent of time in n", slope(middle), "", at_most = 1.1),
        figure("exponent of time a pass in n", slope(middle / passes), ""))
}

size_rows <- function(n, time, passes) {
  name <- function(what) sprintf("n = %.0e: %s", n, what)
  rbind(figure(name("whole fit"), time, "s"), figure(name("passes"), passes, "passes"),
        figure(name("whole fit a pass"), 1e3 * time / passes, "ms"))
}
