bsvm <- paper_bsvm

test_that("a control object holds checked values", {
  control <- bsvm_control(threads = 2, tol = 1e-6, max_passes = 10, verbose = FALSE)
  expect_s3_class(control, "bsvm_control")
  expect_identical(control$threads, 2L)
  expect_identical(control$max_passes, 10L)
  expect_identical(bsvm_control()$threads, 1L)
  expect_output(print(control), "tol 1e-06")
})

test_that("nonsense is refused by name", {
  expect_refusal(bsvm_control(threads = 0), "argument", "`threads`")
  expect_refusal(bsvm_control(tol = -1), "argument", "`tol`")
  expect_refusal(bsvm_control(max_passes = 1.5), "argument", "`max_passes`")
  expect_refusal(bsvm_control(verbose = NA), "argument", "`verbose`")
  expect_refusal(bsvm_control(start = "zero"), "argument", "`start`")
  expect_refusal(bsvm_control(start = c(1, NA)), "argument", "`start`")
  d <- binary_data()
  expect_refusal(bsvm(y ~ x1, d, control = list(tol = 1)), "argument", "`control`")
  expect_refusal(bsvm(y ~ x1, d, control = bsvm_control(start = 1:7)), "argument", "`start`")
})

test_that("a smaller tolerance runs longer, and the limit on passes is a warning", {
  d <- binary_data()
  passes <- vapply(c(1e-2, 1e-12), function(tol) {
    bsvm(y ~ x1 + x2, d, engine = "vb", control = bsvm_control(tol = tol))$passes
  }, 0)
  expect_lt(passes[1], passes[2])
  expect_warning(
    fit <- bsvm(y ~ x1 + x2, d, engine = "vb", control = bsvm_control(max_passes = 2)),
    class = "bsvm_warning_convergence"
  )
  expect_equal(fit$termination, "pass_limit")
  expect_equal(fit$passes, 2)
  expect_valid_fit(fit)
  expect_output(print(fit), "not converged")
})

test_that("the limit on passes is a warning by engines of several stages too", {
  d <- grouped_data()
  for (engine in c("gaussian", "map")) {
    fit <- expect_warned(
      bsvm(y ~ x1 + x2, d, engine = engine, control = bsvm_control(max_passes = 5)), "convergence"
    )
    expect_equal(fit$termination, "pass_limit")
    expect_finite(coef(fit))
  }
})

test_that("one pass is too few to know a bound", {
  expect_refusal(bsvm_control(max_passes = 1), "argument", c("`max_passes`", "2", "1"))
})

test_that("a former fit is a start that saves passes and ends at the same point", {
  d <- binary_data()
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb")
  again <- bsvm(y ~ x1 + x2, d, engine = "vb", control = bsvm_control(start = fit))
  expect_same_posterior(again, fit, 1e-4)
  expect_lte(again$passes, fit$passes)
})

test_that("progress is shown when asked for, and only then", {
  d <- binary_data()
  quiet <- capture.output(bsvm(y ~ x1, d, engine = "vb", control = bsvm_control(verbose = FALSE)))
  expect_false(any(grepl("bound", quiet[seq_len(max(0, length(quiet) - 20))])))
  expect_silent(fit <- bsvm(y ~ x1, d, engine = "vb", control = bsvm_control(verbose = FALSE)))
})
