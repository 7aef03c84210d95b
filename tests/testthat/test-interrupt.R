# Ctrl-C in a long fit, in an R of its own: within half a second a valid fit, marked interrupted.

# The child runs plain updates, which take thousands of passes here, until it is stopped; then it
# saves when, and what it has.
child_script <- function(folder) {
  c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(bsvm)",
    sprintf("setwd(%s)", deparse1(folder)),
    "set.seed(1)",
    "x <- matrix(rnorm(1.2e6), ncol = 60)",
    "y <- x[, 1] + rnorm(nrow(x)) > 0",
    "warned <- character()",
    "writeLines(as.character(Sys.getpid()), 'partial')",
    "file.rename('partial', 'pid')",
    "fit <- withCallingHandlers(",
    "  bsvm(x, y, engine = engine_vb(accelerate = FALSE),",
    "       control = bsvm_control(tol = 1e-300, max_passes = 1e6L)),",
    "  warning = function(w) { warned <<- class(w); invokeRestart('muffleWarning') })",
    "ended <- as.numeric(Sys.time())",
    "out <- list(ended = ended, termination = fit$termination, warned = warned,",
    "            finite = all(is.finite(coef(fit))) && is.finite(elbo(fit)),",
    "            healthy = is.finite(elbo(bsvm(x[1:100, 1:2], y[1:100], engine = 'vb'))))",
    "saveRDS(out, 'partial')",
    "file.rename('partial', 'result')"
  )
}

test_that("Ctrl-C ends a long fit within half a second, as a valid fit that says so", {
  skip_on_os("windows")
  skip_on_cran()
  result <- expect_prompt_stop(child_script)
  if (is.null(result)) return()
  expect_equal(result$termination, "interrupted")
  expect_true(result$finite)
  expect_true(result$healthy)
})
