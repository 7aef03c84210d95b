#' Permutation importance of predictors
#'
#' `importance()` measures how much worse predictions become when the values of one predictor are
#' shuffled among the rows (Breiman 2001). It is about predictions, so a predictor that only repeats
#' another one is not important.
#'
#' @details
#' For each predictor and each of `times` shuffles, the loss of each row is compared with its loss
#' under its own values. The estimate is the mean increase over rows and shuffles. The interval is
#' that of a mean over rows: it shows how far the estimate would vary in other rows like these. Use
#' rows that were not in the fit; for rows of the fit the increases are too large. Rows of the fit are
#' weighted by their weights, and rows of counts by their trials. Rows with missing values or new levels of a factor are excluded.
#'
#' A grouping factor is a predictor too. The predictors of one row are shuffled one at a time, so
#' rows may arise that are impossible in practice.
#'
#' @param x A fit from [bsvm()] with a formula.
#' @param newdata A data frame with response and predictors; by default the rows of the fit.
#' @param metric For two classes `"log_score"` (default, minus the log probability of the class),
#'   `"brier"` or `"error"`. For a numeric response `"mse"` (default) or `"mae"`.
#' @param times Number of shuffles of each predictor.
#' @param level Probability of the interval.
#' @param seed A number for [set.seed()]; `NULL` uses the current state of the generator.
#' @param allow_new_levels As in [predict.bsvm()].
#' @param ... Not used.
#' @return A data frame of class `bsvm_importance`, sorted: `predictor`, `estimate`, `se`, `lower`,
#'   `upper`. It has methods for `print()` and `plot()`.
#' @references Breiman, L. (2001). Random forests. *Machine Learning*, 45, 5-32.
#' @seealso [plot.bsvm()] with `which = "effects"` for the direction of effects; [inclusion()] for
#'   priors that select variables.
#' @examples
#' # which predictors of disease matter, for patients who were not in the fit?
#' odd <- seq_len(nrow(cath)) %% 2 == 1
#' fit <- bsvm(disease ~ sex + age + log1p(duration), data = cath[odd, ])
#' found <- importance(fit, cath[!odd, ], seed = 1)
#' found
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(found)
#' @export
importance <- function(x, ...) UseMethod("importance")

#' @rdname importance
#' @export
importance.bsvm <- function(x, newdata = NULL, metric = NULL, times = 10L, level = 0.95,
                            seed = NULL, allow_new_levels = FALSE, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "importance()", c(nperm = "Use `times` instead.",
                                                      nsim = "Use `times` instead."))
  check_count(times, "times")
  check_level(level)
  loss <- row_loss(x, metric)
  need_formula(x, "importance()")
  names <- importance_names(x)
  if (length(names) == 0L) {
    abort("unsupported", "importance() requires a predictor or a grouping factor, which this fit ",
          "does not have.")
  }
  rows <- if (is.null(newdata)) own_importance_rows(x, parent.frame())
          else new_importance_rows(x, check_newdata(newdata))
  data <- rows$data
  complete <- stats::complete.cases(data[intersect(names, names(data))]) & !is.na(rows$y)
  own <- rep(NA_real_, nrow(data))
  own[complete] <- loss(data[complete, , drop = FALSE], rows$y[complete], allow_new_levels)
  known <- !is.na(own) # new levels of a factor have no prediction
  if (sum(known) < 2L) {
    abort("newdata", "importance() needs at least two complete rows; found ", sum(known), ".")
  }
  weight <- rows$weight[known]
  data <- data[known, , drop = FALSE]
  y <- rows$y[known]
  own <- own[known]
  table <- with_given_seed(seed, lapply(names, function(name) {
    increase <- numeric(nrow(data))
    for (k in seq_len(times)) {
      shuffled <- data
      order <- sample.int(nrow(data))
      shuffled[[name]] <- if (is.null(dim(data[[name]]))) data[[name]][order]
                          else data[[name]][order, , drop = FALSE]
      increase <- increase + (loss(shuffled, y, allow_new_levels) - own) / times
    }
    data.frame(predictor = name, mean_over_rows(increase, weight))
  }))
  table <- do.call(rbind, table)
  table[c("lower", "upper")] <- normal_limits(table$estimate, table$se, level)
  table <- table[order(-table$estimate), ]
  structure(table, row.names = seq_len(nrow(table)), class = c("bsvm_importance", "data.frame"),
            loss = attr(loss, "words"), rows = nrow(data), times = times, level = level,
            training = is.null(newdata))
}

# Rows are drawn at random, with their weights.
mean_over_rows <- function(x, weight) {
  share <- weight / sum(weight)
  estimate <- sum(share * x)
  n <- length(x)
  data.frame(estimate = estimate, se = sqrt(sum(share^2 * (x - estimate)^2) * n / (n - 1)))
}

