# Runs tests/testthat against the installed package; test.sh counts from the closing line.
library(testthat)
library(bsvm)

results <- as.data.frame(test_dir(
  "tests/testthat", package = "bsvm", load_package = "installed",
  reporter = SummaryReporter$new(max_reports = Inf), stop_on_failure = FALSE
))
failed <- sum(results$failed) + sum(results$error)
cat(sprintf("\n[testthat] %d passed | %d failed | %d skipped\n",
            sum(results$passed), failed, sum(results$skipped)))
quit(status = as.integer(failed > 0))
