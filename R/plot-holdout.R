#' Plot of a study of classifiers
#'
#' Box plots of the metrics over the splits of a study, with one box per model. `plot()` has one
#' panel per metric. `plot_ber()` shows only the balanced error rate, for one or several studies
#' (Luts and Ormerod 2014, Figures 1, 2 and 4).
#'
#' @param ... For `plot_ber()`: results of [holdout()] or [cross_validate()] with the metric
#'   `"ber"`. If they are named, the names are the titles of the panels. For `plot()`: arguments of
#'   `autoplot()`.
#' @param x,object A result of [holdout()] or [cross_validate()].
#' @param metrics Names of the metrics to show; all by default.
#' @return A `ggplot` object. If values are missing, the caption shows their number.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed; `bsvm_error_argument` for an object that is
#' not a study, or a metric that is not in the study.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176.
#' @seealso [summary.bsvm_holdout()].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' models <- list(small = am ~ wt, large = am ~ wt + mpg + qsec)
#' set.seed(1)
#' study <- holdout(models, mtcars, times = 10, metrics = c("ber", "auc"))
#' plot(study)
#' plot_ber(study)
#' plot_ber("all rows" = study, "light ones" = holdout(models, mtcars, times = 10, test = wt < 3.6))
#' @export
plot_ber <- function(...) {
  need_ggplot2()
  studies <- list(...)
  if (length(studies) == 0L) abort("argument", "plot_ber() needs a result of holdout().")
  labels <- panel_labels(names(studies), length(studies), "study")
  shown <- do.call(rbind, Map(function(study, label) {
    cbind(study_values(study, "ber", label), study = factor(label, labels))
  }, studies, labels))
  plot_boxes(shown, if (length(studies) > 1L) "study", metric_labels[["ber"]])
}

#' @rdname plot_ber
#' @export
plot.bsvm_holdout <- function(x, ...) autoplot.bsvm_holdout(x, ...)

#' @rdname plot_ber
#' @method autoplot bsvm_holdout
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_holdout)
autoplot.bsvm_holdout <- function(object, metrics = NULL, ...) {
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  check_study(object, "plot()")
  known <- levels(droplevels(object$metric))
  metrics <- if (is.null(metrics)) known else pick_part(metrics, known, "metrics")
  shown <- study_values(object, metrics, "object")
  one <- length(metrics) == 1L
  levels(shown$metric) <- label_of_metric(levels(shown$metric))
  plot_boxes(shown, if (!one) "metric", if (one) label_of_metric(metrics), "free_y")
}

metric_labels <- c(ber = "Balanced error rate", error = "Error rate", auc = "Area under the curve",
                   brier = "Brier score", log_score = "Log score", slope = "Calibration slope",
                   seconds = "Seconds")

label_of_metric <- function(metrics) {
  ifelse(metrics %in% names(metric_labels), metric_labels[metrics], metrics)
}

study_values <- function(study, metrics, name) {
  if (!is_study(study) || !all(metrics %in% study$metric)) {
    abort("argument", "The object to plot must be a result of holdout() or cross_validate() with ",
          enumerate(metrics, "\""), " among its metrics; found ", describe(study), " for ",
          enumerate(name), ".")
  }
  shown <- as.data.frame(study)[study$metric %in% metrics, ]
  shown$metric <- factor(shown$metric, metrics)
  shown
}

# Names that would run into each other are turned.
plot_boxes <- function(shown, panels, label, scales = "fixed") {
  turned <- sum(nchar(levels(shown$model))) > 30L
  there <- is.finite(shown$value)
  caption <- if (!all(there)) paste(sum(!there), "of", length(there), "values are missing")
  shown <- shown[there, ]
  ggplot2::ggplot(shown, ggplot2::aes(.data$model, .data$value)) +
    ggplot2::geom_boxplot(colour = plot_colour, fill = "grey95", width = 0.6, outlier.size = 1) +
    (if (!is.null(panels)) ggplot2::facet_wrap(panels, scales = scales)) +
    ggplot2::scale_x_discrete(drop = FALSE,
                              guide = ggplot2::guide_axis(angle = if (turned) 45)) +
    ggplot2::labs(x = NULL, y = label, caption = caption) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank())
}
