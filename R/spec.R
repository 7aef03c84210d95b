#' The specification stage of a fit
#'
#' `bsvm_spec()` defines the model to fit: which coefficients have which prior, how columns are
#' standardised, and the likelihood and engine. It is the second of the four stages of [bsvm()], for
#' users who want to run the stages one by one.
#'
#' @details
#' **Centring.** With an intercept, all population-level columns are centred at their weighted
#' means, so that flat priors are flat however far the predictors are from zero. A prior on the
#' intercept then refers to the linear predictor at the means of the predictors. Only with
#' `standardize = FALSE` and a prior on the intercept that is not flat are the columns used
#' unchanged.
#'
#' **More columns than rows.** A block with more columns than the fit has rows is rotated. Under a
#' common normal prior only the directions spanned by the rows matter. The columns are replaced by
#' as many features as there are rows, and the posterior of the remaining coefficients equals their
#' prior. [engine_em()] does not rotate.
#'
#' **Grouping factors.** The effects of one grouping factor are passed to the engine as level codes
#' and a matrix of covariates. The effects of several factors are the columns of one sparse matrix
#' (`problem$sparse`), ordered by factor, level and effect.
#'
#' `model$integrated` is the factor whose effects [engine_gaussian()] and [engine_map()] integrate
#' out, counted from 0 in the order of the formula; -1 is none. It is the factor with most levels
#' among those with one or two effects per level. It is none in the following cases:
#' * with sparse predictors;
#' * with more than 1000 other columns and effects, or if this number times the number of its own
#'   effects exceeds 1e7;
#' * under the pseudo-likelihood, if its one effect does not enter all rows.
#'
#' **Sparse predictors.** Columns of a sparse design matrix are kept sparse block by block, if a
#' block is less than a quarter full and not small. They follow the group effects in
#' `problem$sparse`. A small block is made dense: at most `getOption("bsvm.dense_cells", 5e6)`
#' cells, and at most 1e8 for the rows times the square of its rank. Sparse columns are scaled like
#' others. A sparse column is centred only if it is more than a quarter full, because centring
#' removes the sparsity. The mean of an emptier column is small compared with its standard
#' deviation, and the intercept absorbs it.
#'
#' @param frame The value of [bsvm_frame()].
#' @inheritParams bsvm
#' @return An object of class `bsvm_spec`, a list with
#' * `problem` and `model`, the input of the engine;
#' * `design`: `columns`, `assign`, `term_labels`, `center`, `scale`, `intercept`, `implicit`,
#'   `rotation`, and `sparse` (the columns that the engine keeps sparse, in its order, or `NULL`);
#' * `blocks` and `group_blocks`, each a list of `prior`, `columns` and `label`. For group effects
#'   there are also `factor` and `labels`, and `columns` numbers the effects over all factors;
#' * `default_prior`: do the slopes have the weakly informative priors of models with random effects
#'   or smooth terms?
#' * `likelihood`, `engine`, `standardize` and `cluster` (from the frame).
#' @section Errors:
#' Classes `prior`, `argument`, `weights` and `unsupported` (see [bsvm_conditions]).
#' @seealso [bsvm_run()], the next stage.
#' @examples
#' # which priors, likelihood and engine does a fit have by default?
#' frame <- bsvm_frame(disease ~ sex + age, data = cath)
#' bsvm_spec(frame)
#' # a given variance of the slopes
#' bsvm_spec(frame, prior = prior_ridge(variance = 2))
#' @export
bsvm_spec <- function(frame, prior = NULL, likelihood = NULL, engine = NULL,
                      standardize = TRUE) {
  need_arguments("frame", what = "bsvm_spec()")
  if (!inherits(frame, "bsvm_frame")) {
    abort("argument", "`frame` must be made by bsvm_frame(); found ", describe(frame), ".")
  }
  check_frame(frame)
  check_flag(standardize, "standardize")
  assigned <- assign_priors(frame, prior)
  check_term_priors(frame, assigned$blocks)
  likelihood <- if (is.null(likelihood)) default_likelihood(frame, engine, assigned)
                else as_likelihood(likelihood)
  check_kind(frame$response, likelihood)
  likelihood <- with_scale_priors(likelihood, frame$scale_model)
  units <- response_units(frame$response, frame, likelihood)
  likelihood$unit <- if (units$unit != 1) units$unit
  assigned <- scale_priors(assigned, likelihood)
  assigned$blocks <- c(assigned$blocks, parameter_blocks(likelihood), basis_parameter_blocks(frame))
  check_registered(all_blocks(assigned), likelihood)
  engine <- as_engine(engine, frame, likelihood, assigned)
  if (!is.null(frame$cluster)) engine <- for_rows_elsewhere(engine)
  need_registered(engine$name, registered_engines(), "engine")
  check_not_effects(assigned$group_blocks)
  check_effect_priors(assigned$group_blocks)
  check_engine(engine, frame, likelihood, assigned)
  assigned <- learned_amplitudes(assigned, frame, likelihood, engine)
  likelihood <- tell_pseudo(likelihood)
  tell_rough(frame, likelihood)
  check_unknown_columns(frame$unknowns$rule, frame)
  scaled <- scaled_columns(assigned$blocks, frame, standardize)
  sparse <- sparse_blocks(frame, assigned$blocks) & !needs_dense(assigned$blocks, engine)
  check_not_sparse(assigned$blocks[sparse])
  assigned$blocks <- assigned$blocks[order(sparse)] # the core has the sparse ones last
  sparse <- sort(sparse)
  check_core_memory(frame, assigned$blocks[!sparse], engine)
  design <- spec_design(frame, scaled, assigned$blocks[sparse],
                        centre = standardize || flat_intercept(frame, assigned$blocks))
  design <- with_factor_scales(design, frame)
  core <- core_columns(frame, design, assigned$blocks[!sparse],
                       rotate = !is_estimator(engine) && is.null(frame$unknowns) &&
                         !is_streamed(frame) &&
                         length(made_bases(frame)) == 0L)
  model <- list(likelihood = likelihood[c("name", "parameters")],
                engine = engine[c("name", "parameters")], blocks = core$blocks,
                group_blocks = core_effects(assigned$group_blocks, assigned$blocks[sparse]),
                integrated = integrated_term(frame$groups, likelihood, engine, any(sparse),
                                             length(core$center), !knows_design(frame)))
  design$rotation <- core$rotation
  inform_many_levels(frame, assigned$blocks)
  unknowns <- core_unknowns(frame$unknowns$rule, frame, design)
  design[c("unit", "shift")] <- units
  problem <- problem_in_units(core_problem(frame, design, core, assigned$blocks[sparse]), design)
  problem <- with_row_scales(problem, frame$scale_columns)
  model <- model_in_units(model, design, likelihood)
  problem <- with_made_parts(problem, frame, design, assigned$blocks)
  problem$latent <- unknowns$core
  new_spec(problem, model, design, assigned$blocks, assigned$group_blocks, likelihood, engine,
           standardize, assigned$default_prior, frame$unknowns$rule, unknowns$law, frame$cluster)
}

