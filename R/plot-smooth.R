# Pictures of terms with a basis.

plot_smooth <- function(object, level, select) {
  bases <- chosen_bases(object, select, "smooth")
  sizes <- vapply(bases, shown_size, 0)
  if (all(sizes == 1L)) return(plot_curves(object, bases, level))
  if (length(bases) == 1L && sizes == 2L) return(plot_surface(object, bases[[1L]], level))
  abort("unsupported", "Smooth terms of one number are shown together, of two numbers one by one, ",
        "others not at all; found ", enumerate(basis_labels(bases)), ". Choose with `select`.")
}

# How many variables; Inf if there is no grid of them, as where one of several is constant.
shown_size <- function(basis) {
  ranges <- basis_ranges(basis)
  flat <- length(ranges) > 1L && any(vapply(ranges, diff, 0) == 0)
  if (is.null(ranges) || flat) Inf else length(ranges)
}

plot_curves <- function(object, bases, level, points = 200L, what = "Smooth") {
  shown <- do.call(rbind, lapply(bases, curve_data, object = object, level = level,
                                 points = points))
  shown$label <- factor(shown$label, levels = unique(shown$label))
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$fit)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey55", linetype = "dashed") +
    if_spread(object, ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                                           fill = plot_colour, alpha = 0.2)) +
    ggplot2::geom_line(colour = plot_colour, linewidth = 0.8) +
    ggplot2::facet_wrap("label", scales = "free_x", labeller = ggplot2::label_wrap_gen(30)) +
    ggplot2::labs(x = if (length(bases) == 1L) names(basis_ranges(bases[[1L]])),
                  y = if_spread(object, interval_label(what, level, word_for_estimate(object), TRUE),
                                paste0(what, ", mode")),
                  caption = if_spread(object, interval_caption(object, 1L, 1L, ""), no_band)) +
    plot_theme()
}

# Of a fit that is a mode alone there is no band.
if_spread <- function(object, with, without = NULL) if (is_point(object)) without else with

no_band <- paste0("No band: a mode where the loss is not differentiable has no standard ",
                  "deviation;\n",
                  "engine_gaussian() has one")

curve_data <- function(basis, object, level, points) {
  range <- basis_ranges(basis)
  x <- seq(range[[1L]][1L], range[[1L]][2L], length.out = points)
  grid <- stats::setNames(data.frame(x), names(range))
  data.frame(label = basis$label, x = x, smooth_moments(object, basis, grid, level))
}

plot_surface <- function(object, basis, level, points = 60L) {
  axes <- lapply(basis_ranges(basis), function(range) {
    seq(range[1L], range[2L], length.out = points)
  })
  grid <- expand.grid(axes)
  shown <- cbind(stats::setNames(grid, c("x", "z")), smooth_moments(object, basis, grid, level))
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$z)) +
    ggplot2::geom_raster(ggplot2::aes(fill = .data$fit)) +
    ggplot2::geom_contour(ggplot2::aes(z = .data$fit), colour = "grey30", linewidth = 0.3) +
    ggplot2::scale_fill_gradient2(low = "#8a4b2b", mid = "white", high = plot_colour) +
    ggplot2::labs(x = names(axes)[1L], y = names(axes)[2L], fill = basis$label,
                  caption = paste("Posterior", word_for_estimate(object))) +
    plot_theme()
}

# fit, sd, lower and upper of the term by itself.
smooth_moments <- function(object, basis, grid, level) {
  if (is_gp(basis)) return(function_moments(object, basis, grid_variables(basis, grid), level))
  rows <- list(x = matrix(0, nrow(grid), length(object$design$columns)))
  at <- c(basis$unpenalised, basis$columns)
  rows$x[, at] <- basis_grid(basis, grid)
  link <- posterior_linear(object, rows)
  limits <- linear_limits(object$posterior, object, rows, link, level)
  data.frame(fit = link$mean, sd = link$sd, lower = limits[, 1L], upper = limits[, 2L])
}
