# A fuzzer: random calls of the package's functions, most of them sensible, many with an argument
# that is not, each written down before it is made. A batch of calls is a function of its seed
# alone, and runs in an R of its own, so that a crash or a hang costs the batch and names the call.
# By hand: source() this file and helper-fuzz-words.R, and look at fuzz_study(seeds).

fuzz_pick <- function(x, k = 1L) x[sample.int(length(x), k, replace = k > length(x))]
fuzz_chance <- function(p) stats::runif(1) < p

# ---- calls, as text -------------------------------------------------------------------------

fuzz_data <- function() {
  odd <- fuzz_chance(0.4)
  column <- function(from, sane) if (odd && fuzz_chance(0.4)) fuzz_pick(from) else fuzz_pick(sane)
  n <- if (fuzz_chance(0.1)) fuzz_pick(c(0, 1, 2, 3, 5)) else fuzz_pick(c(12, 30, 60))
  a <- column(fuzz_numbers, "rnorm(n)")
  y <- column(fuzz_responses, fuzz_responses[1:6])
  sprintf(
    "local({
      n <- %d; a <- %s; d <- list(a = a, b = %s, f = %s, g = %s, y = %s, w = rep(1, n))
      d <- structure(d, class = 'data.frame', row.names = seq_len(n)); %s; d })",
    n, a, column(fuzz_numbers, "rnorm(n)"), column(fuzz_groups, fuzz_groups[1:3]),
    column(fuzz_groups, fuzz_groups[1:3]), # plogis() is for numbers
    if (a %in% fuzz_numbers[1:12]) y else "rep(0:1, length = n)",
    if (odd && fuzz_chance(0.2)) fuzz_pick(fuzz_damages) else "NULL"
  )
}

fuzz_call <- function(name, first, arguments, share) {
  taken <- names(arguments)[stats::runif(length(arguments)) < share]
  values <- vapply(taken, function(a) {
    if (fuzz_chance(0.2)) fuzz_pick(fuzz_odd) else fuzz_pick(arguments[[a]])
  }, "")
  sprintf("%s(%s)", name, paste(c(first, sprintf("%s = %s", taken, values)), collapse = ", "))
}

fuzz_fit <- function() {
  if (fuzz_chance(0.1)) {
    first <- c(if (fuzz_chance(0.8)) fuzz_pick(fuzz_matrices) else fuzz_pick(fuzz_odd), "d$y")
    return(fuzz_call("bsvm", first, c(fuzz_arguments[-3], list(group = "d$g")), 0.1))
  }
  formula <- fuzz_pick(if (fuzz_chance(0.6)) fuzz_formulas[1:15] else fuzz_formulas)
  data <- if (fuzz_chance(0.02)) fuzz_pick(fuzz_odd) else "d"
  fuzz_call("bsvm", c(formula, data), fuzz_arguments, 0.06)
}

# A method of a fit, or of one in which something was replaced at the first or second level.
fuzz_use <- function(fit) {
  name <- fuzz_pick(names(fuzz_methods))
  text <- fuzz_call(name, "fit", fuzz_methods[[name]], 0.25)
  if (!fuzz_chance(0.15)) return(text)
  at <- fuzz_pick(names(fit))
  inner <- names(if (is.list(fit[[at]])) fit[[at]])
  if (length(inner) > 0L && fuzz_chance(0.5)) at <- c(at, fuzz_pick(inner))
  sprintf("local({ fit[[%s]] <- %s; %s })", deparse1(at), fuzz_pick(fuzz_odd[-1]), text)
}

# Functions that take no fit, each argument as odd as can be.
fuzz_bare <- function() {
  makers <- "^(engine_|prior_|likelihood_|missing_|bsvm|new_|holdout|cross_|tuned)"
  exported <- setdiff(getNamespaceExports("bsvm"), "prior_summary") # of another package
  name <- fuzz_pick(sort(grep(makers, exported, value = TRUE)))
  known <- setdiff(names(formals(getExportedValue("bsvm", name))), "...")
  odd <- stats::setNames(rep(list(fuzz_odd), length(known)), known)
  fuzz_call(name, character(), odd, 0.3)
}

# ---- batches --------------------------------------------------------------------------------

