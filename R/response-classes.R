# A response of two classes, coded as -1 and +1: list(levels = c(negative, positive), type), and
# `class_weights` if there are any.

#' @export
code_values.bsvm_response_classes <- function(response, values, drop_unused, name) {
  if (is.character(values) && is.null(dim(values))) values <- as_two_classes(values, name)
  type <- response_type(values)
  levels <- switch(type, factor = factor_levels(values, drop_unused),
                   logical = c("FALSE", "TRUE"), zero_one = c("0", "1"), plus_minus = c("-1", "1"))
  if (length(levels) > 2L) refuse_classes(levels, name)
  y <- if (type == "factor") as.double(match(levels(values), levels)[values]) * 2 - 3
       else if (type == "plus_minus") as.double(values) else as.double(values) * 2 - 1
  n_positive <- sum(y > 0)
  if (length(levels) < 2L || n_positive == 0 || n_positive == length(y)) refuse_one_class(values)
  list(y = as.vector(y), response = new_response("classes", levels = levels, type = type))
}

#' @export
recode_values.bsvm_response_classes <- function(response, values) {
  match(as.character(values), response$levels) * 2 - 3
}

#' @export
code_new_values.bsvm_response_classes <- function(response, values) {
  values <- as.character(values)
  y <- recode_values(response, values)
  unseen <- unique(values[is.na(y) & !is.na(values)])
  if (length(unseen) == 0L) return(y)
  abort("newdata", "The response in `newdata` must have the classes of the fit, ",
        enumerate(response$levels, "'"), "; found ", enumerate(unseen, "'"), ".")
}

#' @export
same_coding.bsvm_response_classes <- function(response, other) {
  identical(response$levels, other$levels)
}

#' @export
check_whole_response.bsvm_response_classes <- function(response) {
  check_fields(response, c(levels = "text", type = "text"), "response")
  if (length(response$levels) != 2L) refuse_fit("`response$levels` has the wrong length")
}

# The class +1, and the class of each row of which `positive` says whether it is +1.
positive_level <- function(levels) levels[2L]

level_of <- function(levels, positive) levels[1L + positive]

# ---- in words -----------------------------------------------------------------------------------

#' @export
describe_kind.bsvm_response_classes <- function(response) "two classes"

#' @export
describe_response.bsvm_response_classes <- function(response) {
  paste0("class +1 is \"", level_of(response$levels, TRUE), "\", class -1 is \"",
         level_of(response$levels, FALSE), "\"")
}

#' @export
describe_rows.bsvm_response_classes <- function(response, y) {
  paste0(sum(y > 0), " of class '", positive_level(response$levels), "'")
}

#' @export
summarise_response.bsvm_response_classes <- function(response, y) list(n_positive = sum(y > 0))

# Classes follow the sign of the linear predictor, whatever the share of the other class.
#' @export
prediction_hint.bsvm_response_classes <- function(response, fit, type = NULL, threshold = NULL) {
  if (is.null(type)) return(one_class_text(fit))
  if (type == "class" && is.null(threshold) && !isTRUE(session$one_class)) one_class_text(fit)
}

one_class_text <- function(fit) {
  class <- only_class(fit)
  if (is.null(class)) return(NULL)
  other <- setdiff(fit$response$levels, class)
  positive <- other == positive_level(fit$response$levels)
  own <- (fit$y > 0) == positive
  share <- if (is.null(fit$weights)) mean(own) else stats::weighted.mean(own, fit$weights)
  paste0("All rows are put into class \"", class, "\"; ", format_share(share), " are of class \"",
         other, "\". To find these, use predict() with a `threshold` or with `costs`, or fit with ",
         "`class.weights`.")
}

# The class all rows of the fit are put into, NULL where there are two. Without predictors, and of
# counts, it is no news.
only_class <- function(fit) {
  if (!is.null(fit$counts)) return(NULL)
  if (length(fit$design$columns) < 2L && is.null(fit$groups)) return(NULL)
  positive <- fit$link[used_rows(fit)] >= 0
  positive <- positive[!is.na(positive)]
  if (length(positive) == 0L || any(positive != positive[1L])) return(NULL)
  level_of(fit$response$levels, positive[1L])
}

# ---- weights of classes -------------------------------------------------------------------------

#' @export
with_class_weights.bsvm_response_classes <- function(response, class.weights) {
  check_class_weights(class.weights, response$levels)
  factors <- stats::setNames(c(1, 1), response$levels)
  factors[names(class.weights)] <- class.weights
  response$class_weights <- factors
  response
}

#' @export
class_factors.bsvm_response_classes <- function(response, y) {
  unname(response$class_weights[1L + (y > 0)])
}

check_class_weights <- function(class.weights, levels) {
  good <- is.numeric(class.weights) && all(is.finite(class.weights)) && all(class.weights > 0)
  names <- names(class.weights)
  if (!good || is.null(names) || !all(names %in% levels) || anyDuplicated(names)) {
    abort("weights", "`class.weights` must be positive numbers, each class named once, as in c(",
          paste0("\"", levels, "\" = 1", collapse = ", "), "); found ",
          deparse(class.weights, nlines = 1L), ".")
  }
  check_total_weight(class.weights, "`class.weights`")
}

# ---- predictions --------------------------------------------------------------------------------

#' @export
prediction_types.bsvm_response_classes <- function(response) c("class", "link", "prob")

