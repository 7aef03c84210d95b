# From links to probabilities of class +1. A map is one of
#   "likelihood"  p(+1 | f) of the normalised hinge, averaged over the posterior of f
#   "probit"      Phi(m / sqrt(1 + s^2)) of the link's mean and sd (001)
#   "logistic"    logistic in m, flatter the larger s, its slope learned when the model was fitted
#   a bsvm_calibration_map, logistic in m, its slope learned from held-out rows
# All grow with m and are one half at m = 0, whichever the engine.

known_maps <- c("likelihood", "probit", "logistic")

as_map <- function(map, object) {
  if (is.null(map)) return(if (is_law(object$likelihood)) "likelihood" else "logistic")
  if (inherits(map, "bsvm_calibration_map")) return(check_map_levels(map, object))
  if (!is.character(map) || length(map) != 1L || !map %in% known_maps) {
    abort("argument", "`map` must be one of ", enumerate(known_maps, "\""), ", or what ",
          "calibration_map() gives; found ", describe(map), ".")
  }
  if (map == "likelihood" && !is_law(object$likelihood)) refuse_inferred_map(object$likelihood)
  if (map == "logistic" && is.null(object$odds_slope)) {
    abort("unsupported", "`map = \"logistic\"` is for the pseudo-likelihood. This fit has ",
          "probabilities of its own, `map = \"likelihood\"`, and calibration_map() learns a ",
          "logistic map from held-out rows.")
  }
  map
}

# How steep the map of a pseudo-likelihood is would be what its own numbers say.
refuse_inferred_map <- function(likelihood) {
  if (!has_parameters(likelihood)) return(invisible())
  abort("unsupported", "`map = \"likelihood\"` of a pseudo-likelihood needs its numbers given; ",
        "this is ", word_for_inferred(likelihood), ". Use `map = \"logistic\"`, the default, ",
        "whose slope is learned from the rows, or calibration_map().")
}

check_map_levels <- function(map, object) {
  if (!identical(map$levels, object$response$levels)) {
    abort("argument", "`map` must be for the classes of the fit, ",
          enumerate(object$response$levels, "'"), "; it is for ", enumerate(map$levels, "'"), ".")
  }
  map
}

# The logistic map has a slope and no intercept, and the pseudo-likelihood puts most links of a rare
# class far on the other side of zero: below this share probabilities are worth little.
rare_share <- 0.15

hint_rare <- function(object, map) {
  if (!identical(map, "logistic")) return(invisible())
  share <- positive_share(object)
  rare <- min(share, 1 - share)
  if (rare > rare_share) return(invisible())
  inform("rare", "Only ", format(100 * rare, digits = 2L), " % of the rows are of class '",
         level_of(object$response$levels, share < 0.5), "'. Under the pseudo-likelihood ",
         "probabilities are then hardly more informative than this share; calibration() shows it ",
         "on held-out rows.", if (takes_normalised(object)) paste0(" Use ", normalised_call,
                                                       " for probabilities."), once = "rare")
}

positive_share <- function(object) {
  if (!is.null(object$streamed)) return(object$streamed$n_positive / object$streamed$n)
  weights <- if (is.null(object$weights)) rep(1, length(object$y)) else object$weights
  sum(weights[object$y > 0]) / sum(weights)
}

needs_spread <- function(map, object) is.character(map) && has_spread(object)

# Not a mode where the loss is not differentiable, nor draws without those of the group effects.
has_spread <- function(object) {
  draws <- inherits(object$posterior, "bsvm_draws")
  !is_point(object) && !(draws && !is.null(object$groups) && is.null(object$posterior$effects))
}

# Probabilities of class +1 of rows, named; NA where the link is.
row_probability <- function(object, rows, map) {
  link <- linear_predictor(object, rows, NULL)$mean
  p <- if (!needs_spread(map, object)) mapped_link(map, object, link)
       else if (map == "likelihood") mean_probability(object$posterior, object, rows, link)
       else mapped_link(map, object, link, link_sds(object, rows))
  named_probability(p, link)
}

# list(prob, limits): what the map makes of the limits of the linear predictor, since it grows with it.
probability_interval <- function(object, rows, level, map) {
  link <- linear_predictor(object, rows, level)
  limits <- link$limits
  limits[] <- mapped_link(map, object, c(limits))
  list(prob = row_probability(object, rows, map), limits = limits)
}

# `sds` as from link_sds(), none where the spread is not known.
mapped_link <- function(map, object, link, sds = list(total = 0, used = 0)) {
  if (is.list(map)) return(stats::plogis(map$slope * link))
  switch(map, likelihood = expected_response(object$likelihood, link),
         probit = stats::pnorm(link / sqrt(1 + sds$total^2)),
         logistic = stats::plogis(spread_odds(link, sds$used, object$odds_slope)))
}

