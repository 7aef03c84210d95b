# Spike and slab with numbers for a response and an inferred scale of the residuals, by sums over
# all models: given the scale (and perhaps the tube) each model is an integral over its
# coefficients, by a grid, or if residuals are normal in closed form. And variational Bayes with
# Laplace-zero priors and Laplace residuals, as slow plain updates. Nothing here shares code with
# the package.

# ---- what the core is given ---------------------------------------------------------------------

# A parameter of the likelihood: half-t(3, unit), or of the tube's half width in scales the odds of
# a beta.
block_parameter <- function(unit) {
  list(prior = "half_t", columns = integer(0), unseen = 0L, parameter = TRUE,
       parameters = c(df = 3, scale = unit))
}

block_share <- function(a, b) {
  list(prior = "beta", columns = integer(0), unseen = 0L, parameter = TRUE,
       parameters = c(shape1 = a, shape2 = b))
}

# `likelihood`: its name in the core; all of its numbers are inferred.
number_case <- function(x, y, likelihood, slab, ..., numbers = numeric(0), weight = NULL) {
  core_case(x, y, list(slab, ...), weight = weight,
            likelihood = list(name = likelihood, parameters = numbers))
}

# b, b^2, g, whether all are in, and the numbers, of each draw.
number_table <- function(draws) {
  numbers <- Filter(function(v) nrow(v) > 0L && ncol(v) > 0L, draws$variances)
  g <- (draws$b != 0) * 1
  cbind(draws$b, draws$b^2, g, apply(g, 1, prod), sqrt(do.call(cbind, numbers)))
}

# ---- the truth ----------------------------------------------------------------------------------

# log p(g).
slab_models <- function(slab) {
  models <- as.matrix(expand.grid(rep(list(0:1), length(slab$columns))))
  list(g = models, log_prior = apply(models, 1, function(g) log_model_prior(slab, g)))
}

# Means of what number_table() has from parts: one for each model and value of the numbers, with
# log = its log weight, b and square = E b, E b^2.
mix_models <- function(parts) {
  log <- vapply(parts, `[[`, 0, "log")
  share <- exp(log - max(log))
  share <- share / sum(share)
  rows <- t(vapply(parts, function(part) {
    c(part$b, part$square, part$g, prod(part$g), part$numbers)
  }, numeric(length(unlist(parts[[1L]][c("b", "square", "g", "numbers")])) + 1L)))
  colSums(rows * share)
}

# Residuals of density `log_p(r, numbers)`: `values` has a row for each value of the numbers, `log`
# its log prior in the coordinates in which they are equally spaced.
exact_number_selection <- function(case, log_p, values, log, nodes = 81) {
  slab <- case$blocks[[1L]]
  models <- slab_models(slab)
  sd <- slab_sds(slab)
  weight <- if (is.null(case$weight)) 1 else case$weight
  parts <- lapply(seq_len(nrow(models$g)), function(m) {
    g <- models$g[m, ]
    grid <- lapply(g * sd, function(s) if (s > 0) seq(-6 * s, 6 * s, length.out = nodes) else 0)
    b <- as.matrix(expand.grid(grid))
    log_prior <- models$log_prior[m] +
      sum(vapply(grid[g > 0], function(at) log(at[2L] - at[1L]), 0)) +
      Reduce(`+`, lapply(which(g > 0), function(j) stats::dnorm(b[, j], 0, sd[j], log = TRUE)), 0)
    r <- case$y - tcrossprod(case$x, b)
    lapply(seq_len(nrow(values)), function(k) {
      each <- colSums(weight * log_p(r, values[k, ])) + log_prior
      top <- max(each)
      density <- exp(each - top)
      total <- sum(density)
      list(log = top + log(total) + log[k], b = colSums(b * density) / total,
           square = colSums(b^2 * density) / total, g = g, numbers = values[k, ])
    })
  })
  mix_models(do.call(c, parts))
}

