# The tasks of a study, one a split and model. `job` is a list of
#   data, truth, response  all rows, their response as metrics have it (of classes logical), and
#                          what it is
#   learners               named list of functions (see as_learner())
#   splits, seeds          list(train, test) of each split, and a seed for its models
#   metrics                named list of functions of `seen` (see metrics.R); NULL for seconds
#   predictions            are they kept?
# A task sees nothing but the job and its number, so it does not matter who runs it, or when.

run_tasks <- function(job, cores, cluster, progress) {
  tasks <- seq_len(length(job$splits) * length(job$learners))
  run <- task_runner(job, cores, cluster)
  on.exit(run$stop())
  tell <- progress_teller(length(tasks), progress, "fits")
  on.exit(tell(NULL), add = TRUE)
  size <- if (!isFALSE(progress)) max(run$workers, ceiling(length(tasks) / 50)) else length(tasks)
  rounds <- split(tasks, ceiling(tasks / size))
  results <- lapply(unname(rounds), function(round) {
    found <- run$run(round)
    tell(max(round))
    found
  })
  results <- unlist(results, recursive = FALSE)
  killed <- which(vapply(results, is.null, TRUE))
  if (length(killed) > 0L) results[killed] <- run$run(killed)
  lapply(results, lost_task, job = job)
}

# A process that was killed leaves NULL, and its task gets one more; one that failed for a reason of
# its own would fail again.
lost_task <- function(result, job) {
  if (is.list(result)) return(result)
  why <- if (inherits(result, "try-error")) as.character(result)
         else "the process that ran it was killed, and so was a second one"
  list(values = rep(NA_real_, length(job$metrics)), failures = rep(why, length(job$metrics)),
       warnings = character(0))
}

# list(workers, run = function of tasks, stop).
task_runner <- function(job, cores, cluster) {
  nothing <- function() NULL
  if (is.null(cluster) && cores == 1L) {
    return(list(workers = 1L, run = function(tasks) lapply(tasks, run_task, job), stop = nothing))
  }
  if (!is.null(cluster) || .Platform$OS.type != "unix") return(cluster_runner(job, cores, cluster))
  run <- function(tasks) {
    suppressWarnings(parallel::mclapply(tasks, run_task, job, mc.cores = cores,
                                        mc.preschedule = FALSE, mc.set.seed = FALSE))
  }
  list(workers = cores, run = run, stop = nothing)
}

# The same by a cluster; one of its own is made again if a process was killed.
cluster_runner <- function(job, cores, given) {
  start <- function() {
    cluster <- if (is.null(given)) new_cluster(cores) else given
    parallel::clusterCall(cluster, remember_job, job)
    cluster
  }
  cluster <- start()
  run <- function(tasks) {
    if (is.null(cluster) && is.null(given)) cluster <<- start()
    if (is.null(cluster)) return(rep(list(lost_cluster), length(tasks)))
    tryCatch(parallel::clusterApplyLB(cluster, tasks, run_remembered), error = function(e) {
      if (is_time_limit(e)) stop(e)
      if (is.null(given)) try(parallel::stopCluster(cluster), silent = TRUE)
      cluster <<- NULL
      rep(list(if (!is.null(given)) lost_cluster), length(tasks))
    })
  }
  stop_all <- function() {
    if (is.null(cluster)) return(NULL)
    if (is.null(given)) parallel::stopCluster(cluster)
    else parallel::clusterCall(cluster, remember_job)
  }
  list(workers = length(cluster), run = run, stop = stop_all)
}

# What is left of a cluster one of whose processes was killed can't be told from its answers.
lost_cluster <- structure("a process of `cluster` was killed; make a new cluster",
                          class = "try-error")

new_cluster <- function(cores) {
  cluster <- parallel::makeCluster(cores)
  parallel::clusterCall(cluster, .libPaths, .libPaths())
  cluster
}

# On a worker, so that the data are sent once.
remembered <- new.env(parent = emptyenv())

