# Simulation under the tilted prior. The pseudo-likelihood L(y | f) = exp{-2 o (1 - y f)_+} does
# not sum to one over y, so a sampler of its posterior fails naive calibration. With
# Z(f) = L(1 | f) + L(-1 | f) <= 1 + exp(-4 o), its target is the posterior of the proper model
# y ~ L/Z under the prior p(b, variances) prod Z(f_i): draws of that prior by rejection, then y.
# The normalised likelihood, of rows of weight one, is L/Z: there the prior is as it is.

# ---- draws of prior and data --------------------------------------------------------------

# list(b = k x P, variances = per block k x entries), as twin_gibbs() gives them.
prior_draws <- function(model, k) {
  b <- matrix(0, k, ncol(model$design))
  variances <- lapply(model$blocks, function(block) block_variance_draws(block, k))
  for (j in seq_along(model$blocks)) {
    columns <- model$blocks[[j]]$columns
    v <- variances[[j]]
    if (is.matrix(columns)) {
      for (g in seq_len(nrow(columns))) b[, columns[g, ]] <- draw_joint_effects(v)
    } else if (model$blocks[[j]]$prior == "bridge") {
      b[, columns] <- draw_bridge(model$blocks[[j]], v)
    } else {
      b[, columns] <- rnorm(k * length(columns)) * sqrt(v[, 1])
    }
  }
  list(b = b, variances = variances)
}

block_variance_draws <- function(block, k) {
  a <- block$parameters
  switch(block$prior,
    normal = matrix(a[["variance"]], k),
    ridge = matrix(draw_inv_gamma(k, a[["shape"]], a[["scale"]])),
    half_t = matrix((a[["scale"]] * rt(k, a[["df"]]))^2),
    bridge = draw_bridge_hyper(block, k),
    do.call(rbind, lapply(seq_len(k), function(i) {
      scales <- if (block$prior == "huang_wand") half_t_scales(block)
      prior <- joint_prior_of(block, rgamma(length(scales), 1 / 2) * scales^2)
      sigma <- draw_inv_wishart(prior$df, prior$scale)
      sigma[lower.tri(sigma, diag = TRUE)]
    }))
  )
}

# One draw of N(0, Sigma) for each row of lower triangles.
draw_joint_effects <- function(triangles) {
  q <- (sqrt(8 * ncol(triangles) + 1) - 1) / 2
  t(apply(triangles, 1, function(lower) {
    sigma <- matrix(0, q, q)
    sigma[lower.tri(sigma, diag = TRUE)] <- lower
    sigma <- sigma + t(sigma) - diag(diag(sigma), q)
    drop(rnorm(q) %*% chol(sigma))
  }))
}

model_links <- function(model, b) sweep(tcrossprod(b, model$design), 2, model$offset, `+`)

# log Z(f) - log(1 + exp(-4 o)), summed over the rows of the data.
log_tilt <- function(model, b) {
  if (isTRUE(model$normalised)) return(numeric(nrow(b)))
  f <- model_links(model, b)
  o <- rep(model$weight, each = nrow(f))
  worse <- pmax(1 + abs(f), 0)
  better <- pmax(1 - abs(f), 0)
  log_z <- -2 * o * better + log1p(exp(-2 * o * (worse - better)))
  rowSums(log_z - log1p(exp(-4 * o)))
}

# Given b: the classes, +1 with probability L(1)/Z.
draw_classes <- function(model, b) {
  f <- model_links(model, b)
  o <- rep(model$weight, each = nrow(f))
  p <- plogis(2 * o * (pmax(1 + f, 0) - pmax(1 - f, 0)))
  ifelse(runif(length(f)) < p, 1, -1)
}

# k draws of the tilted prior, with y (k x n).
tilted_draws <- function(model, k, batch = 2000) {
  kept <- list()
  n <- 0
  while (n < k) {
    draws <- prior_draws(model, batch)
    ok <- log(runif(batch)) < log_tilt(model, draws$b)
    kept <- c(kept, list(take_draws(draws, ok)))
    n <- n + sum(ok)
  }
  all <- list(b = do.call(rbind, lapply(kept, `[[`, "b")),
              variances = do.call(Map, c(rbind, lapply(kept, `[[`, "variances"))))
  all <- take_draws(all, seq_len(k))
  all$y <- draw_classes(model, all$b)
  all
}

take_draws <- function(draws, i) {
  list(b = draws$b[i, , drop = FALSE],
       variances = lapply(draws$variances, function(v) v[i, , drop = FALSE]))
}

# ---- what is compared ---------------------------------------------------------------------

# Coefficients, unknown variances, covariances, linear predictors of three rows, and the
# log-likelihood of y (one for all draws, or a row for each): draws x quantities.
draw_quantities <- function(model, draws, y) {
  unknown <- vapply(model$blocks, function(block) block$prior != "normal", TRUE)
  if (!is.matrix(y)) y <- matrix(y, nrow(draws$b), length(y), byrow = TRUE)
  links <- model_links(model, draws$b)
  loss <- -2 * pmax(1 - y * links, 0)
  if (isTRUE(model$normalised)) loss <- loss - log(exp(loss) + exp(-2 * pmax(1 + y * links, 0)))
  cbind(draws$b, do.call(cbind, draws$variances[unknown]), links[, c(1, 4, 7), drop = FALSE],
        loss %*% model$weight)
}

