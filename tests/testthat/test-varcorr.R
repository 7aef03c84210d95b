ref <- grouped_reference()

test_that("VarCorr is the posterior mean of variance and sd", {
  v <- VarCorr(ref$fit)
  q <- lapply(ref$twin$variances[2:3], `[[`, "variance")
  mean <- vapply(q, function(f) f[["scale"]] / (f[["shape"]] - 1), 0)
  root <- vapply(q, function(f) {
    integrate(function(l) exp(log_inv_gamma(exp(l), f[["shape"]], f[["scale"]]) + 1.5 * l),
              -15, 15, rel.tol = 1e-10)$value
  }, 0)
  expect_close(diag(v$g), mean, 1e-8)
  expect_close(attr(v$g, "stddev"), root, 1e-6)
  frame <- as.data.frame(v)
  expect_named(frame, c("grp", "var1", "var2", "vcov", "sdcor"))
  expect_equal(frame$grp, c("g", "g"))
  expect_equal(frame$var1, c("(Intercept)", "t"))
  expect_true(all(is.na(frame$var2)))
  expect_close(frame$vcov, mean, 1e-8)
})

test_that("a fixed variance is reported as it is", {
  fit <- bsvm(y ~ x1 + (1 | g), ref$data, prior = list(g = prior_ridge(variance = 0.49)),
              engine = "vb")
  expect_equal(as.data.frame(VarCorr(fit))[c("vcov", "sdcor")],
               data.frame(vcov = 0.49, sdcor = 0.7))
})

test_that("no groups, no VarCorr; one level, an infinite mean that is explained", {
  plain <- bsvm(y ~ x1, ref$data, engine = "vb")
  expect_refusal(VarCorr(plain), "unsupported", "VarCorr()")
  one <- suppressWarnings(bsvm(y ~ x1 + (1 | h), transform(ref$data, h = "only"), engine = "vb"))
  expect_true(is.infinite(as.data.frame(VarCorr(one))$vcov))
  expect_output(print(VarCorr(one)), "Too few levels")
})
