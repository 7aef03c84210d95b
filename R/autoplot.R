# ggplot2's name for the columns of the plotted data.
utils::globalVariables(".data")

#' @rdname plot.bsvm
#' @method autoplot bsvm
#' @rawNamespace S3method(ggplot2::autoplot,bsvm)
autoplot.bsvm <- function(object, which = NULL, level = 0.95, intercept = FALSE, scaled = TRUE,
                          n = 20L, pars = NULL, select = NULL, type = c("link", "prob"),
                          groups = c("known", "none", "new"),
                          others = c("average", "reference"), ...) {
  check_fit(object)
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  which <- pick_one(if (is.null(which)) default_plot(object, pars) else which, plot_kinds, "which")
  type <- pick_one(type, c("link", "prob"), "type")
  if (type == "prob") check_probability_scale(object, which)
  check_level(level)
  check_count(n, "n")
  check_flag(intercept, "intercept")
  check_flag(scaled, "scaled")
  switch(
    which,
    coefficients = plot_coefficients(object, level, intercept, scaled, n, parent.frame()),
    groups = plot_groups(object, level, select),
    smooth = plot_smooth(object, level, select, type, parent.frame()),
    gp = plot_gp(object, level, select, type, parent.frame()),
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

check_probability_scale <- function(object, which) {
  need_classes(object$response, "plot(type = \"prob\")", "Use type = \"link\".")
  if (!which %in% c("smooth", "gp")) {
    abort("argument", "`type = \"prob\"` is for functions, `which = \"smooth\"` or `\"gp\"`; found ",
          "`which = \"", which, "\"`. predict(type = \"prob\") has probabilities of any rows.")
  }
}

plot_kinds <- c("coefficients", "effects", "groups", "smooth", "gp", "relevance", "loadings",
                "scores", "determinacy", "residuals", "predictive", "bound", "intervals", "density",
                "trace", "rank")

# The kind of a fit: factors, functions, coefficients, or group effects if there is nothing else.
default_plot <- function(object, pars = NULL) {
  if (!is.null(pars)) return("intervals")
  if (has_factors(object)) return("loadings")
  if (any(can_be_shown(object$bases, "smooth"))) return("smooth")
  if (any(can_be_shown(object$bases, "gp"))) return("gp")
  if (length(shown_columns(object, FALSE)) == 0L && !is.null(object$groups)) return("groups")
  "coefficients"
}

can_be_shown <- function(bases, which) {
  vapply(bases, function(basis) {
    if (is_gp(basis)) which == "gp" else which == "smooth" && is.finite(shown_size(basis)) &&
      shown_size(basis) < 3
  }, TRUE)
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

plot_bound <- function(object) {
  if (NROW(object$trace) == 0L) {
    abort("unsupported", "A fit by ", call_of_engine(object), " has no bound to show.",
          if (!is.null(object$sampling)) " See plot(fit, \"trace\").")
  }
  ggplot2::ggplot(bound_data(object), ggplot2::aes(.data$pass, .data$value)) +
    ggplot2::geom_line(colour = plot_colour, linewidth = 0.6, na.rm = TRUE) +
    ggplot2::geom_point(colour = plot_colour, size = 1, na.rm = TRUE) +
    ggplot2::facet_wrap("what", ncol = 1L, scales = "free_y") +
    ggplot2::labs(title = "Progress of the fit", x = "Iteration", y = NULL) +
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
