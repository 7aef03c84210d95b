# What stands at a checkpoint's names may be anything; to open a pipe would wait for ever.

test_that("a pipe where a checkpoint is to be written is refused at once", {
  skip_on_os("windows")
  skip_if(!nzchar(Sys.which("mkfifo")), "mkfifo is not there")
  folder <- new_folder("pipe")
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "fit.checkpoint")
  d <- grouped_data()
  run <- function() {
    bsvm(y ~ x1, d, control = bsvm_control(verbose = FALSE), likelihood = likelihood_hinge(),
         engine = engine_gibbs(20, 10, chains = 1, checkpoint = file))
  }
  on.exit(setTimeLimit(), add = TRUE, after = FALSE)
  setTimeLimit(elapsed = 30, transient = TRUE)
  system2("mkfifo", shQuote(paste0(file, ".new")))
  expect_refusal(run(), "checkpoint", c(paste0(file, ".new"), "Remove"))
  # What the message says works.
  unlink(paste0(file, ".new"))
  expect_s3_class(unchecked(run()), "bsvm")
  expect_true(file.exists(file))
})
