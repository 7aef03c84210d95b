#' Reliability plot
#'
#' `plot()` shows the observed share of a class against its predicted probability.
#'
#' @details
#' Points are bins with their Clopper-Pearson intervals; the size of a point shows the number of
#' rows. The line is a smooth curve with pointwise limits, from the first bin to the last. On the
#' dashed diagonal, probabilities are calibrated. Ticks are the probabilities of the rows: rows of
#' the first class at the bottom, rows of the second class at the top.
#'
#' @param x,object The value of [calibration()].
#' @param smooth Show the curve?
#' @param ... Must be empty.
#' @return A `ggplot` object.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed; `bsvm_error_argument` for other arguments.
#' @seealso [calibration()].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # are the probabilities right for patients who were not in the fit?
#' odd <- seq_len(nrow(cath)) %% 2 == 1
#' fit <- bsvm(disease ~ sex + age, data = cath[odd, ])
#' plot(calibration(fit, cath[!odd, ]))
#' @export
plot.bsvm_calibration <- function(x, ...) autoplot.bsvm_calibration(x, ...)

#' @rdname plot.bsvm_calibration
#' @method autoplot bsvm_calibration
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_calibration)
autoplot.bsvm_calibration <- function(object, smooth = TRUE, ...) {
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  check_flag(smooth, "smooth")
  positive <- positive_level(object$levels)
  ggplot2::ggplot(object$bins, ggplot2::aes(.data$predicted, .data$observed)) +
    ggplot2::geom_abline(colour = "grey55", linetype = "dashed") +
    (if (smooth) calibration_layers(object$curve)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                            colour = "grey30") +
    ggplot2::geom_point(ggplot2::aes(size = .data$n), colour = "grey20") +
    calibration_ticks(object) +
    ggplot2::scale_size_area(max_size = 4, breaks = row_breaks(object$bins$n)) +
    ggplot2::coord_equal(xlim = c(0, 1), ylim = c(0, 1)) +
    ggplot2::labs(title = paste0("Calibration of the probability of '", positive, "'"),
                  x = "Predicted probability", y = paste0("Observed share of '", positive, "'"),
                  size = "Rows in\nthe bin", caption = calibration_caption(object, smooth)) +
    plot_theme()
}

# The largest size, the smallest, and one between.
row_breaks <- function(n) unique(c(max(n), round(sqrt(max(n) * min(n))), min(n)))

calibration_layers <- function(curve) {
  if (is.null(curve)) return(NULL)
  list(ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), curve,
                            fill = plot_colour, alpha = 0.2),
       ggplot2::geom_line(data = curve, colour = plot_colour, linewidth = 0.8))
}

# If there are more rows, evenly spread quantiles are shown.
most_ticks <- 500L

calibration_ticks <- function(object) {
  lapply(c(FALSE, TRUE), function(class) {
    shown <- sort(object$prob[object$truth == class])
    if (length(shown) > most_ticks) {
      shown <- shown[round(seq(1, length(shown), length.out = most_ticks))]
    }
    ggplot2::geom_rug(ggplot2::aes(x = .data$predicted), data.frame(predicted = shown),
                      inherit.aes = FALSE, sides = if (class) "t" else "b", colour = plot_colour,
                      alpha = 0.3)
  })
}

calibration_caption <- function(object, smooth) {
  level <- paste(format(100 * object$level), "%")
  caption_of(
    paste0("Bars: ", level, " Clopper-Pearson intervals of the bins",
           if (smooth && !is.null(object$curve)) {
             paste0("; curve: logistic spline with ", level, " pointwise limits")
           }),
    paste0("Dashed: calibrated. Ticks: rows, '", positive_level(object$levels), "' at the top"),
    paste0("Brier score ", format(object$brier, digits = 3L), ", calibration slope ",
           format(object$line[["slope"]], digits = 3L), " (ideal 1), ", sum(object$nobs), " rows")
  )
}
