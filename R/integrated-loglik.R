#' Log-likelihood with the group effects integrated out
#'
#' The log-likelihood of a fit's data at stated parameters, the effects of a grouping factor
#' averaged over their normal law: what `lme4::glmer()` maximises.
#'
#' @details
#' With one grouping factor that has one effect a level, or two, it is
#' \deqn{\sum_g \log \int \prod_{i \in g} p(y_i \mid f_i)^{w_i} N(u; 0, \Sigma)\,du,}{
#'   sum over g of log integral prod p(y_i | f_i)^w_i N(u; 0, Sigma) du,}
#' in closed form under the pseudo-likelihood with one effect, else by quadrature to at least eight
#' digits, and in logarithms throughout. Under the pseudo-likelihood it is the log of a
#' pseudo-likelihood, which is not normalised over the two classes: it compares parameters for the
#' same response, and no more.
#'
#' With several grouping factors the one with most levels (among those with one or two effects) is
#' integrated out, and **the effects of the others are held at their posterior means**. Without
#' groups it is the log-likelihood of the rows.
#'
#' It works for a fit by any engine, on the data of the fit: these are kept in it
#' (`keep_data = TRUE`) or its call is evaluated again.
#'
#' @param object A fit from [bsvm()].
#' @param fixef Population-level coefficients on the scale of the predictors as given: a named
#'   vector with some of those of `fixef(object)`, the others staying at their posterior means, or
#'   all of them in order; `NULL` (default) for all posterior means.
#' @param sd Standard deviations of the integrated effects, positive: one number, or a vector named
#'   by factor (`c(clinic = 1.5)`) or, of two effects, by effect as in
#'   `c("clinic: (Intercept)" = 1, "clinic: x" = 0.5)`. Those that are not given, and all
#'   correlations, are those of the posterior mean of the covariance; `NULL` (default) for all.
#' @param covariance In place of `sd`: the covariance matrix of the effects of a level, or a list
#'   with it, named by factor, as `VarCorr()` returns.
#' @param ... Must be empty.
#' @return One number.
#' @section Errors: `bsvm_error_argument` for parameters that do not fit the model;
#'   `bsvm_error_unsupported` if no grouping factor has one effect or two; `bsvm_error_data` if the
#'   data can't be found again.
#' @seealso [engine_gaussian()], [engine_map()]; [logLik.bsvm()] for what is not defined.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = engine_gaussian())
#' integrated_loglik(fit)
#' sds <- c(0.1, 0.5, 1, 2)
#' vapply(sds, function(s) integrated_loglik(fit, sd = s), 0)
#' @export
integrated_loglik <- function(object, ...) {
  UseMethod("integrated_loglik")
}

#' @rdname integrated_loglik
#' @export
integrated_loglik.bsvm <- function(object, fixef = NULL, sd = NULL, covariance = NULL, ...) {
  check_dots(substitute(list(...)), "integrated_loglik()", loglik_hints)
  name <- integrated_name(object, sd, covariance)
  population <- stated_coefficients(object, fixef)
  stated <- if (!is.null(name)) stated_covariance(object, name, sd, covariance)
  rows <- rows_again(object, parent.frame())
  link <- links_without(object, rows, name, population)
  if (is.null(name)) return(row_loglik(object$likelihood, rows, link))
  parts <- factor_problem(object, rows, name, matrix(link))
  points <- matrix(c(1, free_of_covariance(stated)))
  with_core_conditions(
    core_integrated(parts$problem, parts$model, points, 0L, object$control$threads)
  )$value[[1L]]
}

loglik_hints <- c(
  beta = "Coefficients are `fixef`.", coef = "Coefficients are `fixef`.",
  theta = "Standard deviations are `sd`.", newdata = "It is that of the fit's own data.",
  variance = "Standard deviations are `sd`.", log = "It is always in logarithms."
)

# The factor to integrate, NULL without groups.
integrated_name <- function(object, sd, covariance) {
  if (is.null(object$groups)) {
    if (is.null(sd) && is.null(covariance)) return(NULL)
    abort("argument", "`sd` and `covariance` are those of group effects, and the fit has none.")
  }
  at <- integrable_factor(object$groups)
  if (at > 0L) return(names(object$groups)[at])
  abort("unsupported", "Effects are integrated out one or two a level; ",
        enumerate(names(object$groups)), if (length(object$groups) > 1L) " have" else " has",
        " more. Fit a model with `(1 | g)` or `(x | g)`.")
}

