# Spike and slab on one or two columns by enumeration and quadrature: every model's integral is a
# sum over a grid of the coefficients that are in, those that are out being zero.

# numbers: pi, or a and b where pi has that beta law.
block_spike_slab <- function(columns, nu, pi = NULL, a = 0, b = 0, sigma = NULL) {
  odds <- if (is.null(pi)) log(a / b) else qlogis(pi)
  list(prior = "spike_slab", columns = as.integer(columns), unseen = 0L,
       parameters = c(log_odds = odds, shape_in = a, shape_out = b, nu = nu,
                      if (!is.null(sigma)) setNames(sigma, paste0("sigma_", seq_along(sigma)))))
}

# Of a case whose columns are those of one spike-and-slab block and one normal block.
spike_slab_parts <- function(case) {
  named <- vapply(case$blocks, `[[`, "", "prior")
  list(slab = case$blocks[[which(named == "spike_slab")]], rest = case$blocks[named == "normal"])
}

slab_sds <- function(slab) {
  sigma <- slab$parameters[grep("^sigma_", names(slab$parameters))]
  rep_len(slab$parameters[["nu"]] * (if (length(sigma) > 0L) sigma else 1), length(slab$columns))
}

# log P(g) with pi integrated out.
log_model_prior <- function(slab, g) {
  a <- slab$parameters[["shape_in"]]
  b <- slab$parameters[["shape_out"]]
  if (a > 0) return(lbeta(a + sum(g), b + sum(1 - g)) - lbeta(a, b))
  sum(dbinom(g, 1, plogis(slab$parameters[["log_odds"]]), log = TRUE))
}

# The integral of one model and its share of E b, E b^2, E g.
model_integral <- function(case, g, nodes) {
  parts <- spike_slab_parts(case)
  sd <- numeric(ncol(case$x))
  sd[parts$slab$columns] <- g * slab_sds(parts$slab)
  for (block in parts$rest) sd[block$columns] <- sqrt(block$parameters[["variance"]])
  grid <- lapply(sd, function(s) if (s > 0) seq(-8 * s, 8 * s, length.out = nodes) else 0)
  b <- as.matrix(expand.grid(grid))
  step <- prod(vapply(grid[sd > 0], function(at) at[2] - at[1], 0))
  model <- case_twin(case)
  f <- sweep(tcrossprod(b, case$x), 2, model$offset, `+`)
  log_density <- hinge_loglik(model, f)
  for (j in which(sd > 0)) log_density <- log_density + dnorm(b[, j], 0, sd[j], log = TRUE)
  density <- exp(log_density + log_model_prior(parts$slab, g)) * step
  list(total = sum(density), b = colSums(b * density), square = colSums(b^2 * density))
}

# Exact means of what selection_table() has of each draw.
exact_selection <- function(case, nodes = 401) {
  slab <- spike_slab_parts(case)$slab
  models <- as.matrix(expand.grid(rep(list(0:1), length(slab$columns))))
  each <- apply(models, 1, function(g) model_integral(case, g, nodes), simplify = FALSE)
  total <- vapply(each, `[[`, 0, "total")
  share <- total / sum(total)
  a <- slab$parameters[["shape_in"]]
  b <- slab$parameters[["shape_out"]]
  c(Reduce(`+`, lapply(each, `[[`, "b")) / sum(total),
    Reduce(`+`, lapply(each, `[[`, "square")) / sum(total),
    colSums(models * share), sum(share * apply(models, 1, prod)),
    if (a > 0) sum(share * (a + rowSums(models)) / (a + b + ncol(models))))
}

selection_table <- function(case, draws) {
  slab <- spike_slab_parts(case)$slab
  g <- (draws$b[, slab$columns, drop = FALSE] != 0) * 1
  pi <- Filter(function(v) nrow(v) > 0L && ncol(v) > 0L, draws$variances)
  cbind(draws$b, draws$b^2, g, apply(g, 1, prod), do.call(cbind, pi))
}

# The largest difference from the exact means in standard errors.
selection_z <- function(case, draws, exact) {
  table <- selection_table(case, draws)
  max(abs(colMeans(table) - exact) / batch_error(table, 50))
}

# Laplace-zero on one column: the Laplace law with s2 ~ IG(shape, scale) integrated out.
laplace_density <- function(v, parameters) {
  eta <- seq(-9, 9, length.out = 400)
  log_weight <- log_inv_gamma(exp(eta), parameters[["shape"]], parameters[["scale"]]) + eta
  weight <- exp(log_weight - max(log_weight))
  s <- exp(eta / 2)
  colSums(weight / sum(weight) / (2 * s) * exp(-outer(1 / s, abs(v))))
}

# E b, E b^2, P(g = 1) of a case with one column.
exact_laplace_zero <- function(case, most = 30, nodes = 60001) {
  numbers <- case$blocks[[1]]$parameters
  v <- seq(-most, most, length.out = nodes) # odd: the kink at zero is a node
  model <- case_twin(case)
  log_likelihood <- hinge_loglik(model, sweep(outer(v, case$x[, 1]), 2, model$offset, `+`))
  top <- max(log_likelihood)
  density <- laplace_density(v, numbers) * exp(log_likelihood - top) * (v[2] - v[1])
  slab <- numbers[["rho"]] * sum(density)
  spike <- (1 - numbers[["rho"]]) * exp(log_likelihood[v == 0] - top)
  c(numbers[["rho"]] * c(sum(v * density), sum(v^2 * density)), slab) / (slab + spike)
}

# E of b, b^2, g and g_1 g_2 of a case with two columns: given s each coordinate has the measure
# rho Laplace(s) + (1 - rho) at zero.
exact_laplace_pair <- function(case, most = 12, nodes = 601) {
  numbers <- case$blocks[[1]]$parameters
  rho <- numbers[["rho"]]
  v <- seq(-most, most, length.out = nodes)
  model <- case_twin(case)
  f <- sweep(tcrossprod(as.matrix(expand.grid(v, v)), case$x), 2, model$offset, `+`)
  likelihood <- matrix(exp(hinge_loglik(model, f)), nodes)
  eta <- seq(-5, 6, length.out = 150)
  weight <- exp(log_inv_gamma(exp(eta), numbers[["shape"]], numbers[["scale"]]) + eta)
  sums <- vapply(seq_along(eta), function(k) {
    s <- exp(eta[k] / 2)
    slab <- rho * exp(-abs(v) / s) / (2 * s) * (v[2] - v[1])
    both <- slab + (1 - rho) * (v == 0)
    mean_of <- function(first, second) weight[k] * sum(first * (likelihood %*% second))
    c(mean_of(both, both), mean_of(v * slab, both), mean_of(both, v * slab),
      mean_of(v^2 * slab, both), mean_of(both, v^2 * slab), mean_of(slab, both),
      mean_of(both, slab), mean_of(slab, slab))
  }, numeric(8))
  rowSums(sums)[-1L] / rowSums(sums)[1L]
}
