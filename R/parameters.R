# Parameters of the likelihood that are inferred, such as a scale: `priors` of the likelihood object
# names them. spec$blocks and fit$blocks have a block without columns for each, and then for each
# parameter of a term (R/basis-learned.R), after those of dense columns, as the core has them. The
# core knows such a positive number as the square root of what would be the variance of a block's
# coefficients, and so do `hyper` and the draws of its block.

parameter_blocks <- function(likelihood) {
  priors <- likelihood$priors
  unname(Map(function(prior, label) {
    list(prior = new_prior(prior$name, prior$parameters, prior$label, TRUE), columns = integer(0),
         label = label, parameter = TRUE)
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
  if (!has_parameters(object$likelihood)) return(invisible())
  abort("unsupported", what, " does not support ", word_for_inferred(object$likelihood), " (yet).")
}

is_parameter <- function(block) isTRUE(block$parameter)

# The core's report of what is a point in engine_vb(): the number itself, not a distribution.
point_numbers <- function(block, hyper) {
  if (!is_parameter(block)) return(hyper)
  c(mean = 1 / hyper[["inverse_mean"]], hyper["inverse_mean"])
}

# A row a parameter, as sd_table() has them; NULL if there is none. A standard deviation is missing
# where the fit has a point only.
parameter_table <- function(fit, level = 0.95) {
  at <- which(vapply(all_blocks(fit), is_parameter, TRUE))
  if (length(at) == 0L) return(NULL)
  rows <- lapply(at, function(k) block_spread(fit$posterior, fit, k, level)[, 2:5])
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
}
