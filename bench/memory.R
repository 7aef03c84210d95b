# Memory of a fit, in a process of its own. The input goes through a file, so that the process that
# is measured never made it.

# What a script that ends in report_memory() says: bytes of the input, of the peak above the level
# with the input in memory, and of what the fit keeps; was the peak counted from the fit?
measure_memory <- function(script, arguments, input) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(input, file, compress = FALSE)
  script <- shQuote(file.path(getOption("bsvm.bench"), script))
  said <- system2(file.path(R.home("bin"), "Rscript"), c(script, arguments, shQuote(file)),
                  stdout = TRUE)
  as.list(utils::read.csv(text = said))
}

report_memory <- function(file, fit) {
  input <- readRDS(file)
  invisible(gc())
  reset <- reset_peak()
  level <- resident("VmRSS")
  kept <- fit(input)
  peak <- resident("VmHWM") - level
  write.csv(data.frame(input = as.numeric(object.size(input)), peak,
                       kept = as.numeric(object.size(kept)), reset), row.names = FALSE)
}

# Bytes of "VmRSS" (now) or "VmHWM" (peak).
resident <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

# Where the kernel allows it, the peak starts again from here.
reset_peak <- function() {
  tryCatch({ writeLines("5", "/proc/self/clear_refs"); TRUE },
           warning = function(w) FALSE, error = function(e) FALSE)
}

memory_rows <- function(seen, label, most) {
  name <- function(what) paste0(label, ": ", what)
  rbind(figure(name("input"), seen$input / 2^20, "MB"),
        figure(name("peak above the input"), seen$peak / 2^20, "MB"),
        figure(name("peak / input"), seen$peak / seen$input, "ratio", at_most = most),
        figure(name("kept by the fit / input"), seen$kept / seen$input, "ratio"),
        figure(name("peak counted from"), if (seen$reset) "the fit" else "the start", ""))
}
