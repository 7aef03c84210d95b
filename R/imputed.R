#' Imputed values of missing predictors
#'
#' For each missing value of a predictor, `imputed()` returns the posterior mean and standard
#' deviation given all the data, including the response of its row. With `draws = TRUE` it returns
#' posterior draws.
#'
#' @details
#' An entry is a missing value in a column of the design matrix or in an auxiliary variable (see
#' [missing_normal()]). Values are on the original scale of the column. With `engine_vb()` and
#' `engine_gaussian()` the distribution of an entry is normal with this mean and standard deviation.
#' It treats the imputation model, the variances and the parameters of the likelihood as known.
#' `engine_gibbs()` and `engine_slice()` draw from the exact posterior. Rows of weight zero have no
#' entries.
#'
#' `plot()` shows, for each column, the average distribution of the missing values over a histogram
#' of the observed values. If values are missing completely at random, the two should look alike.
#'
#' @param object A fit from [bsvm()] with `missing = missing_normal()`.
#' @param draws Return draws instead of means and standard deviations? Requires a fit with
#'   [engine_gibbs()] or [engine_slice()].
#' @param x The value of `imputed()`.
#' @param newdata For `plot()`: the data of the fit, from which the observed values are taken.
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_imputed` with one row per missing entry: `row` (the number of
#'   the row among the rows of the fit), `column`, `mean` and `sd`. With `draws = TRUE`, a matrix
#'   with one row per draw (chain by chain) and one column per entry, named `column[row]`. `plot()`
#'   returns a ggplot.
#' @section Errors:
#' `bsvm_error_unsupported` for a fit without a model of missing predictors, and for `draws = TRUE`
#' if the fit has no draws.
#' @examples
#' # which cholesterol values are plausible where none was measured?
#' fit <- bsvm(disease ~ sex + age + cholesterol, data = cath, missing = missing_normal())
#' head(imputed(fit))
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
  need_rows(object, "imputed()")
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
    ggplot2::labs(title = "Distribution of missing values", x = NULL, y = "Density", caption = paste0(
      "Line: average distribution of missing values, ticks: their means",
      if (!is.null(known)) "; grey: observed values"
    )) +
    plot_theme()
}

# The average of the normal distributions of a column's missing entries.
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
