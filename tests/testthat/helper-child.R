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

# What a child saved that stopped within half a second of Ctrl-C; NULL if it saved nothing.
expect_prompt_stop <- function(script, data = list(), after = 1.5) {
  # A busy machine may hold up any one try.
  for (try in 1:3) {
    result <- interrupt_child(script, data, after)
    if (!is.list(result)) {
      fail(paste(c("The child did not save a fit.", result), collapse = "\n"))
      return(NULL)
    }
    if (result$seconds < 0.5) break
  }
  expect_lt(result$seconds, 0.5)
  expect_true("bsvm_warning_interrupted" %in% result$warned)
  result
}

# ---- long runs of chains ------------------------------------------------------------------

# The text of a fit of `d` by `engine`, itself the text of a call.
sampler_call <- function(engine) {
  c("bsvm(y ~ x1 + t + (1 | g), d, control = bsvm_control(threads = 2, verbose = FALSE),",
    sprintf("     engine = %s)", engine))
}

# A child that saves that fit and the warnings' classes.
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
    "run <- function() {",
    sampler_call(engine),
    "}",
    "fit <- withCallingHandlers(run(),",
    "  warning = function(w) { warned <<- c(warned, class(w)); invokeRestart('muffleWarning') })",
    "ended <- as.numeric(Sys.time())",
    "saveRDS(list(ended = ended, warned = warned, fit = fit), 'partial')",
    "file.rename('partial', 'result')"
  )
}

# Ctrl-C ends a run within half a second as a valid fit with the first draws of the whole run; at
# most `compared` are drawn again. `engine`: as above, with %s for the number of draws.
expect_first_draws <- function(engine, after = 1.5, compared = 500) {
  d <- grouped_data(3000, 200)
  script <- function(folder) sampler_script(folder, sprintf(engine, "1e6"))
  result <- expect_prompt_stop(script, list(data.rds = d), after)
  if (is.null(result)) return(invisible())
  fit <- result$fit
  expect_equal(fit$termination, "interrupted")
  expect_finite(list(coef(fit), vcov(fit), fitted(fit)))
  kept <- dim(fit$posterior$coefficients)[2]
  expect_gt(kept, 20)
  draws <- min(kept, compared)
  again <- parse(text = sampler_call(sprintf(engine, draws)))
  same <- with_seed(8, suppressWarnings(eval(again)))
  expect_identical(fit$posterior$coefficients[, seq_len(draws), , drop = FALSE],
                   same$posterior$coefficients)
}

# What a child returns that may die: list(died, value). `lines` make `result`; after `seconds` it is
# ended, and has died too.
child_result <- function(lines, seconds = 120) {
  folder <- new_folder("mortal")
  on.exit(unlink(folder, recursive = TRUE))
  script <- file.path(folder, "child.R")
  saved <- file.path(folder, "result")
  writeLines(c(sprintf(".libPaths(%s)", deparse1(.libPaths())), "library(bsvm)", lines,
               sprintf("saveRDS(result, %s)", deparse1(saved))), script)
  status <- suppressWarnings(
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), timeout = seconds,
            stdout = file.path(folder, "out"), stderr = file.path(folder, "err"))
  )
  died <- status != 0 || !file.exists(saved)
  list(died = died, value = if (!died) readRDS(saved),
       said = paste(utils::tail(readLines(file.path(folder, "err"), warn = FALSE), 5),
                    collapse = "\n"))
}
