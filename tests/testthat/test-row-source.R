# A place for rows, another R process, is added to a copy of the source in one file. Fits whose rows
# live there are the same to the bit, and what needs the rows in the session is refused at once.

# The library of an installed copy. Nothing new is compiled: it has the package's shared object.
install_with_process <- function(folder) {
  tree <- need_source_tree()
  copy <- file.path(folder, "bsvm")
  library <- file.path(folder, "library")
  dir.create(library)
  copy_source(tree, copy, c("DESCRIPTION", "NAMESPACE", "R"))
  file.copy(test_path("fixtures", "row-source-process.R"), file.path(copy, "R"))
  cat("S3method(row_source,row_process)\n", file = file.path(copy, "NAMESPACE"), append = TRUE)
  install_copy(copy, library, "--no-libs")
  file.copy(system.file("libs", package = "bsvm"), file.path(library, "bsvm"), recursive = TRUE)
  library
}

# What `lines` of an R of its own make as `result`, where `place` is the process.
in_process <- function(lines, place = "row_process()") {
  found <- child_result(c(
    sprintf("source(%s)", deparse1(normalizePath(test_path("helper-data.R")))),
    sprintf("place <- bsvm:::%s", place),
    lines,
    "bsvm:::stop_row_process(place)"
  ))
  expect(!found$died, paste(c("The process ended.", found$said), collapse = "\n"))
  found$value
}

# ---- the same fits ------------------------------------------------------------------------------

# All that a fit found, and predictions; and questions asked, if it had to ask.
same_lines <- c(
  "d <- grouped_data(240, 12)",
  "new <- grouped_data(30, 12, seed = 5)",
  "found <- function(fit) list(fit[c('posterior', 'blocks', 'group_blocks', 'elbo', 'trace')],",
  "                            coef(fit), fitted(fit), predict(fit, new, type = 'prob'))",
  "both <- function(...) {",
  "  asked <- place$seen$questions",
  "  here <- found(bsvm(..., data = d))",
  "  stopifnot(place$seen$questions == asked)",
  "  there <- found(bsvm(..., data = d, cluster = place))",
  "  list(here = here, there = there, asked = place$seen$questions - asked)",
  "}",
  "draws <- function(...) {",
  "  one <- function(...) {",
  "    set.seed(1)",
  "    suppressWarnings(bsvm(..., engine = engine_gibbs(12, 4, chains = 2, mixing = FALSE)))",
  "  }",
  "  asked <- place$seen$questions",
  "  here <- one(..., data = d, likelihood = 'hinge')",
  "  there <- one(..., data = d, likelihood = 'hinge', cluster = place)",
  "  list(here = found(here), there = found(there), asked = place$seen$questions - asked)",
  "}",
  "vb <- engine_vb()",
  "gaussian <- engine_gaussian(integrate = FALSE)",
  "result <- list(",
  "  vb = both(y ~ x1 + x2 + f, engine = vb),",
  "  vb_plain = both(y ~ x1 + f, weights = x3, offset = t, engine = engine_vb(FALSE)),",
  "  vb_groups = both(y ~ x1 + x2 + (t | g), engine = vb),",
  "  vb_selects = both(y ~ x1 + x2 + f, prior = prior_laplace_zero(0.3), engine = vb),",
  "  gaussian = both(y ~ x1 + x2 + f, engine = gaussian),",
  "  gaussian_pseudo = both(y ~ x1 + f, likelihood = 'hinge', offset = t, engine = gaussian),",
  "  gaussian_groups = both(y ~ x1 + (1 | g), engine = gaussian),",
  "  gibbs = draws(y ~ x1 + f),",
  "  gibbs_groups = draws(y ~ x1 + (t | g), weights = 1 + (x3 > 1)),",
  "  gibbs_selects = draws(y ~ x1 + x2 + f, prior = prior_spike_slab()),",
  "  default = both(y ~ x1 + x2 + f, subset = x3 > 0.01, weights = 1 + (x3 > 1)))",
  "fit <- bsvm(as.matrix(d[c('x1', 'x2')]), d$y, engine = vb, cluster = place)",
  "result$matrix <- list(here = found(bsvm(as.matrix(d[c('x1', 'x2')]), d$y, engine = vb))[1:3],",
  "                      there = found(update(fit, standardize = TRUE))[1:3], asked = 1)",
  "result <- list(cases = result, held = bsvm:::call_process(place, function() ls(bsvm:::held)))"
)

