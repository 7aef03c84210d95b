# Group effects. `groups` is the fit's: a list by grouping factor with `levels` (m) and `labels`
# (q). Effects are held q x m by factor, or in one vector: by factor, level, effect.

known <- function(codes) which(!is.na(codes) & codes > 0L)

# z'u of each row, all factors together. `means`: list by factor of q x m matrices.
groups_link <- function(means, rows) {
  link <- 0
  for (name in names(rows)) {
    link <- link + group_link(means[[name]], rows[[name]]$codes, rows[[name]]$z)
  }
  link
}

# z'u of each row of one factor; what has no known level adds nothing.
group_link <- function(group_mean, codes, z = NULL) {
  codes[is.na(codes) | codes == 0L] <- NA
  link <- if (is.null(z)) group_mean[1L, codes]
          else rowSums(z * t(group_mean[, codes, drop = FALSE]))
  link[is.na(codes)] <- 0
  link
}

# How many effects each factor has: levels times multipliers.
effect_counts <- function(groups) {
  vapply(groups, function(group) length(group$levels) * length(group$labels), 0)
}

# Where each factor's effects start, less one.
effect_starts <- function(groups) {
  counts <- effect_counts(groups)
  cumsum(counts) - counts
}

# One vector -> list by factor of q x m matrices.
by_factor <- function(values, groups) {
  starts <- effect_starts(groups)
  Map(function(group, start) {
    q <- length(group$labels)
    matrix(values[start + seq_len(q * length(group$levels))], q)
  }, groups, starts)
}

# k x q multipliers.
multipliers_of <- function(rows, q) {
  if (is.null(rows$z)) matrix(1, length(rows$codes), q) else rows$z
}

# For each row the variance of what a level the fit has not seen adds, 0 for others.
new_level_variance <- function(fit, rows) {
  covariances <- effect_covariances(fit)
  variance <- 0
  for (name in names(rows)) {
    new <- rows[[name]]$codes %in% 0L
    z <- multipliers_of(rows[[name]], nrow(covariances[[name]]))
    variance <- variance + new * quadratic(z, covariances[[name]])
  }
  variance
}

# z'Sigma z of each row. An infinite variance counts only where its multiplier does.
quadratic <- function(z, sigma) {
  value <- numeric(nrow(z))
  for (j in seq_len(ncol(z))) for (k in seq_len(ncol(z))) {
    product <- z[, j] * z[, k]
    value <- value + ifelse(product == 0, 0, product * sigma[j, k])
  }
  value
}
