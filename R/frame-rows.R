# Rows of weight zero, and where each row of the fit stood. Positions count the rows after `subset`.

# list(na.action, at, all): which positions were left out for missing values; where, among the
# rows that are left, those of weight zero stand; row numbers of all that are left (NULL: all).
place_rows <- function(rows, na.action) {
  if (length(rows$zero) == 0L) return(list(na.action = na.action))
  position <- which(!rows$all %in% rows$zero)
  if (!is.null(na.action)) {
    na.action <- structure(position[na.action], names = names(na.action),
                           class = class(na.action))
  }
  left <- setdiff(seq_along(rows$all), na.action)
  list(na.action = na.action, at = which(rows$all[left] %in% rows$zero), all = rows$all[left],
       zero = rows$zero)
}

# Names of all rows of the fit, NULL if the data have none but numbers.
final_names <- function(columns, data, places) {
  if (!has_row_names(data)) return(NULL)
  if (is.null(places$all)) row.names(columns) else make.unique(row.names(data)[places$all])
}

has_row_names <- function(data) is.data.frame(data) && .row_names_info(data) > 0L

# Design, groups and offset of rows that were left out of the fit, by the route of new data. What
# can't be placed (an unseen factor level) is NA; an unseen group has code 0.
absent_rows <- function(frame, parts, data, given, places) {
  data <- raw_rows(variables_in(parts$frame), formula_environment(parts$frame), data, places$zero,
                   length(given$weights))
  frame$sparse <- is_sparse(frame$x)
  design <- design_rows(frame, data, unknown = "missing")
  response <- evaluate_response(parts, data)
  offset <- design$offset
  if (!is.null(given$offset)) offset <- sum_offsets(offset, given$offset[places$zero])
  list(at = places$at, y = recode_values(frame$response, response), x = design$x,
       groups = design$groups, offset = offset, made = design$made,
       scale_columns = design$scale_columns)
}

# Some rows (NULL: all) of the data, and of the variables that lie elsewhere (from `from` on); `n`
# is the number of rows before. What has not an element a row is a constant and stays where it is.
raw_rows <- function(variables, from, data, rows, n) {
  frame <- if (is.data.frame(data)) as.data.frame(data) else list2DF(nrow = n)
  if (!is.environment(data)) data <- as.list(data)
  for (name in setdiff(variables, names(frame))) {
    value <- eval(call("get0", name), data, from)
    if (NROW(value) == n && !is.function(value)) frame[[name]] <- value
  }
  if (is.null(rows)) frame else frame[rows, , drop = FALSE]
}

sum_offsets <- function(a, b) {
  if (is.null(a)) b else if (is.null(b)) a else a + b
}

# Values of the rows in the fit and of the absent ones, in the order of the data.
merge_rows <- function(used, absent_values, absent) {
  if (is.null(absent)) return(used)
  all <- numeric(length(used) + length(absent$at))
  all[absent$at] <- absent_values
  all[-absent$at] <- used
  all
}
