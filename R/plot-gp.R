# Pictures of Gaussian-process terms: curves of one variable, maps of two, averages over the other
# variables of more (R/plot-gp-average.R), and the relevance of variables.

plot_gp <- function(object, level, select, type, env) {
  bases <- chosen_bases(object, select, "gp")
  together <- if (is.null(select)) shown_together(bases) else bases
  sizes <- vapply(together, shown_size, 0)
  covariates <- unique(lapply(together, `[[`, "covariates"))
  curves <- all(sizes == 1)
  if (!curves) refuse_map(type)
  picture <- if (curves) plot_curves(object, together, level, "Functions", type, env)
             else if (all(sizes == 2) && length(covariates) == 1L) plot_maps(object, together, env)
             else if (length(together) == 1L) plot_averages(object, together[[1L]], level, env)
             else refuse_together(together)
  add_caption(picture, not_shown_words(object, bases, together, "gp"))
}

# The bases of one kind of picture, or those selected.
chosen_bases <- function(object, select, which) {
  bases <- Filter(Negate(is_factors), object$bases)
  own <- vapply(bases, is_gp, TRUE) == (which == "gp")
  if (is.null(select) && !any(own)) refuse_no_bases(which, length(bases) > 0L)
  if (is.null(select)) return(bases[own])
  labels <- basis_labels(if (which == "gp") bases[own] else bases)
  chosen <- pick_part(select, labels, "select")
  bases[match(chosen, basis_labels(bases))]
}

refuse_no_bases <- function(which, others) {
  if (which == "gp") {
    abort("unsupported", "plot(which = \"gp\") needs a Gaussian-process term, and this fit has ",
          "none. Add one such as `gp(x)` to the formula.")
  }
  abort("unsupported", "plot(which = \"smooth\") needs a smooth term, which this fit does not ",
        "have. ",
        if (others) "See plot(fit, \"gp\") for its Gaussian-process terms."
        else "Add one such as `s(x)` to the formula.")
}

# By default the terms of one variable; else a term with all levels of its factor `by`.
shown_together <- function(bases) {
  one <- vapply(bases, shown_size, 0) == 1
  if (any(one)) return(bases[one])
  first <- vapply(bases, written_label, "") == written_label(bases[[1L]])
  if (shown_size(bases[[1L]]) == 2) bases[first] else bases[1L]
}

refuse_together <- function(bases) {
  abort("unsupported", "Terms of one number are shown together, others one at a time; found ",
        enumerate(basis_labels(bases), "\""), ". Choose one of them with `select`.")
}

add_caption <- function(picture, text) {
  if (is.null(text)) return(picture)
  own <- picture$labels$caption
  picture + ggplot2::labs(caption = paste(c(if (nzchar(paste(own, collapse = ""))) own, text),
                                          collapse = "\n"))
}

# ---- the rows of the fit ------------------------------------------------------------------------

# list(raw, multiplier, link, y, side): inputs of the rows as numbers (n x d), as they are; the
# rest for those rows of which the function is a part. NULL if the data can't be found or were read
# from a source.
rows_of_term <- function(object, basis, env) {
  if (!is.null(object$streamed)) return(NULL)
  data <- tryCatch(training_data(object, env)$x, bsvm_error_data = function(e) NULL)
  if (!is.null(data)) needed_rows(object, basis, data)
}

needed_rows <- function(object, basis, data) {
  expression <- basis$expression
  environment(expression$terms) <- environment(object$terms)
  columns <- new_columns(expression$terms, data, "missing")
  columns <- match_factors(columns, expression$xlevels, "missing")
  raw <- gp_numbers(columns[basis$covariates], expression$xlevels)$x
  multiplier <- gp_multiplier(basis, columns)
  own <- rowSums(!is.finite(raw)) == 0 & used_rows(object)
  if (!is.null(multiplier)) own <- own & !is.na(multiplier) & multiplier != 0
  list(raw = raw[own, , drop = FALSE], multiplier = multiplier[own],
       link = unname(object$link)[own], y = unname(object$y)[own])
}

