# What the choice of the default engine rests on: structures and sizes, each fitted by
# engine_gaussian() and engine_slice() as they come (draws = NULL), under the default likelihood and
# priors. Processor seconds of the whole fit, and errors against long chains of the exact posterior.
# An engine that takes over three minutes is stopped.
# Rscript bench/default-engine.R [case ...] writes bench/results/default-engine.csv, ten minutes in
# all.

file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
options(bsvm.bench = dirname(normalizePath(file)), width = 120L)
suppressPackageStartupMessages(library(bsvm))
for (part in c("figures.R", "timing.R", "machine.R", "default-engine-cases.R"))
  source(file.path(getOption("bsvm.bench"), part))

patience <- 180       # seconds of an engine
long <- 4000L         # effective draws of the reference, about

fit_with <- function(case, engine) {
  set.seed(1)
  bsvm(case$formula, case$data(), engine = engine, control = bsvm_control(verbose = FALSE))
}

# Means and sds of coefficients and of effects, means of variances.
moments <- function(fit) {
  variance <- if (length(fit$group_blocks) > 0L)
    unlist(lapply(VarCorr(fit), function(v) stats::setNames(diag(v), rownames(v))))
  effects <- if (length(fit$group_blocks) > 0L) suppressMessages(ranef(fit))
  list(mean = fixef(fit), sd = sqrt(diag(vcov(fit))), variance = variance,
       effects = numbers(effects), effects_sd = numbers(lapply(effects, attr, "sd")))
}

numbers <- function(tables) {
  unlist(lapply(tables, function(u) t(as.matrix(u))), use.names = FALSE)
}

# In a process of its own, so that it can be stopped; NULL where it was.
within_patience <- function(task) {
  job <- parallel::mcparallel(task())
  out <- parallel::mccollect(job, wait = FALSE, timeout = patience)
  if (is.null(out)) {
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
  }
  if (inherits(out[[1L]], "try-error")) stop(out[[1L]])
  out[[1L]]
}

run_engine <- function(case, engine) {
  within_patience(function() {
    warned <- character()
    fit <- NULL
    taken <- processor_seconds(function() {
      fit <<- withCallingHandlers(fit_with(case, engine), warning = function(w) {
        warned <<- c(warned, class(w)[1L])
        invokeRestart("muffleWarning")
      })
    })
    draws <- if (is.null(fit$sampling)) NA_real_ else fit$sampling$draws
    c(moments(fit), list(seconds = taken, draws = draws, warned = toString(unique(warned))))
  })
}

# As many draws as make the smallest effective size about `long`, going by those of the short run.
reference <- function(case, short) {
  draws <- min(20000, ceiling(short$draws * long / 450))
  engine <- engine_slice(draws = draws, burnin = 1000, keep_effects = FALSE)
  set.seed(77)
  fit <- suppressWarnings(bsvm(case$formula, case$data(), engine = engine,
                               control = bsvm_control(verbose = FALSE)))
  table <- suppressWarnings(summary(fit))
  size <- min(rbind(table$coefficients, table$variance_draws)[, "Bulk_ESS"], na.rm = TRUE)
  c(moments(fit), list(size = size))
}

largest <- function(x) if (length(x) > 0L) max(abs(x)) else NA_real_

errors <- function(seen, exact) {
  data.frame(mean = largest((seen$mean - exact$mean) / exact$sd),
             sd = largest(seen$sd / exact$sd - 1),
             variance = largest(seen$variance / exact$variance - 1),
             effect = largest((seen$effects - exact$effects) / exact$effects_sd),
             effect_sd = largest(seen$effects_sd / exact$effects_sd - 1))
}

# glmer's or gam's seconds; NA where there is none to compare with.
other_seconds <- function(case) {
  d <- case$data()
  task <- if (!is.null(case$gam))
            function() mgcv::gam(case$gam, stats::binomial(), d, method = "REML")
          else if (grepl("|", deparse1(case$formula), fixed = TRUE))
            function() lme4::glmer(case$formula, d, stats::binomial())
  if (is.null(task)) return(NA_real_)
  s <- mgcv::s
  quiet <- function() suppressMessages(suppressWarnings(task()))
  if (nrow(d) < 3000) quiet()
  processor_seconds(quiet)
}

no_errors <- data.frame(mean = NA, sd = NA, variance = NA, effect = NA, effect_sd = NA)

run_choice <- function(name) {
  message(name, " ...")
  case <- choice_cases[[name]]
  if (!is.null(case$package) && !installed(case$package)) return(invisible())
  d <- case$data()
  seen <- list(engine_gaussian = run_engine(case, engine_gaussian()),
               engine_slice = run_engine(case, engine_slice()))
  exact <- reference(case, seen$engine_slice)
  other <- other_seconds(case)
  rows <- lapply(names(seen), function(engine) {
    of <- seen[[engine]]
    stopped <- is.null(of)
    data.frame(case = name, structure = case$structure, rows = nrow(d), engine = engine,
               seconds = if (stopped) NA else of$seconds, glmer_or_gam = other,
               draws = if (stopped) NA else of$draws,
               if (stopped) no_errors else errors(of, exact), reference_size = exact$size,
               warned = if (stopped) "stopped" else of$warned)
  })
  store_choice(name, do.call(rbind, rows))
}

store_choice <- function(name, rows) {
  number <- vapply(rows, is.double, NA)
  rows[number] <- lapply(rows[number], signif, digits = 3L)
  rows <- data.frame(rows, date = format(Sys.Date()), commit = commit(), processor = processor())
  path <- results_file("default-engine.csv")
  kept <- if (file.exists(path)) utils::read.csv(path)
  kept <- kept[kept$case != name, ]
  utils::write.csv(rbind(kept, rows), path, row.names = FALSE)
  print(rows[c("case", "engine", "seconds", "glmer_or_gam", "mean", "sd", "variance", "effect",
               "effect_sd", "warned")], row.names = FALSE)
}

# The first fit of a session loads what later ones have.
suppressWarnings(fit_with(choice_cases[["(1 | g) 30 x 10"]], engine_slice(draws = 20, burnin = 20)))
chosen <- commandArgs(trailingOnly = TRUE)
for (name in if (length(chosen)) chosen else names(choice_cases)) run_choice(name)
