# Which prior goes to which coefficients: list(blocks, group_blocks, default_prior). A block is
# list(prior, columns, label); the blocks' columns are disjoint and cover 1..p, those of the
# group blocks number the effects over all grouping factors (`factor` says which has them, `labels`
# what they are called).
# `default_prior`: do the slopes have the weak priors of models with random effects or smooths?
assign_priors <- function(frame, prior = NULL) {
  given <- as_prior_list(prior)
  named <- given[names(given) != ""]
  slopes <- given[names(given) == ""]
  owner <- own_columns(frame, names(named))
  free <- which(is.na(owner))
  slope_columns <- setdiff(free, c(frame$intercept, columns_of(frame$bases)))
  slope_prior <- if (length(slopes) > 0L) slopes[[1L]] else default_slopes(frame)
  weak <- slope_prior$penalised &&
    (is_mixed(frame) || is_open(slope_prior) || is_weak(slope_prior))
  idle <- length(slopes) > 0L && length(slope_columns) == 0L
  if (idle && (slope_prior$penalised || !is_mixed(frame))) refuse_idle(frame)
  blocks <- c(
    list(new_block(if (weak) prior_weak_intercept(frame) else prior_flat(),
                   intersect(free, frame$intercept), "(Intercept)"),
         new_block(slope_prior, slope_columns, slopes_label)),
    lapply(seq_along(named), function(k) new_block(named[[k]], which(owner == k), names(named)[k])),
    list(new_block(if (weak) prior_weak_slope() else prior_flat(),
                   intersect(free, columns_of(frame$bases, "unpenalised")), unpenalised_label))
  )
  blocks <- blocks[lengths(lapply(blocks, `[[`, "columns")) > 0L]
  blocks <- c(blocks, assign_basis_priors(frame, named))
  check_scalar(blocks)
  blocks <- lapply(lapply(blocks, fill_scales), fill_size, row_count(frame))
  list(blocks = blocks, group_blocks = assign_group_priors(frame, named),
       default_prior = weak && is_mixed(frame) && length(slopes) == 0L &&
         length(slope_columns) > 0L)
}

slopes_label <- "population-level slopes"
unpenalised_label <- "unpenalised parts of smooths"

new_block <- function(prior, columns, label) list(prior = prior, columns = columns, label = label)

# With random effects or smooths the population-level effects are not shrunk together, as the
# straight line of s(x) is one of them. Luts & Ormerod (2014, Example 2) have flat priors there,
# under which separated classes leave coefficients to rounding errors. A flat prior of the slopes is
# one of the intercept and of the lines of smooths, too.
default_slopes <- function(frame) if (is_mixed(frame)) prior_weak_slope() else prior_ridge()

is_mixed <- function(frame) frame$bars || length(frame$bases) > 0L

# Population-level coefficients have variances, not covariances.
check_scalar <- function(blocks) {
  for (block in blocks) {
    if (block$prior$name != "inverse_wishart") next
    abort("prior", "prior_inv_wishart() is for the effects of a grouping factor; ",
          enumerate(block$label), " takes prior_ridge() or prior_flat().")
  }
}

# A list of priors with names ("" for the one without).
as_prior_list <- function(prior) {
  if (is.null(prior)) return(stats::setNames(list(), character(0)))
  if (is_prior(prior)) prior <- list(prior)
  if (!is.list(prior) || is.object(prior) || !all(vapply(prior, is_prior, TRUE))) {
    refuse_prior(prior)
  }
  for (one in prior) check_component(one, "prior")
  names <- names(prior)
  if (is.null(names)) names <- rep("", length(prior))
  if (anyDuplicated(names)) {
    twice <- unique(names[duplicated(names)])
    abort("prior", "`prior` has more than one entry ",
          if ("" %in% twice) "without a name" else paste("named", enumerate(twice)),
          "; each may stand once.")
  }
  stats::setNames(prior, names)
}

refuse_prior <- function(prior) {
  hint <- if (inherits(prior, "bsvm_hyperprior")) {
    " Use prior_ridge(variance = ) for the distribution of a variance."
  }
  abort("prior", "`prior` must be made by prior_ridge(), prior_lasso(), prior_flat() or another ",
        "such function, or be a list of such priors; found ", describe(prior), ".", hint)
}

