# Units of a response of numbers. The core has it centred and divided by its spread, so that starts,
# tolerances and default priors mean the same for every unit, and results in grams are those in
# kilograms to rounding. Everything else (frame, priors, likelihood, posterior, fit) is in the
# user's units. With c the centre, u the unit, and f the user's linear predictor without offset:
#
#   core's response (y - c)/u, offset/u; its f is (f - c)/u, which its coefficients and effects are
#   for: the user's are u times these, and the intercept c more
#
# design$unit and design$shift keep u and c. A response without units has 1 and 0.

# list(unit, shift) of the rows of a fit under a likelihood.
response_units <- function(response, frame, likelihood) UseMethod("response_units")

#' @export
response_units.bsvm_response <- function(response, frame, likelihood) list(unit = 1, shift = 0)

has_units <- function(design) design$unit != 1 || design$shift != 0

# ---- into the core ------------------------------------------------------------------------------

response_in_units <- function(y, design) {
  if (has_units(design)) (y - design$shift) / design$unit else y
}

# The problem that bsvm_spec() made for the core, in units of the response.
problem_in_units <- function(problem, design) {
  if (!has_units(design)) return(problem)
  problem$y <- response_in_units(problem$y, design)
  if (!is.null(problem$offset)) problem$offset <- problem$offset / design$unit
  problem
}

model_in_units <- function(model, design, likelihood) {
  if (design$unit == 1) return(model)
  core <- function(block) {
    block$parameters <- prior_in_units(block, design$unit)
    block
  }
  model$blocks <- lapply(model$blocks, core)
  model$group_blocks <- lapply(model$group_blocks, core)
  model$likelihood$parameters <- numbers_in_units(likelihood, design$unit)
  model
}

# The power of the coefficients' unit that each number of a core's prior has; its name, less what
# counts it, says which number. Numbers of other priors (those that select, lasso and bridge) are
# for coefficients in units of the response's spread, and so is what is reported of them.
prior_powers <- list(normal = c(variance = 2), half_t = c(scale = 1), ridge = c(scale = 2),
                     relevance = c(scale = 2), inverse_wishart = c(scale = 2), huang_wand = c(scale = 1), beta = numeric(0),
                     log_normal = numeric(0))

prior_in_units <- function(block, unit) {
  powers <- prior_powers[[block$prior]]
  numbers <- block$parameters
  kind <- sub("_[0-9].*$", "", names(numbers))
  power <- ifelse(kind %in% names(powers), powers[kind], 0)
  numbers * unit^(-power * block$has_unit)
}

# Is what a block's variance is of in the response's unit?
has_unit <- function(block) {
  if (is_parameter(block)) isTRUE(block$has_unit) else !is.null(prior_powers[[block$prior$name]])
}

# Points as approximation-target.R has them: coefficients and effects, then free numbers.
points_in_units <- function(points, fit) {
  unit <- fit$design$unit
  if (unit == 1) return(points)
  rows <- theta_rows(fit)
  first <- nrow(points) - sum(lengths(rows))
  points[seq_len(first), ] <- points[seq_len(first), ] / unit
  blocks <- all_blocks(fit)
  for (k in which(lengths(rows) > 0L)) {
    at <- first + rows[[k]]
    points[at, ] <- scale_free(points[at, , drop = FALSE], blocks[[k]], 1 / unit)
  }
  points
}

# ---- out of the core ----------------------------------------------------------------------------

# A posterior of any class in the user's units.
posterior_in_units <- function(posterior, spec) {
  if (spec$design$unit == 1) return(posterior)
  scale_posterior(posterior, spec$design$unit, all_blocks(spec))
}

scale_posterior <- function(posterior, unit, blocks) UseMethod("scale_posterior")

#' @export
scale_posterior.default <- function(posterior, unit, blocks) {
  if (!is.null(posterior$inclusion)) {
    posterior$inclusion <- scale_fields(posterior$inclusion, unit, c("mean", "sd"), NULL, NULL)
  }
  if (!is.null(posterior$group_file)) posterior$group_file$scale <- unit
  scale_fields(posterior, unit, c("mean", "effects", "effects_mean", "effects_sd", "group_mean",
                                  "joint_mean"),
               c("covariance", "joint_covariance", "scatter"), "group_precision")
}

