#' What a fit says of missing predictors
#'
#' Mean and standard deviation of every missing entry given all the data, the class of its row
#' included, or its draws.
#'
#' @details
#' Entries are those of the columns of the design, and of auxiliary variables (see
#' [missing_normal()]), on the columns' own scale. By `engine_vb()` and `engine_gaussian()` the law of
#' an entry is normal with this mean and standard deviation; the coefficients and the imputation model
#' count as known. `engine_gibbs()` has draws of the exact posterior.
#'
#' `plot()` shows, column by column, imputed means (or one draw of each entry) beside observed values:
#' where predictors are missing completely at random the two should look alike, but for less spread of
#' means.
#'
#' @param object A fit from [bsvm()] with `missing = missing_normal()`.
#' @param draws Return the draws, by [engine_gibbs()], instead of moments?
#' @param x What `imputed()` returned.
#' @param newdata For `plot()`: the data of the fit, for the observed values.
#' @param ... Must be empty.
#' @return A data frame of class `bsvm_imputed` with a row for each missing entry: `row` (number of the
#'   row among those of the fit), `column`, `mean`, `sd`; with `draws = TRUE` a matrix, draws of all
#'   chains one after the other by entries, named `column[row]`. `plot()` returns a ggplot.
#' @section Errors: `bsvm_error_unsupported` for a fit without a model of missing predictors, and for
#'   draws of a fit that has none.
#' @examples
#' d <- transform(mtcars, wt = replace(wt, c(3, 9, 20), NA))
#' fit <- bsvm(am ~ mpg + wt, data = d, missing = missing_normal(), engine = "vb")
#' imputed(fit)
#' @export
imputed <- function(object, draws = FALSE, ...) {
  check_dots(substitute(list(...)), "imputed()", character())
  check_fit(object)
  check_flag(draws, "draws")
  missing <- object$missing
  if (is.null(missing)) {
    abort("unsupported", "The fit has no model of missing predictors: `missing = missing_normal()` ",
          "in bsvm() makes one.")
  }
  found <- missing$imputed
  column <- missing$law$variables[found$variable]
  if (!draws) {
    out <- data.frame(row = found$row, column = column, mean = found$mean, sd = found$sd)
    return(structure(out, class = c("bsvm_imputed", "data.frame")))
  }
  if (is.null(missing$draws)) {
    abort("unsupported", "The fit has no draws of missing entries: engine_gibbs() makes them, and ",
          "missing_normal(keep_draws = TRUE) keeps them.")
  }
  out <- t(matrix(missing$draws, nrow = dim(missing$draws)[1L]))
  colnames(out) <- sprintf("%s[%d]", column, found$row)
  out
}

check_fit <- function(object) {
  if (!inherits(object, "bsvm")) {
    abort("argument", "`object` must be a fit from bsvm(); found ", describe(object), ".")
  }
}

#' @rdname imputed
#' @export
plot.bsvm_imputed <- function(x, newdata = NULL, ...) {
  need_ggplot2()
  known <- observed_values(newdata, unique(x$column))
  shown <- rbind(data.frame(column = x$column, value = x$mean, kind = "imputed"), known)
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$value, y = ggplot2::after_stat(.data$ndensity),
                                      fill = .data$kind)) +
    ggplot2::geom_histogram(bins = 30, position = "identity", alpha = 0.5) +
    ggplot2::facet_wrap(ggplot2::vars(.data$column), scales = "free_x") +
    ggplot2::labs(x = NULL, y = "density, largest one", fill = NULL)
}

observed_values <- function(newdata, columns) {
  if (is.null(newdata)) return(NULL)
  values <- lapply(columns, function(column) {
    v <- tryCatch(eval(str2lang(column), as.data.frame(newdata)), error = function(e) NULL)
    v <- v[!is.na(v)]
    if (!is.numeric(v) || length(v) == 0L) return(NULL)
    data.frame(column = column, value = v, kind = "observed")
  })
  do.call(rbind, values)
}
