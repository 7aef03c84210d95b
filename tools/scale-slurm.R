# The fit of tools/scale-slurm.sh, in a job with two nodes: the lines of the vignette, and again with
# workers that Slurm cancels or stops in the middle. Exits with an error where a result differs.
library(bsvm)

set.seed(1)
n <- 200000
visits <- data.frame(age = rnorm(n, 50, 12), dose = rexp(n), sex = sample(c("f", "m"), n, TRUE),
                     clinic = sample(sprintf("c%03d", 1:200), n, TRUE))
effect <- rnorm(200)[match(visits$clinic, sort(unique(visits$clinic)))]
visits$relapse <- rbinom(n, 1, plogis(0.03 * (visits$age - 50) - 0.8 * visits$dose + effect))
files <- file.path(tempdir(), sprintf("visits-%d.rds", 1:5))
for (k in 1:5) saveRDS(visits[rep(1:5, each = n / 5) == k, ], files[k])

all_true <- TRUE

result <- function(fit) list(fit$posterior, fit$trace, coef(fit))

say <- function(case, ..., right) {
  cat(case, ": ", ..., if (!right) " WRONG", "\n", sep = "")
  all_true <<- all_true && right
}

started <- proc.time()[["elapsed"]]
here <- bsvm(relapse ~ age + dose + sex + (1 | clinic), data = files)
alone <- proc.time()[["elapsed"]] - started
source("slurm-fit.R", echo = TRUE, max.deparse.length = Inf)
same <- identical(result(fit), result(here))
say("workers of srun", if (same) "identical", right = same)

# `signal` goes to the steps of these workers in the middle of a fit.
disturbed <- function(case, signal, workers, timeout = NULL) {
  cluster <- parallel::makePSOCKcluster(hosts, master = "127.0.0.1", rshcmd = "./srsh")
  on.exit(for (node in cluster) try(close(node$con), silent = TRUE))
  steps <- unlist(parallel::clusterCall(cluster, function() {
    paste(Sys.getenv(c("SLURM_JOB_ID", "SLURM_STEP_ID")), collapse = ".")
  }))
  system(paste0("(sleep ", alone / 2, "; scancel --signal=", signal, " ",
                paste(steps[workers], collapse = " "), ") >/dev/null 2>&1"), wait = FALSE)
  started <- proc.time()[["elapsed"]]
  warned <- ""
  found <- tryCatch(withCallingHandlers(
    bsvm(relapse ~ age + dose + sex + (1 | clinic), data = files, cluster = cluster,
         control = bsvm_control(timeout = timeout)),
    bsvm_warning_cluster = function(w) {
      warned <<- conditionMessage(w)
      tryInvokeRestart("muffleWarning")
    }), bsvm_error_cluster = identity)
  seconds <- proc.time()[["elapsed"]] - started
  system(paste("scancel --signal=KILL", paste(steps, collapse = " "), ">/dev/null 2>&1"))
  failed <- inherits(found, "error")
  same <- !failed && identical(result(found), result(here))
  told <- if (failed) conditionMessage(found) else warned
  say(case, if (same) "identical" else class(found)[1L], ", ", round(seconds, 1), " s (", round(alone, 1),
      " s without a cluster): ", told,
      right = nzchar(told) && seconds < 2.5 * alone + 10 && (failed || same))
}

disturbed("one worker cancelled", "TERM", 1)
disturbed("one worker killed", "KILL", 2)
disturbed("one worker stopped", "STOP", 2, timeout = 3)
disturbed("all workers killed", "KILL", 1:2)
if (!all_true) quit(status = 1)
