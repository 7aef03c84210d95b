# bsvm_mixture: what engine_gaussian() and engine_map() find, a mixture over K points of the
# inferred standard deviations.
#
#   components, weights  posteriors of the other classes; K numbers that sum to one
#   mean, covariance     of the mixture (law of total variance); effects_mean and effects_sd too,
#                        where predictors or several factors are columns of a sparse matrix
#   theta, log_density   h x K free parameters of the variances (log standard deviations; of a
#                        covariance F F' the lower triangle of F by rows, its diagonal in logs) and
#                        the log of their posterior density, up to a constant
#   matched              K: has each the moments that matching gives, or the bound's?
#   free                 list by block (as all_blocks() has them): which rows of theta are its own
#   theta_covariance     h x h by engine_map(), else NULL; slope, d x h: how the mode of the core's
#                        dense columns and other factors' effects moves with theta there
#   integrated           number of the factor whose effects are integrated out, 0 for none
#   shapes               how these effects' distributions differ from normal ones, see
#                        posterior-shape.R
#   point                TRUE if the spread is not known (engine_map())

# From the core's result.
mixture_posterior <- function(result, spec) {
  parts <- result$components
  weights <- vapply(parts, `[[`, 0, "weight")
  components <- lapply(parts, component_posterior, integrated = result$integrated + 1L)
  posterior <- c(
    list(components = components, weights = weights), total_moments(components, weights),
    list(theta = matrix(vapply(parts, `[[`, numeric(sum(result$free)), "theta"),
                        ncol = length(parts)),
         log_density = vapply(parts, `[[`, 0, "log_density"),
         matched = vapply(parts, `[[`, TRUE, "matched"),
         free = free_by_block(result$free, spec), theta_covariance = known_covariance(result, spec),
         slope = if (is_mode(spec$engine)) parts[[1L]]$slope,
         integrated = result$integrated + 1L,
         point = is_mode(spec$engine) && result$integrated < 0L)
  )
  posterior <- structure(posterior, class = "bsvm_mixture")
  if (posterior$point) without_spread(posterior) else posterior
}

# At a mode where the loss is not differentiable the core has none, and gives zeros.
known_covariance <- function(result, spec) {
  if (is_mode(spec$engine) && result$integrated >= 0L) result$theta_covariance
}

component_posterior <- function(part, integrated) {
  if (is.null(part$joint_mean)) return(moments_posterior(part))
  fields <- c("mean", "covariance", "joint_mean", "joint_covariance", "group_mean",
              "group_precision", "group_regression")
  structure(c(part[fields], list(integrated = integrated)), class = "bsvm_integrated")
}

total_moments <- function(components, weights) {
  means <- stack_columns(lapply(components, `[[`, "mean"))
  centre <- drop(means %*% weights)
  covariance <- tcrossprod((means - centre) * rep(sqrt(weights), each = nrow(means)))
  for (k in seq_along(weights)) {
    covariance <- covariance + weights[k] * components[[k]]$covariance
  }
  out <- list(mean = centre, covariance = covariance)
  if (is.null(components[[1L]]$effects)) return(out)
  effects <- mix(stack_columns(lapply(components, `[[`, "effects")),
                 stack_columns(lapply(components, `[[`, "effects_sd")), weights)
  c(out, list(effects_mean = effects$mean, effects_sd = effects$sd))
}

without_spread <- function(posterior) {
  posterior$covariance[] <- NA_real_
  if (!is.null(posterior$effects_sd)) posterior$effects_sd[] <- NA_real_
  posterior
}

# The core counts dense blocks, groups, sparse blocks; all_blocks() has the groups last.
free_by_block <- function(free, spec) {
  ends <- cumsum(free)
  rows <- Map(function(number, end) end - number + seq_len(number), free, ends)
  unlist(unname(split_hyper(spec, rows)), recursive = FALSE)
}

# Vectors of one length as columns, also of length 0 and 1.
stack_columns <- function(vectors) matrix(unlist(vectors), ncol = length(vectors))

