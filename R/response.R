# The response coded as -1 and +1: list(y, levels = c(negative, positive), type). `y` has no
# missing values.
code_response <- function(y, drop_unused = TRUE) {
  type <- response_type(y)
  levels <- switch(type, factor = factor_levels(y, drop_unused), logical = c("FALSE", "TRUE"),
                   zero_one = c("0", "1"), plus_minus = c("-1", "1"))
  if (length(levels) > 2L) refuse_classes(levels)
  coded <- if (type == "factor") as.double(match(levels(y), levels)[y]) * 2 - 3
           else if (type == "plus_minus") as.double(y) else as.double(y) * 2 - 1
  n_positive <- sum(coded > 0)
  if (length(levels) < 2L || n_positive == 0 || n_positive == length(coded)) refuse_one_class(y)
  list(y = as.vector(coded), levels = levels, type = type)
}

# Rows that took no part in choosing the levels: NA where the value is neither class.
recode_response <- function(y, levels) {
  match(as.character(y), levels) * 2 - 3
}

response_type <- function(y) {
  if (!is.null(dim(y)) && length(dim(y)) > 1L) refuse_response(describe(y))
  if (is.factor(y)) return("factor")
  if (is.logical(y)) return("logical")
  if (inherits(y, "AsIs")) y <- unclass(y)
  if (!is.numeric(y) || is.object(y)) refuse_response(describe_values(y))
  if (all(y == 1 | y == 0)) return("zero_one")
  if (all(y == 1 | y == -1)) return("plus_minus")
  refuse_response(describe_values(y))
}

factor_levels <- function(y, drop_unused) {
  levels <- levels(y)
  if (!drop_unused) return(levels)
  levels[tabulate(y, length(levels)) > 0L]
}

describe_values <- function(y) {
  values <- unique(y)
  paste0(describe(y), " with the value", if (length(values) > 1L) "s", " ",
         enumerate(format(utils::head(values, 20L), trim = TRUE), "", 5L),
         if (length(values) > 20L) ", among others")
}

refuse_response <- function(found) {
  abort("response", "The response must be a factor with two levels, logical, 0/1 or -1/+1; ",
        "found ", found, ". Use factor() to turn two values into a factor; ",
        "its second level is the class +1.")
}

refuse_classes <- function(levels) {
  abort("response", "The response must have two classes; found ", length(levels), ": ",
        enumerate(levels, "'"), ". To fit one against the rest by hand, use a logical response ",
        "such as `I(y == \"", levels[1L], "\")`, class by class.")
}

refuse_one_class <- function(y) {
  values <- unique(as.character(y))
  abort("response", "The response must have rows in both classes; ",
        if (length(y) == 1L) "the one row" else paste("all", length(y), "rows"),
        " in the fit ", if (length(y) == 1L) "is" else "are", " of class '", values, "'.")
}
