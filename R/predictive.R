# The predictive distribution of a response of numbers: a residual's density about a linear
# predictor, mixed over the points of a fit. Under a Gaussian posterior each is closed
# (residual_cdf()).

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
      if (is.matrix(value)) as.vector(value[, part])
      else if (length(value) == 1L) value else rep(value[part], each = length(at))
    })
    shape <- c(length(at), size)
    residual <- residual_quantile(fit$likelihood, values, stats::runif(prod(shape)))
    out[at, ] <<- links$mean[, part] + links$sd[, part] * array(stats::rnorm(prod(shape)), shape) +
      residual
  })
  out
}

# f(at, points, links) for chunks of rows, over the points that matter.
over_links <- function(fit, rows, f) {
  points <- residual_points(fit)
  kept <- points_that_matter(points$weights)
  weights <- points$weights[kept] / sum(points$weights[kept])
  few <- lapply(points$values, function(value) if (length(value) == 1L) value else value[kept])
  in_chunks(nrow(rows$x), 2^21 / length(points$weights), function(at) {
    links <- link_points(fit$posterior, fit, rows_at(rows, at))
    links <- lapply(links, function(x) x[, kept, drop = FALSE])
    if (!is.null(rows$offset)) links$mean <- links$mean + rows$offset[at]
    own <- values_by_row(fit$likelihood, few, scale_columns_at(rows, at)[[1L]])
    f(at, list(weights = weights, values = own), links)
  })
}

most_points_mixed <- 500L
least_total <- 1e-7

# Some points are enough, since averages over them are smooth: for a mixture those that have all but
# `least_total` of the weight, for draws some at equal distances.
points_that_matter <- function(weights) {
  n <- length(weights)
  if (all(weights == weights[1L])) {
    return(unique(round(seq(1, n, length.out = min(n, most_points_mixed)))))
  }
  order <- order(weights)
  sort(order[cumsum(weights[order]) > least_total])
}

# A fit without a predictive distribution is refused.
need_predictive <- function(likelihood) UseMethod("need_predictive")

#' @export
need_predictive.bsvm_likelihood <- function(likelihood) invisible()

# list(mean, sd), each rows x points: the moments of the linear predictors at the points of a fit,
# without offset. Draws have no standard deviations.
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
  if (has_factors(fit)) {
    links <- factor_links(fit, rows)
    return(list(mean = links$mean, sd = sqrt(links$variance)))
  }
  mean <- linear_draws(fit, rows)
  list(mean = mean, sd = array(0, dim(mean)))
}

predictive_mean <- function(likelihood, points, links) {
  drop((links$mean + residual_spread(likelihood, points, links)$mean) %*% points$weights)
}

predictive_sd <- function(likelihood, points, links) {
  own <- residual_spread(likelihood, points, links)
  mix(links$mean + own$mean, sqrt(links$sd^2 + own$variance), points$weights)$sd
}

# residual_moments() with a number for each row and point.
residual_spread <- function(likelihood, points, links) {
  lapply(residual_moments(likelihood, points$values), function(moment) {
    if (is.matrix(moment)) moment
    else matrix(moment, nrow(links$mean), length(points$weights), byrow = TRUE)
  })
}

# Between the least and the greatest of the points' own, by the secant of the last two values, or
# halved where that would leave the bracket or is slow.
predictive_quantile <- function(likelihood, points, links, p, tolerance = 1e-7) {
  n <- nrow(links$mean)
  values <- lapply(points$values, each_row, n)
  own <- matrix(residual_quantile(likelihood, values, rep(p, length(links$mean))), n)
  spread <- links$sd * stats::qnorm(p)
  reach <- 8 * links$sd
  excess <- function(t, rows) {
    at <- function(value) if (length(value) == 1L) value else as.vector(matrix(value, n)[rows, ])
    mean <- links$mean[rows, , drop = FALSE]
    below <- residual_cdf(likelihood, lapply(values, at), as.vector(t - mean),
                          as.vector(links$sd[rows, , drop = FALSE]))
    drop(matrix(below, length(rows)) %*% points$weights) - p
  }
  bracket <- list(lower = over_columns(links$mean + own - reach, pmin),
                  upper = over_columns(links$mean + own + reach, pmax))
  start <- drop((links$mean + own + spread / 2) %*% points$weights)
  find_roots(excess, bracket, start, tolerance * min(p, 1 - p))
}

# f(x, rows) rises through zero between lower and upper; only rows that are not there yet are asked.
find_roots <- function(f, bracket, x, tolerance, most = 100L) {
  lower <- bracket$lower
  upper <- bracket$upper
  x <- pmin(pmax(x, lower), upper)
  before <- rep(NA_real_, length(x))
  value_before <- before
  active <- which(!is.na(x))
  for (step in seq_len(most)) {
    if (length(active) == 0L) break
    now <- x[active]
    value <- f(now, active)
    left <- abs(value) > tolerance & upper[active] > lower[active]
    active <- active[left]
    now <- now[left]
    value <- value[left]
    lower[active] <- ifelse(value < 0, now, lower[active])
    upper[active] <- ifelse(value < 0, upper[active], now)
    secant <- now - value * (now - before[active]) / (value - value_before[active])
    good <- is.finite(secant) & secant > lower[active] & secant < upper[active] & step %% 6L != 0L
    x[active] <- ifelse(good, secant, (lower[active] + upper[active]) / 2)
    before[active] <- now
    value_before[active] <- value
  }
  x
}
