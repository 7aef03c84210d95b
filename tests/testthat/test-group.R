g <- grouped_data()

test_that("one level is fitted with a warning, one row a level without ado", {
  expect_warning(one <- bsvm(y ~ x1 + (1 | h), transform(g, h = "only"), engine = "vb"),
                 class = "bsvm_warning_group")
  expect_finite(fixef(one))
  expect_finite(ranef(one)$h)
  own <- bsvm(y ~ x1 + (1 | h), transform(g, h = seq_along(y)), engine = "vb")
  expect_valid_fit(own)
  expect_equal(nrow(ranef(own)$h), nrow(g))
})

test_that("levels are ordered as factors order them", {
  numbers <- transform(g, h = c(10, 9, 100)[1 + seq_along(y) %% 3])
  expect_identical(rownames(ranef(bsvm(y ~ x1 + (1 | h), numbers, engine = "vb"))$h),
                   c("9", "10", "100"))
})

test_that("crossed variables make one factor", {
  fit <- bsvm(y ~ x1 + (1 | g:f), g, engine = "vb")
  made <- bsvm(y ~ x1 + (1 | h), transform(g, h = paste(g, f, sep = ":")), engine = "vb")
  expect_same_posterior(fit, made, tolerances[["invariance"]])
  expect_close(predict(fit, g, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("a grouping factor may be made in the formula", {
  numbers <- transform(g, h = as.integer(g))
  fit <- bsvm(y ~ x1 + (1 | factor(h)), numbers, engine = "vb")
  expect_named(ranef(fit), "factor(h)")
  expect_same_posterior(fit, bsvm(y ~ x1 + (1 | h), numbers, engine = "vb"),
                        tolerances[["invariance"]])
  expect_close(predict(fit, numbers, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("factors as multipliers are rebuilt for new rows", {
  fit <- bsvm(y ~ x1 + (0 + f || g), g, engine = "vb")
  expect_close(predict(fit, g[9:3, ], type = "link"), fitted(fit)[9:3], tolerances[["rounding"]])
})

test_that("what is no factor is refused", {
  g$pair <- cbind(1, seq_len(nrow(g)))
  expect_refusal(bsvm(y ~ x1 + (1 | pair), g), "group", c("`pair`", "vector or a factor"))
  for (group in c("1", "-g", "x2 - x3")) {
    formula <- stats::as.formula(sprintf("y ~ x1 + (1 | %s)", group))
    expect_refusal(bsvm(formula, g), "group", c(sprintf("`%s`", group), "factor(id)"))
  }
})
