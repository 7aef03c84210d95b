# Numbers are masked and spaces squeezed, so that the prints are the same on every platform.

bsvm <- paper_bsvm

test_that("print says model, classes, coefficients and how it ended", {
  ref <- grouped_reference()
  expect_snapshot_output(print_masked(ref$fit))
  plain <- bsvm(y ~ x1 + f, binary_data(), engine = "vb")
  expect_snapshot_output(print_masked(plain))
  averaged <- bsvm(y ~ x1 + (1 | g), grouped_data(), engine = "gaussian")
  expect_snapshot_output(print_masked(averaged))
  normalised <- bsvm(y ~ x1 + (t | g), grouped_data(), engine = "map",
                     likelihood = likelihood_hinge(normalized = TRUE))
  expect_snapshot_output(print_masked(normalised))
  expect_output(result <- withVisible(print(plain)), "60 rows")
  expect_false(result$visible)
})

test_that("long lists of coefficients are cut", {
  case <- wide_case()
  fit <- bsvm(case$x[, -1], case$y, engine = "vb")
  expect_output(print(fit, n = 5), "and 35 more coefficients")
})

test_that("how much to print is a number, or Inf for all", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(print(fit, digits = "a"), "argument", "`digits`")
  expect_refusal(print(fit, digits = 23), "argument", "at most 22")
  expect_refusal(print(fit, n = "a"), "argument", "`n`")
  expect_output(print(fit, n = Inf), "x1")
})
