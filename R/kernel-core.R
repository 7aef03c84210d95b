# Kernels as the core has them: a product is a list of factors, list(name, parameters, arrays), and
# theta has the logarithms of their parameters one after the other (src/core/kernel).

# The factors of a product for inputs x (n, d), a column for each variable, weighted by rows.
kernel_factors <- function(product, x, weights = NULL) {
  if (is.null(weights)) weights <- rep(1, nrow(x))
  lapply(product, kernel_factor, x = x, weights = weights)
}

kernel_factor <- function(kernel, x, weights) UseMethod("kernel_factor")

#' @export
kernel_factor.bsvm_kernel <- function(kernel, x, weights) {
  list(name = kernel$name, arrays = list(),
       parameters = c(kernel$settings, variables = ncol(x), ard = as.numeric(kernel$ard)))
}

# The mean of its diagonal over the rows is one.
#' @export
kernel_factor.kernel_poly <- function(kernel, x, weights) {
  factor <- NextMethod()
  factor$arrays <- list(square = colSums(weights * x^2) / sum(weights))
  if (kernel$settings[["degree"]] > 1) {
    plain <- core_kernel_diagonal(list(factor), x, numeric(if (kernel$ard) ncol(x) else 0L))
    factor$parameters[["mean"]] <- sum(weights * plain) / sum(weights)
  }
  factor
}

# How many numbers each parameter has with d variables, by name: the length scale one, or d with
# `ard`; a period one for each variable.
parameter_sizes <- function(kernel, d) {
  sizes <- c(lengthscale = if (kernel$ard) d else 1L, shape = 1L, period = d)
  sizes[names(kernel$parameters)]
}
