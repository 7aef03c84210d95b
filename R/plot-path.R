# The picture of a path: coefficients with names at the right, and how many there are.

#' @rdname regularization_path
#' @order 2
#' @export
plot.bsvm_path <- function(x, ...) {
  autoplot.bsvm_path(x, ...)
}

#' @rdname regularization_path
#' @order 3
#' @method autoplot bsvm_path
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_path)
autoplot.bsvm_path <- function(object, scaled = TRUE, ...) {
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  check_flag(scaled, "scaled")
  scaled <- scaled && !is.null(attr(object, "scale"))
  shown <- path_data(object, scaled)
  names <- path_names(shown)
  lines <- shown[shown$what == levels(shown$what)[1L], ]
  ggplot2::ggplot(shown, ggplot2::aes(.data$nu, .data$value, group = .data$term)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = 0), data = lines[1L, ], colour = "grey55",
                        linetype = "dashed") +
    ggplot2::geom_line(data = lines[!lines$term %in% names$term, ], colour = "grey70",
                       linewidth = 0.4) +
    ggplot2::geom_line(ggplot2::aes(colour = .data$term), linewidth = 0.7,
                       data = lines[lines$term %in% names$term, ]) +
    ggplot2::geom_text(ggplot2::aes(y = .data$at, label = short_names(.data$term, 20L),
                                    colour = .data$term), data = names, hjust = 0, size = 2.7) +
    ggplot2::geom_step(data = shown[shown$term == "", ], colour = "grey20") +
    ggplot2::facet_wrap("what", ncol = 1L, scales = "free_y") +
    ggplot2::scale_x_log10(expand = ggplot2::expansion(mult = 0.02)) +
    ggplot2::scale_y_continuous(breaks = path_breaks) +
    ggplot2::scale_colour_manual(values = path_colours(names$term), guide = "none") +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::labs(title = "Coefficients along the scale of the prior",
                  x = "Scale of the prior, nu (small: strong shrinkage)", y = NULL,
                  caption = path_words(object, shown)) +
    plot_theme() +
    ggplot2::theme(plot.margin = ggplot2::margin(6, 12 + 5 * longest_name(names$term), 6, 6))
}

named_paths <- 9L # a panel has room for so many

longest_name <- function(names) max(0L, nchar(short_names(names, 20L)))

# Names in the order of their lines' ends, in which neighbours differ in colour.
path_colours <- function(names) {
  stats::setNames(rep_len(plot_palette, length(names)), names)
}

# Counts are whole numbers.
path_breaks <- function(limits) {
  breaks <- pretty(limits, 4L)
  if (max(limits) >= 1 && min(limits) >= 0) breaks[breaks == round(breaks)] else breaks
}

path_data <- function(path, scaled) {
  what <- c(if (scaled) "Coefficient per standard deviation of the predictor" else "Coefficient",
            "Number of nonzero coefficients")
  terms <- attr(path, "terms")
  shown <- as.data.frame(path)[path$term %in% terms, ]
  if (scaled) shown$estimate <- shown$estimate * attr(path, "scale")[match(shown$term, terms)]
  count <- shown[!duplicated(shown$nu), ]
  data.frame(nu = c(shown$nu, count$nu), term = c(shown$term, rep("", nrow(count))),
             value = c(shown$estimate, count$nonzero),
             what = factor(rep(what, c(nrow(shown), nrow(count))), levels = what))
}

# The largest lines at their ends, `at` which their names don't overlap: data frame nu, term, value,
# what, at.
path_names <- function(shown) {
  lines <- shown[shown$term != "", ]
  size <- tapply(abs(lines$value), factor(lines$term, unique(lines$term)), max)
  size <- size[size > 0]
  chosen <- names(size)[utils::head(order(-size), named_paths)]
  ends <- lines[lines$nu == max(lines$nu) & lines$term %in% chosen, ]
  ends <- ends[order(ends$value), ]
  ends$at <- apart(ends$value, diff(range(0, lines$value)) / 8.5)
  ends$nu <- ends$nu * (max(shown$nu) / min(shown$nu))^0.03
  ends
}

# Sorted numbers, moved as little as makes them at least `gap` apart.
apart <- function(x, gap) {
  steps <- gap * seq_along(x)
  if (length(x) == 0L) return(x)
  stats::isoreg(x - steps)$yf + steps
}

path_words <- function(path, shown) {
  lines <- length(unique(shown$term)) - 1L
  caption_of(
    if (lines > named_paths) {
      paste("The", named_paths, "largest of", lines, "coefficients are named")
    },
    paste0("Lines connect the optima at ", length(unique(path$nu)), " values of nu, with a ",
           "relative gap of ", format(max(path$gap), digits = 1L), " or less",
           if (isTRUE(attr(path, "local"))) ";\nbelow alpha = 1 an optimum may be a local one"),
    if (goes_back(shown)) {
      "A coefficient can shrink, even to zero, when that of a correlated predictor grows"
    }
  )
}

# Does the size of a coefficient, or their number, fall somewhere as nu grows?
goes_back <- function(shown) {
  any(vapply(split(shown, shown$term), function(part) {
    size <- abs(part$value[order(part$nu)])
    any(diff(size) < -0.02 * max(size))
  }, TRUE))
}
