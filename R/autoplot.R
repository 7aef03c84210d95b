# ggplot2's name for the columns of the plotted data.
utils::globalVariables(".data")

#' @rdname plot.bsvm
#' @method autoplot bsvm
#' @rawNamespace S3method(ggplot2::autoplot,bsvm)
autoplot.bsvm <- function(object, which = NULL, level = 0.95, intercept = FALSE, scaled = FALSE,
                          n = 40L, pars = NULL, select = NULL, groups = "known", others = "average",
                          ...) {
  check_fit(object)
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  which <- pick_one(if (is.null(which)) default_plot(object) else which, plot_kinds, "which")
  check_level(level)
  check_count(n, "n")
  check_flag(intercept, "intercept")
  check_flag(scaled, "scaled")
  switch(
    which,
    coefficients = plot_coefficients(object, level, intercept, scaled, n),
    groups = plot_groups(object, level, select),
    smooth = plot_smooth(object, level, select),
    gp = plot_gp(object, level, select, parent.frame()),
    relevance = plot_relevance(object, select, n),
    loadings = plot_loadings(object, level, n),
    scores = plot_scores(object, select, parent.frame()),
    determinacy = plot_determinacy(object, level),
    effects = plot_effects(object, pars, level, groups, others, parent.frame()),
    residuals = plot_residuals(object),
    predictive = plot_predictive(object, level),
    bound = plot_bound(object),
    plot_draws(object, which, level, pars, n, intercept)
  )
}

plot_kinds <- c("coefficients", "effects", "groups", "smooth", "gp", "relevance", "loadings", "scores",
                "determinacy", "residuals", "predictive", "bound", "intervals", "density", "trace",
                "rank")

default_plot <- function(object) {
  if (has_only_functions(object)) return("gp")
  if (has_factors(object)) return("loadings")
  if (!is.null(object$sampling)) "intervals"
  else if (is_point(object) && !is.null(object$bases)) {
    if (all(vapply(object$bases, is_gp, TRUE))) "gp" else "smooth"
  }
  else "coefficients"
}

# Gaussian-process terms, and at most an intercept.
has_only_functions <- function(object) {
  length(gp_bases(object)) > 0L && is.null(object$groups) &&
    length(setdiff(seq_along(object$design$columns),
                   c(object$design$intercept, columns_of(gp_bases(object))))) == 0L
}

need_ggplot2 <- function() {
  if (!requireNamespace("ggplot2", quietly = TRUE)) {
    abort("unsupported", "Plots need the package ggplot2, which is not installed. ",
          "Install it with install.packages(\"ggplot2\").")
  }
}

# As match.arg(), with a classed error: an argument left at its vector of choices means the first.
pick_one <- function(value, choices, name) {
  if (identical(value, choices)) return(choices[1L])
  if (!is.character(value) || length(value) != 1L || !value %in% choices) {
    abort("argument", "`", name, "` must be one of ", enumerate(choices, "\""), "; found ",
          describe(value), ".")
  }
  value
}

plot_coefficients <- function(object, level, intercept, scaled, n) {
  need_spread(object, "plot(which = \"coefficients\")")
  shown <- coefficient_data(object, level, intercept, scaled)
  total <- nrow(shown)
  shown <- shown[utils::head(order(-abs(shown$estimate / shown$sd)), n), ]
  shown$term <- factor(shown$term, levels = shown$term[order(shown$estimate)])
  ggplot2::ggplot(shown, ggplot2::aes(.data$estimate, .data$term)) +
    zero_line() +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, linewidth = 0.7) +
    ggplot2::geom_point(colour = plot_colour, size = 1.8) +
    ggplot2::labs(x = interval_label(if (scaled) "Scaled coefficient" else "Coefficient", level,
                                     word_for_estimate(object)),
                  y = NULL,
                  caption = interval_caption(object, nrow(shown), total,
                                             "coefficients, furthest from zero")) +
    plot_theme()
}

coefficient_data <- function(object, level, intercept, scaled) {
  moments <- posterior_coefficients(object)
  factor <- if (isTRUE(scaled)) object$design$scale else 1
  limits <- factor * coefficient_limits(object$posterior, object, seq_along(moments$mean), level)
  all <- data.frame(term = names(moments$mean), estimate = moments$mean * factor,
                    sd = moments$sd * factor, limits)
  shown <- shown_columns(object, intercept)
  if (length(shown) == 0L) all else all[shown, ]
}

# Columns whose coefficients mean something by themselves.
shown_columns <- function(object, intercept) {
  functions <- Filter(Negate(is_factors), object$bases)
  hidden <- c(columns_of(functions, "columns"), if (!intercept) object$design$intercept)
  setdiff(seq_along(object$design$columns), hidden)
}

