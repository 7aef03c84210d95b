#' Plot of a check of the approximation
#'
#' For each quantity, `plot()` shows the posterior density of the approximation together with the
#' corrected density, or with the density from a fit with draws.
#'
#' @details
#' The first density is the density of the approximation itself. A correlation with [engine_vb()]
#' has no such density. Corrected densities are kernel estimates from the weighted draws or the
#' chains of the check. Standard deviations are shown on a logarithmic axis. For correlations, the
#' estimate uses Fisher's z, so that it does not extend beyond possible values.
#'
#' If the chains of the check have not converged, their draws are shown and the caption says so. If
#' the weights can't be used and there are no chains, give `exact`, a fit of the same model with an
#' engine that draws from the posterior.
#'
#' @param x,object A check from [check_approximation()].
#' @param parameters Names of quantities, which are rows of `table` in the check. By default at most
#'   12 are shown; standard deviations and quantities that are not to be trusted come first.
#' @param exact A fit of the same model with draws, for example with [engine_gibbs()]. Its draws
#'   represent the exact distribution. `NULL` (default) uses the corrected distribution of the
#'   check.
#' @param ... For `plot()`: arguments of `autoplot()`. Otherwise not used.
#' @return A `ggplot` object with one panel per quantity.
#' @section Errors:
#' `bsvm_error_unsupported` if ggplot2 is not installed or the check has no draws that can be shown;
#' `bsvm_error_argument` for unknown names or an invalid `exact`.
#' @seealso [check_approximation()]
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # is the posterior of the treatment's effect close to the exact one?
#' fit <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7)
#' plot(check_approximation(fit))
#' @export
plot.bsvm_check <- function(x, ...) {
  autoplot.bsvm_check(x, ...)
}

#' @rdname plot.bsvm_check
#' @method autoplot bsvm_check
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_check)
autoplot.bsvm_check <- function(object, parameters = NULL, exact = NULL, ...) {
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", c(pars = "Use `parameters` instead."))
  chosen <- checked_quantities(object, parameters)
  draws <- if (!is.null(exact)) exact_draws(object, exact) else need_exact(object)
  shown <- check_densities(object, chosen, draws)
  ggplot2::ggplot(shown, ggplot2::aes(.data$at, .data$height, colour = .data$source,
                                      linetype = .data$source)) +
    ggplot2::geom_line(linewidth = 0.7) +
    ggplot2::facet_wrap("panel", scales = "free", labeller = ggplot2::label_wrap_gen(24)) +
    ggplot2::scale_colour_manual(values = class_colours) +
    ggplot2::scale_linetype_manual(values = c("longdash", "solid")) +
    ggplot2::scale_x_continuous(breaks = check_breaks, labels = check_labels) +
    ggplot2::labs(title = "The approximation and the exact posterior",
                  x = if (any(shown$log)) "Value (standard deviations on a logarithmic axis)"
                      else "Value",
                  y = "Density", colour = NULL, linetype = NULL,
                  caption = check_caption(object, is.null(exact), length(chosen))) +
    plot_theme() +
    ggplot2::theme(legend.position = "top", panel.spacing = ggplot2::unit(9, "pt"),
                   legend.margin = ggplot2::margin(),
                   panel.grid.major.y = ggplot2::element_blank(),
                   strip.text = ggplot2::element_text(size = if (length(chosen) > 6L) 7.5 else 9),
                   axis.text.x = ggplot2::element_text(size = if (length(chosen) > 6L) 7 else 8.8),
                   axis.text.y = ggplot2::element_blank())
}

# Chains that were not accepted are shown as they are, with words; unusable weights are not.
need_exact <- function(check) {
  if (check$usable) return(NULL)
  if (check$method == "chains") return(check$values)
  abort("unsupported", "The check has no corrected values to show: its weights can't be used ",
        "(Pareto k ", format_k(check$pareto_k), "). Give `exact`, a fit of the same model by ",
        "draws: plot(check, exact = update(fit, engine = ",
        if (is.null(check$exact)) "engine_slice()" else check$exact$name, ")).")
}

# Panels of logarithms are far to the right of others, so that the scale can tell them.
check_breaks <- function(limits) {
  if (limits[1L] < panel_offset / 2) return(pretty_few(limits))
  nice <- log(as.vector(outer(c(1, 2, 5), 10^(-20:20)))) + panel_offset
  inside <- nice[nice >= limits[1L] & nice <= limits[2L]]
  tens <- log(10^(-20:20)) + panel_offset
  tens <- tens[tens >= limits[1L] & tens <= limits[2L]]
  if (length(tens) > 1L) inside <- tens
  if (length(inside) < 2L) return(log(pretty_few(exp(limits - panel_offset))) + panel_offset)
  inside[unique(round(seq(1, length(inside), length.out = min(3L, length(inside)))))]
}

pretty_few <- function(limits) {
  breaks <- pretty(limits, 3L)
  breaks <- breaks[breaks > limits[1L] & breaks < limits[2L]]
  if (length(breaks) > 4L) breaks[seq(1L, length(breaks), by = 2L)] else breaks
}

check_labels <- function(breaks) {
  logs <- !is.na(breaks) & breaks > panel_offset / 2
  breaks[logs] <- exp(breaks[logs] - panel_offset)
  ifelse(is.na(breaks), "", vapply(signif(breaks, 4L), format, ""))
}

most_panels <- 12L

checked_quantities <- function(check, parameters) {
  known <- rownames(check$table)
  if (!is.null(parameters)) return(pick_part(parameters, known, "parameters"))
  order <- order(!check$table$trust %in% FALSE, !grepl("^(sd|cor)_", known))
  known[sort(utils::head(order, most_panels))]
}

