# The core's problem, made again from a fit and its data, which are evaluated anew.

# The rows that took part, as new_design() gives rows, with y, weight and offset.
rows_again <- function(object, env) {
  design <- training_design(object, training_data(object, env), TRUE)
  used <- which(rep_len(used_rows(object), length(object$link)))
  c(rows_at(design, used),
    list(y = as.double(object$y[used]), weight = unname(as_double(object$weights[used])),
         offset = unname(as_double(object$offset[used]))))
}

as_double <- function(x) if (!is.null(x)) as.double(x)

# The whole problem. Its dense columns are those of the core, so nothing is left to centre or scale.
problem_again <- function(object, rows) {
  x <- core_rows(fit_layout(object), object$design, with_made_places(object, rows$x))$rows
  own <- setdiff(seq_len(ncol(x)), made_columns(object))
  x <- x[, own, drop = FALSE]
  groups <- groups_again(object$groups, rows)
  sparse <- if (!is.null(object$design$sparse)) {
    sparse_predictors(list(x = rows$x, implicit = FALSE, groups = groups), object$design,
                      object$blocks[of_sparse_columns(object)])
  }
  features <- core_features(object, rows$made, object$design$center)
  problem <- problem_in_units(row_problem(x, rows), object$design)
  c(with_row_scales(problem, rows$scale_columns),
    if (!is.null(features)) list(features = features),
    if (is.null(sparse)) core_groups(groups, length(object$design$columns))
    else list(group = NULL, n_groups = 0L, z = NULL, sparse = sparse))
}

row_problem <- function(x, rows) {
  dimnames(x) <- NULL
  list(x = x, center = numeric(ncol(x)), scale = rep(1, ncol(x)), y = rows$y,
       weight = rows$weight, offset = rows$offset, intercept = FALSE)
}

groups_again <- function(groups, rows) {
  Map(function(group, own) c(own[c("codes", "z")], group[c("levels", "labels")]), groups,
      rows$groups)
}

of_sparse_columns <- function(object) {
  vapply(object$blocks, function(block) {
    length(block$columns) > 0L && all(block$columns %in% object$design$sparse)
  }, TRUE)
}

model_again <- function(object) {
  layout <- core_layout(object$design)
  sparse <- of_sparse_columns(object)
  model <- list(likelihood = object$likelihood[c("name", "parameters")],
                engine = object$engine[c("name", "parameters")],
                blocks = lapply(object$blocks[!sparse], dense_block_again, layout = layout),
                group_blocks = core_effects(object$group_blocks, object$blocks[sparse]),
                integrated = -1L)
  model_in_units(model, object$design, object$likelihood)
}

dense_block_again <- function(block, layout) {
  for (rotation in layout$rotation) {
    if (identical(rotation$columns, block$columns)) {
      return(core_block(block, rotation$at, length(block$columns) - length(rotation$at)))
    }
  }
  core_block(block, match(block$columns, layout$kept))
}

# ---- one grouping factor by itself --------------------------------------------------------------

# The factor whose effects can be integrated out: of those with one or two effects the one with
# most levels. 0 if there is none.
integrable_factor <- function(groups) {
  effects <- vapply(groups, function(group) length(group$labels), 0L)
  levels <- vapply(groups, function(group) length(group$levels), 0L)
  if (!any(effects <= 2L)) return(0L)
  which.max(ifelse(effects <= 2L, levels, 0L))
}

# A problem whose only unknowns are the effects of factor `name` and multiples of the columns of
# `links` (n x K), and its model, in the user's units: points are K numbers, then the free parameters
# of the effects' covariance and the likelihood's inferred numbers (free_numbers()).
factor_problem <- function(object, rows, name, links) {
  group <- groups_again(object$groups[name], list(groups = rows$groups[name]))
  rows["offset"] <- list(NULL)
  q <- length(object$groups[[name]]$labels)
  columns <- seq_len(ncol(links))
  list(problem = c(with_row_scales(row_problem(links, rows), rows$scale_columns),
                   core_groups(group, ncol(links))),
       model = list(likelihood = object$likelihood[c("name", "parameters")],
                    engine = list(name = "gaussian", parameters = numeric(0)),
                    blocks = c(list(known_block(columns)),
                               lapply(parameter_blocks(object$likelihood), core_block)),
                    group_blocks = list(free_block(q)), integrated = 0L))
}

known_block <- function(columns) {
  list(prior = "normal", parameters = c(variance = 1), columns = columns, unseen = 0L)
}

# A prior on q effects whose covariance is free; its distribution does not matter here.
free_block <- function(q) {
  parameters <- if (q == 1L) c(shape = 1, scale = 1)
                else c(effects = q, df = q + 1, lower_triangle(diag(q)))
  list(prior = if (q == 1L) "ridge" else "inverse_wishart", parameters = parameters,
       columns = seq_len(q), unseen = 0L)
}

free_of_covariance <- function(covariance) free_of_root(t(chol(covariance)))

# Links of rows without the effects of one factor, offset included. With `population`, coefficients
# in place of the fit's, columns with parameters are as at the means of their parameters.
links_without <- function(object, rows, name, population = NULL) {
  rows$groups <- rows$groups[setdiff(names(rows$groups), name)]
  if (!is.null(population)) rows <- settled_rows(object, rows, mean_values(object))
  link <- if (is.null(population)) posterior_linear(object, rows, sd = FALSE)$mean
          else as.vector(as.matrix(rows$x %*% population)) +
            groups_link(effect_means(object$posterior, object$groups), rows$groups)
  if (is.null(rows$offset)) link else link + rows$offset
}

# ---- quantiles of integrated effects ------------------------------------------------------------

# list(name, limits): of the factor whose effects were integrated out, in the order of the long form
# of ranef(); nothing where none were. They are those of the effects' skewed law given the
# coefficients at their means, component by component, spread to the standard deviation that
# the coefficients' uncertainty gives.
integrated_limits <- function(object, level, env) {
  at <- object$posterior$integrated
  if (!isTRUE(at > 0L)) return(list())
  name <- names(object$groups)[at]
  given <- given_quantiles(object, name, c(1 - level, 1 + level) / 2, rows_again(object, env))
  centre <- as.vector(effect_means(object$posterior, object$groups)[[name]])
  limits <- centre + (t(given) - centre) * coefficient_share(object, name)
  q <- length(object$groups[[name]]$labels)
  list(name = name, limits = limits[t(matrix(seq_len(nrow(limits)), q)), , drop = FALSE])
}

# probs x (q m).
given_quantiles <- function(object, name, probs, rows) {
  components <- lapply(seq_along(object$posterior$weights), component_fit, fit = object)
  links <- stack_columns(lapply(components, links_without, rows = rows, name = name))
  theta <- lapply(components, function(fit) free_of_covariance(effect_covariances(fit)[[name]]))
  parts <- factor_problem(object, rows, name, links)
  points <- rbind(diag(ncol(links)), stack_columns(theta), free_numbers(object))
  with_core_conditions(
    core_effect_quantiles(parts$problem, parts$model, points, object$posterior$weights, probs,
                          object$control$threads)
  )
}

# For each effect, its standard deviation divided by that given the coefficients.
coefficient_share <- function(object, name) {
  posterior <- object$posterior
  total <- effect_sds(posterior, object$groups)[[name]]
  posterior$components <- lapply(posterior$components, function(component) {
    for (part in intersect(c("covariance", "joint_covariance"), names(component))) {
      component[[part]][] <- 0
    }
    component
  })
  as.vector(total / effect_sds(posterior, object$groups)[[name]])
}
