# bsvm_sparse_moments: a Gaussian with several grouping factors or sparse predictors, all of which
# are columns of one sparse matrix. `factor` is the Cholesky factor of the precision of effects and
# coefficients together, which the core turns into the variance of any linear function.

#' @export
effect_means.bsvm_sparse_moments <- function(posterior, groups) {
  by_factor(posterior$effects, groups)
}

#' @export
effect_sds.bsvm_sparse_moments <- function(posterior, groups) {
  by_factor(posterior$effects_sd, groups)
}

# A row with a missing predictor has no standard deviation.
#' @export
linear_sd.bsvm_sparse_moments <- function(posterior, fit, rows) {
  layout <- fit_layout(fit)
  variance <- rep(NA_real_, nrow(rows$x))
  complete <- which(!is.na(drop(as.matrix(rows$x %*% rep(1, ncol(rows$x))))))
  in_chunks(length(complete), 2^20 / max(1, layout$size), function(part) {
    at <- complete[part]
    part <- rows_at(rows, at)
    core <- core_rows(layout, fit$design, part$x)
    effects <- effect_columns(part$groups, fit$groups, sparse_rows(fit$design, part$x), length(at))
    variance[at] <<- core_linear_sd(posterior$factor, effects, core$rows)^2 + core$rest
  })
  sqrt(pmax(variance, 0) + new_level_variance(fit, rows$groups))
}

# What the rows multiply the effects with, then the sparse predictors, as a sparse matrix: list(i,
# p, x, nrow), compressed by columns, counted from 0. Missing and new levels have no entries.
effect_columns <- function(rows, groups, predictors, n) {
  starts <- effect_starts(groups)
  size <- sum(effect_counts(groups))
  entries <- lapply(names(rows), function(name) {
    effect_entries(rows[[name]], length(groups[[name]]$labels), starts[[name]])
  })
  if (!is.null(predictors)) {
    entries <- c(entries, list(list(row = predictors@i + 1L, value = predictors@x,
                                    column = size + column_of(predictors))))
    size <- size + ncol(predictors)
  }
  compress_columns(entries, size, n)
}

compress_columns <- function(entries, size, n) {
  take <- function(part) unlist(lapply(entries, `[[`, part))
  row <- as.integer(take("row"))
  column <- as.integer(take("column"))
  order <- order(column, row)
  list(i = row[order] - 1L, p = c(0L, cumsum(tabulate(column, size))),
       x = as.double(take("value"))[order], nrow = n)
}

effect_entries <- function(rows, q, start) {
  at <- known(rows$codes)
  z <- multipliers_of(rows, q)
  column <- start + (rows$codes[at] - 1) * q
  list(row = rep(at, q), column = as.vector(outer(column, seq_len(q), `+`)),
       value = as.vector(z[at, , drop = FALSE]))
}
