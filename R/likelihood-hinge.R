#' Hinge likelihood
#'
#' The likelihood of the support vector machine: the papers' pseudo-likelihood, a classifier, or
#' the probability model that it becomes when it is normalised over the two classes.
#'
#' @details
#' With the response \eqn{y} coded as -1 or +1 and the linear predictor \eqn{f}, each row
#' contributes \eqn{L(y, f) = \exp\{-2 \max(0, 1 - y f)\}}{L(y, f) = exp(-2 max(0, 1 - y f))}.
#'
#' `normalized = FALSE` takes that as it is. It does not sum to one over the two classes, and the
#' sum depends on \eqn{f}, so there is no log-likelihood (see [logLik.bsvm()]), every row rewards a
#' large \eqn{|f|}, and the intervals and variances are those of a pseudo-posterior: its 95 %
#' intervals are too narrow (they covered the estimand in 58 to 74 % of simulated data sets, those
#' of `normalized = TRUE` in 94 to 97 %), and it finds group variance where there is none. Its point
#' predictions are good, and every engine takes it.
#'
#' `normalized = TRUE` divides by the sum,
#' \deqn{p(y | f) = \frac{L(y, f)}{L(1, f) + L(-1, f)} = \frac{1}{1 + \exp\{-y h(f)\}},}{p(y | f) =
#' L(y, f) / (L(1, f) + L(-1, f)) = 1 / (1 + exp(-y h(f))),}
#' where \eqn{h(f)}{h(f)} is \eqn{4 f}{4f} on the margin, from -1 to 1, \eqn{2 f + 2}{2f + 2} above
#' and \eqn{2 f - 2}{2f - 2} below: logistic regression whose log odds flatten beyond the margin.
#' Take it where intervals and variances are to mean what they say. Inside the margin
#' the log odds are \eqn{4 f}{4f}, so coefficients are about a quarter of those of logistic
#' regression, and default scales of priors are smaller accordingly (see [prior_inv_gamma()]). It is
#' not log-concave, and there are no latent scales that would make it normal given them:
#' [engine_vb()] and [engine_gibbs()] can't take it; `engine_gaussian()`, `engine_map()` and, for
#' draws, `engine_slice()` do.
#'
#' **Probabilities.** \eqn{p(y | f)} is that of a class given the link, and `predict(type = "prob")`
#' its average over the posterior, the probability of the posterior predictive law. With draws,
#' [posterior_epred()][posterior_epred.bsvm] has it draw by draw, and [loo()][loo.bsvm],
#' [log_lik()][log_lik.bsvm], [posterior_predict()][posterior_predict.bsvm] and
#' [pp_check()][pp_check.bsvm] work on them. The pseudo-likelihood has no probabilities of its own;
#' [predict.bsvm()] says which maps of its links are near them, [calibration()] how near.
#'
#' @param normalized `FALSE` (default) for the pseudo-likelihood, `TRUE` for the probability model.
#' @param ... Must be empty.
#' @return An object of class `bsvm_likelihood`.
#' @section Errors: `bsvm_error_argument` if `normalized` is not `TRUE` or `FALSE`, and for any
#'   other argument; in [bsvm()], `bsvm_error_unsupported` for an engine that needs latent scales.
#' @references
#' Mallick, B. K., Ghosh, D. and Ghosh, M. (2005). Bayesian classification of tumours by using gene
#' expression data. *Journal of the Royal Statistical Society: Series B*, 67, 219-234.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Theorem 1).
#'
#' Sollich, P. (2002). Bayesian methods for support vector machines: evidence and predictive class
#' probabilities. *Machine Learning*, 46, 21-52.
#' @examples
#' likelihood_hinge()
#' likelihood_hinge(normalized = TRUE)
#' bsvm(am ~ mpg, data = mtcars, likelihood = likelihood_hinge(), engine = "vb")
#' @export
likelihood_hinge <- function(normalized = FALSE, ...) {
  check_dots(substitute(list(...)), "likelihood_hinge()", likelihood_hints)
  check_flag(normalized, "normalized")
  if (normalized) return(new_likelihood("hinge_normalized", numeric(0), "normalised hinge", TRUE))
  new_likelihood("hinge", numeric(0), "hinge pseudo-likelihood", FALSE)
}

likelihood_hints <- c(
  normalised = "Here that is `normalized`.", normalise = "Here that is `normalized`.",
  normalize = "Here that is `normalized`.",
  cost = "The penalty is `prior = prior_ridge(variance = cost / 2)` in bsvm()."
)

# `normalized`: do the probabilities of the two classes sum to one?
new_likelihood <- function(name, parameters, label, normalized) {
  structure(list(name = name, parameters = parameters, label = label, normalized = normalized),
            class = "bsvm_likelihood")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_likelihood <- function(x, ...) {
  cat("Likelihood: ", x$label, "\n", sep = "")
  invisible(x)
}

as_likelihood <- function(x) as_component(x, "likelihood")
