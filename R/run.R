#' Run: the core at work
#'
#' The third of the four stages of [bsvm()].
#'
#' @param spec From [bsvm_spec()].
#' @param control From [bsvm_control()].
#' @return A list, on the scale of the standardised columns: `mean` and `covariance` of the
#'   population-level coefficients; `group_mean`, `group_precision`, `group_regression` of the group
#'   effects given those; `hyper`, `group_hyper`: what was learnt about each block's
#'   variance; `bound`, `trace` (a row a pass), `passes`, `gradient`, `termination`
#'   (`"converged"`, `"pass_limit"` or `"interrupted"`).
#' @section Errors: `bsvm_error_numerical` if the computation breaks down.
#' @section Warnings: `bsvm_warning_convergence`, `bsvm_warning_interrupted` and
#'   `bsvm_warning_rank`; see [bsvm_conditions].
#' @seealso [new_bsvm()], the last stage.
#' @examples
#' spec <- bsvm_spec(bsvm_frame(am ~ mpg + wt, data = mtcars), engine = "vb")
#' result <- bsvm_run(spec)
#' result$termination
#' @export
bsvm_run <- function(spec, control = bsvm_control()) {
  if (!inherits(spec, "bsvm_spec")) {
    abort("argument", "`spec` must be made by bsvm_spec(); found ", describe(spec), ".")
  }
  check_control(control)
  options <- control[c("tol", "max_passes", "threads", "verbose")]
  options["start"] <- list(internal_start(control$start, spec$design))
  free_memory(length(spec$problem$x))
  result <- tryCatch(
    core_fit(spec$problem, spec$model, options),
    bsvm_core_invalid = resignal_invalid,
    bsvm_core_numerical = resignal_numerical,
    bsvm_core_memory = resignal_memory,
    bsvm_core_interrupted = resignal_interrupted
  )
  warn_termination(result, control)
  warn_rank(result, spec)
  result
}

# What is left of a large model frame goes before the core asks for memory: R alone would wait.
free_memory <- function(cells) {
  if (cells > 2e6) gc(verbose = FALSE)
}

# The core's names of its arguments, and what they are to the user: class, words.
core_words <- list(
  x = c("predictors", "the predictors"), y = c("response", "the response"),
  weight = c("weights", "`weights`"), offset = c("offset", "the offset"),
  group = c("group", "the grouping factor"), z = c("group", "the group's effects"),
  prior = c("prior", "`prior`"), parameters = c("prior", "`prior`"),
  likelihood = c("unsupported", "`likelihood`"), engine = c("unsupported", "`engine`")
)

resignal_invalid <- function(e) {
  words <- core_words[[c(e$argument, "none")[1L]]]
  if (is.null(words)) words <- c("argument", "the model")
  abort(words[1L], "There is a problem with ", words[2L], ": ", conditionMessage(e))
}

resignal_numerical <- function(e) {
  abort("numerical", "The computation broke down: ", conditionMessage(e), " Predictors on very ",
        "different scales are a common cause: standardise them, or rescale those with flat priors.")
}

resignal_memory <- function(e) {
  abort("size", conditionMessage(e), " Fit fewer rows or columns.")
}

# Before the first pass ended there is no fit to keep: an interrupt as if nothing had caught it.
resignal_interrupted <- function(e) {
  stop(structure(class = c("bsvm_error_interrupted", "bsvm_error", "interrupt", "condition"),
                 list(message = conditionMessage(e), call = NULL)))
}

# A user-scale start on the core's scale; NULL stays NULL.
internal_start <- function(start, design) {
  if (is.null(start)) return(NULL)
  p <- length(design$columns)
  if (length(start) != p) {
    abort("argument", "`start` must have one coefficient for each of the ", p, " columns; found ",
          length(start), ".")
  }
  start <- as.vector(start)
  internal <- start * design$scale
  if (design$intercept > 0L) {
    internal[design$intercept] <- start[design$intercept] + sum(start * design$center)
  }
  turned <- lapply(design$rotation, function(r) drop(crossprod(r$basis, internal[r$columns])))
  c(internal[kept_columns(p, lapply(design$rotation, `[[`, "columns"))], unlist(turned))
}

warn_termination <- function(result, control) {
  if (result$termination == "converged") return(invisible())
  bound <- result$trace[, "bound"]
  change <- if (length(bound) > 1L) format(abs(diff(utils::tail(bound, 2L))), digits = 2L)
            else "not known"
  state <- paste0("the last change of the bound was ", change, " (tol is ", control$tol,
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
  warn("convergence", "The fit did not converge in ", result$passes, " passes: ", state,
       " Raise `max_passes` in bsvm_control().")
}

# A flat coefficient that only its prior holds, since its posterior is about as wide as the prior
# (collinear columns) or its mean lies as far out as the prior lets it (separated classes).
warn_rank <- function(result, spec) {
  flat <- which(vapply(spec$blocks, function(block) is_wide(block$prior), TRUE))
  held <- sort(unlist(lapply(flat, held_by_prior, result = result, spec = spec)))
  if (length(held) == 0L) return(invisible())
  warn("rank", "Only the flat prior holds the coefficient", if (length(held) > 1L) "s", " of ",
       enumerate(spec$design$columns[held]), ": the column", if (length(held) > 1L) "s",
       " may be collinear with others, separate the classes perfectly, or be very small. ",
       "Leave columns out, rescale them, or use prior_ridge().")
}

# Meant to leave its coefficients to the data: prior_flat() may be made narrow too.
is_wide <- function(prior) !prior$penalised && prior$parameters[["variance"]] >= 1e6

# The user's columns of flat block k that are so.
held_by_prior <- function(k, result, spec) {
  columns <- spec$blocks[[k]]$columns
  block <- spec$model$blocks[[k]]
  if (block$unseen > 0L) return(columns)
  limit <- 0.1 / sqrt(result$hyper[[k]][["inverse_mean"]])
  sd <- sqrt(diag(result$covariance)[block$columns])
  columns[sd > limit | abs(result$mean[block$columns]) > limit]
}
