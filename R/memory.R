# Large allocations are counted before any work: memory is promised freely and missed late.

max_memory <- function() {
  bytes <- getOption("bsvm.max_memory", 16 * 2^30)
  if (is.numeric(bytes) && length(bytes) == 1L && isTRUE(bytes > 0)) return(bytes)
  abort("argument", "The option bsvm.max_memory must be one positive number of bytes; found ",
        describe(bytes), ". Use options(bsvm.max_memory = 16e9), or Inf for no limit.")
}

# `what` is a sentence's subject with its verb, `instead` what to write.
check_memory <- function(bytes, what, instead) {
  if (!isTRUE(bytes > max_memory())) return(invisible())
  abort("size", what, " ", signif(bytes / 2^30, 3), " GiB, above the option bsvm.max_memory (",
        signif(max_memory() / 2^30, 3), " GiB). ", instead)
}

# A p x p covariance of coefficients and the copies that making it takes.
check_covariance_memory <- function(p) {
  check_memory(3 * 8 * as.numeric(p)^2,
               paste0("The covariance matrix of ", p, " coefficients takes"),
               paste0("summary() and confint() have standard deviations and intervals without it, ",
                      "and predict(interval = TRUE) those of linear functions."))
}

# What the core works with: the dense columns, copied where they were sparse or are rotated, and
# matrices of their number squared.
check_core_memory <- function(frame, blocks, engine) {
  n <- as.numeric(row_count(frame))
  wide <- vapply(blocks, function(block) length(block$columns) > n, TRUE)
  p <- sum(lengths(lapply(blocks, `[[`, "columns")))
  d <- as.numeric(if (is_estimator(engine)) p else dense_column_count(blocks, frame$nobs))
  copied <- if (is_sparse(frame$x) || any(wide)) n * p else 0
  squares <- if (is_estimator(engine)) min(n, d)^2 else d^2
  check_memory(8 * (copied + 4 * squares),
               paste0("The ", p, " dense columns of ", n, " rows take"),
               "Fit fewer columns or rows, or give sparse predictors as a sparse matrix.")
}
