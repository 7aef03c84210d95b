# Missing and infinite values. `columns` is a list or data frame of the fit's variables;
# "(weights)" and "(offset)" are among them under these names.

# The model frame without missing values: na.fail refuses them with a count, other actions are
# applied. Infinite values are refused under any. `complete`: names of columns whose missing values no
# rule models.
settle_missing <- function(columns, na.action, matrix = FALSE, complete = NULL) {
  action <- as_na_action(na.action)
  counts <- count_bad_columns(columns)
  if (is.null(counts)) return(columns)
  if (!is.null(action) && any(counts[, c("NA", "NaN")] > 0)) {
    columns <- action(columns)
    if (nrow(columns) == 0L) abort("data", "`na.action` leaves no rows: each has a missing value.")
    counts <- count_bad_columns(columns)
    if (is.null(counts)) return(columns)
  }
  refuse_bad(counts, nrow(columns), matrix, complete)
}

# NULL for those that keep missing values: na.fail, na.pass, NULL.
as_na_action <- function(na.action) {
  if (is.null(na.action)) return(NULL)
  action <- na.action
  if (is.character(action) && length(action) == 1L) action <- get0(action, mode = "function")
  if (!is.function(action)) {
    abort("argument", "`na.action` must be a function such as na.omit; found ",
          describe(na.action), ".")
  }
  if (identical(action, stats::na.fail) || identical(action, stats::na.pass)) return(NULL)
  action
}

# A row a column that has any, with counts of NA, NaN, Inf and as attributes the number of rows with
# NA or NaN, and whether the response of a model frame is one; NULL if there is none.
count_bad_columns <- function(columns) {
  bad <- vapply(columns, has_bad, TRUE)
  if (!any(bad)) return(NULL)
  counts <- t(vapply(columns[bad], count_bad, c(`NA` = 0, `NaN` = 0, `Inf` = 0)))
  incomplete <- Reduce(`|`, lapply(columns[bad], incomplete_rows))
  response <- attr(attr(columns, "terms"), "response")
  structure(counts, rows = sum(incomplete), response = isTRUE(response > 0L) && bad[[response]])
}

# A finite sum of doubles needs no second look.
has_bad <- function(column) {
  if (!is.double(column) || is.object(column)) return(anyNA(column))
  !is.finite(sum(column)) && !all(is.finite(column))
}

count_bad <- function(column) {
  if (!is.double(column)) return(c(`NA` = sum(is.na(column)), `NaN` = 0, `Inf` = 0))
  c(`NA` = sum(is.na(column) & !is.nan(column)), `NaN` = sum(is.nan(column)),
    `Inf` = sum(is.infinite(column)))
}

# As stats::complete.cases(), which refuses columns of some types.
complete_cases <- function(columns) {
  if (length(columns) == 0L) return(rep(TRUE, NROW(columns)))
  !Reduce(`|`, lapply(columns, incomplete_rows))
}

incomplete_rows <- function(column) {
  missing <- is.na(column)
  if (is.matrix(missing)) rowSums(missing) > 0 else as.vector(missing)
}

refuse_bad <- function(counts, n, matrix, complete) {
  absent <- rownames(counts)[counts[, "NA"] + counts[, "NaN"] > 0]
  if (length(absent) > 0L) {
    modelled <- !attr(counts, "response") && !any(absent %in% complete)
    refuse_missing(counts, n, bad_class(absent, "missing"), modelled)
  }
  refuse_infinite(counts, bad_class(rownames(counts), "predictors"), matrix)
}

# The class of the error: weights and offset have their own, if nothing else is at fault.
bad_class <- function(names, other) {
  kinds <- ifelse(names == "(weights)", "weights",
                  ifelse(names == "(offset)" | startsWith(names, "offset("), "offset", other))
  if (other %in% kinds) other else kinds[1L]
}

refuse_missing <- function(counts, n, class, modelled) {
  abort(class, "Missing values in ", attr(counts, "rows"), " of ", n, " rows: ",
        count_text(counts), ". ",
        if (modelled) "`missing = missing_normal()` models missing predictors; ",
        "`missing_omit()`, or `na.action = na.omit` (`na.exclude`), excludes these rows.")
}

refuse_infinite <- function(counts, class, matrix, where = "with `subset`") {
  abort(class, "Infinite values: ", count_text(counts), ". No `na.action` excludes them; ",
        "replace them, or exclude their rows",
        if (matrix) " from `x` and `y`." else paste0(" ", where, "."))
}

count_text <- function(counts) {
  text <- apply(counts, 1L, function(n) paste(n[n > 0], colnames(counts)[n > 0], collapse = ", "))
  enumerate(paste0("`", rownames(counts), "` has ", text), "")
}
