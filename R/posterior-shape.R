# The distributions of group effects that were integrated out. They are not normal: where all rows
# of a level are of one class, only the prior bounds the effect on one side. In the words of
# src/core/rows/integrated/integrated_shapes.cpp: v = u + C b is what the level's rows depend on,
# u its effects with variance V given the coefficients b, which have covariance S; E[u | b] falls by B as b grows.

# An array of numbers, levels, components; NULL if no effects were integrated out. With two effects
# per level it would take long for each component, and is the same for all.
effect_shapes <- function(fit, frame) {
  posterior <- fit$posterior
  if (!inherits(posterior, "bsvm_mixture") || !isTRUE(posterior$integrated > 0L)) return(NULL)
  if (!is_kind(fit$response, "classes")) return(NULL) # only probabilities ask for them
  name <- names(fit$groups)[posterior$integrated]
  components <- lapply(seq_along(posterior$weights), component_fit, fit = fit)
  links <- stack_columns(lapply(components, frame_links, frame = frame, name = name))
  sigma <- lapply(components, function(own) effect_covariances(own)[[name]])
  theta <- stack_columns(lapply(sigma, free_of_covariance))
  moved <- Map(function(own, sigma) moved_covariance(own$posterior, sigma), components, sigma)
  if (nrow(sigma[[1L]]) == 2L) {
    links <- links %*% posterior$weights
    theta <- theta %*% posterior$weights
    moved <- list(weighted_sum(moved, posterior$weights))
  }
  parts <- factor_problem(fit, frame, name, links)
  shapes <- with_core_conditions(
    core_effect_shapes(parts$problem, parts$model, rbind(diag(ncol(links)), theta),
                       do.call(cbind, moved), fit$control$threads)
  )
  array(shapes, c(nrow(shapes), ncol(shapes) / ncol(links), ncol(links)))
}

component_shapes <- function(posterior, k) {
  if (is.null(posterior$shapes)) return(NULL)
  own <- posterior$shapes[, , min(k, dim(posterior$shapes)[3L]), drop = FALSE]
  matrix(own, nrow(own))
}

# Linear predictors of the frame's rows without the effects of factor `name`.
frame_links <- function(fit, frame, name) {
  rows <- frame[c("x", "implicit", "offset")]
  rows$groups <- frame$groups[setdiff(names(frame$groups), name)]
  link_of(rows, population_mean(fit$posterior, fit$design),
          effect_means(fit$posterior, fit$groups))
}

# S, of all that effects follow.
joint_covariance <- function(posterior) {
  if (is.null(posterior$joint_covariance)) posterior$covariance else posterior$joint_covariance
}

# C (q x d x m), from B = (I - V sigma^{-1}) C. For levels whose rows tell hardly
# anything it is B, which is then about zero.
common_part <- function(posterior, sigma, least = 0.01) {
  b <- posterior$group_regression
  variance <- group_inverse(posterior$group_precision)
  if (nrow(sigma) == 1L) {
    kept <- 1 - variance[1L, 1L, ] / sigma[1L]
    kept[abs(kept) < least] <- 1
    return(b / rep(kept, each = dim(b)[2L]))
  }
  p <- solve(sigma)
  kept <- function(i, j) (i == j) - variance[i, 1L, ] * p[1L, j] - variance[i, 2L, ] * p[2L, j]
  det <- kept(1, 1) * kept(2, 2) - kept(1, 2) * kept(2, 1)
  some <- which(abs(det) >= least)
  turn <- function(i, x, j, y) {
    rep((x / det)[some], each = dim(b)[2L]) * b[i, , some] +
      rep((y / det)[some], each = dim(b)[2L]) * b[j, , some]
  }
  out <- b
  out[1L, , some] <- turn(1L, kept(2, 2), 2L, -kept(1, 2))
  out[2L, , some] <- turn(2L, kept(1, 1), 1L, -kept(2, 1))
  out
}

# C S C' of each level: q q x m.
moved_covariance <- function(posterior, sigma) {
  common <- common_part(posterior, sigma)
  covariance <- joint_covariance(posterior)
  q <- nrow(sigma)
  part <- function(k) matrix(common[k, , ], dim(common)[2L], dim(common)[3L])
  turned <- lapply(seq_len(q), function(k) covariance %*% part(k))
  pairs <- expand.grid(i = seq_len(q), j = seq_len(q))
  do.call(rbind, Map(function(i, j) colSums(part(i) * turned[[j]]), pairs$i, pairs$j))
}