named_probability <- function(p, link) {
  p[is.na(link)] <- NA
  stats::setNames(on_side(p, link), names(link))
}

# An average over skewed draws or a mixture may lie on the other side of one half than the mean
# link. The class is the link's sign: it is compared with one half then.
beside_half <- 0.5 + c(-1, 1) * .Machine$double.eps

on_side <- function(p, link) {
  p[which(link == 0)] <- 0.5
  p[which(link > 0 & p <= 0.5)] <- beside_half[2L]
  p[which(link < 0 & p >= 0.5)] <- beside_half[1L]
  p
}

# ---- the normalised likelihood's probability, averaged over the posterior -----------------------

# One probability per row, from the means of the linear predictors; anything where these are NA.
mean_probability <- function(posterior, fit, rows, link) UseMethod("mean_probability")

#' @export
mean_probability.default <- function(posterior, fit, rows, link) {
  normal_probability(link, posterior_linear(fit, rows)$sd, fit$likelihood)
}

#' @export
mean_probability.bsvm_draws <- function(posterior, fit, rows, link) {
  p <- rep(NA_real_, nrow(rows$x))
  in_row_chunks(posterior, rows, function(at, part) {
    links <- link_points(posterior, fit, part)
    if (has_unknown(part)) links$mean <- links$mean + with_given_seed(1, unknown_draws(fit, part))
    if (!is.null(rows$offset)) links$mean <- links$mean + rows$offset[at]
    p[at] <<- rowMeans(averaged_links(fit$likelihood, links))
  })
  p
}

# Probabilities for linear predictors that are known, or normal.
averaged_links <- function(likelihood, links) {
  if (all(links$sd == 0)) return(expected_response(likelihood, links$mean))
  out <- links$mean
  known <- !is.na(out)
  out[known] <- averaged_response(likelihood, out[known], links$sd[known])
  out
}

#' @export
mean_probability.bsvm_mixture <- function(posterior, fit, rows, link) {
  p <- numeric(nrow(rows$x))
  name <- if (!is.null(posterior$shapes)) names(fit$groups)[posterior$integrated]
  for (k in seq_along(posterior$weights)) {
    own <- component_fit(fit, k)
    shapes <- component_shapes(posterior, k)
    in_chunks(nrow(rows$x), 2^18, function(at) {
      part <- rows_at(rows, at)
      moments <- posterior_linear(own, part)
      mean <- if (is.null(rows$offset)) moments$mean else moments$mean + rows$offset[at]
      p[at] <<- p[at] + posterior$weights[k] *
        component_probability(own, part, mean, moments$sd, name, shapes)
    })
  }
  p
}

# E p(+1 | f) of f ~ N(mean, sd^2).
normal_probability <- function(mean, sd, likelihood = likelihood_hinge()) {
  p <- ifelse(is.infinite(sd), 0.5, NA_real_)
  known <- which(is.finite(mean) & is.finite(sd))
  p[known] <- averaged_response(likelihood, mean[known], sd[known])
  p
}

# ---- the logistic map of a fit under the pseudo-likelihood --------------------------------------

# Nearly the average of plogis(slope f) over a normal distribution (MacKay 1992).
spread_odds <- function(mean, sd, slope) slope * mean / sqrt(1 + pi / 8 * (slope * sd)^2)

# The logistic map uses a part of the coefficients' standard deviation. The whole of it is too much
# where classes are separable and the coefficients' scale is hardly known, none of it too little
# elsewhere. Half was chosen, among a few shares, by the Brier scores of held-out rows of five data
# sets; the whole is better calibrated where the scale is well known.
used_spread <- 0.5

# list(total, used): standard deviations of the rows' links. What varies between new groups, and
# what is missing, is no uncertainty of coefficients and counts whole.
link_sds <- function(fit, rows) {
  total <- posterior_linear(fit, rows)$sd
  total[is.na(total)] <- 0 # of one draw
  between <- new_level_variance(fit, rows$groups) +
    (if (has_unknown(rows)) unknown_variance(fit, rows) else 0)
  between <- pmin(between, total^2)
  used <- sqrt(used_spread^2 * (total^2 - between) + between)
  list(total = total, used = ifelse(is.infinite(total), Inf, used))
}

