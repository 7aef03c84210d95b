# Studies of two classes: what models of any package say of rows is read by its shape.

#' @export
as_truth.bsvm_response_classes <- function(response, y) y > 0

#' @export
known_metrics_of.bsvm_response_classes <- function(response) known_metrics()

#' @export
do_without_prob.bsvm_response_classes <- function(response, metrics) {
  all(vapply(metrics, needs_class_only, TRUE))
}

# A user's metric may have any name, and look at what it likes.
needs_class_only <- function(metric) is.null(metric) || is_known_metric(metric, c("ber", "error"))

is_known_metric <- function(metric, names) {
  any(vapply(known_metrics()[names], identical, TRUE, metric))
}

#' @export
why_no_value.bsvm_response_classes <- function(response, metric, seen) {
  if (is_known_metric(metric, c("brier", "log_score", "slope")) && is.null(seen$prob)) {
    return("the model gives no probabilities")
  }
  if (is_known_metric(metric, "auc") && is.null(seen$link) && is.null(seen$prob)) {
    return("the model gives no scores")
  }
  if (!both_classes(seen$truth)) return("only one class was tested")
  "the metric is NA"
}

#' @export
ask_fit.bsvm_response_classes <- function(response, fitted, newdata, prob) {
  found <- function(type) stats::predict(fitted, newdata, type = type, allow_new_levels = TRUE)
  said <- list(class = found("class"), link = found("link"))
  if (prob) said$prob <- tryCatch(found("prob"), bsvm_error_unsupported = function(e) NULL)
  said
}

# Probabilities are asked for by the name most packages have for them; what predict() makes of a
# type it does not know is not taken for them.
#' @export
ask_foreign.bsvm_response_classes <- function(response, predict, fitted, newdata, prob) {
  levels <- response$levels
  said <- as_parts(predict(fitted, newdata), levels)
  if (prob && !is.null(said$class) && is.null(said$prob)) {
    said$prob <- tryCatch(as_parts(predict(fitted, newdata, type = "prob"), levels)$prob,
                          error = function(e) NULL)
    if (!has_columns(said$prob, levels)) said$prob <- NULL
  }
  said
}

#' @export
prediction_frame.bsvm_response_classes <- function(response, seen, rows) {
  as_class <- function(x) {
    factor(level_of(response$levels, if (is.null(x)) NA else x), levels = response$levels)
  }
  number <- function(x) if (is.null(x)) rep(NA_real_, length(rows)) else x
  prob <- number(seen$prob)
  frame <- data.frame(.row = rows, truth = as_class(seen$truth),
                      .pred_class = rep_len(as_class(seen$class), length(rows)),
                      1 - prob, prob, .link = number(seen$link))
  names(frame)[4:5] <- paste0(".pred_", response$levels)
  frame
}

# ---- what was said ------------------------------------------------------------------------------

# list(class, link, prob): is the class +1, the link, the probability of that class; some of them
# NULL.
#' @export
read_prediction.bsvm_response_classes <- function(said, response, n) {
  levels <- response$levels
  parts <- as_parts(said, levels)
  link <- parts$link
  prob <- second_probability(parts$prob, levels)
  class <- if (!is.null(parts$class)) is_second(parts$class, levels)
           else if (!is.null(link)) link >= 0
           else prob >= 0.5
  for (part in list(class, link, prob)) {
    if (!is.null(part) && length(part) != n) {
      abort("argument", "There must be one prediction a row (", n, "); found ", length(part), ".")
    }
  }
  lapply(list(class = class, link = link, prob = prob), unname)
}

has_columns <- function(x, columns) length(dim(x)) == 2L && all(columns %in% colnames(x))

# A model's predictions, by their shape: list(class, link, prob), some of them NULL.
as_parts <- function(said, levels) {
  if (is.data.frame(said)) said <- frame_parts(said, levels)
  if (is.list(said) && any(part_names %in% names(said))) {
    return(said[intersect(part_names, names(said))])
  }
  if (is.factor(said) || is.character(said) || is.logical(said)) return(list(class = said))
  if (is.numeric(said) && NCOL(said) == 1L) return(number_part(as.vector(said), levels))
  if (is.numeric(said)) return(list(prob = said))
  abort("argument", "A prediction must be classes, linear predictors, probabilities, or a list ",
        "of `class`, ",
        "`link` and `prob`; found ", describe(said), ".")
}

part_names <- c("class", "link", "prob")

# Probabilities may come with the class, in columns of their own.
frame_parts <- function(said, levels) {
  names(said) <- sub("^[.]pred_", "", names(said))
  if (!any(part_names %in% names(said))) return(as.matrix(said))
  parts <- as.list(said)
  if (is.null(parts$prob) && has_columns(said, levels)) parts$prob <- as.matrix(said[levels])
  parts
}

# Numbers that are all names of classes are these. Others may be links or probabilities, which
# between 0 and 1 can't be told apart.
number_part <- function(said, levels) {
  if (all(class_names(said, levels) %in% c(levels, NA))) return(list(class = said))
  if (all(said >= 0 & said <= 1, na.rm = TRUE)) {
    abort("argument", "Predicted numbers that are all between 0 and 1 may be linear predictors or ",
          "probabilities: name them, as in `list(prob = )` or `list(link = )`.")
  }
  list(link = said)
}

# As the levels have them: 0 and 1 are FALSE and TRUE, too.
class_names <- function(class, levels) {
  class <- as.character(class)
  twin <- c(`0` = "FALSE", `1` = "TRUE", `FALSE` = "0", `TRUE` = "1")[class]
  unname(ifelse(!class %in% levels & twin %in% levels, twin, class))
}

is_second <- function(class, levels) {
  class <- class_names(class, levels)
  odd <- setdiff(class, c(levels, NA))
  if (length(odd) > 0L) {
    abort("argument", "Predicted classes must be ", enumerate(levels, "'"), "; found ",
          enumerate(odd, "'"), ".")
  }
  class == positive_level(levels)
}

second_probability <- function(prob, levels) {
  if (is.null(prob)) return(NULL)
  if (is.data.frame(prob)) prob <- as.matrix(prob)
  if (length(dim(prob)) == 2L) {
    if (!has_columns(prob, levels)) {
      found <- if (is.null(colnames(prob))) "no names" else enumerate(colnames(prob), "'")
      abort("argument", "Probabilities must have columns named ", enumerate(levels, "'"),
            "; found ", found, ".")
    }
    prob <- prob[, positive_level(levels)]
  }
  if (!is.numeric(prob) || any(prob < 0 | prob > 1, na.rm = TRUE)) {
    abort("argument", "Probabilities must be between 0 and 1.")
  }
  as.vector(prob)
}
