# Ctrl-C in a long run of chains, in an R of its own: within half a second a valid fit, whose
# draws are the first ones of the whole run.

test_that("Ctrl-C ends a run within half a second, with the first draws of the whole run", {
  skip_on_os("windows")
  skip_on_cran()
  expect_first_draws("engine_gibbs(draws = %s, burnin = 50, chains = 2, keep_effects = FALSE)")
})

test_that("a run interrupted before its first kept draw is an interrupt of our class", {
  skip_on_os("windows")
  skip_on_cran()
  script <- function(folder) {
    lines <- sampler_script(folder, "engine_gibbs(draws = 1e6, burnin = 1e6, chains = 2)")
    lines <- c("caught <- NULL", "caught <- tryCatch({", lines, "}, interrupt = function(e) e)",
               "saveRDS(list(ended = as.numeric(Sys.time()), class = class(caught)), 'partial')",
               "file.rename('partial', 'result')")
    lines
  }
  result <- interrupt_child(script, list(data.rds = grouped_data(300, 20)))
  expect_type(result, "list")
  expect_true("bsvm_error_interrupted" %in% result$class)
})
