# Rscript large-groups-memory.R rows|matrix|numbers <file>: one fit in a fresh process (memory.R).

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
for (part in c("papers.R", "large-groups-data.R", "memory.R"))
  source(file.path(dirname(file), part))
suppressPackageStartupMessages(library(bsvm))

# Support vector regression of the numbers z.
fit_numbers <- function(data) {
  bsvm(stats::update(large_formula, z ~ .), data, likelihood = likelihood_eps_insensitive(),
       prior = list(prior_flat(), g = prior_ridge()), engine = engine_vb(),
       control = bsvm_control(verbose = FALSE), keep_data = FALSE)
}

# Code that is loaded at first use is not memory of the fit.
warm_up <- function() {
  small <- large_groups(1000)
  fit_rows(as_rows(small))
  fit_numbers(cbind(as_rows(small), z = small$x[, 1L] + stats::rnorm(1000)))
  fit_matrix(small)
}

argument <- commandArgs(trailingOnly = TRUE)
invisible(warm_up())
report_memory(argument[2L], switch(argument[1L], rows = fit_rows, matrix = fit_matrix,
                                  numbers = fit_numbers))
