#' Plot of inclusion probabilities
#'
#' A bar chart of the inclusion probability of each column of the design matrix, for one or several
#' fits, the most probable first. The colour shows the sign of the coefficient if it is in the
#' model; it is pale if the probability of this sign is below 0.95. (See also Luts and Ormerod 2014,
#' Figure 3; Polson and Scott 2011, Figure 3.)
#'
#' @param ... Fits with a prior that selects variables, or the values of [inclusion()] for them. If
#'   they are named, the names are the titles of the panels.
#' @param threshold A probability, at which a dashed line is drawn.
#' @param n Maximum number of columns to show: the most probable in any of the fits. The others are
#'   counted.
#' @param x,object The value of [inclusion()].
#' @return A `ggplot` object.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed or no prior of a fit selects variables;
#' `bsvm_error_argument` for invalid arguments.
#' @inherit inclusion references
#' @seealso [inclusion()].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # which measurements are needed to tell two species apart?
#' set.seed(1)
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa", prior = prior_spike_slab())
#' plot_inclusion(fit)
#' plot_inclusion("default" = fit, "0.2" = update(fit, prior = prior_spike_slab(pi = 0.2)))
#' @export
plot_inclusion <- function(..., threshold = 0.5, n = 30L) {
  need_ggplot2()
  check_level(threshold, "threshold")
  check_count(n, "n")
  shown <- inclusion_data(list(...), n)
  panels <- nlevels(shown$fit)
  ggplot2::ggplot(shown, ggplot2::aes(.data$probability, .data$term, fill = .data$sign)) +
    ggplot2::geom_col(width = 0.75) +
    ggplot2::geom_vline(xintercept = threshold, colour = "grey30", linetype = "dashed") +
    ggplot2::scale_fill_manual(values = sign_colours) +
    ggplot2::scale_x_continuous(limits = c(0, 1), breaks = c(0, 0.5, 1),
                                labels = c("0", "0.5", "1"),
                                expand = ggplot2::expansion(c(0, 0.03))) +
    ggplot2::scale_y_discrete(labels = function(names) distinct_names(names, 24L)) +
    (if (panels > 1L) ggplot2::facet_wrap("fit", nrow = 1L)) +
    ggplot2::labs(title = "Probability that a predictor is in the model",
                  x = "Inclusion probability", y = NULL, fill = NULL,
                  caption = inclusion_caption(shown)) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(), legend.position = "top",
                   legend.margin = ggplot2::margin(), legend.key.size = ggplot2::unit(9, "pt"),
                   panel.spacing = ggplot2::unit(12, "pt"),
                   axis.text.y = ggplot2::element_text(size = row_text_size(nlevels(shown$term))))
}

# Two hues for the sign that is more probable for sure, pale ones where it is in doubt.
sign_colours <- c("negative" = "#D55E00", "probably negative" = "#F0BF99",
                  "probably positive" = "#99C7E0", "positive" = "#0072B2", "not known" = "grey75")

sure_sign <- 0.95

likely_sign <- function(p_positive) {
  levels <- names(sign_colours)
  at <- findInterval(p_positive, c(1 - sure_sign, 0.5, sure_sign)) + 1L
  at[is.na(p_positive)] <- 5L
  factor(levels[at], levels)
}

#' @rdname plot_inclusion
#' @export
plot.bsvm_inclusion <- function(x, ...) plot_inclusion(x, ...)

#' @rdname plot_inclusion
#' @method autoplot bsvm_inclusion
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_inclusion)
autoplot.bsvm_inclusion <- function(object, ...) plot_inclusion(object, ...)

# The tables of several fits below each other: the `n` terms that are most probable somewhere, the
# most probable at the top, which is the last level; attribute `total`, how many there were.
inclusion_data <- function(fits, n) {
  if (length(fits) == 0L) {
    abort("argument", "plot_inclusion() needs a fit, or what inclusion() gives for it.")
  }
  labels <- panel_labels(names(fits), length(fits))
  tables <- Map(inclusion_table, fits, labels)
  columns <- c("term", "probability", "p_positive")
  all <- do.call(rbind, Map(function(table, label) {
    cbind(as.data.frame(table)[columns], fit = label)
  }, tables, labels))
  terms <- unique(all$term)
  best <- tapply(all$probability, factor(all$term, terms), max)
  mean <- tapply(all$probability, factor(all$term, terms), mean)
  kept <- terms[utils::head(order(-best, -mean), n)]
  shown <- all[all$term %in% kept, ]
  shown$term <- factor(shown$term, rev(kept))
  shown$fit <- factor(shown$fit, labels)
  shown$sign <- likely_sign(shown$p_positive)
  structure(shown, total = length(terms), lost = all$probability[!all$term %in% kept])
}

inclusion_table <- function(fit, label) {
  if (inherits(fit, "bsvm_inclusion")) return(fit)
  if (inherits(fit, "bsvm")) return(inclusion(fit))
  abort("argument", "All arguments of plot_inclusion() but `threshold` and `n` must be fits, or ",
        "what inclusion() gives; found ", describe(fit), " for ", enumerate(label, "`"), ".")
}

# Distinct, in the order of the fits.
panel_labels <- function(names, number, word = "fit") {
  if (is.null(names)) names <- rep("", number)
  make.unique(ifelse(names == "", paste(word, seq_len(number)), names), sep = " ")
}

inclusion_caption <- function(shown) {
  lost <- attr(shown, "total") - nlevels(shown$term)
  paste0("Colour: the sign of the coefficient if it is in the model; pale: less sure than ",
         sure_sign,
         if (lost > 0L) paste0("\n", lost, " more column", if (lost > 1L) "s", " with probability ",
                               if (lost > 1L) "up to ",
                               format(max(attr(shown, "lost")), digits = 2L)))
}
