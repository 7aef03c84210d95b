bsvm <- paper_bsvm

d <- binary_data()
d$x1[c(3, 9)] <- NA
d$x2[9] <- NaN

test_that("missing values are counted per column and na.action is named", {
  expect_refusal(bsvm(y ~ x1 + x2, d), "missing",
                 c("2 of 60 rows", "`x1` has 2 NA", "`x2` has 1 NaN", "na.action = na.omit"))
  expect_refusal(bsvm(y ~ x1, d, na.action = na.fail), "missing", "`x1` has 2 NA")
  d$y[1] <- NA
  expect_refusal(bsvm(y ~ x3, d), "missing", "`y` has 1 NA")
  g <- grouped_data()
  g$g[4] <- NA
  expect_refusal(bsvm(y ~ x1 + (1 | g), g), "missing", "`g` has 1 NA")
})

test_that("infinite values are counted, and no na.action takes them", {
  d$x3[7] <- Inf
  d$x3[8] <- -Inf
  for (action in list(na.fail, na.omit)) {
    expect_refusal(bsvm(y ~ x3, d, na.action = action), "predictors", "`x3` has 2 Inf")
  }
})

test_that("na.omit leaves the rows out", {
  fit <- bsvm(y ~ x1 + x2, d, na.action = na.omit, engine = "vb")
  expect_identical(fit$posterior, bsvm(y ~ x1 + x2, d[-c(3, 9), ], engine = "vb")$posterior)
  expect_equal(nobs(fit), 58)
  expect_output(print(fit), "2 more excluded for missing values")
  by_name <- bsvm(y ~ x1 + x2, d, na.action = "na.omit", engine = "vb")
  expect_identical(by_name$posterior, fit$posterior)
  expect_refusal(bsvm(y ~ x1, d, na.action = "nonesuch"), "argument", "`na.action`")
})
