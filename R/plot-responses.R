#' Plot of a fit to several responses
#'
#' `plot()` shows all responses of a fit together. For one response use `plot(fit$fits$a)`, see
#' [plot.bsvm()].
#'
#' @param x,object A fit to several responses ([responses]).
#' @param which One of
#'   * `"response"` (default): each response against its fitted value, with predictive intervals;
#'   * `"correlation"`: residual correlations with credible intervals, the 30 largest in absolute
#'     value. Not available with independent residuals;
#'   * `"coefficients"`: the population-level coefficients of each response with credible intervals.
#'     More than 20 coefficients of a matrix of predictors, such as a spectrum, are drawn as a curve
#'     over its columns. Without linear terms, the coefficients of a Gaussian-process term with
#'     [kernel_linear()] are shown, whose function is linear in its variables;
#'   * `"relevance"`: with [prior_relevance()], the effective number of each row
#'     ([relevance_vectors()]).
#' @param level Probability of the intervals.
#' @param ... Not used.
#' @return A ggplot.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # do length and width of sepals vary together, given the size of petals?
#' fit <- bsvm(cbind(Sepal.Length, Sepal.Width) ~ Petal.Length + Petal.Width, data = iris,
#'             likelihood = likelihood_gaussian())
#' plot(fit, "correlation")
#' plot(fit)
#' plot(fit, "coefficients")
#' @export
plot.bsvm_responses <- function(x, which = c("response", "correlation", "coefficients",
                                             "relevance"), level = 0.95, ...) {
  need_ggplot2()
  check_dots(substitute(list(...)), "plot()", NULL)
  which <- pick_one(which, c("response", "correlation", "coefficients", "relevance"), "which")
  level <- check_level(level)
  switch(which, response = plot_observed(x, level), correlation = plot_correlations(x, level),
         coefficients = plot_response_coefficients(x, level),
         relevance = plot_relevance_vectors(x, parent.frame()))
}

#' @rdname plot.bsvm_responses
#' @method autoplot bsvm_responses
#' @rawNamespace S3method(ggplot2::autoplot,bsvm_responses)
autoplot.bsvm_responses <- function(object, ...) plot.bsvm_responses(object, ...)

by_response <- function(names, of) factor(rep(names, of), levels = names)

most_intervals <- 400L # rows of a panel

plot_observed <- function(object, level) {
  names <- response_names(object)
  all <- if (has_tube(object)) {
    predict.bsvm_responses(object, interval = "prediction", level = level)
  }
  parts <- lapply(names, function(name) {
    fit <- object$fits[[name]]
    found <- if (is.null(all)) predict.bsvm(fit, interval = "prediction", level = level)
             else as.data.frame(matrix(all[, , name], ncol = 4L,
                                       dimnames = list(NULL, dimnames(all)[[2L]])))
    shown <- data.frame(response = name, y = unname(stats::napredict(fit$na.action, fit$y)), found)
    shown <- shown[!is.na(shown$y), ]
    shown[spread_over(nrow(shown), most_intervals), ]
  })
  shown <- do.call(rbind, parts)
  shown$response <- factor(shown$response, levels = names)
  inside <- shown$y >= shown$lower & shown$y <= shown$upper
  ggplot2::ggplot(shown, ggplot2::aes(.data$fit, .data$y)) +
    ggplot2::geom_abline(colour = "grey60", linewidth = 0.3) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                            colour = plot_colour, alpha = 0.3) +
    ggplot2::geom_point(shape = ifelse(inside, 1, 4), size = 1.4) +
    ggplot2::facet_wrap("response", scales = "free") +
    ggplot2::labs(title = "Observed and fitted responses", x = "Fitted value",
                  y = "Observed response", caption = paste0(
      "Lines: ", format(100 * level), " % predictive intervals, of which ",
      format(100 * mean(inside), digits = 3L), " % cover the response (crosses: outside).")) +
    plot_theme()
}

plot_correlations <- function(object, level) {
  if (is.null(object$residual)) {
    abort("unsupported", "plot(which = \"correlation\") needs correlated residuals. Use ",
          "likelihood_gaussian(residual = \"correlated\").")
  }
  table <- covariance_table(object$residual, response_names(object), level)$correlation
  total <- nrow(table)
  table <- table[utils::head(order(-abs(table[, "Estimate"])), 30L), , drop = FALSE]
  shown <- data.frame(pair = rownames(table), estimate = table[, "Estimate"],
                      lower = table[, "lower"], upper = table[, "upper"])
  shown$pair <- factor(shown$pair, levels = shown$pair[order(shown$estimate)])
  ggplot2::ggplot(shown, ggplot2::aes(.data$estimate, .data$pair)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey60", linewidth = 0.3) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, linewidth = 0.7) +
    ggplot2::geom_point(colour = plot_colour, size = 1.8) +
    ggplot2::xlim(-1, 1) +
    ggplot2::labs(title = "Correlations of the residuals", x = "Residual correlation", y = NULL,
                  caption = paste0(
      "Posterior means and ", format(100 * level), " % credible intervals",
      if (total > 30L) paste0("; the 30 largest of ", total), ".")) +
    plot_theme() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = row_text_size(nrow(shown))))
}

