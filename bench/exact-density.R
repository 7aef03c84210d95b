# The exact log posterior of a study's model with its gradient, for hmc(), written down from the
# formulas of the model. Its argument: coefficients of the population, effects of the factors that
# are not integrated out, log standard deviations. The integral over the effects of a factor is the
# core's, and grid_loglik() is there to compare it with.

# log p(y | f) and its slope, of margins y f.
log_hinge <- function(margin, normalised) {
  if (!normalised) return(list(value = -2 * pmax(1 - margin, 0), slope = 2 * (margin < 1)))
  odds <- 2 * pmax(1 + margin, 0) - 2 * pmax(1 - margin, 0)
  list(value = stats::plogis(odds, log.p = TRUE),
       slope = ifelse(abs(margin) < 1, 4, 2) * stats::plogis(-odds))
}

# Which of the argument's numbers are what. `ridges`: a list by inferred variance of the numbers of
# its coefficients (none where they are integrated out) and of its log standard deviation, and the
# inverse-gamma law of the variance.
layout_of <- function(fit) {
  population <- lapply(fit$blocks, `[[`, "columns")
  levels <- lengths(lapply(fit$groups, `[[`, "levels"))
  levels[fit$posterior$integrated] <- 0L
  ends <- length(fixef(fit)) + cumsum(levels)
  effects <- Map(function(end, size) end - size + seq_len(size), ends, levels)
  blocks <- c(fit$blocks, fit$group_blocks)
  inferred <- vapply(blocks, function(block) block$prior$name == "ridge", NA)
  size <- max(ends, length(fixef(fit)))
  ridges <- Map(function(columns, block, at) {
    list(columns = columns, at = at, law = block$prior$parameters)
  }, c(population, effects)[inferred], blocks[inferred], size + seq_len(sum(inferred)))
  list(size = size, flat = unlist(c(population, effects)[!inferred]), ridges = unname(ridges))
}

exact_density <- function(study, fit) {
  layout <- layout_of(fit)
  loglik <- if (fit$posterior$integrated > 0L) integrated_loglik_at(study, fit, layout)
            else plain_loglik(study, fit, layout)
  function(x) add(add(loglik(x), flat_law(x, layout$flat)), ridge_laws(x, layout$ridges))
}

add <- function(a, b) Map(`+`, a, b)

flat_law <- function(x, flat, variance = 1e8) {
  list(value = -sum(x[flat]^2) / (2 * variance),
       gradient = replace(numeric(length(x)), flat, -x[flat] / variance))
}

ridge_laws <- function(x, ridges) Reduce(add, lapply(ridges, ridge_law, x = x))

# Coefficients N(0, s^2), s^2 inverse-gamma, as a law of them and of log s.
ridge_law <- function(ridge, x) {
  t <- x[ridge$at]
  b <- x[ridge$columns]
  square <- sum(b^2) * exp(-2 * t)
  pull <- ridge$law[["scale"]] * exp(-2 * t)
  shape <- ridge$law[["shape"]]
  gradient <- numeric(length(x))
  gradient[ridge$columns] <- -b * exp(-2 * t)
  gradient[ridge$at] <- square - length(b) - 2 * shape + 2 * pull
  list(value = -length(b) * t - square / 2 - 2 * shape * t - pull, gradient = gradient)
}

plain_loglik <- function(study, fit, layout) {
  signed <- fit$y * stats::model.matrix(study[[1L]], study[[2L]])
  population <- seq_len(layout$size)
  function(x) {
    row <- log_hinge(drop(signed %*% x[population]), fit$likelihood$normalized)
    gradient <- numeric(length(x))
    gradient[population] <- crossprod(signed, row$slope)
    list(value = sum(row$value), gradient = gradient)
  }
}

# Where the core finds no finite value the density is as good as zero.
integrated_loglik_at <- function(study, fit, layout) {
  spec <- bsvm_spec(bsvm_frame(study[[1L]], study[[2L]]), prior_of(study), fit$likelihood,
                    engine = engine_gaussian(), standardize = FALSE)
  at <- c(seq_len(layout$size), integrated_at(layout))
  function(x) {
    own <- tryCatch(bsvm:::core_integrated(spec$problem, spec$model, matrix(x[at]), 1L, 1L),
                    bsvm_error = function(e) list(value = -Inf, gradient = 0))
    list(value = own$value[[1L]], gradient = replace(numeric(length(x)), at, own$gradient))
  }
}

# Which number is the log standard deviation of the integrated effects.
integrated_at <- function(layout) {
  Filter(function(ridge) length(ridge$columns) == 0L, layout$ridges)[[1L]]$at
}

# The log-likelihood at x with the effects of a factor integrated out by a sum over a fine grid.
grid_loglik <- function(study, fit, x, points = 4001L) {
  layout <- layout_of(fit)
  link <- link_without(study, fit, x)
  s <- exp(x[integrated_at(layout)])
  u <- seq(-9, 9, length.out = points)
  factor <- study[[2L]][[names(fit$groups)[fit$posterior$integrated]]]
  of_level <- function(rows) {
    margin <- fit$y[rows] * outer(link[rows], s * u, `+`)
    value <- colSums(log_hinge(margin, fit$likelihood$normalized)$value)
    value <- value + stats::dnorm(u, log = TRUE)
    max(value) + log(sum(exp(value - max(value))) * (u[2L] - u[1L]))
  }
  sum(vapply(split(seq_along(link), factor), of_level, 0))
}

# Linear predictors without the integrated effects.
link_without <- function(study, fit, x) {
  formula <- lme4::nobars(study[[1L]])
  link <- drop(stats::model.matrix(formula, study[[2L]]) %*% x[seq_along(fixef(fit))])
  start <- length(fixef(fit))
  for (name in names(fit$groups)[-fit$posterior$integrated]) {
    levels <- fit$groups[[name]]$levels
    link <- link + x[start + match(study[[2L]][[name]], levels)]
    start <- start + length(levels)
  }
  link
}
