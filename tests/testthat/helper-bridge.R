# Exponential power priors: their density, draws of it, and exact posteriors by sums over grids.

# alpha or nu 0: inferred.
block_bridge <- function(columns, alpha = 0, nu = 0, shape = 1, rate = 1, sigma = NULL) {
  names(sigma) <- if (!is.null(sigma)) paste0("sigma_", seq_along(sigma))
  list(prior = "bridge", columns = as.integer(columns), unseen = 0,
       parameters = c(alpha = alpha, nu = nu, shape = shape, rate = rate, sigma))
}

bridge_sigma <- function(block) {
  given <- block$parameters[startsWith(names(block$parameters), "sigma")]
  if (length(given) > 0) unname(given) else rep(1, length(block$columns))
}

# log p(b | alpha, nu) of each row of b.
log_bridge <- function(b, alpha, nu, sigma) {
  z <- abs(sweep(b, 2, nu * sigma, `/`))
  -rowSums(z^alpha) - sum(log(2 * nu * sigma * gamma(1 + 1 / alpha)))
}

# ---- exact posteriors ---------------------------------------------------------------------

# Values of (alpha, log nu) and the log of their prior's weight.
bridge_nodes <- function(block) {
  a <- as.list(block$parameters)
  alpha <- if (a$alpha > 0) a$alpha else 0.05 + 1.95 * (seq_len(40) - 0.5) / 40
  log_nu <- if (a$nu > 0) log(a$nu) else seq(if (a$alpha > 0) -12 else -40, 6, by = 0.2)
  nodes <- expand.grid(alpha = alpha, log_nu = log_nu)
  lambda <- exp(-nodes$alpha * nodes$log_nu)
  nodes$log_weight <- if (a$nu > 0) 0
                      else dgamma(lambda, a$shape, a$rate, log = TRUE) + log(nodes$alpha * lambda)
  nodes
}

# `model`: its only block is a bridge block. 2 `nodes` for each coefficient, whose cubes lie evenly
# between -`to` and `to`, since the density has a cusp at 0, and for a small alpha a spike. Moments
# of b, log nu and alpha, if these are unknown.
exact_bridge <- function(model, nodes, to = 3) {
  block <- model$blocks[[1]]
  root <- (seq(-nodes, nodes - 1) + 0.5) / nodes
  root <- as.matrix(expand.grid(rep(list(root), ncol(model$design))))
  b <- to * root^3
  log_lik <- hinge_loglik(model, sweep(tcrossprod(b, model$design), 2, model$offset, `+`))
  likelihood <- exp(log_lik - max(log_lik)) * apply(root^2, 1, prod)
  nodes <- bridge_nodes(block)
  sigma <- bridge_sigma(block)
  of_b <- 0
  of_nodes <- numeric(nrow(nodes))
  for (k in which(nodes$log_weight > max(nodes$log_weight) - 40)) {
    log_prior <- log_bridge(b, nodes$alpha[k], exp(nodes$log_nu[k]), sigma)
    joint <- likelihood * exp(log_prior + nodes$log_weight[k])
    of_b <- of_b + joint
    of_nodes[k] <- sum(joint)
  }
  unknown <- c(log_nu = block$parameters[["nu"]] == 0, alpha = block$parameters[["alpha"]] == 0)
  of_b <- weighted_moments(b, of_b)
  of_nodes <- weighted_moments(as.matrix(nodes[names(which(unknown))]), of_nodes)
  list(mean = c(of_b$mean, of_nodes$mean), sd = c(of_b$sd, of_nodes$sd))
}

# What exact_bridge() gives the moments of.
bridge_table <- function(case, draws) {
  a <- case$blocks[[1]]$parameters
  v <- draws$variances[[1]]
  if (a[["nu"]] == 0) v[, 1] <- log(v[, 1])
  cbind(draws$b, v)
}

# ---- draws of the prior ---------------------------------------------------------------------

# k x (those of nu, alpha that are unknown).
draw_bridge_hyper <- function(block, k) {
  a <- as.list(block$parameters)
  alpha <- if (a$alpha > 0) rep(a$alpha, k) else runif(k, 0.05, 2)
  cbind(nu = if (a$nu == 0) rgamma(k, a$shape, a$rate)^(-1 / alpha),
        alpha = if (a$alpha == 0) alpha)
}

draw_bridge <- function(block, hyper) {
  known <- function(name) {
    if (name %in% colnames(hyper)) hyper[, name] else rep(block$parameters[[name]], nrow(hyper))
  }
  m <- length(block$columns)
  size <- rgamma(m * nrow(hyper), rep(1 / known("alpha"), m))^(1 / known("alpha")) * known("nu")
  matrix(sample(c(-1, 1), length(size), TRUE) * size, ncol = m) %*% diag(bridge_sigma(block), m)
}

# As tilted_cases(), for Gibbs alone.
tilted_bridges <- function() {
  d <- with_seed(6, list(x = cbind(1, rnorm(8)), offset = rnorm(8) / 2))
  case <- function(...) core_case(d$x, rep(c(-1, 1), 4), list(...), offset = d$offset)
  list(bridge = case(block_bridge(1:2, 0.6, 0, 6, 4, sigma = c(0.5, 1))),
       exponent = case(block_normal(1, 1), block_bridge(2, 0, 0, 12, 10)))
}
