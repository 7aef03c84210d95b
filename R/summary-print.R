# The parts of a summary as they are printed.

say_table <- function(x, n, digits) {
  cat("\nPopulation-level coefficients (", if (isTRUE(x$point)) "posterior mode"
      else paste(format(100 * x$level), "% credible intervals"),
      switch(x$method, linear_response = ", linear response", sandwich = ", sandwich"), "):\n",
      sep = "")
  shown <- x$coefficients[!rownames(x$coefficients) %in% x$smooth_basis, , drop = FALSE]
  if (isTRUE(x$point)) shown <- shown[, "Estimate", drop = FALSE]
  if (nrow(shown) == 0L) cat("none\n")
  else print_table(without_dust(utils::head(columns_shown(shown, x), n), x), digits)
  say_more(nrow(shown) - n, "coefficients")
  say_hidden(x$hidden)
  if (x$details && nrow(x$coefficients) > 0L) say_flat(x)
  notes <- c(if (nrow(shown) > 0L) note_of(x$likelihood, "coefficients"), coefficient_notes(x))
  for (note in notes) say_wrapped(note)
}

# Diagnostics of draws are details.
columns_shown <- function(table, x) {
  if (x$details) return(table)
  table[, intersect(colnames(table), c("Estimate", "SD", "lower", "upper")), drop = FALSE]
}

# A caution about the intervals; none for calibrated ones. Without details it is the
# gravest alone.
coefficient_notes <- function(x) {
  interval <- c(engine_note(x$engine, x), if (!isTRUE(x$point)) x$pseudo_note)
  if (!x$details) return(utils::head(c(missing_note(x), interval), 1L))
  c(if (length(interval) > 0L) paste(interval, collapse = " "), missing_note(x))
}

# Is what the likelihood does to intervals said, and graver than that they are approximate?
is_said <- function(x) !isTRUE(x$details) && !is.null(x$pseudo_note)

# A common penalty of coefficients is a detail.
say_sds <- function(x, n, digits) {
  if (!is.null(x$sampling)) digits <- min(digits, 3L) # as the Monte Carlo error allows
  shown <- x$sds
  if (!x$details) shown <- shown[!rownames(shown) %in% attr(shown, "population"), , drop = FALSE]
  standardised <- x$standard_scale && any(rownames(shown) %in% attr(shown, "population"))
  say_spreads(shown, paste0("Standard deviations", if (standardised) {
    ", for standardised predictors at population level"
  }), x, n, digits)
  if (NROW(shown) > 0L) for (note in group_note(x$engine, x)) say_wrapped(note)
  say_spreads(x$correlations, "Correlations", x, n, digits)
}

say_spreads <- function(table, title, x, n, digits) {
  if (NROW(table) == 0L) return(invisible())
  table <- table[, !apply(is.na(table), 2L, all), drop = FALSE]
  cat("\n", title, if (ncol(table) > 1L) paste0(" (", format(100 * x$level),
                                               " % credible intervals)"), ":\n", sep = "")
  print_columns(utils::head(table, n), digits)
  say_more(nrow(table) - n, tolower(title))
}

# Without details: residuals, what else the user modelled, and an end that was none.
say_rest <- function(x, digits) {
  if (!is.null(x$residuals)) cat("\n")
  say_residuals(x$residuals, digits)
  of_row <- row_scale_table(x)
  if (!is.null(of_row)) {
    cat("\nScale of the residuals by row:\n")
    print_table(of_row, digits)
    say_row_scales(rownames(of_row))
  }
  cat("\n")
  if (x$termination %in% c("pass_limit", "stalled", "interrupted")) say_end(x, digits)
  cat("More: summary(fit, details = TRUE).\n")
}

# Coefficients of a scale that differs by row, of draws or not.
row_scale_table <- function(x) {
  table <- if (is.null(x$sampling)) x$parameters else x$variance_draws
  if (is.null(table) || !any(grepl("^scale: ", rownames(table)))) return(NULL)
  columns_shown(table[grepl("^scale($|: )", rownames(table)), , drop = FALSE], x)
}

