# The predictive distribution of a response of numbers: a residual's law about a linear predictor,
# mixed over the points of a fit. Under a Gaussian posterior each is closed (residual_cdf()).

# list(mean, sd, limits) of new responses; `link` is linear_predictor() of the rows.
predictive_moments <- function(fit, rows, link, level) {
  sd <- rep(NA_real_, length(link$mean))
  limits <- blank_limits(length(link$mean))
  over_links(fit, rows, function(at, points, links) {
    mean <- predictive_mean(fit$likelihood, points, links)
    link$mean[at] <<- mean
    sd[at] <<- predictive_sd(fit$likelihood, points, links)
    for (j in 1:2) {
      p <- if (j == 1L) (1 - level) / 2 else (1 + level) / 2
      limits[at, j] <<- predictive_quantile(fit$likelihood, points, links, p)
    }
  })
  blank_link(list(mean = link$mean, sd = sd, limits = limits), is.na(link$mean))
}

# n x length(probs), named.
predictive_quantiles <- function(fit, rows, probs) {
  out <- matrix(NA_real_, nrow(rows$x), length(probs),
                dimnames = list(rows$names, paste0(format(100 * probs, trim = TRUE), "%")))
  over_links(fit, rows, function(at, points, links) {
    for (j in seq_along(probs)) {
      out[at, j] <<- predictive_quantile(fit$likelihood, points, links, probs[j])
    }
  })
  out
}

# Draws of new responses by chance: n x size.
predictive_draws <- function(fit, rows, size) {
  out <- matrix(NA_real_, nrow(rows$x), size)
  over_links(fit, rows, function(at, points, links) {
    part <- sample.int(length(points$weights), size, replace = TRUE, prob = points$weights)
    values <- lapply(points$values, function(value) {
      if (length(value) == 1L) value else rep(value[part], each = length(at))
    })
    shape <- c(length(at), size)
    residual <- residual_quantile(fit$likelihood, values, stats::runif(prod(shape)))
    out[at, ] <<- links$mean[, part] + links$sd[, part] * array(stats::rnorm(prod(shape)), shape) +
      residual
  })
  out
}

# f(at, points, links) for chunks of rows.
over_links <- function(fit, rows, f) {
  points <- residual_points(fit)
  in_chunks(nrow(rows$x), 2^21 / length(points$weights), function(at) {
    links <- link_points(fit$posterior, fit, rows_at(rows, at))
    if (!is.null(rows$offset)) links$mean <- links$mean + rows$offset[at]
    f(at, points, links)
  })
}

# What has no predictive distribution is refused.
need_predictive <- function(likelihood) UseMethod("need_predictive")

#' @export
need_predictive.bsvm_likelihood <- function(likelihood) invisible()

# list(mean, sd), each rows x points: the moments of the linear predictors at the points of a fit,
# without offset. Of draws they are known.
link_points <- function(posterior, fit, rows) UseMethod("link_points")

#' @export
link_points.default <- function(posterior, fit, rows) {
  lapply(posterior_linear(fit, rows)[c("mean", "sd")], as.matrix)
}

#' @export
link_points.bsvm_mixture <- function(posterior, fit, rows) {
  component_moments(fit, function(own) posterior_linear(own, rows))
}

#' @export
link_points.bsvm_draws <- function(posterior, fit, rows) {
  mean <- linear_draws(fit, rows)
  list(mean = mean, sd = array(0, dim(mean)))
}

predictive_mean <- function(likelihood, points, links) {
  shift <- rep_len(residual_moments(likelihood, points$values)$mean, length(points$weights))
  drop((links$mean + rep(shift, each = nrow(links$mean))) %*% points$weights)
}

predictive_sd <- function(likelihood, points, links) {
  n <- nrow(links$mean)
  law <- lapply(residual_moments(likelihood, points$values), rep_len, length(points$weights))
  mix(links$mean + rep(law$mean, each = n), sqrt(links$sd^2 + rep(law$variance, each = n)),
      points$weights)$sd
}

# Between the least and the greatest of the points' own, by false position with the Illinois rule
# (Dowell and Jarratt 1971), halved where that would not move.
predictive_quantile <- function(likelihood, points, links, p, tolerance = 1e-9) {
  n <- nrow(links$mean)
  values <- lapply(points$values, function(value) {
    if (length(value) == 1L) value else rep(value, each = n)
  })
  own <- matrix(residual_quantile(likelihood, values, rep(p, length(links$mean))), n)
  reach <- 8 * links$sd
  lower <- over_columns(links$mean + own - reach, pmin)
  upper <- over_columns(links$mean + own + reach, pmax)
  excess <- function(t) {
    below <- residual_cdf(likelihood, values, as.vector(t - links$mean), as.vector(links$sd))
    drop(matrix(below, n) %*% points$weights) - p
  }
  find_root(excess, lower, upper, tolerance * pmax(upper - lower, .Machine$double.xmin))
}

# Vectorised; f rises through zero between lower and upper.
find_root <- function(f, lower, upper, tolerance, most = 200L) {
  at_lower <- f(lower)
  at_upper <- f(upper)
  x <- (lower + upper) / 2
  for (step in seq_len(most)) {
    secant <- upper - at_upper * (upper - lower) / (at_upper - at_lower)
    good <- is.finite(secant) & secant > lower & secant < upper & step %% 8L != 0L
    x <- ifelse(good, secant, (lower + upper) / 2)
    value <- f(x)
    left <- value < 0
    at_upper <- ifelse(left, ifelse(left, at_upper / 2, at_upper), value)
    at_lower <- ifelse(left, value, at_lower / 2)
    lower <- ifelse(left, x, lower)
    upper <- ifelse(left, upper, x)
    if (all(upper - lower <= tolerance | abs(value) < 1e-12, na.rm = TRUE)) break
  }
  x
}
