# bsvm_draws: coefficients (p, draws, chains) and effects (in all, draws, chains; NULL if they were
# not kept) on the core's scale; variances, a list by block of arrays (k, draws, chains). Means are
# averages of conditional means (Rao-Blackwell). S draws in all stand chain by chain.

#' @export
effect_means.bsvm_draws <- function(posterior, groups) {
  by_factor(posterior$effects_mean, groups)
}

#' @export
effect_sds.bsvm_draws <- function(posterior, groups) {
  by_factor(posterior$effects_sd, groups)
}

# Unseen coefficients are N(0, s2) given the variance s2.
#' @export
unseen_variance.bsvm_draws <- function(posterior, hyper) hyper[["mean"]]

#' @export
linear_sd.bsvm_draws <- function(posterior, fit, rows) {
  layout <- fit_layout(fit)
  variance <- numeric(nrow(rows$x))
  in_row_chunks(posterior, rows, function(at, part) {
    core <- core_rows(layout, fit$design, part$x)
    variance[at] <<- row_variances(seen_draws(fit, core, part)) + core$rest
  })
  sqrt(variance + new_level_variance(fit, rows$groups))
}

#' @export
linear_limits.bsvm_draws <- function(posterior, fit, rows, link, level) {
  limits <- matrix(NA_real_, nrow(rows$x), 2L, dimnames = list(NULL, c("lower", "upper")))
  in_row_chunks(posterior, rows, function(at, part) {
    draws <- linear_draws(fit, part)
    if (has_unknown(part)) draws <- draws + with_given_seed(1, unknown_draws(fit, part))
    limits[at, ] <<- row_quantiles(draws, level)
  })
  limits
}

#' @export
coefficient_limits.bsvm_draws <- function(posterior, fit, chosen, level) {
  limits <- matrix(NA_real_, length(chosen), 2L, dimnames = list(NULL, c("lower", "upper")))
  in_chunks(length(chosen), 2^24 / draw_count(posterior), function(at) {
    limits[at, ] <<- row_quantiles(coefficient_draws(fit, chosen[at]), level)
  })
  limits
}

# Without the draws of the effects, a Gaussian's.
#' @export
effect_limits.bsvm_draws <- function(posterior, fit, long, level) {
  if (is.null(posterior$effects)) return(normal_limits(long$condval, long$condsd, level))
  limits <- matrix(NA_real_, nrow(long), 2L, dimnames = list(NULL, c("lower", "upper")))
  names <- effect_name(long$grpvar, long$grp, long$term)
  at <- match(names, effect_names(fit$groups))
  in_chunks(length(at), 2^22 / draw_count(posterior), function(part) {
    limits[part, ] <<- row_quantiles(draw_matrix(posterior$effects[at[part], , , drop = FALSE]),
                                     level)
  })
  limits
}

# With more coefficients than this the covariance is computed only when asked for.
most_in_covariance <- 1000

kept_covariance <- function(coefficients) {
  if (dim(coefficients)[1L] <= most_in_covariance) stats::cov(t(draw_matrix(coefficients)))
}

# Variances of the core's dense coefficients `at`.
core_variances <- function(posterior, at) {
  if (!is.null(posterior$covariance)) return(covariance_diagonal(posterior$covariance)[at])
  row_variances(draw_matrix(posterior$coefficients[at, , , drop = FALSE]))
}

draw_count <- function(posterior) prod(dim(posterior$coefficients)[-1L])

in_row_chunks <- function(posterior, rows, f) {
  size <- 2^22 / max(1, draw_count(posterior), nrow(posterior$coefficients))
  in_chunks(nrow(rows$x), size, function(at) f(at, rows_at(rows, at)))
}

# Any array whose first dimension counts quantities, as a matrix with a column a draw.
draw_matrix <- function(array) {
  matrix(array, dim(array)[1L], prod(dim(array)[-1L]),
         dimnames = list(dimnames(array)[[1L]], NULL))
}

# NA of fewer than two draws.
row_variances <- function(draws) {
  if (ncol(draws) < 2L) return(rep(NA_real_, nrow(draws)))
  rowSums((draws - rowMeans(draws))^2) / (ncol(draws) - 1)
}

