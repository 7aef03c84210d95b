# Arguments of a study, checked before anything is fitted.

check_rows_of <- function(data) {
  if (!is.data.frame(data)) {
    abort("data", "`data` must be a data frame, whose rows can be split, or a bsvm_source(); found ",
          describe(data), ".")
  }
  check_data(data)
}

# list(y, response): what all formulas have on the left, or what was given.
study_response <- function(given, formulas, data, kind) {
  sides <- lapply(formulas, function(formula) {
    check_formula(formula)
    value_in(formula[[2L]], data, formula_environment(formula), "response")
  })
  if (!is.null(given)) sides <- c(list(given), sides)
  if (length(sides) == 0L) {
    abort("argument", "`response` must be given where no model has a formula: what is to be ",
          "predicted, such as `response = y`.")
  }
  coded <- lapply(sides, code_complete, n = nrow(data), kind = kind)
  same <- vapply(coded, function(other) {
    identical(other$y, coded[[1L]]$y) && same_coding(other$response, coded[[1L]]$response)
  }, TRUE)
  if (!all(same)) {
    abort("argument", "All models must have the same response, coded in the same way; ",
          enumerate(names(coded)[!same]), " differ", if (sum(!same) == 1L) "s", " from the first.")
  }
  coded[[1L]]
}

# The kind of response that the fits among the models have, else classes.
study_kind <- function(models) {
  several <- Filter(is_responses, models)
  if (length(several) > 0L) refuse_single(models)
  if (length(several) > 0L) return(c("several", response_names(several[[1L]])))
  fits <- Filter(function(model) inherits(model, "bsvm"), models)
  if (length(fits) == 0L) return(kind_for(NULL))
  response_kind(check_fit(fits[[1L]], "models")$likelihood)
}

code_complete <- function(y, n, kind) {
  if (kind[1L] == "several") return(code_several(y, n, kind[-1L]))
  if (NROW(y) != n) {
    abort("response", "The response must have one element a row (", n, "); found ", describe(y),
          ".")
  }
  if (anyNA(y)) {
    abort("missing", "The response must have no missing values; found ", sum(is.na(y)), ". Exclude ",
          "these rows: they can be neither tested nor trained on.")
  }
  code_response(y, kind = kind)
}

# A named list of functions; NULL for "seconds".
check_metrics <- function(metrics, response) {
  known <- c(known_metrics_of(response), list(seconds = NULL))
  if (is.function(metrics)) metrics <- list(metrics)
  if (!is.character(metrics) && !is.list(metrics) || length(metrics) == 0L) {
    refuse_metric(metrics, names(known))
  }
  metrics <- as.list(written_metrics(response, metrics))
  names <- if (is.null(names(metrics))) rep("", length(metrics)) else names(metrics)
  for (k in seq_along(metrics)) {
    metric <- metrics[[k]]
    if (is.function(metric) && nzchar(names[k])) next
    if (!is.character(metric) || length(metric) != 1L || !metric %in% names(known)) {
      refuse_metric(metric, names(known))
    }
    metrics[k] <- known[metric]
    names[k] <- metric
  }
  if (anyDuplicated(names)) {
    abort("argument", "`metrics` must have different names; found ",
          enumerate(unique(names[duplicated(names)]), "\""), " twice.")
  }
  stats::setNames(metrics, names)
}

# Metrics as they may be written, short.
written_metrics <- function(response, metrics) UseMethod("written_metrics")

#' @export
written_metrics.default <- function(response, metrics) metrics

refuse_metric <- function(metric, known) {
  abort("argument", "`metrics` must be among ", enumerate(known, "\""), ", or functions with ",
        "names, as in `list(\"ber\", mine = function(seen) ...)`; found ", describe(metric),
        if (is.function(metric)) " without a name", ".")
}

check_runner <- function(cores, cluster, progress) {
  check_count(cores, "cores")
  check_verbose(progress, "progress")
  if (!is.null(cluster) && !inherits(cluster, "cluster")) {
    abort("argument", "`cluster` must be made by parallel::makeCluster(); found ",
          describe(cluster), ".")
  }
}
