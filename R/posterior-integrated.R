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

