# A case returns a data frame of figures: quantity, what was asked, what was seen, unit, met.

figure <- function(quantity, seen, unit, at_most = NULL, at_least = NULL, near = NULL,
                   within = 0, digits = 4L) {
  asked <- c(if (!is.null(at_most)) paste("at most", show(at_most)),
             if (!is.null(at_least)) paste("at least", show(at_least)),
             if (!is.null(near)) paste(show(near, digits), "to", show(within)))
  met <- c(if (!is.null(at_most)) seen <= at_most, if (!is.null(at_least)) seen >= at_least,
           if (!is.null(near)) abs(seen - near) <= within)
  data.frame(quantity, asked = paste(asked, collapse = ", "), seen = show(seen, digits), unit,
             met = if (length(met)) ifelse(all(met), "yes", "no") else "")
}

# A case that cannot be measured here says why in one sentence.
skipped <- function(quantity, reason) {
  data.frame(quantity, asked = "", seen = "not measured", unit = reason, met = "")
}

show <- function(value, digits = 4L) {
  if (is.character(value)) return(value)
  if (abs(value) < 1e-4) format(value, digits = digits)
  else format(signif(value, digits), digits = digits, scientific = FALSE)
}

results_file <- function(name) {
  directory <- file.path(getOption("bsvm.bench"), "results")
  dir.create(directory, showWarnings = FALSE)
  file.path(directory, name)
}

write_figures <- function(case, figures) {
  utils::write.csv(cbind(case, figures), results_file(paste0(case, ".csv")), row.names = FALSE)
}

read_figures <- function(case) {
  utils::read.csv(results_file(paste0(case, ".csv")), colClasses = "character", na.strings = NULL)
}

write_table <- function(cases) {
  cases <- Filter(function(case) file.exists(results_file(paste0(case, ".csv"))), cases)
  figures <- do.call(rbind, lapply(cases, read_figures))
  columns <- c("case", "quantity", "asked", "seen", "unit", "met")
  rows <- apply(figures[columns], 1L, paste, collapse = " | ")
  machine <- readLines(results_file("machine.txt"))
  writeLines(c("# Figures seen", "", "Written by `bench/run.R`; do not edit.", "",
               paste("*", machine), "", paste("|", paste(columns, collapse = " | "), "|"),
               paste0("|", strrep("---|", length(columns))), paste("|", rows, "|")),
             results_file("README.md"))
}
