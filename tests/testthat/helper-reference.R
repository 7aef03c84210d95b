# Slow plain-R twins of the package's models: dense design, plain updates, every constant of
# the bound. They share no code with the package.
#
#   f_i = offset_i + c_i'b,  c_i = (x_i, and for every grouping factor z_i in the columns of row
#   i's level, 0 elsewhere)
#   p(y | b) = prod_i exp{-2 weight_i (1 - y_i f_i)_+},  latent scale a_i of every row
#   q = q(b) prod q(a_i) prod q(variance of block k),  q(b) = N(mean, covariance)
#
# A block is list(prior, parameters, columns), as the package's core takes it:
#   "normal" (variance); "ridge" (shape, scale), inverse-gamma on the variance;
#   "half_t" (df, scale), half-t on the standard deviation;
#   "inverse_wishart" (effects, df, scale_a_b for a >= b): the effects of a level are N(0, Sigma),
#       p(Sigma) prop. |Sigma|^{-(df + q + 1)/2} exp(-tr(scale Sigma^-1)/2);
#   "huang_wand" (effects, df, scale_k): Sigma | a ~ IW(df + q - 1, 2 df diag(1/a)),
#       a_k ~ IG(1/2, 1/scale_k^2): every standard deviation is half-t(df, scale_k).
# The columns of the last two are a matrix, a level in each row.

# ---- the model ---------------------------------------------------------------------------

joint_priors <- c("inverse_wishart", "huang_wand")

# Column (g - 1) q + t of Z is multiplier t of level g.
twin_design <- function(x, group = NULL, z = NULL, n_groups = max(group)) {
  if (is.null(group)) return(x)
  if (is.null(z)) z <- matrix(1, nrow(x), 1)
  dummies <- matrix(0, nrow(x), n_groups * ncol(z))
  for (t in seq_len(ncol(z))) {
    dummies[cbind(seq_len(nrow(x)), (group - 1) * ncol(z) + t)] <- z[, t]
  }
  cbind(x, dummies)
}

# A factor is list(codes, z or NULL, levels), or list(matrix = ) for columns as they are.
factor_effects <- function(factor) if (is.null(factor$z)) 1L else ncol(factor$z)
factor_levels <- function(factor) {
  as.integer(if (is.null(factor$matrix)) factor$levels else ncol(factor$matrix))
}
factor_design <- function(factor) {
  if (!is.null(factor$matrix)) return(factor$matrix)
  twin_design(matrix(0, length(factor$codes), 0), factor$codes, factor$z, factor$levels)
}

# For each effect, numbered over all factors, its columns: one for every level.
twin_effect_columns <- function(factors, p) {
  columns <- list()
  for (factor in factors) {
    q <- factor_effects(factor)
    at <- p + outer((seq_len(factor_levels(factor)) - 1) * q, seq_len(q), `+`)
    columns <- c(columns, lapply(seq_len(q), function(k) at[, k]))
    p <- p + length(at)
  }
  columns
}

# The blocks of the population and those of the group effects, over all columns.
twin_blocks <- function(blocks, group_blocks, factors, p) {
  columns <- twin_effect_columns(factors, p)
  dense <- lapply(group_blocks, function(block) {
    own <- columns[block$columns]
    block$columns <- if (block$prior %in% joint_priors) do.call(cbind, own) else unlist(own)
    block
  })
  c(blocks, dense)
}

# `factors`: a list of factors; one can be given as group, z, n_groups.
twin_model <- function(x, y, blocks, weight = NULL, offset = NULL, group = NULL, z = NULL,
                       group_blocks = list(), n_groups = if (is.null(group)) 0 else max(group),
                       factors = NULL) {
  if (!is.null(group)) factors <- list(list(codes = group, z = z, levels = n_groups))
  list(
    design = do.call(cbind, c(list(x), lapply(factors, factor_design))), y = y,
    weight = if (is.null(weight)) rep(1, length(y)) else weight,
    offset = if (is.null(offset)) rep(0, length(y)) else offset,
    blocks = twin_blocks(blocks, group_blocks, factors, ncol(x))
  )
}

# ---- variances: q(s2) = IG(shape, scale), and q(aux) = IG for the half-t -------------------

