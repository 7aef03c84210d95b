# The covariates of a Gaussian-process term as numbers.

# list(x, of): numbers (n x d), and the covariate each column belongs to. A factor has a column for
# each level.
gp_numbers <- function(columns, xlevels) {
  parts <- Map(function(column, name) {
    if (is.character(column)) column <- factor(column, levels = xlevels[[name]])
    if (is.factor(column)) return(outer(as.integer(column), seq_along(levels(column)), `==`) + 0)
    if (is.numeric(column) || is.logical(column)) return(unclass(column))
    abort("predictors", "`", name, "` in a Gaussian-process term must be numbers, logical or a ",
          "factor; found ", describe(column), ".",
          if (inherits(column, c("Date", "POSIXct", "difftime"))) {
            paste0(" Write gp(as.numeric(", name, ")).")
          })
  }, columns, names(columns))
  x <- do.call(cbind, parts)
  dimnames(x) <- NULL
  storage.mode(x) <- "double"
  list(x = x, of = rep(seq_along(parts), vapply(parts, NCOL, 0L)))
}

check_gp_numbers <- function(x, label, variables) {
  if (anyNA(x)) {
    abort("missing", "`", label, "` has missing values of its variables, which are not modelled ",
          "in a Gaussian-process term. Use `na.action = na.omit` to exclude these rows, or imputed ",
          "values.")
  }
  if (!has_infinite(x)) return(invisible())
  abort("predictors", "`", label, "` has infinite values of ", enumerate(variables), ".")
}

# What the function is multiplied by, or the factor each level of which has a function.
check_gp_by <- function(column, label, by) {
  if (anyNA(column)) {
    abort("missing", "`", label, "`: `", by, "` has missing values, which are not modelled in a ",
          "Gaussian-process term. Use `na.action = na.omit` to exclude these rows, or imputed values.")
  }
  if (!is.numeric(column) || all(is.finite(column))) return(invisible())
  abort("predictors", "`", label, "` has infinite values of `", by, "`.")
}

coordinates <- c("lon", "lat", "long", "lng", "longitude", "latitude", "easting", "northing")

# A variable of its own has a scale of its own; the columns of a matrix, and the coordinates of a map
# by their names, have one together, which leaves distances in proportion. Columns are looked at one
# after the other: copies of all of them would be the most memory that a fit to many rows takes.
gp_scaling <- function(raw, weights, standardize, variables) {
  if (is.null(weights)) weights <- rep(1, nrow(raw$x))
  moments <- vapply(seq_len(ncol(raw$x)), function(j) {
    center <- sum(raw$x[, j] * weights) / sum(weights)
    c(center, sum((raw$x[, j] - center)^2 * weights) / max(sum(weights) - 1, 1))
  }, numeric(2))
  center <- moments[1L, ]
  variance <- moments[2L, ]
  together <- raw$of
  together[tolower(variables[together]) %in% coordinates] <- 0L
  scale <- sqrt(stats::ave(variance, together))
  constant <- !(scale > 1e-10 * abs(center))
  if (all(constant)) {
    one <- length(variables) == 1L
    abort("predictors", if (one) "The variable " else "The variables ", enumerate(variables),
          " of a Gaussian-process term ", if (one) "does" else "do", " not vary among the rows of ",
          "the fit. Leave the term out.")
  }
  scale[constant] <- 1
  if (!standardize) return(list(center = 0 * center, scale = 0 * scale + 1, of = raw$of))
  list(center = center, scale = scale, of = raw$of)
}

gp_inputs <- function(x, inputs) {
  for (j in seq_len(ncol(x))) x[, j] <- (x[, j] - inputs$center[[j]]) / inputs$scale[[j]]
  x
}

# The levels of a factor `by`, each of which has a function of its own; else list(NULL).
gp_levels <- function(by, columns) {
  column <- if (!is.null(by)) columns[[by]]
  if (is.character(column)) column <- factor(column)
  if (is.factor(column)) return(as.list(levels(column)))
  if (!is.null(column) && !is.numeric(column) && !is.logical(column)) {
    abort("formula", "`by` of a Gaussian-process term must be numbers or a factor; found ",
          describe(column), ".")
  }
  list(NULL)
}

# The root mean square of numbers in `by`, rows counted by their weights; 1 for a factor, and of what
# is not to be standardised.
gp_by_size <- function(by, columns, settings) {
  column <- if (!is.null(by)) columns[[by]]
  if (!is.numeric(column) && !is.logical(column)) return(1)
  size <- root_mean_square(as.double(column), columns[["(weights)"]])
  if (size == 0) {
    abort("formula", "`", settings$label, "`: `", by, "` is zero in all rows of the fit, so that the ",
          "term is zero. Leave the term out.")
  }
  if (settings$standardize) size else 1
}

# What the function is multiplied by in each row; NULL for nothing.
gp_multiplier <- function(basis, columns) {
  if (is.null(basis$by)) return(NULL)
  column <- columns[[basis$by]]
  if (is.null(basis$level)) return(as.double(column) / basis$by_size)
  as.double(as.character(column) == basis$level)
}

# The same where `by` is one.
multiplier_at_one <- function(basis, n) {
  if (!is.null(basis$by)) rep(1 / basis$by_size, n)
}