stated_coefficients <- function(object, fixef) {
  population <- fixef.bsvm(object)
  if (is.null(fixef)) return(population)
  fits <- is.numeric(fixef) && all(is.finite(fixef)) &&
    if (is.null(names(fixef))) length(fixef) == length(population)
    else all(names(fixef) %in% names(population)) && !anyDuplicated(names(fixef))
  if (!fits) {
    abort("argument", "`fixef` must be finite numbers named by coefficients, or one for each of ",
          enumerate(names(population)), "; found ", describe(fixef),
          if (!is.null(names(fixef))) paste0(" named ", enumerate(names(fixef))), ".")
  }
  if (is.null(names(fixef))) fixef <- stats::setNames(fixef, names(population))
  replace(population, match(names(fixef), names(population)), fixef)
}

# q x q covariance of the effects of factor `name`.
stated_covariance <- function(object, name, sd, covariance) {
  if (!is.null(sd) && !is.null(covariance)) {
    abort("argument", "`sd` and `covariance` say the same: give one of them.")
  }
  if (!is.null(covariance)) return(given_covariance(object, name, covariance))
  own <- posterior_covariance(object, name)
  if (is.null(sd)) return(check_definite(own, name, "The posterior mean of the covariance"))
  root <- sqrt(diag(own))
  given <- stated_sds(object, name, sd)
  ratio <- ifelse(is.na(given), 1, given / root)
  check_definite(own * outer(ratio, ratio), name, "The covariance")
}

# Where the mean of a variance is infinite, the value that stands for it in the fit.
posterior_covariance <- function(object, name) {
  covariance <- effect_covariances(object)[[name]]
  if (all(is.finite(covariance))) return(covariance)
  fill_by_factor(object, function(block, k) diag(plug_in_variances(block), length(block$columns)))[[
    name]]
}

# A number for each effect of the factor, NA for none.
stated_sds <- function(object, name, sd) {
  labels <- object$groups[[name]]$labels
  names <- paste0(name, ": ", labels)
  if (is.null(names(sd)) && length(sd) == length(labels)) names(sd) <- names
  if (length(labels) == 1L) names(sd)[names(sd) == name] <- names
  if (!is.numeric(sd) || !all(is.finite(sd) & sd > 0) || is.null(names(sd)) ||
        !all(names(sd) %in% names)) {
    abort("argument", "`sd` must be positive numbers for ", enumerate(names), "; found ",
          describe(sd), if (!is.null(names(sd))) paste0(" named ", enumerate(names(sd))), ".")
  }
  unname(sd[match(names, names(sd))])
}

given_covariance <- function(object, name, covariance) {
  if (is.list(covariance)) covariance <- covariance[[name]]
  q <- length(object$groups[[name]]$labels)
  good <- is.numeric(covariance) && length(covariance) == q^2 && all(is.finite(covariance))
  if (good) {
    covariance <- matrix(as.vector(covariance), q)
    good <- isSymmetric(covariance)
  }
  if (!good) {
    abort("argument", "`covariance` must be a symmetric ", q, " x ", q, " matrix of the effects ",
          "of `", name, "`; found ", describe(covariance), ".")
  }
  check_definite(covariance, name, "`covariance`")
}

check_definite <- function(covariance, name, what) {
  if (!is_positive_definite(covariance)) {
    abort("argument", what, " of the effects of `", name, "` must be positive definite; found ",
          paste(format(covariance, digits = 3L, trim = TRUE), collapse = ", "), ".")
  }
  covariance
}

# The sum over rows, weights included.
row_loglik <- function(likelihood, rows, link) {
  value <- if (is_normalised(likelihood)) normalised_hinge(rows$y * link)
           else -2 * pmax(1 - rows$y * link, 0)
  sum(if (is.null(rows$weight)) value else rows$weight * value)
}

# log p(y | f) of the margin y f: minus log(1 + exp(-(log odds))), whichever its sign.
normalised_hinge <- function(margin) {
  odds <- 2 * pmax(1 + margin, 0) - 2 * pmax(1 - margin, 0)
  stats::plogis(odds, log.p = TRUE)
}

is_normalised <- function(likelihood) isTRUE(likelihood$normalized)
