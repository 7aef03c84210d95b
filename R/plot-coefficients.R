# Pictures of coefficients: a row each, with the interval.

plot_coefficients <- function(object, level, intercept, scaled, n, env) {
  need_spread(object, "plot(which = \"coefficients\")")
  units <- if (scaled) coefficient_units(object, coefficients_shown(object, intercept), env)
  all <- coefficient_data(object, level, intercept, units)
  order <- order(-abs(all$estimate / all$sd))
  shown <- all[utils::head(order, n), ]
  lost <- all[utils::tail(order, -n), ]
  shown$term <- factor(shown$term, levels = shown$term[order(shown$estimate)])
  plot_interval_rows(shown) +
    ggplot2::labs(
      title = paste0("Coefficients: ", spread_words(object, level)),
      subtitle = direction_words(object),
      x = coefficient_label(object, !is.null(units), all$term), y = NULL,
      caption = caption_of(wide_words(shown), lost_words(lost),
                           if (scaled && is.null(units)) raw_words, other_terms(object),
                           note_of(object$likelihood, "caption", object))
    )
}

raw_words <- "Not per standard deviation: the data of the fit can't be found"

coefficient_label <- function(object, scaled, terms) {
  what <- if (is_kind(object$response, "numbers")) {
    paste("Change in", short_names(response_title(object)))
  } else {
    "Coefficient"
  }
  if (all(terms %in% object$design$columns[object$design$intercept])) return("Intercept")
  paste(what, if (scaled) "per standard deviation of the predictor"
              else "per unit of the predictor")
}

# The coefficients that are not in the picture, counted.
lost_words <- function(lost) {
  if (nrow(lost) == 0L) return(NULL)
  away <- sum(lost$lower > 0 | lost$upper < 0)
  paste0(nrow(lost), " more coefficient", if (nrow(lost) > 1L) "s are" else " is",
         " nearer to zero in posterior standard deviations; ",
         if (away == 0L) "no" else away, " interval", if (away > 1L) "s exclude" else " excludes",
         " zero")
}

# Functions have pictures of their own.
other_terms <- function(object) {
  bases <- Filter(Negate(is_factors), object$bases)
  if (length(bases) == 0L) return(NULL)
  kinds <- unique(ifelse(vapply(bases, is_gp, TRUE), "gp", "smooth"))
  paste0("Functions: ", paste0("plot(fit, \"", kinds, "\")", collapse = ", "))
}

# Raw, or times the `units` of all columns.
coefficient_data <- function(object, level, intercept, units = NULL) {
  moments <- posterior_coefficients(object)
  factor <- if (is.null(units)) 1 else units
  limits <- factor * coefficient_limits(object$posterior, object, seq_along(moments$mean), level)
  all <- data.frame(term = names(moments$mean), estimate = moments$mean * factor,
                    sd = moments$sd * factor, limits)
  all[coefficients_shown(object, intercept), ]
}

# Columns whose coefficients mean something by themselves: not those of functions.
shown_columns <- function(object, intercept) {
  functions <- Filter(Negate(is_factors), object$bases)
  hidden <- c(columns_of(functions), if (!intercept) object$design$intercept)
  setdiff(seq_along(object$design$columns), hidden)
}

# The intercept if there are no others.
coefficients_shown <- function(object, intercept) {
  shown <- shown_columns(object, intercept)
  if (length(shown) == 0L) shown <- shown_columns(object, TRUE)
  if (length(shown) > 0L) return(shown)
  abort("unsupported", "plot(which = \"coefficients\") needs a coefficient of a predictor, ",
        "which this fit does not have. ",
        other_terms(object), ".")
}

