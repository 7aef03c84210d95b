# The number of factors where none is given, from the variables alone: what probabilistic principal
# components (Tipping & Bishop 1999) with so many say of rows that they have not seen.

most_chosen_factors <- 30L
factor_folds <- 5L

# What a few factors say of the others exactly has no density; so little of a variable's variance is
# nothing, and so little of a log density rounding.
least_left_variance <- 1e-8
least_left_density <- 1e-6

# list(k, score): the mean log density of a held-out row for 1, 2, ... factors, and the least number
# that is within a standard error of the best. `x`: standardised; a missing value is taken for the
# mean. Folds are every fifth row.
choose_factors <- function(x) {
  x[is.na(x)] <- 0
  folds <- min(factor_folds, nrow(x))
  fold <- rep_len(seq_len(folds), nrow(x))
  train <- nrow(x) - max(tabulate(fold))
  most <- min(most_chosen_factors, train - 2L, ncol(x) - 1L)
  if (most < 2L) return(list(k = 1L, score = NA_real_))
  scores <- lapply(seq_len(folds), function(own) {
    held_out_density(x[fold != own, , drop = FALSE], x[fold == own, , drop = FALSE], most)
  })
  scores <- do.call(rbind, scores)
  score <- colMeans(scores)
  behind <- scores[, which.max(score)] - scores
  near <- colMeans(behind) <= apply(behind, 2L, stats::sd) / sqrt(nrow(x)) + least_left_density
  list(k = which(near)[1L], score = score)
}

# Log densities of the rows `new` (m x most) for 1, ..., `most` components: with eigenvalues l of the
# covariance of the rows x, and s2 the mean of those that are left out,
#
#   -2 log p = p log(2 pi) + sum_k (log l_k + z_k^2 / l_k) + (p - k) log s2 + (|x|^2 - |z|^2) / s2.
held_out_density <- function(x, new, most) {
  p <- ncol(x)
  mean <- colMeans(x)
  x <- x - rep(mean, each = nrow(x))
  new <- new - rep(mean, each = nrow(new))
  found <- if (p > nrow(x)) eigen(tcrossprod(x), symmetric = TRUE)
           else eigen(crossprod(x), symmetric = TRUE)
  values <- pmax(found$values[seq_len(most)] / nrow(x), least_left_variance)
  vectors <- found$vectors[, seq_len(most), drop = FALSE]
  axes <- if (p > nrow(x)) crossprod(x, vectors) / rep(sqrt(nrow(x) * values), each = p) else vectors
  z <- new %*% axes
  squares <- added_columns(z^2)
  fits <- added_columns(z^2 / rep(values, each = nrow(z)))
  k <- seq_len(most)
  left <- pmax((sum(x^2) / nrow(x) - cumsum(values)) / (p - k), least_left_variance)
  rest <- pmax(rowSums(new^2) - squares, 0)
  out <- -0.5 * (p * log(2 * pi) + rep(cumsum(log(values)) + (p - k) * log(left),
                                       each = nrow(new)) + fits + rest / rep(left, each = nrow(new)))
  out[!is.finite(out)] <- -Inf
  out
}

# Each column the sum of those up to it.
added_columns <- function(x) {
  for (j in seq_len(ncol(x))[-1L]) x[, j] <- x[, j] + x[, j - 1L]
  x
}
