# Group effects as posterior_linear() and the fitted link need them. `codes` as there; what has
# no known level adds nothing.

known <- function(codes) which(!is.na(codes) & codes > 0L)

# z' u of each row; a missing code is population level.
group_link <- function(group_mean, codes, z = NULL) {
  codes[is.na(codes) | codes == 0L] <- NA
  link <- if (is.null(z)) group_mean[1L, codes]
          else rowSums(z * t(group_mean[, codes, drop = FALSE]))
  link[is.na(codes)] <- 0
  link
}

# k x q multipliers of some rows.
multipliers_of <- function(z, rows, q) {
  if (is.null(z)) matrix(1, length(rows), q) else z[rows, , drop = FALSE]
}

# B_g' z of each row, k x p: what the population-level coefficients' row loses to its group.
group_share <- function(regression, codes, z) {
  share <- matrix(0, length(codes), dim(regression)[2L])
  at <- known(codes)
  for (k in seq_len(ncol(z))) {
    own <- matrix(regression[k, , codes[at]], dim(regression)[2L], length(at))
    share[at, ] <- share[at, ] + z[at, k] * t(own)
  }
  share
}

# z' A_gg^{-1} z of each row; z' diag(new_variance) z for a level that was not seen.
group_variance <- function(inverse, codes, z, new_variance) {
  variance <- numeric(length(codes))
  at <- known(codes)
  for (j in seq_len(ncol(z))) for (k in seq_len(ncol(z))) {
    variance[at] <- variance[at] + z[at, j] * z[at, k] * inverse[j, k, codes[at]]
  }
  new <- which(codes == 0L)
  variance[new] <- drop(z[new, , drop = FALSE]^2 %*% new_variance)
  variance
}

# Inverses of m small positive definite matrices (q x q x m), by sweeping all at once.
group_inverse <- function(precision) {
  for (k in seq_len(dim(precision)[1L])) precision <- sweep_pivot(precision, k)
  -precision
}

# Posterior mean of each multiplier's variance: that of a new level's effect.
group_variances <- function(fit) {
  vapply(fit$group_blocks, function(block) block$hyper[["mean"]], 0)
}
