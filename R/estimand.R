# Which groups the expected response of a row is for, in a model with group effects: the one place
# where plot(fit, "effects"), emmeans, marginaleffects and ggeffects get their draws.
#
#   known  the group that the row names
#   none   a group whose effects are zero
#   new    averaged over the groups of the population: E_u E(y | f + z'u) in each draw

group_choices <- c("known", "none", "new")

pick_groups <- function(groups) pick_one(groups, group_choices, "groups")

# S x k draws; `type` "response" or "link".
estimand_draws <- function(object, newdata, groups, what, ndraws = NULL, type = "response",
                           env = parent.frame()) {
  fit <- drawn_fit(object, what, check_ndraws(ndraws))
  at <- chosen_draws(fit, NULL, ndraws)
  known <- is.null(fit$groups) || groups == "known"
  f <- link_draws(fit, newdata, if (!known) NA, FALSE, at, NULL, NULL, env)
  if (type == "link") return(f)
  likelihood <- drawn_likelihood(fit, at, newdata)
  if (known || groups == "none") return(expected_response(likelihood, f))
  sd <- sqrt(population_variance(fit, newdata)[at, , drop = FALSE])
  f[] <- averaged_response(likelihood, as.vector(f), as.vector(sd))
  f
}

# S x k variances of z'u of new levels of all factors.
population_variance <- function(fit, newdata) {
  n <- nrow(newdata)
  variance <- matrix(0, draw_count(fit$posterior), n)
  for (group in fit$groups) {
    z <- multipliers_of(list(codes = seq_len(n), z = population_multipliers(fit, group, newdata)),
                        length(group$labels))
    covariance <- covariance_draws(fit, group$name)
    for (j in seq_len(ncol(z))) for (k in seq_len(ncol(z))) {
      variance <- variance + outer(covariance[j, k, ], z[, j] * z[, k])
    }
  }
  variance
}

population_multipliers <- function(fit, group, newdata) {
  if (is.null(fit$terms)) return(NULL)
  new_multipliers(group, stats::delete.response(fit$terms), newdata, "error")
}

# Rows whose predictors are averaged over, at most `most` of those of the fit, evenly spread; of a source
# those that the fit keeps.
most_counterfactual <- 500L

rows_averaged_over <- function(object, env, what, most = most_counterfactual) {
  need_formula(object, what)
  data <- if (is.null(object$streamed)) training_data(object, env)$x else sampled_rows(object, what)
  used <- which(rep_len(used_rows(object), nrow(data)))
  if (!is.null(object$counts)) used <- used[!duplicated(object$counts$used)]
  data[used[spread_over(length(used), most)], , drop = FALSE]
}

# Variables of the population-level terms and of effects that vary by group, not the grouping
# factors themselves.
predictor_names <- function(object) {
  parts <- split_special(object$formula[[3L]])
  terms <- c(list(parts$fixed), lapply(parts$bars, `[[`, 2L), lapply(parts$bases, open_term))
  unique(unlist(lapply(terms, variables_in)))
}

words_for_groups <- function(object, groups) {
  if (is.null(object$groups)) return(NULL)
  switch(groups, known = "groups of the data", none = "zero",
         new = "averaged over new groups")
}
