# Mixtures made by hand, from fits of one formula at several values of a variance.

# list(fit, fits, weights): `fits` by engine_vb() at group (or slope) variances exp(2 theta), and
# `fit`, whose posterior is their mixture. `name` is the entry of `prior`, "" for the slopes'.
hand_mixture <- function(formula, data, name = "g", theta = c(-0.6, 0, 0.5),
                         weights = c(0.2, 0.5, 0.3), others = list()) {
  fits <- lapply(theta, function(t) {
    prior <- stats::setNames(list(prior_ridge(variance = exp(2 * t))), name)
    paper_bsvm(formula, data, prior = c(prior, others), engine = "vb")
  })
  blocks <- bsvm:::all_blocks(fits[[1L]])
  as_mixture(fits, theta, weights, which(vapply(blocks, function(block) {
    identical(block$prior$label, prior_ridge(variance = exp(2 * theta[1L]))$label)
  }, TRUE)))
}

# Fits that differ in the variance of `own`, numbers of blocks, as one.
as_mixture <- function(fits, theta, weights, own) {
  fit <- fits[[1L]]
  blocks <- bsvm:::all_blocks(fit)
  free <- lapply(seq_along(blocks), function(j) if (j %in% own) 1L else integer())
  components <- lapply(fits, `[[`, "posterior")
  posterior <- c(list(components = components, weights = weights),
                 bsvm:::total_moments(components, weights),
                 list(theta = matrix(theta, 1L), log_density = log(weights), free = free,
                      theta_covariance = NULL, integrated = 0L, point = FALSE))
  fit$posterior <- structure(posterior, class = "bsvm_mixture")
  fit$engine <- engine_gaussian()
  hyper <- Map(function(block, j) bsvm:::mixture_hyper(fit$posterior, block, j), blocks,
               seq_along(blocks))
  first <- length(fit$blocks)
  for (k in seq_along(fit$blocks)) fit$blocks[[k]]$hyper <- hyper[[k]]
  for (k in seq_along(fit$group_blocks)) fit$group_blocks[[k]]$hyper <- hyper[[first + k]]
  list(fit = fit, fits = fits, weights = weights, theta = theta)
}

# Mean and sd of a mixture whose components have means and sds (n x K), the slow way.
hand_moments <- function(mean, sd, weights) {
  first <- drop(mean %*% weights)
  second <- drop((mean^2 + sd^2) %*% weights)
  list(mean = first, sd = sqrt(second - first^2))
}

# Each limit has the mass below it that it should have.
expect_quantiles <- function(limits, mean, sd, weights, level, tolerance = 1e-9) {
  below <- function(x) drop(stats::pnorm((x - mean) / sd) %*% weights)
  expect_close(below(limits[, 1L]), rep((1 - level) / 2, nrow(limits)), tolerance)
  expect_close(below(limits[, 2L]), rep((1 + level) / 2, nrow(limits)), tolerance)
}

columns_of_fits <- function(made, f) do.call(cbind, lapply(made$fits, f))

# The same of a matrix of predictors.
hand_mixture_matrix <- function(x, y, theta = c(-0.6, 0, 0.5), weights = c(0.2, 0.5, 0.3)) {
  fits <- lapply(theta, function(t) {
    paper_bsvm(x, y, prior = prior_ridge(variance = exp(2 * t)), engine = "vb")
  })
  as_mixture(fits, theta, weights, 2L)
}
