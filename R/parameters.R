# Parameters of the likelihood that are inferred, such as a scale: `priors` of the likelihood object
# names them. spec$blocks and fit$blocks have a block without columns for each, and then for each
# parameter of a term (R/basis-made.R), after those of dense columns, as the core has them. The
# core knows such a positive number as the square root of what would be the variance of a block's
# coefficients, and so do `hyper` and the draws of its block.

parameter_blocks <- function(likelihood) {
  priors <- likelihood$priors
  unname(Map(function(given, label) {
    has_unit <- label %in% unit_numbers(likelihood)
    prior <- new_prior(given$name, given$parameters, given$label, TRUE)
    if (has_unit) {
      prior$open_scale <- given$open_scale
      prior <- scale_prior(prior, likelihood)
    }
    prior$label <- sub(" on the standard deviation", "", sub("^ridge, ", "", prior$label))
    prior$label <- sub(" on the variance", " on its square", prior$label)
    list(prior = prior, columns = integer(0), label = label, parameter = TRUE,
         has_unit = has_unit, sd = likelihood$scale_sds[label])
  }, priors, names(priors)))
}

# Integrals over effects are for a likelihood that is known.
has_parameters <- function(likelihood) length(likelihood$priors) > 0L

word_for_inferred <- function(likelihood) {
  names <- names(likelihood$priors)
  paste0("a likelihood whose ", enumerate(names), if (length(names) > 1L) " are" else " is",
         " inferred")
}

# Methods that ask for the likelihood's density, or draws from it, at one value.
refuse_inferred <- function(object, what) {
  if (!has_parameters(object$likelihood) || is_residual(object$likelihood)) return(invisible())
  abort("unsupported", what, " does not support ", word_for_inferred(object$likelihood), " (yet).")
}

is_parameter <- function(block) isTRUE(block$parameter)

# The core's report of what is a point in engine_vb(): the number itself, not a distribution.
point_numbers <- function(block, hyper) {
  if (!is_parameter(block)) return(hyper)
  c(mean = 1 / hyper[["inverse_mean"]], hyper["inverse_mean"])
}

# The numbers of a parameter that users see: of the tube's half width in scales, the share outside
# it; of the factor of a scale for one standard deviation of a column, its logarithm for one unit.
is_share <- function(block) identical(block$prior$name, "beta")

is_coefficient <- function(block) {
  identical(block$prior$name, "log_normal") && !is.null(block$sd) && !is.na(block$sd)
}

is_shown_otherwise <- function(block) is_share(block) || is_coefficient(block)

shown_number <- function(block, number) {
  if (is_share(block)) 1 / (1 + number)
  else if (is_coefficient(block)) log(number) / block$sd else number
}

number_of_shown <- function(block, shown) {
  if (is_share(block)) 1 / shown - 1
  else if (is_coefficient(block)) exp(shown * block$sd) else shown
}

# Mean, standard deviation and limits of what is shown, of which block_spread() has the number's.
parameter_spread <- function(fit, k, level) {
  block <- all_blocks(fit)[[k]]
  if (!is_shown_otherwise(block)) return(block_spread(fit$posterior, fit, k, level)[, 2:5])
  posterior <- fit$posterior
  if (inherits(posterior, "bsvm_draws")) {
    draws <- shown_number(block, sqrt(block_variances(fit, k)))
    return(c(mean(draws), stats::sd(draws), row_quantiles(matrix(draws, 1L), level)))
  }
  if (!inherits(posterior, "bsvm_mixture")) {
    return(c(shown_number(block, sqrt(block$hyper[["mean"]])), 0, NA, NA))
  }
  law <- log_sd_law(posterior, k)
  at <- function(p) shown_number(block, exp(log_quantile_of(law, p)))
  middle <- vapply((seq_len(200L) - 0.5) / 200, at, 0)
  c(mean(middle), stats::sd(middle), sort(c(at((1 - level) / 2), at((1 + level) / 2))))
}

# A row a parameter, as sd_table() has them; NULL if there is none. A standard deviation is missing
# where the fit has a point only.
parameter_table <- function(fit, level = 0.95) {
  at <- which(vapply(all_blocks(fit), is_parameter, TRUE))
  if (length(at) == 0L) return(NULL)
  rows <- lapply(at, function(k) parameter_spread(fit, k, level))
  table <- do.call(rbind, rows)
  dimnames(table) <- list(vapply(all_blocks(fit)[at], `[[`, "", "label"),
                          c("Estimate", "SD", "lower", "upper"))
  table[table[, "SD"] %in% 0, -1L] <- NA_real_
  table
}

# `table` from parameter_table().
say_parameters <- function(table, digits) {
  if (is.null(table)) return(invisible())
  cat("\nInferred parameters:\n")
  print_columns(table[, !is.na(table[1L, ]), drop = FALSE], digits)
  say_row_scales(rownames(table))
}

# Below a table with rows of these names.
say_row_scales <- function(names) {
  if (!any(startsWith(names, "scale: "))) return(invisible())
  say_wrapped(paste("scale is that of a row at the means of its predictors, whose coefficients are",
                    "for its logarithm."))
}
