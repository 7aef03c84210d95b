#' One of several kernels
#'
#' A kernel that is one of those given, which one is inferred. All have the same prior probability.
#'
#' @details
#' `kernel_choice()` is for several responses with correlated residuals
#' ([responses]). There [engine_gibbs()] draws the kernel with the coefficients of all functions
#' integrated out, so that chains move between kernels: given the coefficients they never would
#' (Chakraborty et al., 2012, draw them so). The amplitude of each response is the same for all
#' kernels, whose mean variance over the rows is one. `summary()` has the posterior probability of
#' each kernel, and predictions are averages over them.
#'
#' `kernel_poly(degree = 1:5)` is short for a choice of five polynomials. Length scales on a grid make
#' a choice of kernels of one kind, as in the example.
#'
#' @param ... Two or more kernels whose numbers are all given, such as `kernel_se(lengthscale = 1)`.
#' @return An object of class `bsvm_kernel`.
#' @section Errors: `bsvm_error_argument` if there are fewer than two kernels, or one that is not a
#'   single kernel, or one with numbers to be learned; `bsvm_error_unsupported` of the fit of one
#'   response.
#' @references Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression for
#'   large p small n problems. *Journal of Multivariate Analysis*, 108, 28-40 (Section 3).
#' @seealso [kernel_se()], [responses].
#' @examples
#' kernel_poly(degree = 1:3)
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
      abort("argument", "kernel_choice() is between kernels that are no sums; found ",
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
