# Which prior goes to which coefficients: list(blocks, group_blocks, default_prior). A block is
# list(prior, columns, label); the blocks' columns are disjoint and cover 1..p, those of the
# group blocks index the multipliers. `default_prior`: did bars make the slopes flat?
assign_priors <- function(frame, prior = NULL) {
  given <- as_prior_list(prior)
  named <- given[names(given) != ""]
  slopes <- given[names(given) == ""]
  owner <- own_columns(frame, names(named))
  free <- which(is.na(owner))
  slope_columns <- setdiff(free, frame$intercept)
  if (length(slopes) > 0L && length(slope_columns) == 0L) refuse_idle(frame)
  slope_prior <- if (length(slopes) > 0L) slopes[[1L]] else default_slopes(frame)
  blocks <- list(
    new_block(prior_flat(), intersect(free, frame$intercept), "(Intercept)"),
    new_block(slope_prior, slope_columns, slopes_label)
  )
  own <- lapply(seq_along(named), function(k) {
    new_block(named[[k]], which(owner == k), names(named)[k])
  })
  blocks <- Filter(function(block) length(block$columns) > 0L, c(blocks, own))
  penalised <- vapply(blocks, function(block) block$prior$penalised, TRUE)
  list(blocks = blocks, group_blocks = assign_group_priors(frame$group, named),
       default_prior = frame$bars && length(slopes) == 0L && !any(penalised))
}

slopes_label <- "population-level slopes"

new_block <- function(prior, columns, label) list(prior = prior, columns = columns, label = label)

# With bars the population-level effects are not penalised (Luts & Ormerod 2014, Example 2).
default_slopes <- function(frame) if (frame$bars) prior_flat() else prior_ridge()

# A list of priors with names ("" for the one without).
as_prior_list <- function(prior) {
  if (is.null(prior)) return(stats::setNames(list(), character(0)))
  if (is_prior(prior)) prior <- list(prior)
  if (!is.list(prior) || is.object(prior) || !all(vapply(prior, is_prior, TRUE))) {
    refuse_prior(prior)
  }
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
    " A law of a variance goes into prior_ridge(variance = )."
  }
  abort("prior", "`prior` must be made by prior_ridge() or prior_flat(), or be a list of such ",
        "priors; found ", describe(prior), ".", hint)
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

# Columns that a name in `prior` stands for; none if it names group effects.
prior_columns <- function(name, frame) {
  term <- match(name, frame$term_labels)
  columns <- if (name %in% frame$columns) match(name, frame$columns)
             else if (!is.na(term)) which(frame$assign == term)
  of_group <- name %in% group_names(frame$group)
  if (length(columns) > 0L && of_group) {
    abort("prior", "`", name, "` in `prior` is both a column and the grouping factor. Name the ",
          "group effects ", enumerate(setdiff(group_names(frame$group), name)), ".")
  }
  if (length(columns) == 0L && !of_group) {
    abort("prior", "`prior` names `", name, "`, which the model has not got. What can be named: ",
          enumerate(settable_names(frame), most = 20L), "; an entry without a name is for the ",
          slopes_label, ".")
  }
  as.integer(columns)
}

# The grouping factor (all its effects), and each effect.
group_names <- function(group) {
  if (is.null(group)) return(character(0))
  c(group$name, paste0(group$name, ": ", group$labels))
}

settable_names <- function(frame) {
  unique(c(frame$columns[frame$intercept], frame$term_labels[frame$term_labels != "(Intercept)"],
           frame$columns, group_names(frame$group)))
}

refuse_idle <- function(frame) {
  abort("prior", "The prior without a name is for the ", slopes_label,
        ", and there are none left for it. What can be named: ",
        enumerate(settable_names(frame), most = 20L), ".")
}

# Each effect of the grouping factor has a variance of its own.
assign_group_priors <- function(group, named) {
  lapply(seq_along(group$labels), function(k) {
    label <- paste0(group$name, ": ", group$labels[k])
    prior <- named[[label]]
    if (is.null(prior)) prior <- named[[group$name]]
    new_block(if (is.null(prior)) prior_ridge() else prior, k, label)
  })
}

#' Priors of a model
#'
#' `prior_for()` lists what in a model can be given a prior, and what it gets if none is given.
#' `prior_summary()` lists what a fit used.
#'
#' @details
#' What a name in `prior = list(...)` of [bsvm()] may be: `"(Intercept)"`, a column of the design,
#' a term of the formula (all its columns), the grouping factor (all its effects, each with a
#' variance of its own), or one of its effects, as in `"patientID: time"`. A column's own name goes
#' before its term's. The entry without a name is for the population-level slopes that no
#' other entry names. Every entry is a block of its own: with [prior_ridge()] its columns share
#' one variance. A prior for `"(Intercept)"` is that of the intercept at the means of the
#' standardised columns, where these are centred.
#'
#' @param formula,data As in [bsvm()].
#' @param ... For `prior_for()`, further arguments of [bsvm_frame()], such as `subset`.
#' @param object A fit from [bsvm()].
#' @return A data frame: `name` (as it may stand in `prior`; empty for the slopes' prior, which has
#'   no name), `prior`, and `columns`, the number of coefficients it concerns (for group effects
#'   the levels). `prior_summary()` has a row a block, and says `"population-level slopes"`
#'   where `prior_for()` has an empty name.
#' @examples
#' prior_for(am ~ mpg + factor(cyl), data = mtcars)
#' fit <- bsvm(am ~ mpg + factor(cyl), data = mtcars, engine = "vb",
#'             prior = list(prior_ridge(), "factor(cyl)" = prior_ridge(variance = 1)))
#' prior_summary(fit)
#' @export
prior_for <- function(formula, data = NULL, ...) {
  frame <- bsvm_frame(formula, data, ...)
  labels <- settable_names(frame)
  columns <- lapply(setdiff(labels, group_names(frame$group)), prior_columns, frame = frame)
  default <- default_slopes(frame)
  of_column <- function(j) if (identical(j, frame$intercept)) prior_flat() else default
  slopes <- setdiff(seq_along(frame$columns), frame$intercept)
  groups <- group_names(frame$group)
  data.frame(
    name = c("", labels),
    prior = c(default$label,
              vapply(columns, function(j) of_column(j)$label, ""),
              rep(prior_ridge()$label, length(groups))),
    columns = c(length(slopes), lengths(columns),
                c(length(frame$group$labels), rep(1L, length(groups)))[seq_along(groups)] *
                  length(frame$group$levels))
  )
}

#' @rdname prior_for
#' @export
prior_summary <- function(object, ...) {
  UseMethod("prior_summary")
}

#' @rdname prior_for
#' @export
prior_summary.bsvm <- function(object, ...) {
  labels <- block_labels(c(object$blocks, object$group_blocks))
  levels <- rep(length(object$group$levels), length(object$group_blocks))
  data.frame(name = names(labels), prior = unname(labels),
             columns = c(lengths(lapply(object$blocks, `[[`, "columns")), levels))
}

# The prior of each block in words, named by the block.
block_labels <- function(blocks) {
  labels <- vapply(blocks, function(block) block$prior$label, "")
  stats::setNames(labels, vapply(blocks, function(block) block$label, ""))
}
