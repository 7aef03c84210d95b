# The model matrix of the terms, list(x, assign, contrasts): x without row names.
build_design <- function(terms, columns, contrasts = NULL) {
  texts <- vapply(columns, is.character, TRUE)
  columns[texts] <- lapply(columns[texts], factor)
  n <- nrow(columns)
  x <- NULL
  for (first in seq(1, max(n, 1), by = piece_rows)) {
    rows <- first - 1 + seq_len(min(piece_rows, n - first + 1))
    piece <- model_matrix(terms, if (n > piece_rows) some_rows(columns, rows) else columns,
                          contrasts)
    if (is.null(x)) x <- matrix(0, n, ncol(piece), dimnames = list(NULL, colnames(piece)))
    x[rows, ] <- piece
  }
  list(x = x, assign = attr(piece, "assign"), contrasts = attr(piece, "contrasts"))
}

# stats::model.matrix() makes a name for each row, which takes more memory than most designs, and
# a copy: it is given so many rows at a time. All pieces have the levels of all rows.
piece_rows <- 50000

model_matrix <- function(terms, columns, contrasts) {
  tryCatch(
    stats::model.matrix(terms, columns, contrasts.arg = contrasts),
    error = function(e) {
      abort("predictors", "The design matrix can't be built: ", conditionMessage(e), ".")
    }
  )
}

# Terms with what model.frame() found about their variables (the knots of a spline, say), so
# that new data get the same columns. Such terms carry no environment of their own.
with_predvars <- function(terms, frame_terms) {
  names <- vapply(as.list(attr(terms, "variables"))[-1L], text_of, "")
  known <- vapply(as.list(attr(frame_terms, "variables"))[-1L], text_of, "")
  attr(terms, "predvars") <- attr(frame_terms, "predvars")[c(1L, match(names, known) + 1L)]
  attr(terms, "dataClasses") <- attr(frame_terms, "dataClasses")[names]
  terms
}

check_levels <- function(xlevels) {
  single <- names(xlevels)[lengths(xlevels) < 2L]
  if (length(single) > 0L) {
    abort("predictors", "A factor must have at least two levels among the rows of the fit; ",
          enumerate(single), if (length(single) == 1L) " has" else " have",
          " one. Leave it out of the formula.")
  }
}

# Numbers whose squares doubles can't hold. Interactions may have made them, so the matrix is
# checked. Columns are looked at one by one only if need be: each look is a copy.
# `absent`: may values be missing?
check_magnitudes <- function(x, names = colnames(x), absent = FALSE) {
  if (length(stored(x)) == 0L) return(invisible())
  looked_at <- if (is_sparse(x)) seq_len(ncol(x)) else suspect_columns(x, absent)
  largest <- if (is_sparse(x)) largest_of_columns(x)
             else vapply(looked_at, function(j) largest_size(x[, j], absent), 0)
  bad <- !(largest <= 1e150) | (largest < 1e-150 & largest > 0)
  if (any(bad)) {
    found <- paste0(names[looked_at[bad]], ": ", format(largest[bad], digits = 3L))
    abort("predictors", "Predictors must be 0 or between 1e-150 and 1e150 in size; ",
          enumerate(found, ""), ". Rescale them.")
  }
}

suspect_columns <- function(x, absent) {
  if (!isTRUE(largest_size(x, absent) <= 1e150)) return(seq_len(ncol(x)))
  which(abs(colSums(x, na.rm = absent)) <= 1e-150 * nrow(x))
}

# range() would copy. It is 0 if all values are missing.
largest_size <- function(x, absent = FALSE) {
  if (!absent) return(max(max(x), -min(x)))
  suppressWarnings(max(max(x, na.rm = TRUE), -min(x, na.rm = TRUE), 0))
}

