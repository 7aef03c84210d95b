# How sparse predictors are computed. Blocks that are sparse and small are made dense, as
# as.matrix() would. Of the others a sparse Cholesky factor has the precision if that stays sparse;
# else coefficients are found by conjugate gradients, and standard deviations are not available.

# A dense matrix has at most so many cells, and rows times the square of its rank are at most so
# many; the rank is that after a block wider than the rows is rotated.
most_made_dense <- function() getOption("bsvm.dense_cells", 5e6)
most_dense_work <- 1e8

# Multiplications of a factor with which engine_gaussian() takes 20 seconds: it needs a thousand.
most_factor_work <- 4e7

is_small_block <- function(block, n) {
  p <- length(block$columns)
  rank <- if (prior_traits(block$prior)[["exchangeable"]]) min(n, p) else p
  as.numeric(n) * p <= most_made_dense() && as.numeric(n) * as.numeric(rank)^2 <= most_dense_work
}

# The name of the engine for a model with predictors that are sparse in the core, where the user has
# named none; NULL where there are none, or another engine is needed.
sparse_engine <- function(frame, likelihood, assigned) {
  if (!any(sparse_blocks(frame, assigned$blocks))) return(NULL)
  near <- if (sparse_cost(frame, assigned) <= most_factor_work) "gaussian" else "map"
  if (!can_take(near, frame, likelihood, assigned)) return(NULL)
  if (near == "map") tell_point_estimate(frame)
  near
}

sparse_cost <- function(frame, assigned) {
  sparse <- sparse_blocks(frame, assigned$blocks)
  blocks <- assigned$blocks[sparse]
  design <- list(sparse = unlist(lapply(blocks, `[[`, "columns")),
                 scale = rep(1, length(frame$columns)))
  core_sparse_cost(sparse_predictors(frame, design, blocks), frame$nobs,
                   as.integer(dense_column_count(assigned$blocks[!sparse], frame$nobs)))
}

tell_point_estimate <- function(frame) {
  inform("point_estimate", "Fitted with engine_map(), since these ", length(frame$columns),
         " sparse predictors have too large a covariance matrix: coefficients, variances and ",
         "predictions are available, standard deviations and intervals are not. Fewer predictors ",
         "have them, or engine = \"gaussian\", which may take very long.")
}