expect_same_fits <- function() {
  result <- in_process(same_lines)
  for (name in names(result$cases)) {
    case <- result$cases[[name]]
    expect_identical(case$there, case$here, info = name)
    expect_gt(case$asked, 0)
  }
  expect_identical(result$held, character(0))
}

# ---- refusals -----------------------------------------------------------------------------------

refusal_lines <- c(
  "d <- grouped_data(200, 12)",
  "wide <- matrix(rnorm(40 * 60), 40)",
  "gap <- replace(d, 'x1', replace(d$x1, 3, NA))",
  "why <- function(...) tryCatch({ bsvm(..., cluster = place); 'fitted' },",
  "                              bsvm_error_unsupported = conditionMessage)",
  "engines <- setdiff(bsvm:::known_engines(), c('vb', 'gaussian', 'gibbs'))",
  "gibbs <- engine_gibbs(50, 10, chains = 1, mixing = TRUE)",
  "result <- c(",
  "  lapply(setNames(nm = engines), function(name) {",
  "    prior <- switch(name, em = prior_ridge(variance = 2), ecme = prior_lasso())",
  "    formula <- if (name == 'ecm') y ~ gp(x1) else y ~ x1",
  "    why(formula, d, engine = name, prior = prior)",
  "  }),",
  "  list(integrated = why(y ~ x1 + (1 | g), d, engine = 'gaussian'),",
  "       mixing = why(y ~ x1, d, engine = gibbs),",
  "       spread = why(y ~ x1, d, engine = engine_gibbs(50, 10, chains = 1),",
  "                    likelihood = likelihood_hinge(gamma = prior_gamma(2, 2), gamma0 = 0.1)),",
  "       factors = why(y ~ x1 + (1 | g) + (1 | f), d, engine = 'vb'),",
  "       missing = why(y ~ x1 + x2, gap, missing = 'normal', engine = 'vb'),",
  "       wide = why(wide, d$y[1:40], prior = prior_laplace_zero(0.3), engine = 'vb'),",
  "       asked = place$seen$questions))"
)

expect_refusals <- function() {
  result <- in_process(refusal_lines)
  expect_identical(result$asked, 0)
  expect_match(result$mixing, "mixing = TRUE) needs all rows in this R session", fixed = TRUE)
  for (name in setdiff(names(result), c("asked", "mixing"))) {
    expect_match(result[[name]], "`cluster`", fixed = TRUE, info = name)
  }
  for (name in c("slice", "em", "ecme", "ecm", "map")) {
    expect_match(result[[name]], paste0("engine_", name, "() needs all rows in this R session"),
                 fixed = TRUE)
  }
  expect_match(result$integrated, "Use engine_gaussian(integrate = FALSE)", fixed = TRUE)
}

# ---- a process that dies, and Ctrl-C ------------------------------------------------------------

# An R session after a failed fit: class of the error, and a fit here and in another process.
dead_lines <- c(
  "d <- binary_data()",
  "error <- tryCatch(bsvm(y ~ x1 + x2, d, engine = 'vb', cluster = place), error = identity)",
  "again <- bsvm:::row_process()",
  "fit <- bsvm(y ~ x1 + x2, d, engine = 'vb', cluster = again)",
  "here <- bsvm(y ~ x1 + x2, d, engine = 'vb')",
  "bsvm:::stop_row_process(again)",
  "result <- list(class = class(error), same = identical(coef(fit), coef(here)))"
)

