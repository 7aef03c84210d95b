#' Hinge likelihood
#'
#' The pseudo-likelihood of the support vector machine: with the response \eqn{y} coded as -1 or
#' +1 and the linear predictor \eqn{f}, each row contributes
#' \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}.
#'
#' It is not normalised over the two classes, so there is no log-likelihood; see [logLik.bsvm()].
#'
#' @return An object of class `bsvm_likelihood`.
#' @references Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector
#'   machines. *Bayesian Analysis*, 6, 1-23 (Theorem 1).
#' @examples
#' likelihood_hinge()
#' bsvm(am ~ mpg, data = mtcars, likelihood = likelihood_hinge(), engine = "vb")
#' @export
likelihood_hinge <- function() {
  new_likelihood("hinge", numeric(0), "hinge pseudo-likelihood")
}

new_likelihood <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label), class = "bsvm_likelihood")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_likelihood <- function(x, ...) {
  cat("Likelihood: ", x$label, "\n", sep = "")
  invisible(x)
}

as_likelihood <- function(x) as_component(x, "likelihood")
