# Leave-one-out scores of a Gaussian fit in closed form. Of row i let q(f) = N(m, v), and g and w
# the slope and the negative curvature in m of E log p(y | f): at the optimum of the bound the row's
# share of the precision of f is w, so that without it
#
#   v_c = v / (1 - v w),  m_c = m - v_c g,  score log E p(y | f) under N(m_c, v_c),
#
# for a normal likelihood with known variance exactly. Variance u that no coefficient explains, of
# inducing inputs (R/gp.R), is the row's own: v - u is in place of v, and the score is under
# N(m_c, v_c + u). Of a mixture over inferred numbers with
# weights pi_k the weight of part k without the row is pi_k over its own score's exponential, and
#
#   p(y_i | the others) = 1 / sum_k pi_k / p_k(y_i | the others).

# Rows whose own share v w of their precision is near one hold up their fit by themselves: what
# would be left is not known from here.
largest_share <- 0.8

# Group effects of classes have posteriors that are far from normal.
has_closed_loo <- function(object, by) {
  by == "row" && is_approximation(object$engine) && !is_mode(object$engine) &&
    (length(object$groups) == 0L || is_kind(object$response, "numbers"))
}

# n x 3: `elpd`, `lpd`, both with weights, and the largest `share` over the parts.
closed_scores <- function(object, rows) {
  posterior <- object$posterior
  points <- if (is_residual(object$likelihood)) residual_points(object)$values else list()
  weights <- if (inherits(posterior, "bsvm_mixture")) posterior$weights else 1
  n <- length(rows$y)
  out <- matrix(0, n, 3L, dimnames = list(NULL, c("elpd", "lpd", "share")))
  in_chunks(n, 2^19 / length(weights), function(at) {
    part <- rows_at(rows, at)
    links <- link_points(posterior, object, part)
    unexplained <- left_over_points(object, part, dim(links$sd))
    if (!is.null(rows$offset)) links$mean <- links$mean + rows$offset[at]
    own_points <- values_by_row(object$likelihood, points, part$scale_columns)
    each <- vapply(seq_along(weights), function(k) {
      likelihood <- object$likelihood
      likelihood$values <- values_at(own_points, k)
      part_scores(likelihood, rows$y[at], rows$weight[at], links$mean[, k], links$sd[, k]^2,
                  unexplained[, k])
    }, matrix(0, length(at), 3L))
    own <- rep(log(weights), each = length(at))
    elpd <- matrix(each[, 1L, ], length(at))
    lpd <- matrix(each[, 2L, ], length(at))
    out[at, 1L] <<- -log_row_sums(own - elpd)
    out[at, 2L] <<- log_row_sums(own + lpd)
    out[at, 3L] <<- over_columns(matrix(each[, 3L, ], length(at)), pmax)
  })
  out
}

log_row_sums <- function(logs) {
  top <- over_columns(logs, pmax)
  top + log(rowSums(exp(logs - top)))
}

# The variance left over in rows at each part of the posterior; `dim`: n and the number of parts.
left_over_points <- function(object, rows, dim) {
  if (is.null(rows$left_over)) return(array(0, dim))
  if (!inherits(object$posterior, "bsvm_mixture")) {
    return(as.matrix(left_over_variance(object, rows)))
  }
  component_moments(object, function(own) list(mean = left_over_variance(own, rows)))$mean
}

# n x 3 of one part.
part_scores <- function(likelihood, y, weight, mean, variance, unexplained = 0) {
  variance <- pmax(variance, least_variance(mean))
  if (is.null(weight)) weight <- rep(1, length(y))
  here <- expected_terms(likelihood, y, weight, mean, variance)
  explained <- pmax(variance - unexplained, 0)
  share <- pmax(explained * here$curvature, 0)
  left <- explained / (1 - pmin(share, 0.99))
  cbind(log_average(likelihood, y, weight, mean - left * here$slope, left + unexplained),
        log_average(likelihood, y, weight, mean, variance), share)
}

# A row may have a linear predictor that is known, as with all predictors zero and no intercept.
least_variance <- function(mean) 1e-14 * (1 + mean^2)

