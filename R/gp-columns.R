# Columns of Gaussian-process terms: features given the inducing inputs (R/gp.R), for rows of the fit
# and new ones, and what else every basis says.

# (n x m) of standardised inputs (n x d), with the attribute `left_over`: the shares of each part's
# variance (n x parts) that inducing inputs leave over; NULL of a relevance vector machine. Where all
# rows of the fit are inducing inputs, new ones far from them have some all the same.
# `values` are those of what is inferred of the kernel (R/gp-infer.R).
gp_columns <- function(basis, rows, multiplier, values = NULL) {
  parts <- lapply(basis$parts, function(part) {
    theta <- gp_theta(part, values)
    if (!has_relevance(basis)) return(core_features_of(part$factors, rows, part$points, theta))
    list(features = core_kernel(part$factors, rows, part$points, theta))
  })
  left <- do.call(cbind, lapply(parts, `[[`, "left_over"))
  if (!is.null(left)) colnames(left) <- names(basis$blocks)
  features <- lapply(parts, `[[`, "features")
  rm(parts) # no copy of what may be large
  out <- if (length(features) == 1L) features[[1L]] else do.call(cbind, features)
  rm(features)
  if (!is.null(multiplier)) {
    out <- out * multiplier
    if (!is.null(left)) left <- left * multiplier^2
  }
  attr(out, "left_over") <- left
  out
}

#' @export
new_basis.bsvm_basis_gp <- function(basis, terms, newdata, unknown) {
  gp_matrix(basis, gp_new_columns(basis, terms, newdata, unknown))
}

gp_new_columns <- function(basis, terms, newdata, unknown) {
  expression <- basis$expression
  environment(expression$terms) <- environment(terms)
  columns <- new_columns(expression$terms, newdata, unknown)
  columns <- match_factors(columns, expression$xlevels, unknown)
  check_classes(expression$terms, columns)
  columns
}

# Rows with a missing or infinite value are NA.
gp_matrix <- function(basis, columns) {
  raw <- gp_numbers(columns[basis$covariates], basis$expression$xlevels)$x
  multiplier <- gp_multiplier(basis, columns)
  complete <- rowSums(!is.finite(cbind(raw, multiplier))) == 0
  m <- sum(vapply(basis$parts, function(part) nrow(part$points), 0L))
  if (length(basis$parts) == 0L) m <- length(basis$columns)
  out <- matrix(NA_real_, nrow(raw), m)
  if (length(basis$parts) == 0L) {
    out[complete, ] <- 0
    return(out)
  }
  left <- matrix(NA_real_, nrow(raw), length(basis$blocks),
                 dimnames = list(NULL, names(basis$blocks)))
  if (any(complete)) {
    columns <- gp_columns(basis, gp_inputs(raw[complete, , drop = FALSE], basis$inputs),
                          multiplier[complete])
    out[complete, ] <- columns
    if (!has_relevance(basis)) left[complete, ] <- attr(columns, "left_over")
  }
  if (has_relevance(basis)) out else structure(out, left_over = left)
}

#' @export
basis_prior.bsvm_basis_gp <- function(basis) {
  prior_ridge(variance = prior_half_t(3, 2.5 * if (is.null(basis$unit)) 1 else basis$unit))
}

# "gp(x, by = f):fa", the term as written, and "gp" for all such terms.
#' @export
basis_prior_names.bsvm_basis_gp <- function(basis) {
  unique(c(basis$label, written_label(basis), "gp"))
}

# The label of its term, whatever the level of a factor `by`.
written_label <- function(basis) {
  if (is.null(basis$level)) return(basis$label)
  substr(basis$label, 1L, nchar(basis$label) - nchar(paste0(":", basis$by, basis$level)))
}

#' @export
basis_ranges.bsvm_basis_gp <- function(basis) basis$ranges

#' @export
basis_grid.bsvm_basis_gp <- function(basis, grid) {
  if (!is.null(basis$by)) {
    grid[[basis$by]] <- if (is.null(basis$level)) 1 else basis$level
  }
  gp_matrix(basis, grid)
}
