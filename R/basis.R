# Terms with a basis: terms of a formula such as s(x) that are columns of their own, in blocks with
# a variance each. A call f(...) is one if basis_origin() has a method for class bsvm_term_f, which
# names its kind; a kind is a file with that method and those of the generics below for class
# bsvm_basis_<kind>. mgcv's smooths (R/smooth.R) are the first. frame$bases and fit$bases hold
# those of every kind, as lists of what make_bases() gives, placed in the design:
#   label                         "s(x)", also of its prior and in pictures
#   unpenalised, columns, blocks  positions in the design; blocks: of `columns`, one for each prior
# and whatever the kind needs for new rows.

# c(kind, package) of the calls of a term, NULL if it is none with a basis; with the package's name
# and `::` in front it is the same.
basis_origin <- function(head) UseMethod("basis_origin")

#' @export
basis_origin.bsvm_term <- function(head) NULL

origin_of <- function(name) {
  basis_origin(structure(list(), class = c(paste0("bsvm_term_", name), "bsvm_term")))
}

# The object that methods for the term dispatch on, with the name of its function as `head`; NULL
# for a term without a basis.
basis_kind <- function(term) {
  if (!is.call(term)) return(NULL)
  head <- term[[1L]]
  qualified <- is_call_to(head, c("::", ":::"))
  name <- if (qualified) head[[3L]] else head
  if (!is.name(name)) return(NULL)
  origin <- origin_of(as.character(name))
  if (is.null(origin)) return(NULL)
  if (qualified && !identical(as.character(head[[2L]]), origin[["package"]])) return(NULL)
  structure(list(head = as.character(name)),
            class = c(paste0("bsvm_basis_", origin[["kind"]]), "bsvm_basis"))
}

is_basis_term <- function(term) !is.null(basis_kind(term))

names_basis <- function(names) {
  any(vapply(names, function(name) !is.null(origin_of(name)), TRUE))
}

# ---- of a term ----------------------------------------------------------------------------------
# `kind` is basis_kind(term).

# "A smooth term", and what to write in place of a term that is crossed with others.
basis_words <- function(kind) UseMethod("basis_words")

# Its variables, a list of language.
basis_variables <- function(kind, term) UseMethod("basis_variables")

# Columns of the data whose effect is in the term: `.` does not stand for them.
basis_effects <- function(kind, term, data) UseMethod("basis_effects")

#' @export
basis_effects.bsvm_basis <- function(kind, term, data) {
  unique(unlist(lapply(basis_variables(kind, term), variables_in)))
}

# A list of bases, several if a factor makes one for each level. Each is a list of class(kind), or
# becomes one in settle_bases(). It has a `label` and a `matrix`, its columns for the rows of the
# fit (R/basis-made.R for those that are made). `penalty` is the number of the block of each column,
# 0 for a column without. `columns` is the model frame.
make_bases <- function(kind, term, columns, frame_terms, env) UseMethod("make_bases")

# All bases of the first one's kind, once they know of each other and of the other columns `x`.
settle_bases <- function(kind, bases, x) UseMethod("settle_bases")

#' @export
settle_bases.bsvm_basis <- function(kind, bases, x) bases

# Can make_bases() have some of the rows, if these are spread over all of them? new_basis() then makes
# the columns of every row.
basis_of_some_rows <- function(kind) UseMethod("basis_of_some_rows")

#' @export
basis_of_some_rows.bsvm_basis <- function(kind) FALSE

# For a call whose variables have no names: list(covariates, and the other arguments by name),
# unevaluated.
term_arguments <- function(term) {
  arguments <- as.list(term)[-1L]
  named <- named_arguments(arguments)
  c(list(covariates = unname(arguments[!named])), arguments[named])
}

named_arguments <- function(arguments) {
  if (is.null(names(arguments))) logical(length(arguments)) else names(arguments) != ""
}

# ---- of a basis ---------------------------------------------------------------------------------

# Its columns for new data, in the order c(unpenalised, columns); `terms` are those of the fit.
new_basis <- function(basis, terms, newdata, unknown) UseMethod("new_basis")

# The prior of a block that the user gives none.
basis_prior <- function(basis) UseMethod("basis_prior")

#' @export
basis_prior.bsvm_basis <- function(basis) prior_ridge()

# Names that stand for it in `prior`, the most specific first: without those of its blocks.
basis_prior_names <- function(basis) UseMethod("basis_prior_names")

#' @export
basis_prior_names.bsvm_basis <- function(basis) basis$label

# The rule for what is unknown in its columns (R/latent.R), NULL if they are known. In basis$columns
# then stands what is known of them.
basis_rule <- function(basis) UseMethod("basis_rule")

