# The user's quantities at points in the core's parameters (columns, as in
# approximation-proposal.R):
# population-level coefficients on the user's scale, then standard deviations (sd_) and
# correlations (cor_) of the blocks whose variances are inferred, and parameters by their names. One
# a row.

point_quantities <- function(fit, points, integrated) {
  size <- core_layout(fit$design)$size
  free <- theta_rows(fit)
  theta <- points[nrow(points) - sum(lengths(free)) + seq_len(sum(lengths(free))), , drop = FALSE]
  beyond <- points[size + seq_len(nrow(points) - size - nrow(theta)), , drop = FALSE]
  as_draws <- fit
  as_draws$sampling <- list(seed = 0)
  as_draws$posterior <- structure(
    list(coefficients = as_one_chain(points[seq_len(size), , drop = FALSE]),
         effects = if (integrated == 0L) as_one_chain(beyond),
         variances = Map(point_variances, all_blocks(fit), free, list(theta))),
    class = "bsvm_draws"
  )
  unique_rows(named_coefficients(as_draws), spread_quantities(fit, function(block, k) {
    point_covariances(block, theta[free[[k]], , drop = FALSE])
  }))
}

unique_rows <- function(...) {
  all <- rbind(...)
  rownames(all) <- make.unique(as.character(rownames(all)))
  all
}

as_one_chain <- function(x) {
  array(x, c(dim(x), 1L), dimnames = if (!is.null(rownames(x))) list(rownames(x), NULL, NULL))
}

# The core counts dense blocks, groups, sparse blocks; all_blocks() has the groups last.
core_order <- function(fit) {
  sparse <- which(of_sparse_columns(fit))
  groups <- length(fit$blocks) + seq_along(fit$group_blocks)
  c(setdiff(seq_along(fit$blocks), sparse), groups, sparse)
}

# list by block (as all_blocks() has them) of its rows of theta.
theta_rows <- function(fit) {
  order <- core_order(fit)
  sizes <- vapply(all_blocks(fit)[order], free_size, 0)
  rows <- Map(function(end, size) end - size + seq_len(size), cumsum(sizes), sizes)
  rows[order(order)]
}

free_size <- function(block) {
  q <- length(block$columns)
  if (is_fixed(block)) 0 else if (is_joint(block)) q * (q + 1) / 2 else 1
}

# The draws of one variance, as bsvm_draws has them.
point_variances <- function(block, rows, theta) {
  if (length(rows) != 1L) return(array(0, c(0L, ncol(theta), 1L)))
  array(exp(2 * theta[rows, ]), c(1L, ncol(theta), 1L))
}

# q x q x n.
point_covariances <- function(block, theta) {
  if (!is_joint(block)) return(array(exp(2 * theta), c(1L, 1L, ncol(theta))))
  q <- length(block$columns)
  array(apply(theta, 2L, function(t) point_covariance(block, t)), c(q, q, ncol(theta)))
}

# In chunks, as each row picks from all of the design's columns.
named_coefficients <- function(fit) {
  p <- length(fit$design$columns)
  out <- matrix(0, p, draw_count(fit$posterior), dimnames = list(fit$design$columns, NULL))
  in_chunks(p, 2^22 / max(1, p, ncol(out)), function(at) {
    out[at, ] <<- coefficient_draws(fit, at)
  })
  out
}

# f(block, k): q x q x n covariances of block k.
spread_quantities <- function(fit, f) {
  blocks <- all_blocks(fit)
  inferred <- which(vapply(blocks, free_size, 0) > 0)
  do.call(rbind, lapply(inferred, function(k) spread_rows(blocks[[k]], f(blocks[[k]], k))))
}

spread_rows <- function(block, covariances) {
  q <- dim(covariances)[1L]
  n <- dim(covariances)[3L]
  sds <- matrix(vapply(seq_len(q), function(j) sqrt(covariances[j, j, ]), numeric(n)), q, n,
                byrow = TRUE, dimnames = list(quantity_names(block), NULL))
  if (is_parameter(block)) sds <- shown_number(block, sds)
  pairs <- below_diagonal(q)
  rows <- lapply(seq_len(nrow(pairs)), function(r) {
    i <- pairs[r, 1L]
    j <- pairs[r, 2L]
    matrix(covariances[i, j, ] / sds[i, ] / sds[j, ], 1L, dimnames = list(
      paste0("cor_", block$factor, ": ", block$labels[j], ", ", block$labels[i]), NULL))
  })
  do.call(rbind, c(list(sds), rows))
}

quantity_names <- function(block) {
  if (is_parameter(block)) block$label else paste0("sd_", spread_names(block))
}

# The same of a fit by draws.
drawn_quantities <- function(fit) {
  unique_rows(named_coefficients(fit), spread_quantities(fit, function(block, k) {
    q <- if (is_joint(block)) length(block$columns) else 1L
    if (q > 1L) block_covariance_draws(fit, k, q)
    else array(block_variances(fit, k), c(1L, 1L, draw_count(fit$posterior)))
  }))
}
