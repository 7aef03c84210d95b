# engine_gaussian() of several responses with one normal residual: all coefficients are integrated
# out of the posterior density of variances and residual covariance
# (src/core/responses/evidence.hpp). Chains propose from t distributions about its modes, and the
# weights of the proposals give the log evidence.

independent_draws <- 1000L # of each of four chains
independent_burnin <- 100L
independent_thin <- 10L # in tails chains stay for some proposals
most_variances <- 60L

# The sampler in the place of engine_gaussian().
independent_engine <- function(engine) {
  if (!isTRUE(engine$settings$integrate)) {
    abort("unsupported", "engine_gaussian(integrate = FALSE) is not supported with several ",
          "responses. Omit `integrate`.")
  }
  engine <- engine_gibbs(draws = independent_draws, burnin = independent_burnin,
                         thin = independent_thin)
  engine$label <- "independent proposals about the modes of the variances"
  engine$settings$independent <- TRUE
  engine
}

is_independent <- function(engine) isTRUE(engine$settings$independent)

check_independent <- function(spec, likelihood, y, blocks) {
  refuse <- function(what) {
    abort("unsupported", "engine_gaussian() of several responses needs ", what, ". Use ",
          "engine_gibbs().")
  }
  q <- ncol(y)
  own <- Filter(Negate(is_parameter), spec$blocks)
  if (has_second_residual(likelihood)) refuse("normal residuals without a second residual")
  if (anyNA(y)) refuse("responses without missing values")
  if (length(spec$group_blocks) > 0L) refuse("a formula without grouping factors")
  if (any(lengths(lapply(blocks, `[[`, "choices")) > 0L)) refuse("one kernel, not a choice")
  for (block in own) {
    if (takes_prior(block, engine_gaussian())) next
    refuse(paste0("another prior of `", block$label, "` than ", block$prior$label))
  }
  sizes <- lengths(lapply(blocks, `[[`, "columns"))
  large <- sizes > 4L & vapply(own, function(block) {
    prior_traits(block$prior)[["exchangeable"]]
  }, TRUE)
  if (sum(large) > 1L) {
    refuse(paste("at most one block of many columns; found", enumerate(
      vapply(own[large], `[[`, "", "label"), "`")))
  }
  coefficients <- q * sum(sizes[!large])
  if (coefficients > most_chosen) {
    refuse(paste("at most", most_chosen, "coefficients in addition to a block of many columns; found",
                 coefficients))
  }
  free <- sum(vapply(own, function(block) block$prior$name != "normal", TRUE))
  inferred <- q * free + q * (q + 1) / 2
  if (inferred > most_variances) {
    refuse(paste("at most", most_variances, "variances and covariances; found", inferred))
  }
}

# list(value, error, pareto_k): the log evidence in units of the responses, its standard error, and
# the shape of the tail of the importance weights. `logs` (1, draws, chains).
evidence_of <- function(logs, units, rows) {
  logs <- c(logs)
  top <- max(logs)
  weights <- exp(logs - top) # of proposals beyond doubles zero
  list(value = top + log(mean(weights)) - rows * sum(log(units)),
       error = sqrt(stats::var(weights) / length(weights)) / mean(weights),
       pareto_k = smoothed_weights(pmax(logs - top, -700))$k)
}

warn_evidence <- function(evidence) {
  if (is.null(evidence) || evidence$pareto_k < highest_k) return(invisible())
  warn("approximation", "Pareto k of the importance weights is ",
       format(evidence$pareto_k, digits = 2L), ", above ", highest_k, ": the log evidence is not ",
       "reliable, and there may be few effective draws. Use engine_gibbs() for the draws.")
}

#' @rdname elbo
#' @export
elbo.bsvm_responses <- function(object, ...) {
  check_dots(substitute(list(...)), "elbo()", NULL)
  if (!is.null(object$evidence)) return(object$evidence$value)
  if (is.null(object$residual)) return(sum(vapply(object$fits, elbo, 0)))
  abort("unsupported", "A fit of several responses by engine_gibbs() has draws and no log ",
        "evidence. Use engine_gaussian().")
}