plot_groups <- function(object, level, select) {
  need_groups(object, "plot(which = \"groups\")")
  need_spread(object, "plot(which = \"groups\")")
  name <- pick_part(if (is.null(select)) 1L else select, names(object$groups), "select")[1L]
  shown <- group_data(object, name, level)
  levels <- length(object$groups[[name]]$levels)
  few <- levels <= 40L
  ggplot2::ggplot(shown, ggplot2::aes(.data$condval, .data$key)) +
    zero_line() +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, alpha = if (few) 1 else 0.35) +
    ggplot2::geom_point(colour = plot_colour, size = if (few) 1.6 else 0.6) +
    ggplot2::facet_wrap("term", scales = "free") +
    ggplot2::scale_y_discrete(labels = if (few) level_of_key, breaks = if (few) ggplot2::waiver()) +
    ggplot2::labs(x = interval_label("Effect", level),
                  y = if (few) name else paste0(name, " (ordered by effect)"),
                  caption = interval_caption(object, sum(shown$term == shown$term[1L]), levels,
                                             "levels, evenly spaced in rank")) +
    plot_theme() +
    ggplot2::theme(panel.grid.major.y = ggplot2::element_blank())
}

# Some of `names`, chosen by number or by name.
pick_part <- function(chosen, names, argument) {
  at <- if (is.character(chosen)) match(chosen, names)
        else if (is.numeric(chosen)) match(chosen, seq_along(names))
        else NA
  if (length(at) == 0L || anyNA(at)) {
    abort("argument", "`", argument, "` must be among ", enumerate(names, "\""), ", or their ",
          "numbers; found ", describe(chosen), ".")
  }
  names[at]
}

# The long form of ranef() of one factor, each term in the order of its effects; more levels than a
# picture can show are thinned evenly in rank.
group_data <- function(object, name, level, most = 1000L) {
  long <- as.data.frame.bsvm_ranef(ranef.bsvm(object))
  long <- long[long$grpvar == name, ]
  long <- cbind(long, effect_limits(object$posterior, object, long, level))
  long$term <- factor(long$term, levels = unique(long$term))
  ranked <- lapply(split(long, long$term), function(part) {
    part <- part[order(part$condval), ]
    part[unique(round(seq(1, nrow(part), length.out = min(most, nrow(part))))), ]
  })
  ranked <- do.call(rbind, ranked)
  ranked$key <- paste(ranked$grp, ranked$term, sep = key_mark)
  ranked$key <- factor(ranked$key, levels = ranked$key)
  ranked
}

# Separates level and term in the keys of the vertical axis; no level has it in its name.
key_mark <- "\r"

level_of_key <- function(key) sub(paste0(key_mark, ".*"), "", key)

plot_bound <- function(object) {
  if (NROW(object$trace) == 0L) {
    abort("unsupported", "A fit by ", call_of_engine(object), " has no bound to show.",
          if (!is.null(object$sampling)) " See plot(fit, \"trace\").")
  }
  ggplot2::ggplot(bound_data(object), ggplot2::aes(.data$pass, .data$value)) +
    ggplot2::geom_line(colour = plot_colour, linewidth = 0.6, na.rm = TRUE) +
    ggplot2::geom_point(colour = plot_colour, size = 1, na.rm = TRUE) +
    ggplot2::facet_wrap("what", ncol = 1L, scales = "free_y") +
    ggplot2::labs(x = "Pass over the rows", y = NULL) +
    plot_theme()
}

bound_data <- function(object) {
  trace <- object$trace
  if (is_estimator(object$engine)) colnames(trace) <- c("bound", "gradient")
  what <- c(trait(object$engine, "trace"),
            if (is_estimator(object$engine)) "Relative gap (log10)" else "Gradient (log10)")
  value <- c(trace[, "bound"], log10(trace[, "gradient"]))
  value[!is.finite(value)] <- NA
  data.frame(pass = rep(seq_len(nrow(trace)), 2L), value = value,
             what = factor(rep(what, each = nrow(trace)), levels = what))
}

plot_colour <- "#2b5d8a"

plot_theme <- function() {
  ggplot2::theme_minimal(base_size = 11) +
    ggplot2::theme(panel.grid.minor = ggplot2::element_blank(),
                   plot.caption = ggplot2::element_text(colour = "grey40"))
}

zero_line <- function() {
  ggplot2::geom_vline(xintercept = 0, colour = "grey55", linetype = "dashed")
}

# Along a vertical axis in two lines, for which a small picture has room.
interval_label <- function(what, level, estimate = "mean", vertical = FALSE) {
  paste0(what, if (vertical) ",\n" else ", ", estimate, " and ", format(100 * level), " % interval")
}

# A warning that goes with the picture, and what it leaves out.
interval_caption <- function(object, shown, total, what) {
  paste(c(note_of(object$likelihood, "caption", object),
          if (shown < total) paste(shown, "of", total, what)), collapse = "\n")
}
