# The machine's limit: OpenBLAS's dsyrk and dtrsm on one thread, in a program of their own.

blas_cache <- function(file) file.path(getOption("bsvm.bench"), ".cache", file)

# Returns "" when the program can be used, else a sentence.
blas_missing <- function() {
  script <- file.path(getOption("bsvm.bench"), "openblas.sh")
  said <- suppressWarnings(system2("sh", shQuote(script), stdout = TRUE, stderr = TRUE))
  if (is.null(attr(said, "status"))) "" else paste(said, collapse = " ")
}

# Named list: core (the kernel OpenBLAS chose) and median seconds of dsyrk_columns (C stored n x P),
# dsyrk_rows (C stored P x n), dtrsm,
# dpotrf and dgemv.
blas_limit <- function(n, P, repeats = 21L) {
  library <- shQuote(blas_cache("libopenblas-bench.so"))
  said <- system2(blas_cache("blas-limit"), c(library, n, P, repeats), stdout = TRUE)
  parts <- do.call(rbind, strsplit(said, ",", fixed = TRUE))
  values <- as.list(parts[, 2L])
  values[-1L] <- as.numeric(parts[-1L, 2L])
  stats::setNames(values, parts[, 1L])
}

# Both storage orders are measured; the faster one counts.
syrk_seconds <- function(limit) min(limit$dsyrk_columns, limit$dsyrk_rows)
blas_seconds <- function(limit) syrk_seconds(limit) + limit$dtrsm