say_details <- function(x, n, digits) {
  if (is.null(x$sampling)) say_variances(x$variances, x$standard_scale, digits, x)
  else say_drawn_variances(x, n, digits)
  say_scales(x$scales, digits)
  say_parameters(x$parameters, digits)
  say_priors(x)
  say_missing(x$missing, digits)
  say_fit(x, digits)
}

say_priors <- function(x) {
  cat("\nPriors:\n")
  say_wrapped(paste0(names(x$priors), ": ", x$priors), 2L)
}

# The table of draws, and the costs of population-level penalties.
say_drawn_variances <- function(x, n, digits) {
  if (nrow(x$variance_draws) > 0L) {
    cat("\n", word_for_hyper(rownames(x$variance_draws)),
        if (x$standard_scale) " (population-level: of standardised predictors)", ":\n", sep = "")
    print_table(utils::head(x$variance_draws, n), digits)
    say_more(nrow(x$variance_draws) - n, "variances")
    say_row_scales(rownames(x$variance_draws))
  }
  cost <- utils::head(x$variances[!is.na(x$variances$cost), ], n)
  if (nrow(cost) == 0L) return(invisible())
  cost <- paste(cost$block, format(cost$cost, digits = digits, trim = TRUE))
  cat("\n")
  say_wrapped(paste0("LIBSVM cost (2/E[1/variance]): ", paste(cost, collapse = "; ")))
}

word_for_hyper <- function(names) {
  if (all(grepl("^(var|cov)_", names))) "Variances" else "Hyper-parameters"
}

# Columns of draws: effective sizes are whole numbers, Rhat has three decimals, the Monte Carlo
# error two digits, and nothing has more digits than that error leaves any sense.
print_table <- function(table, digits) {
  if (!"Rhat" %in% colnames(table)) return(print_columns(table, digits))
  shown <- matrix("", nrow(table), ncol(table), dimnames = dimnames(table))
  for (column in colnames(table)) {
    x <- table[, column]
    shown[, column] <- switch(
      column,
      Rhat = formatC(x, digits = 3L, format = "f"),
      Bulk_ESS = , Tail_ESS = formatC(x, digits = 0L, format = "f"),
      MCSE = format(signif(x, 2L), digits = 2L),
      format(x, digits = min(digits, 3L))
    )
  }
  print(shown, quote = FALSE, right = TRUE)
}

say_fit <- function(x, digits) {
  if (!is.na(x$n_support)) {
    cat("\nSupport vectors: ", x$n_support, " of ", x$nobs, " rows (",
        format(100 * x$support_share, digits = 3L), " %)",
        if (!is.null(x$estimate$n_margin)) {
          paste0(", ", x$estimate$n_margin, " of them on the margin")
        },
        "\n", sep = "")
  }
  say_residuals(x$residuals, digits)
  say_end(x, digits)
  say_starts(x$start_bounds, digits)
  if (!is.null(x$estimate)) {
    say_estimate(x$estimate, digits)
  } else if (is.null(x$sampling) && is.null(x$factors)) {
    concave <- is_concave(x$likelihood) && is.null(x$start_bounds) && is.null(x$missing)
    cat(if (trait(x$engine, "duality_gap")) "Relative duality gap: "
        else paste0("Gradient of the ", if (concave) "concave ", "objective: "),
        format(x$gradient, digits = 2L), "\n", sep = "")
  }
}

say_estimate <- function(estimate, digits) {
  cat("Objective: ", format(estimate$objective, digits = max(digits, 8L)), ", relative ",
      if (estimate$certified) "duality gap: " else "gap to that of the penalty's tangents: ",
      format(estimate$gap, digits = 2L), "\n", sep = "")
  if (length(estimate$optima) > 1L) {
    cat("Objectives of ", length(estimate$optima), " starts: ",
        paste(format(sort(estimate$optima), digits = digits), collapse = ", "), "\n", sep = "")
  }
}

say_starts <- function(bounds, digits) {
  if (length(bounds) < 2L) return(invisible())
  cat("Bounds of ", length(bounds), " starts: ",
      paste(format(range(bounds), digits = max(digits, 6L)), collapse = " to "), ", ",
      sum(bounds > max(bounds) - 0.01), " within 0.01 of the best.\n", sep = "")
}
