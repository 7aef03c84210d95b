# bsvm_moments: a Gaussian, with at most one grouping factor. Of its effects u_g given the
# coefficients: mean group_mean (q x m), precision A_g (q x q x m), regression B_g (q x p x m).

#' @export
effect_means.bsvm_moments <- function(posterior, groups) {
  if (!is.null(posterior$group_file)) {
    means <- of_group_levels(posterior, function(own) own$group_mean)
    return(lapply(groups, function(group) means))
  }
  lapply(groups, function(group) posterior$group_mean)
}

# A_g^{-1} + B_g S B_g' (diagonals only).
#' @export
effect_sds.bsvm_moments <- function(posterior, groups) {
  if (length(groups) == 0L) return(list())
  if (!is.null(posterior$group_file)) {
    sds <- of_group_levels(posterior, function(own) effect_sds(own, groups)[[1L]])
    return(lapply(groups, function(group) sds))
  }
  own <- group_inverse(posterior$group_precision)
  variance <- posterior$group_mean
  for (k in seq_len(nrow(variance))) {
    variance[k, ] <- own[k, k, ] +
      quadratic_forms(posterior$group_regression, k, followed_covariance(posterior))
  }
  lapply(groups, function(group) sqrt(variance))
}

# The covariance that group effects follow: not the part from indicators of selection.
followed_covariance <- function(posterior) {
  covariance <- posterior$covariance
  if (!is.null(posterior$scatter)) diag(covariance) <- diag(covariance) - posterior$scatter
  covariance
}

# In chunks of rows, so that no standardised copy of a large x is made.
#' @export
linear_sd.bsvm_moments <- function(posterior, fit, rows) {
  layout <- fit_layout(fit)
  group <- rows$groups
  if (length(group) > 0L) inverse <- group_inverse(posterior$group_precision)
  covariance <- followed_covariance(posterior)
  variance <- numeric(nrow(rows$x))
  in_chunks(nrow(rows$x), 2^20 / max(1, ncol(rows$x)), function(at) {
    part <- rows_at(rows, at)
    core <- core_rows(layout, fit$design, part$x)
    own <- if (is.null(posterior$scatter)) 0 else drop(core$rows^2 %*% posterior$scatter)
    if (length(group) > 0L) {
      codes <- part$groups[[1L]]$codes
      z <- multipliers_of(part$groups[[1L]], nrow(posterior$group_mean))
      core$rows <- core$rows - group_share(posterior$group_regression, codes, z)
      own <- own + group_variance(inverse, codes, z)
    }
    variance[at] <<- row_variance(core, covariance) + own
  })
  sqrt(pmax(variance, 0) + new_level_variance(fit, group))
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

# z' A_g^{-1} z of each row of a known level.
group_variance <- function(inverse, codes, z) {
  variance <- numeric(length(codes))
  at <- known(codes)
  for (j in seq_len(ncol(z))) for (k in seq_len(ncol(z))) {
    variance[at] <- variance[at] + z[at, j] * z[at, k] * inverse[j, k, codes[at]]
  }
  variance
}

# Inverses of m small positive definite matrices (q x q x m), by sweeping all at once.
group_inverse <- function(precision) {
  for (k in seq_len(dim(precision)[1L])) precision <- sweep_pivot(precision, k)
  -precision
}

sweep_pivot <- function(a, k) {
  others <- setdiff(seq_len(dim(a)[1]), k)
  pivot <- a[k, k, ]
  for (i in others) for (j in others) a[i, j, ] <- a[i, j, ] - a[i, k, ] * a[k, j, ] / pivot
  for (i in others) {
    a[i, k, ] <- a[i, k, ] / pivot
    a[k, i, ] <- a[k, i, ] / pivot
  }
  a[k, k, ] <- -1 / pivot
  a
}

# For multiplier k of every group: b' S b with b the k-th row of B_g; length m.
quadratic_forms <- function(regression, k, covariance) {
  rows <- matrix(regression[k, , ], dim(regression)[2L], dim(regression)[3L])
  colSums(rows * (covariance %*% rows))
}
