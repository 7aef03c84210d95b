#' Plot a check
#'
#' For each quantity the density by the approximation beside the exact one: that of the same draws
#' weighed by importance, or that of a fit by draws.
#'
#' @details
#' Of coefficients the approximation's density is its law itself, a mixture of normals; other
#' densities are kernel estimates from draws. If Pareto k is 0.7 or more the weighed ones mean
#' nothing and are left out: give `exact`, a fit of the same model by an engine that draws from the
#' posterior, as the check's own sentence names it.
#'
#' @param x,object A check from [check_approximation()].
#' @param parameters Names of quantities, rows of the check's `table`; by default at most 12,
#'   standard deviations and those not to trust first.
#' @param exact A fit of the same model by draws, such as by [engine_gibbs()], whose draws stand for
#'   the exact law; `NULL` (default) for the weighed draws of the check.
#' @param ... For `plot()`: arguments of `autoplot()`. Else not used.
#' @return A `ggplot` object, a panel a quantity. Errors of class `bsvm_error_unsupported` where
#'   ggplot2 is missing, and `bsvm_error_argument` for names that are not there or an `exact` that
#'   is no such fit.
#' @seealso [check_approximation()]
#' @examplesIf all(sapply(c("ggplot2", "loo"), requireNamespace, quietly = TRUE))
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = engine_gaussian())
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
  check_dots(substitute(list(...)), "plot()", c(pars = "Here it is `parameters`."))
  chosen <- checked_quantities(object, parameters)
  draws <- if (!is.null(exact)) exact_draws(object, exact)
  shown <- check_densities(object, chosen, draws)
  ggplot2::ggplot(shown, ggplot2::aes(.data$value, .data$density, colour = .data$law,
                                      linetype = .data$law)) +
    ggplot2::geom_line(linewidth = 0.7) +
    ggplot2::facet_wrap("quantity", scales = "free", labeller = ggplot2::label_wrap_gen(24)) +
    ggplot2::scale_colour_manual(values = c("grey45", plot_colour)) +
    ggplot2::scale_linetype_manual(values = c("longdash", "solid")) +
    ggplot2::labs(x = NULL, y = "Density", colour = NULL, linetype = NULL,
                  caption = check_caption(object, draws, length(chosen))) +
    plot_theme() +
    ggplot2::theme(legend.position = "top", panel.spacing = ggplot2::unit(12, "pt"),
                   axis.text.y = ggplot2::element_blank())
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
  laws <- c("exact", paste0("engine_", check$engine$name, "()"))
  one <- function(name) {
    own <- own_density(check, name, laws[2L])
    exact <- if (!is.null(draws)) density_of(draws[name, ], NULL, laws[1L])
             else if (is_close(check)) density_of(check$values[name, ], check$weights, laws[1L])
    data.frame(rbind(exact, own), quantity = name)
  }
  shown <- do.call(rbind, lapply(chosen, one))
  shown$quantity <- factor(shown$quantity, chosen)
  shown$law <- factor(shown$law, laws)
  shown
}

# Of coefficients that of the law itself.
own_density <- function(check, name, law) {
  estimate <- density_of(check$values[name, ], NULL, law)
  at <- match(name, rownames(check$table))
  marginals <- check$marginals
  if (at > nrow(marginals$mean)) return(estimate)
  estimate$density <- 0
  for (k in seq_along(marginals$weights)) {
    estimate$density <- estimate$density + marginals$weights[k] *
      stats::dnorm(estimate$value, marginals$mean[at, k], marginals$sd[at, k])
  }
  estimate
}

# In the middle of what it says, since tails of variances are long.
density_of <- function(x, weights, law) {
  ends <- stats::quantile(x, c(0.002, 0.998), names = FALSE)
  found <- if (is.null(weights)) stats::density(x, adjust = 1.2, n = 256L)
           else stats::density(x, weights = weights, bw = 1.2 * stats::bw.nrd0(x), n = 256L)
  wide <- diff(ends) / 4
  at <- found$x > ends[1L] - wide & found$x < ends[2L] + wide
  data.frame(value = found$x[at], density = found$y[at], law = law)
}

check_caption <- function(check, draws, shown) {
  paste(c(paste("Pareto k", format_k(check$pareto_k)),
          if (is.null(draws) && !is_close(check))
            "Nothing exact to show: importance weights fail. Give `exact`, a fit by draws.",
          if (shown < nrow(check$table)) paste(shown, "of", nrow(check$table), "quantities")),
        collapse = "\n")
}
