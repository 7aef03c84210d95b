# The way back from the core's columns, standardised and possibly rotated, to the user's scale.
#
#   user's coefficient b_j = t_j / scale_j, intercept b_0 = t_0 - sum(center_j b_j) + shift
#   a rotated block: t = basis %*% s + (I - basis basis') e,  e_j ~ N(0, variance)
#
# The rows see s only; the second part is what the prior says of directions no row can see. In the
# core, dense columns that are not rotated come first, then the features of each rotated block.
# Coefficients of sparse columns (scaled, and centred only if they are full) are the last of the
# core's effects.

# `mean`: of the core's dense columns, then of the sparse ones.
user_mean <- function(design, mean) {
  layout <- core_layout(design)
  columns <- numeric(length(design$columns))
  columns[layout$kept] <- mean[seq_along(layout$kept)]
  for (rotation in layout$rotation) {
    columns[rotation$columns] <- rotation$basis %*% mean[rotation$at]
  }
  columns[design$sparse] <- mean[layout$size + seq_along(design$sparse)]
  columns <- columns / design$scale
  i <- design$intercept
  if (i > 0L) columns[i] <- columns[i] - sum(columns * design$center) + design$shift
  columns
}

# kept: the user's columns that are neither rotated nor sparse; rotation: with `at`, the places in
# the core; size: how many dense columns the core has.
core_layout <- function(design) {
  rotation <- design$rotation
  others <- c(lapply(rotation, `[[`, "columns"), list(design$sparse))
  kept <- kept_columns(length(design$columns), others)
  end <- length(kept)
  for (k in seq_along(rotation)) {
    rotation[[k]]$at <- end + seq_len(ncol(rotation[[k]]$basis))
    end <- end + ncol(rotation[[k]]$basis)
  }
  list(kept = kept, rotation = rotation, size = end)
}

# The layout with the `block` each rotation belongs to and the `variance` of what is unseen.
fit_layout <- function(fit) {
  layout <- core_layout(fit$design)
  layout$rotation <- lapply(layout$rotation, function(rotation) {
    owns <- vapply(fit$blocks, function(b) identical(b$columns, rotation$columns), TRUE)
    rotation$block <- which(owns)
    rotation$variance <- unseen_variance(fit$posterior, fit$blocks[[rotation$block]]$hyper)
    rotation
  })
  layout
}

# Mean and sd of the coefficients of scaled sparse columns: the last of the core's effects.
sparse_coefficients <- function(posterior, number) {
  mean <- if (is.null(posterior$effects_mean)) posterior$effects else posterior$effects_mean
  list(mean = utils::tail(mean, number), sd = utils::tail(posterior$effects_sd, number))
}

user_sd <- function(fit) {
  design <- fit$design
  if (is_point(fit)) return(rep(NA_real_, length(design$columns)))
  if (is.null(fit$posterior$covariance)) return(drawn_sd(fit))
  layout <- fit_layout(fit)
  covariance <- fit$posterior$covariance
  variance <- numeric(length(design$columns))
  variance[layout$kept] <- covariance_diagonal(covariance)[seq_along(layout$kept)]
  for (r in layout$rotation) {
    own <- quadratic_form(r$basis, covariance_block(covariance, r$at))
    variance[r$columns] <- own + (1 - rowSums(r$basis^2)) * r$variance
  }
  sparse <- design$sparse
  variance[sparse] <- sparse_coefficients(fit$posterior, length(sparse))$sd^2
  variance <- variance / design$scale^2
  i <- design$intercept
  if (i > 0L && any(design$center != 0)) {
    at_zero <- selector(design, i)
    variance[i] <- if (all(design$center[sparse] == 0)) {
      row_variance(core_rows(layout, design, at_zero), covariance)
    } else {
      linear_sd(fit$posterior, fit, list(x = at_zero))^2
    }
  }
  variance[is.na(variance)] <- NA # products of NA may be NaN
  sqrt(pmax(variance, 0))
}

