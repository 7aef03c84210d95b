# The exact pseudo-posterior by sums over grids, for models of helper-reference.R with one or two
# coefficients, at most one unknown variance, and possibly scalar group effects.

# Sum of o log p(y | f) for every row of f (points x rows); with `model$normalised` that of the
# normalised hinge, p over its sum over both classes.
hinge_loglik <- function(model, f) {
  margin <- sweep(f, 2, model$y, `*`)
  loss <- -2 * pmax(1 - margin, 0)
  if (isTRUE(model$normalised)) loss <- loss - log(exp(loss) + exp(-2 * pmax(1 + margin, 0)))
  drop(loss %*% model$weight)
}

# Nodes of log s2 and their log prior weights; the half-t straight from its density.
variance_nodes <- function(block, from, to, nodes) {
  eta <- seq(from, to, length.out = nodes)
  a <- block$parameters
  s <- exp(eta / 2)
  density <- switch(block$prior,
    ridge = log_inv_gamma(exp(eta), a[["shape"]], a[["scale"]]) + eta,
    half_t = dt(s / a[["scale"]], a[["df"]], log = TRUE) + log(s)
  )
  list(eta = eta, log_weight = density)
}

weighted_moments <- function(values, weight) {
  weight <- weight / sum(weight)
  mean <- drop(crossprod(values, weight))
  square <- drop(crossprod(values^2, weight))
  list(mean = mean, sd = sqrt(pmax(square - mean^2, 0)))
}

# ---- coefficients only --------------------------------------------------------------------

# `grid`: a vector of nodes for each coefficient. Moments of b and, if a block's variance is
# unknown, of log s2.
exact_coefficients <- function(model, grid, from = -6, to = 8, nodes = 281) {
  b <- as.matrix(expand.grid(grid))
  f <- sweep(tcrossprod(b, model$design), 2, model$offset, `+`)
  log_joint <- hinge_loglik(model, f)
  unknown <- NULL
  for (block in model$blocks) {
    if (block$prior == "normal") {
      sd <- sqrt(block$parameters[["variance"]])
      log_joint <- log_joint + rowSums(dnorm(b[, block$columns, drop = FALSE], 0, sd, log = TRUE))
    } else {
      unknown <- block
    }
  }
  known <- exp(log_joint - max(log_joint))
  if (is.null(unknown)) return(weighted_moments(b, known))
  s2 <- variance_nodes(unknown, from, to, nodes)
  prior <- vapply(seq_along(s2$eta), function(k) {
    density <- dnorm(b[, unknown$columns, drop = FALSE], 0, exp(s2$eta[k] / 2), log = TRUE)
    exp(rowSums(density) + s2$log_weight[k])
  }, numeric(nrow(b)))
  of_b <- weighted_moments(b, known * rowSums(prior))
  of_eta <- weighted_moments(cbind(s2$eta), drop(crossprod(prior, known)))
  list(mean = c(of_b$mean, of_eta$mean), sd = c(of_b$sd, of_eta$sd))
}

# ---- one coefficient and scalar group effects ---------------------------------------------

# u_g integrated out on a grid of its own at every point (b, log s2). Moments of b, u_1, ..., u_m,
# log s2 and b + u_1, ..., b + u_m. The design is that of (x | dummies), so column 1 is x and 1 + g
# belongs to level g.
exact_groups <- function(model, b, from = -6, to = 6, nodes = 61, u_nodes = 161) {
  prior <- model$blocks[[1]]$parameters[["variance"]]
  s2 <- variance_nodes(model$blocks[[2]], from, to, nodes)
  z <- seq(-9, 9, length.out = u_nodes)
  slices <- lapply(seq_along(s2$eta), function(k) {
    slice <- exact_slice(model, b, exp(s2$eta[k] / 2) * z, dnorm(z, log = TRUE))
    slice$log_weight <- slice$log_weight + dnorm(b, 0, sqrt(prior), log = TRUE) +
      s2$log_weight[k]
    slice
  })
  log_weight <- vapply(slices, `[[`, numeric(length(b)), "log_weight")
  weight <- exp(log_weight - max(log_weight))
  weight <- weight / sum(weight)
  collect <- function(name, factor = 1) {
    Reduce(`+`, lapply(seq_along(slices), function(k) {
      drop(crossprod(slices[[k]][[name]], weight[, k] * factor))
    }))
  }
  of_b <- weighted_moments(cbind(b), rowSums(weight))
  of_eta <- weighted_moments(cbind(s2$eta), colSums(weight))
  u <- collect("mean")
  variance <- collect("square") - u^2
  sum_sd <- sqrt(of_b$sd^2 + variance + 2 * (collect("mean", b) - of_b$mean * u))
  list(mean = c(of_b$mean, u, of_eta$mean, of_b$mean + u),
       sd = c(of_b$sd, sqrt(variance), of_eta$sd, sum_sd))
}

