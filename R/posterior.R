# The verbs every method uses. What the engine found lies in fit$posterior, on the scale of the
# standardised and possibly rotated columns of the core, in one of these classes:
#
#   bsvm_moments         mean, covariance; group_mean, group_precision, group_regression, or in
#                        their place group_file (R/group-file.R)
#   bsvm_sparse_moments  mean, covariance; effects, effects_sd, factor
#   bsvm_integrated      several factors, one integrated out; only within a mixture
#   bsvm_mixture         a few of the above with weights, over values of the variances
#   bsvm_point           mean, effects: a point estimate, nothing else
#   bsvm_draws           mean, covariance; effects_mean, effects_sd; the draws: coefficients,
#                        variances, effects
#
# Each class has a method of the generics below. Rows are list(x, groups): x is k x p on the
# user's scale; groups a list by grouping factor of list(codes, z, values): codes into its levels,
# NA for none and 0 for a level the fit has not seen; z k x q multipliers, NULL for ones; values,
# the levels in words. `left_over`, of Gaussian-process terms, is the share of each block's variance
# that no coefficient has. Of predictors that are not known, `unknown` or `imputed` (missing-fit.R).

# Mean and standard deviation of linear functions, one a row; of rows whose columns are made see
# basis-made.R. `sd = FALSE` leaves sd NULL.
posterior_linear <- function(fit, rows, sd = TRUE) {
  if (has_group_file(fit) && length(rows$groups) > 0L) {
    own <- at_levels(fit, rows)
    return(posterior_linear(own$fit, own$rows, sd))
  }
  if (!is.null(rows$made)) return(made_linear(fit, rows, sd))
  mean <- drop(as.matrix(rows$x %*% population_mean(fit$posterior, fit$design)))
  mean <- mean + groups_link(effect_means(fit$posterior, fit$groups), rows$groups)
  if (!sd) return(list(mean = unname(mean), sd = NULL))
  own <- rows[setdiff(names(rows), c("unknown", "imputed", "left_over"))]
  sd <- linear_sd(fit$posterior, fit, own)
  if (has_unknown(rows)) sd <- sqrt(sd^2 + unknown_variance(fit, rows))
  if (!is.null(rows$left_over)) sd <- sqrt(sd^2 + left_over_variance(fit, rows))
  list(mean = unname(mean), sd = sd)
}

# list(mean, sd, covariance): named, user's scale; covariance is a function, since p x p may be
# large.
posterior_coefficients <- function(fit) {
  names <- fit$design$columns
  list(
    mean = stats::setNames(population_mean(fit$posterior, fit$design), names),
    sd = stats::setNames(user_sd(fit), names),
    covariance = function() {
      covariance <- user_covariance(fit)
      dimnames(covariance) <- list(names, names)
      covariance
    }
  )
}

# Standard deviations of the rows' linear predictors, all predictors at their means.
linear_sd <- function(posterior, fit, rows) UseMethod("linear_sd")

# Lower and upper limits (k x 2) of the rows' linear predictors; `link` from posterior_linear().
linear_limits <- function(posterior, fit, rows, link, level) UseMethod("linear_limits")

# Lower and upper limits of the coefficients `chosen`, numbers of columns.
coefficient_limits <- function(posterior, fit, chosen, level) UseMethod("coefficient_limits")

# Posterior means and standard deviations of the group effects: lists by factor of q x m matrices.
effect_means <- function(posterior, groups) UseMethod("effect_means")
effect_sds <- function(posterior, groups) UseMethod("effect_sds")

# Limits of the group effects, in the order of the long form of ranef(), which is given.
effect_limits <- function(posterior, fit, long, level) UseMethod("effect_limits")

# Covariance of the coefficients, some of which are of sparse columns.
sparse_covariance <- function(fit) UseMethod("sparse_covariance", fit$posterior)

# Variance of coefficients no row can see, those of a rotated block, from the block's `hyper`.
unseen_variance <- function(posterior, hyper) UseMethod("unseen_variance")

# A Gaussian's, unless the class says otherwise.
#' @export
linear_limits.default <- function(posterior, fit, rows, link, level) {
  normal_limits(link$mean, link$sd, level)
}

#' @export
coefficient_limits.default <- function(posterior, fit, chosen, level) {
  moments <- posterior_coefficients(fit)
  normal_limits(moments$mean[chosen], moments$sd[chosen], level)
}

#' @export
effect_limits.default <- function(posterior, fit, long, level) {
  normal_limits(long$condval, long$condsd, level)
}

#' @export
sparse_covariance.default <- function(fit) {
  abort("unsupported", "No covariance matrix of the coefficients of sparse predictors is formed. ",
        "confint() has their intervals, and predict(interval = TRUE) the standard deviation of ",
        "any linear function of them.")
}

#' @export
unseen_variance.default <- function(posterior, hyper) 1 / hyper[["inverse_mean"]]

# `f(rows)` for chunks of at most `size` row numbers, which keeps what is made of each bounded.
in_chunks <- function(n, size, f) {
  size <- max(1, floor(size))
  for (start in seq(1, by = size, length.out = ceiling(n / size))) {
    f(seq(start, min(start + size - 1, n)))
  }
}

# Some of the rows.
rows_at <- function(rows, at) {
  c(list(x = rows$x[at, , drop = FALSE],
         groups = lapply(rows$groups, function(group) {
           group$codes <- group$codes[at]
           if (!is.null(group$z)) group$z <- group$z[at, , drop = FALSE]
           group$values <- group$values[at]
           group
         })),
    unknown_at(rows, at), made_at(rows, at), scale_columns_at(rows, at),
    if (!is.null(rows$left_over)) list(left_over = rows$left_over[at, , drop = FALSE]))
}
