#' Plot of a study of classifiers
#'
#' `plot()` shows the metrics over the splits of a study, and the paired differences of the models
#' from the first. `plot_ber()` shows only the balanced error rate, for one or several studies (Luts
#' and Ormerod 2014, Figures 1, 2 and 4).
#'
#' @details
#' There are two panels per metric. The first has the values of the splits, as points and a box plot.
#' Its dashed line is the value of a classifier that knows nothing (one half) for `"ber"` and
#' `"auc"`, and the ideal value 1 for `"slope"`. The second panel has the mean difference from the first
#' model, split by split, with a 95 % interval. It is the mean plus or minus a quantile of Student's
#' t times `se_corrected`, which allows for overlapping training sets (see
#' [summary.bsvm_holdout()]). Seconds are shown on a logarithmic axis, and their differences as
#' ratios.
#'
#' @param ... For `plot_ber()`: results of [holdout()] or [cross_validate()] with the metric
#'   `"ber"`. If they are named, the names are the titles of the panels. For `plot()`: arguments of
#'   `autoplot()`.
#' @param x,object A result of [holdout()] or [cross_validate()].
#' @param metrics Names of the metrics to show. By default the first four, without `"seconds"` if
#'   there are others.
#' @return A `ggplot` object. If values are missing, the caption shows their number.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed or all values are missing;
#' `bsvm_error_argument` for an object that is not a study, or a metric that is not in the study.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176.
#' @seealso [summary.bsvm_holdout()].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # does age improve the prediction of disease in every split?
#' models <- list(sex = disease ~ sex, both = disease ~ sex + age)
#' set.seed(1)
#' study <- holdout(models, cath, times = 4, metrics = c("ber", "auc"))
#' plot(study)
#' plot_ber("all" = study, "below 50" = holdout(models, cath, times = 4, test = age < 50))
#' @export
plot_ber <- function(...) {
  need_ggplot2()
  studies <- list(...)
  if (length(studies) == 0L) abort("argument", "plot_ber() needs a result of holdout().")
  labels <- panel_labels(names(studies), length(studies), "study")
  one <- length(studies) == 1L
  parts <- Map(function(study, label) {
    study_parts(study, "ber", label, if (one) metric_labels[["ber"]] else label)
  }, studies, labels)
  plot_study(parts, metric_labels[["ber"]])
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
  metrics <- if (is.null(metrics)) shown_metrics(known) else pick_part(metrics, known, "metrics")
  parts <- lapply(metrics, function(metric) {
    study_parts(object, metric, "object", label_of_metric(metric))
  })
  picture <- plot_study(parts, if (length(metrics) == 1L) label_of_metric(metrics))
  others <- setdiff(known, metrics)
  if (length(others) == 0L) return(picture)
  add_caption(picture, paste0("Not shown: ", enumerate(others, "", most = 3L),
                              "; see plot(study, metrics = \"", others[1L], "\")"))
}

# Seconds, on an axis of their own, have a picture of their own.
shown_metrics <- function(known) {
  if (length(known) == 1L) return(known)
  utils::head(setdiff(known, "seconds"), most_metrics)
}

most_metrics <- 4L

metric_labels <- c(ber = "Balanced error rate", error = "Error rate", auc = "Area under the curve",
                   brier = "Brier score", log_score = "Log score (high: good)",
                   slope = "Calibration slope", rmse = "Root mean squared error",
                   mae = "Mean absolute error", r2 = "R-squared", coverage = "Coverage",
                   width = "Width of intervals", crps = "CRPS (low: good)", seconds = "Seconds")

# The value for a classifier that knows nothing; for a slope, the ideal.
reference_values <- c(ber = 0.5, auc = 0.5, slope = 1)

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

# Two panels of one metric, list(values, differences, lines, missing): the values of the splits, and
# the differences of the models from the first. Seconds are logarithms, and their differences those
# of ratios.
study_parts <- function(study, metric, name, label) {
  shown <- study_values(study, metric, name)
  models <- levels(droplevels(shown$model))
  there <- is.finite(shown$value)
  log <- metric == "seconds"
  if (log) shown$value <- base::log(pmax(shown$value, 0.001))
  panels <- c(label, paste0(label, key_mark, if (log) "Ratio to '" else "Difference from '",
                            short_names(models[1L], 20L), "'"))
  found <- paired_differences(shown[there, ], models, test_ratio(attr(study, "splits")))
  place <- function(part, k) {
    n <- nrow(part)
    cbind(part, panel = rep(panels[k], n), zero = rep(if (log) panel_offset else 0, n))
  }
  reference <- unname(reference_values[metric])
  lines <- data.frame(at = c(reference, if (log) panel_offset else 0), panel = panels)
  lines <- lines[c(!is.na(reference), nrow(found) > 0L), ]
  ratio <- test_ratio(attr(study, "splits"))
  list(corrected = !is.null(ratio),
       values = place(shown[there, c("model", "value", "split")], 1L),
       differences = place(found, 2L), lines = lines, models = models,
       missing = sum(!there), total = nrow(shown))
}

