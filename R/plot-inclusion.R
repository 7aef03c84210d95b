#' Plot of inclusion probabilities
#'
#' A bar chart of the inclusion probability of each column of the design matrix, for one or several
#' fits. The darker a bar, the more probable a positive coefficient (Luts and Ormerod 2014, Figure
#' 3; Polson and Scott 2011, Figure 3).
#'
#' @param ... Fits with a prior that selects variables, or the values of [inclusion()] for them. If
#'   they are named, the names are the titles of the panels.
#' @param threshold A probability, at which a dashed line is drawn.
#' @param n Maximum number of columns to show: the most probable in any of the fits.
#' @param x,object The value of [inclusion()].
#' @return A `ggplot` object.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed or no prior of a fit selects variables;
#' `bsvm_error_argument` for invalid arguments.
#' @inherit inclusion references
#' @seealso [inclusion()].
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' d <- data.frame(x = matrix(rnorm(2000), 200))
#' d$y <- d$x.1 - d$x.2 + rnorm(200) > 0
#' fit <- bsvm(y ~ ., data = d, prior = prior_spike_slab(pi = 0.2),
#'             engine = engine_gibbs(draws = 200, burnin = 100))
#' plot_inclusion(fit)
#' plot_inclusion("0.2" = fit, "0.5" = update(fit, prior = prior_spike_slab(pi = 0.5)))
#' @export
plot_inclusion <- function(..., threshold = 0.5, n = 60L) {
  need_ggplot2()
  check_level(threshold, "threshold")
  check_count(n, "n")
  shown <- inclusion_data(list(...), n)
  few <- nlevels(shown$term) <= 100L
  ggplot2::ggplot(shown, ggplot2::aes(.data$term, .data$probability, fill = .data$p_positive)) +
    ggplot2::geom_col(colour = "grey20", linewidth = 0.25, width = 0.85) +
    ggplot2::geom_hline(yintercept = threshold, colour = "grey55", linetype = "dashed") +
    ggplot2::scale_fill_gradient(low = "white", high = "black", limits = c(0, 1),
                                 na.value = "grey80") +
    ggplot2::scale_y_continuous(limits = c(0, 1)) +
    (if (nlevels(shown$fit) > 1L) ggplot2::facet_wrap("fit", ncol = 1L)) +
    ggplot2::labs(x = NULL, y = "Inclusion probability", fill = "P(positive)",
                  caption = inclusion_caption(shown)) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.x = ggplot2::element_blank(),
                   axis.text.x = if (few) ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5)
                                 else ggplot2::element_blank())
}

#' @rdname plot_inclusion
#' @export
plot.bsvm_inclusion <- function(x, ...) plot_inclusion(x, ...)

#' @rdname plot_inclusion
#' @method autoplot bsvm_inclusion
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_inclusion)
autoplot.bsvm_inclusion <- function(object, ...) plot_inclusion(object, ...)

# The tables of several fits below each other: terms in the order of the designs, the `n` that are
# most probable somewhere; attribute `total`, how many there were.
inclusion_data <- function(fits, n) {
  if (length(fits) == 0L) {
    abort("argument", "plot_inclusion() needs a fit, or what inclusion() gives for it.")
  }
  labels <- panel_labels(names(fits), length(fits))
  tables <- Map(inclusion_table, fits, labels)
  all <- do.call(rbind, Map(function(table, label) cbind(as.data.frame(table), fit = label),
                            tables, labels))
  terms <- unique(all$term)
  best <- tapply(all$probability, factor(all$term, terms), max)
  kept <- terms[sort(utils::head(order(-best), n))]
  shown <- all[all$term %in% kept, ]
  shown$term <- factor(shown$term, kept)
  shown$fit <- factor(shown$fit, labels)
  structure(shown, total = length(terms))
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
  total <- attr(shown, "total")
  if (nlevels(shown$term) == total) return(NULL)
  paste0("The ", nlevels(shown$term), " most probable of ", total, " columns")
}
