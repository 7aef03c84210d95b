# Copies of the sources to which a test adds files.

# The source tree: BSVM_SOURCE, or two folders up when the tests run in place.
source_tree <- function() {
  named <- Sys.getenv("BSVM_SOURCE")
  tree <- if (nzchar(named)) named else normalizePath(test_path("..", ".."), mustWork = FALSE)
  if (file.exists(file.path(tree, "src", "core", "base", "registry.hpp"))) tree
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

install_copy <- function(tree, library, options = character(0)) {
  flags <- file.path(library, "flags")
  writeLines("CXX17FLAGS = -O0", flags)
  output <- system2(file.path(R.home("bin"), "R"),
                    c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile", options,
                      paste0("--library=", shQuote(library)), shQuote(tree)),
                    stdout = TRUE, stderr = TRUE,
                    env = c(paste0("R_MAKEVARS_USER=", shQuote(flags)), "MAKEFLAGS=-j2"))
  status <- attr(output, "status")
  expect(is.null(status) || status == 0,
         paste(c("The copy does not install.", tail(output, 20)), collapse = "\n"))
}