inv_gamma_mean_log <- function(q) log(q[["scale"]]) - digamma(q[["shape"]])
inv_gamma_mean_inverse <- function(q) q[["shape"]] / q[["scale"]]
inv_gamma_entropy <- function(q) {
  q[["shape"]] + log(q[["scale"]]) + lgamma(q[["shape"]]) -
    (1 + q[["shape"]]) * digamma(q[["shape"]])
}
# E log of an IG(shape, scale) density of t, from E log t and E 1/t, with E log scale.
inv_gamma_log_density <- function(shape, mean_scale, mean_log_scale, mean_log, mean_inverse) {
  shape * mean_log_scale - lgamma(shape) - (shape + 1) * mean_log - mean_scale * mean_inverse
}

# Sum of E b^2; for a joint block the sum over levels of E u u', q x q.
twin_moments <- function(block, mean, covariance) {
  j <- block$columns
  if (!is.matrix(j)) return(sum(mean[j]^2) + sum(diag(covariance)[j]))
  Reduce(`+`, lapply(seq_len(nrow(j)), function(g) {
    tcrossprod(mean[j[g, ]]) + covariance[j[g, ], j[g, ]]
  }))
}

# One coordinate update of the q(variance) of a block.
twin_update_variance <- function(block, old, moments) {
  a <- block$parameters
  m <- NROW(block$columns)
  switch(block$prior,
    normal = list(inverse = 1 / a[["variance"]]),
    ridge = {
      q <- c(shape = a[["shape"]] + m / 2, scale = a[["scale"]] + moments / 2)
      list(variance = q, inverse = inv_gamma_mean_inverse(q))
    },
    half_t = twin_update_half_t(a[["df"]], a[["scale"]], m, old, moments),
    twin_update_joint(block, m, old, moments)
  )
}

# s2 | aux ~ IG(df/2, df/aux), aux ~ IG(1/2, 1/scale^2): sd ~ half-t (Wand et al. 2011, res. 5).
# The two factors are iterated to their common fixed point.
twin_update_half_t <- function(df, scale, m, old, moments) {
  inverse <- if (is.null(old$inverse)) 1 else old$inverse
  repeat {
    aux <- c(shape = (df + 1) / 2, scale = df * inverse + scale^-2)
    q <- c(shape = (df + m) / 2, scale = df * inv_gamma_mean_inverse(aux) + moments / 2)
    change <- abs(log(inv_gamma_mean_inverse(q) / inverse))
    inverse <- inv_gamma_mean_inverse(q)
    if (change < 1e-15) break
  }
  list(variance = q, aux = aux, inverse = inverse)
}

# E log p(b | s2) + E log p(s2) - E log q(s2), for any q(s2), every constant included.
twin_prior_bound <- function(block, q, moments) {
  a <- block$parameters
  m <- NROW(block$columns)
  if (block$prior %in% joint_priors) return(twin_joint_bound(block, q, moments))
  if (block$prior == "normal") {
    return(-m / 2 * log(2 * pi * a[["variance"]]) - moments / (2 * a[["variance"]]))
  }
  mean_log <- inv_gamma_mean_log(q$variance)
  gaussian <- -m / 2 * log(2 * pi) - m / 2 * mean_log - q$inverse * moments / 2
  hyper <- switch(block$prior,
    ridge = inv_gamma_log_density(a[["shape"]], a[["scale"]], log(a[["scale"]]),
                                  mean_log, q$inverse),
    half_t = twin_half_t_bound(a[["df"]], a[["scale"]], q, mean_log)
  )
  gaussian + hyper + inv_gamma_entropy(q$variance)
}

twin_half_t_bound <- function(df, scale, q, mean_log) {
  aux_log <- inv_gamma_mean_log(q$aux)
  aux_inverse <- inv_gamma_mean_inverse(q$aux)
  inv_gamma_log_density(df / 2, df * aux_inverse, log(df) - aux_log, mean_log, q$inverse) +
    inv_gamma_log_density(1 / 2, scale^-2, -2 * log(scale), aux_log, aux_inverse) +
    inv_gamma_entropy(q$aux)
}

# ---- rows ---------------------------------------------------------------------------------

twin_link <- function(model, mean, covariance) {
  list(mean = drop(model$offset + model$design %*% mean),
       variance = rowSums((model$design %*% covariance) * model$design))
}

twin_chi <- function(model, link) (1 - model$y * link$mean)^2 + link$variance

twin_row_bound <- function(model, link) {
  sum(model$weight * (model$y * link$mean - 1 - sqrt(twin_chi(model, link))))
}

# ---- the bound and the plain updates ------------------------------------------------------

