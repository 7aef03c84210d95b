# Which engine a model gets, and which engines can take it. A model is its frame, its likelihood and
# its priors (`assigned`, a list with `blocks` and `group_blocks`).

# NULL picks by the rule of R/engine-default.R.
as_engine <- function(x, frame, likelihood, assigned) {
  if (!is.null(x)) return(as_component(x, "engine"))
  default_engine(frame, likelihood, assigned)
}

can_take <- function(name, frame, ...) {
  engine <- if (name == "gaussian" && is_streamed(frame)) engine_gaussian(integrate = FALSE)
            else as_component(name, "engine")
  is.null(refusal(engine, frame, ...))
}

# The error that says what can take the model instead.
check_engine <- function(engine, frame, likelihood, assigned) {
  refuse_empirical(engine)
  why <- refusal(engine, frame, likelihood, assigned)
  if (is.null(why)) return(invisible())
  able <- setdiff(able_engines(frame, likelihood, assigned), engine$name)
  words <- if (length(able) > 0L) what_takes(able, is_sampler(engine))
           else what_else(able_engines(frame, likelihood_hinge(), assigned))
  abort(sub("bsvm_error_", "", class(why)[1L]), conditionMessage(why), " ", words)
}

able_engines <- function(frame, likelihood, assigned) {
  Filter(function(name) can_take(name, frame, likelihood, assigned), known_engines())
}

# In words; in place of exact draws, what is exact too or comes close.
what_takes <- function(able, exactly) {
  samplers <- intersect(able, core_registry()$samplers)
  others <- setdiff(able, samplers)
  if (exactly && length(samplers) > 0L) {
    paste0(name_engines(samplers), " can",
           if (length(others) > 0L) paste0("; less exact: ", name_engines(others)), ".")
  } else if (exactly && "gaussian" %in% able) {
    "No exact engine can; engine_gaussian() comes close."
  } else {
    paste0("Engines that can fit this model: ", name_engines(able), ".")
  }
}

# Where nothing does; `pseudo`: what would, under the pseudo-likelihood.
what_else <- function(pseudo) {
  paste0("No engine supports this model as it is",
         if (length(pseudo) > 0L)
           paste0("; under likelihood_hinge() ", name_engines(pseudo), " can"),
         ".")
}

name_engines <- function(names) enumerate(paste0("engine_", names, "()"), "", last = "or")

# Why the engine can't take the model, NULL if it can.
refusal <- function(engine, frame, likelihood, assigned) {
  tryCatch({
    if (has_factors(frame)) return(check_factor_model(engine, frame, likelihood, assigned))
    check_parts(engine, likelihood, assigned)
    check_unrotated(assigned$blocks, engine, frame)
    check_structure(engine, frame, likelihood, assigned)
    check_unknowns(engine, frame, likelihood, assigned)
    NULL
  }, bsvm_error = identity)
}

check_parts <- function(engine, likelihood, assigned) {
  check_combination(likelihood, engine)
  check_prior_engines(all_blocks(assigned), engine)
  check_grid(assigned$blocks, engine)
  check_scales(all_blocks(assigned), engine)
}

# Advice for a fit without a spread, or without draws: engines that have these under its priors and
# likelihood.
with_spread <- function(object) {
  able <- take_parts(engines_with(has_own_spread, c("gaussian", "vb", "slice", "gibbs")), object)
  if (length(able) == 0L) return("Give `nu` one number, and fit with engine_gibbs().")
  paste0("Fit with ", name_engines(able), ".")
}

with_draws <- function(object) {
  able <- take_parts(engines_with(is_sampler, c("slice", "gibbs")), object)
  if (length(able) > 0L) return(paste0("Fit with `engine = engine_", able[1L], "()`."))
  if (!is.null(object$missing)) return("No engine draws from the posterior of this model.")
  "Give `nu` one number, and fit with engine_gibbs()."
}

has_own_spread <- function(engine) !is_mode(engine)

