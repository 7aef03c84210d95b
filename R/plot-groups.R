# Pictures of group effects: in the order of their size, by name.

plot_groups <- function(object, level, select) {
  need_groups(object, "plot(which = \"groups\")")
  need_spread(object, "plot(which = \"groups\")")
  name <- pick_part(if (is.null(select)) 1L else select, names(object$groups), "select")[1L]
  shown <- group_data(object, name, level)
  levels <- length(object$groups[[name]]$levels)
  many <- levels > most_named_levels
  panels <- if (nlevels(shown$term) > 2L) 2L else 1L # below each other
  named <- shown[shown$named, ]
  labels <- short_names(level_of_key(as.character(named$key)), if (levels > 30L) 16L else 24L)
  ggplot2::ggplot(shown, ggplot2::aes(.data$condval, .data$at)) +
    zero_line() +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, alpha = ifelse(shown$named, 1, 0.12)) +
    ggplot2::geom_point(colour = plot_colour, size = if (levels > 30L) 0.8 else 1.6) +
    ggplot2::facet_wrap("term", scales = "free") +
    named_axis(named$at, labels, if (levels > 30L && !many) 2L else 1L) +
    ggplot2::labs(title = paste0("Effects of ", name, ": posterior ", interval_words(level)),
                  subtitle = direction_words(object),
                  x = group_axis(object), y = NULL,
                  caption = caption_of(group_words(levels, sum(shown$term == shown$term[1L])),
                                       note_of(object$likelihood, "caption", object))) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   axis.text.y = ggplot2::element_text(size = name_size(levels, panels)))
}

# Names in two columns have twice the room.
name_size <- function(levels, panels) {
  rows <- if (levels > most_named_levels) 2L * extreme_named + between_rows
          else if (levels > 30L) levels / 2
          else levels
  row_text_size(1.1 * rows * panels)
}

group_axis <- function(object) {
  if (is_kind(object$response, "numbers")) {
    paste("Difference in", short_names(response_title(object)))
  } else {
    "Effect on the linear predictor"
  }
}

# Levels that all have their names; of more the `extreme_named` at either end.
most_named_levels <- 60L
extreme_named <- 10L
between_rows <- 6L # the room of those between

group_words <- function(levels, shown) {
  if (levels <= most_named_levels) return(NULL)
  paste0("The ", extreme_named, " lowest and highest of ", levels, " levels are named; ",
         "the others, in order, are closer together",
         if (shown < levels) paste0(" (", shown, " shown)"))
}

# The long form of ranef() of one factor, each term in the order of its effects with rows `at`; more
# levels than a picture can show are thinned evenly in rank.
group_data <- function(object, name, level, most = 1000L) {
  long <- as.data.frame.bsvm_ranef(ranef.bsvm(object))
  long <- long[long$grpvar == name, ]
  long <- cbind(long, effect_limits(object$posterior, object, long, level))
  long$term <- factor(long$term, levels = unique(long$term))
  ranked <- lapply(split(long, long$term), function(part) {
    part <- part[order(part$condval), ]
    kept <- unique(round(seq(1, nrow(part), length.out = min(most, nrow(part)))))
    ends <- c(seq_len(extreme_named), nrow(part) + 1L - seq_len(extreme_named))
    kept <- sort(union(kept, ends[ends > 0L & ends <= nrow(part)]))
    row_places(part[kept, ], nrow(part))
  })
  ranked <- do.call(rbind, ranked)
  ranked$at <- ranked$at + panel_offset * as.integer(ranked$term)
  ranked$key <- paste(ranked$grp, ranked$term, sep = key_mark)
  ranked$key <- factor(ranked$key, levels = ranked$key)
  ranked
}

# If there are many rows, those between the named ones share the room of a few.
row_places <- function(part, levels) {
  n <- nrow(part)
  k <- seq_len(n)
  part$named <- levels <= most_named_levels | k <= extreme_named | k > n - extreme_named
  between <- n - 2L * extreme_named
  part$at <- if (all(part$named)) k
             else ifelse(k <= extreme_named, k,
                         ifelse(k > n - extreme_named, k - between + between_rows,
                                extreme_named + 0.5 + (k - extreme_named - 0.5) / between *
                                  between_rows))
  part
}

# Separates level and term in the keys of effects; no level has it in its name.
key_mark <- "\r"

level_of_key <- function(key) sub(paste0(key_mark, ".*"), "", key)