expect_classed_death <- function() {
  # units, open, the sums of two passes, and in between settle and keep
  for (question in c(1, 2, 3, 6)) {
    result <- in_process(dead_lines, sprintf("row_process(dies_at = %d)", question))
    expect_identical(result$class[1:2], c("bsvm_error_cluster", "bsvm_error"))
    expect_true(result$same)
  }
}

interrupted_script <- function(folder) {
  c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    "library(bsvm)",
    sprintf("setwd(%s)", deparse1(folder)),
    "place <- bsvm:::row_process()",
    "set.seed(1)",
    "x <- matrix(rnorm(1.2e5), ncol = 60)",
    "y <- x[, 1] + rnorm(nrow(x)) > 0",
    "warned <- character()",
    "writeLines(as.character(Sys.getpid()), 'partial')",
    "file.rename('partial', 'pid')",
    "fit <- withCallingHandlers(",
    "  bsvm(x, y, engine = engine_vb(accelerate = FALSE), cluster = place,",
    "       control = bsvm_control(tol = 1e-300, max_passes = 1e6L)),",
    "  warning = function(w) { warned <<- class(w); invokeRestart('muffleWarning') })",
    "ended <- as.numeric(Sys.time())",
    "small <- function(...) coef(bsvm(x[1:100, 1:2], y[1:100], engine = 'vb', ...))",
    "saveRDS(list(ended = ended, termination = fit$termination, warned = warned,",
    "             finite = all(is.finite(coef(fit))) && is.finite(elbo(fit)),",
    "             same = identical(small(cluster = place), small())), 'partial')",
    "bsvm:::stop_row_process(place)",
    "file.rename('partial', 'result')"
  )
}

expect_interruptible <- function() {
  result <- expect_prompt_stop(interrupted_script, after = 3)
  if (is.null(result)) return()
  expect_identical(result$termination, "interrupted")
  expect_true(result$finite)
  expect_true(result$same)
}

test_that("rows in another R process are fitted as rows in this one, or refused", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- new_folder("process")
  old <- .libPaths()
  on.exit({
    .libPaths(old)
    unlink(folder, recursive = TRUE)
  })
  .libPaths(c(install_with_process(folder), old))
  expect_same_fits()
  expect_refusals()
  expect_classed_death()
  expect_interruptible()
})

test_that("an answer to another question is an error, as is one that is no answer", {
  question <- list(what = "units")
  asked <- function(ask) bsvm:::new_row_source(ask)$ask(question)
  expect_identical(asked(function(q) list(number = q$number, answer = q$what)), "units")
  for (ask in list(function(q) list(number = q$number - 1, answer = 4), function(q) NULL,
                   function(q) 4, function(q) stop("gone"))) {
    expect_s3_class(asked(ask), "bsvm_error_cluster")
  }
})

test_that("answers that do not fit the model are errors, and an interrupted one ends the fit", {
  d <- grouped_data()
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + (1 | g), d), engine = "vb", likelihood = "hinge")
  fit_by <- function(ask) {
    source <- bsvm:::new_row_source(ask)
    bsvm:::hold_rows("test", spec$problem, spec$model)
    on.exit(bsvm:::drop_rows("test"))
    problem <- bsvm:::problem_elsewhere(spec$problem, source)
    bsvm:::with_core_conditions(
      bsvm:::core_fit(problem, spec$model, core_options(), bsvm:::core_ask_rows(source$ask))
    )
  }
  answer <- function(question) bsvm:::answer_rows("test", question)
  wrong <- function(what, change) {
    function(question) {
      found <- answer(question)
      if (question$what == what) found$answer <- change(found$answer)
      found
    }
  }
  expect_identical(fit_by(answer), bsvm:::core_fit(spec$problem, spec$model, core_options()))
  for (what in c("sums", "settle")) {
    expect_refusal(fit_by(wrong(what, function(x) c(x, 1))), "unsupported", "not of the size")
    expect_refusal(fit_by(wrong(what, function(x) "none")), "unsupported", "not of the size")
  }
  expect_refusal(fit_by(wrong("sums", function(x) simpleError("lost"))), "cluster", "lost")
  stop_here <- function(x) stop(structure(list(), class = c("interrupt", "condition")))
  expect_s3_class(tryCatch(fit_by(wrong("units", stop_here)), interrupt = identity),
                  "bsvm_error_interrupted")
  passes <- 0
  interrupted <- fit_by(wrong("sums", function(x) {
    if ((passes <<- passes + 1) > 4) stop_here()
    x
  }))
  expect_identical(interrupted$termination, "interrupted")
  expect_identical(interrupted$passes, 4L)
  expect_finite(interrupted[c("mean", "covariance", "bound")])
})

