# What an approximate fit says of all its unknowns at once, as a law that can be drawn from and
# whose density is known. Points are columns: coefficients and effects in the order of the core
# (engine/log_posterior.hpp), then the free parameters theta of the variances, prior by prior.
#
# A law is list(draw, log_density): draw(n) gives n points, log_density(points) n numbers. Of the
# coefficients given theta it is a mixture of Gaussians ("parts"), of theta list(draw, log_density,
# shares, shift): shares(theta) are the parts' weights there (parts x n), shift(theta, k) is how far
# theta moves part k (d x n).

fit_law <- function(fit, target) {
  parts <- law_parts(fit$posterior, fit$groups, target$integrated)
  theta <- if (inherits(fit$posterior, "bsvm_mixture")) mixture_theta(fit$posterior, parts)
           else variational_theta(fit)
  list(
    draw = function(n) draw_law(parts, theta, n),
    log_density = function(points) law_log_density(parts, theta, points)
  )
}

law_parts <- function(posterior, groups, integrated) {
  components <- if (inherits(posterior, "bsvm_mixture")) posterior$components else list(posterior)
  components[[1L]]$slope <- posterior$slope
  components[[1L]]$theta_covariance <- posterior$theta_covariance
  lapply(components, component_law, groups = groups, integrated = integrated)
}

draw_law <- function(parts, theta, n) {
  free <- theta$draw(n)
  chosen <- pick_rows(theta$shares(free))
  x <- matrix(0, length(parts[[1L]]$mean), n)
  for (k in unique(chosen)) {
    at <- which(chosen == k)
    x[, at] <- parts[[k]]$draw(length(at)) + theta$shift(free[, at, drop = FALSE], k)
  }
  rbind(x, free)
}

law_log_density <- function(parts, theta, points) {
  d <- length(parts[[1L]]$mean)
  x <- points[seq_len(d), , drop = FALSE]
  free <- points[d + seq_len(nrow(points) - d), , drop = FALSE]
  shares <- theta$shares(free)
  logs <- matrix(-Inf, length(parts), ncol(points))
  for (k in seq_along(parts)) {
    at <- which(shares[k, ] > 0)
    moved <- x[, at, drop = FALSE] - theta$shift(free[, at, drop = FALSE], k)
    logs[k, at] <- log(shares[k, at]) + parts[[k]]$log_density(moved)
  }
  theta$log_density(free) + log_column_sums(logs)
}

# log of sums of exponentials, down the columns.
log_column_sums <- function(logs) {
  top <- over_columns(t(logs), pmax)
  top[top == -Inf] <- 0
  top + log(colSums(exp(logs - rep(top, each = nrow(logs)))))
}

# For each column of `shares` a row drawn with these probabilities.
pick_rows <- function(shares) {
  if (nrow(shares) == 1L) return(rep(1L, ncol(shares)))
  below <- apply(shares, 2L, cumsum)
  1L + colSums(below < rep(stats::runif(ncol(shares)) * below[nrow(below), ], each = nrow(below)))
}

normals <- function(d, n) matrix(stats::rnorm(d * n), d, n)

# ---- Gaussians of the coefficients --------------------------------------------------------------

# The law of a fit's component: of its coefficients and those effects that are not integrated out,
# `integrated` the number of the factor whose are, 0 for none.
component_law <- function(component, groups, integrated) {
  if (inherits(component, "bsvm_integrated")) {
    return(dense_law(component$joint_mean, given_theta(component, component$joint_covariance)))
  }
  if (inherits(component, "bsvm_sparse_moments")) {
    return(sparse_law(component, groups, integrated))
  }
  if (length(groups) == 0L || integrated > 0L) {
    return(dense_law(component$mean, given_theta(component, component$covariance)))
  }
  grouped_law(component)
}

# engine_map()'s covariance is that over theta too.
given_theta <- function(component, covariance) {
  slope <- component$slope
  if (is.null(slope) || length(slope) == 0L) return(covariance)
  covariance - slope %*% component$theta_covariance %*% t(slope)
}

dense_law <- function(mean, covariance) {
  root <- upper_root(covariance)
  list(
    mean = mean,
    draw = function(n) mean + crossprod(root, normals(length(mean), n)),
    log_density = function(x) {
      if (length(mean) == 0L) return(numeric(ncol(x)))
      score <- backsolve(root, x - mean, transpose = TRUE)
      normal_log_density(score, -sum(log(diag(root))))
    }
  )
}

upper_root <- function(covariance) {
  if (length(covariance) == 0L) return(covariance)
  tryCatch(chol(covariance), error = function(e) {
    abort("numerical", "The covariance of the fit is not positive definite to working accuracy, ",
          "so it can't be drawn from. Rescale predictors, or use narrower priors.")
  })
}

# Of standard scores (d x n), with the log determinant of what makes them so.
normal_log_density <- function(score, log_root) {
  log_root - nrow(score) * log(2 * pi) / 2 - colSums(score^2) / 2
}