# Posterior moments of the function, or of its averages, less its mean over the rows, at k inputs
# (as gp_variables()), or of `combine` (j x k) times it; with a level list(fit, sd, lower, upper),
# else means.
function_moments <- function(object, basis, variables, level = NULL, combine = NULL) {
  rows <- function_rows(object, basis, variables, combine)
  if (is.null(level)) return(posterior_linear(object, rows, sd = FALSE)$mean)
  link <- posterior_linear(object, rows)
  limits <- linear_limits(object$posterior, object, rows, link, level)
  data.frame(fit = link$mean, sd = link$sd, lower = limits[, 1L], upper = limits[, 2L])
}

function_rows <- function(object, basis, variables, combine) {
  k <- if (is.null(combine)) nrow(variables) else nrow(combine)
  rows <- list(x = matrix(0, k, length(object$design$columns)))
  if (!is_learned(basis)) {
    d <- length(basis$inputs$scale)
    columns <- gp_columns(basis, variables[, seq_len(d), drop = FALSE],
                          if (!is.null(basis$by)) variables[, d + 1L])
    if (!is.null(combine)) columns <- as.matrix(combine %*% columns)
    rows$x[, basis$columns] <- centred(columns, basis, object)
    return(rows)
  }
  # Less its mean, whatever the kernel.
  if (is.null(combine)) combine <- Matrix::Diagonal(k)
  reference <- if (is_centred(basis, object)) basis$reference
  m <- NROW(reference)
  if (m > 0L) combine <- cbind(combine, Matrix::Matrix(-1 / m, k, m, sparse = TRUE))
  if (m > 0L && !is.null(basis$by)) reference <- cbind(reference, 1)
  rows$made <- stats::setNames(list(list(variables = rbind(variables, reference),
                                         combine = combine)), basis$label)
  rows
}

# Its posterior means in rows of the fit.
function_in_rows <- function(object, basis, rows) {
  if (!is_gp(basis)) {
    grid <- stats::setNames(as.data.frame(rows$raw), names(basis_ranges(basis)))
    return(smooth_moments(object, basis, grid, 0.95)$fit)
  }
  inputs <- gp_inputs(rows$raw, basis$inputs)
  function_moments(object, basis, gp_variables(inputs, rows$multiplier))
}

# Only with an intercept the mean over the rows means nothing by itself.
is_centred <- function(basis, object) {
  !is.null(basis$average) && object$design$intercept > 0L
}

centred <- function(columns, basis, object) {
  if (!is_centred(basis, object)) return(columns)
  columns - rep(basis$average, each = nrow(columns))
}

# The variables on a grid of the covariates.
grid_variables <- function(basis, grid) {
  raw <- gp_numbers(grid[basis$covariates], basis$expression$xlevels)$x
  gp_variables(gp_inputs(raw, basis$inputs), multiplier_at_one(basis, nrow(raw)))
}

# At most so many rows, the same ones each time.
at_most <- function(rows, most) {
  n <- nrow(rows$raw)
  if (n <= most) return(rows)
  at <- sort(utils::head(scrambled(n), most))
  rows$raw <- rows$raw[at, , drop = FALSE]
  for (name in c("multiplier", "link", "y")) rows[[name]] <- rows[[name]][at]
  rows
}

shown_points <- 1000L

# ---- one variable -------------------------------------------------------------------------------

has_numeric_by <- function(basis) {
  if (is_gp(basis)) !is.null(basis$by) && is.null(basis$level)
  else !is.null(basis$by) && basis$by != "NA" && is.null(basis$object$by.level)
}

# The rows, the linear predictor without the function (`rest`), and of a response of numbers also
# the partial residuals: the function and the residual.
point_data <- function(basis, object, env) {
  rows <- if (is_gp(basis)) rows_of_term(object, basis, env) else term_values(object, basis, env)
  if (is.null(rows) || nrow(rows$raw) == 0L) return(NULL)
  rows <- at_most(rows, shown_points)
  own <- function_in_rows(object, basis, rows)
  rest <- if (has_numeric_by(basis)) rows$link else rows$link - own
  partial <- if (is_kind(object$response, "classes") || has_numeric_by(basis)) NA_real_
             else rows$y - rest
  data.frame(label = basis$label, x = rows$raw[, 1L], y = rows$y, rest = rest, partial = partial)
}