# Data frame model, value (the mean difference), lower, upper.
paired_differences <- function(shown, models, ratio) {
  parts <- lapply(models[-1L], function(model) {
    ours <- shown[shown$model == model, ]
    theirs <- shown[shown$model == models[1L], ]
    difference <- ours$value - theirs$value[match(ours$split, theirs$split)]
    found <- mean_and_error(difference[!is.na(difference)], ratio)
    if (found$splits < 2L) return(NULL)
    half <- stats::qt(0.975, found$splits - 1L) *
      if (is.null(ratio)) found$se else found$se_corrected
    data.frame(model = model, value = found$mean, lower = found$mean - half,
               upper = found$mean + half)
  })
  out <- do.call(rbind, parts)
  if (!is.null(out)) return(out)
  data.frame(model = character(), value = numeric(), lower = numeric(), upper = numeric())
}

plot_study <- function(parts, title) {
  gather <- function(name) do.call(rbind, lapply(parts, `[[`, name))
  values <- gather("values")
  if (nrow(values) == 0L) abort("unsupported", "All values of the study are missing.")
  differences <- gather("differences")
  models <- unique(unlist(lapply(parts, `[[`, "models")))
  panels <- unique(unlist(lapply(parts, function(part) {
    c(part$values$panel[1L], if (nrow(part$differences) > 0L) part$differences$panel[1L])
  })))
  columns <- if (length(panels) == 2L * length(parts)) if (length(parts) > 3L) 4L else 2L
  rows <- length(models) * if (is.null(columns)) 2 else ceiling(length(panels) / columns)
  placed <- function(part) {
    part$panel <- factor(part$panel, panels)
    part[!is.na(part$panel), ]
  }
  ggplot2::ggplot(placed(values), ggplot2::aes(.data$value + .data$zero, .data$model)) +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$at), placed(gather("lines")),
                        colour = "grey55", linetype = "dashed") +
    ggplot2::geom_boxplot(colour = "grey45", fill = "grey95", width = 0.6, outlier.shape = NA,
                          orientation = "y") +
    ggplot2::geom_point(position = ggplot2::position_jitter(0, 0.15, seed = 1L), size = 0.9,
                        alpha = if (nrow(values) > 200L) 0.35 else 0.6, colour = plot_colour) +
    (if (nrow(differences) > 0L) difference_layers(placed(differences))) +
    ggplot2::facet_wrap("panel", scales = "free_x", ncol = columns,
                        labeller = ggplot2::as_labeller(function(panels) {
                          panel_title(panels, if (length(parts) > 3L) 18L else 30L)
                        })) +
    ggplot2::scale_x_continuous(breaks = check_breaks, labels = check_labels) +
    ggplot2::scale_y_discrete(limits = rev(models), labels = short_names,
                              guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::labs(title = if (is.null(title)) "Models compared over splits of the data"
                          else paste(title, "over splits of the data"),
                  x = NULL, y = NULL, caption = study_caption(parts, nrow(differences) > 0L)) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   panel.spacing.x = ggplot2::unit(14, "pt"),
                   strip.text = ggplot2::element_text(size = if (length(parts) > 3L) 8 else 9),
                   axis.text.x = ggplot2::element_text(size = 7.5),
                   axis.text.y = ggplot2::element_text(size = row_text_size(2 * rows)))
}

# Panels of differences are to the right of that with the metric's name.
panel_title <- function(panels, width = 30L) {
  vapply(strwrap(sub(paste0(".*", key_mark), "", panels), width, simplify = FALSE), paste, "",
         collapse = "\n")
}

difference_layers <- function(shown) {
  list(ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower + .data$zero,
                                            xmax = .data$upper + .data$zero),
                               data = shown, colour = class_colours[1L], linewidth = 0.7),
       ggplot2::geom_point(data = shown, colour = class_colours[1L], size = 1.8))
}

study_caption <- function(parts, differences) {
  missing <- sum(vapply(parts, `[[`, 0L, "missing"))
  caption_of(
    "Boxes and points: the splits",
    if (differences) {
      paste0("Differences: paired by split, mean and 95 % interval",
             if (all(vapply(parts, `[[`, TRUE, "corrected"))) {
               " allowing for overlapping training sets"
             })
    },
    if (missing > 0L) {
      paste(missing, "of", sum(vapply(parts, `[[`, 0L, "total")), "values are missing")
    }
  )
}
