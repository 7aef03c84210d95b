# What a worker of a cluster does. It holds units (R/cluster-plan.R) of one fit, each by a pointer, and
# makes one when it is first asked for it. What passes learn of levels is in files next to the shards,
# whose names the question has: a unit can go to another worker at any time.

worker_store <- new.env(parent = emptyenv())

# Is looked up where it runs.
ask_worker <- function(message) answer_message(message)

# Messages and replies are short (R/cluster-nodes.R), what they are about is in files.
# message: list(run, tag, file), without `file` to release all rows. The file has
#
#   question   name of a file with the question as in R/row-source.R, and `opened` and `threads` of its
#              source
#   units      list(key, first, last, from, to, drop) each: from which files and to which a state goes,
#              and which ones nobody needs any more; `key` is the worker that is asked
#   job        name of a file with what core_hold_shards() takes, and `folder`
#   stop       name of a file: the pass stops if somebody makes it
#
# The reply is list(run, tag, key), and a file with tag, `units` as they were asked for, and of each
# the answer and its checksum; or `error` of the core. With `failed`, a reason, there is no file.
answer_message <- function(message) {
  failed <- suspendInterrupts(tryCatch({
    answer_asked(message)
    NULL
  }, error = function(e) substr(conditionMessage(e), 1L, 500L)))
  tryCatch(core_look(), interrupt = function(e) NULL)
  list(run = message$run, tag = message$tag, key = process_key(), failed = failed)
}

process_key <- function() paste0(Sys.info()[["nodename"]], "-", Sys.getpid())

answer_file <- function(file, key) paste0(file, "-", key)
done_file <- function(file, key) paste0(file, "-done-", key) # a byte for each shard of a pass

answer_asked <- function(message) {
  store <- worker_store
  closing <- is.null(message$file)
  if (!identical(store$run, message$run) || closing) {
    rm(list = ls(store), envir = store)
    core_heed_interrupts(closing)
  }
  if (closing) return(invisible())
  store$run <- message$run
  asked <- readRDS(message$file)
  if (is.null(store$job)) store$job <- readRDS(asked$job)
  question <- readRDS(asked$question)
  question$stop <- asked$stop
  key <- process_key()
  question$done <- done_file(message$file, key)
  own <- Filter(function(unit) unit$key == key, asked$units)
  found <- tryCatch({
    answers <- lapply(own, answer_unit, question, store)
    list(units = lapply(own, `[`, c("first", "last")), answers = answers,
         checksums = vapply(answers, answer_checksum, ""))
  }, error = function(e) list(error = e))
  saveRDS(c(list(tag = message$tag), found), answer_file(message$file, key), compress = FALSE)
}

answer_unit <- function(unit, question, store) {
  name <- paste("unit", question$source, unit$first, unit$last)
  job <- store$job
  if (is.null(store[[name]])) {
    paths <- job$paths[unit$first:unit$last]
    rows <- core_hold_shards(job$problem, job$model, job$known, paths, unit$first)
    core_ask_held_rows(rows, list(what = "open", use = question$opened, threads = question$threads))
    assign(name, rows, envir = store)
  }
  state_file <- function(tag) {
    if (nzchar(tag)) file.path(job$folder, paste0("state-", tag, "-")) else ""
  }
  question[c("source", "from", "to")] <- list(0L, state_file(unit$from), state_file(unit$to))
  answer <- core_ask_held_rows(store[[name]], question)
  if (nzchar(unit$drop)) unlink(paste0(state_file(unit$drop), unit$first:unit$last))
  answer
}

# Answers are numbers, matrices of them, or the name of a file.
answer_checksum <- function(answer) {
  if (is.character(answer)) return("a file, which has its own")
  core_checksum(as.double(unlist(answer, use.names = FALSE)))
}
