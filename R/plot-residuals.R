# Pictures of a response of numbers: residuals with the tube, and predictive intervals over rows.

plot_residuals <- function(object) {
  need_numbers(object, "plot(which = \"residuals\")")
  need_rows(object, "plot(which = \"residuals\")")
  used <- which(rep_len(used_rows(object), length(object$y)))
  shown <- data.frame(fitted = object$link, residual = object$y - object$link,
                      outside = factor(ifelse(support_rows(object), "outside", "inside"),
                                       c("inside", "outside")))[used, ]
  tube <- tube_of(object)
  picture <- ggplot2::ggplot(shown, ggplot2::aes(.data$fitted, .data$residual))
  picture + tube_layer(if (length(tube) > 1L) tube[used] else tube) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey60", linewidth = 0.3) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$outside), colour = plot_colour,
                        alpha = if (nrow(shown) > 500L) 0.4 else 0.9) +
    ggplot2::scale_shape_manual(values = c(inside = 1, outside = 16),
                                guide = if (is.null(tube)) "none" else "legend") +
    ggplot2::labs(title = "Residuals against fitted values",
                  x = paste("Fitted", short_names(response_title(object))), y = "Residual",
                  shape = "Tube",
                  caption = if (!is.null(tube)) {
                    paste0("Tube: residuals up to ", format_tube(tube, 3L),
                           " in size, which cost nothing.")
                  }) +
    plot_theme()
}

# A band, or of rows whose scales differ a line each.
tube_layer <- function(tube) {
  if (is.null(tube)) return(NULL)
  if (length(tube) > 1L) {
    return(ggplot2::geom_linerange(ymin = -tube, ymax = tube, colour = plot_colour, alpha = 0.15))
  }
  ggplot2::annotate("rect", xmin = -Inf, xmax = Inf, ymin = -tube, ymax = tube, fill = plot_colour,
                    alpha = 0.12)
}

plot_predictive <- function(object, level) {
  need_numbers(object, "plot(which = \"predictive\")")
  need_rows(object, "plot(which = \"predictive\")")
  need_spread(object, "plot(which = \"predictive\")")
  found <- predict.bsvm(object, interval = "prediction", level = level)
  shown <- data.frame(y = as.numeric(stats::napredict(object$na.action, object$y)), found)
  shown <- shown[!is.na(shown$fit), ]
  shown <- shown[order(shown$fit), ]
  total <- nrow(shown)
  kept <- unique(round(seq(1, total, length.out = min(total, 400L))))
  shown <- cbind(shown[kept, ], rank = kept)
  inside <- shown$y >= shown$lower & shown$y <= shown$upper
  ggplot2::ggplot(shown, ggplot2::aes(.data$rank, .data$y)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                            colour = plot_colour, alpha = 0.35) +
    ggplot2::geom_point(ggplot2::aes(y = .data$fit), colour = plot_colour, size = 0.8) +
    ggplot2::geom_point(shape = ifelse(inside, 1, 4), size = 1.4) +
    ggplot2::labs(title = "Predictive intervals of the rows", x = "Rows, ordered by fitted value",
                  y = short_names(response_title(object)),
                  caption = predictive_caption(level, mean(inside), length(kept), total)) +
    plot_theme()
}

predictive_caption <- function(level, share, shown, total) {
  paste0("Lines: ", format(100 * level), " % predictive intervals, of which ",
         format(100 * share, digits = 3L),
         " % cover.\nBlack: the response, with a cross outside its interval.",
         if (shown < total) paste0(" ", shown, " of ", total, " rows, evenly spaced."))
}
