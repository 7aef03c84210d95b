# bsvm_integrated: a Gaussian of the population-level coefficients and the effects of all factors
# but one together (joint_mean, joint_covariance: coefficients first, then the others' effects by
# factor, level, effect), and the law of that one's effects given those: group_mean (q x m),
# group_precision, group_regression (q x d x m). `integrated` is the number of the factor.

#' @export
effect_means.bsvm_integrated <- function(posterior, groups) {
  every_factor(posterior, groups, posterior$group_mean, posterior$joint_mean)
}

# A_g^{-1} + B_g S B_g' (diagonals only), with S the covariance of all that is not integrated.
#' @export
effect_sds.bsvm_integrated <- function(posterior, groups) {
  own <- posterior[c("group_mean", "group_precision", "group_regression")]
  own$covariance <- posterior$joint_covariance
  name <- names(groups)[posterior$integrated]
  every_factor(posterior, groups, effect_sds.bsvm_moments(own, groups[name])[[name]],
               sqrt(diag(posterior$joint_covariance)))
}

# list by factor: `own` of the integrated one, of the others their places in `joint`.
every_factor <- function(posterior, groups, own, joint) {
  others <- groups[-posterior$integrated]
  out <- by_factor(joint[-seq_along(posterior$mean)], others)
  out[[names(groups)[posterior$integrated]]] <- own
  out[names(groups)]
}

#' @export
linear_sd.bsvm_integrated <- function(posterior, fit, rows) {
  layout <- fit_layout(fit)
  name <- names(fit$groups)[posterior$integrated]
  inverse <- group_inverse(posterior$group_precision)
  variance <- numeric(nrow(rows$x))
  in_chunks(nrow(rows$x), 2^20 / length(posterior$joint_mean), function(at) {
    part <- rows_at(rows, at)
    core <- core_rows(layout, fit$design, part$x)
    core$rows <- cbind(core$rows, other_effects(part$groups, fit$groups[-posterior$integrated],
                                                length(at)))
    own <- part$groups[[name]]
    if (!is.null(own)) {
      z <- multipliers_of(own, nrow(posterior$group_mean))
      core$rows <- core$rows - group_share(posterior$group_regression, own$codes, z)
      core$rest <- core$rest + group_variance(inverse, own$codes, z)
    }
    variance[at] <<- row_variance(core, posterior$joint_covariance)
  })
  sqrt(pmax(variance, 0) + new_level_variance(fit, rows$groups))
}

# What rows multiply the effects of `groups` with, n x (all their effects).
other_effects <- function(rows, groups, n) {
  starts <- effect_starts(groups)
  out <- matrix(0, n, sum(effect_counts(groups)))
  for (name in intersect(names(rows), names(groups))) {
    entries <- effect_entries(rows[[name]], length(groups[[name]]$labels), starts[[name]])
    out[cbind(entries$row, entries$column)] <- entries$value
  }
  out
}

# ---- effects that are not normal ----------------------------------------------------------------

# How the distributions of the effects that were integrated out, given the coefficients, differ from
# normal ones (src/core/rows/integrated_shapes.cpp): an array of numbers, levels, components. Of two
# effects a level it would take long at each component, and is the same for all. NULL if none were.
effect_shapes <- function(fit, frame) {
  posterior <- fit$posterior
  if (!inherits(posterior, "bsvm_mixture") || !isTRUE(posterior$integrated > 0L)) return(NULL)
  name <- names(fit$groups)[posterior$integrated]
  components <- lapply(seq_along(posterior$weights), component_fit, fit = fit)
  links <- stack_columns(lapply(components, frame_links, frame = frame, name = name))
  theta <- stack_columns(lapply(components, function(own) {
    free_of_covariance(effect_covariances(own)[[name]])
  }))
  if (length(fit$groups[[name]]$labels) == 2L) {
    links <- links %*% posterior$weights
    theta <- theta %*% posterior$weights
  }
  parts <- factor_problem(fit, frame, name, links)
  shapes <- with_core_conditions(
    core_effect_shapes(parts$problem, parts$model, rbind(diag(ncol(links)), theta),
                       fit$control$threads)
  )
  array(shapes, c(nrow(shapes), ncol(shapes) / ncol(links), ncol(links)))
}

component_shapes <- function(posterior, k) {
  if (is.null(posterior$shapes)) return(NULL)
  own <- posterior$shapes[, , min(k, dim(posterior$shapes)[3L]), drop = FALSE]
  matrix(own, nrow(own))
}

# Links of the frame's rows without the effects of factor `name`.
frame_links <- function(fit, frame, name) {
  rows <- frame[c("x", "implicit", "offset")]
  rows$groups <- frame$groups[setdiff(names(frame$groups), name)]
  link_of(rows, population_mean(fit$posterior, fit$design),
          effect_means(fit$posterior, fit$groups))
}

# E p(+1 | f) of rows by one component: f has the normal distribution of posterior_linear() but for
# the effects that were integrated out, with `shapes` (numbers x levels). `mean` has the offset.
component_probability <- function(fit, rows, mean, sd, name, shapes) {
  group <- if (!is.null(shapes)) rows$groups[[name]]
  if (is.null(group)) return(normal_probability(mean, sd))
  z <- multipliers_of(group, nrow(fit$posterior$group_mean))
  inverse <- group_inverse(fit$posterior$group_precision)
  variance <- group_variance(inverse, group$codes, z)
  skewed <- variance > 0 & is.finite(mean) & is.finite(sd)
  p <- mean
  p[!skewed] <- normal_probability(mean[!skewed], sd[!skewed])
  at <- which(skewed)
  z <- z[at, , drop = FALSE]
  own <- shapes[, group$codes[at], drop = FALSE]
  own <- if (ncol(z) == 1L) turned_shape(own, z[, 1L])
         else directed_shape(own, inverse[, , group$codes[at], drop = FALSE], z)
  p[at] <- with_core_conditions(core_shaped_probability(
    mean[at], sqrt(variance[at]), sqrt(pmax(sd[at]^2 - variance[at], 0)), own
  ))
  p
}

# Orders 2, 4, .. of what a negative number is multiplied with change their sign.
turned_shape <- function(shape, z) {
  even <- seq(1L, nrow(shape), by = 2L)
  shape[even, ] <- shape[even, , drop = FALSE] * rep(sign(z), each = length(even))
  shape
}

# The shape of z'u from its values in six directions of the half circle, in coordinates L^{-1} u,
# L L' the covariances of two effects (2 x 2 x n). As a function of the direction it is a
# trigonometric polynomial, of odd harmonics in even orders and of even ones in odd orders.
directed_shape <- function(shapes, covariance, z) {
  first <- sqrt(covariance[1L, 1L, ])
  below <- covariance[2L, 1L, ] / first
  last <- sqrt(pmax(covariance[2L, 2L, ] - below^2, 0))
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
    out <- out + own * ifelse(even, 1, 0) * rep(odd_harmonics, each = orders) +
      own * ifelse(even, 0, 1) * rep(even_harmonics, each = orders)
  }
  out
}
