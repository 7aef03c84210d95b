# Two threads against one: the spam rows twenty times, whole fits from x and y, pairs that
# take turns.

spam_rows <- function(times = 20L) {
  here <- new.env()
  utils::data("spam", package = "kernlab", envir = here)
  type <- match("type", names(here$spam))
  rows <- rep(seq_len(nrow(here$spam)), times)
  list(x = scale(here$spam[-type])[rows, ], y = here$spam$type[rows])
}

run <- function() {
  if (!installed("kernlab")) return(skipped("threads", "The package kernlab is needed."))
  if (parallel::detectCores() < 2L) return(skipped("threads", "Two cores are needed."))
  rows <- spam_rows()
  pair_figures(rows)
}

pair_figures <- function(rows, pairs = 21L) {
  fit_with <- function(threads) {
    bsvm(rows$x, rows$y, likelihood = "hinge", prior = papers_prior(), engine = engine_vb(),
         standardize = FALSE, control = bsvm_control(threads = threads))
  }
  parts <- c("posterior", "link", "elbo", "trace")
  one <- fit_with(1L)
  same <- identical(one[parts], fit_with(2L)[parts])
  times <- interleaved(list(one = function() fit_with(1L), two = function() fit_with(2L)), pairs)
  ratios <- times[, "one"] / times[, "two"]
  rbind(figure("pairs", pairs, "pairs", at_least = 21),
        figure("whole fit, one thread", stats::median(times[, "one"]), "s"),
        figure("one thread, a pass", 1e3 * stats::median(times[, "one"]) / one$passes, "ms"),
        figure("one thread / two, median of the pairs", stats::median(ratios), "ratio",
               at_least = 1.7),
        figure("one thread / two, quartiles", quartiles(ratios), "ratio"),
        figure("identical results (1 = yes)", as.numeric(same), "", at_least = 1))
}

quartiles <- function(ratios) {
  paste(vapply(stats::quantile(ratios, c(0.25, 0.75)), show, ""), collapse = " to ")
}
