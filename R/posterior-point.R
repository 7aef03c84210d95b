# bsvm_point: a point estimate alone. mean (p), effects (by factor, level, effect, then the sparse
# predictors), effects_sd (NA); multipliers (a used row; none of a source), objective, dual, gap,
# certified, optima; and of a path `path`. There is no spread, so `point` is TRUE.

#' @export
effect_means.bsvm_point <- function(posterior, groups) by_factor(posterior$effects, groups)

#' @export
effect_sds.bsvm_point <- function(posterior, groups) by_factor(posterior$effects_sd, groups)

#' @export
linear_sd.bsvm_point <- function(posterior, fit, rows) rep(NA_real_, nrow(rows$x))

#' Support vectors
#'
#' `support_vectors()` returns the rows that determine the separating hyperplane and the size of
#' their influence. For a point estimate with [engine_em()] or [engine_ecme()] these are the rows
#' with a nonzero Lagrange multiplier. For a posterior, every row has some influence.
#'
#' @details
#' **Point estimates.** At the optimum, the derivative of the penalty with respect to each
#' coefficient equals \eqn{\sum_i a_i y_i c_{ij}}{sum_i a_i y_i c_ij}, with \eqn{c_{ij}}{c_ij} the
#' value of row \eqn{i} in column \eqn{j}. The multiplier of each row satisfies \eqn{0 \le a_i \le 2
#' w_i}{0 <= a_i <= 2 w_i} with \eqn{w_i} its weight. Rows outside the margin have multiplier zero
#' and could be removed from the data. Under `likelihood_hinge(gamma = , gamma0 = )` the bounds are
#' \eqn{-\gamma (c - 1) w_i}{-gamma (c - 1) w_i} and \eqn{\gamma (c + 1) w_i}{gamma (c + 1) w_i},
#' with \eqn{c} as in [likelihood_hinge()]. With `gamma0` above zero, rows outside the margin are
#' pulled towards it, and every row counts.
#'
#' **Posteriors.** A Bayesian fit averages over functions, so no row is without influence. The
#' probability \eqn{P_i} that row \eqn{i} is inside its margin or misclassified, \eqn{y_i f_i <
#' 1}{y_i f_i < 1}, replaces the multiplier.
#'
#' The expression for point estimates is exact in one case: variances are given, and a Gaussian
#' approximation maximises the expected log pseudo-likelihood less its divergence from the prior.
#' Then the posterior mean satisfies it with \eqn{a_i = 2 w_i P_i}{a_i = 2 w_i P_i}, or with `gamma`
#' and `gamma0` \eqn{a_i = w_i \gamma (1 + c (2 P_i - 1))}{a_i = w_i gamma (1 + c (2 P_i - 1))}. For
#' other fits it is an approximation: [engine_vb()] maximises another bound, [engine_gaussian()]
#' then matches moments and averages over variances, and samplers draw. The sum of \eqn{P_i} is an
#' effective number of support vectors.
#'
#' The estimate of a fit with [engine_ecm()] is a mode whose multipliers are not kept, so this is an
#' error. The message shows how to refit with [engine_em()] and the estimated variances.
#'
#' @param object A fit from [bsvm()].
#' @param ... Must be empty.
#' @return For a point estimate, a data frame with one row per support vector:
#' * `row`, its number among the rows of [fitted()][fitted.bsvm];
#' * `multiplier`;
#' * `kind`, a factor. `"margin"`: on the margin, with a multiplier between its bounds. `"inside"`:
#'   inside the margin or misclassified, with a multiplier at its upper bound, \eqn{2 w_i}{2 w_i}.
#'   `"outside"` (only with `gamma0` above zero): at the lower bound.
#'
#' For other fits, a data frame with one row per row used in the fit: `row`, `inside` (the
#' probability that the row is inside its margin), and under the pseudo-likelihood `multiplier`.
#' @section Errors:
#' `bsvm_error_unsupported` for modes from [engine_map()] without standard deviations, for fits with
#' [engine_ecm()], for models of missing predictors, for a numeric response, and for rows of a source.
#' @references Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#'   *Bayesian Analysis*, 6, 1-23 (Section 3.2).
#'
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27.
#' @seealso [engine_em()].
#' @examples
#' # which flowers are close to the boundary between two species?
#' set.seed(1)
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa")
#' vectors <- support_vectors(fit)
#' head(vectors[order(-vectors$inside), ])
#'
#' # the support vectors of the classical support vector machine
#' point <- update(fit, likelihood = "hinge", prior = prior_ridge(variance = 1),
#'                 engine = engine_em())
#' support_vectors(point)
#' @export
support_vectors <- function(object, ...) {
  check_dots(substitute(list(...)), "support_vectors()", NULL)
  need_arguments("object", what = "support_vectors()")
  check_fit(object)
  need_classes(object$response, "support_vectors()",
               "Use summary(), which counts support vectors of any response, and residuals().")
  if (!inherits(object$posterior, "bsvm_point")) return(soft_support(object, parent.frame()))
  if (!is.null(object$streamed)) {
    abort("unsupported", "support_vectors() needs the multipliers of the rows, which were read ",
          "from a source and are not kept. Fit a data frame with a part of the rows.")
  }
  rows <- which(rep_len(used_rows(object), length(object$link)))
  weight <- if (is.null(object$weights)) 1 else object$weights[rows]
  slopes <- margin_slopes(object$likelihood)
  skewed <- slopes$b > 0
  a <- object$posterior$multipliers
  if (skewed) a <- a[seq_along(rows)] - a[length(rows) + seq_along(rows)]
  full <- if (skewed) 1 - 1e-14 else 1 # bounds computed here and by the core
  kind <- ifelse(a < slopes$a * weight * full, "margin", "inside")
  if (skewed) kind[a <= -slopes$b * weight * full] <- "outside"
  kind <- factor(kind, levels = c("margin", "inside", if (skewed) "outside"))
  out <- data.frame(row = rows, multiplier = a, kind = kind)[a != 0, ]
  row.names(out) <- NULL
  out
}

need_estimate <- function(object, what) {
  check_fit(object)
  if (inherits(object$posterior, "bsvm_point")) return(invisible())
  abort("unsupported", what, " is for point estimates: fits by engine_em() or engine_ecme(). This ",
        "one is by ", call_of_engine(object), ".")
}
