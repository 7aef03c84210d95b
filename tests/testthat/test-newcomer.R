# A new user's first minutes: the code of the README and of three vignettes, as it stands, in a clean
# session where a warning is an error. Chunks that an article itself does not run are not run here.

# Blocks ```r of the README and chunks ```{r} of a vignette, in order; chunks with `eval` that is
# FALSE or not TRUE here are skipped.
code_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  opens <- grep("^```(r|[{]r.*[}])$", lines)
  closes <- grep("^```$", lines)
  blocks <- lapply(opens, function(at) {
    inside <- lines[seq_len(closes[closes > at][1L] - at - 1L) + at]
    inside <- inside[!startsWith(inside, "#>")]
    asked <- regmatches(lines[at], regexpr("(?<=eval = ).*(?=[}]$)", lines[at], perl = TRUE))
    asked <- sub(", *[a-z.]+ *=.*$", "", asked)
    if (length(asked) == 0L) inside else c(sprintf("if (%s) {", asked), inside, "}")
  })
  unlist(blocks)
}

# The packages that the code itself names.
packages_of <- function(code) {
  names <- unlist(regmatches(code, gregexpr("[A-Za-z0-9.]+(?=::)", code, perl = TRUE)))
  quoted <- unlist(regmatches(code, gregexpr("(?<=package = \")[A-Za-z0-9.]+", code, perl = TRUE)))
  unique(c(names, quoted, "ggplot2"))
}

expect_runs <- function(file) {
  skip_on_cran() # it starts another R
  root <- test_path("..", "..") # the unpacked source may be older
  if (!file.exists(file.path(root, "README.md"))) root <- need_source_tree()
  path <- file.path(root, file)
  code <- code_of(path)
  expect_gt(length(code), 10)
  for (package in packages_of(code)) skip_if_not_installed(package)
  folder <- new_folder("newcomer")
  on.exit(unlink(folder, recursive = TRUE))
  stored <- list.files(file.path(root, "vignettes"), "[.]rds$", full.names = TRUE)
  file.copy(stored, folder)
  script <- file.path(folder, "code.R")
  # Echoed, so that values are printed, as a reader sees them.
  writeLines(code, script, useBytes = TRUE)
  lines <- c(sprintf("setwd(%s)", deparse1(folder)), "options(warn = 2)", "grDevices::pdf(NULL)",
             "source('code.R', echo = TRUE, encoding = 'UTF-8', max.deparse.length = Inf)",
             "result <- TRUE")
  found <- child_result(lines, seconds = 600)
  expect(!found$died, paste0(file, ":\n", found$said))
}

test_that("the README's code runs without a warning", {
  expect_runs("README.md")
})

test_that("so does the code of the vignettes `bsvm` and `coming-from`", {
  expect_runs("vignettes/bsvm.Rmd")
  expect_runs("vignettes/coming-from.Rmd")
})

test_that("so does the code of the vignette `missing-data`", {
  expect_runs("vignettes/missing-data.Rmd")
})

test_that("a warning in an article is seen", {
  folder <- new_folder("article")
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "a.Rmd")
  writeLines(c("```{r}", "x <- 1", "```", "words", "```{r, eval = FALSE}", "stop()", "```", "```r",
               "x", "#> 1", "```"), file)
  expect_equal(code_of(file), c("x <- 1", "if (FALSE) {", "stop()", "}", "x"))
  skip_on_cran()
  expect_true(child_result(c("options(warn = 2)", "warning('w')", "result <- 1"))$died)
})
