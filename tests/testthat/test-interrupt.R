# Ctrl-C in a long fit, in an R of its own: within half a second a valid fit, marked interrupted.

# The child runs plain updates, which take thousands of passes here, until it is stopped; then it
# saves when, and what it has.
child_script <- function(folder) {
  c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(bsvm)",
    sprintf("setwd(%s)", deparse1(folder)),
    "set.seed(1)",
    "x <- matrix(rnorm(1.2e6), ncol = 60)",
    "y <- x[, 1] + rnorm(nrow(x)) > 0",
    "warned <- character()",
    "writeLines(as.character(Sys.getpid()), 'partial')",
    "file.rename('partial', 'pid')",
    "fit <- withCallingHandlers(",
    "  bsvm(x, y, engine = engine_vb(accelerate = FALSE),",
    "       control = bsvm_control(tol = 1e-300, max_passes = 1e6L)),",
    "  warning = function(w) { warned <<- class(w); invokeRestart('muffleWarning') })",
    "ended <- as.numeric(Sys.time())",
    "out <- list(ended = ended, termination = fit$termination, warned = warned,",
    "            finite = all(is.finite(coef(fit))) && is.finite(elbo(fit)),",
    "            healthy = is.finite(elbo(bsvm(x[1:100, 1:2], y[1:100], engine = 'vb'))))",
    "saveRDS(out, 'partial')",
    "file.rename('partial', 'result')"
  )
}

wait_for_file <- function(path, seconds) {
  end <- Sys.time() + seconds
  while (!file.exists(path) && Sys.time() < end) Sys.sleep(0.02)
  file.exists(path)
}

# What the child saved, with the seconds it took to stop; NULL and its words if it saved nothing.
interrupt_child <- function() {
  folder <- new_folder("interrupt")
  on.exit(unlink(folder, recursive = TRUE))
  script <- file.path(folder, "child.R")
  writeLines(child_script(folder), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE,
          stdout = file.path(folder, "out"), stderr = file.path(folder, "err"))
  if (!wait_for_file(file.path(folder, "pid"), 60)) return(NULL)
  pid <- as.integer(readLines(file.path(folder, "pid")))
  on.exit(tools::pskill(pid, tools::SIGKILL), add = TRUE, after = FALSE)
  Sys.sleep(1.5)
  if (file.exists(file.path(folder, "result"))) return("ended too early")
  sent <- as.numeric(Sys.time())
  tools::pskill(pid, tools::SIGINT)
  if (!wait_for_file(file.path(folder, "result"), 20)) return(readLines(file.path(folder, "err")))
  result <- readRDS(file.path(folder, "result"))
  result$seconds <- result$ended - sent
  result
}

test_that("Ctrl-C ends a long fit within half a second, as a valid fit that says so", {
  skip_on_os("windows")
  skip_on_cran()
  # A busy machine may hold up any one try.
  for (try in 1:3) {
    result <- interrupt_child()
    if (!is.list(result)) {
      fail(paste(c("The child did not save a fit.", result), collapse = "\n"))
      return()
    }
    if (result$seconds < 0.5) break
  }
  expect_lt(result$seconds, 0.5)
  expect_equal(result$termination, "interrupted")
  expect_true("bsvm_warning_interrupted" %in% result$warned)
  expect_true(result$finite)
  expect_true(result$healthy)
})
