#' What a fit says of missing predictors
#'
#' Mean and standard deviation of every missing entry given all the data, the response of its row
#' included, or its draws.
#'
#' @details
#' Entries are those of the columns of the design, and of auxiliary variables (see
#' [missing_normal()]), on the columns' own scale. By `engine_vb()` and `engine_gaussian()` the law
#' of an entry is normal with this mean and standard deviation; the imputation model, variances and
#' parameters of the likelihood count as known. `engine_gibbs()` and `engine_slice()` have draws of
#' the exact posterior.
#' Rows of weight zero have no entries.
#'
#' `plot()` shows, column by column, the average law of the missing values beside a histogram of the
#' observed ones: where values are missing completely at random the two should look alike.
#'
#' @param object A fit from [bsvm()] with `missing = missing_normal()`.
#' @param draws Return the draws, by [engine_gibbs()] or [engine_slice()], instead of moments?
#' @param x What `imputed()` returned.
#' @param newdata For `plot()`: the data of the fit, for the observed values.
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_imputed` with a row for each missing entry: `row` (number of
#'   the row among those of the fit), `column`, `mean`, `sd`; with `draws = TRUE` a matrix, draws of
#'   all chains one after the other by entries, named `column[row]`. `plot()` returns a ggplot.
#' @section Errors: `bsvm_error_unsupported` for a fit without a model of missing predictors, and
#'   for draws of a fit that has none.
#' @examples
#' d <- transform(mtcars, wt = replace(wt, c(3, 9, 20), NA))
#' fit <- bsvm(am ~ mpg + wt, data = d, missing = missing_normal(), engine = "vb")
#' imputed(fit)
#' @export
imputed <- function(object, draws = FALSE, ...) {
  check_dots(substitute(list(...)), "imputed()", character())
  need_arguments("object", what = "imputed()")
  check_fit(object)
  check_flag(draws, "draws")
  missing <- object$missing
  if (is.null(missing)) {
    abort("unsupported", "The fit has no model of missing predictors: `missing = ",
          "missing_normal()` in bsvm() makes one.")
  }
  found <- missing$imputed
  column <- missing$law$variables[found$variable]
  if (!draws) {
    out <- data.frame(row = found$row, column = column, mean = found$mean, sd = found$sd)
    return(structure(out, class = c("bsvm_imputed", "data.frame")))
  }
  if (is.null(missing$draws)) {
    abort("unsupported", "The fit has no draws of missing entries: engine_gibbs() and ",
          "engine_slice() make them, missing_normal(keep_draws = TRUE) keeps them.")
  }
  out <- t(matrix(missing$draws, nrow = dim(missing$draws)[1L]))
  colnames(out) <- sprintf("%s[%d]", column, found$row)
  out
}

#' @rdname imputed
#' @export
plot.bsvm_imputed <- function(x, newdata = NULL, ...) {
  need_ggplot2()
  columns <- unique(x$column)
  known <- observed_values(newdata, columns)
  laws <- do.call(rbind, lapply(columns, average_law, x))
  observed <- if (!is.null(known)) {
    ggplot2::geom_histogram(ggplot2::aes(x = .data$value, y = ggplot2::after_stat(.data$density)),
                            known, bins = 30, fill = "grey75")
  }
  ggplot2::ggplot() + observed +
    ggplot2::geom_line(ggplot2::aes(.data$value, .data$density), laws, colour = plot_colour) +
    ggplot2::geom_rug(ggplot2::aes(x = .data$mean), as.data.frame(x), colour = plot_colour) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free") +
    ggplot2::labs(x = NULL, y = "density", caption = paste0(
      "Line: average distribution of missing values, ticks: their means",
      if (!is.null(known)) "; grey: observed values"
    )) +
    plot_theme()
}

# The average of the normal laws of a column's missing entries.
average_law <- function(column, x) {
  own <- x[x$column == column, ]
  ends <- range(own$mean - 3 * own$sd, own$mean + 3 * own$sd)
  value <- seq(ends[1L], ends[2L], length.out = 201L)
  density <- vapply(value, function(v) mean(stats::dnorm(v, own$mean, own$sd)), 0)
  data.frame(column = column, value = value, density = density)
}

observed_values <- function(newdata, columns) {
  if (is.null(newdata)) return(NULL)
  values <- lapply(columns, function(column) {
    v <- tryCatch(eval(str2lang(column), as.data.frame(newdata)), error = function(e) NULL)
    v <- v[!is.na(v)]
    if (!is.numeric(v) || length(v) == 0L) return(NULL)
    data.frame(column = column, value = v)
  })
  do.call(rbind, values)
}
