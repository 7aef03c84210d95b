# Bases whose columns are made from the rows' variables each time the rows are read, in the core by a
# block that it registers (src/core/block/block.hpp): those with parameters that are inferred, such as
# the length scale of a kernel, since the columns depend on these; and those that would take much
# memory (`made`). Their columns come last, are not scaled, and are in no design. Those without
# parameters are centred by the core.
#
# Rows that carry `made`, a list by label of matrices of variables, have such columns. In place of a
# matrix may stand list(variables, combine): rows are then `combine` times those of the variables.

# ---- what such a basis says; make_bases() gives `variables` (n x k numbers) in place of `matrix` ----

# Priors of its parameters, a list of priors of a variance by name; NULL for a basis without any.
basis_parameters <- function(basis) UseMethod("basis_parameters")

#' @export
basis_parameters.bsvm_basis <- function(basis) NULL

# The core's block: list(name, parameters), and perhaps arrays and parts (base/params.hpp).
basis_feature <- function(basis) UseMethod("basis_feature")

# The columns for rows with these variables, at `values`, parameters by name.
basis_at <- function(basis, variables, values) UseMethod("basis_at")

# The variables of new rows, in place of new_basis().
new_variables <- function(basis, terms, newdata, unknown) UseMethod("new_variables")

# ---- in the frame and the spec ------------------------------------------------------------------

# Columns that differ from draw to draw: of `drawn` ones R does not know how (R/factors.R).
is_learned <- function(basis) length(basis_parameters(basis)) > 0L || isTRUE(basis$drawn)

learned_bases <- function(object) Filter(is_learned, object$bases)

is_made <- function(basis) is_learned(basis) || isTRUE(basis$made)

made_bases <- function(object) Filter(is_made, object$bases)

# Where parameters start, or what their priors expect, about.
first_values <- function(basis) {
  lapply(basis_parameters(basis), function(prior) {
    numbers <- prior$parameters
    if ("start" %in% names(numbers)) numbers[["start"]]
    else if ("shape" %in% names(numbers)) sqrt(numbers[["scale"]] / numbers[["shape"]])
    else numbers[["scale"]]
  })
}

# Some of the penalised columns, at the first values, of enough rows to tell how large they are.
most_sized <- 5000L
first_columns <- function(basis, variables, at) {
  variables <- variables[some_of_many(nrow(variables), most_sized), , drop = FALSE]
  columns <- basis_at(basis, variables, if (is_learned(basis)) first_values(basis))
  columns[, length(basis$unpenalised) + at, drop = FALSE]
}

# Those that are made last, before them Gaussian-process terms, whose columns are found later
# (bind_gp()).
made_last <- function(bases) {
  bases[order(vapply(bases, is_made, TRUE), vapply(bases, is_gp, TRUE))]
}

made_columns <- function(object) columns_of(made_bases(object))

basis_parameter_blocks <- function(object) {
  unlist(lapply(learned_bases(object), function(basis) {
    blocks <- parameter_blocks(list(priors = basis_parameters(basis)))
    lapply(blocks, function(block) {
      block[c("label", "of", "name")] <- list(paste0(basis$label, ": ", block$label), basis$label,
                                              block$label)
      block
    })
  }), recursive = FALSE)
}

# What the core makes the columns of; `variables`: list by label, `center`: of all columns.
core_features <- function(object, variables, center) {
  bases <- Filter(Negate(is_factors), made_bases(object))
  if (length(bases) == 0L) return(NULL)
  lapply(bases, function(basis) {
    feature <- c(basis_feature(basis), list(x = unname(variables[[basis$label]])))
    if (!is_learned(basis)) feature$arrays$center <- center[basis$columns]
    feature
  })
}

# ---- of rows --------------------------------------------------------------------------------------

# list by label of the variables of the rows the frame was made of, or of new ones.
frame_variables <- function(bases) {
  made <- Filter(is_made, bases)
  if (length(made) == 0L) return(NULL)
  stats::setNames(lapply(made, `[[`, "variables"), basis_labels(made))
}

rows_variables <- function(bases, terms, newdata, unknown) {
  made <- Filter(is_made, bases)
  if (length(made) == 0L) return(NULL)
  stats::setNames(lapply(made, new_variables, terms, newdata, unknown), basis_labels(made))
}

made_at <- function(rows, at) {
  if (is.null(rows$made)) return(NULL)
  list(made = lapply(rows$made, function(x) {
    if (is.matrix(x)) return(x[at, , drop = FALSE])
    combine <- x$combine[at, , drop = FALSE]
    used <- Matrix::colSums(combine != 0) > 0
    list(variables = x$variables[used, , drop = FALSE], combine = combine[, used, drop = FALSE])
  }))
}

# f(variables), a matrix with a row for each of the variables', for rows as `made` has them.
combined <- function(made, f) {
  if (is.matrix(made)) f(made) else as.matrix(made$combine %*% f(made$variables))
}

# With a column of zeros for each that `x` lacks: the last ones.
with_made_places <- function(fit, x) {
  lacking <- utils::tail(fit$design$columns, length(fit$design$columns) - ncol(x))
  if (length(lacking) == 0L) return(x)
  cbind(x, matrix(0, nrow(x), length(lacking), dimnames = list(NULL, lacking)))
}

