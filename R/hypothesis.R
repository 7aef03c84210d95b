#' Posterior probability of a statement
#'
#' `hypothesis()` answers questions about coefficients, standard deviations and group effects, such
#' as "is the drug's effect negative, and how sure is that?"
#'
#' @details
#' A hypothesis is an expression of the variables of [as_draws.bsvm()] with at most one comparison,
#' `<` or `>`. It may use numbers, `+`, `-`, `*`, `/`, `^`, brackets and the functions `abs()`,
#' `exp()`, `expm1()`, `log()`, `log1p()`, `sqrt()`, `plogis()`, `pmin()` and `pmax()`. Names that are
#' not R names stand between backticks, without further backticks inside; `Intercept` is short for
#' `` `(Intercept)` ``. The estimate and its interval are those of the left side minus the right side,
#' computed in each posterior draw.
#'
#' `Probability` is the posterior probability that the statement holds. Without a comparison it is
#' the probability of direction: that of being above or below zero, whichever is larger. A statement
#' of equality has probability zero under a continuous prior. Ask for `<` or `>`, or for an interval
#' as two hypotheses.
#'
#' Fits without draws use draws from their approximate posterior; see [as_draws.bsvm()]. Under the
#' pseudo-likelihood the probabilities are too close to 0 and 1.
#'
#' @param x A fit from [bsvm()] with an engine that has standard deviations.
#' @param hypothesis A character vector, one element per hypothesis; by default the names of all
#'   population-level coefficients.
#' @param level Probability of the interval.
#' @param ndraws Number of draws; see [as_draws.bsvm()].
#' @param ... Not used.
#' @return A data frame of class `bsvm_hypothesis` with one row per hypothesis: `Hypothesis`,
#'   `Estimate` (posterior mean), `SD`, `lower`, `upper` and `Probability`.
#' @section Errors:
#' `bsvm_error_argument` for an expression that can't be evaluated; `bsvm_error_unsupported` for a
#' point estimate.
#' @seealso [emmeans.bsvm] for statements about probabilities; [confint()][confint.bsvm].
#' @examples
#' # does the infection recede faster under terbinafine, and is the patients' sd above one?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' hypothesis(fit, c("`time:treatmentterbinafine` < 0", "sd_patientID__Intercept > 1"))
#' @export
hypothesis <- function(x, ...) UseMethod("hypothesis")

#' @rdname hypothesis
#' @rawNamespace S3method(hypothesis,bsvm)
#' @rawNamespace S3method(brms::hypothesis,bsvm)
hypothesis.bsvm <- function(x, hypothesis = NULL, level = 0.95, ndraws = NULL, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "hypothesis()", c(prob = "Use `level` instead.",
                                                      alpha = "Use `level = 1 - alpha` instead."))
  level <- check_level(level)
  need_spread(x, "hypothesis()")
  if (is.null(hypothesis)) hypothesis <- paste0("`", without_ticks(names(fixef.bsvm(x))), "`")
  if (!is.character(hypothesis) || length(hypothesis) == 0L || anyNA(hypothesis)) {
    abort("argument", "`hypothesis` must be text such as \"x < 0\"; found ", describe(hypothesis),
          ".")
  }
  statements <- lapply(hypothesis, parse_hypothesis)
  draws <- as.data.frame(as.matrix.bsvm(x, ndraws = ndraws), check.names = FALSE)
  if (!"Intercept" %in% names(draws)) draws$Intercept <- draws[["(Intercept)"]]
  ticked <- !without_ticks(names(draws)) %in% names(draws)
  draws[without_ticks(names(draws)[ticked])] <- draws[ticked]
  rows <- lapply(statements, judge_hypothesis, draws = draws, level = level)
  table <- cbind(data.frame(Hypothesis = hypothesis), do.call(rbind, rows))
  structure(table, class = c("bsvm_hypothesis", "data.frame"),
            direction = any(vapply(statements, function(own) own$sign == 0, TRUE)))
}