# Normal residuals of standard deviation sd ~ half-t(3, unit): y ~ N(0, sd^2 + X_g D X_g').
exact_normal_selection <- function(case, unit, log_sd = seq(-6, 5, length.out = 1200)) {
  slab <- case$blocks[[1L]]
  models <- slab_models(slab)
  slab_sd <- slab_sds(slab)
  n <- length(case$y)
  parts <- lapply(seq_len(nrow(models$g)), function(m) {
    g <- models$g[m, ]
    x <- case$x[, g > 0, drop = FALSE]
    lapply(exp(log_sd), function(sd) {
      noise <- sd^2 * diag(n)
      whole <- noise + x %*% (slab_sd[g > 0]^2 * t(x))
      root <- chol(whole)
      b <- square <- numeric(length(g))
      if (any(g > 0)) {
        variance <- solve(crossprod(x) / sd^2 + diag(slab_sd[g > 0]^-2, sum(g)))
        b[g > 0] <- variance %*% crossprod(x, case$y) / sd^2
        square[g > 0] <- b[g > 0]^2 + diag(variance)
      }
      list(log = models$log_prior[m] - sum(log(diag(root))) -
             sum(backsolve(root, case$y, transpose = TRUE)^2) / 2 + log_half_t(sd, 3, unit) +
             log(sd),
           b = b, square = square, g = g, numbers = sd)
    })
  })
  mix_models(do.call(c, parts))
}

# ---- variational Bayes --------------------------------------------------------------------------

# q(v) q(g) q(latent scales) at given scale s of Laplace residuals, then the best s, half-t(3, unit).
# With w = 1/(s chi^{1/2}) the rows' share is that of normal ones, chi = E (y - f)^2.
laplace_twin <- function(design, y, selected, rho, shape, scale, unit, variance = 1e8) {
  p <- ncol(design)
  list(design = unname(design), y = y, selected = selected, rho = rho, shape = shape, scale = scale,
       variance = rep_len(variance, p), unit = unit, residual = unit, g = rep(1, p),
       mean = numeric(p), w = rep(1, length(y)), b = rep(1, length(selected)), q_shape = 1,
       q_scale = 1, offset = numeric(length(y)))
}

laplace_chi <- function(q) {
  second <- second_moment_of_inclusion(q$g) * (q$covariance + tcrossprod(q$mean))
  fit <- drop(q$design %*% (q$g * q$mean))
  q$y^2 - 2 * q$y * fit + rowSums((q$design %*% second) * q$design)
}

laplace_pass <- function(q) {
  s <- q$selected
  q <- coefficients_pass(q, crossprod(q$design, q$w * q$design), crossprod(q$design, q$w * q$y))
  second <- q$covariance + tcrossprod(q$mean)
  q$q_shape <- q$shape + length(s) / 2
  q$q_scale <- q$scale + sum(q$b * diag(second)[s]) / 2
  root <- sqrt(laplace_chi(q))
  of_scale <- function(t) -length(root) * t - sum(root) / exp(t) + log_half_t(exp(t), 3, q$unit) + t
  top <- stats::optimize(of_scale, log(mean(root)) + c(-2, 2), maximum = TRUE, tol = 1e-5)$maximum
  slope <- function(t) {
    ratio <- exp(2 * t) / (3 * q$unit^2)
    -length(root) + sum(root) / exp(t) + 1 - 4 * ratio / (1 + ratio)
  }
  q$residual <- exp(stats::uniroot(slope, top + c(-0.1, 0.1), tol = 1e-15)$root)
  q$w <- 1 / (q$residual * root)
  q
}

laplace_bound <- function(q) {
  rows <- -length(q$y) * log(2 * q$residual) - sum(sqrt(laplace_chi(q))) / q$residual
  rest <- selection_bound(utils::modifyList(q, list(weight = 0, y = 1))) # without the hinge's rows
  rest + rows + log_half_t(q$residual, 3, q$unit) + log(q$residual)
}
