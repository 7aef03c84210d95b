# When progress is told, and how: nothing before `after` seconds, or a quarter of these if the whole
# will take longer; then a line every `every` seconds, on a terminal rewritten in place. Lines go to
# stderr.

# The core's three numbers from bsvm_control(verbose = ): NULL tells only of what takes over 10
# seconds.
progress_pace <- function(verbose) {
  if (isFALSE(verbose)) return(c(Inf, Inf, 0))
  rewrite <- interactive() && isatty(stderr())
  after <- if (is.null(verbose)) getOption("bsvm.progress_after", 10) else 0
  as.double(c(after, if (rewrite) 0.5 else getOption("bsvm.progress_every", 10), rewrite))
}

check_verbose <- function(verbose, name = "verbose") {
  if (is.null(verbose) || (is.logical(verbose) && length(verbose) == 1L && !is.na(verbose))) {
    return(verbose)
  }
  abort("argument", "`", name, "` must be NULL (show progress only if the run takes over 10 ",
        "seconds), TRUE or FALSE; found ", describe(verbose), ".")
}

# function(done), which tells how many of `n` tasks are done, `n` NA if that is not known; NULL ends
# the last line. `clock` gives seconds.
progress_teller <- function(n, verbose, what, clock = function() proc.time()[["elapsed"]],
                            out = stderr()) {
  pace <- progress_pace(verbose)
  started <- clock()
  told <- -Inf
  open <- FALSE
  function(done) {
    if (is.null(done)) return(if (open) cat("\n", file = out))
    passed <- clock() - started
    left <- passed / done * (n - done)
    due <- if (told > -Inf) clock() - told >= pace[2L]
           else passed >= pace[1L] || isTRUE(passed >= pace[1L] / 4 && passed + left > pace[1L])
    if (!due && !(open && isTRUE(done == n))) return(invisible())
    told <<- clock()
    open <<- pace[3L] > 0
    ahead <- if (!is.na(n)) c(", about ", ceiling(left), " s left")
    cat(if (open) "\r", "bsvm, ", ceiling(passed), " s: ", in_full(done),
        if (!is.na(n)) c(" of ", in_full(n)), " ", what, ahead, if (open) "   " else "\n", sep = "",
        file = out)
  }
}
