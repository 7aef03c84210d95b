# Pictures of terms with a basis: functions with their bands, the rows as a rug.

plot_smooth <- function(object, level, select, type, env) {
  bases <- chosen_bases(object, select, "smooth")
  together <- if (is.null(select)) shown_smooths(bases) else bases
  sizes <- vapply(together, shown_size, 0)
  picture <- if (all(sizes == 1)) {
    plot_curves(object, together, level, "Smooth terms", type, env)
  } else if (length(together) == 1L && sizes == 2) {
    refuse_map(type)
    plot_surface(object, together[[1L]], level, env)
  } else {
    abort("unsupported", "Smooth terms of one number are shown together, of two numbers one by ",
          "one, others not at all; found ", enumerate(basis_labels(together)), ". Choose with ",
          "`select`.")
  }
  add_caption(picture, not_shown_words(object, bases, together, "smooth"))
}

# Those of one number; else the first that has a picture.
shown_smooths <- function(bases) {
  sizes <- vapply(bases, shown_size, 0)
  if (any(sizes == 1)) return(bases[sizes == 1])
  if (any(sizes == 2)) bases[which(sizes == 2)[1L]] else bases
}

refuse_map <- function(type) {
  if (type == "prob") {
    abort("unsupported", "plot(type = \"prob\") shows functions of one variable. Use type = ",
          "\"link\", or predict(type = \"prob\").")
  }
}

# Where the rest of the fit is to be seen.
not_shown_words <- function(object, bases, shown, which) {
  others <- setdiff(basis_labels(bases), basis_labels(shown))
  kinds <- c(if (length(shown_columns(object, FALSE)) > 0L) "coefficients",
             if (length(object$bases) > length(bases)) setdiff(c("smooth", "gp"), which),
             if (!is.null(object$groups)) "groups")
  caption_of(
    if (length(others) > 0L) {
      paste("Other terms: `select` =", enumerate(others, "\"", most = 2L, last = "or"))
    },
    if (length(kinds) > 0L) {
      paste0("Other parts: ", paste0("plot(fit, \"", kinds, "\")", collapse = ", "))
    }
  )
}

# How many variables; Inf if there is no grid of them, as where one of several is constant.
shown_size <- function(basis) {
  ranges <- basis_ranges(basis)
  flat <- length(ranges) > 1L && any(vapply(ranges, diff, 0) == 0)
  if (is.null(ranges) || flat) Inf else length(ranges)
}

plot_curves <- function(object, bases, level, what, type, env, points = 200L) {
  shown <- do.call(rbind, lapply(bases, curve_data, object = object, level = level,
                                 points = points))
  shown$label <- factor(shown$label, levels = unique(shown$label))
  rows <- do.call(rbind, lapply(bases, point_data, object = object, env = env))
  if (!is.null(rows)) rows$label <- factor(rows$label, levels = levels(shown$label))
  if (type == "prob") shown <- probability_curves(object, shown, rows)
  middle <- if (type == "prob") shown[!duplicated(shown$label), ] else data.frame(base = 0)
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$fit)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$base), data = middle, colour = "grey55",
                        linetype = "dashed") +
    if_spread(object, ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                                           fill = plot_colour, alpha = 0.2)) +
    ggplot2::geom_line(colour = plot_colour, linewidth = 0.8) +
    (if (!is.null(rows)) point_layers(object, rows, type)) +
    ggplot2::facet_wrap("label", scales = "free_x", labeller = ggplot2::label_wrap_gen(30)) +
    ggplot2::labs(title = paste0(what, ": ", if_spread(object, spread_words(object, level),
                                                        "posterior mode")),
                  subtitle = if (type == "link") direction_words(object),
                  x = if (length(bases) == 1L) names(basis_ranges(bases[[1L]])),
                  y = effect_label(object, type),
                  caption = curve_caption(object, rows, type)) +
    plot_theme()
}

effect_label <- function(object, type) {
  if (type == "prob") {
    return(paste0("Probability of '", object$response$levels[2L], "'"))
  }
  if (is_kind(object$response, "numbers")) {
    return(paste("Effect on", short_names(response_title(object))))
  }
  "Effect on the linear predictor"
}

curve_caption <- function(object, rows, type) {
  caption_of(if_spread(object, note_of(object$likelihood, "caption", object), no_band),
             if (type == "prob") "Dashed: the probability with all terms at their means",
             if (!is.null(rows)) point_words(object, rows, type))
}

# A fit that is a mode alone has no band.
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

# With everything else at its mean over the rows; a probability grows with the linear predictor.
probability_curves <- function(object, shown, rows) {
  need_rows(object, "plot(which = \"smooth\", type = \"prob\")")
  map <- as_map(NULL, object)
  rest <- function(label) {
    own <- rows[rows$label == label, ]
    mean(if (is.null(rows) || nrow(own) == 0L) object$link else own$rest, na.rm = TRUE)
  }
  base <- vapply(levels(shown$label), rest, 0)[as.integer(shown$label)]
  for (name in c("fit", "lower", "upper")) {
    shown[[name]] <- mapped_link(map, object, base + shown[[name]])
  }
  shown$base <- mapped_link(map, object, base)
  shown
}

plot_surface <- function(object, basis, level, env, points = 60L) {
  axes <- lapply(basis_ranges(basis), function(range) {
    seq(range[1L], range[2L], length.out = points)
  })
  grid <- expand.grid(axes)
  shown <- cbind(stats::setNames(grid, c("x", "z")), smooth_moments(object, basis, grid, level))
  rows <- term_values(object, basis, env)
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$z)) +
    ggplot2::geom_raster(ggplot2::aes(fill = .data$fit)) +
    ggplot2::geom_contour(ggplot2::aes(z = .data$fit), colour = "grey30", linewidth = 0.3) +
    ggplot2::scale_fill_gradient2(low = class_colours[1L], mid = "white", high = plot_colour) +
    map_points(object, list(basis), list(rows)) +
    ggplot2::labs(title = paste0(basis$label, ": posterior ", word_for_estimate(object)),
                  x = names(axes)[1L], y = names(axes)[2L],
                  fill = sub(" on ", " on\n", effect_label(object, "link")),
                  caption = caption_of(direction_words(object))) +
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

# As rows_of_term() of a term that is not a Gaussian process: its numbers in the rows of the fit,
# for those rows of which it is a part. NULL if they can't be found.
term_values <- function(object, basis, env) {
  if (!is.null(object$streamed)) return(NULL)
  data <- tryCatch(training_data(object, env)$x, bsvm_error_data = function(e) NULL)
  names <- names(basis_ranges(basis))
  value <- function(name) {
    tryCatch(eval(str2lang(name), data, environment(object$terms)), error = function(e) NULL)
  }
  columns <- lapply(names, value)
  good <- vapply(columns, function(v) is.numeric(v) && NROW(v) == NROW(data), TRUE)
  if (is.null(data) || !all(good)) return(NULL)
  raw <- do.call(cbind, lapply(columns, as.vector))
  own <- rowSums(!is.finite(raw)) == 0 & used_rows(object) & !is.na(unname(object$link))
  by <- if (!is.null(basis$by) && !identical(basis$by, "NA")) value(basis$by)
  if (!is.null(by)) {
    level <- basis$object$by.level
    own <- own & !is.na(by) & if (is.null(level)) by != 0 else by == level
  }
  list(raw = raw[own, , drop = FALSE], multiplier = if (is.numeric(by)) by[own],
       link = unname(object$link)[own], y = unname(object$y)[own])
}
