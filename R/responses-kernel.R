# Kernels that several responses share, and where chains start: by the log evidence of each response
# alone. In it the variances of large blocks and of the residuals are at their best, the
# coefficients of other columns are integrated out under flat priors, and group effects are left
# out. Each response alone says which kernel it prefers (R/gp-learn.R); of these the one is used
# for all under which the sum of the log evidences is highest.

most_compared <- 400L # rows
large_block <- 30L    # columns; with more of them a block's variance has two modes more often

# Frames of all responses with the columns of the same kernels.
with_shared_kernels <- function(frames, prior, engine) {
  old <- options(bsvm.kept_cells = Inf)
  on.exit(options(old))
  likelihood <- likelihood_gaussian()
  # what is said of kernels is said of those that are used
  said <- c("bsvm_warning_points", "bsvm_warning_lengthscale", "bsvm_warning_convergence",
            "bsvm_message_nearly_linear")
  learn <- function(frame) {
    suppressMessages(suppressWarnings(learn_kernels(frame, prior, likelihood, engine = engine),
                                      classes = said), classes = said)
  }
  first <- learn(frames[[1L]])
  free <- any(vapply(gp_bases(first), function(basis) !is.null(basis$learned), TRUE))
  if (!free) {
    tell_kernels(gp_bases(first))
    return(lapply(frames, with_kernels_of, learned = first, likelihood = likelihood))
  }
  candidates <- c(list(first), lapply(frames[-1L], learn))
  y <- vapply(frames, `[[`, frames[[1L]]$y, "y")
  values <- vapply(candidates, function(frame) {
    parts <- unlist(lapply(gp_bases(frame), `[[`, "blocks"), recursive = FALSE)
    sum(column_evidences(frame$x, y, parts)["value", ])
  }, 0)
  best <- candidates[[max(1L, which.max(values))]] # all are NA without rows to compare them by
  tell_kernels(gp_bases(best))
  lapply(frames, with_kernels_of, learned = best, likelihood = likelihood)
}

with_kernels_of <- function(frame, learned, likelihood) {
  out <- learned
  out[c("y", "formula")] <- frame[c("y", "formula")]
  unit <- response_units(frame$response, frame, likelihood)$unit
  change_gp(out, function(basis) {
    basis$unit <- unit / function_spread_of(learned$x, basis, learned$intercept > 0L)
    basis
  })
}

# Root mean square over rows of a function of amplitude one, next to an intercept less its mean over
# the rows: of length scales far beyond the data next to nothing. Amplitudes have default priors by
# what functions vary, or a kernel that is nearly linear would have a second mode where all is
# noise.
function_spread_of <- function(x, basis, centred) {
  parts <- unlist(basis$blocks, use.names = FALSE)
  own <- x[, parts, drop = FALSE]
  if (centred) own <- sweep(own, 2L, colMeans(own))
  sqrt(mean(rowSums(own^2)) / length(basis$blocks))
}

# Logarithms of standard deviations, in the core's units: of each large block (a row) and response,
# and of the residuals. NULL without a large block.
response_starts <- function(specs, y, blocks) {
  large <- which(lengths(lapply(blocks, `[[`, "columns")) > large_block)
  if (length(large) == 0L) return(NULL)
  problem <- specs[[1L]]$problem
  columns <- seq_along(problem$center) - problem$intercept
  x <- problem$x
  if (problem$intercept) x <- cbind(1, x)
  x <- sweep(sweep(x, 2L, problem$center), 2L, problem$scale, "/")
  y[is.na(y)] <- 0
  parts <- lapply(blocks[large], function(block) { # the first kernel of a choice
    if (is.null(block$choices)) block$columns else block$choices[[1L]]
  })
  kept <- setdiff(seq_len(ncol(x)), unlist(lapply(blocks, function(block) block$choices[-1L])))
  found <- column_evidences(x[, kept, drop = FALSE], y, lapply(parts, match, kept))
  sds <- matrix(NA_real_, length(blocks), ncol(y))
  if (anyNA(found)) return(NULL)
  sds[large, ] <- found[2L + seq_along(large), , drop = FALSE]
  list(blocks = sds, residual = found["residual", ])
}