# Where the fit's own columns come from: list(center, scale), each of length p. Columns that are
# `scaled` (logical, p) are divided by their weighted standard deviation (divisor sum(w) - 1, so
# that weight 2 is the row twice). If `centre`, and there is an intercept to take it up, all columns
# are centred at their weighted means: a prior on the intercept then speaks of the linear predictor
# at the predictors' means, and not of one that may lie far beyond the data, where even a flat prior
# holds the intercept and the slopes with it. Of sparse columns only the full ones are centred:
# others would be filled, and their means are below their standard deviations (full_share).
column_scaling <- function(frame, scaled, sparse = NULL, centre = any(scaled)) {
  p <- length(frame$columns)
  scaling <- list(center = numeric(p), scale = rep(1, p))
  centred <- if (centre && frame$intercept > 0L) {
    setdiff(seq_len(p), c(frame$intercept, columns_of(learned_bases(frame))))
  }
  scaled <- setdiff(which(scaled), frame$intercept)
  if (length(scaled) > 0L) check_divisor(if (is_streamed(frame)) frame$cluster$weight
                                         else frame$weights)
  columns <- sort(union(centred, scaled))
  moments <- frame_moments(frame, columns)
  constant <- columns %in% scaled & moments$sd %in% 0
  scaling$scale[scaled] <- ifelse(constant, 1, moments$sd)[match(scaled, columns)]
  scaling$center[centred] <- moments$mean[match(centred, columns)]
  hollow <- setdiff(sparse, full_columns(frame, sparse))
  scaling$center[hollow] <- 0
  if (any(constant) && frame$intercept > 0L) warn_constant(frame, columns[constant])
  scaling
}

# list(mean, sd) of some of the user's columns; an implicit intercept is the first and not in x. Of
# columns that are made the basis has the means, and nobody asks for standard deviations.
frame_moments <- function(frame, columns) {
  if (is_streamed(frame)) return(lapply(frame$cluster$moments, `[`, columns))
  at <- columns - frame$implicit
  if (is_sparse(frame$x)) return(sparse_moments(frame$x[, at, drop = FALSE], frame$weights))
  means <- numeric(length(frame$columns))
  for (basis in Filter(Negate(is_learned), made_bases(frame))) means[basis$columns] <- basis$means
  moments <- vapply(at, function(j) {
    if (j > ncol(frame$x)) return(c(mean = means[[j + frame$implicit]], sd = NA_real_))
    unlist(column_moments(frame$x[, j], frame$weights))
  }, c(mean = 0, sd = 0))
  list(mean = moments["mean", ], sd = moments["sd", ])
}

check_divisor <- function(weights) {
  if (!is.null(weights) && sum(weights) <= 1) {
    abort("weights", "To standardise, the weights must sum to more than 1 (weight 2 counts as the ",
          "row twice); found ", format(sum(weights)), ". Rescale them, or use ",
          "`standardize = FALSE`.")
  }
}

warn_constant <- function(frame, at) {
  columns <- frame$columns[at]
  modelled <- !is.null(frame$unknowns) && any_absent(frame, at)
  warn("constant", if (length(columns) == 1L) "Column " else "Columns ", enumerate(columns),
       if (length(columns) == 1L) " does" else " do", " not vary among the rows of the fit; ",
       if (modelled) "where values are missing the coefficient rests on priors alone."
       else "the coefficient is shrunk to zero.")
}

# Do some of these columns have missing values in the rows of the fit?
any_absent <- function(frame, at) {
  if (!is_streamed(frame)) return(anyNA(frame$x[, at - frame$implicit]))
  facts <- frame$cluster$unknowns$facts[match(at, setdiff(seq_along(frame$columns), frame$intercept))]
  any(vapply(facts, function(one) one$absent > 0, TRUE))
}

# A power of two brings a column of extreme size near 1 first, so that nothing over- or underflows.
column_moments <- function(v, weights = NULL) {
  if (anyNA(v)) {
    weights <- weights[!is.na(v)]
    v <- v[!is.na(v)]
  }
  if (length(v) == 0L) return(list(mean = 0, sd = 0))
  if (min(v) == max(v)) return(list(mean = v[1L], sd = 0))
  unit <- size_unit(v)
  found <- sums_of_column(if (unit == 1) v else v / unit, weights)
  sd <- if (found$weight <= 1) NA_real_ # check_divisor() refuses to scale by it
        else sqrt(found$squares / (found$weight - 1))
  list(mean = found$mean * unit, sd = sd * unit)
}

# The power of two that brings numbers of extreme size near 1; else 1.
size_unit <- function(v) {
  unit <- 2^floor(log2(largest_size(v)))
  if (unit > 1e-100 && unit < 1e100 || unit == 0) 1 else unit
}

# list(weight, mean, squares, bounds) of a column: sums by leaves of rows, as those of rows in files.
sums_of_column <- function(v, weights = NULL) {
  core_moments_of(as.double(v), if (!is.null(weights)) as.double(weights))
}
