# Priors under which coefficients may be zero.

selects <- function(block) prior_traits(block$prior)[["selects"]]

selects_any <- function(blocks) any(vapply(blocks, selects, TRUE))

# They are for columns that the core has as they are.
check_not_effects <- function(group_blocks) {
  for (block in Filter(selects, group_blocks)) {
    abort("prior", "The effects of a grouping factor can't be selected one by one. ",
          enumerate(block$label, "`"), " accepts prior_ridge(), or prior_inv_wishart() if they ",
          "are correlated; found ", block$prior$label, ".")
  }
}

check_not_sparse <- function(blocks) {
  for (block in Filter(selects, blocks)) {
    abort("unsupported", "Sparse predictors can't be selected (", enumerate(block$label, "`"), ": ",
          block$prior$label, "). Give them as a dense matrix, as.matrix(x).")
  }
}

# Do priors go with the frame's terms, whatever the engine?
check_term_priors <- function(frame, blocks) {
  check_not_learned(frame, blocks)
  check_relevance(frame, blocks)
}

# The core does not have both.
check_not_learned <- function(frame, blocks) {
  learned <- learned_bases(frame)
  if (length(learned) == 0L || !selects_any(blocks)) return(invisible())
  labels <- enumerate(vapply(Filter(selects, blocks), `[[`, "", "label"), "`")
  abort("unsupported", "A prior that selects (of ", labels, ") can't be combined with terms with ",
        "parameters that are inferred: ", enumerate(basis_labels(learned)), ". Use prior_ridge() ",
        "for ", labels, ", or leave the term out.")
}