# Predictors and grouping factors.
importance_names <- function(object) {
  unique(c(predictor_names(object), unlist(lapply(object$groups, function(group) {
    variables_in(group$variable)
  }), use.names = FALSE)))
}

# list(data, y, weight). Of counts, y is the share of successes among the trials, from -1 to 1.
own_importance_rows <- function(object, env) {
  data <- rows_averaged_over(object, env, "importance()", Inf)
  if (!is.null(object$counts)) {
    return(counted_rows(data, fit_counts_table(object)$counts))
  }
  weight <- c(object$weights, object$streamed$weight)
  weight <- if (is.null(weight)) rep(1, nrow(data)) else weight[weight > 0]
  list(data = data, y = response_of(object, data), weight = weight)
}

new_importance_rows <- function(object, data) {
  if (!is.null(object$counts)) {
    counts <- new_counts(object, data)
    some <- rowSums(counts) > 0
    return(counted_rows(data[some, , drop = FALSE], counts[some, , drop = FALSE]))
  }
  list(data = data, y = response_of(object, data), weight = rep(1, nrow(data)))
}

counted_rows <- function(data, counts) {
  trials <- rowSums(counts)
  list(data = data, y = (counts[, 1L] - counts[, 2L]) / trials, weight = trials)
}

# -1 and 1, or numbers.
response_of <- function(object, data) {
  lhs <- object$formula[[2L]]
  need_variables(variables_in(lhs), object$terms, data)
  recode_values(object$response, eval(lhs, data, environment(object$terms)))
}

# A function (data, y, allow_new_levels) of the rows' losses, with its name in words.
row_loss <- function(object, metric) {
  classes <- is_kind(object$response, "classes")
  known <- if (classes) c("log_score", "brier", "error") else c("mse", "mae")
  metric <- pick_one(if (is.null(metric)) known[1L] else metric, known, "metric")
  words <- c(log_score = "minus log probability of the class", brier = "Brier score",
             error = "error rate", mse = "mean squared error", mae = "mean absolute error")
  loss <- function(data, y, allow_new_levels) {
    if (!classes) {
      away <- y - predict.bsvm(object, data, allow_new_levels = allow_new_levels)
      return(unname(if (metric == "mse") away^2 else abs(away)))
    }
    prob <- predict.bsvm(object, data, type = "prob", allow_new_levels = allow_new_levels)
    of_class <- function(own) {
      own <- bounded_probability(own)
      switch(metric, log_score = -log(own), brier = (1 - own)^2, error = own < 0.5)
    }
    unname(of_class(prob[, 2L]) * (1 + y) / 2 + of_class(prob[, 1L]) * (1 - y) / 2)
  }
  structure(loss, words = words[[metric]])
}

#' @param digits Significant digits.
#' @param n The maximum number of predictors to print or to plot.
#' @rdname importance
#' @export
print.bsvm_importance <- function(x, digits = 3L, n = 30L, ...) {
  check_digits(digits)
  check_shown(n)
  cat("Permutation importance: increase of the ", attr(x, "loss"), "\n", attr(x, "rows"),
      if (attr(x, "training")) " rows of the fit", if (!attr(x, "training")) " rows", ", ",
      attr(x, "times"), " shuffles, ", format(100 * attr(x, "level")), " % intervals over rows\n\n",
      sep = "")
  print.data.frame(utils::head(x, n), digits = digits, row.names = FALSE)
  say_more(nrow(x) - n, "predictors")
  if (attr(x, "training")) {
    cat("\nOn rows of the fit the increases are too large; give other rows as `newdata`.\n")
  }
  invisible(x)
}

#' @rdname importance
#' @export
plot.bsvm_importance <- function(x, n = 30L, ...) {
  need_ggplot2()
  check_count(n, "n")
  shown <- utils::head(as.data.frame(x), n)
  shown$predictor <- factor(shown$predictor, rev(shown$predictor))
  ggplot2::ggplot(shown, ggplot2::aes(.data$estimate, .data$predictor)) +
    zero_line() +
    ggplot2::geom_pointrange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                             colour = plot_colour) +
    ggplot2::labs(title = "Permutation importance", y = NULL,
                  x = paste("Increase of the", attr(x, "loss")), caption = paste(
      c(paste0("Each predictor shuffled ", attr(x, "times"), " times in ", attr(x, "rows"), " rows, ",
               format(100 * attr(x, "level")), " % intervals"),
        if (nrow(x) > n) paste(n, "of", nrow(x), "predictors")), collapse = "\n")) +
    plot_theme() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = row_text_size(nrow(shown))))
}
