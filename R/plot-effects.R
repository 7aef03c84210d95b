# The expected response along one or two predictors: the probability of the second class, or the
# mean of numbers. Others are averaged over the rows of the fit, each with its own values, or at
# reference values. Draws, from R/estimand.R: the interval is that of the average.

effect_points <- 25L     # values of a number
effect_rows <- 200L      # rows that are averaged over
most_effect_panels <- 9L       # predictors in a picture

other_choices <- c("average", "reference")

plot_effects <- function(object, pars, level, groups, others, env) {
  groups <- pick_groups(groups)
  others <- pick_one(others, other_choices, "others")
  what <- "plot(which = \"effects\")"
  need_spread(object, what)
  rows <- effect_base(object, rows_averaged_over(object, env, what, Inf), others)
  known <- effect_predictors(object, rows)
  chosen <- choose_predictors(known, pars)
  if (length(chosen) == 2L && !is.null(pars)) {
    return(plot_pair(object, chosen, rows, level, groups, others))
  }
  parts <- lapply(chosen, effect_along, object = object, rows = rows, level = level,
                  groups = groups)
  Reduce(`+`, effect_panels(parts, rows)) +
    ggplot2::labs(x = NULL, title = effect_title(object), y = effect_axis(level),
                        caption = effect_caption(object, rows, groups, others, known, chosen)) +
    plot_theme() +
    slanted_text(lapply(parts, `[[`, "data"), ggplot2::wrap_dims(length(parts))[2L])
}

# Names of levels slant where they would overlap, in a picture of six inches and so many columns.
slanted_text <- function(parts, columns) {
  needed <- vapply(parts, function(part) {
    if (is.numeric(part$x)) return(0)
    names <- short_names(as.character(unique(part$x)), level_width)
    length(names) * (max(nchar(names)) + 2)
  }, 0)
  if (max(needed) > 75 / columns) {
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 35, hjust = 1))
  }
}

level_width <- 18L # characters of a name of a level

# Numbers and factors; a matrix or a date has no such axis.
effect_predictors <- function(object, rows) {
  names <- intersect(predictor_names(object), names(rows))
  names[vapply(rows[names], function(x) {
    is.null(dim(x)) && (is.numeric(x) || is.factor(x) || is.character(x) || is.logical(x))
  }, TRUE)]
}

choose_predictors <- function(known, pars) {
  if (length(known) == 0L) {
    abort("unsupported", "plot(which = \"effects\") requires a predictor that is a number, a ",
          "factor or logical, which this fit does not have.")
  }
  if (is.null(pars)) return(utils::head(known, most_effect_panels))
  if (is.character(pars) && length(pars) > 0L && all(pars %in% known)) return(unique(pars))
  abort("argument", "`pars` must be names of predictors: ", enumerate(known, "\""), "; found ",
        describe(pars), ".")
}

# Some rows to average over, with medians and most frequent values for `others = "reference"`. All
# rows, which say what values a predictor has, are their attribute.
effect_base <- function(object, all, others) {
  names <- intersect(predictor_names(object), names(all))
  complete <- stats::complete.cases(all[names])
  if (is.null(object$missing) && any(complete)) all <- all[complete, , drop = FALSE]
  rows <- all[spread_over(nrow(all), effect_rows), , drop = FALSE]
  for (name in if (others == "reference") names) {
    if (is.null(dim(rows[[name]]))) {
      rows[[name]] <- rep(reference_value(all[[name]], is_in_factor(object, name)), nrow(rows))
    }
  }
  structure(rows, own = all)
}

reference_value <- function(x, in_factor = FALSE) {
  x <- x[!is.na(x)]
  if (is.numeric(x) && !is.integer(x) && !in_factor) return(stats::median(x))
  if (is.numeric(x) && !in_factor) return(sort(x)[(length(x) + 1L) %/% 2L])
  x[match(names(which.max(table(x))), as.character(x))]
}

own_values_of <- function(rows) attr(rows, "own")

# Ticks of so many rows that their density can be seen, the extremes among them.
rug_values <- function(rows, name) {
  x <- sort(as.numeric(own_values_of(rows)[[name]]))
  x[spread_over(length(x), 500L)]
}

# For a number that the formula makes a factor, only values that occur.
effect_grid <- function(x, in_factor = FALSE) {
  if (is.factor(x)) return(factor(levels(droplevels(x)), levels(x)))
  values <- sort(unique(x))
  if (!is.numeric(x) || length(values) <= effect_points) return(values)
  if (in_factor) return(values[spread_over(length(values), effect_points)])
  grid <- seq(values[1L], values[length(values)], length.out = effect_points)
  if (is.integer(x)) unique(as.integer(round(grid))) else grid
}