# R looks for a signal now and then: this one is seen somewhere after the answer was given, or while the
# core makes the next question, whose numbers need memory.
signalled_lines <- c(
  "set.seed(1)",
  "x <- matrix(rnorm(300 * 300), 300)",
  "d <- data.frame(y = ifelse(x[, 1] + rnorm(300) > 0, 'b', 'a'), x)",
  "left <- 0",
  "registerS3method('row_source', 'signalled', function(cluster, problem, model) {",
  "  bsvm:::hold_rows('test', problem, model)",
  "  bsvm:::new_row_source(function(question) {",
  "    found <- bsvm:::answer_rows('test', question)",
  "    if (question$what == 'sums' && (left <<- left - 1) == 0) tools::pskill(Sys.getpid(), tools::SIGINT)",
  "    found",
  "  })",
  "}, asNamespace('bsvm'))",
  "place <- structure(list(), class = 'signalled')",
  "control <- bsvm_control(tol = 1e-300)",
  "result <- vapply(1:100, function(k) {",
  "  left <<- 3",
  "  for (wait in seq_len(17 * k)) list(wait)",
  "  bsvm(y ~ ., d, engine = engine_vb(accelerate = FALSE), likelihood = 'hinge', cluster = place,",
  "       control = control)$termination",
  "}, '')"
)

test_that("Ctrl-C between two answers ends a fit as Ctrl-C in one does", {
  skip_on_cran()
  skip_on_os("windows")
  found <- child_result(signalled_lines, 600)
  expect_identical(found$value, rep("interrupted", 100))
})

test_that("handlers of the caller see what a place warns of, and may leave the fit", {
  d <- grouped_data()
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + (1 | g), d), engine = "vb", likelihood = "hinge")
  bsvm:::hold_rows("test", spec$problem, spec$model)
  on.exit(bsvm:::drop_rows("test"), add = TRUE)
  source <- bsvm:::new_row_source(function(question) {
    if (question$what == "keep") warning("slow")
    bsvm:::answer_rows("test", question)
  })
  problem <- bsvm:::problem_elsewhere(spec$problem, source)
  fit <- function(problem, rows) bsvm:::core_fit(problem, spec$model, core_options(), rows)
  asked <- function() fit(problem, bsvm:::core_ask_rows(source$ask))
  count <- 0
  found <- withCallingHandlers(asked(), warning = function(w) {
    count <<- count + 1
    tryInvokeRestart("muffleWarning")
  })
  expect_gt(count, 5)
  expect_identical(found, fit(spec$problem, NULL))
  expect_identical(tryCatch(asked(), warning = conditionMessage), "slow")
  expect_identical(suppressWarnings(asked()), found)
})

test_that("only a place with a row source can be given", {
  d <- binary_data()
  for (place in list(4, "here", list(), structure(list(), class = "cluster"))) {
    expect_refusal(bsvm(y ~ x1, d, cluster = place), "argument", "`cluster` must be NULL")
    expect_refusal(bsvm(cbind(d$x1), d$y, cluster = place), "argument", "`cluster` must be NULL")
  }
})