# What became of a call: "value", the class of an error of the package's own, "stopped" where a time
# limit or a signal was at work, or "unclassed: " and the message.
fuzz_outcome <- function(text, home, stopping) {
  on.exit(setTimeLimit())
  tryCatch({
    call <- parse(text = text, keep.source = FALSE)
    value <- suppressMessages(suppressWarnings(eval(call, home)))
    if (inherits(value, "bsvm") && grepl("^(bsvm|update)", text)) home$fit <- value
    "value"
  }, bsvm_error = function(e) class(e)[1L], interrupt = function(e) "stopped", error = function(e) {
    if (stopping && grepl("time limit", conditionMessage(e))) return("stopped")
    paste0("unclassed: ", gsub("\n", " ", conditionMessage(e)), " in ",
           deparse1(conditionCall(e)[1L]))
  })
}

# `code` under a time limit, or with a signal on its way, which may come after the call too, but is
# waited for.
fuzz_stopped <- function(code, how) {
  if (how == "limit") setTimeLimit(elapsed = 0.05, transient = TRUE)
  if (how != "signal") return(code)
  sent <- tempfile()
  tryCatch({
    system(sprintf("(sleep 0.05; kill -INT %d; touch %s) >/dev/null 2>&1 &", Sys.getpid(), sent))
    result <- code
    while (!file.exists(sent)) Sys.sleep(0.05)
    Sys.sleep(0.1)
    result
  }, interrupt = function(e) {
    while (!file.exists(sent)) Sys.sleep(0.05)
    "stopped"
  })
}

# New data in `home`, every five calls.
fuzz_renew <- function(home, note) {
  repeat {
    text <- fuzz_data()
    d <- tryCatch(suppressWarnings(eval(parse(text = text))), error = function(e) NULL)
    if (!is.null(d)) break
  }
  note("data", deparse1(text))
  home$d <- d
  home$new <- if (is.data.frame(d)) d[rev(seq_len(nrow(d))), ] else d
  home$n <- NROW(d)
  home$a <- home$w <- seq_len(home$n)
}

# Appends to the file `log` each call before it is made, and what became of it.
fuzz_batch <- function(seed, log, calls = 100L) {
  grDevices::pdf(NULL)
  sink(nullfile())
  note <- function(...) cat(..., "\n", file = log, append = TRUE)
  home <- new.env()
  for (k in seq_len(calls)) {
    set.seed(seed * 1000 + k)
    if (k %% 5L == 1L) fuzz_renew(home, note)
    kind <- stats::runif(1)
    call <- if (kind < 0.08) fuzz_bare()
            else if (is.null(home$fit) || kind < 0.5) fuzz_fit() else fuzz_use(home$fit)
    how <- if (fuzz_chance(0.04)) fuzz_pick(c("limit", "signal")) else ""
    note("call", k, how, deparse1(call))
    started <- sum(proc.time()[1:2])
    result <- fuzz_stopped(fuzz_outcome(call, home, nzchar(how)), how)
    note("end", k, round(sum(proc.time()[1:2]) - started, 2), result)
  }
}

# Batches in processes of their own: a data frame of seed, k, seconds of processor time, outcome
# and call.
fuzz_study <- function(seeds, folder = tempfile("fuzz"), timeout = 900) {
  dir.create(folder, showWarnings = FALSE)
  helpers <- normalizePath(c("helper-fuzz.R", "helper-fuzz-words.R"))
  tables <- lapply(seeds, function(seed) {
    log <- file.path(folder, paste0("seed-", seed, ".log"))
    unlink(log)
    script <- sprintf(".libPaths(%s); library(bsvm); for (f in %s) source(f); fuzz_batch(%d, %s)",
                      deparse1(.libPaths()), deparse1(helpers), seed, deparse1(log))
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(script)),
            stdout = NULL, stderr = paste0(log, ".err"), timeout = timeout)
    fuzz_read(seed, readLines(log))
  })
  do.call(rbind, tables)
}

# A call without an end is where the process died, or was when its time was over.
fuzz_read <- function(seed, lines) {
  calls <- grep("^call ", lines, value = TRUE)
  ends <- strsplit(grep("^end ", lines, value = TRUE), " ")
  lost <- length(calls) - length(ends)
  seconds <- as.numeric(vapply(ends, `[[`, "", 3L))
  outcome <- vapply(ends, function(e) paste(e[-(1:3)], collapse = " "), "")
  data.frame(seed = seed, k = seq_along(calls), seconds = c(seconds, rep(Inf, lost)),
             outcome = c(outcome, rep("crash or hang", lost)), call = calls)
}