# k x 2, NA for rows that are, and of fewer than two draws.
row_quantiles <- function(draws, level) {
  tails <- c(1 - check_level(level), 1 + level) / 2
  limits <- apply(draws, 1L, function(x) {
    if (anyNA(x) || length(x) < 2L) c(NA, NA) else stats::quantile(x, tails, names = FALSE)
  })
  limits <- matrix(limits, ncol = 2L, byrow = TRUE)
  dimnames(limits) <- list(NULL, c("lower", "upper"))
  limits
}

# k x S draws of linear functions, one a row.
linear_draws <- function(fit, rows) {
  if (!is.null(rows$made)) return(made_draws(fit, rows))
  layout <- fit_layout(fit)
  draws <- seen_draws(fit, core_rows(layout, fit$design, rows$x), rows)
  for (r in layout$rotation) {
    draws <- draws + unseen_draws(fit, r, standardised(fit$design, rows$x, r$columns))
  }
  for (name in names(rows$groups)) {
    if (0L %in% rows$groups[[name]]$codes) {
      draws <- draws + new_level_draws(fit, name, rows$groups[[name]])
    }
  }
  if (is.null(rows$left_over)) draws else draws + left_over_draws(fit, rows)
}

# The part of coefficients and levels the fit has seen.
seen_draws <- function(fit, core, rows) {
  draws <- core$rows %*% draw_matrix(fit$posterior$coefficients) + shift_of(fit$design, rows$x)
  if (length(rows$groups) > 0L) draws <- draws + level_draws(fit, rows$groups)
  if (is.null(fit$design$sparse)) return(draws)
  effects <- draw_matrix(kept_effects(fit$posterior))
  tail <- nrow(effects) - length(fit$design$sparse) + seq_along(fit$design$sparse)
  draws + as.matrix(sparse_rows(fit$design, rows$x) %*% effects[tail, , drop = FALSE])
}

# z'u of rows of known levels, k x S.
level_draws <- function(fit, rows) {
  effects <- draw_matrix(kept_effects(fit$posterior))
  starts <- effect_starts(fit$groups)
  draws <- matrix(0, length(rows[[1L]]$codes), ncol(effects))
  for (name in names(rows)) {
    at <- known(rows[[name]]$codes)
    q <- length(fit$groups[[name]]$labels)
    z <- multipliers_of(rows[[name]], q)
    first <- starts[[name]] + (rows[[name]]$codes[at] - 1) * q
    for (k in seq_len(q)) {
      draws[at, ] <- draws[at, ] + z[at, k] * effects[first + k, , drop = FALSE]
    }
  }
  draws
}

kept_effects <- function(posterior) {
  if (is.null(posterior$effects)) {
    abort("unsupported", "The draws of the group effects were not kept. Fit with ",
          "`keep_effects = TRUE` in the engine, or leave the groups out: predict() and ",
          "posterior_linpred() do with `re_formula = NA`.")
  }
  posterior$effects
}

# p x S draws of the coefficients `chosen` on the user's scale.
coefficient_draws <- function(fit, chosen = seq_along(fit$design$columns)) {
  design <- fit$design
  if (length(design$rotation) + length(design$sparse) > 0L) return(turned_draws(fit, chosen))
  draws <- draw_matrix(fit$posterior$coefficients)
  own <- draws[chosen, , drop = FALSE] / design$scale[chosen]
  at <- match(design$intercept, chosen, 0L)
  if (at > 0L) {
    own[at, ] <- own[at, ] - drop((design$center / design$scale) %*% draws) + design$shift
  }
  own
}

# Where columns are rotated or sparse: those of linear_draws() at rows that pick a coefficient each,
# without such rows, which would be a matrix of p x p.
turned_draws <- function(fit, chosen) {
  design <- fit$design
  layout <- fit_layout(fit)
  draws <- draw_matrix(fit$posterior$coefficients)
  own <- matrix(0, length(chosen), ncol(draws))
  kept <- match(chosen, layout$kept, 0L)
  own[kept > 0L, ] <- draws[kept, , drop = FALSE]
  for (r in layout$rotation) {
    at <- match(chosen, r$columns, 0L)
    own[at > 0L, ] <- r$basis[at, , drop = FALSE] %*% draws[r$at, , drop = FALSE] +
      unseen_coefficients(fit, r, at[at > 0L])
  }
  at <- match(chosen, design$sparse, 0L)
  if (any(at > 0L)) {
    effects <- draw_matrix(kept_effects(fit$posterior))
    own[at > 0L, ] <- effects[nrow(effects) - length(design$sparse) + at[at > 0L], ,
                             drop = FALSE]
  }
  own <- own / design$scale[chosen]
  at <- match(design$intercept, chosen, 0L)
  if (at > 0L && (any(design$center != 0) || design$shift != 0)) {
    own[at, ] <- linear_draws(fit, list(x = selector(design, design$intercept)))
  }
  own
}