# Data frame x, estimate, lower, upper: `at` is a data frame of the predictors' values.
effect_at <- function(object, at, rows, level, groups) {
  rows <- alike_rows(object, rows, names(at), groups)
  weight <- attr(rows, "weight")
  n <- nrow(rows)
  tails <- c(1 - level, 1 + level) / 2
  found <- matrix(0, nrow(at), 3L, dimnames = list(NULL, c("estimate", "lower", "upper")))
  in_chunks(nrow(at), 2^22 / (approximate_draws * n), function(k) {
    new <- rows[rep(seq_len(n), length(k)), , drop = FALSE]
    for (name in names(at)) new[[name]] <- rep(at[[name]][k], each = n)
    draws <- with_given_seed(1, estimand_draws(
      object, new, groups, "plot(which = \"effects\")", effect_draws(object), effect_type(object)
    )) # the noise of missing predictors
    means <- vapply(seq_along(k), function(j) {
      drop(draws[, (j - 1L) * n + seq_len(n), drop = FALSE] %*% weight)
    }, numeric(nrow(draws)))
    found[k, ] <<- cbind(colMeans(means), t(apply(means, 2L, stats::quantile, tails)))
  })
  cbind(at, found)
}

# Rows that differ in nothing that is averaged over, once, with their share as an attribute.
alike_rows <- function(object, rows, focal, groups) {
  others <- setdiff(variables_in(open_formula(object)[-2L]), focal)
  if (groups != "known") {
    own <- predictor_names(object)
    of_groups <- unlist(lapply(object$groups, function(group) variables_in(group$variable)))
    others <- setdiff(others, setdiff(of_groups, own))
  }
  key <- unclass(rows)[intersect(others, names(rows))]
  if (any(lengths(key) != nrow(rows))) key <- list(seq_len(nrow(rows)))
  key <- if (length(key) > 0L) do.call(paste, c(unname(key), sep = key_mark))
         else rep("", nrow(rows))
  first <- which(!duplicated(key))
  structure(rows[first, , drop = FALSE], weight = tabulate(match(key, key[first])) / nrow(rows))
}

effect_draws <- function(object) {
  total <- if (inherits(object$posterior, "bsvm_draws")) draw_count(object$posterior)
           else approximate_draws
  min(total, approximate_draws)
}

# The pseudo-likelihood has no probabilities.
effect_type <- function(object) if (is_law(object$likelihood)) "response" else "link"

effect_along <- function(name, object, rows, level, groups) {
  in_factor <- is_in_factor(object, name)
  grid <- effect_grid(own_values_of(rows)[[name]], in_factor)
  at <- stats::setNames(data.frame(grid), name)
  found <- effect_at(object, at, rows, level, groups)
  names(found)[1L] <- "x"
  list(name = name, data = found, is_number = is.numeric(grid) && !in_factor)
}

# Numbers that the formula makes a factor of, as in factor(x).
is_in_factor <- function(object, name) {
  any(vapply(made_factors(object), function(text) name %in% all.vars(str2lang(text)), TRUE))
}

# Calls in the formula, as text.
made_factors <- function(object) {
  classes <- attr(object$terms, "dataClasses")
  made <- names(classes)[classes %in% c("factor", "ordered", "character", "logical")]
  setdiff(made, all.vars(attr(object$terms, "variables")))
}

# Numbers are lines over their own range; factors, points at their levels. One scale has them all:
# levels stand at `place` plus their number, where no panel of a number has its centre.
effect_panels <- function(parts, rows) {
  names <- vapply(parts, `[[`, "", "name")
  for (j in seq_along(parts)) parts[[j]] <- placed_part(parts[[j]], 1e6 * j + 0.123)
  shown <- do.call(rbind, lapply(parts, `[[`, "data"))
  shown$predictor <- factor(shown$predictor, names)
  at <- do.call(rbind, lapply(parts, function(part) {
    if (part$is_number) data.frame(predictor = part$name,
                                   x = rug_values(rows, part$name))
  }))
  if (!is.null(at)) at$predictor <- factor(at$predictor, names)
  lines <- shown[shown$number, , drop = FALSE]
  points <- shown[!shown$number, , drop = FALSE]
  list(
    ggplot2::ggplot(shown, ggplot2::aes(.data$x, .data$estimate)),
    if (nrow(lines) > 0L) effect_lines(lines),
    if (!is.null(at)) rug_of(at),
    if (nrow(points) > 0L) ggplot2::geom_pointrange(
      ggplot2::aes(ymin = .data$lower, ymax = .data$upper), data = points, colour = plot_colour),
    ggplot2::geom_blank(ggplot2::aes(.data$x, .data$estimate), data = panel_margins(parts, names)),
    ggplot2::scale_x_continuous(breaks = effect_ticks(parts), labels = effect_tick_labels(parts)),
    ggplot2::facet_wrap("predictor", scales = "free_x")
  )
}

placed_part <- function(part, place) {
  part$data$predictor <- part$name
  part$data$number <- part$is_number
  part$levels <- if (!part$is_number) short_names(as.character(part$data$x), level_width)
  part$place <- place
  part$data$x <- if (part$is_number) as.numeric(part$data$x) else place + seq_along(part$data$x)
  part
}

# Half a step before and after the levels of a factor, so that their names do not meet the next panel's.
panel_margins <- function(parts, names) {
  margins <- do.call(rbind, lapply(parts, function(part) {
    if (part$is_number) return(part$data[c("x", "estimate", "predictor")])
    data.frame(x = part$place + c(0.4, length(part$levels) + 0.6), estimate = part$data$estimate[1L],
               predictor = part$name)
  }))
  margins$predictor <- factor(margins$predictor, names)
  margins
}

