# Priors and second residuals of several responses, as the core has them. Those of coefficients are
# the priors of each response alone; effects of groups and residuals have one covariance.

residual_label <- "residual"

# list(prior, residual): the user's priors without that of the residual covariance.
split_residual <- function(prior) {
  if (!is.list(prior) || inherits(prior, "bsvm_prior") || is.null(prior[[residual_label]])) {
    return(list(prior = prior, residual = NULL))
  }
  residual <- prior[[residual_label]]
  prior[[residual_label]] <- NULL
  list(prior = if (length(prior) > 0L) prior, residual = residual)
}

# By default few slopes are not shrunk together. If responses are correlated, slopes of zero can be
# made up for by the residual covariance: the effects of three diets on eleven weights of rats
# disappeared under an inferred variance for each response. The estimates of flat slopes do not
# depend on that covariance.
rows_a_slope <- 3

with_weak_slopes <- function(prior, frame) {
  slopes <- setdiff(seq_along(frame$columns), c(frame$intercept, columns_of(frame$bases)))
  names <- names(as_prior_list(prior))
  named <- own_columns(frame, setdiff(names, ""))
  given <- "" %in% names || !anyNA(named[slopes])
  few <- length(slopes) > 0L && rows_a_slope * length(slopes) <= frame$nobs
  if (given || is_mixed(frame) || !few) return(prior)
  c(list(prior_weak_slope()), as_prior_list(prior))
}

# ---- second residuals ----------------------------------------------------------------------------

# The normal residual takes the scale's place, but where a second residual has it.
check_open_scale <- function(likelihood) {
  by_row <- has_row_scales(likelihood)
  if (is_gaussian(likelihood) && is.null(likelihood$priors$scale) && !by_row) {
    abort("argument", "With correlated residuals the likelihood's `scale` can't be a number. Use ",
          "prior = list(residual = prior_half_t(scale = )), or residual = \"independent\".")
  }
  if (!by_row && identical(likelihood$priors$scale, prior_half_t(3))) return(invisible())
  if (by_row || !has_second_residual(likelihood)) {
    abort("argument", "With correlated residuals the likelihood's `scale` can't be given",
          if (by_row) " as a formula", ". Use ",
          "prior = list(residual = prior_half_t(scale = )), or residual = \"independent\".")
  }
  if (!is_gaussian(likelihood) && !is.null(likelihood$priors$scale)) {
    abort("argument", "With correlated residuals `scale` must be a number, or NULL: its prior is ",
          "that of the loss's share of the variance. Omit `scale`.")
  }
}

is_gaussian <- function(likelihood) inherits(likelihood, "bsvm_likelihood_gaussian")

has_second_residual <- function(likelihood) {
  !is_gaussian(likelihood) || identical(likelihood$residual, "paper")
}

check_loss_rows <- function(frame, likelihood) {
  if (!has_second_residual(likelihood) || is.null(frame$weights)) return(invisible())
  abort("unsupported", "`weights` are not supported with ",
        if (is_gaussian(likelihood)) "two residuals" else "a latent response",
        ". Omit them, or use residual = \"independent\".")
}

# ---- for the core --------------------------------------------------------------------------------

# A part of the core's model for each block of a grouping factor: the effects of all responses have
# one covariance.
core_factors <- function(specs, groups) {
  blocks <- specs[[1L]]$group_blocks
  first <- effects_before(groups)
  lapply(seq_along(blocks), function(k) {
    group <- groups[[blocks[[k]]$factor]]
    at <- blocks[[k]]$columns - first[[blocks[[k]]$factor]]
    z <- if (!is.null(group$z)) group$z[, at, drop = FALSE]
    priors <- lapply(specs, function(spec) spec$model$group_blocks[[k]])
    c(list(codes = group$codes, levels = length(group$levels), z = z),
      joint_prior(priors, length(at), blocks[[k]]$label))
  })
}

# How many effects the factors before each one have.
effects_before <- function(groups) {
  counts <- vapply(groups, function(group) length(group$labels), 0L)
  stats::setNames(cumsum(c(0L, counts))[seq_along(counts)], names(groups))
}