# A column for each one of y, NA where the other columns leave fewer than two rows: the log
# evidence ("value"), and the logarithms of the standard deviations of the residuals ("residual")
# and of each part. With R the response and F_b the features of a part, both in the complement of
# the other columns, R ~ N(0, s^2 I + sum t_b F_b F_b').
column_evidences <- function(x, y, parts) {
  rows <- some_of_many(nrow(x), most_compared)
  x <- x[rows, , drop = FALSE]
  others <- setdiff(seq_len(ncol(x)), unlist(parts))
  if (length(others) > nrow(x) / 2) { # of which no prior is known here: one more part
    varying <- others[apply(x[, others, drop = FALSE], 2L, function(own) max(own) > min(own))]
    parts <- c(parts, list(varying))
    others <- setdiff(others, varying)
  }
  turn <- qr(x[, others, drop = FALSE])
  beyond <- function(m) {
    if (length(others) == 0L) return(m)
    qr.qty(turn, m)[seq_len(nrow(m)) > turn$rank, , drop = FALSE]
  }
  r <- beyond(y[rows, , drop = FALSE])
  if (nrow(r) < 2L) {
    return(matrix(NA_real_, 2L + length(parts), ncol(y),
                  dimnames = list(c("value", "residual", rep("part", length(parts))), NULL)))
  }
  squares <- lapply(parts, function(at) tcrossprod(beyond(x[, at, drop = FALSE])))
  out <- vapply(seq_len(ncol(r)), function(j) best_evidence(r[, j], squares),
                numeric(2L + length(parts)))
  rownames(out) <- c("value", "residual", rep("part", length(parts)))
  out
}

# Over the logarithms of t_b/s^2, s^2 at its best.
best_evidence <- function(r, squares) {
  n <- length(r)
  size <- -log(vapply(squares, function(k) mean(diag(k)), 0) + 1e-300)
  found <- if (length(squares) == 1L) best_of_one(r, squares[[1L]], size)
           else best_of_several(r, squares, size)
  s2 <- max(found$inner / n, 1e-12)
  c(-0.5 * n * log(s2) - found$logdet, 0.5 * log(s2), 0.5 * (log(s2) + found$ratio))
}

# Eigenvalues make each value a sum. The evidence may have two modes, so that a grid comes first.
best_of_one <- function(r, square, size) {
  eigen <- eigen(square, symmetric = TRUE)
  turned <- drop(crossprod(eigen$vectors, r))^2
  look <- function(ratio) {
    variance <- 1 + pmax(eigen$values, 0) * exp(ratio)
    list(ratio = ratio, inner = sum(turned / variance), logdet = 0.5 * sum(log(variance)))
  }
  value <- function(ratio) {
    own <- look(ratio)
    -0.5 * length(r) * log(own$inner) - own$logdet
  }
  grid <- size + seq(-8, 24, by = 1)
  top <- grid[which.max(vapply(grid, value, 0))]
  look(stats::optimize(value, top + c(-1, 1), maximum = TRUE)$maximum)
}

best_of_several <- function(r, squares, size) {
  look <- function(ratio) {
    covariance <- Reduce(`+`, Map(`*`, squares, exp(ratio)), diag(length(r)))
    root <- tryCatch(chol(covariance), error = function(e) NULL)
    if (is.null(root)) return(list(ratio = ratio, inner = Inf, logdet = 0))
    list(ratio = ratio, inner = sum(backsolve(root, r, transpose = TRUE)^2),
         logdet = sum(log(diag(root))))
  }
  value <- function(ratio) {
    own <- look(ratio)
    if (is.finite(own$inner)) -0.5 * length(r) * log(own$inner) - own$logdet else -1e10
  }
  starts <- list(size, size + 5, size + 10)
  top <- starts[[which.max(vapply(starts, value, 0))]]
  look(stats::optim(top, value, control = list(fnscale = -1, maxit = 200L))$par)
}
