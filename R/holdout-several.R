# Studies of several responses of numbers. What models say is a matrix of numbers, a column for each
# response, or an array (rows, fit and perhaps lower and upper, responses). Metrics are those of one
# response for each of them, named as in "rmse fat"; missing responses are not looked at.

# list(y, response), y (n, q).
code_several <- function(y, n, names) {
  if (!is.matrix(y) && !is.data.frame(y) || nrow(y) != n || ncol(y) < 2L) {
    abort("response", "The responses must be a matrix with a row for each row of the data (", n,
          "); found ", describe(y), ".")
  }
  y <- unclass(as.matrix(y))
  check_responses(y)
  if (length(names) == ncol(y)) colnames(y) <- names
  rownames(y) <- NULL
  storage.mode(y) <- "double"
  list(y = y, response = structure(list(names = colnames(y)), class = "bsvm_response_several"))
}

#' @export
same_coding.bsvm_response_several <- function(response, other) {
  identical(response$names, other$names)
}

#' @export
as_truth.bsvm_response_several <- function(response, y) y

several_metrics <- c("rmse", "mae", "r2", "coverage", "width")

#' @export
known_metrics_of.bsvm_response_several <- function(response) {
  one <- known_metrics_of.bsvm_response_numbers(response)[several_metrics]
  of <- rep(seq_along(response$names), each = length(one))
  metrics <- Map(function(metric, j) {
    force(metric)
    force(j)
    function(seen) metric(response_seen(seen, j))
  }, rep(one, length(response$names)), of)
  stats::setNames(metrics, paste(names(metrics), response$names[of]))
}

# The observed values of response j, where they are known.
response_seen <- function(seen, j) {
  there <- !is.na(seen$truth[, j])
  lapply(Filter(Negate(is.null), seen), function(x) x[there, j])
}

#' @export
default_metrics.bsvm_response_several <- function(response) c("rmse", "seconds")

# "rmse" is that of each response.
#' @export
written_metrics.bsvm_response_several <- function(response, metrics) {
  parts <- lapply(seq_along(metrics), function(k) {
    metric <- metrics[[k]]
    short <- is.character(metric) && length(metric) == 1L && metric %in% several_metrics
    if (short) as.list(paste(metric, response$names)) else as.list(metrics[k])
  })
  do.call(c, parts)
}

#' @export
do_without_prob.bsvm_response_several <- function(response, metrics) TRUE

#' @export
why_no_value.bsvm_response_several <- function(response, metric, seen) {
  if (is.null(seen$lower)) return("the model gives no intervals, or the metric is NA")
  "the metric is NA: too few known responses"
}

#' @export
as_learner.bsvm_responses <- function(model, name, formula, env) {
  if (!is.null(model$call$subset) || !is.null(model$call$weights)) {
    abort("unsupported", "The fit ", enumerate(name), " has `subset` or `weights`, which studies ",
          "of several responses do not support. Omit them, or use a function such as ",
          "`function(data) bsvm(...)`.")
  }
  values <- model$arguments[intersect(names(model$arguments), refit_arguments)]
  values$likelihood <- model$arguments$likelihood
  values$engine <- model$arguments$engine
  values$control <- bsvm_control(verbose = FALSE)
  formula <- model$formula
  rm(model, env)
  function(data) do.call(bsvm.formula, c(list(formula, data = data), values), quote = TRUE)
}

#' @export
classify.bsvm_responses <- function(fitted, newdata, response, prob) {
  said <- stats::predict(fitted, newdata, interval = "prediction", allow_new_levels = TRUE)
  read_prediction(said, response, nrow(newdata))
}

#' @export
ask_foreign.bsvm_response_several <- function(response, predict, fitted, newdata, prob) {
  predict(fitted, newdata)
}

#' @export
read_prediction.bsvm_response_several <- function(said, response, n) {
  q <- length(response$names)
  size <- dim(said)
  if (is.data.frame(said)) said <- as.matrix(said)
  if (length(size) == 3L && size[3L] == 1L) {
    said <- array(said, size[1:2], list(NULL, dimnames(said)[[2L]]))
  }
  if (!is.numeric(said) || !length(dim(said)) %in% 2:3) {
    abort("argument", "A prediction must be a matrix of numbers with a column for each response, ",
          "or an array of rows, `fit`, `lower` and `upper`, and responses; found ", describe(said),
          ".")
  }
  if (is.matrix(said)) {
    said <- array(said, c(nrow(said), 1L, ncol(said)), list(NULL, "fit", colnames(said)))
  }
  named <- dimnames(said)[[3L]]
  if (!is.null(named) && setequal(named, response$names)) {
    said <- said[, , response$names, drop = FALSE]
  } else if (any(named %in% response$names)) {
    abort("argument", "A prediction must have the responses ", enumerate(response$names),
          "; found ", enumerate(named), ".")
  }
  if (dim(said)[1L] != n || dim(said)[3L] != q || !"fit" %in% dimnames(said)[[2L]]) {
    abort("argument", "A prediction must have ", n, " rows and ", q, " responses; found ",
          dim(said)[1L], " and ", dim(said)[3L], ".")
  }
  dimnames(said)[[2L]] <- sub("^lwr$", "lower", sub("^upr$", "upper", dimnames(said)[[2L]]))
  parts <- intersect(c("fit", "lower", "upper"), dimnames(said)[[2L]])
  if (sum(c("lower", "upper") %in% parts) == 1L) {
    abort("argument", "A prediction with one limit must have the other too: `lower` and `upper`.")
  }
  lapply(stats::setNames(parts, parts), function(part) matrix(said[, part, ], n, q))
}

#' @export
prediction_frame.bsvm_response_several <- function(response, seen, rows) {
  number <- function(x) if (is.null(x)) rep(NA_real_, length(seen$truth)) else c(x)
  data.frame(.row = rep(rows, length(response$names)),
             response = rep(response$names, each = length(rows)), truth = c(seen$truth),
             .pred = number(seen$fit), .lower = number(seen$lower), .upper = number(seen$upper))
}
