# Random intercepts at size: memory through both front doors, and time from 1e4 to 1e6 rows.

for (part in c("large-groups-data.R", "memory.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  rbind(memory_figures("rows", "formula", 3), memory_figures("matrix", "matrix", 1),
        time_figures())
}

memory_figures <- function(door, label, most, n = 1e6) {
  if (!file.exists("/proc/self/status")) return(skipped(label, "Memory is read from /proc."))
  input <- large_groups(n)
  if (door == "rows") input <- as_rows(input)
  memory_rows(measure_memory("large-groups-memory.R", door, input), label, most)
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