# E p(+1 | f) of rows by one component: f has the normal distribution of posterior_linear() but for
# the effects of factor `name`, with `shapes` (numbers x levels). `mean` has the offset.
component_probability <- function(fit, rows, mean, sd, name, shapes) {
  group <- if (!is.null(shapes)) rows$groups[[name]]
  if (is.null(group)) return(normal_probability(mean, sd, fit$likelihood))
  p <- mean
  at <- intersect(known(group$codes), which(is.finite(mean) & is.finite(sd)))
  parts <- link_parts(fit, rows_at(rows, at), name)
  skewed <- parts$variance > 0
  at <- at[skewed]
  others <- setdiff(seq_along(mean), at)
  p[others] <- normal_probability(mean[others], sd[others], fit$likelihood)
  along <- parts$along[skewed]
  variance <- along^2 * parts$variance[skewed]
  shape <- turned_shape(fit, name, shapes, group$codes[at],
                        sign(along) * parts$z[skewed, , drop = FALSE])
  p[at] <- shaped_response(fit$likelihood, mean[at], sqrt(variance),
                           sqrt(pmax(sd[at]^2 - variance, 0)), shape)
  p
}

# E(y | f) averaged over links mean + own x + rest e: e is standard normal, x independent of it with
# the columns of `shape` as coefficients of Hermite's polynomials. A sum over equal steps of the
# normal variable z that x is a function of, short enough for x and, where `own` is large, for links
# along which E(y | f) changes within about the likelihood's width.
shaped_response <- function(likelihood, mean, own, rest, shape, reach = 4.5, most = 512) {
  step <- pmin(0.5, 1.6 * response_width(likelihood) / own)
  half <- pmin(ceiling(reach / step), most)
  out <- mean
  for (count in unique(half)) {
    z <- seq(-reach, reach, length.out = 2 * count + 1)
    weight <- stats::dnorm(z) / sum(stats::dnorm(z))
    basis <- hermite(z, nrow(shape))
    alike <- which(half == count)
    in_chunks(length(alike), 2^20 / length(z), function(k) {
      at <- alike[k]
      links <- mean[at] + own[at] * crossprod(shape[, at, drop = FALSE], basis)
      each <- averaged_response(likelihood, as.vector(links), rep(rest[at], length(z)))
      out[at] <<- drop(matrix(each, length(at)) %*% weight)
    })
  }
  out
}

# Limits of the links of rows of known levels: by each component a mixture of normal distributions
# along nodes of the z that the effects' part is a function of, each as wide as a step.
skew_nodes <- 31L

skewed_limits <- function(fit, rows, name, level, reach = 4.5) {
  posterior <- fit$posterior
  z <- seq(-reach, reach, length.out = skew_nodes)
  weight <- stats::dnorm(z) / sum(stats::dnorm(z))
  nodes <- list(z = z, weight = weight, width = (z[2L] - z[1L]) / sqrt(12))
  every <- length(posterior$weights) * skew_nodes
  limits <- blank_limits(nrow(rows$x))
  in_chunks(nrow(rows$x), 2^21 / every, function(at) {
    part <- rows_at(rows, at)
    moments <- lapply(seq_along(posterior$weights), function(k) {
      component_nodes(component_fit(fit, k), part, name, component_shapes(posterior, k), nodes)
    })
    moments <- list(mean = do.call(cbind, lapply(moments, `[[`, "mean")),
                    sd = do.call(cbind, lapply(moments, `[[`, "sd")))
    limits[at, ] <<- mixture_limits(moments, rep(posterior$weights, each = skew_nodes) *
                                      rep(weight, length(posterior$weights)), level)
  })
  limits
}

# list(mean, sd), each n x nodes. The values are drawn in by what the width adds to their variance.
component_nodes <- function(fit, rows, name, shapes, nodes) {
  link <- posterior_linear(fit, rows)
  parts <- link_parts(fit, rows, name)
  variance <- parts$along^2 * parts$variance
  shape <- turned_shape(fit, name, shapes, rows$groups[[name]]$codes, sign(parts$along) * parts$z)
  x <- crossprod(shape, hermite(nodes$z, nrow(shape)))
  centre <- drop(x %*% nodes$weight)
  x <- centre + sqrt(1 - nodes$width^2) * (x - centre)
  sd <- sqrt(pmax(link$sd^2 - variance, 0) + variance * nodes$width^2)
  list(mean = link$mean + sqrt(variance) * x, sd = matrix(sd, length(sd), ncol(x)))
}

