# Regression by sums over grids: y = b0 + b1 x + residual, flat or normal b, an inferred scale and
# perhaps an inferred share outside the tube. It shares no code with the package.

numbers_data <- function(n = 40, seed = 1) {
  with_seed(seed, {
    x <- stats::rnorm(n)
    data.frame(x = x, y = 10 + 3 * x + 2 * stats::rt(n, 3))
  })
}

# log p(r) of the epsilon-insensitive density, from its definition.
log_eps_insensitive <- function(r, scale, nu) {
  epsilon <- scale * (1 - nu) / nu
  -log(2 * (scale + epsilon)) - pmax(abs(r) - epsilon, 0) / scale
}

log_half_t <- function(x, df, scale) {
  log(2) + stats::dt(x / scale, df, log = TRUE) - log(scale)
}

# Moments of (b0, b1, scale, nu) under b ~ N(0, prior_sd^2) each, scale ~ half-t(3, unit), nu ~
# uniform; `log_p(r, scale, nu)` is the residual's log density, without nu if `shape` is FALSE.
grid_regression <- function(data, log_p, unit, prior_sd, centre, width, shape = TRUE,
                            nodes = c(31, 31, 31, 25)) {
  axis <- function(k) seq(centre[k] - width[k], centre[k] + width[k], length.out = nodes[k])
  b0 <- axis(1L)
  b1 <- axis(2L)
  log_scale <- axis(3L)
  nu <- if (shape) (seq_len(nodes[4L]) - 0.5) / nodes[4L] else 1
  points <- expand.grid(b0 = b0, b1 = b1)
  residuals <- outer(data$y, rep(1, nrow(points))) - outer(rep(1, nrow(data)), points$b0) -
    outer(data$x, points$b1)
  prior_b <- stats::dnorm(points$b0, 0, prior_sd[1L], TRUE) +
    stats::dnorm(points$b1, 0, prior_sd[2L], TRUE)
  logs <- list()
  for (ls in log_scale) for (v in nu) {
    s <- exp(ls)
    logs[[length(logs) + 1L]] <- cbind(
      points, scale = s, nu = v,
      log = colSums(log_p(residuals, s, v)) + prior_b + log_half_t(s, 3, unit) + ls
    )
  }
  all <- do.call(rbind, logs)
  weight <- exp(all$log - max(all$log))
  weight <- weight / sum(weight)
  values <- as.matrix(all[c("b0", "b1", "scale", "nu")])
  mean <- colSums(values * weight)
  list(mean = mean, sd = sqrt(colSums((values - rep(mean, each = nrow(values)))^2 * weight)))
}