point_layers <- function(object, points, type) {
  rug <- function(data, ...) {
    ggplot2::geom_rug(ggplot2::aes(x = .data$x), data = data, inherit.aes = FALSE, ...)
  }
  if (!is_kind(object$response, "classes")) {
    shown <- points[!is.na(points$partial), ]
    return(list(rug(points, alpha = 0.3, sides = "b"),
                ggplot2::geom_point(ggplot2::aes(.data$x, .data$partial), data = shown,
                                    inherit.aes = FALSE, size = 0.9, alpha = 0.5)))
  }
  list(rug(points[points$y > 0, ], alpha = 0.4, sides = "t", colour = class_colours[[2L]]),
       rug(points[points$y < 0, ], alpha = 0.4, sides = "b", colour = class_colours[[1L]]))
}

point_words <- function(object, points, type) {
  if (!is_kind(object$response, "classes")) {
    return(if (any(!is.na(points$partial))) "Points: partial residuals")
  }
  paste0("Ticks at the top: rows of class '", object$response$levels[2L], "'; at the bottom: '",
         object$response$levels[1L], "'")
}

# ---- two variables ------------------------------------------------------------------------------

plot_maps <- function(object, bases, env, points = 60L) {
  shown <- do.call(rbind, lapply(bases, map_data, object = object, points = points))
  rows <- lapply(bases, function(basis) rows_of_term(object, basis, env))
  borders <- Map(function(basis, rows) map_border(object, basis, rows), bases, rows)
  picture <- ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$z)) +
    ggplot2::geom_raster(ggplot2::aes(fill = .data$fit)) +
    level_lines(shown) +
    ggplot2::scale_fill_gradient2(low = class_colours[[1L]], mid = "white",
                                  high = class_colours[[2L]]) +
    map_points(object, bases, rows) +
    Map(function(basis, border) border_layer(shown[shown$label == basis$label, ], border$at), bases,
        borders) +
    ggplot2::labs(title = paste0(if (length(bases) > 1L) "Functions" else bases[[1L]]$label,
                                 ": posterior ", word_for_estimate(object)),
                  x = bases[[1L]]$covariates[1L], y = bases[[1L]]$covariates[2L],
                  fill = sub(" on ", " on\n", effect_label(object, "link")),
                  caption = paste(c(direction_words(object),
                                    unique(unlist(lapply(borders, `[[`, "words")))),
                                  collapse = "\n")) +
    ggplot2::coord_cartesian(expand = FALSE, clip = "off") +
    plot_theme()
  if (length(bases) > 1L) picture + ggplot2::facet_wrap("label") else picture
}

level_lines <- function(shown) {
  if (diff(range(shown$fit)) == 0) return(NULL)
  ggplot2::geom_contour(ggplot2::aes(z = .data$fit), colour = "grey40", linewidth = 0.25)
}

map_data <- function(basis, object, points) {
  grid <- expand.grid(lapply(basis_ranges(basis), function(range) {
    seq(range[1L], range[2L], length.out = points)
  }))
  data.frame(label = basis$label, x = grid[[1L]], z = grid[[2L]],
             fit = function_moments(object, basis, grid_variables(basis, grid)))
}

# list(at, words): the value of the function where the class changes, everything else at its mean
# over the rows; NULL if there is no such line.
map_border <- function(object, basis, rows) {
  if (!is_kind(object$response, "classes")) return(NULL)
  if (has_numeric_by(basis)) return(NULL)
  if (is_alone(object, basis) && !is_learned(basis)) {
    at <- fixef.bsvm(object)[c(object$design$intercept, basis$columns)]
    if (object$design$intercept > 0L) at <- at * c(1, basis$average) else at <- 0
    return(list(at = -sum(at), words = "Line: class boundary"))
  }
  if (is.null(rows)) return(list(at = 0, words = "Line: the function at its mean"))
  rest <- rows$link - function_in_rows(object, basis, rows)
  list(at = -mean(rest), words = if (is_alone(object, basis)) "Line: class boundary"
                                 else "Line: class boundary, all other terms at their means")
}

# Is there nothing but the term and an intercept?
is_alone <- function(object, basis) {
  is.null(object$groups) && is.null(object$offset) &&
    length(setdiff(seq_along(object$design$columns),
                   c(object$design$intercept, basis$columns))) == 0L
}

