# What a worker of a cluster does. It holds units (R/cluster-plan.R) of one fit, each by a pointer, and
# makes one when it is first asked for it. What passes learn of levels is in files next to the shards,
# whose names the message has: a unit can go to another worker at any time.

worker_store <- new.env(parent = emptyenv())

# Is looked up where it runs.
ask_worker <- function(message) answer_message(message)

# message: list(run, tag, what), where `what` is "close" or that of the question, and
#   question   as in R/row-source.R, with `opened` and `threads` of its source
#   units      list(key, first, last, from, to, drop) each: from which file and to which a state goes,
#              and which ones nobody needs any more; `key` is the worker that is asked
#   job        what core_hold_shards() takes, and `folder`; NULL after the first message of a run
#   stop       a file: the pass stops if somebody makes it
#
# The reply has run, tag, key, `units` as they were asked for, and of each the answer and its checksum;
# or `error`. Ctrl-C in a terminal comes to workers, too. They answer first, since a reply that is cut
# off makes the connection useless.
answer_message <- function(message) {
  reply <- suspendInterrupts(tryCatch(answer_asked(message), error = identity))
  tryCatch(Sys.sleep(0), interrupt = function(e) NULL)
  known <- list(run = message$run, tag = message$tag, key = process_key())
  if (inherits(reply, "error")) c(known, list(error = reply)) else c(known, reply)
}

process_key <- function() paste0(Sys.info()[["nodename"]], "-", Sys.getpid())

answer_asked <- function(message) {
  store <- worker_store
  if (!identical(store$run, message$run) || message$what == "close") {
    rm(list = ls(store), envir = store)
    store$run <- message$run
    core_heed_interrupts(message$what == "close")
  }
  if (message$what == "close") return(list())
  if (!is.null(message$job)) store$job <- message$job
  own <- Filter(function(unit) unit$key == process_key(), message$units)
  answers <- lapply(own, answer_unit, message, store)
  list(units = lapply(own, `[`, c("first", "last")), answers = answers,
       checksums = vapply(answers, answer_checksum, ""))
}

answer_unit <- function(unit, message, store) {
  question <- message$question
  name <- paste(question$source, unit$first, unit$last)
  job <- store$job
  if (is.null(store[[name]])) {
    paths <- job$paths[unit$first:unit$last]
    rows <- core_hold_shards(job$problem, job$model, job$known, paths, unit$first)
    core_ask_held_rows(rows, list(what = "open", use = question$opened, threads = question$threads))
    assign(name, rows, envir = store)
  }
  state_file <- function(tag) if (nzchar(tag)) file.path(job$folder, paste0("state-", tag, "-")) else ""
  question[c("source", "from", "to", "stop")] <-
    list(0L, state_file(unit$from), state_file(unit$to), message$stop)
  answer <- core_ask_held_rows(store[[name]], question)
  if (nzchar(unit$drop)) unlink(paste0(state_file(unit$drop), unit$first:unit$last))
  answer
}

# Answers are numbers, or matrices of them.
answer_checksum <- function(answer) core_checksum(as.double(unlist(answer, use.names = FALSE)))
