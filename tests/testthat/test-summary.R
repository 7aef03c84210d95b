ref <- grouped_reference()

test_that("summary holds coefficients, variances, groups and certificate", {
  s <- summary(ref$fit, level = 0.9)
  expect_s3_class(s, "summary.bsvm")
  expect_close(s$coefficients[, 1:2], cbind(fixef(ref$fit), sqrt(diag(vcov(ref$fit)))),
               tolerances[["rounding"]])
  expect_close(s$coefficients[, 3:4], confint(ref$fit, level = 0.9), tolerances[["rounding"]])
  plug_in <- 1 / vapply(ref$twin$variances[2:3], `[[`, 0, "inverse")
  expect_close(s$variances$plug_in, plug_in, 1e-8)
  expect_close(s$variances$cost, 2 * plug_in, 1e-8)
  expect_equal(s$ngroups, c(g = 12))
  expect_equal(s$n_support, sum(residuals(ref$fit) > 0))
  expect_equal(s$termination, "converged")
  expect_lt(s$gradient, 1e-4)
})

test_that("coefficients are ranked on request", {
  table <- summary(ref$fit, rank = TRUE)$coefficients
  expect_false(is.unsorted(-abs(table[, "Estimate"] / table[, "SD"])))
})

test_that("the printed summary is stable", {
  expect_snapshot_output(print_masked(summary(ref$fit)))
  plain <- bsvm(y ~ x1 + f, binary_data(), engine = "vb")
  expect_snapshot_output(print_masked(summary(plain)))
})
