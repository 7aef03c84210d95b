# R CMD check --as-cran on a built package: Rscript tools/check.R <tarball>
# Fails on any error or warning, and on any note that cran-comments.md does not quote (lines "> ").

tarball <- commandArgs(trailingOnly = TRUE)[1]

# The manual needs LaTeX and, for R's style, one font package.
has_latex <- function() {
  nzchar(Sys.which("pdflatex")) && nzchar(Sys.which("kpsewhich")) &&
    system2("kpsewhich", "inconsolata.sty", stdout = FALSE) == 0
}

run_check <- function(tarball, folder) {
  if (!has_latex()) cat("No LaTeX with inconsolata.sty here: the check leaves the manual out.\n")
  arguments <- c("CMD", "check", "--as-cran", if (!has_latex()) "--no-manual",
                 "-o", folder, tarball)
  # Examples take their time beside the sanitized tests, which CRAN's checks do not run.
  Sys.setenv(`_R_CHECK_EXAMPLE_TIMING_THRESHOLD_` = "15")
  # CRAN allows two cores: more processor time than 2.5 times the clock's is a note.
  Sys.setenv(`_R_CHECK_SYSTEM_CLOCK_` = "FALSE", `_R_CHECK_CRAN_INCOMING_REMOTE_` = "false",
             `_R_CHECK_EXAMPLE_TIMING_CPU_TO_ELAPSED_THRESHOLD_` = "2.5",
             `_R_CHECK_TEST_TIMING_CPU_TO_ELAPSED_THRESHOLD_` = "2.5",
             MAKEFLAGS = paste0("-j", parallel::detectCores()))
  system2(file.path(R.home("bin"), "R"), arguments, stdin = "/dev/null")
}

# Sizes and times differ between machines, so numbers do not count.
plain_lines <- function(text) {
  lines <- trimws(gsub("[0-9][0-9.]*", "N", gsub("[\u2018\u2019]", "'", text)))
  lines <- gsub("[[:space:]]+", " ", lines)
  lines[nzchar(lines)]
}

explained_lines <- function() {
  comments <- readLines("cran-comments.md", encoding = "UTF-8")
  plain_lines(sub("^> ?", "", grep("^>", comments, value = TRUE)))
}

unexplained <- function(details) {
  known <- explained_lines()
  is_known <- function(output) all(plain_lines(strsplit(output, "\n")[[1]]) %in% known)
  notes <- details$Status == "NOTE"
  notes[notes] <- !vapply(details$Output[notes], is_known, NA)
  details[notes | details$Status %in% c("WARNING", "ERROR", "FAILURE"), ]
}

status <- run_check(tarball, dirname(tarball))
log <- file.path(dirname(tarball), "bsvm.Rcheck", "00check.log")
bad <- unexplained(tools::check_packages_in_dir_details(logs = log, drop_ok = TRUE))
if (nrow(bad) > 0) {
  cat("\nNot explained in cran-comments.md:\n",
      sprintf("  %s: %s\n%s\n", bad$Status, bad$Check, bad$Output), sep = "\n")
}
# Some warnings stand in no check of their own.
ending <- grep("^Status:", readLines(log, encoding = "UTF-8"), value = TRUE)
warned <- !isTRUE(!grepl("WARNING|ERROR", ending))
quit(status = as.integer(status != 0 || nrow(bad) > 0 || warned))
