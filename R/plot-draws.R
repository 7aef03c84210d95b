# Pictures of draws, by the package bayesplot.

plot_draws <- function(object, which, level, pars, n, intercept) {
  need_draws(object, paste0("plot(which = \"", which, "\")"))
  need_bayesplot(which)
  need_posterior("plot()")
  wanted <- if (is.null(pars)) plotted_variables(object, which, n, intercept)
            else choose_variables(draw_names(object), pars, FALSE, "pars")
  draws <- posterior::as_draws_array(aperm(parameter_draws(object, wanted), c(2L, 3L, 1L)))
  drawn <- switch(
    which,
    intervals = plot_intervals(draws, level),
    density = bayesplot::mcmc_dens_overlay(draws),
    trace = bayesplot::mcmc_trace(draws),
    rank = bayesplot::mcmc_rank_overlay(draws)
  )
  drawn + plot_theme()
}

need_bayesplot <- function(which) {
  if (!requireNamespace("bayesplot", quietly = TRUE)) {
    abort("unsupported", "plot(which = \"", which, "\") needs the package bayesplot, which is not ",
          "installed. Install it with install.packages(\"bayesplot\"), or use ",
          "plot(fit, \"coefficients\").")
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

plot_intervals <- function(draws, level) {
  bayesplot::mcmc_intervals(draws, prob = min(0.5, level / 2), prob_outer = level,
                            point_est = "mean") +
    ggplot2::labs(x = paste0("Mean, 50 and ", format(100 * level), " % interval"),
                  caption = interval_caption(1L, 1L, ""))
}
