# From links to probabilities of class +1. A map is one of
#   "likelihood"  p(+1 | f) of the normalised hinge, averaged over the posterior of f
#   "probit"      Phi(m / sqrt(1 + s^2)) of the link's mean and sd (001)
#   "logistic"    logistic in m, flatter the larger s, its slope learned when the model was fitted
#   a bsvm_calibration_map, logistic in m, its slope learned from held-out rows
# All grow with m and are one half at m = 0, whichever the engine.

known_maps <- c("likelihood", "probit", "logistic")

as_map <- function(map, object) {
  if (is.null(map)) return(if (is_normalised(object$likelihood)) "likelihood" else "logistic")
  if (inherits(map, "bsvm_calibration_map")) return(check_map_levels(map, object))
  if (!is.character(map) || length(map) != 1L || !map %in% known_maps) {
    abort("argument", "`map` must be one of ", enumerate(known_maps, "\""), ", or what ",
          "calibration_map() gives; found ", describe(map), ".")
  }
  if (map == "logistic" && is.null(object$odds_slope)) {
    abort("unsupported", "`map = \"logistic\"` is for the pseudo-likelihood. This fit has ",
          "probabilities of its own, `map = \"likelihood\"`, and calibration_map() learns a ",
          "logistic map from held-out rows.")
  }
  map
}

check_map_levels <- function(map, object) {
  if (!identical(map$levels, object$response$levels)) {
    abort("argument", "`map` must be for the classes of the fit, ",
          enumerate(object$response$levels, "'"), "; it is for ", enumerate(map$levels, "'"), ".")
  }
  map
}

needs_spread <- function(map) is.character(map)

# Probabilities of class +1 of rows, named; NA where the link is.
row_probability <- function(object, rows, map) {
  own <- identical(map, "likelihood")
  link <- linear_predictor(object, rows, NULL, sd = needs_spread(map) && !own)
  p <- if (own) mean_probability(object$posterior, object, rows, link$mean)
       else mapped_link(map, object, link)
  named_probability(p, link$mean)
}

mapped_link <- function(map, object, link) {
  if (is.list(map)) return(stats::plogis(map$slope * link$mean))
  sd <- no_spread(link$sd)
  if (map == "probit") stats::pnorm(link$mean / sqrt(1 + sd^2))
  else stats::plogis(spread_odds(link$mean, sd, object$odds_slope))
}

named_probability <- function(p, link) {
  p[is.na(link)] <- NA
  stats::setNames(on_side(p, link), names(link))
}

# A mode on kinks has no spread.
no_spread <- function(sd) replace(sd, is.na(sd), 0)

# An average over skewed draws or a mixture may lie on the other side of one half than the mean
# link. The class is the link's sign: it is put at one half then.
below_half <- 0.5 * (1 - .Machine$double.neg.eps)

on_side <- function(p, link) {
  p[which(link >= 0 & p < 0.5)] <- 0.5
  p[which(link < 0 & p >= 0.5)] <- below_half
  p
}

# ---- the normalised likelihood's probability, averaged over the posterior -----------------------

# Of the rows, one each, from the means of their links; anything where these are NA.
mean_probability <- function(posterior, fit, rows, link) UseMethod("mean_probability")

#' @export
mean_probability.default <- function(posterior, fit, rows, link) {
  normal_probability(link, no_spread(posterior_linear(fit, rows)$sd))
}

#' @export
mean_probability.bsvm_draws <- function(posterior, fit, rows, link) {
  p <- rep(NA_real_, nrow(rows$x))
  in_row_chunks(posterior, rows, function(at, part) {
    draws <- linear_draws(fit, part)
    if (has_unknown(part)) draws <- draws + with_given_seed(1, unknown_draws(fit, part))
    if (!is.null(rows$offset)) draws <- draws + rows$offset[at]
    p[at] <<- rowMeans(normalised_map(draws))
  })
  p
}

#' @export
mean_probability.bsvm_mixture <- function(posterior, fit, rows, link) {
  if (posterior$point) return(mean_probability.default(posterior, fit, rows, link))
  p <- rep(NA_real_, nrow(rows$x))
  in_component_chunks(fit, rows, function(at, moments) {
    mean <- moments$mean
    if (!is.null(rows$offset)) mean <- mean + rows$offset[at]
    each <- normal_probability(as.vector(mean), as.vector(moments$sd))
    p[at] <<- drop(matrix(each, nrow(mean)) %*% posterior$weights)
  })
  p
}