#' @export
interval_type.bsvm_response_classes <- function(response) "link"

#' @export
check_prediction_type.bsvm_response_classes <- function(response, type, interval) {
  if (identical(type, "response")) {
    abort("argument", "`type` must be one of \"class\", \"link\" and \"prob\"; found ",
          "\"response\". Use `type = \"prob\"` for probabilities, `type = \"class\"` for classes.")
  }
  type <- pick_one(type, prediction_types(response), "type")
  if (interval && type == "class") {
    abort("argument", "A class has no interval. Use `type = \"prob\"` for the interval of its ",
          "probability, or `type = \"link\"` for that of the linear predictor.")
  }
  type
}

#' @export
class_threshold.bsvm_response_classes <- function(response, threshold, costs, type) {
  if (is.null(threshold) && is.null(costs)) return(NULL)
  if (type != "class") {
    abort("argument", "`threshold` and `costs` are used only with `type = \"class\"`; found ",
          "`type = \"", type,
          "\"`.")
  }
  if (is.null(costs)) return(check_level(threshold, "threshold"))
  if (!is.null(threshold)) {
    abort("argument", "Give `threshold` or `costs`, not both: costs c(a, b) of the two classes ",
          "are the threshold a / (a + b).")
  }
  costs <- check_costs(costs, response$levels)
  costs[[1L]] / sum(costs)
}

check_costs <- function(costs, levels) {
  good <- is.numeric(costs) && length(costs) == 2L && all(is.finite(costs) & costs > 0) &&
    setequal(names(costs), levels)
  if (!good) {
    abort("argument", "`costs` must be two numbers above 0, named by the classes ",
          enumerate(levels, "'"), ": what a wrong class costs for a row of that class; found ",
          describe(costs), if (!is.null(names(costs))) paste0(" named ",
                                                              enumerate(names(costs), "'")), ".")
  }
  costs[levels]
}

#' @export
shape_prediction.bsvm_response_classes <- function(response, found, type, threshold) {
  if (type == "prob" && is.null(found$limits)) return(two_columns(found$prob, response$levels))
  if (type == "prob") {
    return(data.frame(fit = found$prob, found$limits, row.names = unless_twice(names(found$prob))))
  }
  if (type == "link") return(shape_links(found))
  score_class(if (is.null(threshold)) found$mean else found$prob - threshold, response$levels)
}

# n x 2, of the first class and of the second.
two_columns <- function(prob, levels) {
  matrix(c(1 - prob, prob), ncol = 2L, dimnames = list(names(prob), levels))
}

score_class <- function(score, levels) {
  class <- factor(level_of(levels, score >= 0), levels = levels)
  names(class) <- names(score)
  class
}

#' @export
augmented_columns.bsvm_response_classes <- function(response, link) {
  data.frame(.fitted = link, .class = score_class(link, response$levels))
}

#' @export
shape_draws.bsvm_response_classes <- function(response, draws) {
  structure(draws, classes = response$levels) # tidybayes takes draws with `levels` for 1 and 2
}

#' @export
simulated_values.bsvm_response_classes <- function(response, drawn) {
  factor(response$levels[drawn + 1L], response$levels)
}

#' @export
check_types.bsvm_response_classes <- function(response) {
  c("bars", "bars_grouped", "error_binned", "stat")
}

#' @export
drawn_scale.bsvm_response_classes <- function(response, y) (y + 1) / 2

#' @export
draw_check.bsvm_response_classes <- function(response, type, likelihood, f, y, group, ...) {
  if (type == "error_binned") {
    return(bayesplot::ppc_error_binned(y, t(colMeans(expected_response(likelihood, f))), ...))
  }
  replicates <- unname(draw_response(likelihood, f))
  if (type == "stat") return(bayesplot::ppc_stat(y, replicates, ...))
  bars <- if (type == "bars") bayesplot::ppc_bars(y, replicates, ...)
          else bayesplot::ppc_bars_grouped(y, replicates, group, ...)
  suppressMessages( # that there was another scale
    bars + ggplot2::scale_x_continuous(breaks = 0:1, labels = response$levels) +
      ggplot2::labs(x = NULL)
  )
}

# ---- coding -------------------------------------------------------------------------------------

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
  if (length(unique(y)) > 2L) refuse_numbers(y)
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
        "level into missing values, and `na.action = na.omit` to exclude these rows.")
}

refuse_counts <- function(y) {
  abort("response", "The response must have one column; found ", describe(y), ", as ",
        "cbind(successes, failures) makes it. Use a response with a row for each class and the ",
        "counts as `weights`: y = rep(c(1, 0), each = ", nrow(y), "), weights = c(successes, ",
        "failures), with the other variables twice. For several responses of numbers use ",
        "`likelihood = likelihood_gaussian()`.")
}

describe_values <- function(y) {
  values <- unique(y)
  paste0(describe(y), " with the value", if (length(values) > 1L) "s", " ",
         enumerate(format(utils::head(values, 20L), trim = TRUE), "", 5L),
         if (length(values) > 20L) ", among others")
}

# A numeric response needs a likelihood for regression.
refuse_numbers <- function(y) {
  abort("response", "The response must have two classes; found ", describe_values(y), ". For ",
        "support vector regression give bsvm() `likelihood = likelihood_eps_insensitive()`. For ",
        "classes, use a factor with two levels, logical, 0/1 or -1/+1.")
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
