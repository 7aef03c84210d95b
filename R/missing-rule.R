#' Rules for missing predictors
#'
#' These functions define how [bsvm()] treats missing values of predictors (argument `missing`).
#' Missing values are an error (`missing_fail()`, the default), their rows are excluded
#' (`missing_omit()`), or they are modelled and inferred together with the coefficients
#' (`missing_normal()`).
#'
#' @details
#' `missing_fail()` is an error that counts the missing values of each column. `missing_omit()`
#' excludes rows with missing values and reports their number. The argument `na.action` does the
#' same as in other R functions; use only one of the two.
#'
#' `missing_normal()` models the columns of the design matrix. Incomplete columns, complete numeric
#' columns and auxiliary variables are standardised by their observed values. They are jointly
#' normal with unknown means and covariance. Complete columns with two values (dummies) and complete
#' columns of smooth terms are not modelled: the other columns are regressed on them. Values must be
#' missing completely at random, or at random given the observed values. Let \eqn{x_i} be the d
#' variables of row i, and \eqn{z_i} the intercept and the columns they are regressed on. Then
#' \deqn{x_i \sim N(B' z_i, \Sigma),\quad B_{aj} \sim N(0, s^2),\quad \Sigma \sim IW(\psi I,
#' \nu).}{x_i ~ N(B'z_i, Sigma), B_aj ~ N(0, s^2), Sigma ~ IW(psi I, nu).}
#'
#' **Imputed columns.** The unit is the column of the design matrix. `log1p(x)`, `x:z`, `I(x^2)` and
#' each column of `s(x)` are separate variables, and nothing ties an imputed `x:z` to an imputed
#' `x`. The basis of `s(x)` is computed from complete rows. The product of an incomplete predictor
#' and a dummy counts as missing even if the dummy is zero. For a linear term the column is the
#' variable itself. A term such as `poly(x, 2)` can't be computed from an incomplete `x`. The
#' response is never imputed. A missing weight, offset, group or factor level is an error.
#'
#' **Coefficients of incomplete predictors.** Under the pseudo-likelihood (see [likelihood_hinge()])
#' the coefficient of an incomplete predictor is not reliable. Every row rewards a large
#' \eqn{|f|}{|f|}, and a row with a missing predictor can easily have one. Once about a quarter of
#' its values are missing, a predictor without any effect gets a large coefficient and a small
#' standard deviation. To estimate effects use `likelihood_hinge(normalized = TRUE)` with
#' [engine_gaussian()], which integrates missing predictors out. `summary()` repeats this caution.
#'
#' **Engines.**
#' * [engine_vb()] approximates the missing entries of each row, given the rest, by a normal
#'   distribution.
#' * [engine_gibbs()] draws them.
#' * [engine_gaussian()] integrates them out, for either likelihood. Given the coefficients, \eqn{f}
#'   of a row is normal, and the average of its likelihood is a one-dimensional integral. The
#'   imputation model is fixed at its best estimate, so intervals of coefficients do not include its
#'   uncertainty.
#' * [engine_slice()] draws from the exact posterior for either likelihood, with missing predictors
#'   integrated out. It accepts no grouping factor, and under the normalised likelihood only weights
#'   up to 4.
#'
#' All four require dense predictors, and the first three accept at most one grouping factor.
#' These three also fit rows of a [bsvm_source()]. The weight of a row raises the likelihood of its
#' response to a power; its predictors count once.
#'
#' **A numeric response.** All four engines also model missing predictors under the likelihoods for
#' a numeric response ([likelihood_eps_insensitive()] and related likelihoods). These are densities
#' of the response, so the caution above does not apply. Scale and tube can be given or inferred.
#' For a fit with [engine_gaussian()], [imputed()] returns moments at the most probable values of
#' inferred parameters. Its standard deviations are therefore somewhat too small.
#'
#' @param auxiliary Variables that help to predict missing values without being predictors
#'   themselves. Either a one-sided formula, evaluated in `data`, or a numeric matrix with one row
#'   per row of `x` in `bsvm(x, y)`. They may have missing values too.
#' @param df Degrees of freedom \eqn{\nu}{nu} of the inverse-Wishart distribution; `NULL` is d + 1.
#'   The value 3 of Luts and Ormerod (2014) is improper for d = 4 variables and more. It is accepted
#'   with a warning, and the lower bound then omits a constant.
#' @param scale \eqn{\psi}{psi}, the scale of the inverse-Wishart distribution: a positive number,
#'   in units of standardised columns.
#' @param mean_variance \eqn{s^2}, the prior variance of the means: a positive number.
#' @param keep_draws Keep the draws of missing entries (for engines that draw)? `FALSE` keeps only
#'   their means and standard deviations.
#' @return An object of class `bsvm_missing`.
#' @section Errors:
#' `bsvm_error_argument` for invalid arguments. In [bsvm()], `bsvm_error_missing` for missing values
#' in variables that must be complete, for columns without any value, and for rules that leave no
#' rows.
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support vector
#' machine classification. *Computational Statistics & Data Analysis*, 73, 163-176 (section 3.3,
#' Algorithm 4, Appendix C; its update of \eqn{\Sigma}{Sigma} in Appendix C is not symmetric, a
#' misprint).
#' @seealso [missing_selection()] if values are not missing at random; [imputed()] for the imputed
#' values of a fit.
#' @examples
#' # is cholesterol related to disease, if a third of its values are missing?
#' fit <- bsvm(disease ~ sex + age + cholesterol, data = cath, missing = missing_normal())
#' summary(fit)
#' head(imputed(fit))
#' new <- data.frame(sex = "male", age = 50, cholesterol = c(150, 300, NA))
#' predict(fit, new, type = "prob")
#'
#' # an auxiliary variable, which helps to impute but is no predictor
#' bsvm(disease ~ sex + cholesterol, data = cath, missing = missing_normal(auxiliary = ~ age))
#'
#' # complete rows only, or an error
#' bsvm(disease ~ sex + age + cholesterol, data = cath, missing = missing_omit())
#' tryCatch(bsvm(disease ~ sex + age + cholesterol, data = cath, missing = missing_fail()),
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