# What the core makes columns of, factors of, and what no column has.
with_made_parts <- function(problem, frame, design, blocks) {
  problem$features <- core_features(frame, frame$made, design$center)
  problem$factors <- core_factor_data(frame)
  if (is.null(frame$left_over)) return(problem)
  problem$left_over <- frame$left_over
  problem$leaving <- match(colnames(frame$left_over), vapply(blocks, `[[`, "", "label"))
  problem
}

# A spec: what bsvm_spec() promises of each field is checked. `missing`: the rule for what is
# unknown in the design, `law` what the core is told of them. `cluster`: where the rows are fitted
# (R/row-source.R).
new_spec <- function(problem, model, design, blocks, group_blocks, likelihood, engine,
                     standardize = TRUE, default_prior = FALSE, missing = NULL, law = NULL,
                     cluster = NULL) {
  spec <- structure(mget(names(formals())), class = "bsvm_spec")
  check_spec(spec)
  spec
}

#' @export
print.bsvm_spec <- function(x, ...) {
  cat("bsvm_spec: ", x$likelihood$label, ", ", x$engine$label, "\n", sep = "")
  for (block in c(x$blocks, x$group_blocks)) {
    cat("  ", block$label, ": ", block$prior$label, "\n", sep = "")
  }
  invisible(x)
}

