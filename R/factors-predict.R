# The link of rows of a model with a factor term: given a draw of everything, f of a row is normal,
# its mean linear in the variables, its variance what these leave over.

# list(mean, variance) of the rows' f, k x S each.
factor_links <- function(fit, rows) {
  basis <- factors_of(fit)
  x <- rows$made[[basis$label]]
  absent <- is.na(x)
  gaps <- rowSums(absent) > 0 | !is.null(basis$kernel)
  whole <- rows[setdiff(names(rows), "made")]
  whole$x <- with_made_places(fit, rows$x)
  own <- columns_of(list(basis))
  center <- rep(fit$design$center[own], each = nrow(x))
  if (is.null(basis$kernel)) whole$x[, own] <- ifelse(absent, center, x)
  mean <- linear_draws(fit, whole)
  draws <- draw_matrix(fit$posterior$factors$identified)
  variance <- matrix(draws["leftover", ], nrow(mean), ncol(mean), byrow = TRUE)
  if (any(gaps)) {
    part <- kept_links(fit, standard_variables(x[gaps, , drop = FALSE], basis))
    whole$x[, own] <- center # adds nothing
    rest <- linear_draws(fit, rows_at(whole, which(gaps)))
    if (is.null(basis$kernel)) rest <- rest - rep(draws["offset", ], each = sum(gaps))
    mean[gaps, ] <- (rest[, part$at, drop = FALSE] + part$mean)[, part$of, drop = FALSE]
    variance[gaps, ] <- part$variance[, part$of, drop = FALSE]
  }
  list(mean = mean, variance = variance)
}

# linear_draws() of rows: noise of each is what its variables leave over.
factor_link_draws <- function(fit, rows) {
  links <- factor_links(fit, rows)
  links$mean + sqrt(links$variance) * with_stream(fit, "factors", stats::rnorm(length(links$mean)))
}

# posterior_linear() of rows: means without that noise.
factor_linear <- function(fit, rows, sd) {
  out <- list(mean = numeric(nrow(rows$x)), sd = if (sd) numeric(nrow(rows$x)))
  in_row_chunks(fit$posterior, rows, function(at, part) {
    links <- factor_links(fit, part)
    out$mean[at] <<- rowMeans(links$mean)
    if (sd) out$sd[at] <<- sqrt(row_variances(links$mean) + rowMeans(links$variance))
  })
  out
}

# The factors' share of the link of rows that lack some of the (standardised) variables, or under a
# kernel, by every so many draws: list(mean, variance), rows x m; `at`, their numbers among all S
# draws; `of` (S), which of them stands for each.
kept_links <- function(fit, x) {
  kept <- fit$posterior$factors$kept
  total <- dim(fit$posterior$coefficients)[-1L]
  m <- length(kept$at)
  chain <- rep(seq_len(total[2L]) - 1L, each = total[1L])
  nearest <- findInterval(seq_len(total[1L]), (kept$at[-1L] + kept$at[-m]) / 2) + 1L
  c(kept_scores(kept, x, fit$control, TRUE, factors_of(fit)$feedback)[c("mean", "variance")],
    list(at = as.vector(outer(kept$at, total[1L] * (seq_len(total[2L]) - 1L), `+`)),
         of = rep(nearest, total[2L]) + m * chain))
}

# What kept draws of all chains (m) say of rows with these standardised variables: scores (rows x K x
# m), covariance (K x K x patterns x m) and the pattern of each row, what is missing of it; with `links`
# mean and variance of the factors' share of the link (rows x m).
kept_scores <- function(kept, x, control, links = FALSE, feedback = TRUE) {
  check_kept_loadings(kept)
  size <- dim(kept$loadings)
  m <- prod(size[3:4])
  draws <- list(loadings = array(kept$loadings, c(size[1:2], m)), alpha = matrix(0, 0L, m))
  if (!links) kept <- c(kept[c("mean", "noise")], list(beta = numeric(size[2L] * m)))
  for (name in intersect(names(kept), c("mean", "noise", "beta", "b", "theta", "variance",
                                        "inputs"))) {
    draws[[name]] <- matrix(kept[[name]], ncol = m)
  }
  rows <- list(x = x, covariates = matrix(0, nrow(x), 0L), offset = NULL)
  draws <- c(draws, kept[intersect(names(kept), c("kernel", "points"))])
  with_core_conditions(core_factor_predict(rows, draws, list(
    feedback = feedback, threads = control$threads, verbose = progress_pace(control$verbose))))
}

check_kept_loadings <- function(kept) {
  if (length(kept$at) > 0L) return(invisible())
  abort("unsupported", "The run was interrupted before loadings were kept. Fit again, and let it ",
        "run longer.")
}

# ---- log-likelihood -----------------------------------------------------------------------------

# S x n of rows, what variables leave over integrated out. `observed` as from observed_rows().
factor_log_lik <- function(fit, rows, draw_ids, observed, likelihood) {
  draw_ids <- check_draw_ids(draw_ids, draw_count(fit$posterior))
  out <- matrix(NA_real_, length(draw_ids), nrow(rows$x), dimnames = list(NULL, rows$names))
  weight <- if (is.null(observed$weight)) rep(1, nrow(rows$x)) else observed$weight
  in_chunks(nrow(rows$x), 2^16 / length(draw_ids), function(at) {
    links <- lapply(factor_links(fit, rows_at(rows, at)), function(x) t(x[, draw_ids, drop = FALSE]))
    if (!is.null(rows$offset)) links$mean <- links$mean + rep(rows$offset[at], each = length(draw_ids))
    for (j in which(!is.na(observed$y[at]))) {
      out[, at[j]] <<- if (weight[at[j]] == 0) 0 else {
        drawn_log_average(likelihood, observed$y[at[j]], weight[at[j]], links$mean[, j],
                          links$variance[, j])
      }
    }
  })
  out
}

# log E p(y | f)^weight of one row, f ~ N(mean, variance), a draw each.
drawn_log_average <- function(likelihood, y, weight, mean, variance) {
  if (weight == 1 && is_kind(new_response(response_kind(likelihood)), "classes")) {
    return(log(averaged_response(likelihood, y * mean, sqrt(variance))))
  }
  each <- function(x) rep_len(x, length(mean))
  log_average(likelihood, each(y), each(weight), mean, pmax(variance, 1e-20))
}
