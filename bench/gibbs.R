# What the cases of the sampler share.

source(file.path(getOption("bsvm.bench"), "references.R"), local = TRUE)

# One chain on one core.
fit_gibbs <- function(formula, data, prior, draws = 5000L, mixing = TRUE, ...) {
  engine <- engine_gibbs(draws = draws, burnin = draws, chains = 1L, mixing = mixing)
  suppressWarnings(bsvm(formula, data, likelihood = "hinge", prior = prior, engine = engine,
                        control = bsvm_control(threads = 1L), ...), classes = "bsvm_warning")
}

# Whole fits with their own seeds: seconds, and the smallest bulk effective sample size of
# everything whose name matches.
run_chains <- function(fit, names, times = 5L) {
  one <- function(seed) {
    set.seed(seed)
    taken <- seconds(function() chain <<- fit())
    c(seconds = taken, size = smallest_size(posterior::as_draws_array(chain), names))
  }
  chain <- NULL
  vapply(seq_len(times), one, c(seconds = 0, size = 0))
}

# Medians over the chains.
chain_figures <- function(label, chains) {
  name <- function(what) paste0(label, ": ", what)
  rbind(figure(name("whole fit"), stats::median(chains["seconds", ]), "s"),
        figure(name("smallest effective sample size"), stats::median(chains["size", ]), "draws"),
        figure(name("the same a second, burn-in counted"), rate_of(chains), "1/s"))
}

rate_of <- function(chains) stats::median(chains["size", ] / chains["seconds", ])

# Returns "" when the program can be used, else a sentence.
sweep_limit_missing <- function() {
  script <- file.path(getOption("bsvm.bench"), "sweep-limit.sh")
  said <- suppressWarnings(system2("sh", shQuote(script), stdout = TRUE, stderr = TRUE))
  if (is.null(attr(said, "status"))) "" else paste(said, collapse = " ")
}

# Named seconds: draws, algebra, and the n terms of a likelihood: pseudo, normalised; with `entries`
# those of as many missing entries, in the last column of the first rows.
# x (n, p) may have no columns, group may be 0 everywhere.
sweep_limit <- function(y, f, group, x, repeats = 2001L, entries = 0L) {
  file <- tempfile()
  on.exit(unlink(file))
  rows <- cbind(y, f, group, x)[order(group), , drop = FALSE]
  utils::write.table(rows, file, row.names = FALSE, col.names = FALSE)
  said <- system2(blas_cache("sweep-limit"), c(shQuote(file), ncol(x), repeats, entries),
                  stdout = TRUE)
  parts <- do.call(rbind, strsplit(said, ",", fixed = TRUE))
  stats::setNames(as.numeric(parts[, 2L]), parts[, 1L])
}

# Median seconds of a sweep and of the parts of its bound, which take turns. Processor time: a
# whole run is often interrupted, the bound's short calls hardly ever.
sweep_and_bound <- function(spec, bound, turns = 11L) {
  control <- bsvm_control(threads = 1L)
  sweeps <- with(spec$engine$settings, burnin + draws * thin)
  task <- function() suppressWarnings(bsvm_run(spec, control))
  turn <- function(i) {
    parts <- bound()
    c(sweep = processor_seconds(task) / sweeps, parts)
  }
  task()
  turns <- lapply(seq_len(turns), turn)
  apply(do.call(rbind, turns), 2L, stats::median)
}