# Names of the engines that are so, these first.
engines_with <- function(what, first) {
  all <- Filter(function(name) what(as_component(name, "engine")), known_engines())
  c(intersect(first, all), setdiff(all, first))
}

# Those engines that accept a fit's priors, its likelihood and its missing predictors.
take_parts <- function(names, object) {
  Filter(function(name) {
    engine <- as_component(name, "engine")
    parts <- object[c("blocks", "group_blocks")]
    (!trait(engine, "gp_alone") || length(gp_bases(object)) > 0L) &&
      (!has_factors(object) || name %in% factor_engines) && takes_missing(engine, object) &&
      is.null(tryCatch(check_parts(engine, object$likelihood, parts), bsvm_error = identity))
  }, names)
}

takes_missing <- function(engine, fit) {
  if (is.null(fit$missing)) return(TRUE)
  takes_latent(engine, fit$missing$rule) &&
    (trait(engine, "latent_groups") || length(fit$groups) == 0L)
}

check_combination <- function(likelihood, engine) {
  if (takes_likelihood(engine, likelihood)) return(invisible())
  if (has_parameters(likelihood)) {
    abort("unsupported", engine_call(engine), " does not support ", word_for_inferred(likelihood),
          ".")
  }
  abort("unsupported", engine_call(engine), " works on latent scales of the rows, given ",
        "which the likelihood is normal in the coefficients. Only the pseudo-likelihood, ",
        "likelihood_hinge(), has them; the normalised hinge likelihood has not.")
}

takes_prior <- function(block, engine) {
  if (trait(engine, "gp_alone") && block$prior$name %in% c("inverse_wishart", "huang_wand")) {
    return(FALSE)
  }
  core_takes(engine$name, engine$parameters, block$prior$name, block$prior$parameters)
}

check_prior_engines <- function(blocks, engine) {
  for (block in blocks) {
    if (takes_prior(block, engine)) next
    abort("unsupported", engine_call(engine), " does not support the prior of ",
          enumerate(block$label, "`"), " (", block$prior$label, ").",
          if (!selects(block)) trait(engine, "priors_needed"))
  }
}

# A path over a grid of nu is one of point estimates.
check_grid <- function(blocks, engine) {
  for (block in blocks) {
    if (is.null(block$prior$grid) || trait(engine, "grid")) next
    abort("unsupported", "`nu` of the prior of ", enumerate(block$label, "`"), " is a grid of ",
          length(block$prior$grid), " numbers, for a path of point estimates. ",
          engine_call(engine), " accepts one number, or NULL to infer it.")
  }
}

# Some engines need all scales given, some have one to infer.
check_scales <- function(blocks, engine) {
  nu <- trait(engine, "nu")
  if (nu == "any") return(invisible())
  unknown <- vapply(blocks, function(block) isTRUE(block$prior$parameters["nu"] == 0), TRUE)
  if (nu == "given" && any(unknown)) {
    abort("unsupported", engine_call(engine), " needs `nu` given, and the prior of ",
          enumerate(vapply(blocks[unknown], `[[`, "", "label"), "`"),
          " leaves it to be inferred.")
  }
  if (nu == "inferred" && !any(unknown)) {
    abort("unsupported", engine_call(engine), " estimates the scale `nu` of prior_bridge() or ",
          "prior_lasso(), and here is none to be estimated.")
  }
}

# What can't be rotated is a dense system of all its columns, factored in each sweep.
most_unrotated <- 2000

check_unrotated <- function(blocks, engine, frame) {
  for (block in blocks[needs_dense(blocks, engine)]) {
    m <- length(block$columns)
    few <- m <= most_unrotated || (m <= nrow(frame$x) && !is_sparse(frame$x))
    if (few) next
    abort("size", enumerate(block$label, "`"), " has ", m, " columns, more than the ",
          most_unrotated, " that draws under its prior (", block$prior$label, ") can have where ",
          "there are fewer rows or sparse predictors. prior_ridge() takes any number.")
  }
}

