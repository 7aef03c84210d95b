# Planted faults, each of which the tests of its own room must notice.
#
#   Rscript tools/mutants.R [--check] [room ...]
#
# tools/mutants/<room>.dcf lists them: Mutant (its name), File, From (text that is there exactly
# once), To, Tests, and Survives, the reason why none of the tests can see it. Tests are
# tests/core/test_<test>*.cpp, or of these only <test>:<word> the cases whose name has the word, or
# testthat/<name>, which is tests/testthat/test-<name>.R.
#
# A copy of the tree in _build/mutants is built once; then one fault after the other is put in, what
# depends on it is built, and its tests are run. A mutant is killed if they fail, or do not end
# within ten times as long as without it. Results are kept in _build/mutants/results.csv as they
# come: a run that was cut goes on, and what survived or has changed is run again. Without names of
# rooms the table goes to tools/mutants/results.csv at the end. --check only looks whether each text
# is there once.

root <- getwd()
work <- file.path(root, "_build", "mutants")
tree <- file.path(work, "tree")
core <- file.path(tree, "tests", "core")
library_folder <- file.path(work, "library")
found_file <- file.path(work, "results.csv")
program <- "build/plain/run"
patience <- 60 # seconds, more than which ten times a short test may take

# ---- the list ------------------------------------------------------------------------------------

read_room <- function(file) {
  fields <- c("Mutant", "File", "From", "To", "Tests", "Survives")
  read <- as.data.frame(read.dcf(file, fields = fields))
  read$Room <- sub("[.]dcf$", "", basename(file))
  read$To[is.na(read$To)] <- ""
  read$Survives[is.na(read$Survives)] <- ""
  read
}

read_mutants <- function(rooms) {
  files <- list.files(file.path(root, "tools", "mutants"), "[.]dcf$", full.names = TRUE)
  all <- do.call(rbind, lapply(files, read_room))
  if (anyNA(all[c("Mutant", "File", "From", "Tests")])) stop("A mutant lacks a field.")
  twice <- duplicated(all[c("Room", "Mutant")])
  if (any(twice)) stop("Two mutants of a room have the name ", all$Mutant[twice][1L], ".")
  unknown <- setdiff(rooms, all$Room)
  if (length(unknown) > 0L) stop("No mutants of the room ", unknown[1L], ".")
  if (length(rooms) > 0L) all <- all[all$Room %in% rooms, ]
  all
}

read_text <- function(path) readChar(path, file.size(path), useBytes = TRUE)

times_there <- function(mutant) {
  path <- file.path(root, mutant$File)
  if (!file.exists(path)) return(0L)
  at <- gregexpr(mutant$From, read_text(path), fixed = TRUE)[[1L]]
  sum(at > 0L)
}

check_mutants <- function(mutants) {
  times <- vapply(split(mutants, seq_len(nrow(mutants))), times_there, 0L)
  for (k in which(times != 1L)) {
    cat(sprintf("%s, %s: '%s' is in %s %d times\n", mutants$Room[k], mutants$Mutant[k],
                mutants$From[k], mutants$File[k], times[k]))
  }
  same <- mutants$From == mutants$To
  for (k in which(same)) cat(mutants$Room[k], mutants$Mutant[k], "changes nothing\n")
  if (any(times != 1L | same)) quit(status = 1L)
}

# ---- building and running ------------------------------------------------------------------------

# The status of a command; its output goes to a log. One that takes too long has 124.
run <- function(log, command, arguments, folder = tree, seconds = 0, environment = character()) {
  old <- setwd(folder)
  on.exit(setwd(old))
  suppressWarnings(system2(command, arguments, stdout = log, stderr = log, timeout = seconds,
                           env = environment))
}

log_of <- function(what) file.path(work, paste0(what, ".log"))

# A fault may leave a variable unused, which is no reason to refuse it.
build_core <- function() {
  options <- c("-j2", program, shQuote("PLAIN=-O2 -Wno-error"))
  run(log_of("build"), "make", c(options, if (nzchar(Sys.which("ccache")))
    shQuote("CXX=ccache g++")), core)
}

build_package <- function() {
  dir.create(library_folder, FALSE)
  run(log_of("build"), "R",
      c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
        paste0("--library=", library_folder), "."),
      environment = c("MAKEFLAGS=-sj2", paste0("R_MAKEVARS_USER=", root, "/tools/Makevars")))
}

is_core <- function(tests) !startsWith(tests, "testthat/")

