# Missing predictors of a fit: fit$missing, NULL where none are modelled, is list(rule, law, imputed,
# draws). `law` is design_law()'s with mean (k x d) and covariance (d x d) of the variables, which are
# (column - center) / scale; `imputed` list(row, variable, mean, sd) on the columns' own scale, rows
# those of the fit; `draws` entries x draws x chains, or NULL.

fit_missing <- function(frame, spec, result) {
  if (is.null(spec$law)) return(NULL)
  law <- c(spec$law, result$law[c("mean", "covariance")])
  law$probit <- named_probit(result$law$probit, law, law$mechanism)
  found <- result$imputed
  on_scale <- function(x, shift = 0) x * law$scale[found$variable] + shift
  center <- law$center[found$variable]
  list(rule = spec$missing, law = law,
       imputed = list(row = found$row, variable = found$variable,
                      mean = on_scale(found$mean, center), sd = on_scale(found$sd)),
       draws = if (!is.null(result$unknowns)) on_scale(result$unknowns, center))
}

# The design with imputed means where values are missing: of the fit's own rows.
fill_imputed <- function(x, missing, implicit = FALSE) {
  if (is.null(missing)) return(x)
  column <- missing$law$column[missing$imputed$variable]
  dense <- column > 0L
  x[cbind(missing$imputed$row[dense], column[dense] - implicit)] <- missing$imputed$mean[dense]
  x
}

# Rows as new_design() gives them, completed by what the imputation model says of their missing
# entries given those that are there, with rows$unknown, list(at, columns, covariance): what is left
# to be known, pattern by pattern. Nothing is said of a row that lacks what is not modelled.
complete_rows <- function(fit, rows, auxiliary = NULL) {
  law <- fit$missing$law
  if (is.null(law) || !anyNA(rows$x)) return(rows)
  dense <- law$column > 0L
  x <- matrix(NA_real_, nrow(rows$x), length(law$column))
  x[, dense] <- as.matrix(rows$x[, law$column[dense], drop = FALSE])
  if (!is.null(auxiliary)) x[, !dense] <- auxiliary[, law$variables[!dense]]
  x <- sweep(sweep(x, 2L, law$center), 2L, law$scale, "/")
  given <- given_columns(law, rows$x, auxiliary)
  mean <- given %*% law$mean
  absent <- is.na(x)
  able <- which(rowSums(absent[, dense, drop = FALSE]) > 0 & !is.na(mean[, 1L]))
  patterns <- split(able, apply(absent[able, , drop = FALSE], 1L, paste, collapse = ""))
  rows$unknown <- lapply(unname(patterns), function(at) {
    lost <- which(absent[at[1L], ])
    known <- setdiff(seq_len(ncol(x)), lost)
    of <- conditional_law(law$covariance, lost, known)
    expected <- mean[at, lost, drop = FALSE] +
      (x[at, known, drop = FALSE] - mean[at, known, drop = FALSE]) %*% of$regression
    used <- which(law$column[lost] > 0L)
    columns <- law$column[lost[used]]
    scale <- law$scale[lost[used]]
    rows$x[at, columns] <<- sweep(sweep(expected[, used, drop = FALSE], 2L, scale, "*"), 2L,
                                  law$center[lost[used]], "+")
    list(at = at, columns = columns,
         covariance = of$covariance[used, used, drop = FALSE] * outer(scale, scale))
  })
  rows
}

# What the variables are regressed on; an auxiliary dummy that is not there leaves a row unknown.
given_columns <- function(law, x, auxiliary) {
  columns <- lapply(seq_along(law$given), function(k) {
    at <- law$given_column[k]
    if (at == 0L) return(rep(1, nrow(x)))
    if (at > 0L) return(x[, at])
    if (is.null(auxiliary)) rep(NA_real_, nrow(x)) else auxiliary[, law$given[k]]
  })
  do.call(cbind, columns)
}

conditional_law <- function(covariance, lost, known) {
  own <- covariance[lost, lost, drop = FALSE]
  if (length(known) == 0L) return(list(regression = matrix(0, 0L, length(lost)), covariance = own))
  cross <- covariance[known, lost, drop = FALSE]
  regression <- solve(covariance[known, known, drop = FALSE], cross)
  list(regression = regression, covariance = own - crossprod(cross, regression))
}

# Variance of the rows' linear predictors from entries that are not known: E b_M' C b_M.
unknown_variance <- function(fit, rows) {
  out <- numeric(nrow(rows$x))
  if (length(rows$unknown) == 0L) return(out)
  moments <- posterior_coefficients(fit)
  covariance <- moments$covariance()
  if (anyNA(covariance)) covariance[] <- 0
  for (part in rows$unknown) {
    b <- moments$mean[part$columns]
    second <- tcrossprod(b) + covariance[part$columns, part$columns, drop = FALSE]
    out[part$at] <- sum(part$covariance * second)
  }
  out
}

# Auxiliary variables of new rows, NULL where they are not to be had: then they are unknown too.
new_auxiliary <- function(fit, newdata) {
  auxiliary <- fit$missing$rule$settings$auxiliary
  if (!inherits(auxiliary, "formula") || !is.data.frame(newdata)) return(NULL)
  if (!all(all.vars(auxiliary) %in% names(newdata))) return(NULL)
  auxiliary_matrix(auxiliary, newdata, NULL, NULL)
}

# Methods that would need the likelihood with missing predictors integrated out.
refuse_missing <- function(object, what) {
  if (is.null(object$missing)) return(invisible())
  abort("unsupported", what, " can't take a fit with a model of missing predictors (yet). ",
        "missing_omit() fits the complete rows.")
}
