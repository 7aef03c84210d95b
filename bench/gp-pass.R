# What a pass over rows with 200 inducing points costs beside OpenBLAS on one thread: dsyrk of the rows'
# features and a triangular solve. Simulated data of ten predictors, 20 000 rows.

source(file.path(getOption("bsvm.bench"), "gp-simulated.R"), local = TRUE)

run <- function(n = 2e4, turns = 5L) {
  reason <- blas_missing()
  if (nzchar(reason)) return(skipped("the machine's limit", reason))
  set.seed(2)
  spec <- bsvm_spec(bsvm_frame(simulated_formula, simulated_rows(n)), engine = "gaussian")
  control <- bsvm_control(verbose = FALSE)
  passes <- bsvm_run(spec, control)$passes
  columns <- length(spec$design$columns)
  seen <- lapply(seq_len(turns), function(i) {
    list(limit = blas_limit(n, columns),
         pass = processor_seconds(function() bsvm_run(spec, control)) / passes)
  })
  middle <- function(value) stats::median(vapply(seen, value, 0))
  pass <- middle(function(turn) turn$pass)
  limit <- middle(function(turn) blas_seconds(turn$limit))
  rbind(figure("passes", passes, "passes"), figure("a pass", 1e3 * pass, "ms"),
        figure("OpenBLAS dsyrk + dtrsm", 1e3 * limit, "ms"),
        figure("a pass / (dsyrk + dtrsm)", pass / limit, "ratio", at_most = 3))
}