build <- function(tests) {
  if (any(is_core(tests)) && build_core() != 0L) return(FALSE)
  all(is_core(tests)) || build_package() == 0L
}

run_core <- function(test, seconds) {
  parts <- strsplit(test, ":", fixed = TRUE)[[1L]]
  chosen <- c(paste0("--source-file=*test_", parts[1L], "*"),
              if (length(parts) > 1L) paste0("--test-case=*", parts[2L], "*"))
  run(log_of("tests"), file.path(".", program), chosen, core, seconds)
}

run_testthat <- function(test, seconds) {
  code <- sprintf(paste0(
    "library(testthat, quietly = TRUE); library(bsvm); r <- as.data.frame(test_file(",
    "'tests/testthat/test-%s.R', package = 'bsvm', load_package = 'installed', ",
    "reporter = 'check', stop_on_failure = FALSE)); ",
    "quit(status = as.integer(sum(r$failed) + sum(r$error) > 0))"), sub("testthat/", "", test))
  libraries <- paste(c(library_folder, .libPaths()), collapse = .Platform$path.sep)
  run(log_of("tests"), "Rscript", c("-e", shQuote(code)), tree, seconds,
      c(paste0("R_LIBS=", libraries), "NOT_CRAN=true"))
}

run_test <- function(test, seconds = 0) {
  start <- proc.time()[["elapsed"]]
  status <- if (is_core(test)) run_core(test, seconds) else run_testthat(test, seconds)
  list(status = status, seconds = proc.time()[["elapsed"]] - start)
}

# Without a fault each test must pass, and how long it takes says when to give up.
clean_seconds <- numeric()

clean_runs <- function(tests) {
  new <- setdiff(tests, names(clean_seconds))
  if (length(new) > 0L && !build(new)) stop("The tree does not build: see ", log_of("build"))
  for (test in new) {
    found <- run_test(test)
    if (found$status != 0L) stop("Without a fault the tests '", test, "' fail: ", log_of("tests"))
    cat(sprintf("%s: %.0f s without a fault\n", test, found$seconds))
    clean_seconds[[test]] <<- found$seconds
  }
  clean_seconds[tests]
}

# What failed first, for the table.
first_failure <- function() {
  lines <- readLines(log_of("tests"), warn = FALSE)
  at <- grep("^TEST CASE:|^(──|--) (Failure|Error)|^Error in|Sanitizer|Segmentation", lines,
             useBytes = TRUE)
  if (length(at) == 0L) return("")
  line <- iconv(lines[at[1L]], "UTF-8", "ASCII", "")
  trimws(gsub("^TEST CASE:|-{3,}|[\",]", "", line))
}

# ---- a mutant ------------------------------------------------------------------------------------

# The object a core source is compiled to: put back afterwards, it need not be compiled twice.
object_of <- function(file) {
  if (!grepl("^src/core/.*[.]cpp$", file)) return(character())
  file.path(core, "build/plain", paste0("unit_", strsplit(file, "/")[[1L]][3L], ".o"))
}

# Afterwards the source is as it was, and newer than all made of it but the object, put back last.
with_fault <- function(mutant, code) {
  path <- file.path(tree, mutant$File)
  object <- object_of(mutant$File)
  kept <- file.path(work, "kept.o")
  before <- read_text(path)
  if (length(object) > 0L) file.copy(object, kept, TRUE)
  writeLines(mutant$File, dirty_file)
  on.exit({
    writeChar(before, path, eos = NULL, useBytes = TRUE)
    if (length(object) > 0L) file.copy(kept, object, TRUE)
    unlink(c(file.path(core, program), dirty_file))
  })
  writeChar(sub(mutant$From, mutant$To, before, fixed = TRUE, useBytes = TRUE), path, eos = NULL,
            useBytes = TRUE)
  force(code)
}

# Tests in R are run without a fault only where one was killed by them: most are by the core's.
judge <- function(mutant) {
  tests <- strsplit(mutant$Tests, " +")[[1L]]
  clean_runs(tests[is_core(tests)])
  start <- proc.time()[["elapsed"]]
  outcome <- with_fault(mutant, run_until_killed(tests))
  if (nzchar(outcome$by)) clean_runs(tests[startsWith(outcome$by, tests)])
  c(outcome, seconds = round(proc.time()[["elapsed"]] - start))
}

