# The papers' model, for tests whose oracles have it: a file that begins with `bsvm <- paper_bsvm`
# speaks of the pseudo-likelihood, inverse-gamma(0.01, 0.01) variances (inverse Wishart
# covariances), flat priors next to random effects and smooths, and fits that keep no data, where
# nothing else is given.

paper_bsvm <- function(..., prior = NULL, likelihood = "hinge", keep_data = FALSE, engine,
                       standardize, control) {
  # Names of priors depend on formula and data alone; weights and the like stay unevaluated.
  names <- if (is.null(...names())) rep("", ...length()) else ...names()
  known <- list()
  for (i in which(is.na(names) | names %in% c("", "formula", "data", "x", "y", "group"))) {
    known[[length(known) + 1]] <- tryCatch(...elt(i), error = function(e) NULL)
    names(known)[length(known)] <- if (is.na(names[i])) "" else names[i]
  }
  prior <- tryCatch(suppressMessages(suppressWarnings({
    paper_prior(prior, do.call(bsvm::bsvm_frame, c(known, list(na.action = na.omit))))
  })), error = function(e) prior)
  given <- list(prior = prior, likelihood = likelihood, keep_data = keep_data)
  if (!missing(engine)) given["engine"] <- list(engine)
  if (!missing(standardize)) given$standardize <- standardize
  if (!missing(control)) given$control <- control
  eval(as.call(c(quote(bsvm::bsvm), quote(...), given)))
}

# What is given, and the papers' priors of the rest.
paper_prior <- function(own, frame) {
  if (is.null(own)) return(paper_priors(frame))
  if (inherits(own, "bsvm_prior")) own <- list(own)
  stopifnot(all(vapply(own, inherits, NA, "bsvm_prior")))
  if (is.null(names(own))) names(own) <- rep("", length(own))
  rest <- paper_priors(frame, named = any(names(own) == ""))
  covered <- names(rest) %in% names(own) | sub(": .*", "", names(rest)) %in% names(own) |
    vapply(names(rest), function(name) any(startsWith(name, setdiff(names(own), ""))), NA)
  all <- c(own, rest[!covered])
  idle <- tryCatch(is.null(bsvm:::assign_priors(frame, all)), bsvm_error = function(e) TRUE)
  if (!idle) return(all)
  all <- all[names(all) != "" | seq_along(all) <= length(own)]
  if (length(frame$intercept) > 0 && !"(Intercept)" %in% names(all))
    all[["(Intercept)"]] <- prior_flat()
  all
}

# A design whose columns after the intercept are centred, as the core has them, and what takes
# coefficients back to the columns as they are: list(x, back).
centred <- function(x) {
  centre <- c(0, colMeans(x[, -1, drop = FALSE]))
  back <- diag(1, ncol(x))
  back[1, ] <- c(1, -centre[-1])
  list(x = sweep(x, 2, centre), back = back)
}

# A list for a frame. A flat prior of the slopes is one of the intercept and of the lines of
# smooths; `named`: are these to be named, since the slopes have another?
paper_priors <- function(frame, named = FALSE) {
  bases <- frame$bases
  unpenalised <- unlist(lapply(bases, `[[`, "unpenalised"))
  penalised <- unlist(lapply(bases, `[[`, "columns"))
  slopes <- setdiff(seq_along(frame$columns), c(frame$intercept, unpenalised, penalised))
  mixed <- frame$bars || length(bases) > 0
  own <- if (length(slopes) == 0) list()
         else named_priors("", if (mixed) prior_flat() else prior_ridge(0.01))
  if (!mixed) return(own)
  blocks <- unlist(lapply(bases, function(basis) names(basis$blocks)))
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