#' @export
basis_rule.bsvm_basis <- function(basis) NULL

# For pictures: the ranges of its variables, a named list of c(min, max), NULL if one of them is no
# number; and its columns on a grid of these.
basis_ranges <- function(basis) UseMethod("basis_ranges")

basis_grid <- function(basis, grid) UseMethod("basis_grid")

# ---- in the frame -------------------------------------------------------------------------------

# The bases of a model, NULL if there are none.
model_bases <- function(terms, columns, frame_terms, env, x) {
  if (length(terms) == 0L) return(NULL)
  bases <- unlist(lapply(terms, function(term) {
    make_bases(basis_kind(term), term, columns, frame_terms, env)
  }), recursive = FALSE)
  check_once(basis_labels(bases))
  kinds <- vapply(bases, function(basis) class(basis)[1L], "")
  for (kind in unique(kinds)) {
    own <- kinds == kind
    bases[own] <- settle_bases(bases[own][[1L]], bases[own], x)
  }
  place_bases(made_last(bases), ncol(x))
}

check_once <- function(labels) {
  if (!anyDuplicated(labels)) return(invisible())
  abort("formula", "The term ", enumerate(unique(labels[duplicated(labels)])),
        " stands twice; each may stand once.")
}

# Positions in the design, of which `before` columns come first.
place_bases <- function(bases, before) {
  for (k in seq_along(bases)) {
    penalty <- bases[[k]]$penalty
    at <- before + seq_along(penalty)
    columns <- at[penalty > 0L]
    bases[[k]]$unpenalised <- at[penalty == 0L]
    bases[[k]]$columns <- columns
    bases[[k]]$blocks <- basis_blocks(bases[[k]]$label, columns, penalty[penalty > 0L])
    bases[[k]]$penalty <- NULL
    before <- before + length(penalty)
  }
  bases
}

# As gam() names its smoothing parameters: "s(x)"; "t2(x,z)1", "t2(x,z)2".
basis_blocks <- function(label, columns, penalty) {
  blocks <- unname(split(columns, penalty))
  numbers <- if (length(blocks) > 1L) seq_along(blocks) else ""
  stats::setNames(blocks, paste0(rep(label, length(blocks)), numbers[seq_along(blocks)]))
}

basis_labels <- function(bases) vapply(bases, `[[`, "", "label")

# "s(x).fixed1", "s(x).1", "s(x).2": columns without penalty, then the penalised ones; of factors the
# variables.
basis_columns <- function(basis) {
  if (is_linear_factors(basis)) return(basis$names)
  fixed <- sprintf("%s.fixed%d", basis$label, seq_along(basis$unpenalised))
  c(fixed, sprintf("%s.%d", basis$label, seq_along(basis$columns)))
}

# The design of the frame with the bases' columns, and the names of all, those that are made (R/
# basis-made.R) included; `assign` counts their labels after the terms.
bind_bases <- function(design, bases, n_terms) {
  design$columns <- c(colnames(design$x), unlist(lapply(bases, basis_columns)))
  if (is.null(bases)) return(design)
  design$x <- bind_columns(design$x, bases, lapply(bases, `[[`, "matrix"))
  design$assign <- c(design$assign, rep(n_terms + seq_along(bases), basis_sizes(bases)))
  design
}

basis_sizes <- function(bases) {
  vapply(bases, function(basis) length(basis$unpenalised) + length(basis$columns), 0L)
}

without_matrices <- function(bases) {
  for (k in seq_along(bases)) bases[[k]][c("matrix", "variables")] <- NULL
  bases
}

bind_columns <- function(x, bases, matrices) {
  if (length(bases) == 0L) return(x)
  own <- !vapply(bases, is_made, TRUE)
  names <- c(colnames(x), unlist(lapply(bases[own], basis_columns)))
  x <- do.call(cbind, c(list(x), matrices[own]))
  dimnames(x) <- list(NULL, names)
  x
}

# ---- positions and names ------------------------------------------------------------------------

# All columns of the bases, or those without penalty.
columns_of <- function(bases, parts = c("unpenalised", "columns")) {
  unlist(lapply(bases, function(basis) basis[parts]), use.names = FALSE)
}

# Names of blocks of bases in `prior`: of each basis with a penalty, and where it has several each
# of its blocks.
block_names_of <- function(bases) {
  penalised <- Filter(function(basis) length(basis$blocks) > 0L, bases)
  unique(c(unlist(lapply(penalised, basis_prior_names)),
           unlist(lapply(penalised, function(basis) names(basis$blocks))),
           if (any(vapply(bases, is_factors, TRUE))) "loadings"))
}

# Their coefficients mean little one by one.
penalised_columns <- function(object) columns_of(object$bases, "columns")
