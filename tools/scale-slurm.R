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

# So few rows would be a single file, for one worker.
size <- bsvm:::core_shard_size
utils::assignInNamespace("core_shard_size", function(p, numbers) size(p, 2^23), "bsvm")
all_true <- TRUE

result <- function(fit) list(fit$posterior, fit$trace, coef(fit))

say <- function(case, ..., right) {
  cat(case, ": ", ..., if (!right) " WRONG", "\n", sep = "")
  all_true <<- all_true && right
}

here <- bsvm(relapse ~ age + dose + sex + (1 | clinic), data = files)
source("slurm-fit.R", echo = TRUE, max.deparse.length = Inf)
same <- identical(result(fit), result(here))
say("workers of srun", if (same) "identical", right = same)

# A fit with more iterations: its result and seconds.
long_fit <- function(cluster = NULL, timeout = NULL) {
  warned <- ""
  started <- proc.time()[["elapsed"]]
  found <- tryCatch(withCallingHandlers(
    bsvm(relapse ~ age + dose + sex + (1 | clinic), data = files, cluster = cluster,
         control = bsvm_control(tol = 1e-300, max_passes = 60, timeout = timeout, verbose = FALSE)),
    bsvm_warning_convergence = function(w) tryInvokeRestart("muffleWarning"),
    bsvm_warning_cluster = function(w) {
      warned <<- conditionMessage(w)
      tryInvokeRestart("muffleWarning")
    }), bsvm_error_cluster = identity)
  failed <- inherits(found, "error")
  list(result = if (!failed) result(found), class = class(found)[1L],
       told = if (failed) conditionMessage(found) else warned,
       seconds = proc.time()[["elapsed"]] - started)
}

alone <- long_fit()

start_workers <- function() {
  parallel::makePSOCKcluster(hosts, master = "127.0.0.1", rshcmd = "./srsh")
}

steps_of <- function(cluster) {
  unlist(parallel::clusterCall(cluster, function() {
    paste(Sys.getenv(c("SLURM_JOB_ID", "SLURM_STEP_ID")), collapse = ".")
  }))
}

cancel <- function(steps, options = "--signal=KILL", seconds = 0) {
  system(paste(c("(sleep", seconds, "; scancel", options, steps, ") >/dev/null 2>&1"),
               collapse = " "), wait = FALSE)
}

report <- function(case, found) {
  same <- identical(found$result, alone$result)
  say(case, if (same) "identical" else found$class, ", ", round(found$seconds, 1), " s (",
      round(alone$seconds, 1), " s without a cluster). ", found$told,
      right = nzchar(found$told) && (same || is.null(found$result)) &&
        found$seconds < 2 * alone$seconds + 10)
}

# `scancel` of the steps of these workers in the middle of it.
cancelled <- function(case, workers, options = "", timeout = NULL) {
  cluster <- start_workers()
  on.exit(for (node in cluster) try(close(node$con), silent = TRUE))
  steps <- steps_of(cluster)
  cancel(steps[workers], options, alone$seconds / 3)
  found <- long_fit(cluster, timeout)
  cancel(steps)
  report(case, found)
}

cancelled("one worker cancelled", 1)
cancelled("one worker killed", 2, "--signal=KILL")
cancelled("one worker stopped", 2, "--signal=STOP", timeout = 3)
cancelled("all workers killed", 1:2, "--signal=KILL")

made <- 0
report("all workers killed, cluster = function()", long_fit(function() {
  cluster <- start_workers()
  made <<- made + 1
  if (made == 1) cancel(steps_of(cluster), seconds = alone$seconds / 3)
  cluster
}))
if (!all_true) quit(status = 1)