remember_job <- function(job = NULL) {
  remembered$job <- job
  NULL
}

run_remembered <- function(task) run_task(task, remembered$job)

# Tasks go through the models of a split, then to the next split.
task_model <- function(task, job) (task - 1L) %% length(job$learners) + 1L

task_split <- function(task, job) (task - 1L) %/% length(job$learners) + 1L

# list(values, failures) by metric, warnings, and the predictions if they are kept. The models of a
# split have one seed, so that none depends on which others there are.
run_task <- function(task, job) {
  at <- task_split(task, job)
  rows <- job$splits[[at]]
  learner <- job$learners[[task_model(task, job)]]
  test <- rows_numbered(job$data, rows$test)
  prob <- job$predictions || !do_without_prob(job$response, job$metrics)
  started <- proc.time()[["elapsed"]]
  tried <- with_given_seed(job$seeds[at], attempt({
    classify(learner(rows_numbered(job$data, rows$train)), test, job$response, prob)
  }), "Mersenne-Twister", "Inversion", "Rejection")
  seconds <- proc.time()[["elapsed"]] - started
  truth <- if (is.matrix(job$truth)) job$truth[rows$test, , drop = FALSE] else job$truth[rows$test]
  seen <- c(list(truth = truth), tried$value)
  judged <- judge(seen, tried$failure, seconds, job$metrics, job$response)
  kept <- if (job$predictions) prediction_frame(job$response, seen, rows$test)
  c(judged, list(warnings = tried$warnings, predictions = kept))
}

# list(value, failure, warnings): errors and warnings are kept as words, messages are not. A fit
# that was interrupted is kept by bsvm(); here Ctrl-C means the whole study, and so does the
# caller's setTimeLimit().
attempt <- function(code) {
  failure <- NA_character_
  warnings <- character(0)
  value <- withCallingHandlers(
    tryCatch(code, error = function(e) {
      if (is_time_limit(e)) stop(e)
      failure <<- conditionMessage(e)
      NULL
    }),
    bsvm_warning_interrupted = resignal_interrupted,
    warning = function(w) {
      warnings <<- c(warnings, conditionMessage(w))
      invokeRestart("muffleWarning")
    },
    message = function(m) invokeRestart("muffleMessage")
  )
  list(value = value, failure = failure, warnings = warnings)
}

# Values of the metrics, and why there is none.
judge <- function(seen, failure, seconds, metrics, response = new_response("classes")) {
  if (is.na(failure)) failure <- why_unseen(seen)
  found <- lapply(metrics, function(metric) {
    if (!is.na(failure)) return(list(value = NA_real_, failure = failure))
    if (is.null(metric)) return(list(value = seconds, failure = NA_character_))
    measure(metric, seen, response)
  })
  list(values = vapply(found, `[[`, 0, "value"), failures = vapply(found, `[[`, "", "failure"))
}

# NA where a row has all that the model says of others.
why_unseen <- function(seen) {
  said <- seen[setdiff(names(seen), "truth")]
  unseen <- Reduce(`|`, lapply(Filter(Negate(is.null), said), is.na))
  if (!any(unseen)) return(NA_character_)
  paste(sum(unseen), "of", length(unseen),
        if (is.matrix(unseen)) "responses" else "rows", "have no prediction")
}

measure <- function(metric, seen, response) {
  tried <- attempt(as_one_value(metric(seen)))
  failure <- tried$failure
  if (is.na(failure) && is.na(tried$value)) failure <- why_no_value(response, metric, seen)
  if (is.na(failure) && is.infinite(tried$value)) failure <- "the metric is infinite"
  list(value = if (is.na(failure)) tried$value else NA_real_, failure = failure)
}

as_one_value <- function(value) {
  if (!is.atomic(value) || length(value) != 1L || !(is.numeric(value) || is.na(value))) {
    abort("argument", "A metric must be one number; found ", describe(value), ".")
  }
  as.numeric(value)
}
