# A place for rows that is asked questions (R/row-source.R), whose rows are in shards and whose answers
# come from the workers of a cluster.
#
# Every unit (R/cluster-plan.R) has a holder, a list in team$units: first, last, holder, and by source
# `state`, the tag of the message by which its levels' state was last written, and `drop`, the one
# before. A question is answered when every unit is, once. A unit whose holder is lost goes to another
# worker, which starts from the files of `state` and writes new ones. So a process that was given up
# and wakes again can't spoil what others read. Only when a question is answered does `state` move on.
most_recoveries <- 3L # within
recovery_seconds <- 3600

start_run <- function(team, shards, job) {
  team$run <- new_run_name()
  team$rows <- shards$folder
  team$job <- file.path(team$rows, "job")
  leave_message(c(job, shards[c("folder", "paths")]), team$job)
  team$shards <- shards$shards
  team$n <- shards$n
  team$bytes <- shards$bytes
  team$sources <- list()
  team$known_lost <- length(team$lost)
  live <- live_workers(team)
  team$units <- lapply(plan_units(shards$shards, length(live)), function(unit) {
    list(first = unit$first, last = unit$last, holder = live[[unit$worker]]$number,
         state = character(0), drop = character(0))
  })
}

new_run_name <- function() {
  session$runs <- max(session$runs, 0) + 1
  paste0(process_key(), "-", format(Sys.time(), "%H%M%OS3"), "-", session$runs)
}

next_tag <- function(team) {
  team$tags <- team$tags + 1
  paste0(team$run, "-", team$tags)
}

# The `ask` of a new_row_source().
team_asker <- function(team) {
  function(question) {
    if (question$what == "groups" && nzchar(team$groups_to)) {
      question$groups_to <- file.path(team$rows, paste0("effects-", next_tag(team), "-"))
    }
    answer <- if (question$what == "open") open_team_source(team, question)
              else ask_team(team, question)
    list(number = question$number, answer = answer)
  }
}

# Workers open it when they are first asked about it.
open_team_source <- function(team, question) {
  number <- length(team$sources) + 1L
  team$sources[[number]] <- list(opened = question$use, threads = question$threads)
  for (k in seq_along(team$units)) team$units[[k]]$state[number] <- team$units[[k]]$drop[number] <- ""
  number
}

ask_team <- function(team, question) {
  team$question <- question$number
  team$watch <- progress_watch(team, question$tell)
  question$tell <- NULL
  team$files <- file.path(team$rows, paste0("question-", next_tag(team)))
  leave_message(c(question, team$sources[[question$source]]), team$files)
  answered <- FALSE
  on.exit(if (!answered) suspendInterrupts(abandon(team)))
  started <- now()
  error <- if (team$sockets) ask_sockets(team, question) else ask_by_call(team, question)
  if (!is.null(error)) return(error)
  answer <- combine_answers(team, question)
  team$slowest <- max(team$slowest, now() - started)
  commit(team, question$source, !question$what %in% only_read)
  unlink(c(team$files, team$done))
  answered <- TRUE
  answer
}

# NULL, or an error of a worker that others would have, too.
ask_sockets <- function(team, question) {
  repeat {
    recover(team)
    open <- open_units(team)
    if (length(open) == 0L) return(NULL)
    for (worker in live_workers(team)) {
      own <- Filter(function(k) team$units[[k]]$holder == worker$number, open)
      if (is.null(worker$busy) && length(own) > 0L) send_question(team, worker, own, question)
    }
    busy <- busy_workers(team)
    for (event in if (length(busy) > 0L) await_replies(busy, team$watch)) {
      if (!is.null(event$lost)) lose(team, event$worker, event$lost, isTRUE(event$late))
      else {
        error <- take_reply(team, event$worker, event$value)
        if (!is.null(error)) return(error)
      }
    }
  }
}

open_units <- function(team) which(!vapply(team$units, function(unit) "answer" %in% names(unit), TRUE))
live_workers <- function(team) Filter(function(worker) worker$live, team$workers)
busy_workers <- function(team) Filter(function(worker) !is.null(worker$busy), live_workers(team))