# All levels of a grouping factor share what is known of an effect.
check_effect_priors <- function(blocks) {
  for (block in blocks) {
    if (length(block$columns) > 1L || prior_traits(block$prior)[["exchangeable"]]) next
    abort("unsupported", "The effects ", enumerate(block$label), " need one variance for all ",
          "levels, as prior_ridge() has; found ", block$prior$label, ".")
  }
}

# Which columns are standardised: those with a penalty, but not those of smooths, which have a scale
# by mgcv. A weak prior is in units of standard deviations, so that its columns always are.
scaled_columns <- function(blocks, frame, standardize) {
  scaled <- weak <- logical(length(frame$columns))
  for (block in blocks) {
    scaled[block$columns] <- standardize && block$prior$penalised
    weak[block$columns] <- is_weak(block$prior) && block$prior$penalised
  }
  scaled[columns_of(frame$bases)] <- FALSE
  scaled | weak
}

# Everything named must be in the core's registry.
check_registered <- function(blocks, likelihood) {
  registry <- core_registry()
  need_registered(vapply(blocks, function(block) block$prior$name, ""), registry$priors, "prior")
  need_registered(likelihood$name, registry$likelihoods, "likelihood")
}

registered_engines <- function() {
  kinds <- c("engines", "samplers", "approximators", "estimators")
  unlist(core_registry()[kinds], use.names = FALSE)
}

need_registered <- function(names, known, kind) {
  unknown <- setdiff(names, known)
  if (length(unknown) > 0L) {
    abort("unsupported", "The core has no ", kind, " called ", enumerate(unknown, "'"),
          "; it has ", enumerate(known, "'", 20L), ".")
  }
}

# With `standardize = FALSE` a prior that the user gave the intercept is on the intercept of the
# columns as they are.
flat_intercept <- function(frame, blocks) {
  owner <- Filter(function(block) frame$intercept %in% block$columns, blocks)
  length(owner) == 1L && !owner[[1L]]$prior$penalised
}

spec_design <- function(frame, scaled, sparse, centre) {
  columns <- unlist(lapply(sparse, `[[`, "columns"))
  scaling <- column_scaling(frame, scaled, columns, centre)
  design <- c(frame[c("columns", "assign", "term_labels", "intercept", "implicit")], scaling)
  design["sparse"] <- list(columns)
  design
}

core_problem <- function(frame, design, core, sparse) {
  c(list(x = core$x, center = core$center, scale = core$scale, y = frame$y,
         weight = frame$weights, offset = frame$offset, intercept = frame$implicit),
    if (length(sparse) == 0L) core_groups(frame$groups, length(frame$columns))
    else list(group = NULL, n_groups = 0L, z = NULL,
              sparse = sparse_predictors(frame, design, sparse)))
}

# One grouping factor is eliminated in the pass over the rows; several are a sparse matrix.
# `p`: columns of the design, the intercept included.
core_groups <- function(groups, p) {
  several <- length(groups) > 1L
  one <- if (!several && length(groups) > 0L) groups[[1L]]
  counts <- if (!is.null(one$codes)) tabulate(one$codes, length(one$levels))
  list(group = one$codes, n_groups = length(one$levels), z = one$z,
       large = large_levels(counts, p, length(one$labels)),
       sparse = if (several) sparse_effects(groups))
}

# list(level, rows) of levels with so many rows that the core cuts these into pieces, or NULL.
large_levels <- function(counts, p, q) {
  if (length(counts) == 0L || max(counts) <= (most <- core_most_level_rows(p, q))) return(NULL)
  level <- which(counts > most)
  list(level = as.double(level), rows = as.double(counts[level]))
}

# Is all of the design known before the fit?
knows_design <- function(frame) {
  is.null(frame$unknowns) && is.null(frame$made) && is.null(frame$left_over)
}

# The factor whose effects are integrated out, from 0; -1 for none, as if the design is `unknown`.
# The rest is a dense system.
most_beside_integrated <- 1000
most_regressions <- 1e7 # of effects on coefficients, kept for each point of the grid

