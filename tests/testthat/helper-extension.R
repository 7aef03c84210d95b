# Copies of the source with new files in them, installed into libraries of their own: what is added
# needs no edit of the package.

# The source tree: BSVM_SOURCE, or two folders up when the tests run in place.
source_tree <- function() {
  named <- Sys.getenv("BSVM_SOURCE")
  tree <- if (nzchar(named)) named else normalizePath(test_path("..", ".."), mustWork = FALSE)
  if (file.exists(file.path(tree, "src", "core", "base", "registry.hpp"))) tree
}

need_source_tree <- function() {
  tree <- source_tree()
  skip_if(is.null(tree), "the source tree is not at hand: set BSVM_SOURCE to its path")
  tree
}

# `parts` of the sources. Objects come along if they are younger than every source, so that only new
# files are compiled.
copy_source <- function(tree, to, parts = c("DESCRIPTION", "NAMESPACE", "R", "src")) {
  dir.create(to)
  file.copy(file.path(tree, parts), to, recursive = TRUE, copy.date = TRUE)
  objects <- list.files(to, "[.](o|so)$", recursive = TRUE, full.names = TRUE)
  sources <- list.files(to, "[.](hpp|h|cpp|win)$|^Makevars", recursive = TRUE, full.names = TRUE)
  fresh <- length(objects) > 0 && min(file.mtime(objects)) > max(file.mtime(sources))
  if (!fresh) unlink(objects)
}

# `files`: where each file of the fixtures goes, by name. Functions in a file of R that are marked
# for export are its methods.
add_files <- function(copy, files) {
  from <- test_path("fixtures", names(files))
  file.copy(from, file.path(copy, files, basename(names(files))))
  methods <- unlist(lapply(grep("[.]R$", from, value = TRUE), marked_methods))
  if (length(methods) == 0L) return(invisible())
  write(sub("^([^.]+)[.](.+)$", "S3method(\\1,\\2)", methods), file.path(copy, "NAMESPACE"),
        append = TRUE)
}

# What `make document` would export.
marked_methods <- function(file) {
  lines <- readLines(file)
  sub(" <- .*", "", lines[which(lines == "#' @export") + 1L])
}

install_copy <- function(tree, library, options = character(0)) {
  flags <- file.path(library, "flags")
  writeLines("CXX17FLAGS = -O1", flags)
  output <- system2(file.path(R.home("bin"), "R"),
                    c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile", options,
                      paste0("--library=", shQuote(library)), shQuote(tree)),
                    stdout = TRUE, stderr = TRUE,
                    env = c(paste0("R_MAKEVARS_USER=", shQuote(flags)), "MAKEFLAGS=-j2"))
  status <- attr(output, "status")
  expect(is.null(status) || status == 0,
         paste(c("The copy does not install.", tail(output, 20)), collapse = "\n"))
}

# The library with a copy that has these files, made once a session: it is compiled.
extended <- new.env()

extended_library <- function(files) {
  tree <- need_source_tree()
  key <- paste(names(files), collapse = " ")
  if (is.null(extended[[key]])) {
    folder <- new_folder("extension")
    extended[[key]] <- file.path(folder, "library")
    dir.create(extended[[key]])
    copy_source(tree, file.path(folder, "bsvm"))
    add_files(file.path(folder, "bsvm"), files)
    install_copy(file.path(folder, "bsvm"), extended[[key]])
  }
  extended[[key]]
}

# The value of `code`, quoted, in an R of its own with the extended copy and these `data` as `d`.
in_extended <- function(code, data, files) {
  library <- extended_library(files)
  folder <- new_folder("extended")
  on.exit(unlink(folder, recursive = TRUE))
  saveRDS(data, file.path(folder, "data.rds"))
  script <- file.path(folder, "use.R")
  writeLines(c(
    sprintf(".libPaths(c(%s, %s))", deparse1(library), deparse1(.libPaths())),
    "library(bsvm)", sprintf("setwd(%s)", deparse1(folder)), "d <- readRDS('data.rds')",
    "value <-", deparse(code), "saveRDS(value, 'result.rds')"
  ), script)
  output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)),
                    stdout = TRUE, stderr = TRUE)
  result <- file.path(folder, "result.rds")
  expect(file.exists(result), paste(c("The extended copy fails.", output), collapse = "\n"))
  readRDS(result)
}