# Questions that leave the levels' states as they are.
only_read <- c("groups", "effects")

# What it is about is in a file. `keys` of the workers that are to answer for each of the units.
question_message <- function(team, units, question, keys) {
  tag <- next_tag(team)
  source <- question$source
  to <- if (question$what %in% only_read) "" else tag
  asked <- Map(function(k, key) {
    unit <- team$units[[k]]
    list(key = key, first = unit$first, last = unit$last, from = unit$state[source], to = to,
         drop = unit$drop[source])
  }, units, keys, USE.NAMES = FALSE)
  file <- file.path(team$rows, paste0("ask-", tag))
  leave_message(list(question = team$files[1L], units = asked, job = team$job,
                     stop = stop_file(team, tag)), file)
  team$done <- c(team$done, done_file(file, unique(keys)))
  team$files <- c(team$files, file, answer_file(file, unique(keys)))
  list(run = team$run, tag = tag, file = file, units = asked)
}

# As in core/rows/shards/shard_source.cpp.
slow_pass_seconds <- 5

# function(), which tells of a pass that takes longer.
progress_watch <- function(team, tell) {
  force(tell)
  started <- now()
  team$done <- character(0)
  function() {
    if (is.null(tell) || now() - started < slow_pass_seconds) return(invisible())
    tell(min(sum(file.size(team$done), na.rm = TRUE), team$shards), team$shards)
  }
}

stop_file <- function(team, tag) file.path(team$rows, paste0("stop-", tag))

send_question <- function(team, worker, units, question) {
  message <- question_message(team, units, question, worker$key)
  failed <- send_message(worker, ask_worker, message[c("run", "tag", "file")], answer_seconds(team))
  if (!is.null(failed)) return(lose(team, worker, failed))
  worker$asked <- units
  worker$message <- message
}

# Before the first answer at the pace of a slow disk, then ten times as long as any has taken.
answer_seconds <- function(team) {
  if (is.finite(team$timeout)) return(team$timeout)
  60 + if (team$slowest > 0) 10 * team$slowest else team$bytes / length(live_workers(team)) / 5e6
}

# NULL, or an error that the worker found. A reply that is not what was asked for is that of a process
# that can't be relied on.
take_reply <- function(team, worker, reply) {
  message <- worker$message
  if (is.null(message)) return(NULL) # of a question that was given up
  worker$message <- NULL
  if (!is.list(reply) || !identical(reply$run, message$run) || !identical(reply$tag, message$tag)) {
    return(lose(team, worker, "answered another question"))
  }
  if (!is.null(reply$failed)) return(lose(team, worker, paste0("failed (", reply$failed, ")")))
  found <- unless_error(readRDS(answer_file(message$file, worker$key)), NULL)
  if (!is.list(found)) return(lose(team, worker, "sent an answer that can't be read"))
  if (inherits(found$error, "error")) return(found$error)
  wrong <- wrong_answer(found, message)
  if (!is.null(wrong)) return(lose(team, worker, wrong))
  note_answers(team, worker$asked, found, message$tag)
}

wrong_answer <- function(found, message) {
  units <- lapply(message$units, `[`, c("first", "last"))
  if (!identical(found$tag, message$tag)) return("answered another question")
  if (!identical(found$units, units) || length(found$answers) != length(units)) {
    return("answered for other rows")
  }
  sums <- unless_error(vapply(found$answers, answer_checksum, ""), "none")
  if (!identical(sums, found$checksums)) return("sent an answer that was damaged on its way")
}

note_answers <- function(team, units, found, tag) {
  for (k in seq_along(units)) {
    team$units[[units[k]]]["answer"] <- list(found$answers[[k]])
    team$units[[units[k]]]$wrote <- tag
  }
}