# The standard deviations of the columns, 1 of those that are not `shown` and of the intercept. The
# fit knows those of columns that it scaled; of others the rows are needed. NULL without these.
coefficient_units <- function(object, shown, env) {
  units <- object$design$scale
  unknown <- setdiff(shown[units[shown] == 1], object$design$intercept)
  if (length(unknown) == 0L) return(units)
  rows <- tryCatch(training_design(object, training_data(object, env), FALSE)$x,
                   bsvm_error_data = function(e) NULL)
  at <- match(object$design$columns[unknown], colnames(rows))
  if (is.null(rows) || anyNA(at)) return(NULL)
  used <- rep_len(used_rows(object), nrow(rows))
  weights <- if (!is.null(object$weights)) unname(object$weights)[used]
  units[unknown] <- vapply(at, function(j) column_moments(rows[used, j], weights)$sd, 0)
  units
}

# ---- rows with intervals ------------------------------------------------------------------------

# `shown`: term (a factor, the first level at the bottom), estimate, lower, upper.
plot_interval_rows <- function(shown) {
  limits <- row_limits(shown)
  levels(shown$term) <- distinct_names(levels(shown$term))
  cut <- cut_rows(shown, limits)
  ggplot2::ggplot(shown, ggplot2::aes(.data$estimate, .data$term)) +
    zero_line() +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$from, xmax = .data$to), data = cut,
                            colour = plot_colour, linewidth = 0.7) +
    cut_arrows(cut, limits) +
    ggplot2::geom_point(data = cut[cut$inside, ], colour = plot_colour, size = 1.8) +
    ggplot2::coord_cartesian(xlim = limits) +
    plot_theme() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = row_text_size(nrow(shown))))
}

# An interval is cut if it is, with at most half of them, `much_wider` than all others: a wide bar
# would hide them. Two collinear predictors have two.
much_wider <- 4

is_much_wider <- function(shown) {
  width <- shown$upper - shown$lower
  wide <- logical(length(width))
  sorted <- sort(width, decreasing = TRUE)
  most <- max(1L, length(width) %/% 2L)
  if (length(width) < 2L) return(wide)
  at <- which(sorted[seq_len(most)] > much_wider * sorted[1L + seq_len(most)])
  if (length(at) > 0L) wide <- width >= sorted[max(at)]
  wide
}

# What the other rows need, zero included, and a third more.
row_limits <- function(shown) {
  wide <- is_much_wider(shown)
  limits <- range(0, shown$lower[!wide], shown$upper[!wide])
  if (!any(wide)) return(limits)
  limits <- limits + c(-1, 1) * diff(limits) / 3
  c(max(limits[1L], min(0, shown$lower)), min(limits[2L], max(0, shown$upper)))
}

# An interval that is wholly outside is shown as a piece at the edge.
cut_rows <- function(shown, limits) {
  piece <- diff(limits) / 25
  shown$from <- pmin(pmax(shown$lower, limits[1L]), limits[2L] - piece)
  shown$to <- pmax(pmin(shown$upper, limits[2L]), limits[1L] + piece)
  shown$inside <- shown$estimate >= limits[1L] & shown$estimate <= limits[2L]
  shown
}

cut_arrows <- function(cut, limits) {
  arrow <- ggplot2::arrow(length = ggplot2::unit(5, "pt"))
  piece <- diff(limits) / 50
  one <- function(rows, start, end) {
    if (nrow(rows) == 0L) return(NULL)
    ggplot2::geom_segment(ggplot2::aes(x = start, xend = end, yend = .data$term), data = rows,
                          colour = plot_colour, linewidth = 0.7, arrow = arrow)
  }
  list(one(cut[cut$lower < limits[1L], ], limits[1L] + piece, limits[1L]),
       one(cut[cut$upper > limits[2L], ], limits[2L] - piece, limits[2L]))
}

# "Arrows: (Intercept) -12 (-35 to 22)"
wide_words <- function(shown) {
  limits <- row_limits(shown)
  cut <- shown[shown$lower < limits[1L] | shown$upper > limits[2L], ]
  if (nrow(cut) == 0L) return(NULL)
  numbers <- function(x) vapply(x, format, "", digits = 2L)
  paste0("Arrows, beyond the axis: ",
         enumerate(paste0(short_names(as.character(cut$term)), " ", numbers(cut$estimate), " (",
                          numbers(cut$lower), " to ", numbers(cut$upper), ")"), "", most = 2L))
}