# Mean and sd of mixtures of normals, one a row of `mean` and `sd` (n x K).
mix <- function(mean, sd, weights) {
  centre <- drop(mean %*% weights)
  list(mean = centre, sd = sqrt(drop((sd^2 + (mean - centre)^2) %*% weights)))
}

# ---- component by component -------------------------------------------------------------------

# The fit as if component k were all of the posterior, its variances known.
component_fit <- function(fit, k) {
  posterior <- fit$posterior
  first <- length(fit$blocks)
  known <- function(block, j) {
    block$hyper <- point_hyper(block, posterior$theta[posterior$free[[j]], k])
    block
  }
  fit$blocks <- Map(known, fit$blocks, seq_along(fit$blocks))
  fit$group_blocks <- Map(known, fit$group_blocks, first + seq_along(fit$group_blocks))
  fit$posterior <- posterior$components[[k]]
  fit
}

# list(mean, sd), each n x K: f(fit) gives both for one component.
component_moments <- function(fit, f) {
  parts <- lapply(seq_along(fit$posterior$weights), function(k) f(component_fit(fit, k)))
  list(mean = stack_columns(lapply(parts, `[[`, "mean")),
       sd = if (!is.null(parts[[1L]]$sd)) stack_columns(lapply(parts, `[[`, "sd")))
}

# f(at, moments) for chunks of rows, `moments` those of their links by component; without `sd` means
# alone.
in_component_chunks <- function(fit, rows, f, sd = TRUE) {
  size <- 2^21 / length(fit$posterior$weights)
  in_chunks(nrow(rows$x), size, function(at) {
    part <- rows_at(rows, at)
    f(at, component_moments(fit, function(own) posterior_linear(own, part, sd)))
  })
}

#' @export
linear_sd.bsvm_mixture <- function(posterior, fit, rows) {
  sd <- rep(NA_real_, nrow(rows$x))
  if (posterior$point) return(sd)
  in_component_chunks(fit, rows, function(at, moments) {
    sd[at] <<- mix(moments$mean, moments$sd, posterior$weights)$sd
  })
  sd
}

#' @export
linear_limits.bsvm_mixture <- function(posterior, fit, rows, link, level) {
  limits <- blank_limits(nrow(rows$x))
  if (posterior$point) return(limits)
  in_component_chunks(fit, rows, function(at, moments) {
    limits[at, ] <<- mixture_limits(moments, posterior$weights, level)
  })
  name <- if (!is.null(posterior$shapes)) names(fit$groups)[posterior$integrated]
  skewed <- if (!is.null(name)) known(rows$groups[[name]]$codes)
  if (length(skewed) > 0L) {
    limits[skewed, ] <- skewed_limits(fit, rows_at(rows, skewed), name, level)
  }
  limits
}

#' @export
coefficient_limits.bsvm_mixture <- function(posterior, fit, chosen, level) {
  if (posterior$point) return(blank_limits(length(chosen)))
  moments <- component_moments(fit, function(own) {
    lapply(posterior_coefficients(own)[c("mean", "sd")], `[`, chosen)
  })
  mixture_limits(moments, posterior$weights, level)
}

#' @export
effect_means.bsvm_mixture <- function(posterior, groups) {
  parts <- lapply(posterior$components, effect_means, groups)
  over_factors(groups, function(name, shape) {
    stack_columns(lapply(parts, `[[`, name)) %*% posterior$weights
  })
}

#' @export
effect_sds.bsvm_mixture <- function(posterior, groups) {
  if (posterior$point) return(over_factors(groups, function(name, shape) NA_real_))
  means <- lapply(posterior$components, effect_means, groups)
  sds <- lapply(posterior$components, effect_sds, groups)
  over_factors(groups, function(name, shape) {
    mix(stack_columns(lapply(means, `[[`, name)), stack_columns(lapply(sds, `[[`, name)),
        posterior$weights)$sd
  })
}

