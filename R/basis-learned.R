# Bases with parameters that are inferred, such as the length scale of a kernel. Their columns depend
# on these, so the core makes them anew from the rows' variables, by a block that it registers
# (src/core/block/block.hpp), and so do predictions, value by value. In the frame and the design of a
# fit the columns stand as they are at first values, for their names, places and sizes; they come
# last, and are neither centred nor scaled.
#
# Rows that carry `learned`, a list by label of matrices of variables, have such columns. In place of
# a matrix may stand list(variables, combine): rows are then `combine` times those of the variables.

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

is_learned <- function(basis) length(basis_parameters(basis)) > 0L

learned_bases <- function(object) Filter(is_learned, object$bases)

# Where they start, or what their priors expect, about.
first_values <- function(basis) {
  lapply(basis_parameters(basis), function(prior) {
    numbers <- prior$parameters
    if ("start" %in% names(numbers)) numbers[["start"]]
    else if ("shape" %in% names(numbers)) sqrt(numbers[["scale"]] / numbers[["shape"]])
    else numbers[["scale"]]
  })
}

# Columns at the first values, and learned bases last, before them Gaussian-process terms, whose
# columns are found later (bind_gp()).
with_first_columns <- function(bases) {
  learned <- vapply(bases, is_learned, TRUE)
  bases[learned] <- lapply(bases[learned], function(basis) {
    basis$matrix <- basis_at(basis, basis$variables, first_values(basis))
    basis
  })
  bases[order(learned, vapply(bases, is_gp, TRUE))]
}

learned_columns <- function(object) columns_of(learned_bases(object))

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

# What the core makes the columns of; `variables`: list by label.
core_features <- function(object, variables) {
  bases <- learned_bases(object)
  if (length(bases) == 0L) return(NULL)
  lapply(bases, function(basis) {
    c(basis_feature(basis), list(x = unname(variables[[basis$label]])))
  })
}

# ---- of rows --------------------------------------------------------------------------------------

# list by label of the variables of the rows the frame was made of, or of new ones.
frame_variables <- function(bases) {
  learned <- Filter(is_learned, bases)
  if (length(learned) == 0L) return(NULL)
  stats::setNames(lapply(learned, `[[`, "variables"), basis_labels(learned))
}

rows_variables <- function(bases, terms, newdata, unknown) {
  learned <- Filter(is_learned, bases)
  if (length(learned) == 0L) return(NULL)
  stats::setNames(lapply(learned, new_variables, terms, newdata, unknown), basis_labels(learned))
}

learned_at <- function(rows, at) {
  if (is.null(rows$learned)) return(NULL)
  list(learned = lapply(rows$learned, function(x) {
    if (is.matrix(x)) return(x[at, , drop = FALSE])
    combine <- x$combine[at, , drop = FALSE]
    used <- Matrix::colSums(combine != 0) > 0
    list(variables = x$variables[used, , drop = FALSE], combine = combine[, used, drop = FALSE])
  }))
}

# f(variables), a matrix with a row for each of the variables', for rows as `learned` has them.
combined <- function(learned, f) {
  if (is.matrix(learned)) f(learned) else as.matrix(learned$combine %*% f(learned$variables))
}

# The rows with their columns at these values, list by label of parameters by name.
settled_rows <- function(fit, rows, values) {
  for (basis in learned_in(fit, rows)) {
    own <- values[[basis$label]]
    left <- NULL
    rows$x[, columns_of(list(basis))] <- combined(rows$learned[[basis$label]], function(variables) {
      columns <- basis_at(basis, variables, own)
      left <<- attr(columns, "left_over")
      columns
    })
    if (is.matrix(rows$learned[[basis$label]])) rows$left_over <- cbind(rows$left_over, left)
  }
  rows$learned <- NULL
  rows
}

# The learned bases whose variables the rows have.
learned_in <- function(fit, rows) {
  Filter(function(basis) !is.null(rows$learned[[basis$label]]), learned_bases(fit))
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
learned_linear <- function(posterior, fit, rows, sd) UseMethod("learned_linear")

# Known values.
#' @export
learned_linear.default <- function(posterior, fit, rows, sd) {
  values <- learned_values(fit, function(block, k) sqrt(block$hyper[["mean"]]))
  posterior_linear(fit, settled_rows(fit, rows, values), sd)
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
  out <- list(mean = numeric(nrow(rows$x)), sd = if (sd) numeric(nrow(rows$x)))
  in_row_chunks(posterior, rows, function(at, part) {
    draws <- linear_draws(fit, part)
    out$mean[at] <<- rowMeans(draws)
    if (sd) out$sd[at] <<- sqrt(row_variances(draws))
  })
  out
}

# The fitted link of all rows of a frame.
learned_link <- function(fit, frame) {
  of <- function(rows) {
    mean <- posterior_linear(fit, rows[c("x", "groups", "learned")], sd = FALSE)$mean
    if (is.null(rows$offset)) mean else mean + rows$offset
  }
  link <- of(frame)
  if (!is.null(frame$absent)) link <- merge_rows(link, of(frame$absent), frame$absent)
  stats::setNames(link, names(fit$link))
}

# linear_draws() of such rows. Draws of a parameter hardly ever repeat, so the columns are made anew
# for each.
learned_draws <- function(fit, rows) {
  values <- learned_values(fit, function(block, k) sqrt(block_variances(fit, k)))
  known <- rows
  known$learned <- NULL
  known$x[, learned_columns(fit)] <- 0
  out <- linear_draws(fit, known)
  for (basis in learned_in(fit, rows)) {
    own <- rows$learned[[basis$label]]
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
