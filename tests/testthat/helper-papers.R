# The papers' model, for tests whose oracles have it: a file that begins with `bsvm <- paper_bsvm`
# speaks of the pseudo-likelihood, inverse-gamma(0.01, 0.01) variances (inverse Wishart
# covariances), flat priors next to random effects and smooths, and fits that keep no data, where
# nothing else is given.

paper_bsvm <- function(...) {
  call <- match.call()
  call[[1L]] <- quote(bsvm::bsvm)
  given <- names(call)
  call$prior <- tryCatch(paper_prior(call, parent.frame()), error = function(e) call$prior)
  if (!"likelihood" %in% given) call$likelihood <- "hinge"
  if (!"keep_data" %in% given) call$keep_data <- FALSE
  eval(call, parent.frame())
}

# What is given, and the papers' priors of the rest.
paper_prior <- function(call, env) {
  own <- eval(call$prior, env)
  of_frame <- c("", "x", "y", "formula", "data", "group", "subset", "weights", "offset",
                "na.action", "contrasts", "drop.unused.levels", "class.weights", "missing")
  if (!is.null(names(call))) call <- call[names(call) %in% of_frame]
  call[[1L]] <- quote(bsvm::bsvm_frame)
  frame <- suppressWarnings(suppressMessages(eval(call, env)))
  if (is.null(own)) return(paper_priors(frame))
  if (inherits(own, "bsvm_prior")) own <- list(own)
  stopifnot(all(vapply(own, inherits, NA, "bsvm_prior")))
  if (is.null(names(own))) names(own) <- rep("", length(own))
  rest <- paper_priors(frame, named = any(names(own) == ""))
  covered <- names(rest) %in% names(own) | sub(": .*", "", names(rest)) %in% names(own) |
    vapply(names(rest), function(name) any(startsWith(name, setdiff(names(own), ""))), NA)
  c(own, rest[!covered])
}

# A list for a frame. A flat prior of the slopes is one of the intercept and of the lines of
# smooths; `named`: are these to be named, since the slopes have another?
paper_priors <- function(frame, named = FALSE) {
  smooths <- frame$smooths
  unpenalised <- unlist(lapply(smooths, `[[`, "unpenalised"))
  penalised <- unlist(lapply(smooths, `[[`, "columns"))
  slopes <- setdiff(seq_along(frame$columns), c(frame$intercept, unpenalised, penalised))
  mixed <- frame$bars || length(smooths) > 0
  own <- if (length(slopes) == 0) list()
         else named_priors("", if (mixed) prior_flat() else prior_ridge(0.01))
  if (!mixed) return(own)
  blocks <- unlist(lapply(smooths, function(smooth) names(smooth$blocks)))
  effects <- lapply(frame$groups, function(group) {
    Map(function(block) if (length(block) > 1) prior_inv_wishart() else prior_ridge(0.01),
        stats::setNames(group$blocks, bsvm:::block_names(group)))
  })
  lines <- if (named || length(slopes) == 0) frame$columns[c(frame$intercept, unpenalised)]
  c(own, named_priors(lines, prior_flat()),
    named_priors(blocks, prior_ridge(0.01)), unlist(unname(effects), recursive = FALSE))
}

named_priors <- function(names, prior) {
  stats::setNames(rep(list(prior), length(names)), names)
}
