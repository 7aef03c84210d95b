# Runs tests/testthat against the installed package: Rscript tools/testthat.R <folder>
# Several processes share the work through the folder: who can make the folder <folder>/<file> has
# that file. Those that take longest come first. A test that is skipped for another reason than its
# length is a failure, since what it tests has not been seen. test.sh counts from the closing line.
#
# BSVM_TESTS says which files: short or long ones, or those with extended tests; all without it.
# BSVM_BARE=true hides suggested packages: then a test may be skipped for want of one.
# BSVM_EXTENDED_TESTS=true runs long tests; those that take seconds are listed in _build/logs.
bare <- identical(Sys.getenv("BSVM_BARE"), "true")
extended <- identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")
if (bare) source("tools/bare.R")
library(testthat)
library(bsvm)

claims <- commandArgs(trailingOnly = TRUE)[1L]

# Files of a minute and more whose subject another file has in short, and the next ones by length.
long <- c("inferred-parameters", "combinations", "row-source", "loo", "prior-bridge", "extension",
          "engine-gaussian")
longest <- c("slice-sbc", "check-approximation", "gibbs-exactness", "slice-exactness", "gibbs-sbc",
             "missing-exactness", "centring", "defaults")

is_extended <- function(file) {
  any(grepl("skip_unless_extended()", readLines(paste0("tests/testthat/test-", file, ".R")),
            fixed = TRUE))
}

chosen_files <- function(which) {
  files <- sub("^test-(.*)[.]R$", "\\1", list.files("tests/testthat", "^test-.*[.]R$"))
  stopifnot(c(long, longest) %in% files)
  files <- c(long, longest, setdiff(files, c(long, longest)))
  switch(which, short = setdiff(files, long), long = long, extended = Filter(is_extended, files),
         files)
}

is_mine <- function(file) dir.create(file.path(claims, file), showWarnings = FALSE)

# What tests replace in the package they put back: other files would meet it.
package_now <- function() as.list(asNamespace("bsvm"), all.names = TRUE, sorted = TRUE)

run_file <- function(file) {
  before <- package_now()
  results <- test_dir("tests/testthat", filter = paste0("^", file, "$"), package = "bsvm",
                      load_package = "installed", stop_on_failure = FALSE,
                      reporter = SummaryReporter$new(show_praise = FALSE, max_reports = Inf))
  after <- package_now()
  changed <- names(after)[!mapply(identical, before, after)]
  if (length(changed) > 0L) changed <- paste("not put back:", toString(changed))
  frame <- as.data.frame(results)
  if (extended) keep_long(frame)
  list(passed = sum(frame$passed), failed = sum(frame$failed) + sum(frame$error) + length(changed),
       skipped = sum(frame$skipped), seconds = sum(frame$real), lost = lost_tests(results),
       failures = c(failures(results), changed))
}

# In a line each, for the end of a long output.
failures <- function(results) {
  unlist(lapply(results, function(test) {
    bad <- Filter(function(result) {
      inherits(result, c("expectation_failure", "expectation_error"))
    }, test$results)
    vapply(bad, function(result) {
      substr(paste0(test$test, ": ", gsub("\\s+", " ", conditionMessage(result))), 1L, 400L)
    }, "")
  }))
}

# Tests of more than five seconds, for tools/extended.R.
keep_long <- function(frame) {
  long <- frame[frame$real > 5, c("file", "test", "nb", "failed", "error", "skipped", "real")]
  file <- file.path(dirname(claims), paste0("long-", Sys.getpid(), ".csv"))
  utils::write.table(long, file, append = file.exists(file), sep = ",", row.names = FALSE,
                     col.names = FALSE, qmethod = "double")
}

# Of skipped tests those that make test should have run. tidybayes needs a ggplot2 whose pictures differ
# from the stored ones.
lost_tests <- function(results) {
  skips <- unlist(lapply(results, `[[`, "results"), recursive = FALSE)
  skips <- Filter(function(result) inherits(result, "expectation_skip"), skips)
  why <- vapply(skips, conditionMessage, "")
  why[!grepl(if (bare) "long tests run with|not installed|cannot be loaded" else
    "long tests run with|tidybayes cannot be loaded", why)]
}

done <- list()
for (file in chosen_files(Sys.getenv("BSVM_TESTS"))) if (is_mine(file)) done[[file]] <- run_file(file)

number <- function(what) sum(vapply(done, function(file) as.numeric(file[[what]]), 0))
lost <- unlist(lapply(done, `[[`, "lost"))
if (length(lost) > 0L) {
  cat("\nSkipped, but not for their length:", paste0(names(lost), ": ", lost), sep = "\n")
}
for (file in names(done)) {
  for (failure in done[[file]]$failures) cat("\nFAILED test-", file, ".R: ", failure, sep = "")
}
seconds <- round(sort(vapply(done, function(file) as.numeric(file$seconds), 0), decreasing = TRUE))
cat("\nSeconds:", toString(utils::head(paste(names(seconds), seconds), 12L)))
failed <- number("failed") + length(lost)
cat(sprintf("\n[testthat] %d passed | %d failed | %d skipped\n", number("passed"), failed,
            number("skipped") - length(lost)))
quit(status = as.integer(failed > 0))
