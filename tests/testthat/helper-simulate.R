# The twin's bound by simulation, and the exact evidence by quadrature (see helper-reference.R).

# ---- the bound by simulation --------------------------------------------------------------

# Draws of log p(y, a, b, s2) - log q(a, b, s2) from q: their mean is the bound. Rows enter as
# often as their weight says, so weights must be whole numbers here.
twin_bound_draws <- function(model, q, draws) {
  rows <- rep(seq_along(model$y), model$weight)
  b <- twin_draw_coefficients(q, draws)
  chi <- twin_chi(model, twin_link(model, q$mean, q$covariance))
  a <- 1 / draw_inverse_gaussian(rep(1 / sqrt(chi[rows]), each = draws))
  a <- matrix(a, draws)
  u <- 1 - rep(model$y[rows], each = draws) *
    (tcrossprod(b, model$design[rows, , drop = FALSE]) + rep(model$offset[rows], each = draws))
  log_p <- dnorm(u, -a, sqrt(a), log = TRUE)
  log_q <- sweep(-log(2 * pi * a) / 2 - a / 2 - sweep(1 / a, 2, chi[rows], `*`) / 2,
                 2, sqrt(chi[rows]), `+`)
  rowSums(log_p - log_q) + twin_prior_draws(model, q, b) - log_normal(b, q$mean, q$covariance)
}

# Mean m, shape 1 (Michael, Schucany & Haas 1976, in the form that does not cancel).
draw_inverse_gaussian <- function(m) {
  s <- m * rnorm(length(m))^2
  small <- m / (1 + s / 2 + sqrt(s) * sqrt(1 + s / 4))
  ifelse(runif(length(m)) * (m + small) <= m, small, m^2 / small)
}

twin_draw_coefficients <- function(q, draws) {
  z <- matrix(rnorm(draws * length(q$mean)), draws)
  sweep(z %*% chol(q$covariance), 2, q$mean, `+`)
}

log_normal <- function(b, mean, covariance) {
  z <- backsolve(chol(covariance), t(b) - mean, transpose = TRUE)
  -colSums(z^2) / 2 - length(mean) / 2 * log(2 * pi) - twin_log_det(covariance) / 2
}

log_inv_gamma <- function(t, shape, scale) {
  shape * log(scale) - lgamma(shape) - (shape + 1) * log(t) - scale / t
}

twin_prior_draws <- function(model, q, b) {
  terms <- Map(function(block, variance) {
    if (block$prior %in% joint_priors) return(twin_joint_draws(block, variance, b))
    s2 <- twin_draw_variance(block, variance, nrow(b))
    sd <- sqrt(s2$value)
    rowSums(dnorm(b[, block$columns, drop = FALSE], 0, sd, log = TRUE)) + s2$log_ratio
  }, model$blocks, q$variances)
  Reduce(`+`, terms)
}

# Draws of a block's variance, and of log p(variance) - log q(variance).
twin_draw_variance <- function(block, q, draws) {
  a <- block$parameters
  if (block$prior == "normal") {
    return(list(value = rep(a[["variance"]], draws), log_ratio = 0))
  }
  draw <- function(f) f[["scale"]] / rgamma(draws, f[["shape"]])
  minus_q <- function(t, f) -log_inv_gamma(t, f[["shape"]], f[["scale"]])
  s2 <- draw(q$variance)
  ratio <- minus_q(s2, q$variance)
  if (block$prior == "ridge") {
    return(list(value = s2, log_ratio = ratio + log_inv_gamma(s2, a[["shape"]], a[["scale"]])))
  }
  aux <- draw(q$aux)
  list(value = s2, log_ratio = ratio + minus_q(aux, q$aux) +
         log_inv_gamma(s2, a[["df"]] / 2, a[["df"]] / aux) +
         log_inv_gamma(aux, 1 / 2, a[["scale"]]^-2))
}

log_inv_wishart <- function(sigma, df, scale) {
  q <- ncol(scale)
  wishart_log_density(q, df, twin_log_det(scale), sum(scale * chol2inv(chol(sigma))),
                      twin_log_det(sigma))
}

# Draws of log p(u | Sigma) + log p(Sigma, a) - log q(Sigma, a) of correlated effects u in b.
twin_joint_draws <- function(block, q, b) {
  levels <- seq_len(nrow(block$columns))
  apply(b, 1, function(draw) {
    w <- q$wishart
    sigma <- draw_inv_wishart(w$df, w$scale)
    u <- matrix(draw[block$columns], length(levels))
    a <- if (!is.null(q$aux)) q$aux$scale / rgamma(length(q$aux$scale), q$aux$shape)
    prior <- joint_prior_of(block, 1 / a)
    aux <- if (!is.null(a)) log_inv_gamma(a, 1 / 2, half_t_scales(block)^-2) -
      log_inv_gamma(a, q$aux$shape, q$aux$scale) else 0
    sum(log_normal(u, rep(0, ncol(u)), sigma)) + sum(aux) +
      log_inv_wishart(sigma, prior$df, prior$scale) - log_inv_wishart(sigma, w$df, w$scale)
  })
}

# ---- the exact evidence, two coefficients, fixed variances --------------------------------

twin_log_evidence <- function(model, q, nodes = 401, width = 12) {
  grid <- lapply(1:2, function(j) {
    q$mean[j] + seq(-width, width, length.out = nodes) * sqrt(q$covariance[j, j])
  })
  b <- as.matrix(expand.grid(grid))
  f <- sweep(tcrossprod(b, model$design), 2, model$offset, `+`)
  hinge <- pmax(1 - sweep(f, 2, model$y, `*`), 0)
  variance <- 1 / diag(twin_precision(model, q$variances))
  log_joint <- drop(-2 * hinge %*% model$weight) +
    colSums(dnorm(t(b), 0, sqrt(variance), log = TRUE))
  cell <- prod(vapply(grid, function(g) g[2] - g[1], 0))
  max(log_joint) + log(sum(exp(log_joint - max(log_joint))) * cell)
}
