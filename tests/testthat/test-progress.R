# When progress is told. No test here asserts a time: thresholds and clocks are given.

# Every run takes "over 10 seconds", and every line is told.
told_of <- function(code) {
  old <- options(bsvm.progress_after = 0, bsvm.progress_every = 0)
  on.exit(options(old))
  capture.output(invisible(code), type = "message")
}

lines <- "^bsvm, [0-9]+ s: .+, about [0-9]+ s left$"

test_that("all engines tell how far they are and how long it will take", {
  d <- binary_data()
  for (engine in c("vb", "gaussian", "gibbs", "slice")) {
    shown <- told_of(unchecked(bsvm(y ~ x1 + x2, d, engine = engine,
                                    likelihood = likelihood_hinge(),
                                    prior = prior_ridge(variance = prior_half_t()))))
    expect_true(any(grepl(lines, shown)), info = engine)
  }
  shown <- told_of(bsvm(y ~ x1 + x2, d, engine = "em", likelihood = likelihood_hinge(),
                        prior = prior_ridge(variance = 1)))
  expect_true(any(grepl(lines, shown)))
  g <- grouped_data()
  shown <- told_of(bsvm(y ~ x1 + (1 | g), g, engine = "gaussian", likelihood = likelihood_hinge()))
  expect_true(any(grepl(lines, shown)))
})

test_that("short runs say nothing, `FALSE` never does, `TRUE` always", {
  d <- binary_data()
  fit <- function(verbose) {
    bsvm(y ~ x1 + x2, d, engine = "vb", likelihood = likelihood_hinge(),
         control = bsvm_control(verbose = verbose))
  }
  expect_null(bsvm_control()$verbose)
  expect_identical(capture.output(invisible(fit(NULL)), type = "message"), character(0))
  expect_identical(told_of(fit(FALSE)), character(0))
  expect_match(capture.output(invisible(fit(TRUE)), type = "message")[1L], "^bsvm, ")
  expect_output(print(bsvm_control()), "verbose NULL")
  expect_refusal(bsvm_control(verbose = "yes"), "argument", c("`verbose`", "NULL"))
  expect_refusal(bsvm_control(verbose = NA), "argument", "`verbose`")
})

# What a log has of tasks that end at these times.
lines_at <- function(times, n) {
  now <- 0
  out <- textConnection(NULL, "w", local = TRUE)
  on.exit(close(out))
  tell <- progress_teller(n, NULL, "fits", clock = function() now, out = out)
  for (k in seq_along(times)) {
    now <- times[k]
    tell(k)
  }
  tell(NULL)
  textConnectionValue(out)
}

test_that("a log gets a line every ten seconds, from when it is known to take over ten", {
  expect_length(lines_at(seq(0.5, 5, 0.5), 10), 0L)
  slow <- lines_at(1:40, 40)
  expect_length(slow, 4L)
  expect_identical(slow[1:2], c("bsvm, 3 s: 3 of 40 fits, about 37 s left",
                                "bsvm, 13 s: 13 of 40 fits, about 27 s left"))
  expect_match(lines_at(c(0.1, 0.2, 11), 3), "11 s: 3 of 3")
  silent <- progress_teller(3, FALSE, "fits", clock = function() 100, out = stop("never"))
  expect_silent(silent(2))
})

test_that("studies tell by the same rule", {
  d <- binary_data()
  fit <- bsvm(y ~ x1, d, engine = "vb", likelihood = likelihood_hinge())
  study <- function(...) with_seed(1, holdout(list(a = fit), d, times = 4, metrics = "ber", ...))
  expect_match(told_of(study()), "of 4 fits, about [0-9]+ s left", all = FALSE)
  expect_identical(told_of(study(progress = FALSE)), character(0))
  expect_identical(capture.output(invisible(study()), type = "message"), character(0))
  expect_refusal(study(progress = "bar"), "argument", "`progress`")
})

test_that("what has no known end is counted", {
  expect_identical(lines_at(c(1, 9, 11, 12, 22), NA),
                   c("bsvm, 11 s: 3 fits", "bsvm, 22 s: 5 fits"))
})
