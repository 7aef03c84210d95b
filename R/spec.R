#' Specify: what the core is asked to fit
#'
#' The second of the four stages of [bsvm()]: which prior goes to which coefficients, how columns
#' are standardised, which likelihood and engine.
#'
#' @details
#' A block with more columns than the fit has rows is rotated: one common normal prior makes only
#' the directions the rows span matter, so the columns are replaced by as many features as there
#' are rows, and the rest of the coefficients' posterior is their prior's.
#'
#' @param frame From [bsvm_frame()].
#' @inheritParams bsvm
#' @return An object of class `bsvm_spec`, a list with `problem`, `model` (what the core takes),
#'   `design` (`columns`, `assign`, `term_labels`, `center`, `scale`, `intercept`, `implicit`,
#'   `rotation`), `blocks`, `group_blocks`, `default_prior` (did bars make the slopes flat?),
#'   `likelihood`, `engine` and `standardize`.
#' @section Errors: Classes `prior`, `argument`, `weights` and `unsupported` (see
#'   [bsvm_conditions]).
#' @seealso [bsvm_run()], the next stage.
#' @examples
#' frame <- bsvm_frame(am ~ mpg + wt, data = mtcars)
#' bsvm_spec(frame, prior = prior_ridge(variance = 2))
#' @export
bsvm_spec <- function(frame, prior = NULL, likelihood = likelihood_hinge(), engine = NULL,
                      standardize = TRUE) {
  if (!inherits(frame, "bsvm_frame")) {
    abort("argument", "`frame` must be made by bsvm_frame(); found ", describe(frame), ".")
  }
  likelihood <- as_likelihood(likelihood)
  engine <- as_engine(engine)
  check_flag(standardize, "standardize")
  assigned <- assign_priors(frame, prior)
  check_registered(c(assigned$blocks, assigned$group_blocks), likelihood, engine)
  penalised <- penalised_columns(assigned$blocks, length(frame$columns))
  scaling <- column_scaling(frame, penalised, standardize)
  design <- c(frame[c("columns", "assign", "term_labels", "intercept", "implicit")], scaling)
  core <- rotate_wide(frame, design, assigned$blocks)
  model <- list(likelihood = likelihood[c("name", "parameters")],
                engine = engine[c("name", "parameters")],
                blocks = core$blocks, group_blocks = lapply(assigned$group_blocks, core_block))
  design$rotation <- core$rotation
  structure(
    c(list(problem = core_problem(frame, core), model = model, design = design), assigned,
      list(likelihood = likelihood, engine = engine, standardize = standardize)),
    class = "bsvm_spec"
  )
}

#' @export
print.bsvm_spec <- function(x, ...) {
  cat("bsvm_spec: ", x$likelihood$label, ", ", x$engine$label, "\n", sep = "")
  for (block in c(x$blocks, x$group_blocks)) {
    cat("  ", block$label, ": ", block$prior$label, "\n", sep = "")
  }
  invisible(x)
}

penalised_columns <- function(blocks, p) {
  penalised <- logical(p)
  for (block in blocks) penalised[block$columns] <- block$prior$penalised
  penalised
}

# Everything named must be in the core's registry.
check_registered <- function(blocks, likelihood, engine) {
  registry <- core_registry()
  need_registered(vapply(blocks, function(block) block$prior$name, ""), registry$priors, "prior")
  need_registered(likelihood$name, registry$likelihoods, "likelihood")
  need_registered(engine$name, registry$engines, "engine")
}

need_registered <- function(names, known, kind) {
  unknown <- setdiff(names, known)
  if (length(unknown) > 0L) {
    abort("unsupported", "The core has no ", kind, " called ", enumerate(unknown, "'"),
          "; it has ", enumerate(known, "'", 20L), ".")
  }
}

core_problem <- function(frame, core) {
  list(x = core$x, center = core$center, scale = core$scale, y = frame$y,
       weight = frame$weights, offset = frame$offset, group = frame$group$codes,
       n_groups = length(frame$group$levels), z = frame$group$z, intercept = frame$implicit)
}

core_block <- function(block, columns = block$columns, unseen = 0L) {
  list(prior = block$prior$name, parameters = block$prior$parameters,
       columns = as.integer(columns), unseen = as.integer(unseen))
}

# list(x, center, scale, blocks, rotation) as the core sees them. Without a block wider than the
# rows these are the frame's own, not copied. Else kept columns come first, then the features of
# each rotated block.
rotate_wide <- function(frame, design, blocks) {
  wide <- vapply(blocks, function(block) length(block$columns) > nrow(frame$x), TRUE)
  if (!any(wide)) {
    return(list(x = frame$x, center = design$center, scale = design$scale,
                blocks = lapply(blocks, core_block), rotation = list()))
  }
  turned <- lapply(blocks[wide], rotate_block, frame = frame, design = design)
  kept <- kept_columns(length(design$columns), lapply(turned, `[[`, "columns"))
  features <- lapply(turned, `[[`, "features")
  r <- vapply(features, ncol, 0L)
  places <- split(length(kept) + seq_len(sum(r)), rep(seq_along(r), r))
  core_blocks <- vector("list", length(blocks))
  core_blocks[!wide] <- lapply(blocks[!wide], function(block) {
    core_block(block, match(block$columns, kept))
  })
  core_blocks[wide] <- Map(function(block, at) {
    core_block(block, at, length(block$columns) - length(at))
  }, blocks[wide], places)
  list(x = do.call(cbind, c(list(kept_matrix(frame, kept)), features)),
       center = c(design$center[kept], numeric(sum(r))),
       scale = c(design$scale[kept], rep(1, sum(r))),
       blocks = core_blocks, rotation = lapply(turned, `[`, c("columns", "basis")))
}

rotate_block <- function(block, frame, design) {
  columns <- block$columns
  x <- frame$x[, columns - frame$implicit, drop = FALSE]
  turned <- core_rotate(x, design$center[columns], design$scale[columns])
  list(columns = columns, basis = turned$basis, features = turned$features)
}

# Columns that are not rotated; in the core they come first.
kept_columns <- function(p, rotated) setdiff(seq_len(p), unlist(rotated))

# An implicit intercept stays implicit: it is the first of the kept columns.
kept_matrix <- function(frame, kept) {
  if (frame$implicit) kept <- kept[kept > 1L] - 1L
  frame$x[, kept, drop = FALSE]
}
