# Is a fit as bsvm() made it? Its numbers choose places in matrices and how often to go round, so
# what was changed by hand is refused before anything is computed from it.

check_whole_fit <- function(fit) {
  if (!is.list(fit$posterior) || !is.list(fit$design)) refuse_changed("posterior", "is missing")
  parts <- if (inherits(fit$posterior, "bsvm_mixture")) check_mixture(fit) else list(fit$posterior)
  for (part in parts) check_part(fit, part)
  p <- core_layout(fit$design)$size
  check_numbers(fit$posterior$mean, "the posterior's mean", p)
  check_numbers(as.numeric(fit$posterior$covariance), "the posterior's covariance")
  for (name in c("center", "scale")) {
    check_numbers(fit$design[[name]], paste0("design$", name), length(fit$design$columns))
  }
  for (block in all_blocks(fit)) {
    hyper <- unlist(block$hyper) # a variance may have an infinite mean
    check_numbers(hyper[!hyper %in% Inf], paste("hyper of", block$label))
    check_numbers(block$prior$parameters, paste("the prior of", block$label))
  }
  invisible(fit)
}

# Checks the numbers that every prediction is made of. Draws and covariances are too many numbers to
# be checked each time.
check_predictive <- function(fit) {
  p <- length(fit$design$columns)
  check_numbers(fit$design$center, "design$center", p)
  check_numbers(fit$design$scale, "design$scale", p)
  if (any(fit$design$scale <= 0)) refuse_changed("design$scale", "has numbers that are not above 0")
  check_numbers(fit$design$intercept, "design$intercept", 1L)
  if (!fit$design$intercept %in% 0:p) {
    refuse_changed("design$intercept", "is ", fit$design$intercept, ", not the number of a column")
  }
  check_numbers(fit$posterior$mean, "posterior$mean")
  for (name in intersect(c("weights", "theta"), names(fit$posterior))) {
    check_numbers(fit$posterior[[name]], paste0("posterior$", name))
  }
  if (any(fit$posterior$weights < 0)) refuse_changed("posterior$weights", "has numbers below 0")
  for (part in fit$posterior$components) check_numbers(part$mean, "the mean of a component")
}

# The parts of a mixture, and its points in the variances.
check_mixture <- function(fit) {
  posterior <- fit$posterior
  parts <- posterior$components
  k <- length(parts)
  h <- sum(vapply(all_blocks(fit), free_size, 0))
  if (!is.list(parts) || k == 0L) refuse_changed("posterior$components", "is not a list of parts")
  check_numbers(posterior$weights, "posterior$weights", k)
  if (any(posterior$weights < 0) || sum(posterior$weights) <= 0) {
    refuse_changed("posterior$weights", "has no positive sum of numbers that are not negative")
  }
  check_numbers(posterior$theta, "posterior$theta", c(h, k))
  if (!is.null(posterior$theta_covariance)) {
    check_numbers(posterior$theta_covariance, "posterior$theta_covariance", c(h, h))
  }
  if (!is.null(posterior$slope)) check_numbers(posterior$slope, "posterior$slope")
  parts
}

check_part <- function(fit, part) {
  p <- core_layout(fit$design)$size
  check_numbers(part$mean, "the posterior's mean", p)
  if (is.numeric(part$covariance)) {
    check_numbers(part$covariance, "the posterior's covariance", c(p, p))
  }
  names <- c("joint_mean", "joint_covariance", "effects", "group_mean", "group_precision",
             "group_regression")
  for (name in intersect(names, names(part))) {
    check_numbers(part[[name]], paste0("the posterior's ", name), effect_sizes(fit, part)[[name]])
  }
}

# The sizes that are known; NULL for the rest.
effect_sizes <- function(fit, part) {
  joint <- length(part$joint_mean)
  sizes <- list(joint_covariance = if (joint > 0L) c(joint, joint),
                effects = sum(effect_counts(fit$groups)) + length(fit$design$sparse))
  if (is.null(part$group_mean) || length(fit$groups) == 0L) return(sizes)
  own <- if (isTRUE(fit$posterior$integrated > 0L)) fit$posterior$integrated else 1L
  q <- length(fit$groups[[own]]$labels)
  m <- length(fit$groups[[own]]$levels)
  c(sizes, list(group_mean = c(q, m), group_precision = c(q, q, m)))
}

# `size`: a length, or dimensions; NULL is any.
check_numbers <- function(x, name, size = NULL) {
  if (length(x) == 0L && prod(size) == 0) return(invisible())
  if (!is.numeric(x)) refuse_changed(name, "is ", describe(x), ", not numbers")
  found <- if (length(size) > 1L) dim(x) else length(x)
  if (!is.null(size) && !identical(as.numeric(found), as.numeric(size))) {
    refuse_changed(name, "has size ", paste(found, collapse = " x "), ", not ",
                   paste(size, collapse = " x "))
  }
  if (!all(is.finite(x))) {
    refuse_changed(name, "has ", sum(!is.finite(x)), " numbers that are not finite")
  }
}

refuse_changed <- function(...) {
  why <- paste(c(...)[1L], paste(c(...)[-1L], collapse = ""))
  abort("argument", "The fit is not as bsvm() made it: ", trimws(why), ". Fit the model again.")
}
