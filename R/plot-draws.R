# Pictures of draws, by the package bayesplot.

plot_draws <- function(object, which, level, pars, n, intercept) {
  need_draws(object, paste0("plot(which = \"", which, "\")"))
  need_bayesplot(plot_call(which), "plot(fit, \"coefficients\")")
  need_posterior("plot()")
  wanted <- if (is.null(pars)) plotted_variables(object, which, n, intercept)
            else choose_variables(draw_names(object), pars, FALSE, "pars")
  draws <- posterior::as_draws_array(aperm(parameter_draws(object, wanted), c(2L, 3L, 1L)))
  drawn <- with_bayesplot(plot_call(which), switch(
    which,
    intervals = plot_intervals(object, draws, level),
    density = plot_density(draws),
    trace = bayesplot::mcmc_trace(draws, facet_args = wrapped_strips()),
    rank = bayesplot::mcmc_rank_overlay(draws, facet_args = wrapped_strips())
  ))
  drawn + ggplot2::labs(title = draw_titles[[which]]) + plot_theme() +
    ggplot2::theme(strip.text = ggplot2::element_text(size = 8))
}

draw_titles <- c(intervals = "Parameters", density = "Densities of the draws, by chain",
                 trace = "Traces of the draws", rank = "Ranks of the draws, by chain")

# Overlaid densities need chains to overlay.
plot_density <- function(draws) {
  draw <- if (dim(draws)[2L] > 1L) bayesplot::mcmc_dens_overlay else bayesplot::mcmc_dens
  draw(draws, facet_args = wrapped_strips())
}

plot_call <- function(which) paste0("plot(which = \"", which, "\")")

with_bayesplot <- function(what, code) {
  tryCatch(code, error = function(e) {
    abort("unsupported", "The package bayesplot can't draw ", what, " of this fit: ",
          conditionMessage(e))
  })
}

wrapped_strips <- function() list(labeller = ggplot2::as_labeller(wrap_names))

# Long names in lines of at most `width` signs, broken after a blank or a mark where there is one.
wrap_names <- function(names, width = 24L) {
  vapply(strsplit(names, "(?<=[ _:.,-])", perl = TRUE), function(parts) {
    parts <- unlist(lapply(parts, cut_text, width = width))
    paste(trimws(fill_lines(parts, width)), collapse = "\n")
  }, "")
}

# `parts` pasted together, as many in a line as fit.
fill_lines <- function(parts, width) {
  lines <- ""
  for (part in parts) {
    end <- length(lines)
    whole <- paste0(lines[end], part)
    if (nchar(trimws(whole)) <= width) lines[end] <- whole else lines <- c(lines, part)
  }
  lines[nzchar(lines)]
}

cut_text <- function(text, width) {
  starts <- seq(1L, max(1L, nchar(text)), by = width)
  substring(text, starts, starts + width - 1L)
}

need_bayesplot <- function(what, instead = NULL) {
  if (!requireNamespace("bayesplot", quietly = TRUE)) {
    abort("unsupported", what, " needs the package bayesplot, which is not installed. Install it ",
          "with install.packages(\"bayesplot\")",
          if (!is.null(instead)) paste0(", or use ", instead), ".")
  }
}

# Coefficients and variances, at most n of them; intervals, which share an axis, of coefficients.
plotted_variables <- function(object, which, n, intercept) {
  names <- draw_names(object)
  shared <- which == "intervals"
  coefficients <- names$coefficients[shown_columns(object, intercept || !shared)]
  variances <- if (!shared || length(coefficients) == 0L) utils::head(names$variances, n)
  list(coefficients = utils::head(coefficients, max(1L, n - length(variances))),
       variances = variances, effects = NULL)
}

plot_intervals <- function(object, draws, level) {
  bayesplot::mcmc_intervals(draws, prob = min(0.5, level / 2), prob_outer = level,
                            point_est = "mean") +
    ggplot2::labs(x = paste0("Mean, 50 and ", format(100 * level), " % interval"),
                  caption = note_of(object$likelihood, "caption", object))
}
