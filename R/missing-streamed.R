# Missing predictors in rows of a source (R/streamed.R). In files they are missing, too; what the
# imputation model needs of all rows is counted while they are written.
#
# frame$cluster$unknowns: column_facts() of all columns but the intercept, then of the auxiliary
# variables, with
#   gram        Z'Z of the columns that may be what others are regressed on
#   candidates  their places among these; the first row of `gram` is the intercept's

# The rule of a fit of a source, and the `na.action` that it is. arguments: those of bsvm().
with_source_rule <- function(arguments, written) {
  arguments$missing <- as_missing(arguments$missing, !is.null(written$na.action))
  if (is.null(arguments$missing)) return(arguments)
  arguments["na.action"] <- list(rule_action(arguments$missing, arguments$na.action))
  if (is.matrix(arguments$missing$settings$auxiliary)) {
    abort("unsupported", "A source of rows does not support `auxiliary` as a matrix. Use a formula ",
          "of columns of the source, such as ~ z.")
  }
  arguments
}

# What the rule reads besides the formula: list(a one-sided formula), or NULL.
rule_terms <- function(rule) {
  if (models_missing(rule) && inherits(rule$settings$auxiliary, "formula")) list(rule$settings$auxiliary)
}

# The model frame of auxiliary variables, NULL without any. `parts$auxiliary` is rule_terms().
auxiliary_columns <- function(parts, rows) {
  if (is.null(parts$auxiliary)) return(NULL)
  as.list(stats::model.frame(stats::terms(parts$auxiliary[[1L]]), rows, na.action = stats::na.pass))
}

# What the spill tells at once of columns that stand in the formula as they are.
check_spill_modelled <- function(spill, parts, given, rule) {
  terms <- as.list(attr(stats::terms(parts$frame), "variables"))[-1L]
  plain <- vapply(Filter(is.name, terms), as.character, "")
  needed <- c(if (is.null(given$weights)) all.vars(parts$formula[[2L]]), group_variable_names(parts))
  for (name in intersect(plain, names(spill$columns))) {
    column <- spill$columns[[name]]
    is_response <- identical(terms[[1L]], as.name(name))
    if (column$missing == 0 || is_response && !name %in% needed) next
    if (!name %in% needed && column$type %in% c("double", "integer")) next
    abort("missing", "The source has missing values: ", name, " (", in_full(column$missing), "). ",
          if (name %in% needed) {
            "Only predictors can be modelled: exclude such rows in the function or query."
          } else paste0(rule_name(rule), " models numeric predictors. ",
                        if (column$type == "logical") "as.numeric() makes a number of TRUE and FALSE."
                        else "addNA() makes a level of a factor's missing values."))
  }
}

# Of the rows of a piece: what check_modelled() says of a data frame.
check_piece_modelled <- function(own, parts, rule) {
  if (!models_missing(rule) || nrow(own$rows) == 0L) return(invisible())
  columns <- model_columns(parts, own$rows, own[c("weights", "offset")], list())
  check_modelled(columns, column_roles(columns, parts), rule, "in the function or query")
  if (!is.null(parts$auxiliary)) check_auxiliary_columns(auxiliary_columns(parts, own$rows))
  whole <- gp_columns_of(parts)
  incomplete <- whole[vapply(columns[whole], anyNA, TRUE)]
  if (length(incomplete) == 0L) return(invisible())
  abort("missing", "The source has missing values of ", enumerate(incomplete), ", which are not ",
        "modelled in a Gaussian-process term. Exclude these rows in the function or query, or use ",
        "imputed values.")
}

# The auxiliary variables of a piece (n x a), NULL without any.
piece_auxiliary <- function(frame, rows) {
  recipe <- frame$unknowns$recipe
  if (!is.null(recipe)) check_auxiliary(auxiliary_of(recipe, rows, "missing"))
}

# ---- what is known of all rows --------------------------------------------------------------------

