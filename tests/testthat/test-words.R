# How the package speaks: sentences of at most 30 words with one semicolon, in the words of the field.

test_that("help pages have short sentences in the words of the field", {
  pages <- tools::Rd_db("bsvm")
  skip_if(length(pages) == 0L, "The package is installed without help pages.")
  found <- unlist(Map(function(rd, name) {
    sentences <- sentences_of(page_text(rd))
    place <- sub("[.]Rd$", "", name)
    c(too_long(place, sentences), avoided(place, sentences))
  }, pages, basename(names(pages))), use.names = FALSE)
  expect_equal(as.character(found), character())
})

test_that("so do vignettes, README and NEWS", {
  source <- Sys.getenv("BSVM_SOURCE")
  skip_if(!file.exists(file.path(source, "README.md")), "The sources are not at hand.")
  files <- c(file.path(source, c("README.md", "NEWS.md")),
             list.files(file.path(source, "vignettes"), "[.]Rmd$", full.names = TRUE))
  found <- unlist(lapply(files, function(file) {
    sentences <- sentences_of(article_text(file))
    c(too_long(basename(file), sentences), avoided(basename(file), sentences))
  }))
  expect_equal(as.character(found), character())
})

test_that("messages have the words of the field", {
  space <- asNamespace("bsvm")
  found <- unlist(lapply(ls(space, all.names = TRUE), function(name) {
    f <- get(name, space)
    if (is.function(f)) avoided(name, texts_in(f))
  }))
  expect_equal(as.character(found), character())
})

test_that("the measures see what they are for", {
  long <- paste(rep("word", 31L), collapse = " ")
  expect_length(too_long("x", c(long, "a; b; c", "short")), 2L)
  expect_length(avoided("x", c("the law of x", "laws", "flaws", "Of these")), 3L)
  expect_equal(sentences_of("One. Two e.g. three: four.\n\nFive"), c("One.", "Two e.g_ three:", "four.",
                                                                    "Five"))
  expect_equal(texts_in(function(x = "no", y) abort("formula", "it is a text", y)), "it is a text")
})