# One factor's effects among the unknowns: u_g = mean_g - B_g (b - mean) + A_g^{-1/2} e.
grouped_law <- function(component) {
  dense <- dense_law(component$mean, component$covariance)
  size <- dim(component$group_mean)
  b <- seq_along(component$mean)
  roots <- precision_roots(component$group_precision)
  centre <- function(x) {
    regression <- aperm(component$group_regression, c(1L, 3L, 2L))
    dim(regression) <- c(prod(size), length(b))
    as.vector(component$group_mean) - regression %*% (x - component$mean)
  }
  list(
    mean = c(component$mean, component$group_mean),
    draw = function(n) {
      x <- dense$draw(n)
      rbind(x, centre(x) + solve_levels(roots, normals(prod(size), n)))
    },
    log_density = function(x) {
      own <- x[b, , drop = FALSE]
      score <- multiply_levels(roots, x[-b, , drop = FALSE] - centre(own))
      dense$log_density(own) + normal_log_density(score, level_log_roots(roots))
    }
  )
}

# Lower Cholesky factors of q x q x m.
precision_roots <- function(precision) {
  roots <- apply(precision, 3L, function(a) t(chol(matrix(a, dim(precision)[1L]))))
  array(roots, dim(precision))
}

level_log_roots <- function(roots) {
  sum(vapply(seq_len(dim(roots)[1L]), function(k) sum(log(roots[k, k, ])), 0))
}

# Level by level L'u, and L'^{-1} e, for (q m) x n.
multiply_levels <- function(roots, u) level_by_level(roots, u, function(l, x) crossprod(l, x))
solve_levels <- function(roots, e) {
  level_by_level(roots, e, function(l, x) backsolve(l, x, upper.tri = FALSE, transpose = TRUE))
}

level_by_level <- function(roots, x, f) {
  q <- dim(roots)[1L]
  for (g in seq_len(dim(roots)[3L])) {
    at <- (g - 1L) * q + seq_len(q)
    x[at, ] <- f(matrix(roots[, , g], q), x[at, , drop = FALSE])
  }
  x
}

# ---- several factors: A = L L' in the core's order of positions ---------------------------------

sparse_law <- function(component, groups, integrated) {
  kept <- kept_unknowns(component, groups, integrated)
  mean <- c(component$mean, component$effects)[kept]
  if (integrated > 0L) return(dense_law(mean, sparse_part(component, kept)))
  factor <- component$factor
  at <- sparse_positions(component)
  log_root <- sum(log(factor$x[factor$p[seq_len(factor$n_leading)] + 1L])) -
    sum(log(diag(factor$root)))
  list(
    mean = mean,
    draw = function(n) {
      mean + sparse_backward(factor, normals(length(mean), n))[at, , drop = FALSE]
    },
    log_density = function(x) {
      moved <- x - mean
      moved[at, ] <- moved
      normal_log_density(sparse_transposed(factor, moved), log_root)
    }
  )
}

# Numbers of the coefficients and effects that are not integrated out.
kept_unknowns <- function(component, groups, integrated) {
  all <- seq_len(length(component$mean) + length(component$effects))
  if (integrated == 0L) return(all)
  own <- effect_starts(groups)[[integrated]] + seq_len(effect_counts(groups)[[integrated]])
  setdiff(all, length(component$mean) + own)
}

# The position in the factor of each coefficient and effect.
sparse_positions <- function(component) {
  order <- component$factor$order
  c(length(order) + seq_along(component$mean), match(seq_along(order) - 1L, order))
}

# Covariance of some of them.
sparse_part <- function(component, kept) {
  unit <- matrix(0, length(component$mean) + length(component$effects), length(kept))
  unit[cbind(sparse_positions(component)[kept], seq_along(kept))] <- 1
  crossprod(sparse_forward(component$factor, unit))
}

# Leading columns one by one, f(k, own, below) with the places of their numbers.
leading_columns <- function(factor, columns, f) {
  for (k in columns) {
    at <- seq.int(factor$p[k] + 1L, factor$p[k + 1L])
    f(k, factor$x[at[1L]], factor$x[at[-1L]], factor$i[at[-1L]] + 1L)
  }
}

root_rows <- function(factor) factor$n_leading + seq_len(nrow(factor$root))

# L^{-1} x.
sparse_forward <- function(factor, x) {
  leading_columns(factor, seq_len(factor$n_leading), function(k, own, values, rows) {
    x[k, ] <<- x[k, ] / own
    x[rows, ] <<- x[rows, ] - values %o% x[k, ]
  })
  root <- root_rows(factor)
  x[root, ] <- factor$root %*% x[root, , drop = FALSE]
  x
}

# L'^{-1} x.
sparse_backward <- function(factor, x) {
  root <- root_rows(factor)
  x[root, ] <- crossprod(factor$root, x[root, , drop = FALSE])
  leading_columns(factor, rev(seq_len(factor$n_leading)), function(k, own, values, rows) {
    x[k, ] <<- (x[k, ] - values %*% x[rows, , drop = FALSE]) / own
  })
  x
}

# L'x.
sparse_transposed <- function(factor, x) {
  leading_columns(factor, seq_len(factor$n_leading), function(k, own, values, rows) {
    x[k, ] <<- own * x[k, ] + values %*% x[rows, , drop = FALSE]
  })
  root <- root_rows(factor)
  x[root, ] <- backsolve(factor$root, x[root, , drop = FALSE], upper.tri = FALSE, transpose = TRUE)
  x
}
