# What the figures were measured on.

write_machine <- function() {
  writeLines(c(paste("Date:", format(Sys.Date())), paste("Commit:", commit()),
               paste("Processor:", processor()), paste("Memory:", memory()),
               paste("R:", R.version.string), paste("BLAS:", basename(extSoftVersion()[["BLAS"]])),
               paste("Packages:", packages())), results_file("machine.txt"))
}

processor <- function() {
  if (!file.exists("/proc/cpuinfo")) return(paste(R.version$platform, cores()))
  lines <- readLines("/proc/cpuinfo")
  model <- sub("^model name[[:space:]]*: ", "", grep("^model name", lines, value = TRUE))
  paste0(if (length(model)) model[1L] else R.version$platform, ", ", cores())
}

cores <- function() paste(parallel::detectCores(), "cores")

memory <- function() {
  if (!file.exists("/proc/meminfo")) return("unknown")
  kilobytes <- as.numeric(gsub("[^0-9]", "", readLines("/proc/meminfo", n = 1L)))
  sprintf("%.0f GB", kilobytes / 2^20)
}

packages <- function(used = c("bsvm", "Rcpp", "RcppEigen", "lme4", "e1071", "kernlab", "HSAUR3",
                               "reformulas", "posterior", "mice")) {
  there <- Filter(installed, used)
  toString(paste(there, vapply(there, function(p) format(utils::packageVersion(p)), "")))
}

commit <- function() {
  git <- function(...) {
    arguments <- c("-C", shQuote(getOption("bsvm.bench")), ...)
    said <- suppressWarnings(system2("git", arguments, stdout = TRUE, stderr = FALSE))
    if (is.null(attr(said, "status"))) said else character()
  }
  hash <- git("rev-parse", "--short", "HEAD")
  if (!length(hash)) return("not known")
  changed <- length(git("status", "--porcelain", "--", shQuote(":/R"), shQuote(":/src"))) > 0L
  paste0(hash, if (changed) " with changes in R or src")
}

# One-minute load average: above 0.5 before a case starts, something else is running.
load_average <- function() {
  if (!file.exists("/proc/loadavg")) return("not known")
  as.numeric(strsplit(readLines("/proc/loadavg"), " ", fixed = TRUE)[[1L]][1L])
}
