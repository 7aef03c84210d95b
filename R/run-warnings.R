# Warnings about a run that ended: where it stopped, and what the data leave open.

# Without integrated effects engine_map() too climbs a bound first.
word_for_objective <- function(result, spec) {
  if (trait(spec$engine, "duality_gap")) return("objective")
  if (!is_mode(spec$engine)) return("bound")
  if (result$integrated >= 0L) "log posterior density" else "objective"
}

warn_termination <- function(result, control, objective = "bound",
                             certificate = "gradient's size") {
  if (result$termination == "converged") return(invisible())
  bound <- result$trace[, "bound"]
  change <- if (length(bound) > 1L) format(abs(diff(utils::tail(bound, 2L))), digits = 2L)
            else "not known"
  state <- paste0("the last change of the ", objective, " was ", change, " (tol is ", control$tol,
                  "), the ", certificate, " ", format(result$gradient, digits = 2L), ".")
  if (result$termination == "stalled") {
    return(warn("convergence", "The fit stalled after ", result$passes, " iterations, where rounding ",
                "errors outweigh progress; ", state, " Predictors on very different scales and ",
                "separated classes are common causes: standardise, or use prior_ridge()."))
  }
  if (result$termination == "interrupted") {
    return(warn("interrupted", "The fit was interrupted after ", result$passes,
                " iterations and is kept as it was; ", state))
  }
  warn("convergence", "The fit did not converge in ", control$max_passes, " iterations: ", state,
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
  columns <- unlist(lapply(spec$blocks[flat], `[[`, "columns"))
  repeated <- intersect(collinear_columns(columns, spec), columns)
  if (length(repeated) > 0L) return(warn_collinear(spec$design$columns[repeated]))
  # The intercept runs away with what separates the classes, and is not to blame.
  warn_held(spec$design$columns[setdiff(held, spec$design$intercept)], spec$likelihood)
}

warn_collinear <- function(names) {
  one <- length(names) == 1L
  warn("rank", enumerate(names),
       if (one) " is a linear combination" else " are linear combinations",
       " of other columns: only the flat prior determines ",
       if (one) "its coefficient, whose estimate and interval mean nothing. "
       else "their coefficients, whose estimates and intervals mean nothing. ",
       "Leave ", if (one) "it" else "them", " out of the formula, or use prior = prior_ridge().")
}

warn_held <- function(names, likelihood) {
  by <- if (length(names) > 0L) {
    paste0(" by ", enumerate(names), ", whose flat prior does not bound ",
           if (length(names) == 1L) "its coefficient" else "their coefficients")
  }
  words <- open_words(likelihood)
  warn("rank", words$open, by, ": ", words$unreliable, ". Use prior = prior_ridge().")
}

# Those columns that are a linear combination of others before them, including the intercept. They
# are compared on unit scale, as far as rounding can tell.
collinear_columns <- function(columns, spec) {
  problem <- spec$problem
  kept <- core_layout(spec$design)$kept
  at <- match(setdiff(columns, spec$design$intercept), kept)
  at <- at[!is.na(at)] - problem$intercept
  if (length(at) == 0L || length(problem$x) > 1e7) return(integer(0))
  x <- problem$x[, at, drop = FALSE]
  x[is.na(x)] <- 0
  if (spec$design$intercept > 0L) x <- sweep(x, 2L, colMeans(x))
  size <- apply(abs(x), 2L, max)
  x <- sweep(x, 2L, ifelse(size > 0, size, 1), "/")
  found <- qr(x, tol = 1e-9)
  kept[at[found$pivot[-seq_len(found$rank)]] + problem$intercept]
}

warn_open_variances <- function(result, spec) {
  open <- all_blocks(spec)[result$unbounded]
  labels <- vapply(open, `[[`, "", "label")
  words <- open_words(spec$likelihood)
  of_variances <- !all(vapply(open, is_parameter, TRUE))
  warn("rank", words$perfectly, ", so that the data do not bound ",
       if (of_variances) "the variance of ", enumerate(labels, "`"), ": ", words$all_unreliable,
       ". ", bound_it(open))
}

# Does a mode or mean in flat columns alone put every row on its side? Then any multiple of it does,
# and nothing but the prior bounds them, however modest they look. Draws and engine_vb() show it.
separates <- function(result, spec, flat) {
  if (!is_approximation(spec$engine) && !is_estimator(spec$engine)) return(FALSE)
  least_margin(result$posterior, spec, flat[flat <= length(spec$model$blocks)]) > 0
}

# The least margin of complete rows, of the mean in these dense blocks alone and without columns
# that are made (R/basis-made.R).
least_margin <- function(posterior, spec, blocks) {
  problem <- spec$problem
  at <- unlist(lapply(spec$model$blocks[blocks], `[[`, "columns"))
  at <- at[at <= length(problem$scale)]
  if (length(at) == 0L || length(problem$y) == 0L) return(-Inf)
  coefficients <- replace(numeric(length(problem$scale)), at, posterior$mean[at])
  coefficients <- coefficients / problem$scale
  link <- -sum(coefficients * problem$center)
  if (problem$intercept) {
    link <- link + coefficients[1L]
    coefficients <- coefficients[-1L]
  }
  margins <- row_margins(spec$likelihood, problem$y, link + problem$x %*% coefficients)
  if (all(is.na(margins))) -Inf else min(margins, na.rm = TRUE)
}

# Meant to leave its coefficients to the data: prior_flat() may be made narrow too.
is_wide <- function(prior) {
  !prior$penalised && !is_weak(prior) && prior$parameters[["variance"]] >= 1e6
}

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
