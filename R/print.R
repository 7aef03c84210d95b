#' Print a fit
#'
#' `print()` shows the model, which class is +1, the population-level coefficients, the variances
#' with the cost they imply, and whether the fit converged. [summary.bsvm()] shows more and explains
#' each number.
#'
#' @param x A fit from [bsvm()].
#' @param n Maximum number of coefficients to print; 20 by default, `Inf` for all.
#' @param digits Significant digits.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @examples
#' # how do sex and age change the linear predictor of disease?
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' fit
#' print(fit, digits = 2)
#' @export
print.bsvm <- function(x, n = 20L, digits = max(3L, getOption("digits") - 3L), ...) {
  check_fit(x, "x")
  check_shown(n)
  check_digits(digits)
  say_model(x, group_counts(x), missing_table(x))
  say_coefficients(x, n, digits)
  say_variances(variance_table(x), standard_scale(x), digits, x)
  say_scales(scale_table(x), digits)
  say_parameters(parameter_table(x)[, "Estimate", drop = FALSE], digits)
  say_other_hyper(x, digits)
  say_factors(factor_facts(x, table = FALSE), digits)
  cat("\n")
  say_end(x, digits)
  say_hint(x)
  invisible(x)
}

# How many of something to print: a number, or `Inf` for all.
check_shown <- function(n) if (identical(n, Inf)) n else check_count(n, "n")

# R prints up to 22.
check_digits <- function(digits) {
  if (check_count(digits, "digits") > 22L) {
    abort("argument", "`digits` must be at most 22; found ", digits, ".")
  }
  digits
}

# The `say_` functions serve print and summary alike: `x` is a fit or a summary, and both have
# the fields that are used.
say_model <- function(x, groups, missing) {
  cat(model_title(x$likelihood), " (", x$likelihood$label,
      if (is_law(x$likelihood)) " likelihood", ", ", word_for_engine(x$engine), ")\n",
      sep = "")
  formula <- if (is.null(x$counts)) x$formula else x$counts$formula
  if (!is.null(formula)) say_wrapped(deparse1(shown_formula(formula)), 2L, most = 3L)
  unlabelled <- unlabelled_rows(x)
  omitted <- if (is.null(x$counts)) length(x$na.action) - unlabelled
             else length(setdiff(x$counts$rows, x$counts$used))
  levels <- sprintf(", %d level%s of %s", groups, ifelse(groups == 1L, "", "s"), names(groups))
  say_wrapped(paste0(
    if (is.null(x$counts)) paste(x$nobs, "rows")
    else paste(x$counts$trials, "trials in", length(unique(x$counts$used)), "rows"), paste(levels, collapse = ""),
    if (unlabelled > 0L) paste0("; ", unlabelled, " more without a response inform the factors"),
    if (omitted > 0L) paste0("; ", omitted, " more excluded for missing values"),
    modelled_text(missing)
  ), 2L)
  response <- describe_response(x$response)
  if (!is.null(response)) say_wrapped(response, 2L)
  if (!is.null(x$engine$chosen)) {
    say_wrapped(paste0(engine_call(x$engine), " by default: ", x$engine$chosen), 2L)
  }
}

word_for_engine <- function(engine) {
  if (is_independent(engine)) return("draws about the modes of the variances")
  word <- trait(engine, "word")
  if (is.null(word)) paste(toupper(engine$name), "engine") else word
}

say_coefficients <- function(x, n, digits) {
  coefficients <- fixef.bsvm(x)
  cat("\nPopulation-level coefficients (posterior ", word_for_estimate(x), "):\n", sep = "")
  hidden <- penalised_columns(x)
  if (length(hidden) > 0L) coefficients <- coefficients[-hidden]
  if (length(coefficients) == 0L) {
    cat("none\n")
  } else {
    shown <- format(utils::head(without_dust(coefficients, x), n), digits = digits)
    print.default(shown, print.gap = 2L, quote = FALSE)
  }
  say_more(length(coefficients) - n, "coefficients")
  say_hidden(hidden_counts(x))
  if (length(coefficients) + length(hidden) > 0L) say_flat(x)
}

# For print, of a fit or a summary by engine_vb(): averages over inclusion are never quite zero.
without_dust <- function(numbers, x) {
  if (is.null(x$start_bounds)) numbers else zapsmall(numbers, 10L)
}

word_for_estimate <- function(x) if (is_mode(x$engine)) "mode" else "mean"

# How many coefficients of terms with a basis are not printed, by the picture that shows them.
hidden_counts <- function(object) {
  gps <- vapply(object$bases, is_gp, TRUE)
  factors <- vapply(object$bases, is_factors, TRUE)
  linear <- vapply(object$bases, is_linear_factors, TRUE) # else one column stands for a function
  c(smooth = length(columns_of(object$bases[!gps & !factors], "columns")),
    gp = length(columns_of(object$bases[gps], "columns")),
    loadings = length(columns_of(object$bases[linear], "columns")))
}

