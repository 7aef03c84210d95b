# Rscript gp-rows-memory.R <file>: one fit in a fresh process (memory.R).

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("gp-simulated.R", "memory.R")) source(file.path(dirname(file), part))
suppressPackageStartupMessages(library(bsvm))

# Code that is loaded at first use is not memory of the fit.
invisible(fit_simulated(simulated_rows(300)))
report_memory(commandArgs(trailingOnly = TRUE)[1L], fit_simulated)