# unseen_draws() of the coefficients `at` of a rotated block themselves: k x S.
unseen_coefficients <- function(fit, rotation, at) {
  basis <- rotation$basis
  own <- basis[at, , drop = FALSE]
  draws <- matrix(0, length(at), draw_count(fit$posterior))
  if (length(at) == 0L || isTRUE(sum(1 - rowSums(own^2)) <= 1e-20 * length(at))) return(draws)
  sd <- sqrt(block_variances(fit, rotation$block))
  with_stream(fit, paste("unseen", rotation$block), {
    in_chunks(ncol(draws), 2^20 / nrow(basis), function(part) {
      noise <- matrix(stats::rnorm(nrow(basis) * length(part)), nrow(basis))
      draws[, part] <<- noise[at, , drop = FALSE] - own %*% crossprod(basis, noise)
    })
  })
  draws * rep(sd, each = length(at))
}

# Standard deviations of all coefficients: as many draws at a time as make 2^24 numbers.
drawn_sd <- function(fit) {
  sd <- numeric(length(fit$design$columns))
  in_chunks(length(sd), 2^24 / draw_count(fit$posterior), function(at) {
    sd[at] <<- sqrt(row_variances(coefficient_draws(fit, at)))
  })
  sd
}

#' @export
sparse_covariance.bsvm_draws <- function(fit) stats::cov(t(coefficient_draws(fit)))

# ---- draws that no data inform: made when asked for, the same each time ----------------------

# Runs `code` on a stream of its own, a function of the fit's seed and `key`; R's is left alone.
with_stream <- function(fit, key, code) {
  with_seed_kept({
    set.seed(hash_text(paste(fit$sampling$seed, key)), "Mersenne-Twister", "Inversion")
    code
  })
}

# A whole number below 2^31 from a text.
hash_text <- function(text) {
  value <- 5381
  for (code in utf8ToInt(enc2utf8(text))) value <- (value * 33 + code) %% 2147483647
  value
}

# x (I - basis basis') e, e_j ~ N(0, s2): k x S, for rows x of a rotated block.
unseen_draws <- function(fit, rotation, x) {
  beyond <- x - tcrossprod(x %*% rotation$basis, rotation$basis)
  sd <- sqrt(block_variances(fit, rotation$block))
  draws <- matrix(0, nrow(x), draw_count(fit$posterior))
  if (isTRUE(sum(beyond^2) <= 1e-20 * sum(x^2))) return(draws)
  with_stream(fit, paste("unseen", rotation$block), {
    in_chunks(ncol(draws), 2^20 / ncol(x), function(at) {
      draws[, at] <<- beyond %*% matrix(stats::rnorm(ncol(x) * length(at)), ncol(x))
    })
  })
  draws * rep(sd, each = nrow(x))
}

# z'u of rows whose level is new, k x S: u ~ N(0, Sigma) given the draw of Sigma. The effects of a
# level depend on its name alone, not on which other rows there are.
new_level_draws <- function(fit, name, rows) {
  effects <- level_effects(fit, name)
  draws <- matrix(0, length(rows$codes), draw_count(fit$posterior))
  new <- which(rows$codes %in% 0L)
  z <- multipliers_of(rows, length(fit$groups[[name]]$labels))
  for (level in split(new, rows$values[new])) {
    own <- effects(paste("level", name, rows$values[level[1L]]))
    draws[level, ] <- z[level, , drop = FALSE] %*% own
  }
  draws
}

# A function of a level's key: its effects, q x S. Those of several responses are correlated
# (R/responses.R).
level_effects <- function(fit, name) {
  if (!is.null(fit$joint)) return(joint_effects(fit, name))
  roots <- covariance_roots(fit, name)
  size <- dim(roots)
  function(key) {
    apply_roots(roots, with_stream(fit, key, matrix(stats::rnorm(size[1L] * size[3L]), size[1L])))
  }
}

# Root times noise, draw by draw: q x S.
apply_roots <- function(roots, noise) {
  out <- 0 * noise
  for (k in seq_len(nrow(noise))) for (j in seq_len(k)) {
    out[k, ] <- out[k, ] + roots[k, j, ] * noise[j, ]
  }
  out
}
