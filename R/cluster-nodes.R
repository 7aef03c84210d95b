# Messages to the workers of a cluster over sockets, one at a time to each. No call waits without
# bounds: parallel::clusterCall() would wait 30 days for a process that hangs, and after a process has
# died, or after Ctrl-C, it returns answers to earlier calls. So messages are written to the
# connection in the form of parallel's own, and every reply is recognised by its tag.
#
# R's sockets let Ctrl-C in while they wait, also where suspendInterrupts() is around them, and a
# message that is cut off makes the connection useless. So messages and replies are shorter than the
# 4096 bytes that R reads or writes at once, after it has waited; what is longer is in files.
#
# A worker is an environment: node, number, name, key, live, busy (the tag of the message that it has
# to reply to, or NULL), sent, due (seconds of the clock).

now <- function() proc.time()[["elapsed"]]

new_worker <- function(node, number) {
  worker <- new.env(parent = emptyenv())
  worker$node <- node
  worker$number <- number
  worker$name <- as.character(number)
  worker$live <- TRUE
  worker
}

has_socket <- function(node) {
  inherits(node, c("SOCKnode", "SOCK0node")) && inherits(node$con, "connection")
}

# NULL, or why it could not be sent.
send_message <- function(worker, fun, message, seconds) {
  data <- list(type = "EXEC",
               data = list(fun = fun, args = list(message), return = TRUE, tag = message$tag))
  failed <- suspendInterrupts(suppressWarnings(tryCatch({
    was <- socketTimeout(worker$node$con, socket_seconds(seconds))
    if (is.null(worker$timeout)) worker$timeout <- was
    serialize(data, worker$node$con, ascii = FALSE, xdr = !inherits(worker$node, "SOCK0node"))
    NULL
  }, error = reason_lost)))
  if (!is.null(failed)) return(paste0("can't be reached (", failed, ")"))
  worker$busy <- message$tag
  worker$sent <- now()
  worker$due <- now() + seconds
  NULL
}

# Sockets look at the time limit while they wait: that is no fault of the worker.
reason_lost <- function(e) if (is_time_limit(e)) stop(e) else conditionMessage(e)

# For workers to read. Ctrl-C would leave the connection open.
leave_message <- function(value, file) suspendInterrupts(saveRDS(value, file, compress = FALSE))

# For what is short: R looks at time limits when it is over, so that they are not taken for its error.
unless_error <- function(code, otherwise) {
  suspendInterrupts(suppressWarnings(tryCatch(code, error = function(e) otherwise)))
}

restore_timeout <- function(worker) {
  if (is.null(worker$timeout)) return(invisible())
  unless_error(socketTimeout(worker$node$con, worker$timeout), NULL)
}

socket_seconds <- function(seconds) as.integer(max(1, min(ceiling(seconds), 1e6)))

# Waits for one of these workers at least: list(worker, value) of each that has replied, or
# list(worker, lost) with the reason; `late` if it may still be at work. Replies to earlier messages
# are read and thrown away. watch() is called about once a second.
await_replies <- function(workers, watch = function() NULL) {
  repeat {
    due <- min(vapply(workers, function(worker) worker$due, 0))
    connections <- lapply(workers, function(worker) worker$node$con)
    ready <- wait_for(connections, min(1, max(0, due - now())))
    watch()
    events <- lapply(workers[ready], read_reply)
    late <- !ready & vapply(workers, function(worker) worker$due <= now(), TRUE)
    events <- c(events, lapply(workers[late], function(worker) {
      list(worker = worker, late = TRUE,
           lost = paste0("did not answer within ", signif(worker$due - worker$sent, 3), " seconds"))
    }))
    events <- Filter(length, events)
    if (length(events) > 0L) return(events)
  }
}

# A connection that somebody has closed is ready: reading from it says why.
wait_for <- function(connections, seconds) {
  open <- vapply(connections, is_connected, TRUE)
  if (!all(open)) return(!open)
  socketSelect(connections, FALSE, seconds)
}

is_connected <- function(connection) unless_error(isOpen(connection), FALSE)

# NULL for a reply to an earlier message.
read_reply <- function(worker) {
  found <- suspendInterrupts(suppressWarnings(tryCatch(
    list(message = unserialize(worker$node$con)), error = function(e) list(lost = reason_lost(e))
  )))
  if (is.null(found$message)) {
    return(list(worker = worker, lost = paste0("has ended (", found$lost, ")")))
  }
  reply <- found$message
  if (!is.list(reply) || !identical(reply$tag, worker$busy)) return(NULL)
  worker$busy <- NULL
  if (!isTRUE(reply$success)) {
    return(list(worker = worker, lost = paste0("failed (", c(reply$value, "no reason")[1L], ")")))
  }
  list(worker = worker, value = reply$value)
}

# Ends the process of a node of a cluster that is ours, whatever state it is in.
close_node <- function(node) {
  suppressWarnings(tryCatch({
    socketTimeout(node$con, 1L)
    serialize(list(type = "DONE", data = NULL, tag = NULL), node$con, ascii = FALSE,
              xdr = !inherits(node, "SOCK0node"))
  }, error = function(e) NULL))
  suppressWarnings(tryCatch(close(node$con), error = function(e) NULL))
}