# Draws of sparse columns are those of effects, which have one variance.
needs_dense <- function(blocks, engine) {
  is_sampler(engine) & !vapply(blocks, function(block) any(prior_traits(block$prior)), TRUE)
}

# Can the engine fit the groups and sparse predictors of the model together with the rest?
check_structure <- function(engine, frame, likelihood, assigned) {
  sparse <- sparse_blocks(frame, assigned$blocks) & !needs_dense(assigned$blocks, engine)
  columns <- dense_column_count(assigned$blocks[!sparse], nrow(frame$x))
  integrated <- integrated_term(frame$groups, likelihood, engine, any(sparse), columns,
                                !knows_design(frame))
  check_learned(engine, frame)
  check_gp_alone(engine, frame, assigned)
  check_gamma_mode(engine, frame, likelihood)
  check_selection(engine, frame, assigned$blocks, any(sparse))
  check_mode(engine, integrated, frame$groups, any(sparse))
  check_sparse(engine, any(sparse))
  check_elsewhere(engine, frame, likelihood, assigned$blocks, integrated, any(sparse))
}

# `object`: a frame or a fit.
takes_learned <- function(engine, object) {
  if (length(learned_bases(object)) == 0L) return(TRUE)
  switch(trait(engine, "learned"), grouped = TRUE, alone = length(object$groups) == 0L,
         none = FALSE)
}

check_learned <- function(engine, frame) {
  check_learned_groups(frame)
  if (takes_learned(engine, frame)) return(invisible())
  abort("unsupported", engine_call(engine), " does not support terms with parameters that are ",
        "inferred", if (trait(engine, "learned") == "alone") " together with grouping factors",
        ": ", enumerate(basis_labels(learned_bases(frame))), ".")
}

# The core does not have both, whatever the engine.
check_learned_groups <- function(frame) {
  learned <- learned_bases(frame)
  if (length(learned) == 0L || length(frame$groups) < 2L) return(invisible())
  abort("unsupported", "Terms with parameters that are inferred (",
        enumerate(basis_labels(learned)), ") support at most one grouping factor; found ",
        enumerate(names(frame$groups)), ". Use one",
        if (all(vapply(learned, is_gp, TRUE))) ", or infer = \"none\"", ".")
}

# Once those wider than the rows are rotated.
dense_column_count <- function(blocks, n) {
  sum(vapply(blocks, function(block) {
    m <- length(block$columns)
    if (prior_traits(block$prior)[["exchangeable"]]) min(m, n) else m
  }, 0L))
}

# Where the core's variational Bayes can't select predictors. With groups it forms the precision of
# all columns.
most_selected_in_groups <- 2000L

check_selection <- function(engine, frame, blocks, sparse) {
  if (!trait(engine, "dense_selection") || !selects_any(blocks)) return(invisible())
  if (sparse || length(frame$groups) > 1L) {
    abort("unsupported", engine_call(engine), " with a prior that selects does not support ",
          if (sparse) "sparse predictors. A dense matrix works." else "several grouping factors.")
  }
  p <- length(frame$columns)
  if (length(frame$groups) == 1L && p > max(most_selected_in_groups, length(frame$y))) {
    abort("size", engine_call(engine), " with a prior that selects can take ",
          most_selected_in_groups,
          " columns together with a grouping factor, or as many as rows; found ", p, ".")
  }
}

