#' Choice between several kernels
#'
#' `kernel_choice()` lets the data choose one of several kernels. All kernels have the same prior
#' probability.
#'
#' @details
#' `kernel_choice()` is for several responses with correlated residuals ([responses]).
#' [engine_gibbs()] draws the kernel given all other parameters, with the coefficients of its
#' function integrated out. Given these coefficients, as in Chakraborty et al. (2012), chains would
#' never change the kernel. They may still change it rarely if the kernels differ much. A warning is
#' given if chains disagree. Each kernel is scaled to a mean variance of one over the rows, and each
#' response has the same amplitude for all kernels. `summary()` shows the posterior probability of
#' each kernel, and predictions are averages over the kernels.
#'
#' With [prior_relevance()], all kernels use the same rows, the variances belong to these rows, and
#' all coefficients are integrated out. The model may then have no grouping factors and no other
#' term with many columns. It may have at most 600 coefficients, counted over all responses.
#'
#' `kernel_poly(degree = 1:5)` is a choice between five polynomials. Kernels of one kind with length
#' scales on a grid are another common choice, as in the example.
#'
#' @param ... Two or more kernels with fixed parameters, such as `kernel_se(lengthscale = 1)`.
#' @return An object of class `bsvm_kernel`.
#' @section Errors:
#' `bsvm_error_argument` for fewer than two kernels, for a sum of kernels, and for a kernel with
#' parameters to be inferred; `bsvm_error_unsupported` in the fit of a single response.
#' @references Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression
#'   for large p small n problems. *Journal of Multivariate Analysis*, 108, 28-40 (Section 3).
#' @seealso [kernel_se()], [responses].
#' @examples
#' # is the size of sepals a linear, quadratic or cubic function of that of petals?
#' set.seed(1)
#' degrees <- kernel_poly(degree = 1:3)
#' fit <- bsvm(cbind(Sepal.Length, Sepal.Width) ~ gp(Petal.Length, kernel = degrees), data = iris,
#'             likelihood = likelihood_gaussian())
#' fit
#'
#' # kernels with other length scales
#' kernel_choice(kernel_se(lengthscale = 0.5), kernel_se(lengthscale = 1),
#'               kernel_se(lengthscale = 2))
#' @export
kernel_choice <- function(...) {
  kernels <- unname(list(...))
  if (length(kernels) < 2L) {
    abort("argument", "kernel_choice() needs at least two kernels; found ", length(kernels), ".")
  }
  for (kernel in kernels) {
    check_kernel(kernel, "...")
    if (length(kernel_products(kernel)) > 1L) {
      abort("argument", "kernel_choice() needs kernels that are not sums; found ",
            format(kernel), ".")
    }
    open <- Filter(is_open_number, unlist(lapply(kernel_products(kernel)[[1L]], `[[`, "parameters"),
                                          recursive = FALSE))
    if (length(open) > 0L) {
      abort("argument", "All numbers of the kernels in kernel_choice() must be given; ",
            format(kernel), " has a ", names(open)[1L], " to be learned. Use a grid, as in ",
            "kernel_choice(kernel_se(lengthscale = 1), kernel_se(lengthscale = 2)).")
    }
  }
  structure(list(parts = kernels), class = c("bsvm_kernel_choice", "bsvm_kernel"))
}

is_open_number <- function(x) inherits(x, "bsvm_hyperprior")

is_choice <- function(basis) inherits(basis$kernel, "bsvm_kernel_choice")

# Each is a summand, of which one has coefficients that are not zero.
#' @export
kernel_products.bsvm_kernel_choice <- function(kernel) {
  do.call(c, lapply(kernel$parts, kernel_products))
}

#' @export
format.bsvm_kernel_choice <- function(x, ...) {
  paste0("one of ", paste(vapply(x$parts, format, ""), collapse = ", "))
}

refuse_choice <- function(frame) {
  chosen <- Filter(is_choice, gp_bases(frame))
  if (length(chosen) == 0L) return(invisible())
  abort("unsupported", "`", chosen[[1L]]$label, "`: a choice of kernels, such as ",
        "kernel_poly(degree = 1:5), needs several responses with correlated residuals. Use one ",
        "kernel, or cbind(y1, y2) with likelihood_gaussian().")
}
