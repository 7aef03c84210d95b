# Pictures of factor terms: loadings, scores, determinacy.

plot_loadings <- function(object, level, n) {
  need_factors(object, "plot(which = \"loadings\")")
  table <- factor_loadings(object, level = level)
  largest <- tapply(abs(table$estimate), factor(table$variable, unique(table$variable)), max)
  chosen <- names(largest)[utils::head(order(-largest), n)]
  shown <- table[table$variable %in% chosen, ]
  main <- tapply(seq_len(nrow(shown)), shown$variable, function(own) {
    own <- shown[own, ]
    at <- which.max(abs(own$estimate))
    match(own$factor[at], factor_names(nrow(own))) - sign(own$estimate[at]) / 3 -
      abs(own$estimate[at]) / 1e3
  })
  shown$variable <- factor(shown$variable, names(main)[order(-main)])
  shown$factor <- factor(shown$factor, unique(shown$factor))
  shown$sure <- shown$lower > 0 | shown$upper < 0
  top <- max(abs(shown$estimate))
  ggplot2::ggplot(shown, ggplot2::aes(.data$factor, .data$variable, fill = .data$estimate)) +
    ggplot2::geom_tile(colour = "white") +
    ggplot2::geom_point(data = shown[shown$sure, ], size = 0.7, colour = "grey20") +
    ggplot2::scale_fill_gradient2(low = class_colours[1L], high = plot_colour,
                                  limits = c(-top, top)) +
    ggplot2::scale_y_discrete(labels = short_names) +
    ggplot2::labs(title = "Loadings of the variables on the factors", x = NULL, y = NULL,
                  fill = "Loading", caption = paste0(
      if (length(largest) > n) {
        paste0(n, " of ", length(largest), " variables, the largest loadings. ")
      },
      "A dot: the ", format(100 * level), " % interval excludes zero.")) +
    plot_theme() +
    ggplot2::theme(panel.grid = ggplot2::element_blank(),
                   axis.text.y = ggplot2::element_text(size = row_text_size(length(chosen))))
}

# The two factors whose scores move the link most, unless others are chosen.
plot_scores <- function(object, select, env) {
  need_factors(object, "plot(which = \"scores\")")
  table <- factor_table(object)
  rows <- prediction_rows(object, NULL, NULL, FALSE, NULL, NULL, env)
  scores <- row_scores(object, rows, aligned_factors(object, "varimax"))
  sd <- attr(scores, "sd")
  order <- if (is.null(table$coefficient)) seq_len(nrow(table)) else order(-abs(table$coefficient))
  if (!is.null(select)) order <- match(pick_part(select, table$factor, "select"), table$factor)
  k <- ncol(scores)
  two <- order[seq_len(min(2L, length(order), k))]
  shown <- data.frame(x = scores[, two[1L]], x_sd = sd[, two[1L]],
                      response = shown_response(object))
  one <- length(two) == 1L
  alone <- inherits(object, "bsvm_factor_model")
  shown$y <- if (one && alone) seq_len(nrow(shown))
             else if (one) as.numeric(object$link)
             else scores[, two[2L]]
  shown$y_sd <- if (one) NA_real_ else sd[, two[2L]]
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$y, colour = .data$response)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$x - .data$x_sd, xmax = .data$x + .data$x_sd),
                            alpha = 0.35, linewidth = 0.4) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$y - .data$y_sd, ymax = .data$y + .data$y_sd),
                            alpha = 0.35, linewidth = 0.4, na.rm = TRUE) +
    ggplot2::geom_point(size = 1.3) +
    response_colours(object) +
    ggplot2::labs(title = "Factor scores of the rows", x = paste("Score on", table$factor[two[1L]]),
                  y = if (one && alone) "Row" else if (one) "Linear predictor"
                      else paste("Score on", table$factor[two[2L]]),
                  colour = response_title(object),
                  caption = paste("Scores given the variables, without the response; lines: one",
                                  "standard deviation")) +
    plot_theme()
}

shown_response <- function(object) {
  if (inherits(object, "bsvm_factor_model")) return("")
  if (is_kind(object$response, "numbers")) return(object$y)
  factor(object$response$levels[1L + (object$y > 0)], object$response$levels)
}

response_title <- function(object) shortened(object$formula[[2L]])

response_colours <- function(object) {
  if (inherits(object, "bsvm_factor_model")) {
    return(ggplot2::scale_colour_manual(values = plot_colour, guide = "none"))
  }
  if (is_kind(object$response, "numbers")) return(ggplot2::scale_colour_viridis_c())
  ggplot2::scale_colour_manual(values = class_colours)
}

plot_determinacy <- function(object, level) {
  need_factors(object, "plot(which = \"determinacy\")")
  table <- factor_table(object, level = level)
  whole <- factor_facts(object, level, table = FALSE)$determinacy
  shown <- data.frame(what = c(table$factor, "linear predictor"),
                      determinacy = c(table$determinacy, whole[1L]),
                      lower = c(rep(NA, nrow(table)), whole[2L]),
                      upper = c(rep(NA, nrow(table)), whole[3L]))
  shown$what <- factor(shown$what, rev(shown$what))
  ggplot2::ggplot(shown, ggplot2::aes(.data$determinacy, .data$what)) +
    ggplot2::geom_vline(xintercept = least_determinacy, linetype = 2, colour = "grey60",
                        linewidth = 0.3) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, linewidth = 0.7, na.rm = TRUE) +
    ggplot2::geom_point(colour = plot_colour, size = 1.8) +
    ggplot2::xlim(0, 1) +
    ggplot2::labs(title = "How well the variables determine the factors",
                  x = "Share of the variance that the variables determine", y = NULL,
                  caption = paste("Below one half, most of the linear predictor follows the",
                                  "response row by row")) +
    plot_theme()
}
