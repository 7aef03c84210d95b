# R processes of their own, to be interrupted or killed. A child writes its process number to
# the file "pid" when it starts work, and what it has to say to "result".

wait_for_file <- function(path, seconds) {
  end <- Sys.time() + seconds
  while (!file.exists(path) && Sys.time() < end) Sys.sleep(0.02)
  file.exists(path)
}

run_child <- function(folder, lines) {
  script <- file.path(folder, "child.R")
  writeLines(lines, script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE,
          stdout = file.path(folder, "out"), stderr = file.path(folder, "err"))
}

# NA if the child never came to work.
child_pid <- function(folder) {
  if (!wait_for_file(file.path(folder, "pid"), 60)) return(NA_integer_)
  as.integer(readLines(file.path(folder, "pid")))
}

# Starts a child, sends it Ctrl-C `after` seconds, and returns what it saved, with the seconds it
# took to stop; its words if it saved nothing. `script(folder)` gives its lines, `data` what it
# finds in its folder.
interrupt_child <- function(script, data = list(), after = 1.5) {
  folder <- new_folder("interrupt")
  on.exit(unlink(folder, recursive = TRUE))
  for (name in names(data)) saveRDS(data[[name]], file.path(folder, name))
  run_child(folder, script(folder))
  pid <- child_pid(folder)
  if (is.na(pid)) return(NULL)
  on.exit(tools::pskill(pid, tools::SIGKILL), add = TRUE, after = FALSE)
  Sys.sleep(after)
  if (file.exists(file.path(folder, "result"))) return("ended too early")
  sent <- as.numeric(Sys.time())
  tools::pskill(pid, tools::SIGINT)
  if (!wait_for_file(file.path(folder, "result"), 20)) return(readLines(file.path(folder, "err")))
  result <- readRDS(file.path(folder, "result"))
  result$seconds <- result$ended - sent
  result
}

# A long run of chains by `engine`, the text of a call: saves the fit and the warnings' classes.
sampler_script <- function(folder, engine) {
  c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(bsvm)",
    sprintf("setwd(%s)", deparse1(folder)),
    "d <- readRDS('data.rds')",
    "warned <- character()",
    "writeLines(as.character(Sys.getpid()), 'partial')",
    "file.rename('partial', 'pid')",
    "set.seed(8)",
    "fit <- withCallingHandlers(",
    "  bsvm(y ~ x1 + t + (1 | g), d, control = bsvm_control(threads = 2, verbose = FALSE),",
    sprintf("       engine = %s),", engine),
    "  warning = function(w) { warned <<- c(warned, class(w)); invokeRestart('muffleWarning') })",
    "ended <- as.numeric(Sys.time())",
    "saveRDS(list(ended = ended, warned = warned, fit = fit), 'partial')",
    "file.rename('partial', 'result')"
  )
}
