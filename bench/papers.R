# The priors of 000 (Luts and Ormerod 2014), which the stored figures have: one inferred ridge
# variance, or flat slopes and intercepts next to grouping factors with an inferred variance each.
# The scale, which is not given, goes with the likelihood: 0.01, or 0.01/16 if it is normalised.

papers_prior <- function(...) {
  groups <- c(...)
  variance <- prior_ridge(shape = 0.01)
  if (is.null(groups)) return(variance)
  c(list(prior_flat()), stats::setNames(rep(list(variance), length(groups)), groups))
}
