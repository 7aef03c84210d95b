#' Inverse-Wishart prior
#'
#' A prior for the covariance matrix of correlated group effects, as in `(time | patientID)`. It is
#' not the default: the default is [prior_ridge()], which for such effects is the prior of Huang and
#' Wand (2013).
#'
#' @details
#' The q effects of a level are normal with mean zero and covariance \eqn{\Sigma}. The prior density
#' of \eqn{\Sigma} is proportional to
#' \deqn{|\Sigma|^{-(df + q + 1)/2} \exp\{-tr(scale\,\Sigma^{-1})/2\}.}{|Sigma|^(-(df + q + 1)/2)
#' exp(-tr(scale Sigma^(-1))/2).}
#' A single variance, \eqn{\Sigma_{kk}}{Sigma_kk}, is then inverse gamma with shape `(df - q + 1)/2`
#' and scale `scale[k, k]/2`.
#'
#' The default of `df` is `q + 1`, for which the correlation of two effects is uniform on -1 to 1.
#' The default of `scale` is the diagonal matrix of \eqn{1/s_k^2}{1/s_k^2}. Here \eqn{s_k}{s_k} is
#' the root mean square of the covariate of the k-th effect (1 for an intercept, weighted if there
#' are weights). The contribution of each effect to the linear predictor of a typical row therefore
#' has the same prior: an inverse-gamma variance with shape 1 and scale 1/2 (median 0.72). The fit
#' does not depend on the units of the predictor with a varying slope. Under
#' `likelihood_hinge(normalized = TRUE)`, with coefficients about a quarter as large, the default
#' `scale` is divided by 16.
#'
#' For a single effect the prior is inverse gamma with shape `df/2` and scale `scale/2`.
#'
#' The default for correlated effects, [prior_ridge()] with [prior_half_t()], is the prior of Huang
#' and Wand (2013). Its standard deviations are half-t with `scale` divided by \eqn{s_k}{s_k}, and
#' with 2 degrees of freedom its correlations are uniform. Unlike an inverse Wishart prior, it does
#' not keep the variances away from zero.
#'
#' @param df Degrees of freedom, above q - 1; q + 1 by default.
#' @param scale A positive number, which multiplies the default matrix, or a symmetric positive
#'   definite q x q matrix on the original scale of the predictors. If q is 1, as for each effect of
#'   a term with `||`, it is a number.
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` for invalid numbers or an invalid matrix, and in [bsvm()] if they do not fit
#' the number of effects.
#' @references
#' Huang, A. and Wand, M. P. (2013). Simple marginally noninformative prior distributions for
#' covariance matrices. *Bayesian Analysis*, 8, 439-452.
#'
#' Zhao, Y., Staudenmayer, J., Coull, B. A. and Wand, M. P. (2006). General design Bayesian
#' generalized linear mixed models. *Statistical Science*, 21, 35-51.
#' @seealso [prior_ridge()] for independent effects; [prior_for()].
#' @examples
#' # do chicks that are heavier at birth grow faster?
#' fit <- bsvm(weight ~ Time + (Time | Chick), data = ChickWeight,
#'             likelihood = likelihood_gaussian(), prior = list(Chick = prior_inv_wishart()))
#' VarCorr(fit)
#' @export
prior_inv_wishart <- function(df = NULL, scale = NULL) {
  if (!is.null(df)) df <- check_positive(df, "df", "prior")
  if (!is.null(scale)) check_scale(scale)
  label <- paste0("inverse-Wishart, ", if (is.null(df)) "q + 1" else format(df), " df, scale ",
                  if (is.matrix(scale)) "given"
                  else paste0(if (!is.null(scale)) paste0(format(scale), " "), "diag(1/s^2)"))
  prior <- new_prior("inverse_wishart", numeric(0), label, TRUE)
  prior$arguments <- list(df = df, scale = scale)
  prior
}

check_scale <- function(scale) {
  if (!is.matrix(scale)) return(check_positive(scale, "scale", "prior"))
  good <- is.numeric(scale) && nrow(scale) == ncol(scale) && all(is.finite(scale)) &&
    isSymmetric(unname(scale)) && is_positive_definite(scale)
  if (!good) {
    abort("prior", "`scale` must be a positive number or a symmetric positive definite matrix; ",
          "found ", describe(scale), if (is.numeric(scale)) " that is not.")
  }
}

is_positive_definite <- function(a) {
  !inherits(try(chol(a), silent = TRUE), "try-error")
}

# The prior of a block of effects: of one, any; of several correlated ones, one of their
# covariance. `s`: root mean squares of their multipliers, a promise.
effect_prior <- function(prior, labels, s) {
  if (prior$name == "inverse_wishart") return(fill_inv_wishart(prior, labels, s))
  if (length(labels) == 1L) return(in_units(prior, s))
  if (prior$name == "half_t") return(huang_wand(prior, s))
  abort("prior", "The effects ", enumerate(labels), " are correlated, so their prior must be one ",
        "of a covariance matrix: prior_ridge() or prior_inv_wishart(). `||` in place of `|` makes ",
        "them independent, each with a variance of its own; found ", prior$label, ".")
}

fill_inv_wishart <- function(prior, labels, s) {
  q <- length(labels)
  df <- prior$arguments$df
  if (is.null(df)) df <- q + 1
  if (df <= q - 1) {
    abort("prior", "The `df` of prior_inv_wishart() must be above ", q - 1, " for the ", q,
          " effects ", enumerate(labels), "; found ", format(df), ".")
  }
  scale <- wishart_scale(prior$arguments$scale, labels, s)
  numbers <- if (q == 1L) c(shape = df / 2, scale = scale[1L] / 2)
             else c(effects = q, df = df, lower_triangle(scale))
  filled <- new_prior(if (q == 1L) "ridge" else "inverse_wishart", numbers, wishart_label(numbers),
                      TRUE)
  if (is.null(prior$arguments$scale)) filled$open_scale <- "inverse-Wishart"
  filled
}

# For a single effect the numbers are those of an inverse-gamma distribution.
wishart_label <- function(parameters) {
  one <- "shape" %in% names(parameters)
  df <- if (one) 2 * parameters[["shape"]] else parameters[["df"]]
  scale <- if (one) matrix(2 * parameters[["scale"]]) else full_matrix(parameters[-(1:2)])
  paste0("inverse-Wishart, ", format(df), " df, scale ", scale_words(scale))
}

# From a lower triangle by column.
full_matrix <- function(triangle) {
  q <- (sqrt(8 * length(triangle) + 1) - 1) / 2
  out <- matrix(0, q, q)
  out[lower.tri(out, diag = TRUE)] <- triangle
  out[upper.tri(out)] <- t(out)[upper.tri(out)]
  out
}

wishart_scale <- function(scale, labels, s) {
  q <- length(labels)
  if (is.null(scale)) scale <- 1
  if (!is.matrix(scale)) return(diag(scale / s^2, q))
  if (nrow(scale) != q) refuse_wishart_scale(scale, labels)
  scale
}

# With `||` each effect has a prior of its own.
refuse_wishart_scale <- function(scale, labels) {
  q <- length(labels)
  abort("prior", "The `scale` of prior_inv_wishart() must ",
        if (q == 1L) paste0("be a number for ", enumerate(labels), ", an effect on its own (as ",
                            "each effect of a term with `||` is)")
        else paste0("have a row and a column for each of the ", q, " effects ", enumerate(labels)),
        "; found ", describe(scale), ".")
}

scale_words <- function(scale) {
  numbers <- format(scale, digits = 3L, trim = TRUE)
  if (length(scale) == 1L) return(c(numbers))
  off <- scale[lower.tri(scale)]
  if (all(off == 0)) return(paste0("diag(", paste(diag(numbers), collapse = ", "), ")"))
  paste0("[", paste(apply(numbers, 1L, paste, collapse = ", "), collapse = "; "), "]")
}

# scale_1_1, scale_2_1, ..., by column.
lower_triangle <- function(scale) {
  at <- which(lower.tri(scale, diag = TRUE), arr.ind = TRUE)
  stats::setNames(scale[at], paste("scale", at[, 1L], at[, 2L], sep = "_"))
}

# Huang & Wand (2013): half-t(df, scale / s_k) standard deviations.
huang_wand <- function(prior, s) {
  scale <- prior$parameters[["scale"]] / s
  numbers <- c(effects = length(s), df = prior$parameters[["df"]],
               stats::setNames(scale, paste0("scale_", seq_along(s))))
  out <- new_prior("huang_wand", numbers, huang_wand_label(numbers), TRUE)
  if (!is.null(prior$open_scale)) out$open_scale <- "Huang-Wand"
  out
}

huang_wand_label <- function(parameters) {
  scale <- format(unname(parameters[-(1:2)]), digits = 3L, trim = TRUE)
  paste0("Huang-Wand, half-t(", format(parameters[["df"]]), ", ",
         paste(scale, collapse = " and "), ") on the standard deviations")
}

# Root mean squares of the multipliers, rows counted by their weights; safe from overflow.
multiplier_sizes <- function(group, weights) {
  if (is.null(group$z)) return(1)
  if (!is.null(group$z_sums)) return(size_of_moments(group$z_sums)) # of rows in files
  vapply(seq_along(group$labels), function(k) {
    root_mean_square(group$z[, k], weights)
  }, 0)
}

root_mean_square <- function(x, weights) {
  unit <- size_unit(x)
  unit * size_of_moments(sums_of_column(x / unit, weights))
}

size_of_moments <- function(sums) sqrt(sums$mean^2 + sums$squares / sums$weight)