effect_lines <- function(lines) {
  list(ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), data = lines,
                            fill = plot_colour, alpha = 0.2),
       ggplot2::geom_line(data = lines, colour = plot_colour, linewidth = 0.8))
}

rug_of <- function(at) {
  ggplot2::geom_rug(ggplot2::aes(x = .data$x), data = at, inherit.aes = FALSE, alpha = 0.3,
                    sides = "b")
}

# The part whose panel has these limits or breaks, NULL for a panel of a number.
part_of_panel <- function(parts, x) {
  inside <- function(part) {
    !part$is_number && all(abs(x - part$place) <= length(part$levels) + 2)
  }
  Find(inside, parts)
}

effect_ticks <- function(parts) {
  function(limits) {
    part <- part_of_panel(parts, limits)
    if (is.null(part)) pretty(limits, 4L) else part$place + seq_along(part$levels)
  }
}

effect_tick_labels <- function(parts) {
  function(breaks) {
    part <- part_of_panel(parts, breaks[!is.na(breaks)])
    if (is.null(part)) return(format(breaks, trim = TRUE))
    part$levels[round(breaks - part$place)]
  }
}

# The first along the axis, the second by colour: its levels, or three of its values.
plot_pair <- function(object, chosen, rows, level, groups, others) {
  own <- own_values_of(rows)
  in_factor <- vapply(chosen, is_in_factor, TRUE, object = object)
  x <- effect_grid(own[[chosen[1L]]], in_factor[1L])
  by <- colour_values(own[[chosen[2L]]], in_factor[2L])
  is_number <- is.numeric(x) && !in_factor[1L]
  at <- stats::setNames(expand.grid(seq_along(x), seq_along(by)), chosen)
  index <- at
  at[[1L]] <- x[at[[1L]]]
  at[[2L]] <- by[at[[2L]]]
  shown <- effect_at(object, at, rows, level, groups)
  shown$x <- if (is_number) as.numeric(x[index[[1L]]]) else factor(x[index[[1L]]], x)
  shown$by <- factor(format_value(by)[index[[2L]]], format_value(by))
  aes <- ggplot2::aes(.data$x, .data$estimate, ymin = .data$lower, ymax = .data$upper,
                      colour = .data$by, fill = .data$by)
  ggplot2::ggplot(shown, aes) +
    (if (is_number) {
       list(ggplot2::geom_ribbon(alpha = 0.15, colour = NA), ggplot2::geom_line(linewidth = 0.8),
            rug_of(data.frame(x = rug_values(rows, chosen[1L]))))
     } else {
       ggplot2::geom_pointrange(position = ggplot2::position_dodge(width = 0.4))
     }) +
    ggplot2::scale_colour_manual(values = plot_palette, aesthetics = c("colour", "fill")) +
    ggplot2::labs(x = chosen[1L], colour = chosen[2L], fill = chosen[2L],
                  title = effect_title(object), y = effect_axis(level),
                  caption = effect_caption(object, rows, groups, others, chosen, chosen)) +
    plot_theme() +
    (if (!is_number) ggplot2::scale_x_discrete(labels = function(x) short_names(x, level_width))) +
    slanted_text(list(shown), 1.5)
}

colour_values <- function(x, in_factor = FALSE) {
  values <- if (is.numeric(x) && length(unique(x)) > 5L && !in_factor) {
    unique(unname(stats::quantile(x, c(0.1, 0.5, 0.9), type = if (is.integer(x)) 1L else 7L)))
  } else effect_grid(x, in_factor)
  if (length(values) > length(plot_palette)) {
    abort("argument", "The second of `pars` must have at most ", length(plot_palette),
          " levels; found ", length(values), ". Give it as the first, or alone.")
  }
  values
}

format_value <- function(x) if (is.numeric(x)) format(x, digits = 3L, trim = TRUE) else as.character(x)

# ---- words ----------------------------------------------------------------------------------------

effect_words <- function(object) {
  if (effect_type(object) == "link") return("linear predictor")
  if (!is_kind(object$response, "classes")) return("expected response")
  paste0("probability of '", positive_level(object$response$levels), "'")
}

effect_title <- function(object) paste("Effects on the", effect_words(object))

effect_axis <- function(level) {
  words <- interval_words(level)
  paste0(toupper(substr(words, 1L, 1L)), substring(words, 2L))
}

effect_caption <- function(object, rows, groups, others, known, chosen) {
  paste(c(
    if (others == "reference") "Other predictors at their medians or most frequent levels"
    else paste("Average over the other predictors in", nrow(rows), "rows of the fit"),
    if (!is.null(object$groups)) paste("Group effects:", words_for_groups(object, groups)),
    if (effect_type(object) == "link") {
      "No probabilities under this likelihood: likelihood = \"normalized\" has them"
    },
    if (length(known) > length(chosen)) paste(length(chosen), "of", length(known), "predictors")
  ), collapse = "\n")
}