# Clusters without sockets are called as a whole. A call that fails or is interrupted leaves replies
# that nobody can tell from later ones: it is the last.
ask_by_call <- function(team, question) {
  if (!is.null(team$calling)) lose_all(team, "a call to them was interrupted")
  repeat {
    recover(team)
    open <- open_units(team)
    if (length(open) == 0L) return(NULL)
    workers <- live_workers(team)
    keys <- vapply(workers, function(worker) worker$key, "")
    holders <- vapply(team$units[open], `[[`, 0, "holder")
    numbers <- vapply(workers, function(worker) worker$number, 0)
    message <- question_message(team, open, question, keys[match(holders, numbers)])
    team$calling <- message$tag
    replies <- call_all(team, ask_worker, message[c("run", "tag", "file")])
    if (is.null(replies)) next
    error <- take_replies(team, workers, keys, message, replies)
    if (!is.null(error)) return(error)
  }
}

# Of all workers; NULL, and they are lost, if the call failed.
call_all <- function(team, fun, message) {
  tryCatch(parallel::clusterCall(team$cluster, fun, message), error = function(e) {
    lose_all(team, paste0("a call to them failed (", reason_lost(e), ")"))
  })
}

take_replies <- function(team, workers, keys, message, replies) {
  from <- vapply(replies, function(reply) c(if (is.list(reply)) reply$key, "none")[1L], "")
  if (!identical(sort(from), sort(keys))) return(lose_all(team, "a process answered for another"))
  team$calling <- NULL
  of <- vapply(message$units, `[[`, "", "key")
  open <- open_units(team)
  lost <- length(team$lost)
  for (k in seq_along(workers)) {
    workers[[k]]$asked <- open[of == keys[k]]
    workers[[k]]$message <- c(message[c("run", "tag", "file")],
                              list(units = message$units[of == keys[k]]))
    error <- take_reply(team, workers[[k]], replies[[match(keys[k], from)]])
    if (!is.null(error)) return(error)
  }
  if (length(team$lost) > lost) lose_all(team, "others can't go on without it")
}

lose_all <- function(team, why) {
  team$calling <- NULL
  for (worker in live_workers(team)) worker$live <- FALSE
  team$lost <- c(team$lost, sub("[.]$", "", why))
  NULL
}

# ---- all answers of a question ------------------------------------------------------------------

combine_answers <- function(team, question) {
  firsts <- vapply(team$units, `[[`, 0, "first")
  order <- order(firsts)
  answers <- lapply(team$units[order], `[[`, "answer")
  if (question$what %in% c("sums", "settle")) {
    if (length(unique(lengths(answers))) > 1L || !all(vapply(answers, is.double, TRUE))) {
      abort("cluster", "Workers of `cluster` gave answers of different sizes. There is no fit.")
    }
    total <- add_units(answers, firsts[order], team$shards,
                       if (question$what == "sums") team$add else `+`)
    # The second number of the core's sums counts rows.
    if (question$what == "sums" && !identical(total[2L], as.double(team$n))) {
      abort("cluster", "The workers of `cluster` added ", in_full(total[2L]), " rows in place of ",
            in_full(team$n), ". There is no fit.")
    }
    return(total)
  }
  if (question$what == "groups" && is.character(answers[[1L]])) {
    return(join_group_files(team, unlist(answers)))
  }
  if (!question$what %in% c("groups", "effects")) return(NULL)
  if (!"first" %in% names(answers[[1L]])) return(join_several(question$what, answers))
  parts <- switch(question$what, groups = c("mean", "precision", "regression"),
                  effects = c("effects", "expected"))
  stats::setNames(lapply(parts, bind_levels, answers = answers), parts)
}

# Columns of levels. One that goes on in the next place has a column there, too.
bind_levels <- function(part, answers) {
  firsts <- vapply(answers, `[[`, 0, "first")
  values <- lapply(answers, `[[`, part)
  ends <- firsts + vapply(values, ncol, 0L)
  values[-1L] <- Map(function(own, first, end) {
    if (end > first && ncol(own) > 0L) own[, -seq_len(end - first), drop = FALSE] else own
  }, values[-1L], firsts[-1L], ends[-length(ends)])
  do.call(cbind, values)
}