# Quantities x draws of the other fit.
exact_draws <- function(check, exact) {
  if (!inherits(exact, "bsvm") || !inherits(exact$posterior, "bsvm_draws")) {
    abort("argument", "`exact` must be a fit by draws, as by engine_gibbs(); found ",
          if (inherits(exact, "bsvm")) paste("one by", call_of_engine(exact)) else describe(exact),
          ".")
  }
  values <- drawn_quantities(exact)
  same <- identical(rownames(values), rownames(check$values)) &&
    identical(exact$likelihood, check$likelihood)
  if (same) return(values)
  abort("argument", "`exact` must be a fit of the same model, with the same coefficients, ",
        "variances and likelihood.")
}

check_densities <- function(check, chosen, draws) {
  chains <- !check$usable && identical(draws, check$values)
  names <- c(if (is.null(draws)) "corrected" else if (chains) check$exact$name else "exact",
             engine_call(check$engine))
  one <- function(name) {
    scale <- quantity_scale(name, check)
    exact <- if (!is.null(draws)) drawn_density(draws[name, ], NULL, scale)
             else if (check$usable) drawn_density(check$values[name, ], check$weights, scale)
    parts <- list(exact, own_density(check, name, scale))
    some <- lengths(parts) > 0L
    data.frame(do.call(rbind, parts[some]), quantity = name, log = scale$log,
               source = rep(names[some], vapply(parts[some], nrow, 0L)))
  }
  shown <- do.call(rbind, lapply(chosen, one))
  shown$at <- shown$value
  shown$at[shown$log] <- log(shown$value[shown$log]) + panel_offset
  shown$height <- ifelse(shown$log, shown$density * shown$value, shown$density)
  shown$quantity <- factor(shown$quantity, chosen)
  shown$panel <- factor(chosen[shown$quantity], chosen)
  shown$source <- factor(shown$source, names)
  shown
}

# Densities are drawn on a scale without bounds: standard deviations and parameters in logarithms,
# correlations as Fisher's z. list(to, from, slope, log): `slope` is that of `to` at the values on
# it, and pictures have `log` axes too.
quantity_scale <- function(name, check) {
  if (match(name, rownames(check$table)) <= nrow(check$marginals$mean)) {
    return(list(to = identity, from = identity, slope = function(t) 1, log = FALSE))
  }
  if (!startsWith(name, "cor_")) {
    return(list(to = log, from = exp, slope = function(t) exp(-t), log = TRUE))
  }
  list(to = function(x) atanh(pmin(pmax(x, -largest_correlation), largest_correlation)),
       from = tanh, slope = function(t) cosh(t)^2, log = FALSE)
}

on_scale <- function(t, density, scale) {
  data.frame(value = scale$from(t), density = density * scale$slope(t))
}

# In the middle of what the draws say, since tails of variances are long.
drawn_density <- function(x, weights, scale) {
  t <- scale$to(x)
  ends <- weighted_quantiles(t, weights, c(0.002, 0.998))
  width <- 1.2 * stats::bw.nrd0(t)
  if (!is.null(weights)) weights <- weights / sum(weights)
  found <- stats::density(t, weights = weights, bw = width, n = 512L, from = ends[1L] - 2 * width,
                          to = ends[2L] + 2 * width)
  on_scale(found$x, found$y, scale)
}

weighted_quantiles <- function(x, weights, probs) {
  if (is.null(weights)) return(stats::quantile(x, probs, names = FALSE))
  order <- order(x)
  below <- cumsum(weights[order])
  x[order][pmin(findInterval(probs, below) + 1L, length(x))]
}

# By the approximation itself; NULL where it says nothing of the quantity's distribution.
own_density <- function(check, name, scale) {
  at <- match(name, rownames(check$table))
  coefficients <- nrow(check$marginals$mean)
  law <- if (at > coefficients) check$spreads[[at - coefficients]]
         else list(mean = check$marginals$mean[at, ], sd = check$marginals$sd[at, ],
                   weights = check$marginals$weights)
  if (is.null(law) || anyNA(law$sd)) return(NULL)
  ends <- law_ends(law)
  t <- seq(ends[1L], ends[2L], length.out = 512L)
  on_scale(t, law_density(law, t), scale)
}

# Limits for a mixture of normals, for log densities on a grid, and for a log standard deviation
# whose square is inverse gamma.
law_ends <- function(law) {
  if (!is.null(law$shape)) {
    return(-log(stats::qgamma(c(0.998, 0.002), law$shape, rate = law$scale)) / 2)
  }
  if (!is.null(law$at)) return(range(law$at[law$log > max(law$log) - 7]))
  range(law$mean - 3.5 * law$sd, law$mean + 3.5 * law$sd)
}

law_density <- function(law, t) {
  if (!is.null(law$shape)) {
    return(2 * exp(law$shape * log(law$scale) - lgamma(law$shape) - 2 * law$shape * t -
                     law$scale * exp(-2 * t)))
  }
  if (!is.null(law$at)) {
    return(exp(stats::approx(law$at, law$log, t, rule = 2)$y) / sum(law_masses(law, 0)))
  }
  parts <- Map(function(weight, mean, sd) weight * stats::dnorm(t, mean, sd),
               law$weights, law$mean, rep_len(law$sd, length(law$mean)))
  Reduce(`+`, parts)
}

check_caption <- function(check, own, shown) {
  caption_of(
    source_sentence(check),
    if (own && !check$usable) paste("The chains of", check$exact$name, "have not converged enough",
                                    "to correct the fit"),
    if (shown < nrow(check$table)) paste(shown, "of", nrow(check$table), "quantities")
  )
}
