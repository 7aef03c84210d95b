# Tolerances by name, and the expectations that use them.

tolerances <- c(
  twin = 1e-9,         # two programs at the same optimum; in posterior sd, or relative
  bound = 1e-10,       # two programs, the bound, relative
  invariance = 1e-9,   # the same model written differently
  rounding = 1e-12,    # the same numbers in another order
  monotone = 1e-9,     # a bound may fall by this much of itself, never more
  start = 1e-6,        # different starts; in posterior sd
  golden = 1e-8        # stored values, relative to sd or size
)

# Largest difference, in units of `scale` (default: the largest expected value, at least 1).
expect_close <- function(actual, expected, tolerance, scale = NULL, label = NULL) {
  actual_label <- if (is.null(label)) deparse1(substitute(actual)) else label
  if (length(actual) != length(expected)) {
    return(fail(sprintf("%s has length %d, not %d.", actual_label, length(actual),
                        length(expected))))
  }
  if (is.null(scale)) scale <- max(1, abs(expected))
  difference <- max(0, abs(as.vector(actual) - as.vector(expected)) / scale)
  expect(isTRUE(difference <= tolerance),
         sprintf("%s is off by %.3g, more than %.3g.", actual_label, difference, tolerance))
  invisible(actual)
}

expect_finite <- function(object, label = NULL) {
  name <- if (is.null(label)) deparse1(substitute(object)) else label
  values <- unlist(object)
  expect(length(values) > 0 && all(is.finite(values)),
         sprintf("%s has %d values that are not finite.", name, sum(!is.finite(values))))
  invisible(object)
}

# The accepted bounds of a trace (columns bound, gradient, damping, step). `step` is the share of
# the Newton step a pass was evaluated at; a pass was taken back if the next one shortens it. The
# first pass only looks at the start and has no bound.
accepted_bounds <- function(trace) {
  taken_back <- c(trace[-1, "step"] < 1, FALSE)
  bounds <- trace[!taken_back, "bound"]
  bounds[is.finite(bounds)]
}

expect_never_falls <- function(bounds, tolerance = tolerances[["monotone"]]) {
  fall <- max(0, -diff(bounds) / pmax(1, abs(bounds[-1])))
  expect(length(bounds) > 1 && fall <= tolerance,
         sprintf("The bound falls by %.3g of itself in %d passes.", fall, length(bounds)))
}

# A classed error whose message holds each of `words`.
expect_refusal <- function(code, class, words = character()) {
  error <- expect_error(code, class = paste0("bsvm_error_", class))
  for (word in words) {
    expect(inherits(error, "condition") && grepl(word, conditionMessage(error), fixed = TRUE),
           sprintf("The message does not say \"%s\": %s", word,
                   if (inherits(error, "condition")) conditionMessage(error) else "no error"))
  }
  expect_s3_class(error, "bsvm_error")
  invisible(error)
}

# Every number a fit reports is finite.
expect_valid_fit <- function(fit) {
  expect_s3_class(fit, "bsvm")
  expect_finite(coef(fit))
  expect_finite(vcov(fit))
  expect(all(diag(vcov(fit)) > 0), "A posterior variance is not positive.")
  expect_finite(fitted(fit))
  expect_finite(elbo(fit))
  expect_true(fit$termination %in% c("converged", "pass_limit", "interrupted", "stalled"))
  invisible(fit)
}

# Named posterior moments of a fit, in its own sd.
expect_same_posterior <- function(fit, other, tolerance) {
  sd <- sqrt(diag(as.matrix(vcov(other))))
  expect_close(fixef(fit), fixef(other), tolerance, scale = sd)
  expect_close(vcov(fit), vcov(other), tolerance, scale = outer(sd, sd))
  expect_close(elbo(fit), elbo(other), tolerance, scale = max(1, abs(elbo(other))))
}

skip_unless_extended <- function() {
  skip_if_not(identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true"),
              "long tests run with BSVM_EXTENDED_TESTS=true")
}

# A fit that has gone as far as it can: for comparisons, not for use.
tight <- function(...) bsvm_control(tol = 1e-24, max_passes = 20000L, verbose = FALSE, ...)

# The block of a fit whose label holds `word`.
fit_block <- function(fit, word) {
  blocks <- c(fit$blocks, fit$group_blocks)
  labels <- vapply(blocks, `[[`, "", "label")
  blocks[[grep(word, labels, fixed = TRUE)[1]]]
}

# Prints with numbers that have decimals, and numbers of passes, masked.
print_masked <- function(x) {
  lines <- capture.output(print(x))
  lines <- gsub("-?[0-9]+(\\.[0-9]+(e[-+][0-9]+)?|e[-+][0-9]+)", "#", lines)
  lines <- gsub("[0-9]+ iterations", "# iterations", lines)
  cat(sub(" +$", "", gsub(" +", " ", lines)), sep = "\n")
}

# A warning of class bsvm_warning_<class>, among others of ours; the value.
expect_warned <- function(code, class) {
  seen <- character()
  value <- withCallingHandlers(code, warning = function(w) {
    seen <<- c(seen, class(w))
    if (inherits(w, "bsvm_warning")) invokeRestart("muffleWarning")
  })
  expect(paste0("bsvm_warning_", class) %in% seen, sprintf("No warning of class %s.", class))
  invisible(value)
}

# No warning of class bsvm_warning_<class>; the value.
expect_no_warning_of <- function(code, class) {
  seen <- character()
  value <- withCallingHandlers(code, warning = function(w) {
    seen <<- c(seen, class(w))
    if (inherits(w, "bsvm_warning")) invokeRestart("muffleWarning")
  })
  expect(!paste0("bsvm_warning_", class) %in% seen, sprintf("A warning of class %s.", class))
  invisible(value)
}

expect_no_message_of <- function(code) {
  seen <- character()
  withCallingHandlers(code, message = function(m) {
    seen <<- c(seen, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect(length(seen) == 0L, paste("A message:", seen[1L]))
}

expect_no_match_in <- function(text, pattern) {
  expect(!grepl(pattern, text), sprintf("'%s' is in: %s", pattern, text))
}