# Which engines accept a rule for unknown entries of the design, and together with what.
check_unknowns <- function(engine, frame, likelihood, assigned) {
  if (is.null(frame$unknowns)) return(invisible())
  traits <- traits_of(engine)
  rule <- rule_name(frame$unknowns$rule)
  check_takes_missing(engine, frame$unknowns$rule)
  if (!takes_latent(engine, frame$unknowns$rule)) {
    abort("unsupported", engine_call(engine), " does not support ", rule, ".")
  }
  if (is_sparse(frame$x)) {
    abort("unsupported", rule, " can't model sparse predictors. A dense matrix works.")
  }
  if (length(frame$groups) > 1L) {
    abort("unsupported", rule, " supports at most one grouping factor; found ",
          length(frame$groups),
          ".")
  }
  most <- most_drawn_weight(likelihood)
  if (traits$latent_links && any(frame$weights > most)) {
    abort("unsupported", engine_call(engine), " under the normalised likelihood takes weights up ",
          "to ", most, " with missing predictors; found ", format(max(frame$weights)), ".")
  }
  if (!traits$latent_groups && length(frame$groups) > 0L) {
    abort("unsupported", engine_call(engine), " can't model missing predictors together with a ",
          "grouping factor.")
  }
  if (selects_any(assigned$blocks) && length(frame$columns) > row_count(frame)) {
    abort("unsupported", "With missing predictors a prior that selects takes at most as many ",
          "columns as rows.")
  }
}

check_takes_missing <- function(engine, rule) {
  if (!models_missing(rule) || length(trait(engine, "latent")) > 0L) return(invisible())
  abort("unsupported", engine_call(engine), " can't model missing predictors.")
}

# Modes of effects that are not integrated out.
check_mode <- function(engine, integrated, groups, sparse) {
  if (!trait(engine, "needs_integrated") || integrated >= 0L || sparse) return(invisible())
  if (length(groups) == 0L) return(invisible())
  abort("unsupported", engine_call(engine), " needs the group effects integrated out. This ",
        "requires one factor with one or two effects per level, and at most ",
        most_beside_integrated, " coefficients and other effects. Under the pseudo-likelihood a ",
        "single effect must not be multiplied by zero in any row.")
}

# Beyond, the core draws indicators by the columns of rows in memory (gibbs/wide_gibbs).
most_selected_elsewhere <- 1000

# Rows in other processes: what looks at rows itself, and not through sums over them, is refused.
check_elsewhere <- function(engine, frame, likelihood, blocks, integrated, sparse) {
  if (is.null(frame$cluster)) return(invisible())
  check_engine_elsewhere(engine, is_streamed(frame))
  refuse <- function(...) {
    abort("unsupported", engine_call(engine), if (is_streamed(frame)) " for a source of rows"
          else " with `cluster`", " does not support ", ...)
  }
  if (integrated >= 0L) {
    refuse("group effects that are integrated out. Use ", engine_call(engine, "integrate = FALSE"),
           ".")
  }
  if (sparse) refuse("sparse predictors. A dense matrix works.")
  if (length(frame$groups) > 1L && (!is_streamed(frame) || is_estimator(engine))) {
    refuse("several grouping factors.")
  }
  if (!is.null(frame$unknowns) && !is_streamed(frame)) refuse("models of missing predictors.")
  if (!is.null(frame$unknowns) && has_checkpoint(engine)) {
    refuse("a checkpoint with a model of missing predictors. Omit `checkpoint`.")
  }
  if (!is.null(frame$made)) refuse("terms with parameters that are inferred.")
  if (!is.null(frame$scale_model)) refuse("a scale that differs by row.")
  if (is_sampler(engine) && length(parameter_blocks(likelihood)) > 0L) {
    refuse("a likelihood with parameters that are inferred.")
  }
  if (!selects_any(blocks)) return(invisible())
  if (length(frame$columns) > row_count(frame)) {
    refuse("variable selection with more columns than rows.")
  }
  if (is_sampler(engine) && length(frame$columns) > most_selected_elsewhere) {
    refuse("variable selection with more than ", most_selected_elsewhere, " columns.")
  }
}

check_engine_elsewhere <- function(engine, streamed) {
  if (trait(engine, if (streamed) "streams" else "elsewhere")) return(invisible())
  abort("unsupported", engine_call(engine), " needs all rows in this R session: ",
        if (streamed) "give `data` as a data frame." else "leave `cluster` out.")
}

check_sparse <- function(engine, sparse) {
  if (!sparse || trait(engine, "sparse")) return(invisible())
  abort("unsupported", engine_call(engine), " does not support sparse predictors. ",
        "Use a dense matrix.")
}
