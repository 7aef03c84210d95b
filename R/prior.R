# A prior: the core's name for it, its numbers, what print says, and whether it shrinks. Every
# constructor ends here.
new_prior <- function(name, parameters, label, penalised) {
  stopifnot(is.character(name), is.numeric(parameters), is.character(label),
            is.logical(penalised))
  structure(list(name = name, parameters = parameters, label = label, penalised = penalised),
            class = "bsvm_prior")
}

# Named logical: `exchangeable`, one variance for all coefficients; `selects`, some may be zero.
prior_traits <- function(prior) core_prior_traits(prior$name, prior$parameters)

is_prior <- function(x) inherits(x, "bsvm_prior")

#' Print a component of a model
#'
#' `print()` shows one line for a prior, the prior of a variance, a likelihood, an engine or a
#' control object.
#'
#' @param x The component.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @examples
#' # which prior and engine do these calls stand for?
#' prior_ridge()
#' engine_gaussian()
#' @name print.bsvm_component
NULL

#' @rdname print.bsvm_component
#' @export
print.bsvm_prior <- function(x, ...) {
  cat("Prior: ", x$label, "\n", sep = "")
  invisible(x)
}
