# Who the workers of a cluster are, before they get work: are there as many processes as nodes, would
# each compute the same bits as this session, and does each see the folder?

# Runs on a worker that may have another version of the package, or none: it uses base R alone. It is
# too long for a message (R/cluster-nodes.R), so that it comes in the file that the worker is to see.
greet_worker <- function(message) {
  facts <- c(R = paste(R.version$major, R.version$minor, sep = "."))
  package <- tryCatch({
    loadNamespace("bsvm", lib.loc = c(.libPaths(), message$libraries))
    unname(getNamespaceVersion("bsvm"))
  }, error = function(e) paste0("none (", conditionMessage(e), ")"))
  processor <- tryCatch({
    lines <- readLines("/proc/cpuinfo", 200L, warn = FALSE)
    model <- grep("^(model name|Model|CPU part)", lines, value = TRUE)[1L]
    sub("^[^:]*: *", "", model)
  }, error = function(e) NA_character_, warning = function(w) NA_character_)
  if (is.na(processor)) processor <- Sys.getenv("PROCESSOR_IDENTIFIER", Sys.info()[["machine"]])
  blas <- tryCatch(basename(normalizePath(extSoftVersion()[["BLAS"]])), error = function(e) "unknown")
  key <- paste0(Sys.info()[["nodename"]], "-", Sys.getpid())
  written <- tryCatch(file.create(paste0(message$probe, "-", key), showWarnings = FALSE),
                      error = function(e) FALSE)
  list(tag = message$tag, key = key, host = Sys.info()[["nodename"]], written = written,
       facts = c(bsvm = substr(package, 1L, 500L), facts, BLAS = blas, processor = processor,
                 system = R.version$platform))
}

open_greeting <- function(message) {
  found <- tryCatch(suppressWarnings(readRDS(message$probe)), error = function(e) NULL)
  if (is.list(found) && identical(found$tag, message$tag)) return(found$greet(found))
  list(tag = message$tag, key = NULL, host = Sys.info()[["nodename"]])
}

# Without its byte code, which is longer than the function.
bare_function <- function(f) as.function(c(formals(f), body(f)), baseenv())

# Every node of a team is greeted. What does not answer is lost; what answers and does not fit is an
# error.
greet_team <- function(team) {
  folder <- tempfile("bsvm-probe-", team$folder)
  on.exit(unlink(folder, recursive = TRUE))
  dir.create(folder)
  message <- list(tag = next_tag(team), probe = file.path(folder, "greeting"))
  leave_message(c(message, list(libraries = .libPaths(), greet = bare_function(greet_worker))),
                message$probe)
  own <- suspendInterrupts(open_greeting(message)) # time limits are seen later
  if (team$sockets) greet_sockets(team, message) else greet_by_call(team, message)
  for (worker in live_workers(team)) {
    check_greeting(worker, worker$greeting, own, message, team$folder)
    worker$name <- paste0(worker$name, " (", worker$greeting$host, ")")
    worker$key <- worker$greeting$key
  }
  keys <- vapply(live_workers(team), function(worker) worker$key, "")
  if (anyDuplicated(c(own$key, keys)) > 0L) {
    abort("cluster", "Two nodes of `cluster` are the same R process. Make the cluster again.")
  }
  if (length(keys) == 0L) abort_lost(team)
}

greet_sockets <- function(team, message) {
  for (worker in team$workers) {
    why <- send_message(worker, bare_function(open_greeting), message,
                        max(10, min(greeting_seconds, team$timeout)))
    if (!is.null(why)) set_lost(team, worker, why)
  }
  while (length(busy_workers(team)) > 0L) {
    for (event in await_replies(busy_workers(team))) {
      if (!is.null(event$lost)) set_lost(team, event$worker, event$lost)
      else event$worker$greeting <- event$value
    }
  }
}

# Some clusters give two messages of one call to the same process at first, until all have started.
greet_by_call <- function(team, message) {
  for (try in 1:20) {
    replies <- call_all(team, bare_function(open_greeting), message)
    if (is.null(replies)) return()
    keys <- vapply(replies, function(reply) c(reply$key, "none")[1L], "")
    if (!anyDuplicated(keys)) break
    Sys.sleep(0.1)
  }
  Map(function(worker, reply) worker$greeting <- reply, team$workers, replies)
}

greeting_seconds <- 30

check_greeting <- function(worker, reply, own, message, folder) {
  if (!is.list(reply) || !identical(reply$tag, message$tag)) {
    abort("cluster", "Worker ", worker$name, " of `cluster` answers another question. ",
          "Make the cluster again.")
  }
  name <- paste0("Worker ", worker$name, " (", reply$host, ") of `cluster`")
  wrote <- isTRUE(reply$written) && file.exists(paste0(message$probe, "-", reply$key))
  if (is.null(reply$key) || !wrote) {
    abort("cluster", name, " can't ", if (is.null(reply$key)) "read from" else "write to",
          " the folder for the rows, ", folder, ". Use control = bsvm_control(rows_folder = \"path\") ",
          "with a folder that all computers share.")
  }
  differs <- names(own$facts)[!mapply(identical, own$facts, reply$facts[names(own$facts)])]
  if (length(differs) == 0L) return(invisible())
  abort("cluster", name, " differs from this R session, so that results would, too: ",
        paste0(differs, " is ", reply$facts[differs], " there and ", own$facts[differs], " here",
               collapse = "; "), ". Use the same on all computers.")
}
