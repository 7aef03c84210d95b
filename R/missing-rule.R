#' What becomes of missing predictors
#'
#' The rules for missing values of predictors, for the argument `missing` of [bsvm()]: an error (the
#' default), complete rows only, or a model of the predictors in which missing ones are unknown like
#' the coefficients.
#'
#' @details
#' `missing_fail()` refuses missing values and counts them column by column. `missing_omit()` leaves
#' out rows with any, and says how many. The argument `na.action` does the same in R's own way; give
#' one or the other.
#'
#' `missing_normal()` models the columns of the design (000, section 3.3; App. C): incomplete ones,
#' complete numeric ones and auxiliary variables, standardised by what is observed, are jointly
#' normal with unknown means and covariance; complete columns of two values (dummies) and of smooth
#' terms are not modelled, the others are regressed on them. Values are missing completely at
#' random, or at random given what is observed. With \eqn{x_i} the d variables of row i and
#' \eqn{z_i} the intercept and the columns they are regressed on,
#' \deqn{x_i \sim N(B' z_i, \Sigma),\quad B_{aj} \sim N(0, s^2),\quad \Sigma \sim IW(\psi I,
#' \nu).}{x_i ~ N(B'z_i, Sigma), B_aj ~ N(0, s^2), Sigma ~ IW(psi I, nu).}
#'
#' **What is imputed.** The unit is the column of the design: `log1p(x)`, `x:z`, `I(x^2)` and each
#' column of `s(x)`, whose basis is made of complete rows, are variables of their own, and nothing
#' ties an imputed `x:z` to an imputed `x`; that of a dummy is unknown even where the dummy is zero.
#' Where a term is linear that is the variable itself; a term such as `poly(x, 2)` can't be made of
#' an incomplete `x`. The response is never imputed, and a missing weight, offset, group or level of
#' a factor is an error.
#'
#' **What it says of coefficients.** Under the papers' pseudo-likelihood ([likelihood_hinge()]) the
#' coefficient of an incomplete predictor is not to be trusted: every row rewards a large
#' \eqn{|f|}{|f|}, and a row whose predictor is unknown can have one, so a predictor without any
#' effect gets a large coefficient and a small standard deviation once about a quarter of its values
#' are missing. For effects take `likelihood_hinge(normalized = TRUE)` with [engine_gaussian()],
#' which integrates missing predictors out. `summary()` says so too.
#'
#' **Engines.** [engine_vb()] has a normal law of each row's missing entries given the rest
#' (Algorithm 4), [engine_gibbs()] draws them (Appendix C); [engine_gaussian()] integrates them out,
#' for either likelihood: given the coefficients \eqn{f} of a row is normal, and the average of its
#' likelihood is one-dimensional. Its imputation model stands at its best, so intervals of
#' coefficients take it as known. [engine_slice()] draws from the exact posterior of either
#' likelihood, missing predictors integrated out. All take dense predictors and at most one grouping
#' factor, engine_slice() none and under the normalised likelihood weights up to 4. A row's weight
#' raises the likelihood of its response to a power; its predictors count once.
#'
#' **A response of numbers.** All four engines model missing predictors under the likelihoods of
#' regression too ([likelihood_eps_insensitive()] and its relatives). These are densities of the
#' response, so the caution above does not concern them. Scale and tube can be given or inferred.
#' [imputed()] of a fit by [engine_gaussian()] has moments at the most probable values of inferred
#' parameters, and standard deviations that are somewhat too small for it.
#'
#' @param auxiliary Variables that tell of missing predictors without being predictors themselves: a
#'   one-sided formula, evaluated in `data`, or a numeric matrix with a row for each row of `x` in
#'   `bsvm(x, y)`. They may have missing values too.
#' @param df Degrees of freedom \eqn{\nu}{nu} of the inverse-Wishart law; `NULL` is d + 1. The
#'   paper's 3 is improper for d = 4 variables and more: it is taken with a warning, and the bound
#'   then leaves a constant out.
#' @param scale \eqn{\psi}{psi}, its scale: a positive number, in units of standardised columns.
#' @param mean_variance \eqn{s^2}, the prior variance of the means: a positive number.
#' @param keep_draws Keep the draws of missing entries (of engines that draw)? `FALSE` keeps their
#'   means and standard deviations only.
#' @return An object of class `bsvm_missing`.
#' @section Errors: `bsvm_error_argument` for arguments that are not what they must be; in [bsvm()]
#'   `bsvm_error_missing` for values that can't be missing, columns without any value, and rules
#'   that leave no rows.
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support vector
#' machine classification. *Computational Statistics & Data Analysis*, 73, 163-176 (section 3.3,
#' Algorithm 4, Appendix C; its update of \eqn{\Sigma}{Sigma} in Appendix C is not symmetric, a
#' misprint).
#' @seealso [missing_selection()] where values are not missing at random; [imputed()] for what a fit
#'   says of missing values.
#' @examples
#' d <- transform(mtcars, wt = replace(wt, c(3, 9, 20), NA), qsec = replace(qsec, 5:8, NA))
#' fit <- bsvm(am ~ mpg + wt + qsec, data = d, missing = missing_normal(), engine = "vb")
#' fit
#' head(imputed(fit))
#' predict(fit, data.frame(mpg = c(15, 25), wt = NA_real_, qsec = c(18, NA)))
#'
#' # horse power tells of weight; it is no predictor
#' bsvm(am ~ mpg + wt, data = d, missing = missing_normal(auxiliary = ~ hp), engine = "vb")
#'
#' bsvm(am ~ mpg + wt, data = d, missing = missing_omit(), engine = "vb")
#' tryCatch(bsvm(am ~ mpg + wt, data = d, missing = missing_fail(), engine = "vb"),
#'          bsvm_error_missing = function(e) conditionMessage(e))
#' @export
missing_normal <- function(auxiliary = NULL, df = NULL, scale = 0.01, mean_variance = 1e8,
                           keep_draws = TRUE) {
  one_sided <- inherits(auxiliary, "formula") && length(auxiliary) == 2L
  if (!is.null(auxiliary) && !one_sided && !(is.matrix(auxiliary) && is.numeric(auxiliary))) {
    abort("argument", "`auxiliary` must be a one-sided formula, such as ~ z1 + z2, or a numeric ",
          "matrix; found ", describe(auxiliary), ".")
  }
  if (!is.null(df)) df <- check_positive(df, "df")
  new_missing("normal", "jointly normal", list(
    auxiliary = auxiliary, df = df, scale = check_positive(scale, "scale"),
    mean_variance = check_positive(mean_variance, "mean_variance"),
    keep_draws = check_flag(keep_draws, "keep_draws")
  ))
}

