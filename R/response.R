# The response coded as -1 and +1: list(y, levels = c(negative, positive), type). `y` has no
# missing values; `name` is what the user calls it.
code_response <- function(y, drop_unused = TRUE, name = "y") {
  if (is.character(y) && is.null(dim(y))) y <- as_two_classes(y, name)
  type <- response_type(y)
  levels <- switch(type, factor = factor_levels(y, drop_unused), logical = c("FALSE", "TRUE"),
                   zero_one = c("0", "1"), plus_minus = c("-1", "1"))
  if (length(levels) > 2L) refuse_classes(levels, name)
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

# Text of two values is a factor of these; of more it is hardly meant as classes.
as_two_classes <- function(y, name) {
  values <- unique(as.vector(y))
  if (length(values) > 2L) refuse_classes(sort(values), name)
  factor(as.vector(y))
}

response_type <- function(y) {
  if (length(dim(y)) > 1L && ncol(y) == 2L && is.numeric(y)) refuse_counts(y)
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
  if (anyNA(levels)) {
    of_missing <- sum(is.na(levels)[y])
    if (of_missing > 0L) refuse_missing_level(of_missing)
    levels <- levels[!is.na(levels)]
    y <- factor(y, levels)
  }
  if (!drop_unused) return(levels)
  levels[tabulate(y, length(levels)) > 0L]
}

refuse_missing_level <- function(n) {
  abort("response", "The response is a factor with a level `NA`, which ", n, " row",
        if (n > 1L) "s have" else " has", "; `NA` is no class. Use factor(), which turns the ",
        "level into missing values, and `na.action = na.omit` to leave these rows out.")
}

refuse_counts <- function(y) {
  abort("response", "The response must have one column; found ", describe(y), ", as ",
        "cbind(successes, failures) makes it. Use a response with a row for each class and the ",
        "counts as `weights`: y = rep(c(1, 0), each = ", nrow(y), "), weights = c(successes, ",
        "failures), with the other variables twice.")
}

describe_values <- function(y) {
  values <- unique(y)
  paste0(describe(y), " with the value", if (length(values) > 1L) "s", " ",
         enumerate(format(utils::head(values, 20L), trim = TRUE), "", 5L),
         if (length(values) > 20L) ", among others")
}

refuse_response <- function(found) {
  abort("response", "The response must be a factor with two levels, text of two values, logical, ",
        "0/1 or -1/+1; found ", found, ". Use factor() to turn two values, such as 1 and 2, into ",
        "a factor; its second level is the class +1.")
}

refuse_classes <- function(levels, name) {
  abort("response", "The response must have two classes; found ", length(levels), ": ",
        enumerate(levels, "'"), ". To fit one against the rest by hand, use a logical response ",
        "such as `I(", name, " == \"", levels[1L], "\")`, class by class.")
}

refuse_one_class <- function(y) {
  values <- unique(as.character(y))
  abort("response", "The response must have rows in both classes; ",
        if (length(y) == 1L) "the one row" else paste("all", length(y), "rows"),
        " in the fit ", if (length(y) == 1L) "is" else "are", " of class '", values, "'.")
}
