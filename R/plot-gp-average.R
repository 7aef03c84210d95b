# The function of a Gaussian-process term of several variables along one of them, averaged over what
# rows of the fit have in the others (partial dependence). An average of functions that are linear
# in the coefficients is one, too, so that its interval is that of their joint posterior.

averaged_rows <- 100L
most_averages <- 12L    # variables in a picture
average_points <- 40L   # values of a variable

plot_averages <- function(object, basis, level, env) {
  data <- if (is.null(object$streamed)) training_data(object, env)$x
          else sampled_rows(object, "plot(which = \"gp\")")
  rows <- at_most(needed_rows(object, basis, data), averaged_rows)
  numbers <- those_that_vary(number_inputs(basis), rows)
  if (length(numbers) == 0L) return(plot_level_averages(object, basis, level, rows))
  chosen <- most_varying(object, basis, rows, numbers)
  shown <- do.call(rbind, lapply(chosen, average_along, object = object, basis = basis, rows = rows,
                                 level = level, points = average_points))
  names <- input_names(basis)
  shown$variable <- factor(names[shown$input], levels = names[chosen])
  at <- data.frame(variable = rep(shown_factor(names, chosen), each = nrow(rows$raw)),
                   x = as.vector(rows$raw[, chosen]))
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$fit)) +
    if_spread(object, ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                                           fill = plot_colour, alpha = 0.2)) +
    ggplot2::geom_line(colour = plot_colour, linewidth = 0.8) +
    ggplot2::geom_rug(ggplot2::aes(x = .data$x), data = at, inherit.aes = FALSE, alpha = 0.3,
                      sides = "b") +
    ggplot2::facet_wrap("variable", scales = "free_x") +
    ggplot2::labs(title = average_title(object, level), x = NULL, y = effect_label(object, "link"),
                  caption = average_caption(object, basis, rows, chosen, numbers)) +
    plot_theme()
}

shown_factor <- function(names, chosen) factor(names[chosen], levels = names[chosen])

average_title <- function(object, level) {
  paste0("Average effects: ", if_spread(object, spread_words(object, level), "posterior mode"))
}

average_caption <- function(object, basis, rows, chosen, numbers) {
  factors <- setdiff(basis$covariates, basis$covariates[basis$inputs$of[numbers]])
  paste(c(if_spread(object, note_of(object$likelihood, "caption", object), no_band),
          direction_words(object),
          paste("Averages of", if (nchar(basis$label) > 40L) "the function" else basis$label,
                "over the other variables of", nrow(rows$raw), "rows of the fit"),
          if (length(chosen) < length(numbers)) {
            paste(length(chosen), "of", length(numbers), "variables, along which it varies most")
          },
          if (length(factors) > 0L) paste("Not shown:", enumerate(factors, "")),
          if (!is.null(relevance_data(basis))) "Relevance of variables: plot(fit, \"relevance\")"),
        collapse = "\n")
}

# Columns of inputs that are numbers, not a level of a factor.
number_inputs <- function(basis) {
  factors <- match(names(basis$expression$xlevels), basis$covariates)
  which(!basis$inputs$of %in% factors)
}

# All of them if none does.
those_that_vary <- function(inputs, rows) {
  varies <- vapply(inputs, function(input) length(unique(rows$raw[, input])) > 1L, TRUE)
  if (any(varies)) inputs[varies] else inputs
}

# The inputs with the largest range of the average, in their order.
most_varying <- function(object, basis, rows, inputs) {
  if (length(inputs) <= most_averages) return(inputs)
  few <- at_most(rows, 20L)
  size <- vapply(inputs, function(input) {
    diff(range(average_along(input, object, basis, few, NULL, 7L)$fit))
  }, 0)
  sort(inputs[utils::head(order(-size), most_averages)])
}

# Data frame input, x, fit, lower, upper; the limits with a level.
average_along <- function(input, object, basis, rows, level, points) {
  range <- range(rows$raw[, input])
  x <- seq(range[1L], range[2L], length.out = points)
  moments <- average_moments(object, basis, rows$raw, function(raw, k) {
    raw[, input] <- x[k]
    raw
  }, points, level)
  if (is.null(level)) moments <- data.frame(fit = moments)
  data.frame(input = input, x = x, moments)
}

# function_moments() of the averages over the rows changed by `at(raw, k)`, k up to `points`.
average_moments <- function(object, basis, raw, at, points, level) {
  n <- nrow(raw)
  inputs <- lapply(seq_len(points), function(k) gp_inputs(at(raw, k), basis$inputs))
  inputs <- do.call(rbind, inputs)
  combine <- Matrix::sparseMatrix(i = rep(seq_len(points), each = n), j = seq_len(points * n),
                                  x = 1 / n)
  variables <- gp_variables(inputs, multiplier_at_one(basis, nrow(inputs)))
  function_moments(object, basis, variables, level, combine)
}

# Of factors alone: the average at each level.
plot_level_averages <- function(object, basis, level, rows) {
  shown <- do.call(rbind, lapply(seq_along(basis$covariates), function(k) {
    own <- which(basis$inputs$of == k)
    moments <- average_moments(object, basis, rows$raw, function(raw, j) {
      raw[, own] <- rep(seq_along(own) == j, each = nrow(raw))
      raw
    }, length(own), level)
    levels <- basis$expression$xlevels[[basis$covariates[k]]]
    data.frame(variable = basis$covariates[k], x = factor(levels, levels = levels),
               moments)
  }))
  ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$fit)) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey55", linetype = "dashed") +
    if_spread(object, ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                                              colour = plot_colour)) +
    ggplot2::geom_point(colour = plot_colour, size = 1.8) +
    ggplot2::facet_wrap("variable", scales = "free_x") +
    ggplot2::labs(title = average_title(object, level), x = NULL, y = effect_label(object, "link"),
                  caption = if_spread(object, note_of(object$likelihood, "caption", object),
                                      no_band)) +
    plot_theme()
}
