# The twin's joint priors of correlated effects (see helper-reference.R):
#   Sigma ~ IW(df, scale), and Huang and Wand's (2013) mixture of such laws.

joint_effects <- function(block) as.integer(block$parameters[["effects"]])

# The scale matrix of "inverse_wishart", from its lower triangle.
twin_wishart_scale <- function(block) {
  q <- joint_effects(block)
  scale <- matrix(0, q, q)
  for (b in seq_len(q)) for (a in b:q) {
    scale[a, b] <- scale[b, a] <- block$parameters[[sprintf("scale_%d_%d", a, b)]]
  }
  scale
}

half_t_scales <- function(block) {
  q <- joint_effects(block)
  unname(block$parameters[sprintf("scale_%d", seq_len(q))])
}

# df and scale of Sigma given 1/a; "inverse_wishart" has no a.
joint_prior_of <- function(block, inverse_a) {
  q <- joint_effects(block)
  df <- block$parameters[["df"]]
  if (block$prior == "inverse_wishart") return(list(df = df, scale = twin_wishart_scale(block)))
  list(df = df + q - 1, scale = diag(2 * df * inverse_a, q))
}

# q(Sigma) = IW(df, scale): E Sigma^-1 = df scale^-1.
joint_q <- function(prior, m, moments) {
  q <- list(df = prior$df + m, scale = prior$scale + moments)
  list(wishart = q, inverse = q$df * chol2inv(chol(q$scale)))
}

# q(a_k) = IG((df + q)/2, df E(Sigma^-1)_kk + 1/scale_k^2); both factors to their fixed point.
twin_update_joint <- function(block, m, old, moments) {
  if (block$prior == "inverse_wishart") return(joint_q(joint_prior_of(block), m, moments))
  inverse <- old$inverse
  repeat {
    aux <- list(shape = (block$parameters[["df"]] + joint_effects(block)) / 2,
                scale = block$parameters[["df"]] * diag(inverse) + half_t_scales(block)^-2)
    new <- joint_q(joint_prior_of(block, aux$shape / aux$scale), m, moments)
    change <- max(abs(log(diag(new$inverse) / diag(inverse))))
    inverse <- new$inverse
    if (change < 1e-15) return(c(new, list(aux = aux)))
  }
}

# ---- the bound ----------------------------------------------------------------------------

log_multigamma <- function(x, q) {
  q * (q - 1) / 4 * log(pi) + sum(lgamma(x + (1 - seq_len(q)) / 2))
}

# E log det Sigma under IW(df, scale).
wishart_mean_log_det <- function(w) {
  q <- ncol(w$scale)
  twin_log_det(w$scale) - q * log(2) - sum(digamma((w$df + 1 - seq_len(q)) / 2))
}

# E log of an IW density: df, E log det scale, E tr(scale Sigma^-1), E log det Sigma.
wishart_log_density <- function(q, df, log_det_scale, trace, mean_log_det) {
  df / 2 * (log_det_scale - q * log(2)) - log_multigamma(df / 2, q) -
    (df + q + 1) / 2 * mean_log_det - trace / 2
}

twin_joint_bound <- function(block, q, moments) {
  k <- joint_effects(block)
  m <- nrow(block$columns)
  w <- q$wishart
  log_det <- wishart_mean_log_det(w)
  gaussian <- -m / 2 * (k * log(2 * pi) + log_det) - sum(q$inverse * moments) / 2
  entropy <- -wishart_log_density(k, w$df, twin_log_det(w$scale), k * w$df, log_det)
  gaussian + joint_hyper_bound(block, q, log_det) + entropy
}

joint_hyper_bound <- function(block, q, log_det) {
  k <- joint_effects(block)
  df <- block$parameters[["df"]]
  if (block$prior == "inverse_wishart") {
    scale <- twin_wishart_scale(block)
    return(wishart_log_density(k, df, twin_log_det(scale), sum(scale * q$inverse), log_det))
  }
  aux <- lapply(q$aux$scale, function(scale) c(shape = q$aux$shape, scale = scale))
  inverse <- vapply(aux, inv_gamma_mean_inverse, 0)
  logs <- vapply(aux, inv_gamma_mean_log, 0)
  prior <- inv_gamma_log_density(1 / 2, half_t_scales(block)^-2, -2 * log(half_t_scales(block)),
                                 logs, inverse)
  wishart_log_density(k, df + k - 1, k * log(2 * df) - sum(logs),
                      2 * df * sum(inverse * diag(q$inverse)), log_det) +
    sum(prior) + sum(vapply(aux, inv_gamma_entropy, 0))
}
