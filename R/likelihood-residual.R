# Likelihoods of a response of numbers, y = f + a residual whose density does not depend on f. A new
# one is a file with its constructor, whose class has "residual" after its own, and the methods
# below. Their `values` are the numbers of the density, a list by the core's names: those that are
# given, and one for each point of a fit of those that are inferred. `r`, `t`, `p` have an element
# for each of these, or the other way round.

# log p(r); P(r + e <= t) with e ~ N(0, sd^2); its quantiles at sd 0; list(mean, variance) of r.
residual_density <- function(likelihood, values, r) UseMethod("residual_density")

residual_cdf <- function(likelihood, values, t, sd) UseMethod("residual_cdf")

residual_quantile <- function(likelihood, values, p) UseMethod("residual_quantile")

residual_moments <- function(likelihood, values) UseMethod("residual_moments")

is_residual <- function(likelihood) inherits(likelihood, "bsvm_likelihood_residual")

# Which of the core's numbers have the response's unit; others have none.
unit_numbers <- function(likelihood) UseMethod("unit_numbers")

# Also the method for a term with inferred parameters.
#' @export
unit_numbers.default <- function(likelihood) character(0)

#' @export
unit_numbers.bsvm_likelihood <- function(likelihood) character(0)

# ---- inferred numbers of a fit ------------------------------------------------------------------

# Their names in the core, where these differ.
core_number <- function(label) if (label == "nu") "kappa" else label

# list(values, weights): the density's numbers at the points of a fit (draws, points of a mixture,
# or one), and the weights of these.
residual_points <- function(fit) {
  at <- which(vapply(all_blocks(fit), function(block) {
    is_parameter(block) && block$label %in% names(fit$likelihood$priors)
  }, TRUE))
  labels <- vapply(all_blocks(fit)[at], `[[`, "", "label")
  inferred <- stats::setNames(lapply(at, function(k) parameter_points(fit$posterior, fit, k)),
                              vapply(labels, core_number, ""))
  list(values = c(as.list(fit$likelihood$parameters), inferred),
       weights = point_weights(fit$posterior))
}

# Logarithms of the likelihood's inferred numbers, as the core has them: a row each, a column a
# point.
free_numbers <- function(fit) {
  names <- names(fit$likelihood$priors)
  if (length(names) == 0L) return(NULL)
  log(do.call(rbind, residual_points(fit)$values[vapply(names, core_number, "")]))
}

# The same at their posterior means, of the tube's shape at that of the share outside it.
mean_numbers <- function(fit) {
  free <- free_numbers(fit)
  if (is.null(free)) return(NULL)
  weights <- point_weights(fit$posterior)
  shown <- Map(function(block, row) {
    mean <- sum(shown_number(block, exp(free[row, ])) * weights)
    log(number_of_shown(block, mean))
  }, parameter_blocks(fit$likelihood), seq_len(nrow(free)))
  unlist(shown)
}

parameter_points <- function(posterior, fit, k) UseMethod("parameter_points")

#' @export
parameter_points.default <- function(posterior, fit, k) sqrt(all_blocks(fit)[[k]]$hyper[["mean"]])

#' @export
parameter_points.bsvm_draws <- function(posterior, fit, k) sqrt(block_variances(fit, k))

#' @export
parameter_points.bsvm_mixture <- function(posterior, fit, k) {
  exp(posterior$theta[posterior$free[[k]], ])
}

point_weights <- function(posterior) {
  if (inherits(posterior, "bsvm_mixture")) return(posterior$weights)
  n <- if (inherits(posterior, "bsvm_draws")) draw_count(posterior) else 1L
  rep(1 / n, n)
}

with_given_values <- function(likelihood) {
  likelihood$values <- as.list(likelihood$parameters)
  likelihood
}

