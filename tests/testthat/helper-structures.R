# Problems with correlated effects, crossed and nested factors, sparse predictors.

structure_cases <- function() {
  r <- random_case()
  s <- structure_factors(r)
  fixed <- list(block_normal(1:2, 10), block_ridge(3:4))
  scale <- matrix(c(2, 0.6, 0.6, 1), 2)
  wide <- cbind(s$z, r$x[, 3])
  case <- function(factors, group_blocks, ...) {
    core_case(r$x, r$y, fixed, factors = factors, group_blocks = group_blocks, ...)
  }
  slopes <- list(codes = r$group, z = r$z, levels = 9)
  list(
    wishart = core_case(r$x, r$y, fixed, weight = r$weight, offset = r$offset, group = r$group,
                        z = r$z, group_blocks = list(block_inverse_wishart(1:2, 3, scale))),
    huang_wand = core_case(r$x, r$y, fixed, group = r$group, z = r$z,
                           group_blocks = list(block_huang_wand(1:2, 2, c(1, 0.5)))),
    some_correlated = core_case(r$x, r$y, fixed, group = r$group, z = wide,
                                group_blocks = list(block_ridge(2),
                                                    block_inverse_wishart(c(1, 3), 4, scale))),
    crossed = case(s$crossed, list(block_ridge(1), block_half_t(2)), weight = r$weight,
                   offset = r$offset),
    nested = case(s$nested, list(block_ridge(1), block_ridge(2, 1, 1))),
    crossed_slopes = case(list(slopes, s$crossed[[2]]),
                          list(block_ridge(3, 1, 1), block_inverse_wishart(1:2, 3, scale)),
                          weight = r$weight, offset = r$offset),
    crossed_huang_wand = case(list(s$crossed[[2]], slopes),
                              list(block_huang_wand(2:3, 3, c(1, 2)), block_normal(1, 0.7))),
    three_factors = case(c(s$crossed, s$nested[2]),
                         list(block_ridge(1), block_ridge(2), block_half_t(3, 3, 0.5))),
    sparse_columns = case(list(s$columns, s$crossed[[1]]), list(block_ridge(1), block_ridge(2))),
    only_factors = core_case(r$x[, 0], r$y, list(), factors = s$crossed,
                             group_blocks = list(block_ridge(1), block_ridge(2)))
  )
}

# Factors over the rows of a random_case(): crossed, nested, and 7 sparse columns.
structure_factors <- function(r) {
  n <- length(r$y)
  with_seed(7, {
    item <- sample(c(1:5, sample(5, n - 5, TRUE)))
    nested <- as.integer(factor(paste(r$group, sample(2, n, TRUE))))
    sparse <- matrix(rnorm(7 * n) * (runif(7 * n) < 0.2), n)
  })
  intercepts <- function(codes) list(codes = codes, z = NULL, levels = max(codes))
  list(z = r$z, crossed = list(intercepts(r$group), intercepts(item)),
       nested = list(intercepts(r$group), intercepts(nested)), columns = list(matrix = sparse))
}

# The same with weak coefficients and light tails, so that the plain sampler gets about quickly.
properly <- function(block) {
  if (block$prior == "normal") block$parameters[["variance"]] <- 0.3
  if (block$prior == "ridge") block$parameters <- c(shape = 4, scale = 1)
  if (block$prior == "half_t") block$parameters[["df"]] <- 8
  if (block$prior %in% joint_priors) block$parameters[["df"]] <- 7
  block
}

sampled_cases <- function() {
  lapply(structure_cases(), function(case) {
    case$blocks <- lapply(case$blocks, properly)
    case$group_blocks <- lapply(case$group_blocks, properly)
    case
  })
}
