# Rscript large-groups-memory.R rows|matrix <file>: one fit in a fresh process. Prints, in bytes,
# the input, the process's peak above its level with the input in memory, and what the fit keeps.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(file), "large-groups-data.R"))
suppressPackageStartupMessages(library(bsvm))

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

# Code that is loaded at first use is not memory of the fit.
warm_up <- function() {
  small <- large_groups(1000)
  fit_rows(as_rows(small))
  fit_matrix(small)
}

argument <- commandArgs(trailingOnly = TRUE)
fit_door <- if (argument[1L] == "rows") fit_rows else fit_matrix
invisible(warm_up())
input <- readRDS(argument[2L])
invisible(gc())
reset <- reset_peak()
level <- resident("VmRSS")
fit <- fit_door(input)
peak <- resident("VmHWM") - level
kept <- object.size(fit)
write.csv(data.frame(input = as.numeric(object.size(input)), peak, kept = as.numeric(kept), reset),
          row.names = FALSE)