# At one variance, for each b: log integral over all u_g, and E u_g, E u_g^2 (length(b) x m).
exact_slice <- function(model, b, u, log_weight) {
  m <- ncol(model$design) - 1
  shape <- matrix(0, length(b), m)
  out <- list(log_weight = numeric(length(b)), mean = shape, square = shape)
  points <- expand.grid(b = b, u = u)
  for (g in seq_len(m)) {
    rows <- model$design[, 1 + g] != 0
    own <- list(y = model$y[rows], weight = model$weight[rows], normalised = model$normalised)
    f <- outer(points$b, model$design[rows, 1]) + outer(points$u, model$design[rows, 1 + g])
    joint <- matrix(hinge_loglik(own, sweep(f, 2, model$offset[rows], `+`)), length(b))
    joint <- sweep(joint, 2, log_weight, `+`)
    top <- apply(joint, 1, max)
    joint <- exp(joint - top)
    out$log_weight <- out$log_weight + top + log(rowSums(joint))
    out$mean[, g] <- joint %*% u / rowSums(joint)
    out$square[, g] <- joint %*% u^2 / rowSums(joint)
  }
  out
}

# ---- small problems, and what is exact of them ----------------------------------------------

grid_of <- function(exact, nodes = 201, width = 9) {
  lapply(seq_along(exact$mean), function(j) {
    exact$mean[j] + seq(-width, width, length.out = nodes) * exact$sd[j]
  })
}

# A first look on a wide grid places the fine one. `nodes`: of two coefficients.
exact_of <- function(case, wide = 12, nodes = 241) {
  model <- case_twin(case)
  if (!is.null(case[["group"]])) return(exact_groups(model, seq(-3, 3, length.out = 61)))
  p <- ncol(model$design)
  rough <- exact_coefficients(model, rep(list(seq(-wide, wide, length.out = 161)), p))
  rough <- lapply(rough, head, p)
  exact_coefficients(model, grid_of(rough, if (p == 1) 4001 else nodes), from = -9, to = 12)
}

# What exact_of() gives the moments of.
exact_table <- function(case, draws) {
  table <- draw_table(case_twin(case), draws)
  if (is.null(case[["group"]]) && is.null(case$factors)) return(table)
  cbind(table, draws$b[, 1] + draws$b[, -1])
}

quadrature_cases <- function() {
  r <- random_case(50, 2, seed = 3)
  separated <- ifelse(r$x[, 2] > 0.2, 1, -1)
  twice <- rep(c(1, -1), c(30, 20))
  list(
    intercept = core_case(r$x[, 1, drop = FALSE], r$y, list(block_normal(1, 2)),
                          weight = r$weight, offset = r$offset),
    # the mode lies on the margin of 30 rows at once
    margin = core_case(matrix(1, 50, 1), twice, list(block_normal(1, 2))),
    slope = core_case(r$x, r$y, list(block_normal(1, 2), block_normal(2, 1)),
                      weight = r$weight, offset = r$offset),
    fractional = core_case(r$x, r$y, list(block_normal(1:2, 1)), weight = (1 + r$weight) / 3.1),
    separated = core_case(r$x, separated, list(block_normal(1:2, 1))),
    ridge = core_case(r$x, r$y, list(block_normal(1, 2), block_ridge(2, 2, 1)),
                      weight = r$weight, offset = r$offset),
    half_t = core_case(r$x, r$y, list(block_half_t(1:2, 3, 1)), weight = r$weight),
    groups = core_case(r$x[, 1, drop = FALSE], r$y, list(block_normal(1, 2)),
                       weight = r$weight, offset = r$offset, group = rep(1:6, length.out = 50),
                       z = r$z[, 2, drop = FALSE], group_blocks = list(block_ridge(1, 2, 1)))
  )
}