# For each column the index of the named prior that sets it, NA for none. A column's own name
# goes before its term's.
own_columns <- function(frame, names) {
  targets <- lapply(names, prior_columns, frame = frame)
  owner <- rep(NA_integer_, length(frame$columns))
  for (k in order(-lengths(targets))) owner[targets[[k]]] <- k
  idle <- !seq_along(names) %in% owner & lengths(targets) > 0L
  if (any(idle)) {
    abort("prior", "The prior for ", enumerate(names[idle]),
          " sets nothing: each of its columns has a prior of its own.")
  }
  owner
}

# Columns that a name in `prior` stands for; none if it names group effects or a term with a basis,
# whose penalised parts are blocks of their own.
prior_columns <- function(name, frame) {
  if (name %in% block_names_of(frame$bases)) {
    check_own_name(name, frame)
    return(integer(0))
  }
  term <- match(name, frame$term_labels)
  columns <- if (name %in% frame$columns) match(name, frame$columns)
             else if (!is.na(term)) which(frame$assign == term)
  columns <- setdiff(columns, columns_of(frame$bases, "columns"))
  groups <- group_names(frame$groups)
  of_group <- name %in% groups
  if (length(columns) > 0L && of_group) {
    abort("prior", "`", name, "` in `prior` is both a column and the grouping factor. Name the ",
          "group effects ", enumerate(setdiff(groups, name)), ".")
  }
  if (length(columns) == 0L && !of_group) {
    abort("prior", "`prior` names `", name, "`, which is not in the model. What can be named: ",
          enumerate(settable_names(frame), most = 20L), "; an entry without a name is for the ",
          slopes_label, ".")
  }
  as.integer(columns)
}

# "gp" is also a name that a variable may have.
check_own_name <- function(name, frame) {
  if (name != "gp" || !name %in% c(frame$columns, frame$term_labels, names(frame$groups))) {
    return(invisible())
  }
  abort("prior", "`gp` in `prior` stands for all Gaussian-process terms, and the model has a ",
        "variable of that name too. Use ",
        enumerate(basis_labels(gp_bases(frame)), "\""), " for the terms, and rename the variable.")
}

# Each grouping factor (all its effects), and each block of its effects.
group_names <- function(groups) {
  unique(unlist(lapply(groups, function(group) c(group$name, block_names(group)))))
}

# "g: x" for an independent effect; "g" for the only block of correlated ones, "g: x, z" if the
# factor has others.
block_names <- function(group) {
  alone <- length(group$blocks) == 1L && length(group$labels) > 1L
  if (alone) return(group$name)
  vapply(group$blocks, function(block) {
    paste0(group$name, ": ", paste(group$labels[block], collapse = ", "))
  }, "")
}

# "g: x" for each effect.
group_labels <- function(groups) {
  unlist(lapply(groups, function(group) paste0(group$name, ": ", group$labels)), use.names = FALSE)
}

settable_names <- function(frame) {
  named <- block_names_of(frame$bases)
  penalised <- frame$columns[columns_of(frame$bases, "columns")]
  unique(c(frame$columns[frame$intercept], setdiff(frame$term_labels, c("(Intercept)", named)),
           setdiff(frame$columns, penalised), named, group_names(frame$groups)))
}

refuse_idle <- function(frame) {
  abort("prior", "The prior without a name is for the ", slopes_label,
        ", and there are none left for it. What can be named: ",
        enumerate(settable_names(frame), most = 20L), ".")
}

# Each penalty of a basis has a variance of its own.
assign_basis_priors <- function(frame, named) {
  blocks <- lapply(frame$bases, function(basis) {
    lapply(names(basis$blocks), function(label) {
      prior <- first_prior(named, c(label, basis_prior_names(basis)), basis_prior(basis))
      if (is_gp(basis)) check_gp_prior(prior, label)
      if (is_gp(basis) && is_relevance(prior)) prior <- starting_wide(prior)
      columns <- basis$blocks[[label]]
      block <- new_block(in_units(prior, block_function_size(frame, basis, columns)), columns, label)
      if (is_factors(basis)) block$loadings <- loadings_prior(named$loadings, frame, basis)
      block
    })
  })
  unlist(blocks, recursive = FALSE)
}

