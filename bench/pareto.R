# Pareto k of every approximate engine on every study by check_approximation(), which is of the
# weights it corrects with, and whether the check warns.

approximations <- list(vb = engine_vb(), gaussian = engine_gaussian(), map = engine_map())

pareto_figures <- function() {
  seen <- pareto_table()
  k <- sprintf("%s, %s: engine_%s(), Pareto k", seen$study, seen$likelihood, seen$engine)
  rows <- lapply(seq_len(nrow(seen)), function(i) {
    row <- figure(k[i], seen$k[i], if (seen$warned[i]) "warned" else "no warning")
    row
  })
  do.call(rbind, rows)
}

# study, likelihood, engine, k, draws the weights are worth, warned, what the check says.
pareto_table <- function() {
  cases <- expand.grid(engine = names(approximations), likelihood = names(likelihoods),
                       study = names(studies), stringsAsFactors = FALSE)
  cases <- cases[cases$engine != "vb" | cases$likelihood == "pseudo", ]
  rows <- Map(pareto_row, cases$study, cases$likelihood, cases$engine)
  do.call(rbind, unname(rows))
}

# No row where there is a mode alone. The check finds the data again through `study`.
pareto_row <- function(name, likelihood, engine) {
  study <- studies[[name]]()
  fit <- fit_study(study, likelihood, approximations[[engine]])
  if (isTRUE(fit$posterior$point)) return(NULL)
  set.seed(1L)
  said <- ""
  check <- withCallingHandlers(check_approximation(fit), bsvm_warning_approximation = function(w) {
    said <<- conditionMessage(w)
    invokeRestart("muffleWarning")
  })
  data.frame(study = name, likelihood, engine, k = check$pareto_k, worth = check$ess,
             warned = nzchar(said), said)
}
