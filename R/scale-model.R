# A scale that differs by row, `scale = ~ x` of a likelihood of residuals. All numbers of a density
# that have the response's unit are the scale and with it the tube. They are those of a row at the
# means of the columns z times
#
#   exp(z_i' gamma),   gamma_j ~ N(0, 1),
#
# z centred at its weighted means and divided by its standard deviations. The core knows each
# exp(gamma_j) as a number of the likelihood (src/core/likelihood/scaled_rows.cpp).
#
# `scale_model`, of a frame or fit, is list(terms, xlevels, contrasts, labels, center, sd);
# `scale_columns`, of a frame, a fit (all its rows) and of rows, is z. The likelihood has
# `scale_formula` as it was given and, once bsvm_spec() knows the columns, `scale_sds`: their
# standard deviations by the names of its parameters.

has_row_scales <- function(likelihood) !is.null(likelihood$scale_formula)

# ---- the formula --------------------------------------------------------------------------------

is_formula <- function(x) inherits(x, "formula")

# Without its environment: variables are found where those of the model's formula are.
scale_formula <- function(scale) {
  if (!is_formula(scale)) return(NULL)
  refuse <- function(...) {
    abort("argument", "`scale` as a formula ", ..., " Found ", deparse1(scale), ".")
  }
  if (length(scale) != 2L) refuse("must have one side, as in scale = ~ x.")
  rhs <- scale[[2L]]
  if (has_special(rhs)) refuse("can't have random-effects terms or smooth terms.")
  if ("." %in% all.vars(rhs)) refuse("must name its predictors; `.` does not stand for them.")
  if (length(all.vars(rhs)) == 0L) {
    refuse("must have a predictor. NULL infers one scale for all rows.")
  }
  offset <- attr(stats::terms(stats::as.formula(scale)), "offset")
  if (!is.null(offset)) refuse("can't have an offset.")
  environment(scale) <- globalenv()
  scale
}

likelihood_scale <- function(likelihood) {
  if (inherits(likelihood, "bsvm_likelihood")) likelihood$scale_formula
}

# Where there is no formula to go with.
refuse_row_scales <- function(likelihood, what) {
  if (is.null(likelihood_scale(likelihood))) return(invisible())
  abort("unsupported", what, " does not support `scale = ", deparse1(likelihood$scale_formula),
        "`. Use a formula and data, as in bsvm(y ~ x, data).")
}

# Those of the formulas in the language of an argument: likelihood_laplace(scale = ~ x).
variables_of_scale <- function(written) {
  if (is_call_to(written, "~")) return(all.vars(written))
  if (is.call(written)) unlist(lapply(as.list(written)[-1L], variables_of_scale))
}

# ---- in the frame -------------------------------------------------------------------------------

# list(scale_model, scale_columns) from the fit's variables.
frame_scales <- function(formula, columns, frame_terms, contrasts, weights) {
  if (is.null(formula)) return(NULL)
  terms <- stats::terms(formula)
  attr(terms, "intercept") <- 1L # the scale itself
  terms <- with_predvars(terms, frame_terms)
  xlevels <- stats::.getXlevels(terms, columns)
  check_levels(xlevels)
  design <- build_design(terms, columns, contrasts[intersect(names(contrasts), names(xlevels))])
  x <- design$x[, -1L, drop = FALSE]
  if (anyNA(x)) {
    abort("missing", "Predictors of `scale` can't have missing values that are modelled; found ",
          sum(!stats::complete.cases(x)), " rows with some. missing_omit() excludes these rows.")
  }
  check_magnitudes(x)
  check_divisor(weights)
  moments <- apply(x, 2L, function(column) unlist(column_moments(column, weights)))
  constant <- moments["sd", ] %in% 0
  if (any(constant)) {
    abort("predictors", "A predictor of `scale` must vary among the rows of the fit; ",
          enumerate(colnames(x)[constant]), if (sum(constant) > 1L) " do" else " does", " not.")
  }
  model <- list(terms = terms, xlevels = xlevels, contrasts = design$contrasts,
                labels = colnames(x), center = unname(moments["mean", ]),
                sd = unname(moments["sd", ]))
  list(scale_model = model, scale_columns = standard_columns(model, x))
}

standard_columns <- function(model, x) {
  unname(t((t(x) - model$center) / model$sd))
}

# Columns for new rows: NA where a predictor of the scale is missing. `terms`: the model's, for
# their home.
new_scale_columns <- function(model, terms, newdata, unknown = "error") {
  if (is.null(model)) return(NULL)
  environment(model$terms) <- environment(terms)
  columns <- match_factors(new_columns(model$terms, newdata, unknown), model$xlevels, unknown)
  check_classes(model$terms, columns)
  x <- build_design(model$terms, columns, model$contrasts)$x
  standard_columns(model, x[, -1L, drop = FALSE])
}

