# The workers of a fit on a cluster, an environment `team`:
#
#   cluster, own     as parallel made it, and is it ours? `make` makes another one, `rebuilt`
#   sockets          can its nodes be sent to one by one (R/cluster-nodes.R)?
#   workers          of R/cluster-nodes.R; `lost`, a sentence for each that is not there any more
#   folder           where shards are to be; all workers see it
#   timeout          seconds, Inf if they are chosen by the size of the rows
#   run, tags        name of the run, and how many messages there were
#   units, job, ...  of a run (R/cluster-ask.R)
open_team <- function(cluster, control, folder = rows_folder(control)) {
  team <- new.env(parent = emptyenv())
  team$make <- if (is.function(cluster)) cluster
  team$own <- is.function(cluster)
  team$rebuilt <- FALSE
  team$lost <- character(0)
  team$known_lost <- team$tags <- 0L
  team$recoveries <- numeric(0)
  team$slowest <- 0
  team$timeout <- if (is.null(control$timeout)) Inf else control$timeout
  team$folder <- normalizePath(folder)
  team$run <- new_run_name()
  opened <- FALSE
  on.exit(if (!opened) close_team(team))
  hire(team, if (team$own) made_cluster(cluster) else cluster)
  opened <- TRUE
  team
}

check_source_cluster <- function(cluster) {
  if (is.null(cluster) || inherits(cluster, "cluster") || is.function(cluster)) return(cluster)
  abort("argument", "`cluster` must be made by parallel::makeCluster(), or be a function that makes ",
        "one; found ", describe(cluster), ".")
}

made_cluster <- function(make) {
  cluster <- make()
  if (inherits(cluster, "cluster")) return(cluster)
  abort("argument", "The function `cluster` must return a cluster of parallel::makeCluster(); it ",
        "returned ", describe(cluster), ".")
}

hire <- function(team, cluster) {
  team$cluster <- cluster
  before <- length(team$workers)
  nodes <- lapply(seq_along(cluster), function(k) cluster[[k]])
  if (length(nodes) == 0L) abort("argument", "`cluster` has no workers.")
  team$sockets <- all(vapply(nodes, has_socket, TRUE))
  team$workers <- c(team$workers, Map(new_worker, nodes, before + seq_along(nodes)))
  greet_team(team)
}

# All workers are lost. What they have found of levels is in files: others can go on.
rebuild <- function(team) {
  if (!team$own || team$rebuilt) abort_lost(team)
  team$rebuilt <- TRUE
  hire(team, made_cluster(team$make))
}

# Workers forget the fit. What is still at work is left to itself: it finds a file that says stop, or
# no rows, and its reply is thrown away when the next fit begins.
closing_seconds <- 5

close_team <- function(team) {
  if (team$own) return(close_own(team))
  if (!isTRUE(team$sockets)) {
    if (is.null(team$calling) && length(live_workers(team)) > 0L) {
      tryCatch(parallel::clusterCall(team$cluster, ask_worker, close_message(team)),
               error = function(e) NULL)
    }
    return(invisible())
  }
  on.exit(for (worker in team$workers) restore_timeout(worker))
  told <- numeric(0)
  end <- now() + closing_seconds
  repeat {
    for (worker in live_workers(team)) {
      if (!is.null(worker$busy) || worker$number %in% told) next
      told <- c(told, worker$number)
      worker$message <- NULL
      if (!is.null(send_message(worker, ask_worker, close_message(team), closing_seconds))) {
        worker$live <- FALSE
      }
    }
    busy <- busy_workers(team)
    if (length(busy) == 0L || now() >= end) break
    for (worker in busy) worker$due <- end
    for (event in await_replies(busy)) {
      if (!is.null(event$lost)) event$worker$live <- FALSE
    }
  }
}

close_message <- function(team) list(run = team$run, tag = next_tag(team))

close_own <- function(team) {
  if (isTRUE(team$sockets)) {
    for (worker in live_workers(team)) close_node(worker$node)
  } else if (length(live_workers(team)) > 0L) {
    tryCatch(parallel::stopCluster(team$cluster), error = function(e) NULL)
  }
}

tell_lost <- function(team) {
  if (length(team$lost) == 0L) return(invisible())
  warn("cluster", "Workers of `cluster` were lost: ", paste(team$lost, collapse = "; "), ". The ",
       "others took over their rows, and the result is the same. Make the cluster again.")
}

# The place for rows that the shards of a fit are with a cluster.
ask_rows_of_team <- function(team, shards, problem, model, known) {
  start_run(team, shards, list(problem = problem, model = model, known = known))
  large <- length(known$large$level)
  team$add <- if (large == 0L) `+` else function(one, two) {
    core_add_sums(one, two, shards$columns, max(1L, shards$slopes), large)
  }
  core_ask_rows(new_row_source(team_asker(team))$ask)
}