border_layer <- function(shown, at) {
  if (is.null(at) || !isTRUE(at > min(shown$fit) && at < max(shown$fit))) return(NULL)
  ggplot2::geom_contour(ggplot2::aes(z = .data$fit), data = shown, breaks = at, colour = "black",
                        linewidth = 0.9)
}

map_points <- function(object, bases, rows) {
  shown <- do.call(rbind, Map(function(basis, own) {
    if (is.null(own) || nrow(own$raw) == 0L) return(NULL)
    own <- at_most(own, shown_points)
    data.frame(label = basis$label, x = own$raw[, 1L], z = own$raw[, 2L], y = own$y)
  }, bases, rows))
  if (is.null(shown)) return(NULL)
  size <- if (nrow(shown) > 300L) 1.1 else 1.8
  if (!is_kind(object$response, "classes")) {
    return(ggplot2::geom_point(data = shown, size = size, shape = 1, colour = "grey30"))
  }
  names <- as.character(object$response$levels)
  shown$class <- factor(ifelse(shown$y > 0, names[2L], names[1L]), levels = names)
  list(ggplot2::geom_point(ggplot2::aes(shape = .data$class), data = shown, size = size),
       ggplot2::scale_shape_manual(values = stats::setNames(c(1, 16), names), name = "Class"))
}

# ---- relevance ----------------------------------------------------------------------------------

plot_relevance <- function(object, select, n) {
  bases <- chosen_bases(object, select, "gp")
  shown <- do.call(rbind, lapply(bases, function(basis) relevance_data(at_means(basis, object))))
  if (is.null(shown)) {
    abort("unsupported", "plot(which = \"relevance\") needs a kernel with a length scale for each ",
          "variable, as in gp(x1, x2, kernel = kernel_se(ard = TRUE)).")
  }
  total <- nrow(shown)
  shown <- shown[utils::head(order(-shown$relevance), n), ]
  shown$key <- paste(shown$variable, shown$block, sep = key_mark)
  shown$key <- factor(shown$key, levels = shown$key[order(shown$relevance)])
  ggplot2::ggplot(shown, ggplot2::aes(.data$relevance, .data$key)) +
    ggplot2::geom_col(fill = plot_colour, width = 0.65) +
    ggplot2::facet_wrap("block", scales = "free_y", labeller = ggplot2::label_wrap_gen(60)) +
    ggplot2::scale_y_discrete(labels = function(keys) short_names(level_of_key(keys))) +
    ggplot2::labs(title = "Relevance of the variables",
                  x = "1 / length scale in standard deviations of the variable", y = NULL,
                  caption = if (nrow(shown) < total) {
                    paste(nrow(shown), "of", total, "variables, the most relevant")
                  }) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank(),
                   axis.text.y = ggplot2::element_text(size = row_text_size(nrow(shown))))
}

# The basis with kernels as at the posterior means of what is inferred of them.
at_means <- function(basis, object) {
  if (!is_learned(basis)) return(basis)
  values <- mean_values(object)[[basis$label]]
  basis$parts <- lapply(basis$parts, function(part) {
    part$numbers$theta <- gp_theta(part, values)
    part
  })
  basis
}

# 1 / length scale of each variable, of the kernels with one for each; NULL for none.
relevance_data <- function(basis) {
  rows <- Map(function(part, product, block) {
    scales <- ard_scales(part, product, length(basis$inputs$scale))
    if (is.null(scales)) return(NULL)
    data.frame(block = block, variable = input_names(basis), relevance = 1 / scales)
  }, basis$parts, kernel_products(basis$kernel), names(basis$blocks))
  do.call(rbind, rows)
}

# The length scales of the first factor that has one for each of the d variables.
ard_scales <- function(part, product, d) {
  first <- 0L
  for (kernel in product) {
    sizes <- parameter_sizes(kernel, d)
    at <- first + cumsum(c(0L, sizes))
    if (kernel$ard && "lengthscale" %in% names(sizes)) {
      start <- at[match("lengthscale", names(sizes))]
      return(exp(part$numbers$theta[start + seq_len(d)]))
    }
    first <- first + sum(sizes)
  }
  NULL
}