#' @rdname missing_normal
#' @export
missing_fail <- function() new_missing("fail", "not allowed")

#' @rdname missing_normal
#' @export
missing_omit <- function() new_missing("omit", "their rows excluded")

# `class`: without "bsvm_missing_", the more special first. R/latent.R has the contract.
new_missing <- function(name, label, settings = list(), class = name) {
  structure(list(name = name, label = label, settings = settings),
            class = c(paste0("bsvm_missing_", class), "bsvm_missing"))
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_missing <- function(x, ...) {
  cat("Missing predictors: ", x$label, "\n", sep = "")
  invisible(x)
}

# The rule of a fit, NULL for R's own way. `given`: was `na.action` an argument of the call?
as_missing <- function(x, given) {
  if (is.null(x)) return(NULL)
  rule <- as_component(x, "missing")
  if (given) {
    abort("argument", "Give `missing` or `na.action`, not both: missing_omit() is `na.omit`.")
  }
  rule
}

#' @export
models_missing.bsvm_missing_normal <- function(rule) TRUE

#' @export
latent_uses.bsvm_missing_normal <- function(rule) {
  c("augmented", "expected", "drawn", "marginal")
}

#' @export
rule_action.bsvm_missing_omit <- function(rule, na.action) stats::na.omit

# Said aloud.
tell_omitted <- function(rule, omitted, n) {
  if (is.null(rule) || rule$name != "omit" || length(omitted) == 0L) return(invisible())
  message("missing_omit() excludes ", length(omitted), " of ", n, " rows.")
}