twin_bound <- function(model, mean, covariance, variances) {
  prior <- mapply(function(block, q) {
    twin_prior_bound(block, q, twin_moments(block, mean, covariance))
  }, model$blocks, variances)
  entropy <- length(mean) / 2 * (1 + log(2 * pi)) + twin_log_det(covariance) / 2
  twin_row_bound(model, twin_link(model, mean, covariance)) + sum(prior) + entropy
}

twin_log_det <- function(a) as.numeric(determinant(a, logarithm = TRUE)$modulus)

# Prior precision of all coefficients, from each block's E 1/s2 or E Sigma^-1.
twin_precision <- function(model, variances) {
  d <- matrix(0, ncol(model$design), ncol(model$design))
  for (k in seq_along(model$blocks)) {
    j <- model$blocks[[k]]$columns
    if (!is.matrix(j)) j <- matrix(j, ncol = 1)
    for (g in seq_len(nrow(j))) d[j[g, ], j[g, ]] <- variances[[k]]$inverse
  }
  d
}

# q(b) given the rows' E 1/a_i and the blocks' E 1/s2.
twin_update_coefficients <- function(model, inverse_scale, variances) {
  c <- model$design
  a <- crossprod(c, model$weight * inverse_scale * c) + twin_precision(model, variances)
  right <- model$weight * (model$y * (1 + inverse_scale) - inverse_scale * model$offset)
  covariance <- chol2inv(chol(a))
  list(mean = drop(covariance %*% crossprod(c, right)), covariance = covariance)
}

twin_pass <- function(model, state) {
  q <- twin_update_coefficients(model, state$inverse_scale, state$variances)
  moments <- lapply(model$blocks, twin_moments, q$mean, q$covariance)
  variances <- Map(twin_update_variance, model$blocks, state$variances, moments)
  chi <- twin_chi(model, twin_link(model, q$mean, q$covariance))
  c(q, list(variances = variances, inverse_scale = 1 / sqrt(chi)))
}

# The first guess is a variance of 1, if it is not given.
twin_start <- function(model) {
  first <- lapply(model$blocks, function(block) {
    if (block$prior == "normal") return(list(inverse = 1 / block$parameters[["variance"]]))
    list(inverse = if (is.matrix(block$columns)) diag(ncol(block$columns)) else 1)
  })
  list(mean = Inf, inverse_scale = rep(1, length(model$y)), variances = first)
}

# Passes until no coefficient moves by more than `tol` of its sd and no variance by more than
# `tol` of itself.
twin_fit <- function(model, tol = 1e-12, max_passes = 2e5) {
  state <- twin_start(model)
  trace <- numeric()
  for (pass in seq_len(max_passes)) {
    old <- state
    state <- twin_pass(model, old)
    trace[pass] <- twin_bound(model, state$mean, state$covariance, state$variances)
    if (twin_change(old, state) < tol) break
  }
  c(state, list(bound = trace[pass], trace = trace, passes = pass, model = model))
}

twin_change <- function(old, new) {
  moved <- mapply(function(a, b) {
    scale <- sqrt(diag(as.matrix(b$inverse)))
    max(abs(b$inverse - a$inverse) / tcrossprod(scale))
  }, old$variances, new$variances)
  max(abs(new$mean - old$mean) / sqrt(diag(new$covariance)), moved)
}

# ---- the concave objective in (mean, factor), q(variances) fixed --------------------------

# The part of the bound that depends on mean and covariance = L L'; theta = (mean, L by column);
# `precision` is P x P, or its diagonal.
twin_objective <- function(theta, model, precision) {
  if (!is.matrix(precision)) precision <- diag(precision, length(precision))
  p <- ncol(precision)
  mean <- theta[seq_len(p)]
  factor <- twin_unpack_factor(theta, p)
  covariance <- tcrossprod(factor)
  twin_row_bound(model, twin_link(model, mean, covariance)) -
    sum(precision * (tcrossprod(mean) + covariance)) / 2 + sum(log(abs(diag(factor))))
}

twin_unpack_factor <- function(theta, p) {
  factor <- matrix(0, p, p)
  factor[lower.tri(factor, diag = TRUE)] <- theta[-seq_len(p)]
  factor
}

twin_pack <- function(mean, covariance) {
  factor <- t(chol(covariance))
  c(mean, factor[lower.tri(factor, diag = TRUE)])
}

central_gradient <- function(f, theta, step = 1e-5) {
  vapply(seq_along(theta), function(j) {
    h <- replace(numeric(length(theta)), j, step)
    (f(theta + h) - f(theta - h)) / (2 * step)
  }, 0)
}
