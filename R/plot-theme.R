# Shared by all pictures: the theme, a palette that colour-blind readers can tell apart (Okabe and
# Ito, and two of Tol's), words for axes, short names, and axes of panels that differ in what their
# numbers mean.

plot_colour <- "#0072B2"

# Colours of the first and the second class; also of negative and positive values.
class_colours <- c("#D55E00", "#0072B2")

plot_palette <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000",
                  "#661100", "#332288")

# Titles begin at the left edge of the whole picture, where long ones have room.
plot_theme <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(panel.grid.minor = ggplot2::element_blank(),
                   plot.title = ggplot2::element_text(size = 12),
                   plot.subtitle = ggplot2::element_text(size = 9.5, colour = "grey30"),
                   plot.title.position = "plot", plot.caption.position = "plot",
                   plot.caption = ggplot2::element_text(size = 8, colour = "grey30", hjust = 0),
                   strip.text = ggplot2::element_text(size = 9))
}

zero_line <- function(at = 0) {
  ggplot2::geom_vline(xintercept = at, colour = "grey55", linetype = "dashed")
}

# "Posterior mean and 95 % interval"
spread_words <- function(object, level) {
  paste0("posterior ", interval_words(level, word_for_estimate(object)))
}

interval_words <- function(level, estimate = "mean") {
  paste0(estimate, " and ", format(100 * level), " % interval")
}

# Lines of a caption; NULL for none.
caption_of <- function(...) {
  lines <- c(...)
  if (length(lines) > 0L) paste(lines, collapse = "\n")
}

# What the linear predictor is of: the class that is more probable where it is high.
direction_words <- function(object) {
  if (!is_kind(object$response, "classes")) return(NULL)
  paste0("Positive values make the class '", object$response$levels[2L], "' more probable")
}

# Long names are cut in the middle, so that beginnings and ends can be read.
distinct_names <- function(names, width = 28L) make.unique(short_names(names, width), sep = " ")

short_names <- function(names, width = 28L) {
  long <- nchar(names) > width
  head <- ceiling((width - 2) * 0.6)
  ends <- nchar(names) - (width - 2 - head) + 1
  ifelse(long, paste0(substring(names, 1L, head), "..", substring(names, ends)), names)
}

# Points of text for so many lines in a panel of a picture four inches high.
row_text_size <- function(rows) max(5, min(8.8, 190 / rows))

# ---- panels whose vertical axes have names ------------------------------------------------------

# Panel k has its rows at 1e4 * k + 1, 2, ...: a scale that is told the limits alone then knows
# which names belong there.
panel_offset <- 1e4

named_axis <- function(at, names, dodge = 1L, expand = 0.6) {
  ggplot2::scale_y_continuous(
    breaks = function(limits) at[at >= limits[1L] & at <= limits[2L]],
    labels = function(breaks) names[match(breaks, at)],
    expand = ggplot2::expansion(add = expand), guide = ggplot2::guide_axis(n.dodge = dodge)
  )
}