# He_0 .. of z, a row each.
hermite <- function(z, orders) {
  out <- matrix(1, orders, length(z))
  if (orders > 1L) out[2L, ] <- z
  for (k in seq_len(orders)[-(1:2)]) out[k, ] <- z * out[k - 1L, ] - (k - 2) * out[k - 2L, ]
  out
}

# The link of a row of a known level is `along` z'v and what is independent of it: list(z, along,
# variance of z'v).
link_parts <- function(fit, rows, name) {
  posterior <- fit$posterior
  group <- rows$groups[[name]]
  z <- multipliers_of(group, nrow(posterior$group_mean))
  common <- common_part(posterior, effect_covariances(fit)[[name]])
  covariance <- joint_covariance(posterior)
  inverse <- group_inverse(posterior$group_precision)
  others <- fit$groups[setdiff(names(fit$groups), name)]
  layout <- fit_layout(fit)
  out <- list(z = z, along = numeric(nrow(z)), variance = numeric(nrow(z)))
  in_chunks(nrow(z), 2^20 / max(1, ncol(covariance)), function(at) {
    part <- rows_at(rows, at)
    x <- core_rows(layout, fit$design, part$x)$rows
    if (length(others) > 0L) x <- cbind(x, other_effects(part$groups, others, length(at)))
    own <- z[at, , drop = FALSE]
    shared <- group_share(common, group$codes[at], own)
    rest <- shared - group_share(posterior$group_regression, group$codes[at], own)
    turned <- rest %*% covariance
    variance <- group_variance(inverse, group$codes[at], own) + rowSums(turned * rest)
    out$variance[at] <<- variance
    out$along[at] <<- ifelse(variance > 0, 1 + rowSums((x - shared) * turned) / variance, 0)
  })
  out
}

# The shapes of z'v, one a row of z. Orders 0, 2, .. of what a negative number is multiplied with
# change their sign.
turned_shape <- function(fit, name, shapes, codes, z) {
  own <- shapes[, codes, drop = FALSE]
  if (ncol(z) == 1L) {
    even <- seq(1L, nrow(own), by = 2L)
    own[even, ] <- own[even, , drop = FALSE] * rep(sign(z[, 1L]), each = length(even))
    return(own)
  }
  directed_shape(own, linear_variance(fit, name)[, , codes, drop = FALSE], z)
}

# V + V sigma^{-1} W sigma^{-1} V, of two effects: 2 x 2 x m.
linear_variance <- function(fit, name) {
  sigma <- effect_covariances(fit)[[name]]
  own <- group_inverse(fit$posterior$group_precision)
  moved <- array(moved_covariance(fit$posterior, sigma), dim(own))
  p <- solve(sigma)
  for (g in seq_len(dim(own)[3L])) {
    ratio <- own[, , g] %*% p
    own[, , g] <- own[, , g] + ratio %*% moved[, , g] %*% t(ratio)
  }
  own
}

# The shape of z'v from its values in six directions of the half circle, in coordinates L^{-1} v,
# L L' the variances of two effects (2 x 2 x n). As a function of the direction it is a
# trigonometric polynomial, of odd harmonics in even orders and of even ones in odd orders.
directed_shape <- function(shapes, variance, z) {
  first <- sqrt(variance[1L, 1L, ])
  below <- variance[2L, 1L, ] / first
  last <- sqrt(pmax(variance[2L, 2L, ] - below^2, 0))
  angle <- atan2(last * z[, 2L], first * z[, 1L] + below * z[, 2L])
  directions <- 6L
  orders <- nrow(shapes) / directions
  out <- matrix(0, orders, ncol(shapes))
  even <- seq_len(orders) %% 2L == 1L
  for (k in seq_len(directions)) {
    x <- angle - pi * (k - 1) / directions
    own <- shapes[(k - 1L) * orders + seq_len(orders), , drop = FALSE]
    odd_harmonics <- (cos(x) + cos(3 * x) + cos(5 * x)) / 3
    even_harmonics <- (1 + 2 * cos(2 * x) + 2 * cos(4 * x) + cos(6 * x)) / 6
    out <- out + own * even * rep(odd_harmonics, each = orders) +
      own * (!even) * rep(even_harmonics, each = orders)
  }
  out
}
