# The lines of print() and summary() about a factor term.

# list(label, k, p, chosen, table, determinacy, missing), NULL without such a term. `table` is that of
# factor_table(), without it where only print() asks.
factor_facts <- function(object, level = 0.95, table = TRUE) {
  basis <- factors_of(object)
  if (is.null(basis)) return(NULL)
  draws <- object$posterior$factors$identified["determinacy", , ]
  table <- table && length(object$posterior$factors$kept$at) > 0L # else the run was interrupted
  list(label = basis$label, k = basis$k, p = length(basis$names), chosen = !is.null(basis$chosen),
       feedback = basis$feedback, prior = loadings_words(object),
       kernel = if (!is.null(basis$kernel)) basis$kernel$label,
       scales = score_scales(object, level), unlabelled = basis$unlabelled_rows,
       table = if (table) factor_table(object, level = level),
       determinacy = c(mean(draws), row_quantiles(matrix(draws, 1L), level)), level = level)
}

# The number of rows without a response, of a fit or a summary.
unlabelled_rows <- function(x) {
  count <- if (!is.null(x$factors)) x$factors$unlabelled else factors_of(x)$unlabelled_rows
  if (is.null(count)) 0L else count
}

# Numbers of a kernel of scores: a row each.
score_scales <- function(object, level) {
  draws <- object$posterior$factors$identified
  draws <- draws[startsWith(rownames(draws), "kernel_"), , , drop = FALSE]
  if (nrow(draws) == 0L) return(NULL)
  values <- draw_matrix(draws)
  cbind(Estimate = rowMeans(values), SD = sqrt(row_variances(values)), row_quantiles(values, level))
}

loadings_words <- function(object) {
  own <- Find(function(block) !is.null(block$loadings), object$blocks)
  if (own$loadings$name == "bridge") "local shrinkage of loadings" else "one variance a factor"
}

say_factors <- function(facts, digits) {
  if (is.null(facts)) return(invisible())
  cat("\nFactors:\n")
  say_wrapped(paste0(facts$label, ": ", facts$k, " factor", if (facts$k > 1L) "s", " of ", facts$p,
                     " variables", if (facts$chosen) ", as many as predict held-out variables best",
                     "; ", facts$prior, if (!is.null(facts$kernel)) {
                       paste0("; a function of the scores, kernel ", facts$kernel)
                     }, if (!facts$feedback) "; no feedback from the response",
                     "."), 2L)
  if (facts$feedback) {
    shown <- paste(format(100 * facts$determinacy, digits = 3L, trim = TRUE), "%")
    say_wrapped(paste0("The variables determine ", shown[1L], " of the variance of the linear ",
                       "predictor that is ",
                       "due to factors (", shown[2L], " to ", shown[3L], ")."), 2L)
  }
  if (is.null(facts$table)) return(invisible())
  if (!is.null(facts$scales)) {
    say_wrapped("Numbers of the kernel, for scores of variance one:", 2L)
    print(facts$scales, digits = min(digits, 3L))
  }
  shown <- facts$table
  rownames(shown) <- shown$factor
  shown$factor <- NULL
  print(shown, digits = min(digits, 3L))
  say_wrapped(paste("`share` is of the variance of all variables. Draws are aligned, and factors",
                    "turned by varimax: see factor_loadings().",
                    if (is.null(facts$kernel)) paste("The coefficients of the variables that the",
                      "factors imply are in coef() and confint().")), 2L)
}
