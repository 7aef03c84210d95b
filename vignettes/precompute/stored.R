# What the scripts of this folder share. Each makes vignettes/<name>.rds, the stored results of the
# vignette of that name, and is run by hand: Rscript vignettes/precompute/<name>.R

here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))

# The value, warnings kept to one line each, with its `seconds`.
timed <- function(expr) {
  seconds <- system.time(value <- withCallingHandlers(expr, warning = function(w) {
    message("  ", substr(conditionMessage(w), 1L, 150L))
    invokeRestart("muffleWarning")
  }))[["elapsed"]]
  list(value = value, seconds = seconds)
}

# The values of several studies of the same splits.
values_of <- function(studies) {
  values <- do.call(rbind, lapply(unname(studies), as.data.frame))
  values$value <- signif(values$value, 6L)
  values[c("model", "split", "metric", "value")]
}

store <- function(name, results) {
  results$made <- c(date = format(Sys.Date()),
                    r = paste(R.version$major, R.version$minor, sep = "."),
                    bsvm = as.character(utils::packageVersion("bsvm")),
                    cores = as.character(parallel::detectCores()))
  saveRDS(results, file.path(dirname(here), paste0(name, ".rds")), compress = "xz")
}