# rows: list(x, weight, beside) of a piece; `others`: places of x's columns in the design.
new_seen_unknowns <- function(frame, others) {
  basis <- others %in% columns_of(frame$bases)
  names <- c(frame$columns[others], colnames(frame$unknowns$auxiliary))
  seen <- new.env(parent = emptyenv())
  seen$columns <- lapply(seq_along(names), function(j) {
    own <- new.env(parent = emptyenv())
    own$moments <- core_new_moments(1L)
    own$absent <- own$n <- 0
    own$basis <- isTRUE(basis[j])
    own$two <- TRUE # does it have two values at most?
    own
  })
  seen$names <- names
  seen
}

note_unknowns <- function(seen, rows) {
  x <- cbind(rows$x, rows$beside)
  for (j in seq_along(seen$columns)) note_observed(seen$columns[[j]], x[, j], rows$weight)
  if (is.null(seen$candidates)) { # the first rows are few
    seen$candidates <- which(vapply(seen$columns, function(own) {
      own$absent == 0 && (own$basis || own$two)
    }, TRUE))
    seen$gram <- core_new_gram(length(seen$candidates) + 1L)
  }
  core_add_to_gram(seen$gram, cbind(rep(1, nrow(x)), x[, seen$candidates, drop = FALSE]))
}

# Means and standard deviations of the coefficients' columns are weighted, those of variables are not.
note_observed <- function(own, v, weight) {
  there <- !is.na(v)
  if (!all(there)) {
    weight <- weight[there]
    v <- v[there]
  }
  own$absent <- own$absent + sum(!there)
  own$n <- own$n + length(v)
  if (length(v) == 0L) return(invisible())
  core_add_moments(own$moments, matrix(v), NULL)
  if (!is.null(weight)) {
    if (is.null(own$weighted)) own$weighted <- core_new_moments(1L)
    core_add_moments(own$weighted, matrix(v), weight)
  }
  if (!own$two) return(invisible())
  own$values <- unique(c(own$values, utils::head(unique(v), 3L)))
  own$two <- length(own$values) <= 2L
}

# As core_read_moments() of the first columns, each of its own weight, and `unknowns`.
seen_unknowns <- function(seen, columns) {
  empty <- vapply(seen$columns, function(own) own$n == 0, TRUE)
  if (any(empty)) refuse_empty_columns(seen$names[empty])
  found <- lapply(seen$columns, function(own) core_read_moments(own$moments))
  weighted <- Map(function(own, plain) {
    if (is.null(own$weighted)) plain else core_read_moments(own$weighted)
  }, seen$columns, found)
  own <- seq_len(columns)
  bind <- function(field) vapply(weighted[own], `[[`, 0, field)
  list(mean = bind("mean"), squares = bind("squares"), weight = bind("weight"),
       bounds = vapply(found[own], function(one) as.vector(one$bounds), c(0, 0)),
       unknowns = list(facts = Map(column_facts, seen$columns, found), columns = columns,
                       gram = core_read_gram(seen$gram), candidates = seen$candidates))
}

# As observed_facts() has them of a column in memory.
column_facts <- function(own, sums) {
  constant <- sums$bounds[1L] == sums$bounds[2L]
  scale <- if (constant) 1 else sd_of_sums(sums)
  list(absent = own$absent, two = own$absent == 0 && own$two,
       center = if (constant) sums$bounds[[1L]] else sums$mean, scale = scale)
}

# ---- for the core ---------------------------------------------------------------------------------

# What of the core's arrays stands for `given` and `auxiliary` (src/core/missing/missing_predictors):
# `plain` and `dummies` are the columns and auxiliary variables that others are regressed on.
streamed_arrays <- function(frame, law, plain, dummies) {
  known <- frame$cluster$unknowns
  others <- setdiff(seq_along(frame$columns), frame$intercept)
  modelled <- which(!dummies)
  chosen <- c(match(plain, others), known$columns + which(dummies))
  kept <- c(1L, match(chosen, known$candidates) + 1L)
  own <- law$column == 0L
  list(gram = known$gram[kept, kept, drop = FALSE],
       given_from = c(0, match(plain, others), -which(dummies)),
       auxiliary_from = if (length(modelled) > 0L) -modelled,
       auxiliary_center = if (any(own)) law$center[own],
       auxiliary_scale = if (any(own)) law$scale[own])
}
