# From here on only base R, the package with what it needs, and testthat with what that needs are
# there: what users have who install nothing that is suggested. R keeps its own library, with
# recommended packages, among .libPaths() whatever it is told, so these are replaced themselves.

needed_packages <- function(names) {
  all <- utils::installed.packages()
  base <- rownames(all)[all[, "Priority"] %in% "base"]
  needed <- tools::package_dependencies(names, all, c("Depends", "Imports", "LinkingTo"),
                                        recursive = TRUE)
  setdiff(c(names, base, unlist(needed)), "R")
}

hide_all_but <- function(names) {
  folder <- tempfile("bare")
  dir.create(folder)
  for (name in needed_packages(names)) {
    file.symlink(find.package(name), file.path(folder, name))
  }
  assign(".lib.loc", folder, envir = environment(.libPaths))
}

hide_all_but(c("bsvm", "testthat"))
stopifnot(!requireNamespace("mgcv", quietly = TRUE), !requireNamespace("ggplot2", quietly = TRUE))
