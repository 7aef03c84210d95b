# Ctrl-C in a long run of chains, in an R of its own: within half a second a valid fit, whose
# draws are the first ones of the whole run.

gibbs_script <- function(folder) {
  sampler_script(folder, "engine_gibbs(draws = 1e6, burnin = 50, chains = 2, keep_effects = FALSE)")
}

test_that("Ctrl-C ends a run within half a second, with the first draws of the whole run", {
  skip_on_os("windows")
  skip_on_cran()
  d <- grouped_data(3000, 200)
  for (try in 1:3) {
    result <- interrupt_child(gibbs_script, list(data.rds = d))
    if (!is.list(result)) {
      fail(paste(c("The child did not save a fit.", result), collapse = "\n"))
      return()
    }
    if (result$seconds < 0.5) break
  }
  expect_lt(result$seconds, 0.5)
  fit <- result$fit
  expect_equal(fit$termination, "interrupted")
  expect_true("bsvm_warning_interrupted" %in% result$warned)
  expect_finite(list(coef(fit), vcov(fit), fitted(fit)))
  kept <- dim(fit$posterior$coefficients)[2]
  expect_gt(kept, 20)
  whole <- function(draws) {
    with_seed(8, suppressWarnings(
      bsvm(y ~ x1 + t + (1 | g), d, control = bsvm_control(threads = 2, verbose = FALSE),
           engine = engine_gibbs(draws = draws, burnin = 50, chains = 2, keep_effects = FALSE))
    ))
  }
  draws <- min(kept, 500)
  same <- whole(draws)
  expect_identical(fit$posterior$coefficients[, seq_len(draws), , drop = FALSE],
                   same$posterior$coefficients)
})

test_that("a run interrupted before its first kept draw is an interrupt of our class", {
  skip_on_os("windows")
  skip_on_cran()
  script <- function(folder) {
    lines <- sub("burnin = 50", "burnin = 1e6", gibbs_script(folder))
    lines <- c("caught <- NULL", "caught <- tryCatch({", lines, "}, interrupt = function(e) e)",
               "saveRDS(list(ended = as.numeric(Sys.time()), class = class(caught)), 'partial')",
               "file.rename('partial', 'result')")
    lines
  }
  result <- interrupt_child(script, list(data.rds = grouped_data(300, 20)))
  expect_type(result, "list")
  expect_true("bsvm_error_interrupted" %in% result$class)
})