# Gauss-Legendre nodes on panels between the bends of log p and some quantiles of q.
panel_rule <- function(likelihood, y, mean, sd, size = 12L) {
  rule <- legendre_rule(size)
  bends <- density_bends(likelihood, y)
  ends <- cbind(outer(sd, c(-9, -5, -3, -1.5, 0, 1.5, 3, 5, 9)) + mean,
                pmin(pmax(bends, mean - 9 * sd), mean + 9 * sd))
  ends <- t(apply(ends, 1L, sort))
  low <- ends[, -ncol(ends), drop = FALSE]
  half <- (ends[, -1L, drop = FALSE] - low) / 2
  f <- do.call(cbind, lapply(rule$node, function(x) low + half * (1 + x)))
  weight <- do.call(cbind, lapply(rule$weight, function(w) half * w))
  list(f = f, weight = weight * stats::dnorm(f, mean, sd))
}

# list(slope, curvature), the latter negative, of E log p(y | f)^weight in the mean of f ~ N(mean,
# variance). By Stein's identities the slope is E[(f - m) log p] / v, and the curvature
# -E[((f - m)^2 / v - 1) log p] / v.
expected_terms <- function(likelihood, y, weight, mean, variance) UseMethod("expected_terms")

#' @export
expected_terms.bsvm_likelihood <- function(likelihood, y, weight, mean, variance) {
  rule <- panel_rule(likelihood, y, mean, sqrt(variance))
  logs <- weight * log_density(likelihood, rep(y, ncol(rule$f)), rule$f) * rule$weight
  away <- rule$f - mean
  list(slope = rowSums(away * logs) / variance,
       curvature = -rowSums((away^2 / variance - 1) * logs) / variance)
}

# log E p(y | f)^weight.
log_average <- function(likelihood, y, weight, mean, variance) UseMethod("log_average")

#' @export
log_average.bsvm_likelihood <- function(likelihood, y, weight, mean, variance) {
  rule <- panel_rule(likelihood, y, mean, sqrt(variance))
  logs <- weight * log_density(likelihood, rep(y, ncol(rule$f)), rule$f) + log(rule$weight)
  log_row_sums(matrix(logs, length(y)))
}

# Where log p(y | f) bends as a function of f: n x some.
density_bends <- function(likelihood, y) UseMethod("density_bends")

#' @export
density_bends.bsvm_likelihood <- function(likelihood, y) matrix(0, length(y), 0L)

# Nodes and weights on (-1, 1), by Golub and Welsch (1969).
legendre_rule <- function(size) {
  k <- seq_len(size - 1L)
  beside <- k / sqrt(4 * k^2 - 1)
  jacobi <- matrix(0, size, size)
  jacobi[cbind(k, k + 1L)] <- jacobi[cbind(k + 1L, k)] <- beside
  found <- eigen(jacobi, symmetric = TRUE)
  list(node = found$values, weight = 2 * found$vectors[1L, ]^2)
}

# As loo() returns it; NULL where a row's share is too large, unless `anyway`.
closed_loo <- function(object, rows, anyway) {
  scores <- closed_scores(object, rows)
  if (!anyway && max(scores[, "share"]) > largest_share) return(NULL)
  pointwise <- cbind(elpd_loo = scores[, 1L], p_loo = scores[, 2L] - scores[, 1L],
                     looic = -2 * scores[, 1L])
  n <- nrow(pointwise)
  estimates <- cbind(Estimate = colSums(pointwise), SE = sqrt(n * apply(pointwise, 2L, stats::var)))
  structure(list(estimates = estimates, pointwise = pointwise, share = scores[, "share"]),
            dims = c(1L, n), yhash = response_hash(object, "row"), class = c("bsvm_loo", "loo"))
}

#' @export
print.bsvm_loo <- function(x, digits = 1L, ...) {
  cat("Leave-one-out scores of ", nrow(x$pointwise),
      " rows, from the Gaussian posterior in closed form\n\n", sep = "")
  print(round(x$estimates, digits), quote = FALSE)
  high <- sum(x$share > largest_share)
  if (high > 0L) {
    cat("\n", high, " row", if (high > 1L) "s hold" else " holds",
        " up the fit alone (`share` above ", largest_share, "): use method = \"draws\".\n",
        sep = "")
  }
  invisible(x)
}