# The rows with their columns, or those of some bases, at these values, list by label of parameters by
# name.
settled_rows <- function(fit, rows, values, bases = made_in(fit, rows)) {
  rows$x <- with_made_places(fit, rows$x)
  for (basis in bases) {
    own <- values[[basis$label]]
    left <- NULL
    rows$x[, columns_of(list(basis))] <- combined(rows$made[[basis$label]], function(variables) {
      columns <- basis_at(basis, variables, own)
      left <<- attr(columns, "left_over")
      columns
    })
    if (is.matrix(rows$made[[basis$label]])) rows$left_over <- cbind(rows$left_over, left)
  }
  left <- setdiff(names(rows$made), basis_labels(bases))
  rows$made <- if (length(left) > 0L) rows$made[left]
  rows
}

# With the columns of those without parameters.
known_rows <- function(fit, rows) {
  settled_rows(fit, rows, NULL, Filter(Negate(is_learned), made_in(fit, rows)))
}

# The bases whose variables the rows have.
made_in <- function(fit, rows) {
  Filter(function(basis) !is.null(rows$made[[basis$label]]), made_bases(fit))
}

# `value(block, k)`: that of parameter block k of all.
learned_values <- function(fit, value) {
  blocks <- all_blocks(fit)
  out <- list()
  for (k in which(!vapply(blocks, function(block) is.null(block$of), TRUE))) {
    out[[blocks[[k]]$of]][[blocks[[k]]$name]] <- value(blocks[[k]], k)
  }
  out
}

mean_values <- function(fit) {
  learned_values(fit, function(block, k) block_spread(fit$posterior, fit, k, 0.95)[[2L]])
}

# ---- linear predictors ----------------------------------------------------------------------------

# posterior_linear() of rows with such columns.
made_linear <- function(fit, rows, sd) {
  if (length(learned_bases(fit)) > 0L) return(learned_linear(fit$posterior, fit, rows, sd))
  known_linear(fit, rows, sd, NULL)
}

# At known values of parameters, some rows after others.
known_linear <- function(fit, rows, sd, values) {
  n <- nrow(rows$x)
  out <- list(mean = numeric(n), sd = if (sd) numeric(n))
  in_chunks(n, 2^20 / length(fit$design$columns), function(at) {
    part <- posterior_linear(fit, settled_rows(fit, rows_at(rows, at), values), sd)
    out$mean[at] <<- part$mean
    if (sd) out$sd[at] <<- part$sd
  })
  out
}

learned_linear <- function(posterior, fit, rows, sd) UseMethod("learned_linear")

# Known values.
#' @export
learned_linear.default <- function(posterior, fit, rows, sd) {
  known_linear(fit, rows, sd, known_values(fit))
}

known_values <- function(fit) {
  learned_values(fit, function(block, k) sqrt(block$hyper[["mean"]]))
}

#' @export
learned_linear.bsvm_mixture <- function(posterior, fit, rows, sd) {
  out <- list(mean = numeric(nrow(rows$x)), sd = if (sd) numeric(nrow(rows$x)))
  in_component_chunks(fit, rows, sd = sd, function(at, moments) {
    out$mean[at] <<- drop(moments$mean %*% posterior$weights)
    if (sd) out$sd[at] <<- mix(moments$mean, moments$sd, posterior$weights)$sd
  })
  out
}

#' @export
learned_linear.bsvm_draws <- function(posterior, fit, rows, sd) {
  if (has_factors(fit)) return(factor_linear(fit, rows, sd))
  out <- list(mean = numeric(nrow(rows$x)), sd = if (sd) numeric(nrow(rows$x)))
  in_row_chunks(posterior, rows, function(at, part) {
    left <- part["left_over"] # noise in draws, and no part of a mean
    part$left_over <- NULL
    draws <- linear_draws(fit, part)
    out$mean[at] <<- rowMeans(draws)
    if (!sd) return()
    variance <- row_variances(draws)
    if (!is.null(left$left_over)) variance <- variance + left_over_variance(fit, left)
    out$sd[at] <<- sqrt(variance)
  })
  out
}

# The fitted link of rows of a frame.
made_link <- function(fit, rows) {
  mean <- posterior_linear(fit, rows[c("x", "groups", "made")], sd = FALSE)$mean
  if (is.null(rows$offset)) mean else mean + rows$offset
}

# linear_draws() of such rows. Draws of a parameter hardly ever repeat, so the columns are made anew
# for each.
made_draws <- function(fit, rows) {
  if (has_factors(fit)) return(factor_link_draws(fit, rows))
  if (length(learned_bases(fit)) == 0L) return(linear_draws(fit, settled_rows(fit, rows, NULL)))
  values <- learned_values(fit, function(block, k) sqrt(block_variances(fit, k)))
  rows <- known_rows(fit, rows)
  known <- rows
  known$made <- NULL
  known$x[, columns_of(learned_bases(fit))] <- 0
  out <- linear_draws(fit, known)
  for (basis in made_in(fit, rows)) {
    own <- rows$made[[basis$label]]
    out <- out + combined(own, function(variables) {
      basis_draws(basis, fit, variables, values[[basis$label]], is.matrix(own))
    })
  }
  out
}

# k x S draws of what the basis adds to rows with these variables; `values`: S of each parameter, by
# name. `rows`: rows, or what rows are combined from?
basis_draws <- function(basis, fit, variables, values, rows = TRUE) UseMethod("basis_draws")

#' @export
basis_draws.bsvm_basis <- function(basis, fit, variables, values, rows = TRUE) {
  coefficients <- coefficient_draws(fit, columns_of(list(basis)))
  out <- matrix(0, nrow(variables), ncol(coefficients))
  for (s in seq_len(ncol(out))) {
    out[, s] <- basis_at(basis, variables, lapply(values, `[`, s)) %*% coefficients[, s]
  }
  out
}
