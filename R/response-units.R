# Units of a response of numbers. The core has it centred and divided by its spread, so that starts,
# tolerances and default priors mean the same for every unit, and results in grams are those in
# kilograms to rounding. Everything else (frame, priors, likelihood, posterior, fit) is in the
# user's units. With c the centre, u the unit, and f the user's linear predictor without offset:
#
#   core's response (y - c)/u, offset/u; its f is (f - c)/u, which its coefficients and effects are
#   for: the user's are u times these, and the intercept c more
#
# design$unit and design$shift keep u and c. A response without units has 1 and 0.

# list(unit, shift) of the rows of a fit, whose blocks of coefficients are `blocks`.
response_units <- function(response, frame, blocks) UseMethod("response_units")

#' @export
response_units.bsvm_response <- function(response, frame, blocks) list(unit = 1, shift = 0)

has_units <- function(design) design$unit != 1 || design$shift != 0

# ---- into the core ------------------------------------------------------------------------------

# What bsvm_spec() made for the core.
problem_in_units <- function(problem, design) {
  if (!has_units(design)) return(problem)
  problem$y <- (problem$y - design$shift) / design$unit
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
# counts it, says which number.
prior_powers <- list(normal = c(variance = 2), half_t = c(scale = 1), ridge = c(scale = 2),
                     inverse_wishart = c(scale = 2), huang_wand = c(scale = 1), beta = numeric(0))

prior_in_units <- function(block, unit) {
  powers <- prior_powers[[block$prior]]
  numbers <- block$parameters
  kind <- sub("_[0-9].*$", "", names(numbers))
  power <- ifelse(kind %in% names(powers), powers[kind], 0)
  numbers * unit^(-power * isTRUE(block$has_unit))
}

# Other priors have numbers without known units.
check_prior_units <- function(blocks, response) {
  odd <- Filter(function(block) is.null(prior_powers[[block$prior$name]]), blocks)
  if (length(odd) == 0L) return(invisible())
  abort("unsupported", "With a response of ", describe_kind(response), ", priors of coefficients ",
        "are prior_ridge() and prior_flat() so far; found ", odd[[1L]]$prior$label, " for ",
        enumerate(odd[[1L]]$label), ".")
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
  posterior
}

#' @export
scale_posterior.bsvm_mixture <- function(posterior, unit, blocks) {
  posterior <- NextMethod()
  posterior$components <- lapply(posterior$components, scale_posterior, unit, blocks)
  if (!is.null(posterior$slope)) posterior$slope <- posterior$slope * unit
  for (k in seq_along(blocks)) {
    rows <- posterior$free[[k]]
    if (length(rows) == 0L) next
    posterior$theta[rows, ] <- scale_free(posterior$theta[rows, , drop = FALSE], blocks[[k]], unit)
    by <- free_factors(blocks[[k]], unit)
    if (is.null(posterior$theta_covariance)) next
    posterior$theta_covariance[rows, ] <- posterior$theta_covariance[rows, ] * by
    posterior$theta_covariance[, rows] <- t(t(posterior$theta_covariance[, rows]) * by)
  }
  posterior
}

# Fields times the unit, its square, and over its square.
scale_fields <- function(x, unit, once, squared, over_squared) {
  for (field in intersect(once, names(x))) x[[field]] <- x[[field]] * unit
  for (field in intersect(squared, names(x))) x[[field]] <- scale_covariance(x[[field]], unit^2)
  for (field in intersect(over_squared, names(x))) x[[field]] <- x[[field]] / unit^2
  x
}

# 1 if what a block's variance is of has the response's unit, 0 if it has none.
unit_power <- function(block) as.numeric(!is_parameter(block) || isTRUE(block$has_unit))

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

# Which of a block's free numbers are logarithms: all but those below the diagonal of a root by rows.
diagonal_rows <- function(block) {
  if (!is_joint(block)) return(TRUE)
  q <- length(block$columns)
  seq_len(q * (q + 1) / 2) %in% cumsum(seq_len(q))
}

# The core's report of a block's variance.
hyper_in_units <- function(hyper, block, unit) {
  square <- unit^(2 * unit_power(block))
  kind <- sub("_[0-9].*$", "", names(hyper))
  times <- kind %in% c("mean", "component_mean", "scale")
  hyper[times] <- hyper[times] * square
  hyper[kind == "inverse_mean"] <- hyper[kind == "inverse_mean"] / square
  hyper
}

# A bound on, or an estimate of, log p of the response in the user's units: the density of y is
# that of y/u over u, once for each unit of weight.
bound_in_units <- function(bound, spec) {
  if (is.null(bound) || spec$design$unit == 1) return(bound)
  weight <- spec$problem$weight
  bound - (if (is.null(weight)) length(spec$problem$y) else sum(weight)) * log(spec$design$unit)
}