# Of several grouping factors: effects of all levels, zeros for those that others have.
join_several <- function(what, answers) {
  if (what == "groups") return(list(parts = answers))
  parts <- c("effects", "expected")
  stats::setNames(lapply(parts, function(part) Reduce(`+`, lapply(answers, `[[`, part))), parts)
}

# Workers wrote a file for each unit.
join_group_files <- function(team, paths) {
  path <- paste0(team$groups_to, next_tag(team))
  with_core_conditions(core_join_groups(paths, path))
  unlink(paths)
  path
}

commit <- function(team, source, moved) {
  team$units <- lapply(team$units, function(unit) {
    if (moved) {
      unit$drop[source] <- unit$state[source]
      unit$state[source] <- unit$wrote
    }
    unit[c("first", "last", "holder", "state", "drop")]
  })
}

# After Ctrl-C or an error: workers stop as soon as they look, and their replies are for nobody.
abandon <- function(team) {
  if (!is.null(team$calling)) tell_stop(team, team$calling)
  for (worker in busy_workers(team)) {
    if (!is.null(worker$message)) tell_stop(team, worker$busy)
    worker$message <- NULL
    worker$due <- min(worker$due, now() + stopping_seconds)
  }
  team$units <- lapply(team$units, `[`, c("first", "last", "holder", "state", "drop"))
}

stopping_seconds <- 10

tell_stop <- function(team, tag) {
  unless_error(file.create(stop_file(team, tag)), NULL)
}

# ---- workers that are lost ----------------------------------------------------------------------

set_lost <- function(team, worker, why) {
  worker$live <- FALSE
  worker$busy <- worker$message <- NULL
  team$lost <- c(team$lost, paste0("worker ", worker$name, " ", sub("[.]$", "", why)))
  if (team$own) close_node(worker$node)
}

# `late`: it may still be at work.
lose <- function(team, worker, why, late = FALSE) {
  if (late && !is.null(worker$busy)) tell_stop(team, worker$busy)
  set_lost(team, worker, why)
  NULL
}

# Since the last look, have workers been lost? Then others get their units. All that are lost at one
# question count as one recovery, as on a machine that goes down.
recover <- function(team) {
  if (length(team$lost) == team$known_lost) return(invisible())
  if (!team$question %in% names(team$recoveries)) {
    team$recoveries[[as.character(team$question)]] <- now()
  }
  if (sum(team$recoveries > now() - recovery_seconds) > most_recoveries) abort_lost(team)
  if (length(live_workers(team)) == 0L) rebuild(team)
  team$known_lost <- length(team$lost)
  give_away(team)
}

# In parts, if there are more workers than units. Units keep their places in team$units, since
# messages are about these, and what is answered stays whole.
give_away <- function(team) {
  live <- live_workers(team)
  numbers <- vapply(live, function(worker) worker$number, 0)
  orphans <- which(!vapply(team$units, function(unit) unit$holder %in% numbers, TRUE))
  open <- intersect(orphans, open_units(team))
  size <- function(units) vapply(team$units[units], unit_size, 0)
  while (length(open) > 0L && length(open) < length(live) && max(size(open)) > 1) {
    widest <- open[which.max(size(open))]
    halves <- split_unit(team$units[[widest]])
    new <- length(team$units) + 1L
    team$units[c(widest, new)] <- halves
    open <- c(open, new)
    orphans <- c(orphans, new)
  }
  holders <- vapply(team$units, `[[`, 0, "holder")
  load <- vapply(numbers, function(number) sum(size(which(holders == number))), 0)
  for (k in orphans[order(-size(orphans))]) {
    to <- which.min(load)
    team$units[[k]]$holder <- numbers[to]
    load[to] <- load[to] + unit_size(team$units[[k]])
  }
}

abort_lost <- function(team) {
  none <- length(live_workers(team)) == 0L
  abort("cluster", if (none) "All workers" else "Too many workers", " of `cluster` were lost: ",
        paste(team$lost, collapse = "; "), ". There is no fit. Make the cluster again, or leave ",
        "`cluster` out.")
}
