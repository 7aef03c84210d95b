# Sparse matrices: what goes to the core as columns of one, and designs that are one.

# ---- to the core --------------------------------------------------------------------------

# The multipliers of several grouping factors: a column for each effect of each level, factor by
# factor. Every row of a level has an entry in each of its columns, zeros too.
sparse_effects <- function(groups) {
  parts <- unname(lapply(groups, sparse_factor))
  join_sparse(parts, lengths(lapply(groups, `[[`, "levels"), use.names = FALSE),
              lengths(lapply(groups, `[[`, "labels"), use.names = FALSE))
}

join_sparse <- function(parts, levels, effects) {
  counts <- unlist(lapply(parts, `[[`, "counts"))
  list(i = unlist(lapply(parts, `[[`, "i")), p = c(0L, cumsum(counts)),
       x = unlist(lapply(parts, `[[`, "x")), n_columns = length(counts), levels = levels,
       effects = effects)
}

# list(i, x, counts): rows (from 0) and values column by column, and entries in each column.
sparse_factor <- function(group) {
  q <- length(group$labels)
  rows <- order(group$codes)
  size <- tabulate(group$codes, length(group$levels))
  if (q == 1L) {
    return(list(i = rows - 1L, x = if (is.null(group$z)) rep(1, length(rows)) else group$z[rows],
                counts = size))
  }
  at <- level_blocks(size, q)
  list(i = rows[at$row] - 1L, x = group$z[cbind(rows[at$row], at$effect)],
       counts = rep(size, each = q))
}

# Levels of these sizes one after the other, each repeated for its q effects: places among the rows
# in order of levels, and effects.
level_blocks <- function(size, q) {
  start <- rep(cumsum(size) - size, each = q)
  length <- rep(size, each = q)
  list(row = sequence(length, from = start + 1L),
       effect = rep(rep(seq_len(q), times = length(size)), times = length))
}

# The effects of the grouping factors, then the sparse predictors: each of their blocks is one more
# term, with a level for each column.
sparse_predictors <- function(frame, design, blocks) {
  columns <- design$sparse
  x <- centred_sparse(frame$x[, columns - frame$implicit, drop = FALSE], design$center[columns])
  counts <- diff(x@p)
  predictors <- list(i = x@i, x = x@x / rep(design$scale[columns], counts), counts = counts)
  join_sparse(c(unname(lapply(frame$groups, sparse_factor)), list(predictors)),
              c(lengths(lapply(frame$groups, `[[`, "levels"), use.names = FALSE),
                lengths(lapply(blocks, `[[`, "columns"))),
              c(lengths(lapply(frame$groups, `[[`, "labels"), use.names = FALSE),
                rep(1L, length(blocks))))
}

# ---- sparse designs -----------------------------------------------------------------------

is_sparse <- function(x) isS4(x)

# A dgCMatrix of any sparse matrix of package Matrix; a dense one as R's own.
as_sparse <- function(x) {
  need_matrix("A sparse matrix")
  valid <- tryCatch(methods::validObject(x, test = TRUE), error = conditionMessage)
  if (!isTRUE(valid)) {
    abort("predictors", "The matrix of package Matrix is damaged: ", valid[1L], ". Make it anew, ",
          "as with Matrix::sparseMatrix().")
  }
  if (!methods::is(x, "sparseMatrix")) return(as.matrix(x))
  if (methods::is(x, "dgCMatrix")) return(x)
  x <- methods::as(methods::as(x, "dMatrix"), "generalMatrix")
  methods::as(x, "CsparseMatrix")
}

need_matrix <- function(what) {
  if (!requireNamespace("Matrix", quietly = TRUE)) {
    abort("unsupported", what, " needs the package Matrix, which is not installed: ",
          "install.packages(\"Matrix\").")
  }
}

# The numbers that may be missing, infinite or of extreme size.
stored <- function(x) if (is_sparse(x)) x@x else x

# The columns of x, of a sparse one only those in which a number is not finite.
looked_at_columns <- function(x) {
  at <- if (is_sparse(x)) unique(column_of(x)[!is.finite(x@x)]) else seq_len(ncol(x))
  stats::setNames(lapply(at, function(j) x[, j]), matrix_columns(x)[at])
}

# The column of each stored number.
column_of <- function(x) rep.int(seq_len(ncol(x)), diff(x@p))

# Dense designs of more cells than this are looked at, and made sparse if they are emptier.
sparse_cells <- 1e7
sparse_share <- 0.1

# The design of the formula's terms: list(x, assign, contrasts). It is sparse where a dense one
# would be large and mostly zeros, as with factors of very many levels.
design_matrix <- function(terms, columns, xlevels, contrasts) {
  may_be_large <- nrow(columns) * prod(lengths(xlevels)) > sparse_cells
  if (may_be_large) columns <- texts_to_factors(columns, xlevels)
  if (may_be_large && is_large_and_empty(terms, columns, contrasts)) {
    return(sparse_design(terms, columns, contrasts))
  }
  build_design(terms, columns, contrasts)
}