# Ranks of what was drawn from the tilted prior among the sampler's draws given y: k x quantities,
# uniform on 0..draws. `sampler(case, draws)` returns what twin_gibbs() does.
calibration_ranks <- function(case, k, draws, sampler) {
  model <- case_twin(case)
  truth <- tilted_draws(model, k)
  t(vapply(seq_len(k), function(i) {
    case$y <- truth$y[i, ]
    own <- draw_quantities(model, take_draws(truth, i), case$y)
    sampled <- draw_quantities(model, sampler(case, draws), case$y)
    own <- rep(own, each = nrow(sampled))
    below <- colSums(sampled < own)
    below + floor(runif(ncol(sampled)) * (colSums(sampled == own) + 1))
  }, numeric(length(draw_quantities(model, take_draws(truth, 1), truth$y[1, ])))))
}

# p-value of uniformity for each quantity.
uniformity <- function(ranks, draws, bins = 8) {
  apply(ranks, 2, function(r) {
    stats::chisq.test(tabulate((r * bins) %/% (draws + 1) + 1, bins))$p.value
  })
}

# ---- Geweke's test ------------------------------------------------------------------------

# k independent draws of parameters and classes, then in turns parameters given classes by the
# sampler and classes given parameters: the law has to stay. Quantities after the turns.
# (One long chain of turns would hardly move: few rows and their coefficients hold each other.)
turned_draws <- function(case, k, turns, sampler) {
  model <- case_twin(case)
  classes <- tilted_draws(model, k)$y
  do.call(rbind, lapply(seq_len(k), function(i) {
    case$y <- classes[i, ]
    for (turn in seq_len(turns)) {
      draw <- sampler(case, 1)
      case$y <- draw_classes(model, draw$b)[1, ]
    }
    draw_quantities(model, draw, case$y)
  }))
}

# z-statistics of two independent samples, in location and spread of their common ranks: tails
# may be heavy, values may be tied.
rank_z <- function(a, b) {
  own <- rep(c(TRUE, FALSE), c(nrow(a), nrow(b)))
  vapply(seq_len(ncol(a)), function(j) {
    score <- (rank(c(a[, j], b[, j])) - 1 / 2) / length(own)
    z <- function(v) {
      (mean(v[own]) - mean(v[!own])) / sqrt(var(v[own]) / nrow(a) + var(v[!own]) / nrow(b))
    }
    max(abs(z(score)), abs(z((score - 1 / 2)^2)))
  }, 0)
}

# ---- small models with proper priors ------------------------------------------------------

# Eight rows in three groups, crossed with two items; weights and offsets where it costs little.
tilted_cases <- function() {
  d <- with_seed(5, list(x = cbind(1, rnorm(8)), z = cbind(1, rnorm(8)), offset = rnorm(8) / 2))
  group <- rep(1:3, c(3, 3, 2))
  y <- rep(c(-1, 1), 4)
  case <- function(blocks, ...) core_case(d$x, y, blocks, ...)
  fixed <- list(block_normal(1:2, 1))
  by_group <- list(codes = group, z = NULL, levels = 3)
  by_item <- list(codes = rep(1:2, 4), z = NULL, levels = 2)
  slopes <- list(codes = group, z = d$z, levels = 3)
  scale <- matrix(c(1.3, 0.3, 0.3, 1.3), 2)
  list(
    fixed = case(fixed, weight = rep(c(0.5, 1, 2, 1), 2), offset = d$offset),
    ridge = case(list(block_normal(1, 1), block_ridge(2, 3, 2))),
    half_t = case(list(block_normal(1, 1), block_half_t(2, 4, 1)), offset = d$offset),
    intercepts = case(fixed, group = group, group_blocks = list(block_ridge(1, 3, 2)),
                      weight = rep(c(0.5, 1, 1.5, 1), 2)),
    wishart = case(fixed, group = group, z = d$z,
                   group_blocks = list(block_inverse_wishart(1:2, 5, scale))),
    huang_wand = case(fixed, group = group, z = d$z, offset = d$offset,
                      group_blocks = list(block_huang_wand(1:2, 4, c(1, 0.5)))),
    nested = case(fixed, factors = list(by_group, list(codes = c(1, 1, 2, 3, 4, 4, 5, 5), z = NULL,
                                                       levels = 5)),
                  group_blocks = list(block_ridge(1, 3, 1), block_ridge(2, 3, 1))),
    crossed = case(fixed, factors = list(by_group, by_item), weight = rep(c(0.5, 1, 1.5, 1), 2),
                   group_blocks = list(block_ridge(1, 3, 1), block_half_t(2, 4, 0.5))),
    crossed_wishart = case(fixed, factors = list(by_item, slopes), offset = d$offset,
                           group_blocks = list(block_normal(1, 0.5),
                                               block_inverse_wishart(2:3, 5, scale)))
  )
}