plot_response_coefficients <- function(object, level) {
  names <- response_names(object)
  design <- object$fits[[1L]]$design
  at <- setdiff(shown_coefficients(object), design$intercept)
  linear <- Find(is_linear_term, gp_bases(object$fits[[1L]]))
  if (length(at) == 0L && (is.null(linear) || !has_draws(object$fits[[1L]]))) {
    abort("unsupported", "plot(which = \"coefficients\") needs linear terms, and this fit has ",
          "none. Use plot(fit).")
  }
  curve <- names(which(table(design$assign[at]) > 20L))
  if (length(curve) > 0L) at <- at[design$assign[at] == curve[1L]]
  labels <- if (length(at) > 0L) design$columns[at] else gp_input_labels(linear)
  shown <- do.call(rbind, lapply(names, function(name) {
    fit <- object$fits[[name]]
    table <- if (length(at) > 0L) draws_or_moments(fit, at, level)
             else draws_table(linear_slopes(fit, linear), labels, level)
    data.frame(response = name, term = labels, at = seq_along(labels),
               estimate = table[, "Estimate"], lower = table[, "lower"], upper = table[, "upper"])
  }))
  shown$response <- factor(shown$response, levels = names)
  caption <- paste0("Posterior means and ", format(100 * level), " % credible intervals.")
  if (length(curve) > 0L || length(labels) > 20L) {
    term <- if (length(curve) > 0L) design$term_labels[as.integer(curve[1L])]
            else paste(linear$covariates, collapse = ", ")
    numbers <- column_numbers(labels)
    if (!is.null(numbers)) shown$at <- rep(numbers, length(names))
    return(ggplot2::ggplot(shown, ggplot2::aes(.data$at, .data$estimate)) +
      ggplot2::geom_hline(yintercept = 0, colour = "grey60", linewidth = 0.3) +
      ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), fill = plot_colour,
                           alpha = 0.2) +
      ggplot2::geom_line(colour = plot_colour, linewidth = 0.6) +
      ggplot2::facet_wrap("response", scales = "free_y") +
      ggplot2::labs(title = "Coefficients of each response",
                    x = if (is.null(numbers)) paste("Column of", term) else term, y = "Coefficient", caption = caption) +
      plot_theme())
  }
  shown$term <- factor(shown$term, levels = rev(labels))
  ggplot2::ggplot(shown, ggplot2::aes(.data$estimate, .data$term)) +
    ggplot2::geom_vline(xintercept = 0, colour = "grey60", linewidth = 0.3) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper),
                            colour = plot_colour, linewidth = 0.7) +
    ggplot2::geom_point(colour = plot_colour, size = 1.8) +
    ggplot2::facet_wrap("response", scales = "free_x") +
    ggplot2::labs(title = "Coefficients of each response", x = "Coefficient", y = NULL,
                  caption = caption) +
    plot_theme() +
    ggplot2::theme(axis.text.y = ggplot2::element_text(size = row_text_size(length(labels))))
}

# A Gaussian-process term whose function is linear.
is_linear_term <- function(basis) {
  kernels <- unlist(kernel_products(basis$kernel), recursive = FALSE)
  length(kernels) == 1L && is.null(basis$by) && isTRUE(kernels[[1L]]$settings["degree"] == 1)
}

# Draws (variables x S) of its slopes, per unit of each variable: what the function adds from the
# origin of the standardised inputs to a point one unit away.
linear_slopes <- function(fit, basis) {
  d <- length(basis$inputs$scale)
  columns <- gp_columns(basis, rbind(0, diag(d)), NULL)
  rise <- sweep(columns[-1L, , drop = FALSE], 2L, columns[1L, ])
  rise %*% coefficient_draws(fit, columns_of(list(basis))) / basis$inputs$scale
}

# The columns' own names where a single matrix has them.
gp_input_labels <- function(basis) {
  if (length(basis$column_names) == length(basis$inputs$scale)) return(basis$column_names)
  input_names(basis)
}

plot_relevance_vectors <- function(object, env) {
  shown <- relevance_vectors(object)
  shown$response <- factor(shown$response, levels = response_names(object))
  if (anyNA(shown$row)) {
    shown$row <- stats::ave(seq_len(nrow(shown)), shown$response, FUN = seq_along)
  }
  relevant <- shown[shown$relevance > 0.5, ]
  ggplot2::ggplot(shown, ggplot2::aes(.data$row, .data$relevance)) +
    ggplot2::geom_hline(yintercept = 0.5, colour = "grey60", linewidth = 0.3, linetype = 2) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = 0, ymax = .data$relevance), colour = plot_colour,
                            linewidth = 0.4) +
    ggplot2::geom_point(colour = plot_colour, size = 1) +
    ggplot2::geom_text(ggplot2::aes(label = .data$row), data = relevant, size = 2.8, vjust = -0.6,
                       check_overlap = TRUE) +
    ggplot2::facet_wrap("response") +
    ggplot2::ylim(0, 1.08) +
    ggplot2::labs(title = "Relevance of the rows", x = "Row", y = "Effective number",
                  caption = paste(
      "Rows above one half are usually called relevance vectors.")) +
    plot_theme()
}

# Wavelengths of columns such as nirw1380; NULL without a number in each.
column_numbers <- function(names) {
  numbers <- suppressWarnings(as.numeric(sub("^.*?([0-9.]+)$", "\\1", names, perl = TRUE)))
  if (anyNA(numbers) || is.unsorted(numbers)) NULL else numbers
}