say_hidden <- function(counts) {
  counts <- counts[counts > 0L]
  if (length(counts) == 0L) return(invisible())
  words <- c(smooth = "smooth terms", gp = "Gaussian-process terms",
             loadings = "variables of the factors")[names(counts)]
  say_wrapped(paste0("and ", paste(counts, "of", words, collapse = " and "), ": see ",
                     paste0("plot(fit, \"", names(counts), "\")", collapse = " and "), "."))
}

say_flat <- function(x) {
  if (isTRUE(x$default_prior)) {
    cat("Weakly informative priors (default in models with random effects or smooths",
        if (has_factors(x) || !is.null(x$factors)) ", or factors", ").\n", sep = "")
  }
}

# A mode is plugged in itself, and LIBSVM's cost is that of the pseudo-likelihood's loss.
variance_columns <- function(table, x) {
  mode <- is_mode(x$engine)
  numbers <- as.matrix(table[c("mean", "plug_in", "cost")])
  dimnames(numbers) <- list(paste0(table$block, ifelse(table$fixed, " (fixed)", "")),
                            c(if (mode) "Mode" else "Mean", "1/E[1/var]", "LIBSVM cost"))
  numbers[, c(TRUE, !mode && !all(is.na(table$plug_in)), !all(is.na(table$cost))), drop = FALSE]
}

# `table` from variance_table(); one line a block.
say_variances <- function(table, standard_scale, digits, x) {
  if (nrow(table) == 0L) return(invisible())
  cat("\nVariances", if (standard_scale) " (population-level: of standardised predictors)",
      ":\n", sep = "")
  print_columns(variance_columns(table, x), digits)
  if (any(is.infinite(table$mean))) {
    say_wrapped(if (trait(x$engine, "inverse_means")) {
      paste("A variance with one coefficient to learn from has no finite posterior mean;",
            "1/E[1/var] is what the fit uses.")
    } else {
      "A variance that the data hardly bound from above has no finite posterior mean."
    })
  }
}

# `table` from scale_table().
say_scales <- function(table, digits) {
  if (nrow(table) == 0L) return(invisible())
  cat("\n")
  say_wrapped(paste0("Scale nu of ", table$block, ": ", format(table$nu, digits = digits),
                     ifelse(table$fixed, " (fixed)", "")))
}

# For blocks without a variance, posterior means of their parameters: "block: nu 0.32, alpha 0.9".
say_other_hyper <- function(x, digits) {
  blocks <- Filter(function(block) {
    !has_variance(block) && !is_parameter(block) && !is_weak(block$prior) &&
      length(block$hyper) > 0L
  }, all_blocks(x))
  if (is_estimator(x$engine) || length(blocks) == 0L) return(invisible())
  cat("\nHyper-parameters", if (standard_scale(x)) " (of standardised predictors)", ":\n", sep = "")
  for (block in blocks) {
    numbers <- vapply(block$hyper, format, "", digits = digits)
    say_wrapped(paste0(block$label, ": ", paste(names(numbers), numbers, collapse = ", ")), 2L)
  }
}

say_end <- function(x, digits) {
  if (!is.null(x$sampling)) return(say_sampling(x))
  reached <- if (is.null(x$elbo)) "Mode found"
             else paste(trait(x$engine, "bound"), format(x$elbo, digits = max(digits, 6L)))
  cat(reached, " after ", x$passes, " iterations: ", end_words(x$termination), ".\n", sep = "")
}

say_sampling <- function(x) {
  sampling <- x$sampling
  say_wrapped(paste0(
    chains_text(sampling), " after ", sampling$burnin, " of burn-in",
    if (isTRUE(sampling$adaptive)) paste0(" (until ", ess_limit, " were effective)"),
    if (sampling$thin > 1L) paste0(", one kept of ", sampling$thin),
    if (isTRUE(x$engine$parameters["mixing"] == 0)) ", plain sampler", ", ",
    format(sampling$seconds, digits = 2L), " s",
    if (x$termination == "interrupted") ": interrupted, not all draws were made", "."
  ))
}

end_words <- function(termination) {
  known <- c(converged = "converged", pass_limit = "stopped at the limit, not converged",
             interrupted = "interrupted, not converged")
  if (termination %in% names(known)) known[[termination]] else termination
}

say_more <- function(number, what) {
  if (number > 0L) cat("... and ", number, " more ", what, "\n", sep = "")
}

say_wrapped <- function(text, indent = 0L, most = Inf) {
  lines <- strwrap(text, indent = indent, exdent = if (indent > 0L) indent + 2L else 0L)
  if (length(lines) > most) lines <- c(lines[seq_len(most - 1L)], "    ...")
  writeLines(lines)
}

# Each column of a matrix with its own number of decimals.
print_columns <- function(table, digits) {
  shown <- apply(table, 2L, format, digits = digits)
  shown <- matrix(shown, nrow(table), dimnames = dimnames(table))
  print(shown, quote = FALSE, right = TRUE)
}