# Rows that pick the coefficients `chosen`; sparse where the design is.
selector <- function(design, chosen) {
  p <- length(design$columns)
  at <- cbind(seq_along(chosen), chosen)
  if (!is.null(design$sparse)) {
    return(Matrix::sparseMatrix(i = at[, 1L], j = at[, 2L], x = 1, dims = c(nrow(at), p)))
  }
  rows <- matrix(0, nrow(at), p)
  rows[at] <- 1
  rows
}

user_covariance <- function(fit) {
  design <- fit$design
  if (!is_point(fit)) check_covariance_memory(length(design$columns))
  if (!is.null(design$sparse)) return(sparse_covariance(fit))
  if (is.null(fit$posterior$covariance)) return(stats::cov(t(coefficient_draws(fit))))
  covariance <- expand_covariance(fit$posterior$covariance)
  covariance <- unrotated_covariance(design, fit_layout(fit), covariance)
  covariance <- covariance / design$scale / rep(design$scale, each = nrow(covariance))
  i <- design$intercept
  if (i > 0L && any(design$center != 0)) {
    covariance[i, ] <- covariance[i, ] - design$center %*% covariance
    covariance[, i] <- covariance[, i] - covariance %*% design$center
  }
  covariance
}

unrotated_covariance <- function(design, layout, covariance) {
  if (length(layout$rotation) == 0L) return(covariance)
  p <- length(design$columns)
  spread <- matrix(0, p, nrow(covariance))
  spread[cbind(layout$kept, seq_along(layout$kept))] <- 1
  for (r in layout$rotation) spread[r$columns, r$at] <- r$basis
  whole <- spread %*% covariance %*% t(spread)
  for (r in layout$rotation) {
    own <- (diag(length(r$columns)) - tcrossprod(r$basis)) * r$variance
    whole[r$columns, r$columns] <- whole[r$columns, r$columns] + own
  }
  (whole + t(whole)) / 2
}

# Rows x such that x'b = (the result)'t, for some of the user's columns. Where a row has no
# intercept (a contrast, a smooth by itself), nothing is centred.
standardised <- function(design, x, columns) {
  part <- as.matrix(x[, columns, drop = FALSE])
  n <- nrow(part)
  if (design$intercept > 0L) {
    part <- part - x[, design$intercept] * rep(design$center[columns], each = n)
  }
  part / rep(design$scale[columns], each = n)
}

# The user's rows (k x p) in the core's dense columns, and the variance from directions the data do
# not span: list(rows, rest).
core_rows <- function(layout, design, x) {
  rows <- standardised(design, x, layout$kept)
  rest <- 0
  for (r in layout$rotation) {
    block <- standardised(design, x, r$columns)
    turned <- block %*% r$basis
    rest <- rest + pmax(rowSums(block^2) - rowSums(turned^2), 0) * r$variance
    rows <- cbind(rows, turned)
  }
  list(rows = rows, rest = rest)
}

# The user's rows in the core's sparse columns, NULL if there are none.
sparse_rows <- function(design, x) {
  if (is.null(design$sparse)) return(NULL)
  part <- x[, design$sparse, drop = FALSE]
  if (!is_sparse(part)) part <- as_sparse(methods::as(part, "sparseMatrix")) # new data may be dense
  if (design$intercept > 0L) {
    part <- centred_sparse(part, design$center[design$sparse], as.vector(x[, design$intercept]))
  }
  part@x <- part@x / rep(design$scale[design$sparse], diff(part@p))
  part
}

row_variance <- function(core, covariance) {
  quadratic_form(core$rows, covariance) + core$rest
}

# The centre of the response, as added to rows' linear predictors: it is in the intercept.
shift_of <- function(design, x) {
  if (design$shift == 0) 0 else design$shift * as.vector(x[, design$intercept])
}