# Columns for the fit's rows, or for new ones.
scale_columns_of <- function(fit, newdata = NULL) {
  if (is.null(newdata) || is.null(fit$scale_model)) return(fit$scale_columns)
  new_scale_columns(fit$scale_model, fit$terms, check_newdata(newdata))
}

all_scale_columns <- function(frame) {
  if (is.null(frame$scale_columns) || is.null(frame$absent)) return(frame$scale_columns)
  all <- matrix(0, frame$nobs + length(frame$absent$at), ncol(frame$scale_columns))
  all[frame$absent$at, ] <- frame$absent$scale_columns
  all[-frame$absent$at, ] <- frame$scale_columns
  all
}

scale_columns_at <- function(rows, at) {
  if (is.null(rows$scale_columns)) return(NULL)
  list(scale_columns = rows$scale_columns[at, , drop = FALSE])
}

# ---- in the core --------------------------------------------------------------------------------

# The likelihood with a parameter for each column.
with_scale_priors <- function(likelihood, model) {
  if (is.null(model)) return(likelihood)
  labels <- paste0("scale: ", model$labels)
  own <- likelihood$priors[setdiff(names(likelihood$priors), names(likelihood$scale_sds))]
  prior <- new_hyperprior("log_normal", c(sd = 1), "normal(0, 1) for one standard deviation")
  likelihood$priors <- c(own, stats::setNames(rep(list(prior), length(labels)), labels))
  likelihood$scale_sds <- stats::setNames(model$sd, labels)
  likelihood
}

# A problem in the core's units, whose rows the likelihood looks up by their numbers.
with_row_scales <- function(problem, columns) {
  if (is.null(columns)) return(problem)
  problem$looked_up <- list(response = problem$y, scale_columns = columns)
  problem$y <- seq_along(problem$y) - 1
  problem
}

# The response of a problem, looked up or not.
problem_response <- function(problem) {
  if (is.null(problem$looked_up)) problem$y else problem$looked_up$response
}

# ---- numbers by row -----------------------------------------------------------------------------

# For a row far from those of the fit the factor would overflow. The core bounds
# the logarithm of the whole scale by as much.
farthest_log <- 150

# By what a row's scale is that of a row at the means, rows x points (residual_points()).
row_factors <- function(likelihood, values, columns) {
  logs <- columns %*% log(do.call(rbind, values[names(likelihood$scale_sds)]))
  exp(pmax(pmin(logs, farthest_log), -farthest_log))
}

without_scales <- function(likelihood, values) {
  values[setdiff(names(values), names(likelihood$scale_sds))]
}

# The numbers of the density at points for rows with these columns: each a matrix of rows x points.
# Without scales by row they are as they were.
values_by_row <- function(likelihood, values, columns) {
  if (!has_row_scales(likelihood)) return(values)
  factors <- row_factors(likelihood, values, columns)
  values <- without_scales(likelihood, values)
  Map(function(value, name) {
    each <- matrix(rep(value, each = nrow(factors)), nrow(factors), ncol(factors))
    if (name %in% unit_numbers(likelihood)) each * factors else each
  }, values, names(values))
}

# A value for each row and point, rows first.
each_row <- function(value, n) {
  if (is.matrix(value)) as.vector(value)
  else if (length(value) == 1L) value else rep(value, each = n)
}

# The values of one point of several.
values_at <- function(values, k) {
  lapply(values, function(value) {
    if (is.matrix(value)) value[, k] else value[min(k, length(value))]
  })
}

# Means over points of numbers (a list of them) of a row at the means that have this power of the
# response's unit: for each row, a list as they were.
row_means <- function(likelihood, points, columns, numbers, power = 1) {
  kept <- points_that_matter(points$weights)
  weights <- points$weights[kept] / sum(points$weights[kept])
  at_points <- function(value) if (length(value) == 1L) value else value[kept]
  few <- lapply(points$values, at_points)
  weighted <- vapply(numbers, function(value) weights * at_points(value), weights)
  out <- matrix(0, nrow(columns), length(numbers), dimnames = list(NULL, names(numbers)))
  in_chunks(nrow(columns), 2^20 / length(kept), function(at) {
    factors <- row_factors(likelihood, few, columns[at, , drop = FALSE])
    out[at, ] <<- factors^power %*% matrix(weighted, length(weights))
  })
  as.list(as.data.frame(out))
}