# The likelihood with its `values` at the draws `at` of a fit or, without, at their means. Where the
# scale differs by row, for rows with these columns: draws x rows, or a number a row.
likelihood_at <- function(fit, at = NULL, columns = fit$scale_columns) {
  likelihood <- fit$likelihood
  if (!is_residual(likelihood) && is.null(likelihood$values)) return(likelihood)
  points <- residual_points(fit)
  if (has_row_scales(likelihood)) return(likelihood_by_row(likelihood, points, at, columns))
  values <- own_values(likelihood, points$values)
  likelihood$values <- lapply(values, function(value) {
    if (length(value) == 1L) value
    else if (is.null(at)) sum(value * points$weights) else value[at]
  })
  likelihood
}

likelihood_by_row <- function(likelihood, points, at, columns) {
  if (is.null(at)) {
    values <- own_values(likelihood, without_scales(likelihood, points$values))
    unit <- names(values) %in% unit_numbers(likelihood)
    values[!unit] <- lapply(values[!unit], function(value) {
      if (length(value) == 1L) value else sum(value * points$weights)
    })
    values[unit] <- row_means(likelihood, points, columns, values[unit])
    likelihood$values <- values
    return(likelihood)
  }
  drawn <- lapply(points$values, function(value) if (length(value) == 1L) value else value[at])
  likelihood$values <- lapply(own_values(likelihood, values_by_row(likelihood, drawn, columns)), t)
  likelihood
}

# The numbers whose means stand for them.
own_values <- function(likelihood, values) UseMethod("own_values")

#' @export
own_values.bsvm_likelihood_residual <- function(likelihood, values) values

# The same at the draws that methods for draws are asked for.
drawn_likelihood <- function(fit, draw_ids, newdata = NULL) {
  likelihood_at(fit, check_draw_ids(draw_ids, draw_count(fit$posterior)),
                scale_columns_of(fit, newdata))
}

# The core's numbers of the likelihood, in units of the core's response.
numbers_in_units <- function(likelihood, unit) {
  numbers <- likelihood$parameters
  own <- names(numbers) %in% unit_numbers(likelihood)
  numbers[own] <- numbers[own] / unit
  numbers
}

# ---- what R asks of a likelihood ----------------------------------------------------------------

#' @export
response_kind.bsvm_likelihood_residual <- function(likelihood) "numbers"

#' @export
log_density.bsvm_likelihood_residual <- function(likelihood, y, f) {
  residual_density(likelihood, likelihood$values, y - f)
}

#' @export
expected_response.bsvm_likelihood_residual <- function(likelihood, f) {
  f + residual_moments(likelihood, likelihood$values)$mean
}

#' @export
averaged_response.bsvm_likelihood_residual <- function(likelihood, mean, sd) {
  expected_response(likelihood, mean)
}

#' @export
draw_response.bsvm_likelihood_residual <- function(likelihood, f) {
  f + residual_quantile(likelihood, likelihood$values, stats::runif(length(f)))
}

#' @export
row_residuals.bsvm_likelihood_residual <- function(likelihood, y, f) y - f

# The unit of the response, once bsvm_spec() knows it.
#' @export
coefficient_scale.bsvm_likelihood_residual <- function(likelihood) {
  if (is.null(likelihood$unit)) 1 else likelihood$unit
}

#' @export
response_sd.bsvm_likelihood_residual <- function(likelihood, fit) {
  points <- residual_points(fit)
  if (has_row_scales(likelihood)) return(mean_response_sd(likelihood, points, fit))
  sum(sqrt(residual_moments(likelihood, points$values)$variance) * points$weights)
}

# That of a response drawn at random from the rows.
mean_response_sd <- function(likelihood, points, fit) {
  moments <- residual_moments(likelihood, without_scales(likelihood, points$values))
  variance <- row_means(likelihood, points, fit$scale_columns, moments["variance"], 2)[[1L]]
  weights <- if (is.null(fit$weights)) rep(1, length(variance)) else fit$weights
  sqrt(sum(weights * variance) / sum(weights))
}

#' @export
open_words.bsvm_likelihood_residual <- function(likelihood) {
  words <- NextMethod()
  words$perfectly <- "The response can be fitted perfectly"
  words$perhaps <- "The response can perhaps be fitted perfectly"
  words
}
