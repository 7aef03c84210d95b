#' Fits of several quantiles
#'
#' For `likelihood_quantile(tau)` with several `tau`, [bsvm()] returns an object of class
#' `bsvm_quantiles`. It contains one fit per quantile, and its predictions never cross.
#'
#' @details
#' Each quantile is fitted separately. The fitted quantiles of a row could cross, with few rows or
#' far from the data. In this case `predict()` and `fitted()` sort them. The sorted quantiles are
#' never further from the truth than the crossing ones (Chernozhukov, Fernandez-Val and Galichon
#' 2010). Coefficients and intervals are taken from the single fits; `object[["0.5"]]` is one of
#' them.
#'
#' `plot()` shows the coefficients against `tau` with their intervals.
#'
#' @param object,x An object of class `bsvm_quantiles`: a list of fits named by `tau`.
#' @param newdata Rows to predict, as in [predict.bsvm()]; the rows of the fit by default.
#' @param parm Which coefficients, as in [confint.bsvm()]; all if missing.
#' @param level Probability of the intervals.
#' @param method `"sandwich"` (default, if available for the fits) or `"posterior"`, as in
#'   [vcov.bsvm()].
#' @param digits Significant digits.
#' @param ... For `predict()`: other arguments of [predict.bsvm()] except `interval` and `type`. For
#'   `update()`: arguments of [update.bsvm()].
#' @return `predict()`, `fitted()`: a matrix with one row per row of the data and one column per
#'   quantile, in increasing order. `residuals()`: such a matrix, without sorting. `coef()`: a
#'   matrix with one row per coefficient. `confint()`: a list with one element per quantile.
#'   `plot()`: a ggplot.
#' @references
#' Chernozhukov, V., Fernandez-Val, I. and Galichon, A. (2010). Quantile and probability curves
#' without crossing. *Econometrica*, 78, 1093-1125.
#' @seealso [likelihood_quantile()].
#' @examples
#' # between which limits do eight of ten stopping distances lie?
#' fits <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_quantile(c(0.1, 0.5, 0.9)))
#' fits
#' predict(fits, data.frame(speed = c(5, 25)))
#' @name bsvm_quantiles
NULL

# The likelihood of several quantiles is a list of theirs; bsvm() fits one after the other.
several_quantiles <- function(tau, scale) {
  good <- is.numeric(tau) && !anyNA(tau) && all(tau > 0 & tau < 1) && !anyDuplicated(tau)
  if (!good) {
    abort("argument", "`tau` must be different numbers above 0 and below 1; found ", describe(tau),
          ".")
  }
  tau <- sort(tau)
  structure(stats::setNames(lapply(tau, likelihood_quantile, scale = scale), format_each(tau)),
            class = "bsvm_quantile_likelihoods")
}

format_each <- function(x) vapply(x, format, "", digits = 15L)

#' @rdname print.bsvm_component
#' @export
print.bsvm_quantile_likelihoods <- function(x, ...) {
  for (likelihood in unclass(x)) print(likelihood)
  invisible(x)
}

is_several <- function(likelihood) inherits(likelihood, "bsvm_quantile_likelihoods")

# The call of bsvm() once for each of the likelihoods.
fit_each <- function(likelihoods, call, env) {
  call[[1L]] <- quote(bsvm::bsvm)
  fits <- lapply(unclass(likelihoods), function(likelihood) {
    call$likelihood <- likelihood_call(likelihood)
    eval(call, env)
  })
  structure(fits, class = "bsvm_quantiles")
}

# Some of them.
#' @export
`[.bsvm_quantiles` <- function(x, i) structure(unclass(x)[i], class = "bsvm_quantiles")

#' @rdname bsvm_quantiles
#' @export
residuals.bsvm_quantiles <- function(object, ...) {
  do.call(cbind, lapply(unclass(object), stats::residuals))
}

#' @rdname bsvm_quantiles
#' @export
nobs.bsvm_quantiles <- function(object, ...) stats::nobs(object[[1L]])

#' @rdname bsvm_quantiles
#' @export
formula.bsvm_quantiles <- function(x, ...) stats::formula(x[[1L]])

#' @rdname bsvm_quantiles
#' @export
update.bsvm_quantiles <- function(object, ...) {
  structure(lapply(unclass(object), stats::update, ...), class = "bsvm_quantiles")
}

# The method of these generics, by `.Generic`.
#' @rawNamespace S3method(hypothesis,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(importance,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(posterior_epred,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(posterior_linpred,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(posterior_predict,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(simulate,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(log_lik,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(loo,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(waic,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(tidy,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(glance,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(augment,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(fixef,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(ranef,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(VarCorr,bsvm_quantiles,one_quantile_only_sigma)
#' @rawNamespace S3method(vcov,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(weights,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(bayes_R2,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(elbo,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(model.frame,bsvm_quantiles,one_quantile_only_formula)
#' @rawNamespace S3method(model.matrix,bsvm_quantiles,one_quantile_only)
#' @rawNamespace S3method(as.matrix,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(as.array,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(posterior::as_draws,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(posterior::as_draws_df,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(posterior::as_draws_array,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(posterior::as_draws_matrix,bsvm_quantiles,one_quantile_only_x)
#' @rawNamespace S3method(bayesplot::pp_check,bsvm_quantiles,one_quantile_only)
one_quantile_only <- function(object, ...) refuse_quantiles_together(paste0(.Generic, "()"))