#' @param digits Significant digits.
#' @rdname hypothesis
#' @export
print.bsvm_hypothesis <- function(x, digits = 3L, ...) {
  check_digits(digits)
  print.data.frame(x, digits = digits, row.names = FALSE, right = FALSE)
  if (isTRUE(attr(x, "direction"))) {
    cat("\nWithout `<` or `>`, Probability is that of being above or below zero, the larger one.\n")
  }
  invisible(x)
}

# Coefficients of columns whose names are not R names have backticks in theirs.
without_ticks <- function(names) gsub("`", "", names, fixed = TRUE)

# list(difference, sign): an expression that is above zero, with `sign`, where the statement holds.
parse_hypothesis <- function(text) {
  refuse <- function(why) {
    abort("argument", "`hypothesis` must be an expression with at most one `<` or `>`, such as ",
          "\"x < 0\"; found \"", text, "\"", why, ".")
  }
  parsed <- tryCatch(str2expression(text), error = function(e) refuse(paste0(
    ", which R can't parse. A name with other characters stands between backticks")))
  if (length(parsed) != 1L) refuse("")
  term <- parsed[[1L]]
  if (is_call_to(term, c("==", "=", "<-", "!="))) {
    refuse(". The probability of an equality is zero under a continuous prior")
  }
  inner <- if (is_call_to(term, c("<", ">"))) as.list(term)[-1L] else list(term)
  if (any(c("<", ">", "<=", ">=", "==", "!=", "&", "|", "&&", "||") %in%
            all.names(as.call(c(list(quote(f)), inner))))) refuse("")
  lapply(inner, check_hypothesis_part, text = text)
  if (is_call_to(term, "<")) list(difference = call("-", term[[2L]], term[[3L]]), sign = -1)
  else if (is_call_to(term, ">")) list(difference = call("-", term[[2L]], term[[3L]]), sign = 1)
  else list(difference = term, sign = 0)
}

# What a hypothesis may use, besides names and numbers.
hypothesis_functions <- list2env(
  c(mget(c("+", "-", "*", "/", "^", "(", "abs", "exp", "expm1", "log", "log1p", "sqrt", "pmin", "pmax"),
         baseenv()), plogis = stats::plogis), parent = emptyenv())

check_hypothesis_part <- function(part, text) {
  if (is.name(part) || is.numeric(part)) return(invisible())
  if (is.call(part) && is.name(part[[1L]]) &&
        exists(as.character(part[[1L]]), hypothesis_functions, inherits = FALSE)) {
    return(lapply(as.list(part)[-1L], check_hypothesis_part, text = text))
  }
  known <- sort(grep("^[a-z]", ls(hypothesis_functions), value = TRUE))
  own <- if (is_call_to(part, c("[", ":"))) gsub(" ", "", deparse1(part)) else "x:z"
  abort("argument", "`hypothesis` may use variables of the fit, numbers, + - * / ^, brackets, ",
        enumerate(paste0(known, "()"), "", 99L), "; found `", deparse1(part), "` in \"", text,
        "\". A name with other characters stands between backticks, such as \"`", own, "` < 0\".")
}

judge_hypothesis <- function(statement, draws, level) {
  lacking <- setdiff(all.vars(statement$difference), names(draws))
  if (length(lacking) > 0L) {
    abort("argument", "`hypothesis` refers to ", enumerate(lacking, "`"), ", which is not among ",
          "the variables of the fit: ", enumerate(names(draws), "`"), ".")
  }
  values <- tryCatch(eval(statement$difference, draws, hypothesis_functions), error = function(e) {
    abort("argument", "`hypothesis` can't be evaluated: ", conditionMessage(e), ".")
  })
  if (!is.numeric(values) || length(values) != nrow(draws)) {
    abort("argument", "`hypothesis` must depend on at least one variable of the fit; found \"",
          deparse1(statement$difference), "\".")
  }
  holds <- if (statement$sign != 0) mean(statement$sign * values > 0)
           else max(mean(values > 0), mean(values < 0))
  limits <- row_quantiles(matrix(values, 1L), level)
  data.frame(Estimate = mean(values), SD = stats::sd(values), lower = limits[1L],
             upper = limits[2L], Probability = holds)
}
