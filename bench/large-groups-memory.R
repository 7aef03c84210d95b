# Rscript large-groups-memory.R rows|matrix <file>: one fit in a fresh process (memory.R).

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("papers.R", "large-groups-data.R", "memory.R"))
  source(file.path(dirname(file), part))
suppressPackageStartupMessages(library(bsvm))

# Code that is loaded at first use is not memory of the fit.
warm_up <- function() {
  small <- large_groups(1000)
  fit_rows(as_rows(small))
  fit_matrix(small)
}

argument <- commandArgs(trailingOnly = TRUE)
invisible(warm_up())
report_memory(argument[2L], if (argument[1L] == "rows") fit_rows else fit_matrix)
