# Builds the web site of the installed package by _pkgdown.yml: Rscript tools/site.R <folder>
# Fails on any warning. Nothing is looked up in a network, so links to CRAN are left out.

folder <- file.path(getwd(), commandArgs(trailingOnly = TRUE)[1])
options(pkgdown.internet = FALSE)

warned <- character()
withCallingHandlers({
  pkgdown::check_pkgdown()
  pkgdown::build_site(install = FALSE, new_process = FALSE, preview = FALSE, devel = FALSE,
                      override = list(destination = folder))
}, warning = function(w) {
  warned <<- c(warned, conditionMessage(w))
  invokeRestart("muffleWarning")
})
if (length(warned) > 0) cat("\nWarned:", unique(warned), sep = "\n  ")
quit(status = as.integer(length(warned) > 0))