# E p(+1 | f) of f ~ N(mean, sd^2).
normal_probability <- function(mean, sd) {
  p <- rep(NA_real_, length(mean))
  known <- which(is.finite(mean) & is.finite(sd))
  p[known] <- with_core_conditions(core_normalised_probability(mean[known], sd[known]))
  p
}

# ---- the logistic map of a fit under the pseudo-likelihood --------------------------------------

# Nearly the average of plogis(slope f) over a normal law (MacKay 1992) with a part of the standard
# deviation. The whole of it is too much where classes are separable and the coefficients' scale is
# hardly known, none of it too little elsewhere. Half was chosen, among a few shares, by the Brier
# scores of held-out rows of five data sets; the whole is better calibrated where it is well known.
used_spread <- 0.5

spread_odds <- function(mean, sd, slope) {
  slope * mean / sqrt(1 + pi / 8 * (slope * used_spread * sd)^2)
}

# Of the fit's own rows, their links as if each had been left out. At most `most` rows, evenly
# spread, are as good as all for one number. NULL under the normalised likelihood.
own_odds_slope <- function(fit, frame, most = 1000L) {
  if (is_normalised(fit$likelihood)) return(NULL)
  at <- unique(round(seq(1, length(frame$y), length.out = min(length(frame$y), most))))
  rows <- rows_at(list(x = frame$x, groups = frame$groups), at)
  rows$x <- with_intercept(frame, rows$x)
  offset <- if (is.null(frame$offset)) 0 else frame$offset[at]
  weight <- if (is.null(frame$weights)) rep(1, length(at)) else as.double(frame$weights[at])
  parts <- own_moments(fit, rows)
  y <- frame$y[at]
  left_out <- y * (parts$mean + offset) - left_out_shift(parts, y, offset, weight)
  learn_odds_slope(drop(left_out %*% parts$weights), y, parts$total, weight)
}

# list(mean, sd, n x K by component; weights; total sd).
own_moments <- function(fit, rows) {
  if (inherits(fit$posterior, "bsvm_mixture") && !is_point(fit)) {
    parts <- component_moments(fit, function(own) posterior_linear(own, rows))
    weights <- fit$posterior$weights
    return(c(parts, list(weights = weights, total = mix(parts$mean, parts$sd, weights)$sd)))
  }
  mean <- posterior_linear(fit, rows, sd = FALSE)$mean
  sd <- no_spread(own_sd(fit, rows))
  list(mean = cbind(mean), sd = cbind(sd), weights = 1, total = sd)
}

# Not known where draws of group effects were not kept.
own_sd <- function(fit, rows) {
  tryCatch(linear_sd(fit$posterior, fit, rows), bsvm_error_unsupported = function(e) {
    rep(0, nrow(rows$x))
  })
}

# What y f loses without its row: to first order the variance times the expected slope of the loss,
# at most a standard deviation. Of a row of weight above one, one copy is left out.
left_out_shift <- function(parts, y, offset, weight) {
  inside <- stats::pnorm((1 - y * (parts$mean + offset)) / pmax(parts$sd, 1e-100))
  pmin(2 * pmin(weight, 1) * inside * parts$sd^2, parts$sd)
}

# Maximum likelihood with Platt's targets; `margin` is y f. The largest slope is that of the
# likelihood's own log odds.
learn_odds_slope <- function(margin, y, sd, weight) {
  target <- platt_targets(y, weight)
  own <- ifelse(y > 0, target[2L], 1 - target[1L])
  known <- is.finite(margin) & is.finite(sd)
  margin <- margin[known]
  sd <- sd[known]
  other <- (weight * (1 - own))[known]
  weight <- weight[known]
  loss <- function(log_slope) {
    odds <- spread_odds(margin, sd, exp(log_slope))
    sum(other * odds) - sum(weight * stats::plogis(odds, log.p = TRUE))
  }
  exp(stats::optimize(loss, log(c(1e-4, 4)), tol = 1e-4)$minimum)
}

# Probabilities of class +1 that rows of classes -1 and +1 stand for (Platt 2000).
platt_targets <- function(y, weight = rep(1, length(y))) {
  c(1 / (sum(weight[y < 0]) + 2), 1 - 1 / (sum(weight[y > 0]) + 2))
}
