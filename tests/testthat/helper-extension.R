# A copy of the source with new files in it, installed into a library of its own: what is added
# needs no edit of the package.

# What is added, and where to. Names in a file of R that are marked for export are its methods.
extensions <- c("student.cpp" = "src/core/prior", "measured.cpp" = "src/core/missing",
                "basis-measured.R" = "R")

# The source tree: BSVM_SOURCE, or two folders up when the tests run in place.
source_tree <- function() {
  named <- Sys.getenv("BSVM_SOURCE")
  tree <- if (nzchar(named)) named else normalizePath(test_path("..", ".."), mustWork = FALSE)
  if (file.exists(file.path(tree, "src", "core", "base", "registry.hpp"))) tree
}

# What an installation needs. Objects come along if they are younger than every source, so that
# only the new files are compiled.
copy_source <- function(tree, to) {
  dir.create(to)
  parts <- intersect(c("DESCRIPTION", "NAMESPACE", "R", "src"), list.files(tree))
  file.copy(file.path(tree, parts), to, recursive = TRUE, copy.date = TRUE)
  objects <- list.files(to, "[.](o|so)$", recursive = TRUE, full.names = TRUE)
  sources <- list.files(to, "[.](hpp|h|cpp|win)$|^Makevars", recursive = TRUE, full.names = TRUE)
  fresh <- length(objects) > 0 && min(file.mtime(objects)) > max(file.mtime(sources))
  if (!fresh) unlink(objects)
}

add_extensions <- function(copy) {
  from <- test_path("fixtures", names(extensions))
  file.copy(from, file.path(copy, extensions, names(extensions)))
  methods <- unlist(lapply(grep("[.]R$", from, value = TRUE), marked_methods))
  write(sub("^([^.]+)[.](.+)$", "S3method(\\1,\\2)", methods), file.path(copy, "NAMESPACE"),
        append = TRUE)
}

# What `make document` would export.
marked_methods <- function(file) {
  lines <- readLines(file)
  sub(" <- .*", "", lines[which(lines == "#' @export") + 1L])
}

install_copy <- function(tree, library) {
  flags <- file.path(library, "flags")
  writeLines("CXX17FLAGS = -O0", flags)
  output <- system2(file.path(R.home("bin"), "R"),
                    c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
                      paste0("--library=", shQuote(library)), shQuote(tree)),
                    stdout = TRUE, stderr = TRUE,
                    env = c(paste0("R_MAKEVARS_USER=", shQuote(flags)), "MAKEFLAGS=-j2"))
  status <- attr(output, "status")
  expect(is.null(status) || status == 0,
         paste(c("The copy does not install.", tail(output, 20)), collapse = "\n"))
}

# The library with the extended copy, made once a session: it is compiled.
extended <- new.env()

extended_library <- function() {
  tree <- source_tree()
  skip_if(is.null(tree), "the source tree is not at hand: set BSVM_SOURCE to its path")
  if (is.null(extended$library)) {
    folder <- new_folder("extension")
    extended$library <- file.path(folder, "library")
    dir.create(extended$library)
    copy_source(tree, file.path(folder, "bsvm"))
    add_extensions(file.path(folder, "bsvm"))
    install_copy(file.path(folder, "bsvm"), extended$library)
  }
  extended$library
}

# The value of `code`, quoted, in an R of its own with the extended copy and these `data` as `d`.
in_extended <- function(code, data) {
  library <- extended_library()
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
