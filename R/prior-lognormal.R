#' @param median The median of the log-normal distribution, a positive number. `NULL` (only for a
#'   length scale) uses the median distance between rows divided by \eqn{\sqrt 2}{sqrt(2)}.
#' @param sd Standard deviation of the logarithm; a positive number. With the default 1 the number
#'   is within a factor of 7 of the median with probability 95 %.
#' @rdname kernel_se
#' @export
prior_lognormal <- function(median = NULL, sd = 1) {
  numbers <- c(median = if (!is.null(median)) check_positive(median, "median", "prior"),
               sd = check_positive(sd, "sd", "prior"))
  prior <- new_hyperprior("log_normal", numbers, lognormal_label(numbers))
  class(prior) <- c("bsvm_lognormal", class(prior))
  prior
}

is_lognormal <- function(x) inherits(x, "bsvm_lognormal")

has_median <- function(prior) "median" %in% names(prior$parameters)

# The prior with this median if it has none of its own.
with_median <- function(prior, median) {
  if (has_median(prior)) prior else prior_lognormal(median, prior$parameters[["sd"]])
}

lognormal_label <- function(numbers) {
  median <- if ("median" %in% names(numbers)) format(numbers[["median"]]) else "by the data"
  paste0("log-normal(median ", median, ", sd ", format(numbers[["sd"]]), ")")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_lognormal <- function(x, ...) {
  cat("Prior of a positive number: ", x$label, "\n", sep = "")
  invisible(x)
}

# As code: of arguments those that are not the default.
lognormal_code <- function(prior) {
  numbers <- prior$parameters
  shown <- c(if (has_median(prior)) paste("median =", format(numbers[["median"]])),
             if (numbers[["sd"]] != 1) paste("sd =", format(numbers[["sd"]])))
  paste0("prior_lognormal(", paste(shown, collapse = ", "), ")")
}
