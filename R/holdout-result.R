# The result of a study: a data frame with the design, the splits and the runs as attributes.

new_holdout <- function(results, job, design) {
  models <- names(job$learners)
  tasks <- seq_along(results)
  runs <- data.frame(model = factor(models[task_model(tasks, job)], models),
                     split = task_split(tasks, job))
  each <- rep(tasks, each = length(job$metrics))
  values <- data.frame(
    runs[each, ], metric = factor(rep(names(job$metrics), length(tasks)), names(job$metrics)),
    value = unlist(lapply(results, `[[`, "values")),
    failure = unlist(lapply(results, `[[`, "failures")), row.names = NULL
  )
  runs$warnings <- lengths(lapply(results, `[[`, "warnings"))
  runs$warning <- vapply(results, function(result) result$warnings[1L], "")
  out <- structure(values, class = c("bsvm_holdout", "data.frame"), design = design, runs = runs,
                   splits = job$splits,
                   predictions = if (job$predictions) join_predictions(results, runs))
  warn_failures(out)
  out
}

join_predictions <- function(results, runs) {
  rows <- lapply(results, `[[`, "predictions")
  count <- vapply(rows, NROW, 1L)
  each <- rep(seq_along(rows), count)
  data.frame(runs[each, c("model", "split")], do.call(rbind, rows), check.names = FALSE,
             row.names = NULL)
}

warn_failures <- function(study) {
  lines <- failure_lines(study)
  if (length(lines) > 0L) warn("failure", paste(lines, collapse = "\n"))
}

# "`vb`, brier: 100 of 100 values are missing (the model gives no probabilities)"; metrics that
# fail for the same reason together.
failure_lines <- function(study) {
  failed <- as.data.frame(study)[!is.na(study$failure), ]
  cells <- split(failed, list(failed$metric, failed$model), drop = TRUE)
  of <- vapply(cells, function(cell) as.character(cell$model[1L]), "")
  metric <- vapply(cells, function(cell) as.character(cell$metric[1L]), "")
  what <- vapply(cells, function(cell) {
    paste0(nrow(cell), " of ", length(unique(study$split)), " values are missing (",
           cell$failure[1L], ")")
  }, "")
  key <- paste(of, what)
  vapply(split(seq_along(key), factor(key, unique(key))), function(same) {
    paste0(enumerate(of[same[1L]]), ", ", enumerate(metric[same], ""), ": ", what[same[1L]])
  }, "", USE.NAMES = FALSE)
}

#' @rdname holdout
#' @param object An object from `holdout()` or `cross_validate()`.
#' @order 3
#' @export
holdout_splits <- function(object) {
  need_arguments("object", what = "holdout_splits()")
  part_of_study(object, "splits", "holdout_splits()")
}

#' @rdname holdout
#' @order 4
#' @export
holdout_runs <- function(object) {
  need_arguments("object", what = "holdout_runs()")
  part_of_study(object, "runs", "holdout_runs()")
}

#' @rdname holdout
#' @order 5
#' @export
holdout_predictions <- function(object) {
  need_arguments("object", what = "holdout_predictions()")
  if (inherits(object, "bsvm_holdout") && is.null(attr(object, "predictions"))) {
    abort("unsupported", "The predictions were not kept: call holdout() or cross_validate() with ",
          "`predictions = TRUE`.")
  }
  part_of_study(object, "predictions", "holdout_predictions()")
}

# What has been through other hands may have lost these.
part_of_study <- function(object, part, what) {
  found <- if (inherits(object, "bsvm_holdout")) attr(object, part)
  if (is.null(found)) {
    abort("argument", what, " takes what holdout() or cross_validate() returns; found ",
          describe(object), ".")
  }
  found
}

study_columns <- c("model", "split", "metric", "value", "failure")

is_study <- function(x) inherits(x, "bsvm_holdout") && all(study_columns %in% names(x))

check_study <- function(x, what) {
  if (!is_study(x)) {
    held <- if (is.data.frame(x)) paste0(" with ", enumerate(names(x)))
    abort("argument", what, " takes what holdout() or cross_validate() returns, with all its ",
          "columns; found ", describe(x), held, ".")
  }
  x
}

# Some of its rows are still a study; less than its columns, or rows to look at, are data.
#' @export
`[.bsvm_holdout` <- function(x, ...) {
  part <- NextMethod()
  if (is.data.frame(part) && !is_study(part)) plain_frame(part) else part
}

#' @importFrom utils head
#' @export
head.bsvm_holdout <- function(x, ...) head(plain_frame(x), ...)

#' @importFrom utils tail
#' @export
tail.bsvm_holdout <- function(x, ...) tail(plain_frame(x), ...)

#' @export
as.data.frame.bsvm_holdout <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(plain_frame(x), row.names = row.names, optional = optional, ...)
}

plain_frame <- function(study) {
  attributes(study) <- c(attributes(study)[c("names", "row.names")], class = "data.frame")
  study
}

#' @rdname holdout
#' @param x An object from `holdout()` or `cross_validate()`.
#' @param digits Significant digits.
#' @order 6
#' @export
print.bsvm_holdout <- function(x, digits = 3L, ...) {
  check_digits(digits)
  if (!is_study(x)) return(invisible(print(plain_frame(x))))
  say_design(attr(x, "design"))
  means <- mean_table(x, NULL)
  splits <- length(unique(x$split))
  cat("Mean (standard error) over ", splits, " split", if (splits != 1L) "s", ":\n", sep = "")
  print(metric_columns(means, digits), quote = FALSE, right = TRUE)
  say_trouble(x)
  invisible(x)
}

# "0.094 (0.031)": a row a model, a column a metric, whose largest standard error has digits - 1.
metric_columns <- function(means, digits) {
  models <- unique(means$model)
  columns <- lapply(split(means, factor(means$metric, unique(means$metric))), function(own) {
    largest <- max(own$se, 0, na.rm = TRUE)
    text <- function(x) {
      if (largest == 0) return(format(x, digits = digits))
      formatC(x, max(0, digits - 2 - floor(log10(largest))), format = "f")
    }
    paste0(text(own$mean), ifelse(is.na(own$se), "", paste0(" (", text(own$se), ")")))
  })
  matrix(unlist(columns), length(models), dimnames = list(models, names(columns)))
}

say_design <- function(design) {
  if (is.null(design)) return(cat("Part of a study of classifiers\n"))
  what <- if (design$grouped) "groups" else "rows"
  cat(if (design$kind == "holdout") {
    c("Hold-out: ", design$times, " random splits, ", format(100 * design$prop, digits = 3),
      " % of the ", what, " trained on")
  } else {
    c("Cross-validation: ", design$folds, " folds of ", what,
      if (design$times > 1L) c(", ", design$times, " times"))
  }, "; ", design$rows, if (isTRUE(design$trials)) " trials" else " rows of data", "\n", sep = "")
}

# Each metric in digits of its own.
say_by_metric <- function(table, digits) {
  parts <- lapply(split(table, factor(table$metric, unique(table$metric))), format, digits = digits)
  print(do.call(rbind, unname(parts)), row.names = FALSE)
}

# Failures, and the number of fits that gave warnings.
say_trouble <- function(study) {
  writeLines(failure_lines(study))
  runs <- attr(study, "runs")
  for (model in levels(runs$model)) {
    own <- runs[runs$model == model & runs$warnings > 0L, ]
    if (nrow(own) == 0L) next
    cat(enumerate(model), ": warnings in ", nrow(own), " of ", sum(runs$model == model),
        " splits (", own$warning[1L], ")\n", sep = "")
  }
}
