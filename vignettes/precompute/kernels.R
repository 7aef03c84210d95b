# Results of the vignette `kernels`, from those of `Rscript bench/run.R gp gp-usps`: the paper's Tables 1
# and 2 with our figures.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))

seen_in <- function(case) {
  file <- file.path(here, "..", "..", "bench", "results", paste0(case, ".csv"))
  found <- utils::read.csv(file, colClasses = "character")
  found <- found[!is.na(suppressWarnings(as.numeric(found$seen))), ]
  stats::setNames(as.numeric(found$seen), found$quantity)
}
small <- seen_in("gp")
digits <- seen_in("gp-usps")

of <- function(seen, set, model, what) unname(seen[paste0(set, ", ", model, ": ", what)])

# Errors of the paper in percent: its support vector machine, and the one whose kernel is tuned.
paper <- data.frame(
  set = c("ionosphere", "sonar", "wisconsin", "crabs", "pima", "3v5, tenfold"),
  bsvm = c(5.98, 11.06, 2.93, 1.5, 21.88, 1.49), svm = c(5.71, 11.54, 3.07, 2, 24.22, 1.56)
)

table1 <- do.call(rbind, lapply(seq_len(nrow(paper)), function(k) {
  set <- paper$set[k]
  seen <- if (set %in% c("3v5, tenfold")) digits else small
  one <- function(model, what) of(seen, set, model, what)
  data.frame(
    "data" = set, "paper" = paper$bsvm[k], "paper, SVM" = paper$svm[k],
    "bsvm" = one("bsvm", "error"), "ksvm" = one("ksvm", "error"),
    "gausspr" = one("gausspr", "error"), "log score, bsvm" = one("bsvm", "log score"),
    "log score, ksvm" = one("ksvm", "log score"), "s, bsvm" = one("bsvm", "a fit"),
    "s, ksvm" = one("ksvm", "a fit"), check.names = FALSE
  )
}))

table2 <- data.frame(
  "task" = c("3 against 5, all rows", "3 against 5, 100 points", "4 against the rest, 100 points"),
  "paper, error" = c(2.46, 3.49, 2.44), "paper, s" = c(NA, 46, 116),
  "error" = c(of(digits, "3v5, 767/773", "full", "error"),
              of(digits, "3v5, 767/773", "100 points", "error"),
              of(digits, "4 against the rest", "100 points", "error")),
  "log score" = c(of(digits, "3v5, 767/773", "full", "log score"),
                  of(digits, "3v5, 767/773", "100 points", "log score"),
                  of(digits, "4 against the rest", "100 points", "log score")),
  "s" = c(of(digits, "3v5, 767/773", "full", "a fit"),
          of(digits, "3v5, 767/773", "100 points", "a fit"),
          of(digits, "4 against the rest", "100 points", "a fit")), check.names = FALSE
)

repeats <- c(table1 = unname(small["tenfold cross-validation, times"]),
             table2 = unname(digits["repeats"]))
store("kernels", list(table1 = table1, table2 = table2, repeats = repeats))
