# Sparse predictors of three sizes by the engine the package picks: processor time.

random_sparse <- function(n, p, each) {
  i <- rep(seq_len(n), each = each)
  x <- Matrix::sparseMatrix(i, sample(p, n * each, TRUE), x = rnorm(n * each), dims = c(n, p),
                            use.last.ij = TRUE)
  colnames(x) <- paste0("v", seq_len(p))
  list(x = x, y = rbinom(n, 1, plogis(as.vector(x %*% c(rnorm(50), numeric(p - 50))))))
}

run <- function() {
  if (!installed("Matrix")) return(skipped("default-sparse", "The package Matrix is needed."))
  set.seed(1)
  rbind(one_size(300, 2000, 20, 5), one_size(2000, 5000, 10, 20), one_size(1e4, 1e5, 10, 60))
}

one_size <- function(n, p, each, most) {
  data <- random_sparse(n, p, each)
  time <- processor_seconds(function() {
    suppressMessages(suppressWarnings(
      bsvm(data$x, data$y, control = bsvm_control(verbose = FALSE))
    ))
  })
  figure(paste("sparse,", n, "x", paste0(p, ": default engine")), time, "s", at_most = most)
}
