# Times by the wall clock, in seconds. Competitors take turns, so that a noisy machine treats them
# alike; each is run once before it counts.

seconds <- function(task) {
  gc(FALSE)
  start <- as.numeric(Sys.time())
  task()
  as.numeric(Sys.time()) - start
}

# The time the processor spent on this process, which a busy machine stretches less.
processor_seconds <- function(task) {
  gc(FALSE)
  start <- sum(proc.time()[1:2])
  task()
  sum(proc.time()[1:2]) - start
}

# times x tasks; the order is reversed in every second turn.
interleaved <- function(tasks, times = 5L, warm = TRUE) {
  if (warm) for (task in tasks) task()
  turns <- lapply(seq_len(times), function(turn) {
    order <- if (turn %% 2L) seq_along(tasks) else rev(seq_along(tasks))
    taken <- numeric(length(tasks))
    for (i in order) taken[i] <- seconds(tasks[[i]])
    taken
  })
  matrix(unlist(turns), times, byrow = TRUE, dimnames = list(NULL, names(tasks)))
}

median_of <- function(times) apply(times, 2L, stats::median)

installed <- function(packages) {
  all(vapply(packages, requireNamespace, NA, quietly = TRUE))
}