# Each test has what it runs built just before.
run_until_killed <- function(tests) {
  for (test in tests) {
    if (!build(test)) return(list(result = "does not build", by = ""))
    limit <- if (test %in% names(clean_seconds)) 10 * clean_seconds[[test]] else 900
    found <- run_test(test, max(patience, limit))
    if (found$status == 124L) return(list(result = "killed", by = paste0(test, ": took too long")))
    if (found$status != 0L) {
      return(list(result = "killed", by = paste0(test, ": ", first_failure())))
    }
  }
  list(result = "survived", by = "")
}

# ---- the run -------------------------------------------------------------------------------------

# Where a run was cut with a fault in the tree there is no telling what was built of it.
dirty_file <- file.path(work, "dirty")

clean_up <- function() {
  if (!file.exists(dirty_file)) return(invisible())
  file <- readLines(dirty_file)
  unlink(c(file.path(tree, file), object_of(file), file.path(core, program), dirty_file))
}

# The tree as it is now; objects of an earlier run stay, and make knows which are stale. Their
# folder has a link to the sources.
copy_tree <- function() {
  dir.create(tree, FALSE, TRUE)
  clean_up()
  files <- system2("git", c("ls-files", "-co", "--exclude-standard"), stdout = TRUE)
  files <- files[file.exists(files)]
  for (file in files) {
    to <- file.path(tree, file)
    if (file.exists(to) && identical(unname(tools::md5sum(file)), unname(tools::md5sum(to)))) next
    dir.create(dirname(to), FALSE, TRUE)
    file.copy(file, to, TRUE)
  }
  there <- list.files(tree, "[.](R|[ch]pp)$", recursive = TRUE)
  unlink(file.path(tree, there[!there %in% files & !grepl("unit_|/build/", there)]))
}

identity_of <- function(mutants) {
  do.call(paste, c(mutants[c("Room", "Mutant", "File", "From", "To", "Tests")], sep = "\r"))
}

# The last of each mutant.
known_results <- function() {
  if (!file.exists(found_file)) return(NULL)
  known <- utils::read.csv(found_file, colClasses = "character", check.names = FALSE)
  known[!duplicated(identity_of(known), fromLast = TRUE), ]
}

is_settled <- function(mutants, known = known_results()) {
  result <- known$Result[match(identity_of(mutants), identity_of(known))]
  result %in% "killed" | (result %in% "survived" & nzchar(mutants$Survives))
}

add_result <- function(mutant, outcome) {
  row <- cbind(mutant[c("Room", "Mutant", "File", "From", "To", "Tests")], Result = outcome$result,
               By = outcome$by, Seconds = outcome$seconds)
  utils::write.table(row, found_file, append = file.exists(found_file), sep = ",",
                     row.names = FALSE, col.names = !file.exists(found_file), qmethod = "double")
}

close_run <- function(mutants, rooms) {
  known <- known_results()
  at <- match(identity_of(mutants), identity_of(known))
  results <- known$Result[at]
  bad <- !is_settled(mutants, known)
  if (length(rooms) == 0L) {
    table <- cbind(known[at, c("Room", "Mutant", "File", "Tests", "Result", "By")],
                   Explained = mutants$Survives)
    utils::write.csv(table, file.path(root, "tools", "mutants", "results.csv"), row.names = FALSE)
  }
  for (k in which(bad)) cat(mutants$Room[k], "-", mutants$Mutant[k], results[k], "\n")
  cat(sprintf("%d mutants: %d killed, %d survived and explained, %d not as they should be\n",
              nrow(mutants), sum(results == "killed"), sum(results == "survived" & !bad), sum(bad)))
  quit(status = as.integer(any(bad)))
}

arguments <- commandArgs(trailingOnly = TRUE)
rooms <- setdiff(arguments, "--check")
mutants <- read_mutants(rooms)
check_mutants(mutants)
if ("--check" %in% arguments) {
  cat(nrow(mutants), "mutants, each of whose texts is there once\n")
  quit()
}
copy_tree()
todo <- if (is.null(known_results())) seq_len(nrow(mutants)) else which(!is_settled(mutants))
for (k in todo) {
  mutant <- mutants[k, ]
  outcome <- judge(mutant)
  cat(sprintf("[%d/%d] %s - %s: %s %s (%s s)\n", match(k, todo), length(todo), mutant$Room,
              mutant$Mutant, outcome$result, outcome$by, outcome$seconds))
  add_result(mutant, outcome)
}
close_run(mutants, rooms)