# list by factor of q x m matrices of what f(name) gives.
over_factors <- function(groups, f) {
  Map(function(group, name) matrix(f(name), length(group$labels), length(group$levels)),
      groups, names(groups))
}

# Quantiles of mixtures of normals.
#' @export
effect_limits.bsvm_mixture <- function(posterior, fit, long, level) {
  if (posterior$point) return(blank_limits(nrow(long)))
  in_order <- function(effects) unlist(lapply(effects, t), use.names = FALSE)
  every <- do.call(rbind, lapply(names(fit$groups), function(name) {
    group <- fit$groups[[name]]
    expand.grid(grp = group$levels, term = group$labels, grpvar = name, stringsAsFactors = FALSE)
  }))
  key <- function(rows) paste(rows$grpvar, rows$grp, rows$term, sep = key_mark)
  at <- match(key(long), key(every))
  moments <- component_moments(fit, function(own) {
    list(mean = in_order(effect_means(own$posterior, fit$groups))[at],
         sd = in_order(effect_sds(own$posterior, fit$groups))[at])
  })
  mixture_limits(moments, posterior$weights, level)
}

# Unseen coefficients are N(0, s2) given the variance s2.
#' @export
unseen_variance.bsvm_mixture <- function(posterior, hyper) hyper[["component_mean"]]

# ---- quantiles of mixtures of normals ---------------------------------------------------------

blank_limits <- function(n) {
  matrix(NA_real_, n, 2L, dimnames = list(NULL, c("lower", "upper")))
}

# n x 2, for `moments` as from component_moments().
mixture_limits <- function(moments, weights, level) {
  limits <- blank_limits(nrow(moments$mean))
  tails <- c(1 - check_level(level), 1 + level) / 2
  for (j in 1:2) limits[, j] <- mixture_quantile(moments$mean, moments$sd, weights, tails[j])
  limits
}

# One a row of mean and sd (n x K). It lies between the least and the greatest quantile of the
# components; Newton's method in that bracket, halved where a step would leave it.
mixture_quantile <- function(mean, sd, weights, p) {
  own <- mean + stats::qnorm(p) * sd
  state <- list(x = drop(own %*% weights), lower = over_columns(own, pmin),
                upper = over_columns(own, pmax))
  active <- which(state$upper - state$lower > nearly(state))
  for (step in seq_len(200L)) {
    if (length(active) == 0L) break
    now <- lapply(state, `[`, active)
    new <- newton_step(now, mean[active, , drop = FALSE], sd[active, , drop = FALSE], weights, p)
    for (name in names(state)) state[[name]][active] <- new[[name]]
    active <- active[abs(new$x - now$x) > nearly(new)]
  }
  state$x
}

newton_step <- function(state, mean, sd, weights, p) {
  score <- (state$x - mean) / sd
  excess <- drop(stats::pnorm(score) %*% weights) - p
  slope <- drop((stats::dnorm(score) / sd) %*% weights)
  state$lower <- ifelse(excess <= 0, state$x, state$lower)
  state$upper <- ifelse(excess >= 0, state$x, state$upper)
  x <- state$x - excess / slope
  inside <- is.finite(x) & x > state$lower & x < state$upper
  state$x <- ifelse(inside, x, (state$lower + state$upper) / 2)
  state
}

nearly <- function(state) 1e-13 * (abs(state$lower) + abs(state$upper))

# pmin or pmax over the columns.
over_columns <- function(x, f) do.call(f, lapply(seq_len(ncol(x)), function(k) x[, k]))

# Each row in increasing order, but for those with NA. One sort of all numbers takes a fraction of the
# time of one a row.
sorted_rows <- function(x) {
  absent <- rowSums(is.na(x)) > 0
  own <- x[!absent, , drop = FALSE]
  x[!absent, ] <- matrix(own[order(row(own), own)], nrow(own), ncol(own), byrow = TRUE)
  x
}
