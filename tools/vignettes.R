# Builds the vignettes into inst/doc of the unpacked package: Rscript tools/vignettes.R <folder>
# R CMD INSTALL takes them from there. R CMD build would compile the package once more for them; here
# the installed one runs their code. Each runs in a process of its own.

folder <- commandArgs(trailingOnly = TRUE)[1]
sources <- file.path(folder, "vignettes")
built <- file.path(folder, "inst", "doc")
unlink(c(sources, built), recursive = TRUE)
for (path in c(sources, built)) dir.create(path, recursive = TRUE)
invisible(file.copy(list.files("vignettes", "[.](Rmd|rds)$", full.names = TRUE), sources))

build_one <- function(name) {
  file <- paste0(name, ".Rmd")
  code <- sprintf("options(warn = 1); rmarkdown::render(%s, quiet = TRUE); knitr::purl(%1$s, quiet = TRUE)",
                  shQuote(file, "cmd"))
  log <- tempfile()
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)),
                    stdout = log, stderr = log)
  if (status != 0) stop(file, ":\n", paste(readLines(log), collapse = "\n"), call. = FALSE)
}

# Those that take longest come first: the others fill what is left.
longest <- c("regression", "kernels", "factors", "bsvm", "coming-from")
articles <- sub("[.]Rmd$", "", list.files(sources, "[.]Rmd$"))
stopifnot(longest %in% articles)
articles <- union(longest, articles)
setwd(sources)
failed <- Filter(function(x) inherits(x, "try-error"),
                 parallel::mclapply(articles, function(name) try(build_one(name), silent = TRUE),
                                    mc.cores = parallel::detectCores(), mc.preschedule = FALSE))
if (length(failed) > 0) stop(unlist(failed), call. = FALSE)

parts <- outer(articles, c(".Rmd", ".R", ".html"), paste0)
stopifnot(file.copy(parts, file.path("..", "inst", "doc")))
unlink(outer(articles, c(".R", ".html"), paste0))
cat("vignettes: ", length(articles), " built.\n", sep = "")
