# Numbers are masked and spaces squeezed, so that the prints are the same on every platform.

test_that("print says model, classes, coefficients and how it ended", {
  ref <- grouped_reference()
  expect_snapshot_output(print_masked(ref$fit))
  plain <- bsvm(y ~ x1 + f, binary_data(), engine = "vb")
  expect_snapshot_output(print_masked(plain))
  expect_output(result <- withVisible(print(plain)), "60 rows")
  expect_false(result$visible)
})

test_that("long lists of coefficients are cut", {
  case <- wide_case()
  fit <- bsvm(case$x[, -1], case$y, engine = "vb")
  expect_output(print(fit, n = 5), "and 35 more coefficients")
})