# The priors of the same d effects of each response as one of their covariance: standard deviations
# keep their distributions, and so do the covariances of each response.
joint_prior <- function(priors, d, label) {
  numbers <- lapply(priors, `[[`, "parameters")
  all <- d * length(priors)
  if (all > most_responses) {
    abort("size", "`", label, "` has ", all, " correlated effects over all responses; at most ",
          most_responses, " are possible. Use fewer responses, or `||`.")
  }
  kind <- priors[[1L]]$prior
  if (kind %in% c("half_t", "huang_wand")) {
    scales <- unlist(lapply(numbers, function(x) x[setdiff(names(x), c("effects", "df"))]),
                     use.names = FALSE)
    return(list(prior = "huang_wand", parameters = c(
      effects = all, df = numbers[[1L]][["df"]],
      stats::setNames(scales, paste0("scale_", seq_len(all))))))
  }
  if (!kind %in% c("ridge", "inverse_wishart")) {
    abort("prior", "With several responses the prior of `", label, "` must be one with an ",
          "inferred variance, such as prior_ridge() or prior_inv_wishart().")
  }
  df <- if (kind == "ridge") 2 * numbers[[1L]][["shape"]] else numbers[[1L]][["df"]]
  scale <- matrix(0, all, all)
  for (j in seq_along(numbers)) {
    at <- (j - 1L) * d + seq_len(d)
    scale[at, at] <- if (kind == "ridge") 2 * numbers[[j]][["scale"]]
                     else full_matrix(numbers[[j]][-(1:2)])
  }
  list(prior = "inverse_wishart", parameters = c(effects = all, df = df + all - d,
                                                 lower_triangle(scale)))
}

# The residuals have half-t standard deviations, correlations uniform each, unless it is given.
core_residual <- function(prior, units, names) {
  q <- length(units)
  if (is.null(prior)) prior <- prior_half_t(df = 2)
  if (inherits(prior, "bsvm_hyperprior") && identical(prior$name, "half_t")) {
    given <- is.null(prior$open_scale)
    scale <- prior$parameters[["scale"]] / (if (given) units else 1)
    return(list(prior = "huang_wand", parameters = c(
      effects = q, df = prior$parameters[["df"]],
      stats::setNames(rep_len(scale, q), paste0("scale_", seq_len(q))))))
  }
  if (!inherits(prior, "bsvm_prior") || !identical(prior$name, "inverse_wishart")) {
    abort("prior", "The prior of `", residual_label, "` must be prior_half_t() or ",
          "prior_inv_wishart(); found ", describe(prior), ".")
  }
  filled <- fill_inv_wishart(prior, names, if (is.null(prior$arguments$scale)) rep(1, q) else units)
  numbers <- filled$parameters
  if (is.matrix(prior$arguments$scale)) {
    numbers <- c(numbers[1:2], lower_triangle(prior$arguments$scale / outer(units, units)))
  }
  list(prior = "inverse_wishart", parameters = numbers)
}

# The second residual of each response, in the core's units.
core_losses <- function(likelihood, units) {
  if (!has_second_residual(likelihood)) return(list())
  if (is_gaussian(likelihood)) {
    return(lapply(units, function(unit) {
      prior <- likelihood$priors$scale
      given <- if (is.null(prior$open_scale)) unit else 1
      power <- if (prior$name == "ridge") 2 else 1
      prior$parameters[["scale"]] <- prior$parameters[["scale"]] / given^power
      list(prior = prior$name, parameters = prior$parameters)
    }))
  }
  numbers <- likelihood$parameters
  if (isTRUE(numbers["epsilon"] > 0)) {
    abort("argument", "With correlated residuals the tube is given by `nu`, not by `epsilon`.")
  }
  nu <- if (isTRUE(numbers["epsilon"] == 0)) 1
        else if ("kappa" %in% names(numbers)) 1 / (1 + numbers[["kappa"]]) else 0
  beta <- likelihood$priors$nu$parameters
  lapply(units, function(unit) {
    list(scale = if ("scale" %in% names(numbers)) numbers[["scale"]] / unit else 0, nu = nu,
         a = if (is.null(beta)) 1 else beta[[1L]], b = if (is.null(beta)) 1 else beta[[2L]])
  })
}
