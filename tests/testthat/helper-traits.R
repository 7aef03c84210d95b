# The table of DEVELOPING.md that says what combines with what, made of what the core and R say of
# each engine.

table_engines <- c("gaussian", "map", "slice", "vb", "gibbs", "em", "ecme", "ecm")

table_priors <- list(
  "`prior_flat()`, `prior_ridge()` of given variance" = prior_ridge(variance = 1),
  "`prior_ridge()`: inverse-gamma" = prior_ridge(0.01, 0.01),
  "`prior_ridge()`: half-t" = prior_ridge(variance = prior_half_t(3, 1)),
  "correlated effects: inverse-Wishart" =
    bsvm:::new_prior("inverse_wishart", c(effects = 1, df = 3, scale_1_1 = 2), "", TRUE),
  "correlated effects: half-t (Huang & Wand)" =
    bsvm:::new_prior("huang_wand", c(effects = 1, df = 2, scale_1 = 1.5), "", TRUE),
  "`prior_laplace_zero()`" = prior_laplace_zero(0.3),
  "`prior_spike_slab()`" = prior_spike_slab(0.3),
  "`prior_relevance()`" = prior_relevance(),
  "`prior_bridge()`, `prior_lasso()`" = prior_lasso(nu = 1)
)

trait_table <- function() {
  engines <- lapply(table_engines, bsvm:::as_component, "engine")
  row <- function(label, f) {
    cells <- vapply(engines, function(engine) {
      cell <- f(engine)
      if (is.logical(cell)) (if (cell) "yes" else "") else cell
    }, "")
    paste0("| ", paste(c(label, cells), collapse = " | "), " |")
  }
  prior_rows <- vapply(names(table_priors), function(label) {
    row(label, function(engine) {
      block <- list(prior = table_priors[[label]])
      takes <- bsvm:::takes_prior(block, engine)
      if (takes && !bsvm:::is_known_normal(block) && bsvm:::trait(engine, "gp_alone")) "of `gp()`"
      else takes
    })
  }, "")
  likelihoods <- list("`likelihood_hinge()`" = likelihood_hinge(),
                      "`likelihood_hinge()`, `gamma` or `gamma0` inferred" = NULL,
                      "`likelihood_hinge(normalized = TRUE)`" = likelihood_hinge(TRUE),
                      "of numbers, parameters given" = likelihood_eps_insensitive(0.5, 1),
                      "of numbers, inferred" = likelihood_eps_insensitive())
  likelihood_rows <- vapply(names(likelihoods), function(label) {
    row(label, function(engine) {
      if (is.null(likelihoods[[label]])) engine_skew(engine)
      else bsvm:::takes_likelihood(engine, likelihoods[[label]])
    })
  }, "")
  c(
    row("", function(engine) paste0("`", engine$name, "`")),
    paste0("|", strrep("---|", length(engines) + 1L)),
    row("gives", engine_gives),
    unname(likelihood_rows), unname(prior_rows),
    row("scale `nu` of bridge and lasso", engine_nu),
    row("group effects", engine_groups),
    row("sparse predictors", function(engine) bsvm:::trait(engine, "sparse")),
    row("missing predictors", function(engine) {
      paste(sprintf("`%s`", rules_taken(engine)), collapse = ", ")
    }),
    row("... next to a grouping factor", function(engine) {
      length(rules_taken(engine)) > 0L && bsvm:::trait(engine, "latent_groups")
    }),
    row("rows in another process", function(engine) bsvm:::trait(engine, "elsewhere")),
    row("rows of a source", function(engine) bsvm:::trait(engine, "streams"))
  )
}

# Of the rules that model missing predictors.
rules_taken <- function(engine) {
  rules <- list(missing_normal(), missing_selection())
  taken <- Filter(function(rule) bsvm:::takes_latent(engine, rule), rules)
  vapply(taken, `[[`, "", "name")
}

engine_gives <- function(engine) {
  if (bsvm:::is_sampler(engine)) "draws"
  else if (bsvm:::is_estimator(engine)) "a point"
  else if (bsvm:::is_mode(engine)) "a mode"
  else if (bsvm:::is_approximation(engine)) "a mixture" else "a bound"
}

# Which of the two may be inferred: "yes" for each.
engine_skew <- function(engine) {
  either <- list(gamma = likelihood_hinge(gamma = prior_gamma(), gamma0 = 0.1),
                 gamma0 = likelihood_hinge(gamma0 = prior_gamma()))
  takes <- vapply(either, function(own) bsvm:::takes_likelihood(engine, own), TRUE)
  if (all(takes)) "yes" else paste(sprintf("`%s`", names(either)[takes]), collapse = ", ")
}

engine_nu <- function(engine) {
  if (!bsvm:::takes_prior(list(prior = prior_lasso(nu = 1)), engine)) return("")
  paste0(bsvm:::trait(engine, "nu"), if (bsvm:::trait(engine, "grid")) ", grid")
}

engine_groups <- function(engine) {
  if (bsvm:::trait(engine, "gp_alone")) ""
  else if (bsvm:::trait(engine, "needs_integrated")) "integrated"
  else if (bsvm:::trait(engine, "integrates")) "integrated or not" else "not integrated"
}
