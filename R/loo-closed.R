# Leave-one-out scores of a Gaussian fit in closed form. Of row i let q(f) = N(m, v), and g and w
# the slope and the negative curvature in m of E log p(y | f): at the optimum of the bound the row's
# share of the precision of f is w, so that without it
#
#   v_c = v / (1 - v w),  m_c = m - v_c g,  score log E p(y | f) under N(m_c, v_c),
#
# for a normal likelihood with known variance exactly. engine_gaussian() has matched moments, though:
# N(m, v) has the moments of N(m_c, v_c) p(y | f), and where a row is a large share of v, as with
# short length scales, the formula is far off. There N(m_c, v_c) is found from that condition, which
# of a row of weight k is one of each k-th part of the row. Variance u that no coefficient explains, of
# inducing inputs (R/gp.R), is the row's own: v - u is in place of v, and the score is under
# N(m_c, v_c + u); with it moments are not matched. Of a mixture over inferred numbers with
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
  explains_all <- !leaves_over(object)
  n <- length(rows$y)
  out <- matrix(0, n, 3L, dimnames = list(NULL, c("elpd", "lpd", "share")))
  size <- min(2^19 / length(weights), if (!is.null(rows$made)) 2^20 / length(object$design$columns))
  in_chunks(n, size, function(at) {
    part <- rows_at(rows, at)
    links <- link_points(posterior, object, part)
    least <- least_variance(links$mean, object$design)
    unexplained <- left_over_points(object, part, dim(links$sd))
    if (!is.null(rows$offset)) links$mean <- links$mean + rows$offset[at]
    own_points <- values_by_row(object$likelihood, points, part$scale_columns)
    each <- vapply(seq_along(weights), function(k) {
      likelihood <- object$likelihood
      likelihood$values <- values_at(own_points, k)
      part_scores(likelihood, rows$y[at], rows$weight[at], links$mean[, k],
                  pmax(links$sd[, k]^2, least[, k]), unexplained[, k], isTRUE(posterior$matched[k]) && explains_all)
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

leaves_over <- function(object) largest_left_over(object) >= least_left

# The variance left over in rows at each part of the posterior; `dim`: n and the number of parts.
left_over_points <- function(object, rows, dim) {
  if (!leaves_over(object)) return(array(0, dim))
  if (!inherits(object$posterior, "bsvm_mixture")) {
    return(as.matrix(left_over_variance(object, rows)))
  }
  component_moments(object, function(own) list(mean = left_over_variance(own, rows)))$mean
}

# n x 3 of one part.
part_scores <- function(likelihood, y, weight, mean, variance, unexplained, matched) {
  if (is.null(weight)) weight <- rep(1, length(y))
  here <- expected_terms(likelihood, y, weight, mean, variance)
  explained <- pmax(variance - unexplained, 0)
  share <- pmax(explained * here$curvature, 0)
  left <- explained / (1 - pmin(share, 0.99))
  without <- list(mean = mean - left * here$slope, variance = left)
  large <- which(matched & share > least_share & weight > 0)
  if (length(large) > 0L) {
    own <- matched_without(rows_of_likelihood(likelihood, large), y[large], weight[large],
                           mean[large], variance[large], lapply(without, `[`, large))
    for (name in names(own)) without[[name]][large] <- own[[name]]
    share[large] <- pmax(1 - variance[large] / own$variance, 0)
  }
  cbind(log_average(likelihood, y, weight, without$mean, without$variance + unexplained),
        log_average(likelihood, y, weight, mean, variance), share)
}

least_share <- 0.01  # of a row in its own precision, from where matched moments are looked at

# The likelihood of these rows, of one with numbers that differ by row.
rows_of_likelihood <- function(likelihood, rows) {
  likelihood$values <- lapply(likelihood$values, function(value) {
    if (length(value) > 1L) value[rows] else value
  })
  likelihood
}

# list(mean, variance) without the row, from what it is by slope and curvature: the sites that give
# N(mean, variance) its moments, by rounds of moment matching at these moments. Rows whose rounds do
# not end stay as they are.
most_rounds <- 100L
matched_without <- function(likelihood, y, weight, mean, variance, without) {
  precision <- weight_shares(1 / variance, 1 / without$variance, weight)
  linear <- weight_shares(mean / variance, without$mean / without$variance, weight)
  lost <- !is.finite(1 / precision) | !is.finite(linear) | precision <= 0
  going <- rep(TRUE, length(y))
  for (round in seq_len(most_rounds)) {
    i <- which(going & !lost)
    if (length(i) == 0L) break
    v <- 1 / precision[i]
    m <- linear[i] * v
    tilted <- tilted_moments(rows_of_likelihood(likelihood, i), y[i], m, v)
    next_precision <- 1 / variance[i] - (1 / tilted$variance - precision[i])
    next_linear <- mean[i] / variance[i] - (tilted$mean / tilted$variance - linear[i])
    known <- is.finite(next_precision) & is.finite(next_linear)
    lost[i[!known]] <- TRUE
    if (!all(known)) next
    next_precision <- pmin(pmax(next_precision, precision[i] / 3), 3 * precision[i])
    change <- pmax(abs(log(next_precision / precision[i])),
                   abs(next_linear / next_precision - m) / sqrt(v))
    precision[i] <- (precision[i] + next_precision) / 2
    linear[i] <- (linear[i] + next_linear) / 2
    going[i] <- !(is.finite(change) & change < 1e-6)
  }
  # of the whole row, which is its weight times the part
  all <- 1 / variance - weight * (1 / variance - precision)
  along <- mean / variance - weight * (mean / variance - linear)
  done <- !going & all > 0
  list(mean = ifelse(done, along / all, without$mean),
       variance = ifelse(done, 1 / all, without$variance))
}

# Of a natural parameter of the posterior and of that without a row of some weight: without one part.
weight_shares <- function(with, without, weight) with - (with - without) / weight

# list(mean, variance) of p(y | f) N(f; mean, variance), normalised.
tilted_moments <- function(likelihood, y, mean, variance) {
  rule <- panel_rule(likelihood, y, mean, sqrt(variance))
  logs <- log_density(likelihood, rep(y, ncol(rule$f)), rule$f)
  p <- exp(logs - over_columns(matrix(logs, length(y)), pmax)) * rule$weight
  p <- p / rowSums(p)
  away <- rule$f - mean
  shift <- rowSums(p * away)
  list(mean = mean + shift, variance = rowSums(p * (away - shift)^2))
}

# A row may have a linear predictor that is known, as with all predictors zero and no intercept. In the
# response's unit, from its centre.
least_variance <- function(mean, design) 1e-14 * (design$unit^2 + (mean - design$shift)^2)

# Gauss-Legendre nodes on panels between the bends of log p and some quantiles of q.
panel_rule <- function(likelihood, y, mean, sd, size = 12L) {
  rule <- legendre_rule(size)
  bends <- density_bends(likelihood, y)
  ends <- cbind(outer(sd, c(-9, -5, -3, -1.5, 0, 1.5, 3, 5, 9)) + mean,
                pmin(pmax(bends, mean - 9 * sd), mean + 9 * sd))
  ends <- sorted_rows(ends)
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
