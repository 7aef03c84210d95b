# Builds the web site of the installed package by _pkgdown.yml: Rscript tools/site.R <folder>
# Fails on any warning. Nothing is looked up in a network, so links to CRAN are left out.
# BSVM_SITE_EXAMPLES=false does not run the examples, as in CI, where R CMD check runs them.

folder <- file.path(getwd(), commandArgs(trailingOnly = TRUE)[1])
options(pkgdown.internet = FALSE)
examples <- !identical(Sys.getenv("BSVM_SITE_EXAMPLES"), "false")

warned <- character()
withCallingHandlers({
  pkgdown::check_pkgdown()
  pkgdown::build_site(examples = examples, install = FALSE, new_process = FALSE, preview = FALSE,
                      devel = FALSE, override = list(destination = folder))
}, warning = function(w) {
  warned <<- c(warned, conditionMessage(w))
  invokeRestart("muffleWarning")
})
# README links to it.
dir.create(file.path(folder, "inst"), showWarnings = FALSE)
stopifnot(file.copy("inst/cheatsheet.pdf", file.path(folder, "inst"), overwrite = TRUE))
if (length(warned) > 0) cat("\nWarned:", unique(warned), sep = "\n  ")
quit(status = as.integer(length(warned) > 0))
