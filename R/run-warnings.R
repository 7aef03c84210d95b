# What a run that ended has to warn of: where it stopped, and what the data leave open.

# Without integrated effects engine_map() too climbs a bound first.
word_for_objective <- function(result, spec) {
  if (spec$engine$name != "map") return("bound")
  if (result$integrated >= 0L) "log posterior density" else "objective"
}

warn_termination <- function(result, control, objective = "bound") {
  if (result$termination == "converged") return(invisible())
  bound <- result$trace[, "bound"]
  change <- if (length(bound) > 1L) format(abs(diff(utils::tail(bound, 2L))), digits = 2L)
            else "not known"
  state <- paste0("the last change of the ", objective, " was ", change, " (tol is ", control$tol,
                  "), the gradient's size ", format(result$gradient, digits = 2L), ".")
  if (result$termination == "stalled") {
    return(warn("convergence", "The fit stalled after ", result$passes, " passes, where rounding ",
                "errors outweigh progress; ", state, " Predictors on very different scales and ",
                "separated classes are common causes: standardise, or use prior_ridge()."))
  }
  if (result$termination == "interrupted") {
    return(warn("interrupted", "The fit was interrupted after ", result$passes,
                " passes and is kept as it was; ", state))
  }
  warn("convergence", "The fit did not converge in ", control$max_passes, " passes: ", state,
       " Raise `max_passes` in bsvm_control().")
}

# A flat coefficient that only its prior holds, since its posterior is about as wide as the prior
# (collinear columns) or its mean lies as far out as the prior lets it (separated classes).
warn_rank <- function(result, spec) {
  if (any(result$unbounded)) return(warn_open_variances(result, spec))
  flat <- which(vapply(spec$blocks, function(block) is_wide(block$prior), TRUE))
  held <- unlist(lapply(flat, held_by_prior, result = result, spec = spec))
  if (separates(result, spec, flat)) {
    held <- c(held, unlist(lapply(spec$blocks[flat], `[[`, "columns")))
  }
  held <- sort(unique(held))
  if (length(held) == 0L) return(invisible())
  warn("rank", "Only the flat prior holds the coefficient", if (length(held) > 1L) "s", " of ",
       enumerate(spec$design$columns[held]), ": the column", if (length(held) > 1L) "s",
       " may be collinear with others, separate the classes perfectly, or be very small. ",
       "Leave columns out, rescale them, or use prior_ridge().")
}

warn_open_variances <- function(result, spec) {
  labels <- vapply(all_blocks(spec)[result$unbounded], `[[`, "", "label")
  warn("rank", "Neither the data nor its prior bound the variance of ", enumerate(labels, "`"),
       " from above, as where the classes are separated: means, standard deviations and intervals ",
       "say little. Give it a law that bounds it, as prior_ridge(variance = prior_half_t()), or ",
       "leave columns out.")
}

# Does a mode or mean in flat columns alone put every row on its side? Then any multiple of it does,
# and nothing but the prior bounds them, however modest they look. Draws and engine_vb() show it.
separates <- function(result, spec, flat) {
  if (!is_approximation(spec$engine) && !is_estimator(spec$engine)) return(FALSE)
  least_margin(result$posterior, spec, flat[flat <= length(spec$model$blocks)]) > 0
}

# The least y f over complete rows, of the mean in these dense blocks alone.
least_margin <- function(posterior, spec, blocks) {
  at <- unlist(lapply(spec$model$blocks[blocks], `[[`, "columns"))
  if (length(at) == 0L || length(spec$problem$y) == 0L) return(-Inf)
  problem <- spec$problem
  coefficients <- replace(numeric(length(problem$scale)), at, posterior$mean[at])
  coefficients <- coefficients / problem$scale
  link <- -sum(coefficients * problem$center)
  if (problem$intercept) {
    link <- link + coefficients[1L]
    coefficients <- coefficients[-1L]
  }
  margins <- problem$y * (link + problem$x %*% coefficients)
  if (all(is.na(margins))) -Inf else min(margins, na.rm = TRUE)
}

# Meant to leave its coefficients to the data: prior_flat() may be made narrow too.
is_wide <- function(prior) !prior$penalised && prior$parameters[["variance"]] >= 1e6

# The user's columns of flat block k that are so.
held_by_prior <- function(k, result, spec) {
  columns <- spec$blocks[[k]]$columns
  dense <- k <= length(spec$model$blocks)
  if (dense && spec$model$blocks[[k]]$unseen > 0L) return(columns)
  limit <- 0.1 / sqrt(result$hyper[[k]][["inverse_mean"]])
  moments <- if (dense) dense_moments(result$posterior, spec$model$blocks[[k]]$columns)
             else sparse_block_moments(result$posterior, columns, spec$design$sparse)
  columns[which(moments$sd > limit | abs(moments$mean) > limit)]
}

dense_moments <- function(posterior, at) {
  if (isTRUE(posterior$point)) return(list(mean = posterior$mean[at], sd = rep(NA, length(at))))
  list(mean = posterior$mean[at], sd = sqrt(core_variances(posterior, at)))
}

sparse_block_moments <- function(posterior, columns, sparse) {
  at <- match(columns, sparse)
  lapply(sparse_coefficients(posterior, length(sparse)), `[`, at)
}
