# Kernels that several responses share. Each response alone says which kernel it prefers
# (R/gp-learn.R); of these the one is used for all under which the sum of the responses' log evidences
# is highest. In that sum residuals are independent, amplitudes and residual variances are each at
# their best, and the coefficients of other columns are integrated out under flat priors; group
# effects are left out of it. It only ranks a handful of kernels.

most_compared <- 400L # rows

# Frames of all responses with the columns of the same kernels.
with_shared_kernels <- function(frames, prior, engine) {
  old <- options(bsvm.kept_cells = Inf)
  on.exit(options(old))
  likelihood <- likelihood_gaussian()
  learn <- function(frame) learn_kernels(frame, prior, likelihood, engine = engine)
  first <- learn(frames[[1L]])
  free <- any(vapply(gp_bases(first), function(basis) !is.null(basis$learned), TRUE))
  if (!free) return(lapply(frames, with_kernels_of, learned = first, likelihood = likelihood))
  candidates <- c(list(first), lapply(frames[-1L], learn))
  y <- vapply(frames, `[[`, frames[[1L]]$y, "y")
  values <- vapply(candidates, function(frame) sum(column_evidences(frame, y)), 0)
  lapply(frames, with_kernels_of, learned = candidates[[which.max(values)]], likelihood = likelihood)
}

with_kernels_of <- function(frame, learned, likelihood) {
  out <- learned
  out[c("y", "formula")] <- frame[c("y", "formula")]
  with_gp_unit(out, response_units(frame$response, frame, likelihood)$unit)
}

# log evidence of each column of y. With R the response and F_b the features of a part, both in the
# complement of the other columns, R ~ N(0, s^2 I + sum t_b F_b F_b').
column_evidences <- function(frame, y) {
  rows <- some_of_many(frame$nobs, most_compared)
  parts <- unlist(lapply(gp_bases(frame), `[[`, "blocks"), recursive = FALSE)
  large <- unlist(parts)
  x <- frame$x[rows, , drop = FALSE]
  others <- x[, setdiff(seq_len(ncol(x)), large), drop = FALSE]
  turn <- qr(others)
  beyond <- function(m) qr.qty(turn, m)[-seq_len(turn$rank), , drop = FALSE]
  if (ncol(others) == 0L) beyond <- identity
  r <- beyond(y[rows, , drop = FALSE])
  squares <- lapply(parts, function(at) tcrossprod(beyond(x[, at, drop = FALSE])))
  apply(r, 2L, function(own) best_evidence(own, squares))
}

# Over the logarithms of the shares t_b/s^2, s^2 at its best.
best_evidence <- function(r, squares) {
  n <- length(r)
  value <- function(ratio) {
    covariance <- Reduce(`+`, Map(`*`, squares, exp(ratio)), diag(n))
    root <- tryCatch(chol(covariance), error = function(e) NULL)
    if (is.null(root)) return(-1e10)
    inner <- sum(backsolve(root, r, transpose = TRUE)^2)
    -0.5 * n * log(inner / n) - sum(log(diag(root)))
  }
  size <- log(vapply(squares, function(k) mean(diag(k)), 0) + 1e-300)
  if (length(squares) > 1L) {
    return(stats::optim(-size, value, control = list(fnscale = -1, maxit = 100L))$value)
  }
  # one part: its eigenvalues make each value a sum
  eigen <- eigen(squares[[1L]], symmetric = TRUE)
  turned <- drop(crossprod(eigen$vectors, r))^2
  one <- function(ratio) {
    variance <- 1 + pmax(eigen$values, 0) * exp(ratio)
    -0.5 * n * log(sum(turned / variance) / n) - 0.5 * sum(log(variance))
  }
  stats::optimize(one, -size + c(-12, 12), maximum = TRUE)$objective
}