# Of generics with other arguments, which methods must have, too.
one_quantile_only_x <- function(x, ...) refuse_quantiles_together(paste0(.Generic, "()"))
one_quantile_only_sigma <- function(x, sigma = 1, ...) refuse_quantiles_together("VarCorr()")
one_quantile_only_formula <- function(formula, ...) refuse_quantiles_together("model.frame()")

refuse_quantiles_together <- function(what) {
  abort("unsupported", what, " is not available for several quantiles together. Use it for each of ",
        "them: `fit[[1]]` is the fit of the first.")
}

# So that a fit's own call says what it is.
likelihood_call <- function(likelihood) {
  call <- bquote(likelihood_quantile(.(likelihood$parameters[["tau"]])))
  prior <- likelihood$priors$scale
  if (has_row_scales(likelihood)) call$scale <- likelihood$scale_formula
  else if (is.null(prior)) call$scale <- likelihood$parameters[["scale"]]
  else if (!identical(prior, prior_half_t(3))) call$scale <- prior
  call[[1L]] <- quote(bsvm::likelihood_quantile)
  call
}

#' @rdname bsvm_quantiles
#' @export
predict.bsvm_quantiles <- function(object, newdata = NULL, ...) {
  dots <- list(...)
  odd <- intersect(names(dots), c("interval", "type", "level"))
  if (length(odd) > 0L) {
    abort("argument", "predict() of several quantiles has no `", odd[1L], "`. Use one of the fits, ",
          "as predict(object[[\"", names(object)[1L], "\"]], interval = \"confidence\").")
  }
  sorted_rows(do.call(cbind, lapply(unclass(object), stats::predict, newdata = newdata, ...)))
}

#' @rdname bsvm_quantiles
#' @export
fitted.bsvm_quantiles <- function(object, ...) {
  sorted_rows(do.call(cbind, lapply(unclass(object), stats::fitted)))
}

#' @rdname bsvm_quantiles
#' @export
coef.bsvm_quantiles <- function(object, ...) {
  do.call(cbind, lapply(unclass(object), function(fit) fixef.bsvm(fit)))
}

quantile_method <- function(object, method) {
  if (!is.null(method)) return(pick_one(method, c("sandwich", "posterior"), "method"))
  if (has_sandwich(object[[1L]])) "sandwich" else "posterior"
}

#' @rdname bsvm_quantiles
#' @export
confint.bsvm_quantiles <- function(object, parm, level = 0.95, method = NULL, ...) {
  method <- quantile_method(object, method)
  if (missing(parm)) parm <- seq_along(object[[1L]]$design$columns)
  suppressMessages(lapply(unclass(object), confint.bsvm, parm, level, method))
}

#' @rdname bsvm_quantiles
#' @export
print.bsvm_quantiles <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  first <- x[[1L]]
  cat("Bayesian quantile regression, ", length(x), " quantiles (", word_for_engine(first$engine),
      ")\n", sep = "")
  if (!is.null(first$formula)) say_wrapped(deparse1(shown_formula(first$formula)), 2L,
                                           most = 3L)
  cat("  ", first$nobs, " rows\n\nPopulation-level coefficients by quantile (posterior ",
      word_for_estimate(first), "):\n", sep = "")
  print(coef.bsvm_quantiles(x), digits = digits)
  invisible(x)
}

#' @rdname bsvm_quantiles
#' @export
summary.bsvm_quantiles <- function(object, level = 0.95, method = NULL, ...) {
  method <- quantile_method(object, method)
  structure(lapply(unclass(object), summary.bsvm, level = level, method = method),
            class = "summary.bsvm_quantiles")
}

#' @export
print.summary.bsvm_quantiles <- function(x, ...) {
  for (tau in names(x)) {
    cat("---- quantile ", tau, "\n", sep = "")
    print(x[[tau]], ...)
    cat("\n")
  }
  invisible(x)
}

#' @rdname bsvm_quantiles
#' @export
plot.bsvm_quantiles <- function(x, level = 0.95, method = NULL, ...) {
  need_ggplot2()
  limits <- confint.bsvm_quantiles(x, level = level, method = method)
  shown <- do.call(rbind, Map(function(fit, limits, tau) {
    data.frame(tau = as.numeric(tau), term = names(fixef.bsvm(fit)),
               estimate = unname(fixef.bsvm(fit)), lower = unname(limits[, 1L]),
               upper = unname(limits[, 2L]))
  }, unclass(x), limits, names(x)))
  shown$term <- factor(shown$term, unique(shown$term))
  ggplot2::ggplot(shown, ggplot2::aes(.data$tau, .data$estimate)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), fill = plot_colour,
                         alpha = 0.2) +
    ggplot2::geom_line(colour = plot_colour) +
    ggplot2::geom_point(colour = plot_colour, size = 1.5) +
    ggplot2::facet_wrap("term", scales = "free_y") +
    ggplot2::labs(title = paste0("Coefficients by quantile: ", interval_words(level)),
                  x = "Quantile", y = "Coefficient") +
    plot_theme()
}
