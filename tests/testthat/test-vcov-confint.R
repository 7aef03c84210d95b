bsvm <- paper_bsvm

test_that("vcov is the twin's covariance on the user's scale", {
  d <- binary_data()
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb", control = tight())
  x <- scale(d[c("x1", "x2")])
  twin <- twin_fit(twin_model(cbind(1, x), ifelse(d$y == "yes", 1, -1),
                              list(block_normal(1), block_ridge(2:3))))
  scale <- attr(x, "scaled:scale")
  back <- rbind(c(1, -attr(x, "scaled:center") / scale), cbind(0, diag(1 / scale)))
  expect_close(vcov(fit), back %*% twin$covariance %*% t(back), 1e-8)
  expect_equal(dimnames(vcov(fit)), list(names(fixef(fit)), names(fixef(fit))))
})

test_that("group effects leave the fixed effects' covariance right", {
  ref <- grouped_reference()
  expect_close(vcov(ref$fit), ref$twin$covariance[1:3, 1:3], 1e-8)
})

test_that("more columns than rows: the covariance is the full problem's", {
  case <- wide_case()
  x <- case$x[, -1]
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  fit <- bsvm(x, case$y, standardize = FALSE, engine = "vb", control = tight())
  twin <- twin_fit(case_twin(case))
  sd <- sqrt(diag(twin$covariance))
  expect_close(fixef(fit), twin$mean, 1e-8, scale = sd)
  expect_close(vcov(fit), twin$covariance, 1e-8, scale = outer(sd, sd))
  expect_close(elbo(fit), twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
  limits <- confint(fit, level = 0.9)
  expect_close(limits[, 2] - limits[, 1], 2 * qnorm(0.95) * sd, 1e-7)
})

test_that("confint is mean and normal quantiles, by name or place", {
  fit <- bsvm(y ~ x1 + x2, binary_data(), engine = "vb")
  sd <- sqrt(diag(vcov(fit)))
  limits <- confint(fit)
  expect_equal(colnames(limits), c("2.5 %", "97.5 %"))
  expect_close(limits, cbind(fixef(fit) - qnorm(0.975) * sd, fixef(fit) + qnorm(0.975) * sd),
               tolerances[["rounding"]])
  expect_identical(confint(fit, "x2"), limits["x2", , drop = FALSE])
  expect_identical(confint(fit, 2:3), limits[2:3, ])
  expect_equal(colnames(confint(fit, level = 0.8)), c("10 %", "90 %"))
  expect_refusal(confint(fit, "z"), "argument", c("`parm`", "z"))
  expect_refusal(confint(fit, level = 95), "argument", c("`level`", "95"))
})

test_that("misspelt arguments are refused", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(confint(fit, lvel = 0.5), "argument", c("confint()", "`lvel`"))
  expect_refusal(confint(fit, conf.level = 0.5), "argument", "`level`")
})

test_that("what pseudo-posterior intervals are is said once a session", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  session <- bsvm:::session
  before <- session$pseudo
  on.exit(session$pseudo <- before)
  session$pseudo <- NULL
  expect_message(first <- confint(fit), "likelihood = \"normalized\"", fixed = TRUE,
                 class = "bsvm_message_pseudo")
  expect_no_message_of(second <- confint(fit))
  expect_identical(first, second)
  expect_named(attributes(first), c("dim", "dimnames"))
  session$pseudo <- NULL
  expect_no_message_of(confint(bsvm(y ~ x1, binary_data(),
                                    likelihood = likelihood_hinge(normalized = TRUE))))
})
