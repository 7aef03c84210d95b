#' Predictors that are not missing at random
#'
#' `missing_selection()` extends [missing_normal()] by a model of which values are missing. The
#' indicator of each incomplete column follows a probit model given predictors, including missing
#' ones.
#'
#' @details
#' Value \eqn{x_{ij}} is observed with probability \eqn{\Phi(t_i'\phi_j)}{Phi(t_i'phi_j)}, where
#' \eqn{t_i} are an intercept and the columns named in `mechanism`, standardised as in
#' [missing_normal()]. The prior is \eqn{\phi_j \sim N(0, s^2 I)}{phi_j ~ N(0, s^2 I)} with \eqn{s}
#' = `probit_sd` (after Faes, Ormerod and Wand 2011, whose prior is vaguer). A negative coefficient
#' of a column means that large values tend to be missing.
#'
#' Information about such a mechanism comes only from the normality of the predictors and from the
#' response. The data can't prove that the mechanism is right. Under the pseudo-likelihood, the
#' caution of [missing_normal()] about coefficients of incomplete predictors applies here too.
#'
#' [engine_vb()] and [engine_gibbs()] support it.
#'
#' @inheritParams missing_normal
#' @param mechanism A one-sided formula with the names of columns of the design matrix and of
#'   auxiliary variables. `~ .` (default) uses all of them, and `~ 1` none, which is missing
#'   completely at random.
#' @param probit_sd Prior standard deviation of the probit coefficients: a positive number.
#' @return An object of class `bsvm_missing`. In a fit, `fit$missing$law$probit` contains the
#'   posterior means of the probit coefficients, with one column per incomplete variable.
#' @section Errors:
#' As for [missing_normal()]; in [bsvm()] `bsvm_error_argument` if `mechanism` refers to something
#' that is not in the model.
#' @references Faes, C., Ormerod, J. T. and Wand, M. P. (2011). Variational Bayesian inference for
#'   parametric and nonparametric regression with missing data. *Journal of the American Statistical
#'   Association*, 106, 959-971 (section 4).
#' @examples
#' # is ozone missing more often on days with much of it, or with strong wind?
#' set.seed(1)
#' fit <- bsvm(Temp ~ Ozone + Wind, data = airquality, missing = missing_selection(),
#'             likelihood = likelihood_gaussian())
#' fit$missing$law$probit
#' @export
missing_selection <- function(mechanism = ~ ., auxiliary = NULL, df = NULL, scale = 0.01,
                              mean_variance = 1e8, probit_sd = 2.5, keep_draws = TRUE) {
  if (!inherits(mechanism, "formula") || length(mechanism) != 2L) {
    abort("argument", "`mechanism` must be a one-sided formula, such as ~ x1 + x2; found ",
          describe(mechanism), ".")
  }
  settings <- missing_normal(auxiliary, df, scale, mean_variance, keep_draws)$settings
  settings$mechanism <- mechanism
  settings$probit_sd <- check_positive(probit_sd, "probit_sd")
  new_missing("selection", paste("jointly normal, not at random:", deparse1(mechanism)), settings,
              class = c("selection", "normal"))
}

# With a mechanism the entries are not integrated out.
#' @export
latent_uses.bsvm_missing_selection <- function(rule) c("augmented", "drawn")

# For the core: list(indicators, by, by_given, probit_variance), numbers of variables and of what
# they are regressed on; NULL where values are missing at random.
core_mechanism <- function(rule, law) {
  if (rule$name != "selection") return(NULL)
  indicators <- which(law$missing > 0L)
  if (length(indicators) == 0L) return(NULL)
  chosen <- mechanism_names(rule$settings$mechanism, c(law$given[-1L], law$variables))
  list(indicators = unname(indicators), by_given = c(1L, which(law$given[-1L] %in% chosen) + 1L),
       by = which(law$variables %in% chosen), probit_variance = rule$settings$probit_sd^2)
}

mechanism_names <- function(mechanism, known) {
  all <- stats::setNames(as.data.frame(matrix(0, 1L, length(known))), known)
  named <- attr(stats::terms(mechanism, data = all), "term.labels")
  named <- ifelse(named %in% known, named, gsub("^`|`$", "", named))
  lost <- setdiff(named, known)
  if (length(lost) > 0L) {
    abort("argument", "`mechanism` names ", enumerate(lost), ", not ",
          if (length(lost) == 1L) "a column" else "columns", " of the model; it has ",
          enumerate(known), ".")
  }
  named
}

# The probits' coefficients, with names.
named_probit <- function(probit, law, mechanism) {
  if (is.null(mechanism)) return(NULL)
  matrix(probit, ncol = length(mechanism$indicators), dimnames = list(
    c(law$given[mechanism$by_given], law$variables[mechanism$by]),
    law$variables[mechanism$indicators]
  ))
}
