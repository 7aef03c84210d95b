# Stores which long tests there were and how they ended: Rscript tools/extended.R, after all
# processes of tools/testthat.R have ended. tools/extended-results.csv has a row a test that takes
# more than five seconds, with the commit it was run on.
logs <- list.files("_build/logs/extended", "^long-.*[.]csv$", full.names = TRUE)
rows <- do.call(rbind, lapply(logs, utils::read.csv, header = FALSE, colClasses = "character"))
names(rows) <- c("file", "test", "expectations", "failed", "error", "skipped", "seconds")
rows$seconds <- round(as.numeric(rows$seconds))
commit <- system2("git", c("rev-parse", "--short", "HEAD"), stdout = TRUE)
rows <- cbind(rows[order(rows$file, rows$test), ], date = format(Sys.Date()), commit = commit)
utils::write.csv(rows, "tools/extended-results.csv", row.names = FALSE)
cat(nrow(rows), "tests of more than five seconds: tools/extended-results.csv\n")