# Linear predictors of the fit's own rows, each as if it had been held out; `x` has missing values
# as they were. For one number at most `most` rows, evenly spread, are enough. NULL under a density
# of the response, which has probabilities of its own.
own_odds_slope <- function(fit, frame, most = 1000L) {
  if (is_law(fit$likelihood) || !is_kind(fit$response, "classes")) return(NULL)
  at <- unique(round(seq(1, length(frame$y), length.out = min(length(frame$y), most))))
  rows <- rows_at(frame[c("x", "groups", "made")], at)
  rows$x <- with_intercept(frame, rows$x)
  rows <- known_rows(fit, rows)
  rows$left_over <- NULL # the row's own, of which its response has told nothing else
  rows <- complete_rows(fit$missing$rule, fit, rows, take_rows(frame$unknowns$auxiliary, at))
  offset <- if (is.null(frame$offset)) 0 else frame$offset[at]
  weight <- if (is.null(frame$weights)) rep(1, length(at)) else as.double(frame$weights[at])
  y <- frame$y[at]
  parts <- own_moments(fit, rows)
  slopes <- margin_slopes(likelihood_at(fit))
  shift <- if (inherits(fit$posterior, "bsvm_draws") && has_spread(fit)) {
    cbind(drawn_shift(fit, rows, y, offset, weight, slopes, parts$sd))
  } else {
    left_out_shift(parts, y, offset, weight, slopes)
  }
  shift[unlist(lapply(rows$unknown, `[[`, "at")), ] <- 0
  margin <- drop((y * (parts$mean + offset) - shift) %*% parts$weights)
  learn_odds_slope(margin, y, parts$used, weight)
}

# list(mean, sd, n x K by component; weights; used sd), sd zero where the spread is not known.
own_moments <- function(fit, rows) {
  mean <- cbind(posterior_linear(fit, rows, sd = FALSE)$mean)
  if (!has_spread(fit)) return(list(mean = mean, sd = 0 * mean, weights = 1, used = 0 * mean[, 1L]))
  sds <- link_sds(fit, rows)
  if (!inherits(fit$posterior, "bsvm_mixture")) {
    return(list(mean = mean, sd = cbind(sds$total), weights = 1, used = sds$used))
  }
  parts <- component_moments(fit, function(own) posterior_linear(own, rows))
  c(parts, list(weights = fit$posterior$weights, used = sds$used))
}

# What y f loses without its row: to first order the variance times the expected slope of the loss,
# at most a standard deviation. Of a row with weight above one, one copy is held out.
left_out_shift <- function(parts, y, offset, weight, slopes) {
  inside <- stats::pnorm((1 - y * (parts$mean + offset)) / pmax(parts$sd, 1e-100))
  pull <- slopes$a * inside - slopes$b * (1 - inside)
  pmax(pmin(pull * pmin(weight, 1) * parts$sd^2, parts$sd), -parts$sd)
}

# The same of draws, which need not be normal: the covariance of y f and the loss, of which variance
# times expected slope is the normal case. Where classes are separable, f varies mostly by a scale
# that all rows share, far beyond their margins, and of which a row tells nothing.
drawn_shift <- function(fit, rows, y, offset, weight, slopes, sd) {
  n <- length(y)
  offset <- rep_len(offset, n)
  shift <- numeric(n)
  in_row_chunks(fit$posterior, rows, function(at, part) {
    margin <- y[at] * (linear_draws(fit, part) + offset[at])
    loss <- slopes$a * pmax(1 - margin, 0) + slopes$b * pmax(margin - 1, 0)
    shift[at] <<- -rowMeans((margin - rowMeans(margin)) * loss)
  })
  pmax(pmin(pmin(weight, 1) * shift, sd), -sd)
}

# Maximum likelihood with Platt's targets; `margin` is y f. The slope is one per size of the link.
learn_odds_slope <- function(margin, y, sd, weight, tol = 1e-4) {
  target <- platt_targets(y, weight)
  own <- ifelse(y > 0, target[2L], 1 - target[1L])
  known <- is.finite(margin) & is.finite(sd)
  margin <- margin[known]
  sd <- sd[known]
  other <- (weight * (1 - own))[known]
  weight <- weight[known]
  if (length(margin) == 0L) return(1)
  size <- stats::quantile(abs(margin), 0.75, names = FALSE)
  if (size == 0) return(1)
  loss <- function(log_slope) {
    odds <- spread_odds(margin, sd, exp(log_slope))
    sum(other * odds) - sum(weight * stats::plogis(odds, log.p = TRUE))
  }
  exp(stats::optimize(loss, log(c(1e-4, 1e3) / size), tol = tol)$minimum)
}

# Probabilities of class +1 that rows of classes -1 and +1 stand for (Platt 2000).
platt_targets <- function(y, weight = rep(1, length(y))) {
  c(1 / (sum(weight[y < 0]) + 2), 1 - 1 / (sum(weight[y > 0]) + 2))
}