texts_to_factors <- function(columns, xlevels) {
  for (name in names(xlevels)) {
    if (is.character(columns[[name]])) {
      columns[[name]] <- factor(columns[[name]], levels = xlevels[[name]])
    }
  }
  columns
}

# Judged by some of the rows.
is_large_and_empty <- function(terms, columns, contrasts) {
  n <- nrow(columns)
  p <- ncol(build_design(terms, some_rows(columns, 1L), contrasts)$x)
  if (as.numeric(n) * p <= sparse_cells) return(FALSE)
  if (!requireNamespace("Matrix", quietly = TRUE)) return(FALSE)
  taken <- unique(round(seq(1, n, length.out = max(2, min(200, 1e6 / p)))))
  mean(build_design(terms, some_rows(columns, taken), contrasts)$x != 0) < sparse_share
}

# Rows of a model frame.
some_rows <- function(columns, rows) {
  structure(columns[rows, , drop = FALSE], terms = attr(columns, "terms"))
}

# Names, terms and contrasts are those of the first row's dense design. A row with a missing value
# is NA in the first column.
sparse_design <- function(terms, columns, contrasts) {
  design <- build_design(terms, some_rows(columns, 1L), contrasts)
  names <- colnames(design$x)
  design$x <- tryCatch(
    Matrix::sparse.model.matrix(terms, columns, contrasts.arg = contrasts, row.names = FALSE),
    error = function(e) {
      abort("predictors", "The sparse design matrix can't be built: ", conditionMessage(e), ".")
    }
  )
  attributes(design$x)[c("assign", "contrasts")] <- NULL
  dimnames(design$x) <- list(NULL, names)
  incomplete <- !complete_cases(columns)
  if (any(incomplete)) design$x[incomplete, 1L] <- NA
  design
}

# Which blocks go to the core as sparse columns: not the intercept's, none that is small, and none
# that is fuller than this.
full_share <- 0.25

sparse_blocks <- function(frame, blocks) {
  if (!is_sparse(frame$x)) return(logical(length(blocks)))
  counts <- c(if (frame$implicit) frame$nobs, diff(frame$x@p))
  vapply(blocks, function(block) {
    !frame$intercept %in% block$columns && !is_small_block(block, frame$nobs) &&
      sum(counts[block$columns]) < full_share * frame$nobs * length(block$columns)
  }, TRUE)
}

# Those of these columns of a sparse design that are fuller than that themselves.
full_columns <- function(frame, columns) {
  if (length(columns) == 0L) return(columns)
  columns[diff(frame$x@p)[columns - frame$implicit] >= full_share * frame$nobs]
}

# Columns of a sparse matrix less `times` (of the rows) their centers. Columns whose center is not
# zero are filled.
centred_sparse <- function(x, center, times = rep(1, nrow(x))) {
  at <- which(center != 0)
  if (length(at) > 0L) x[, at] <- as.matrix(x[, at, drop = FALSE]) - outer(times, center[at])
  x
}

# For sparse columns what column_moments() gives: list(mean, sd), vectors.
sparse_moments <- function(x, weights) {
  unit <- column_units(x)
  at <- column_of(x)
  value <- x@x / unit[at]
  w <- if (is.null(weights)) rep(1, nrow(x)) else weights
  wx <- w[x@i + 1L]
  sums <- function(v) column_sums(v, at, ncol(x))
  mean <- sums(wx * value) / sum(w)
  squares <- sums(wx * (value - mean[at])^2) + (sum(w) - sums(wx)) * mean^2
  sd <- sqrt(pmax(squares, 0) / (sum(w) - 1))
  sd[is_constant(x)] <- 0
  list(mean = mean * unit, sd = sd * unit)
}

column_sums <- function(v, at, p) {
  sums <- numeric(p)
  found <- rowsum(v, at, reorder = FALSE)
  sums[as.integer(rownames(found))] <- found
  sums
}

# Powers of two that bring columns of extreme size near 1, as in column_moments().
column_units <- function(x) {
  size <- abs(x@x)
  if (length(size) == 0L || (max(size) < 1e100 && min(size[size > 0], 1) > 1e-100)) {
    return(rep(1, ncol(x)))
  }
  largest <- largest_of_columns(x)
  ifelse(largest > 0, 2^floor(log2(largest)), 1)
}

largest_of_columns <- function(x) {
  largest <- numeric(ncol(x))
  order <- order(column_of(x), abs(x@x))
  last <- cumsum(diff(x@p))
  some <- diff(x@p) > 0L
  largest[some] <- abs(x@x[order])[last[some]]
  largest
}

# Empty columns, and full ones of one value.
is_constant <- function(x) {
  counts <- diff(x@p)
  constant <- counts == 0L
  for (j in which(counts == nrow(x))) {
    values <- x@x[x@p[j] + seq_len(counts[j])]
    constant[j] <- min(values) == max(values)
  }
  constant
}
