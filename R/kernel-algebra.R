# Sums and products of kernels: trees of class bsvm_kernel_sum and bsvm_kernel_product with `parts`,
# which are written as users wrote them and read as sums of products.

#' @export
Ops.bsvm_kernel <- function(e1, e2) {
  if (!.Generic %in% c("+", "*")) {
    abort("argument", "Kernels can be added and multiplied; `", .Generic, "` is not defined.",
          if (.Generic == "^") " For powers use a product, or kernel_poly(degree = ).")
  }
  if (missing(e2)) abort("argument", "`", .Generic, "` needs two kernels.")
  check_kernel_operand(e1, .Generic)
  check_kernel_operand(e2, .Generic)
  class <- if (.Generic == "+") "bsvm_kernel_sum" else "bsvm_kernel_product"
  structure(list(parts = c(parts_of(e1, class), parts_of(e2, class))),
            class = c(class, "bsvm_kernel"))
}

# Sums of sums are one sum.
parts_of <- function(kernel, class) if (inherits(kernel, class)) kernel$parts else list(kernel)

check_kernel_operand <- function(x, operator) {
  if (inherits(x, "bsvm_kernel_choice")) {
    abort("argument", "`", operator, "` is not defined for a choice of kernels. Put the choice ",
          "outside, as in kernel_choice(k1 ", operator, " k2, k1 ", operator, " k3).")
  }
  if (inherits(x, "bsvm_kernel")) return(invisible(x))
  abort("argument", "`", operator, "` needs two kernels; found ", describe(x), ".",
        if (is.numeric(x)) {
          paste(" Kernels have unit variance: each summand's variance is inferred, or given by",
                "the term's prior.")
        })
}

#' @export
format.bsvm_kernel <- function(x, ...) x$label

#' @export
format.bsvm_kernel_sum <- function(x, ...) {
  paste(vapply(x$parts, format, ""), collapse = " + ")
}

#' @export
format.bsvm_kernel_product <- function(x, ...) {
  shown <- vapply(x$parts, function(part) {
    if (inherits(part, "bsvm_kernel_sum")) paste0("(", format(part), ")") else format(part)
  }, "")
  paste(shown, collapse = " * ")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_kernel <- function(x, ...) {
  cat("Kernel: ", format(x), "\n", sep = "")
  invisible(x)
}

# A list with an element for each summand, which is the list of its factors: kernels of one kind.
kernel_products <- function(kernel) UseMethod("kernel_products")

#' @export
kernel_products.bsvm_kernel <- function(kernel) list(list(kernel))

#' @export
kernel_products.bsvm_kernel_sum <- function(kernel) {
  do.call(c, lapply(kernel$parts, kernel_products))
}

#' @export
kernel_products.bsvm_kernel_product <- function(kernel) {
  Reduce(function(left, right) {
    do.call(c, lapply(left, function(factors) lapply(right, function(more) c(factors, more))))
  }, lapply(kernel$parts, kernel_products))
}

# Is it a kernel? `kernel` as users give it to a term.
check_kernel <- function(kernel, name = "kernel") {
  if (inherits(kernel, "bsvm_kernel")) return(invisible(kernel))
  abort("argument", "`", name, "` must be a kernel, such as kernel_se(), kernel_matern(), ",
        "kernel_linear(), or a sum or product of kernels; found ", describe(kernel), ".",
        if (is.function(kernel)) " Call the function: kernel_se(), not kernel_se.")
}
