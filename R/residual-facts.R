# Facts about the residuals of a response of numbers, for summary(), residuals() and plots.

# Half its width at the posterior mean, a number or one a row; NULL of a likelihood without one.
tube_of <- function(object) {
  likelihood <- likelihood_at(object)
  if (!inherits(likelihood, "bsvm_likelihood_eps_insensitive")) return(NULL)
  if (any(likelihood$values$epsilon > 0)) likelihood$values$epsilon
}

# In words: of rows whose scales differ, from the least to the greatest.
format_tube <- function(tube, digits) {
  number <- function(x) format(x, digits = digits)
  if (length(tube) == 1L) number(tube) else paste(number(min(tube)), "to", number(max(tube)))
}

# For a numeric response list(tube, sigma, r_squared), else NULL. R-squared needs the rows of the fit.
residual_facts <- function(object) {
  device <- inherits(object$likelihood, "bsvm_likelihood_quantile")
  if (!is_kind(object$response, "numbers") || device) return(NULL)
  sigma <- response_sd(object$likelihood, object)
  out <- list(tube = tube_of(object), sigma = sigma)
  if (!is.null(object$streamed)) return(out)
  weight <- if (is.null(object$weights)) rep(1, length(object$link)) else object$weights
  weight <- weight / sum(weight)
  explained <- sum(weight * (object$link - sum(weight * object$link))^2)
  c(out, list(r_squared = explained / (explained + sigma^2)))
}

say_residuals <- function(facts, digits) {
  if (is.null(facts)) return(invisible())
  number <- function(x) format(x, digits = digits)
  cat("Residuals: standard deviation ", number(facts$sigma),
      if (!is.null(facts$tube)) paste0(", tube up to ", format_tube(facts$tube, digits), " in size"),
      if (!is.null(facts$r_squared)) paste0("; R-squared ", format(facts$r_squared, digits = 2L)),
      "\n", sep = "")
}

beyond_tube <- function(residual, object) {
  need_numbers(object, "residuals(type = \"tube\")")
  tube <- tube_of(object)
  if (is.null(tube)) tube <- 0
  sign(residual) * pmax(abs(residual) - tube, 0)
}

need_numbers <- function(object, what) {
  if (is_kind(object$response, "numbers")) return(invisible())
  abort("unsupported", what, " is for a response of numbers; that of this fit is ",
        describe_kind(object$response), ".")
}