# For a choice of kernels, which share one prior, the size of all together.
block_function_size <- function(frame, basis, columns) {
  if (is_factors(basis)) return(1) # scores have variance one
  if (!is_gp(basis) || !is_choice(basis)) return(function_size(frame, basis, columns))
  all <- unlist(basis$blocks, use.names = FALSE)
  function_size(frame, basis, all) / sqrt(length(basis$blocks))
}

# Root mean square over the rows of a function whose coefficients in these columns have variance
# one.
function_size <- function(frame, basis, columns) {
  if (is_streamed(frame)) return(sqrt(sum(streamed_squares(frame$cluster, columns))))
  made <- is_made(basis)
  x <- if (made) first_columns(basis, frame$made[[basis$label]], match(columns, basis$columns))
       else as.matrix(frame$x[, columns - frame$implicit, drop = FALSE])
  squares <- rowSums(x^2)
  known <- !is.na(squares)
  if (!any(known)) return(1)
  weights <- if (is.null(frame$weights)) rep(1, frame$nobs) else frame$weights
  if (made) weights <- weights[some_of_many(frame$nobs, most_sized)]
  sqrt(stats::weighted.mean(squares[known], weights[known]))
}

first_prior <- function(named, names, default) {
  found <- intersect(names, names(named))
  if (length(found) > 0L) named[[found[1L]]] else default
}

# Each independent effect of a grouping factor has a variance, each correlated bar a covariance.
assign_group_priors <- function(frame, named) {
  blocks <- Map(function(group, numbers) {
    sizes <- function(block) multiplier_sizes(group, frame$weights)[block]
    Map(function(block, label) {
      prior <- first_prior(named, c(label, group$name), prior_ridge())
      prior <- effect_prior(prior, group$labels[block], sizes(block))
      c(new_block(prior, numbers[block], label),
        list(factor = group$name, labels = group$labels[block]))
    }, group$blocks, block_names(group), USE.NAMES = FALSE)
  }, frame$groups, effect_numbers(frame$groups))
  unlist(unname(blocks), recursive = FALSE)
}

#' Priors of a model
#'
#' `prior_for()` lists the parts of a model that can be given a prior, with their default priors.
#' `prior_summary()` lists the priors that a fit used.
#'
#' @details
#' In `prior = list(...)` of [bsvm()], a name may be:
#' * `"(Intercept)"`, a column of the design matrix, or a term of the formula (all its columns). A
#'   prior for a column takes precedence over a prior for its term. Every entry is a separate block:
#'   with [prior_ridge()] its columns share one variance. A prior for `"(Intercept)"` refers to the
#'   intercept at the means of the standardised columns, if these are centred.
#' * A grouping factor (all its effects), or a block of its effects. A block can be a single effect,
#'   such as `"patientID: time"`, with its own variance. It can also be the effects of a
#'   random-effects term, such as `"clinic: (Intercept), time"`, with a covariance matrix
#'   ([prior_inv_wishart()]). If a factor has a single term with correlated effects, use the name of
#'   the factor.
#' * A smooth term, `"s(x)"` or, for a level of its factor `by`, `"s(x):fa"`: the variance of its
#'   penalised part. A smooth with several penalties has a variance for each, `"t2(x,z)1"` and so
#'   on; `"t2(x,z)"` names all of them. The columns without penalty have the weakly informative
#'   normal prior of the slopes and can be named one by one.
#' * A Gaussian-process term as written, `"gp(x1, x2)"`, or `"gp"` for all such terms. For a level
#'   of its factor `by`, use `"gp(x, by = f):fa"`. If its kernel is a sum, `"gp(x)1"`, `"gp(x)2"`
#'   and so on name the summands. The variance of the prior is the variance of the function
#'   ([gp()][gp]).
#'
#' The entry without a name is for the population-level slopes that no other entry names. It does
#' not include the columns of smooth terms.
#'
#' @param formula,data As in [bsvm()].
#' @param likelihood As in [bsvm()]. Default scales depend on it; `NULL` is the normalised
#'   likelihood.
#' @param ... For `prior_for()`, further arguments of [bsvm_frame()], such as `subset`.
#' @param object A fit from [bsvm()].
#' @return A data frame with the columns `name`, `prior` and `columns`. `name` can be used in
#'   `prior`; it is empty for the prior of the slopes, which has no name. `columns` is the number of
#'   coefficients (for group effects, levels times effects). It is `NA` for Gaussian-process terms:
#'   [bsvm()] determines their number of inducing points together with the kernel. `prior_summary()`
#'   has one row per block, and uses the name `"population-level slopes"` instead of an empty name.
#' @examples
#' # which priors does a model have by default, and which can be changed?
#' prior_for(disease ~ sex + age + log1p(duration), data = cath)
#' fit <- bsvm(disease ~ sex + age + log1p(duration), data = cath,
#'             prior = list(prior_ridge(), age = prior_flat()))
#' prior_summary(fit)
#' @export
prior_for <- function(formula, data = NULL, ..., likelihood = NULL) {
  need_arguments("formula", what = "prior_for()")
  counts <- count_response(formula, data, likelihood)
  if (!is.null(counts)) {
    formula <- with_response(formula, "outcome", data)
    data <- one_by_one(data, counts > 0, "outcome")$data
  }
  frame <- bsvm_frame(formula, data, ..., likelihood = likelihood, prior = not_learned)
  likelihood <- if (is.null(likelihood)) likelihood_hinge(normalized = TRUE)
                else as_likelihood(likelihood)
  likelihood$unit <- response_units(frame$response, frame, likelihood)$unit
  frame <- with_gp_unit(frame, likelihood$unit)
  default <- scale_prior(default_slopes(frame), likelihood)
  slopes <- setdiff(seq_along(frame$columns), c(frame$intercept, columns_of(frame$bases)))
  rows <- c(list(data.frame(name = "", prior = default$label, columns = length(slopes))),
            lapply(settable_names(frame), settable_row, frame, likelihood,
                   scale_priors(assign_priors(frame), likelihood)))
  do.call(rbind, rows)
}

