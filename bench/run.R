# Measures the figures in bench/README.md: Rscript bench/run.R [case ...]
# Without arguments every case runs. Results go to bench/results/, one CSV a case.

bench_directory <- function() {
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file) == 1L) dirname(normalizePath(file)) else getwd()
}

options(bsvm.bench = bench_directory(), width = 120L)
for (part in c("figures.R", "timing.R", "blas-limit.R", "machine.R", "papers.R"))
  source(file.path(getOption("bsvm.bench"), part))

cases <- c("toenail", "spam", "large-groups", "threads", "toenail-gibbs", "spam-gibbs", "crossed",
           "verbagg", "gaussian", "coverage", "group-sd", "gaussian-time", "default-dense",
           "default-sparse", "default-glmnet", "slice", "laplace-zero", "spike-slab", "em",
           "missing", "probability", "check", "regression", "gp", "gp-usps", "gp-sds", "gp-rows",
           "gp-map", "gp-ecm", "gp-pass", "responses", "factors", "scale",
           "postgres")

chosen_cases <- function(named = commandArgs(trailingOnly = TRUE)) {
  unknown <- setdiff(named, cases)
  if (length(unknown))
    stop("There is no case ", toString(unknown), "; the cases are ", toString(cases), ".")
  if (length(named)) named else cases
}

run_case <- function(name) {
  message("Case ", name, " ...")
  case <- new.env(parent = globalenv())
  sys.source(file.path(getOption("bsvm.bench"), paste0(name, ".R")), case)
  load_before <- load_average()
  figures <- case$run()
  write_figures(name, rbind(figures, figure("machine load before", load_before, "")))
  print(read_figures(name), row.names = FALSE, right = FALSE)
}

suppressPackageStartupMessages(library(bsvm))
write_machine()
for (name in chosen_cases()) run_case(name)
write_table(cases)
