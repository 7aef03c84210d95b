# The site's index against the sources, where these are at hand: the tests run in place.

site_index <- function() {
  file <- test_path("..", "..", "_pkgdown.yml")
  skip_if_not(file.exists(file), "the source tree is not at hand")
  lines <- readLines(file)
  section <- cumsum(grepl("^[a-z]", lines))
  names <- function(key) {
    inside <- lines[section == section[match(paste0(key, ":"), lines)]]
    sub("^ +- +", "", grep("^ +- +", inside, value = TRUE))
  }
  list(reference = names("reference"), articles = names("articles"))
}

test_that("the site lists every help page that is not internal, and no other", {
  listed <- site_index()$reference
  pages <- list.files(test_path("..", "..", "man"), "[.]Rd$", full.names = TRUE)
  internal <- vapply(pages, function(page) any(readLines(page) == "\\keyword{internal}"), NA)
  expect_setequal(listed, sub("[.]Rd$", "", basename(pages[!internal])))
  expect_false(anyDuplicated(listed) > 0)
})

test_that("the site lists every vignette", {
  vignettes <- list.files(test_path("..", "..", "vignettes"), "[.]Rmd$")
  expect_setequal(site_index()$articles, sub("[.]Rmd$", "", vignettes))
})

test_that("every function that is exported is called in the examples of its help page", {
  site_index()
  pages <- list.files(test_path("..", "..", "man"), "[.]Rd$", full.names = TRUE)
  pages <- lapply(pages, function(page) paste(readLines(page), collapse = "\n"))
  for (name in getNamespaceExports("bsvm")) {
    own <- Filter(function(page) grepl(paste0("\\alias{", name, "}"), page, fixed = TRUE), pages)
    examples <- sub("(?s)^.*?(\\\\examples[{].*)?$", "\\1", own, perl = TRUE)
    expect(any(grepl(paste0("\\b", name, "\\("), examples)),
           sprintf("%s() is in no example of its help page.", name))
  }
})