integrated_term <- function(groups, likelihood, engine, sparse, columns, unknown = FALSE) {
  # Effects of numbers are nearly normal, and differences make their integrals eight times as slow.
  near <- has_parameters(likelihood) && is_approximation(engine) && !is_mode(engine)
  if (unknown || near || !integrates_effects(engine, groups)) return(-1L)
  integrable_term(groups, likelihood, sparse, columns)
}

# The factor whose effects can be, whatever the engine.
integrable_term <- function(groups, likelihood, sparse, columns) {
  if (sparse) return(-1L)
  at <- if (length(groups) > 0L) integrable_factor(groups) else 0L
  if (at == 0L || leaves_kinks(groups[[at]], likelihood) ||
      !integrates(likelihood, length(groups[[at]]$labels))) return(-1L)
  beside <- columns + sum(effect_counts(groups[-at]))
  regressions <- beside * effect_counts(groups[at])[[1L]]
  if (beside > most_beside_integrated || regressions > most_regressions) return(-1L)
  as.integer(at) - 1L
}

integrates_effects <- function(engine, groups) {
  traits <- traits_of(engine)
  if (!traits$integrates) return(FALSE)
  if (!traits$keeps_several) return(!isFALSE(engine$settings$integrate))
  length(groups) != 1L || length(groups[[1L]]$labels) == 1L
}

# Rows with a multiplier of zero don't see the one effect of their level: integrating it out leaves
# the kinks of their hinges, on which a mode may sit.
leaves_kinks <- function(group, likelihood) {
  has_concave_kinks(likelihood) && !is.null(group$z) && ncol(group$z) == 1L && any(group$z == 0)
}

# The blocks of the core's effects: those of the groups, then each sparse block, one effect for the
# core.
core_effects <- function(group_blocks, sparse) {
  before <- sum(lengths(lapply(group_blocks, `[[`, "columns")))
  c(lapply(group_blocks, core_block),
    Map(core_block, sparse, before + seq_along(sparse), USE.NAMES = FALSE))
}

# Of a list in the order of the core's priors (dense blocks, groups, sparse blocks): list(hyper,
# group_hyper), in the order of `blocks` and `group_blocks`.
split_hyper <- function(spec, hyper) {
  dense <- seq_along(spec$model$blocks)
  groups <- length(dense) + seq_along(spec$group_blocks)
  list(hyper = hyper[c(dense, setdiff(seq_along(hyper), c(dense, groups)))],
       group_hyper = hyper[groups])
}

core_block <- function(block, columns = block$columns, unseen = 0L) {
  list(prior = block$prior$name, parameters = block$prior$parameters,
       columns = as.integer(columns), unseen = as.integer(unseen), parameter = is_parameter(block),
       has_unit = has_unit(block), start = block$start)
}

# list(x, center, scale, blocks, rotation) as the core sees them: the dense columns. Without a block
# wider than the rows (and `rotate`) these are the frame's own, not copied. Else kept columns come
# first, then the features of each rotated block.
core_columns <- function(frame, design, blocks, rotate) {
  wide <- vapply(blocks, function(block) {
    rotate && length(block$columns) > nrow(frame$x) && prior_traits(block$prior)[["exchangeable"]]
  }, TRUE)
  if (!any(wide) && !is_sparse(frame$x)) {
    own <- setdiff(seq_along(design$columns), made_columns(frame))
    return(list(x = frame$x, center = design$center[own], scale = design$scale[own],
                blocks = lapply(blocks, core_block), rotation = list()))
  }
  turned <- lapply(blocks[wide], rotate_block, frame = frame, design = design)
  kept <- kept_columns(length(design$columns), c(lapply(turned, `[[`, "columns"),
                                                 list(design$sparse)))
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
  x <- as.matrix(frame$x[, columns - frame$implicit, drop = FALSE])
  turned <- core_rotate(x, design$center[columns], design$scale[columns])
  list(columns = columns, basis = turned$basis, features = turned$features)
}

# Columns that are neither rotated nor sparse; in the core they come first.
kept_columns <- function(p, others) setdiff(seq_len(p), unlist(others))

# An implicit intercept stays implicit: it is the first of the kept columns.
kept_matrix <- function(frame, kept) {
  if (frame$implicit) kept <- kept[kept > 1L] - 1L
  as.matrix(frame$x[, kept, drop = FALSE])
}