# The blocks that a name stands for: blocks of group effects or of a smooth, or some columns.
settable_row <- function(name, frame, likelihood, assigned) {
  blocks <- named_blocks(name, frame, assigned)
  if (length(blocks) > 0L) {
    prior <- unique(vapply(blocks, function(block) block$prior$label, ""))
    return(data.frame(name = name, prior = paste(prior, collapse = "; "),
                      columns = sum(vapply(blocks, known_size, 0L, frame))))
  }
  columns <- prior_columns(name, frame)
  own <- Filter(function(block) all(columns %in% block$columns), assigned$blocks)
  prior <- if (length(own) > 0L) own[[1L]]$prior else scale_prior(default_slopes(frame), likelihood)
  data.frame(name = name, prior = prior$label, columns = length(columns))
}

named_blocks <- function(name, frame, assigned) {
  basis <- vapply(frame$bases, function(b) name %in% basis_prior_names(b), TRUE)
  labels <- c(name, unlist(lapply(frame$bases[basis], function(b) names(b$blocks))))
  Filter(function(block) block$label %in% labels || identical(block$factor, name),
         c(if (name %in% block_names_of(frame$bases)) assigned$blocks, assigned$group_blocks))
}

# NA for a Gaussian-process term, whose inducing points are found with its kernel.
known_size <- function(block, frame) {
  found <- unlist(lapply(gp_bases(frame), function(basis) names(basis$blocks)))
  if (block$label %in% found) NA_integer_ else block_size(block, frame$groups)
}

# Coefficients in a block; group effects are counted at each level.
block_size <- function(block, groups) {
  m <- if (is.null(block$factor)) 1L else length(groups[[block$factor]]$levels)
  length(block$columns) * m
}

#' @rdname prior_for
#' @export
prior_summary.bsvm <- function(object, ...) {
  check_fit(object)
  blocks <- c(object$blocks, object$group_blocks)
  labels <- block_labels(blocks)
  data.frame(name = names(labels), prior = unname(labels),
             columns = vapply(blocks, block_size, 0L, object$groups))
}

# The prior of each block in words, named by the block.
block_labels <- function(blocks) {
  labels <- vapply(blocks, function(block) block$prior$label, "")
  stats::setNames(labels, vapply(blocks, function(block) block$label, ""))
}
