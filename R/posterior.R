# The two verbs every method uses. They own the way back from the standardised, and possibly
# rotated, columns of the core to the user's scale.
#
#   user's coefficient b_j = t_j / scale_j, intercept b_0 = t_0 - sum(center_j b_j)
#   a rotated block: t = basis %*% s, Var t = basis S_s basis' + (I - basis basis') / E[1/s2]
#
# In the core, columns that are not rotated come first, then the features of each rotated block.

# Mean and standard deviation of linear functions, one a row of `x` (k x p, user's scale).
# `codes`: integer(k) into the levels of the grouping factor; NA or NULL for the population, 0 for
# a level the fit has not seen, which has mean 0 and the variances `new_variance` (q). `z`: k x q
# multipliers, NULL for ones. `sd = FALSE` leaves sd NULL.
posterior_linear <- function(fit, x, codes = NULL, z = NULL, sd = TRUE,
                             new_variance = group_variances(fit)) {
  mean <- drop(x %*% user_mean(fit$design, fit$posterior$mean))
  if (!is.null(codes)) mean <- mean + group_link(fit$posterior$group_mean, codes, z)
  list(mean = unname(mean), sd = if (sd) linear_sd(fit, x, codes, z, new_variance))
}

# list(mean, sd, covariance): named, user's scale; covariance is a function, since p x p may be
# large.
posterior_coefficients <- function(fit) {
  names <- fit$design$columns
  name <- function(x) stats::setNames(x, names)
  list(
    mean = name(user_mean(fit$design, fit$posterior$mean)),
    sd = name(user_sd(fit$design, fit$posterior$covariance)),
    covariance = function() {
      covariance <- user_covariance(fit$design, fit$posterior$covariance)
      dimnames(covariance) <- list(names, names)
      covariance
    }
  )
}

user_mean <- function(design, mean) {
  p <- length(design$columns)
  columns <- numeric(p)
  layout <- core_layout(design)
  columns[layout$kept] <- mean[seq_along(layout$kept)]
  for (rotation in layout$rotation) {
    columns[rotation$columns] <- rotation$basis %*% mean[rotation$at]
  }
  columns <- columns / design$scale
  i <- design$intercept
  if (i > 0L) columns[i] <- columns[i] - sum(columns * design$center)
  columns
}

# kept: the user's columns that are not rotated; rotation: with `at`, the places in the core.
core_layout <- function(design) {
  rotation <- design$rotation
  kept <- kept_columns(length(design$columns), lapply(rotation, `[[`, "columns"))
  end <- length(kept)
  for (k in seq_along(rotation)) {
    rotation[[k]]$at <- end + seq_len(ncol(rotation[[k]]$basis))
    end <- end + ncol(rotation[[k]]$basis)
  }
  list(kept = kept, rotation = rotation)
}

user_sd <- function(design, covariance) {
  layout <- core_layout(design)
  variance <- numeric(length(design$columns))
  variance[layout$kept] <- diag(covariance)[seq_along(layout$kept)]
  for (r in layout$rotation) {
    own <- rowSums((r$basis %*% covariance[r$at, r$at, drop = FALSE]) * r$basis)
    variance[r$columns] <- own + (1 - rowSums(r$basis^2)) / r$inverse_mean
  }
  variance <- variance / design$scale^2
  i <- design$intercept
  if (i > 0L && any(design$center != 0)) {
    at_zero <- matrix(-design$center / design$scale, 1L)
    at_zero[i] <- 1
    variance[i] <- row_variance(core_rows(layout, at_zero), covariance)
  }
  sqrt(pmax(variance, 0))
}

user_covariance <- function(design, covariance) {
  covariance <- unrotated_covariance(design, covariance)
  covariance <- covariance / design$scale / rep(design$scale, each = nrow(covariance))
  i <- design$intercept
  if (i > 0L && any(design$center != 0)) {
    covariance[i, ] <- covariance[i, ] - design$center %*% covariance
    covariance[, i] <- covariance[, i] - covariance %*% design$center
  }
  covariance
}

unrotated_covariance <- function(design, covariance) {
  layout <- core_layout(design)
  if (length(layout$rotation) == 0L) return(covariance)
  p <- length(design$columns)
  spread <- matrix(0, p, nrow(covariance))
  spread[cbind(layout$kept, seq_along(layout$kept))] <- 1
  for (r in layout$rotation) spread[r$columns, r$at] <- r$basis
  whole <- spread %*% covariance %*% t(spread)
  for (r in layout$rotation) {
    own <- (diag(length(r$columns)) - tcrossprod(r$basis)) / r$inverse_mean
    whole[r$columns, r$columns] <- whole[r$columns, r$columns] + own
  }
  (whole + t(whole)) / 2
}

# Standard deviations, in chunks of rows, so that no standardised copy of a large x is made.
linear_sd <- function(fit, x, codes, z, new_variance) {
  layout <- core_layout(fit$design)
  groups <- if (!is.null(codes)) group_inverse(fit$posterior$group_precision)
  variance <- numeric(nrow(x))
  size <- max(1L, 2^20 %/% max(1L, ncol(x)))
  for (start in seq(1L, by = size, length.out = ceiling(nrow(x) / size))) {
    rows <- start:min(start + size - 1L, nrow(x))
    core <- core_rows(layout, standardised(fit$design, x[rows, , drop = FALSE]))
    own <- 0
    if (!is.null(codes)) {
      multipliers <- multipliers_of(z, rows, nrow(fit$posterior$group_mean))
      core$rows <- core$rows - group_share(fit$posterior$group_regression, codes[rows],
                                           multipliers)
      own <- group_variance(groups, codes[rows], multipliers, new_variance)
    }
    variance[rows] <- row_variance(core, fit$posterior$covariance) + own
  }
  sqrt(pmax(variance, 0))
}

standardised <- function(design, x) {
  n <- nrow(x)
  (x - rep(design$center, each = n)) / rep(design$scale, each = n)
}

# Standardised rows (k x p) in the core's columns, and the variance from directions the data do
# not span: list(rows, rest).
core_rows <- function(layout, x) {
  if (length(layout$rotation) == 0L) return(list(rows = x, rest = 0))
  rows <- x[, layout$kept, drop = FALSE]
  rest <- 0
  for (r in layout$rotation) {
    block <- x[, r$columns, drop = FALSE]
    turned <- block %*% r$basis
    rest <- rest + pmax(rowSums(block^2) - rowSums(turned^2), 0) / r$inverse_mean
    rows <- cbind(rows, turned)
  }
  list(rows = rows, rest = rest)
}

row_variance <- function(core, covariance) {
  rowSums((core$rows %*% covariance) * core$rows) + core$rest
}
