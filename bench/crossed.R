# Two crossed grouping factors of 1000 levels each: variational Bayes on 1e5 rows beside glmer
# (stored), and a Gibbs sweep from 1e4 to 1e6 rows of the same 2 x 1000 levels, so that what
# grows is the rows alone: the factorisation of the levels' precision is a constant.

for (part in c("gibbs.R", "crossed-data.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() rbind(vb_figures(crossed_data(1e5)), sweep_figures())

vb_figures <- function(data) {
  fit <- function() {
    bsvm(crossed_formula, data, likelihood = "hinge", prior = papers_prior("a", "b"),
         engine = engine_vb())
  }
  passes <- fit()$passes
  middle <- stats::median(replicate(5L, seconds(fit)))
  glmer <- read_reference("crossed-glmer")[["seconds"]]
  rbind(figure("n = 1e+05: bsvm by VB, whole fit", middle, "s"),
        figure("n = 1e+05: passes", passes, "passes"),
        figure("n = 1e+05: glmer (stored)", glmer, "s"),
        figure("bsvm / glmer", middle / glmer, "ratio", at_most = 1 / 20),
        machine_figure("crossed-glmer"))
}

sweep_figures <- function(sizes = c(1e4, 1e5, 1e6)) {
  sweeps <- vapply(sizes, sweep_seconds, 0)
  rows <- Map(function(n, time) figure(sprintf("n = %.0e: a sweep", n), 1e3 * time, "ms"), sizes,
              sweeps)
  rbind(do.call(rbind, rows), linear_figures(sizes, sweeps))
}

# What a run costs beside its sweeps (copies, the symbolic analysis) cancels in the difference
# of a longer and a shorter run.
sweep_seconds <- function(n, draws = c(5L, 25L), times = 5L) {
  frame <- bsvm_frame(crossed_formula, crossed_data(n))
  run_of <- function(count) {
    spec <- bsvm_spec(frame, papers_prior("a", "b"), "hinge",
                      engine_gibbs(count, count, chains = 1L))
    processor_seconds(function() suppressWarnings(bsvm_run(spec, bsvm_control(threads = 1L))))
  }
  taken <- vapply(draws, function(count) stats::median(replicate(times, run_of(count))), 0)
  diff(taken) / (2 * diff(draws))
}

# The first and the last size fix the line a + b n; the one between says whether it is one.
linear_figures <- function(sizes, sweeps) {
  b <- (sweeps[3L] - sweeps[1L]) / (sizes[3L] - sizes[1L])
  a <- sweeps[1L] - b * sizes[1L]
  rbind(figure("a sweep = a + b n: a", 1e3 * a, "ms"),
        figure("a sweep = a + b n: b", 1e9 * b, "ns a row"),
        figure("n = 1e+05: a sweep / (a + b n)", sweeps[2L] / (a + b * sizes[2L]), "ratio",
               at_most = 1.2),
        figure("exponent of a sweep in n, 1e5 to 1e6", log10(sweeps[3L] / sweeps[2L]), "",
               at_most = 1.1))
}
