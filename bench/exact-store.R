# Moments of the exact posteriors, in results/exact.csv.

exact_file <- function() results_file("exact.csv")

stored_exact <- function() if (file.exists(exact_file())) utils::read.csv(exact_file())

# Earlier rows of the same run are replaced.
store_exact <- function(study, likelihood, moments) {
  number <- vapply(moments, is.double, NA)
  moments[number] <- lapply(moments[number], signif, digits = 8L)
  versions <- paste0(R.version.string, ", ", packages(c("posterior", study_packages)))
  rows <- data.frame(study, likelihood, moments, date = format(Sys.Date()),
                     processor = processor(), versions)
  kept <- stored_exact()
  kept <- kept[!(kept$study == study & kept$likelihood == likelihood), ]
  utils::write.csv(rbind(kept, rows), exact_file(), row.names = FALSE)
}

read_exact <- function(study, likelihood) {
  rows <- stored_exact()
  rows[rows$study == study & rows$likelihood == likelihood, ]
}