#' @export
scale_posterior.bsvm_sparse_moments <- function(posterior, unit, blocks) {
  posterior$factor <- scale_factor(posterior$factor, unit)
  NextMethod()
}

#' @export
scale_posterior.bsvm_draws <- function(posterior, unit, blocks) {
  posterior <- NextMethod()
  posterior$coefficients <- posterior$coefficients * unit
  posterior$variances <- Map(function(draws, block) draws * unit^(2 * unit_power(block)),
                             posterior$variances, blocks)
  if (!is.null(posterior$factors)) posterior$factors <- scale_factor_draws(posterior$factors, unit)
  posterior
}

#' @export
scale_posterior.bsvm_mixture <- function(posterior, unit, blocks) {
  posterior <- NextMethod()
  posterior$components <- lapply(posterior$components, scale_posterior, unit, blocks)
  if (length(posterior$slope) > 0L) posterior$slope <- posterior$slope * unit
  for (k in seq_along(blocks)) {
    rows <- posterior$free[[k]]
    if (length(rows) == 0L) next
    posterior$theta[rows, ] <- scale_free(posterior$theta[rows, , drop = FALSE], blocks[[k]], unit)
    by <- free_factors(blocks[[k]], unit)
    if (length(posterior$slope) > 0L) {
      posterior$slope[, rows] <- t(t(posterior$slope[, rows, drop = FALSE]) / by)
    }
    if (is.null(posterior$theta_covariance)) next
    posterior$theta_covariance[rows, ] <- posterior$theta_covariance[rows, ] * by
    posterior$theta_covariance[, rows] <- t(t(posterior$theta_covariance[, rows]) * by)
  }
  posterior
}

# Fields times the unit, its square, and over its square.
scale_fields <- function(x, unit, once, squared, over_squared) {
  there <- names(x)[lengths(x) > 0L]
  for (field in intersect(once, there)) x[[field]] <- x[[field]] * unit
  for (field in intersect(squared, there)) x[[field]] <- scale_covariance(x[[field]], unit^2)
  for (field in intersect(over_squared, there)) x[[field]] <- x[[field]] / unit^2
  x
}

scale_covariance <- function(covariance, square) {
  if (!is_low_rank(covariance)) return(covariance * square)
  covariance$diagonal <- covariance$diagonal * square
  covariance[c("less", "more")] <- lapply(covariance[c("less", "more")], `*`, sqrt(square))
  covariance
}

# The factor of a precision, which is over the unit's square; `root` inverts its last part.
scale_factor <- function(factor, unit) {
  factor$x <- factor$x / unit
  factor$root <- factor$root * unit
  factor
}

unit_power <- function(block) as.numeric(has_unit(block))

# Free numbers of a block (one a row): logarithms move, entries of a root below its diagonal are
# multiplied.
scale_free <- function(theta, block, unit) {
  unit <- unit^unit_power(block)
  logs <- diagonal_rows(block)
  theta[logs, ] <- theta[logs, ] + log(unit)
  theta[!logs, ] <- theta[!logs, ] * unit
  theta
}

free_factors <- function(block, unit) ifelse(diagonal_rows(block), 1, unit^unit_power(block))

# Which of a block's free numbers are logarithms: all but those below the diagonal of a root by
# rows.
diagonal_rows <- function(block) {
  if (!is_joint(block)) return(TRUE)
  q <- length(block$columns)
  seq_len(q * (q + 1) / 2) %in% cumsum(seq_len(q))
}

# The core's report of a block's variance.
hyper_in_units <- function(hyper, block, unit) {
  square <- unit^(2 * unit_power(block))
  kind <- sub("_[0-9].*$", "", names(hyper))
  times <- kind %in% c("mean", "component_mean", "scale", "typical_variance")
  hyper[times] <- hyper[times] * square
  hyper[kind == "inverse_mean"] <- hyper[kind == "inverse_mean"] / square
  hyper
}

# A bound on, or an estimate of, log p of the response in the user's units: the density of y is
# that of y/u over u, once for each unit of weight.
bound_in_units <- function(bound, spec) {
  if (is.null(bound) || spec$design$unit == 1) return(bound)
  weight <- if (is_streamed(spec)) spec$cluster$weight
            else if (is.null(spec$problem$weight)) length(spec$problem$y)
            else sums_of_column(spec$problem$weight, spec$problem$weight)$weight
  bound - weight * log(spec$design$unit)
}
