# Rscript large-missing-memory.R <file>: one fit in a fresh process (memory.R).

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("papers.R", "large-missing-data.R", "memory.R"))
  source(file.path(dirname(file), part))
suppressPackageStartupMessages(library(bsvm))

# Code that is loaded at first use is not memory of the fit.
invisible(fit_missing(large_missing(1000)))
report_memory(commandArgs(trailingOnly = TRUE), fit_missing)
