bsvm <- paper_bsvm

test_that("draws have no bound", {
  fit <- gibbs_fit(y ~ x1, binary_data(), draws = 10)
  expect_refusal(elbo(fit), "unsupported", c("engine_gibbs()", "draws", "engine_gaussian()"))
})

test_that("elbo is one number with every constant", {
  ref <- grouped_reference()
  expect_length(elbo(ref$fit), 1)
  expect_close(elbo(ref$fit), ref$twin$bound, tolerances[["bound"]], abs(ref$twin$bound))
  shifted <- bsvm(y ~ x1 + (1 | g), ref$data, engine = "vb",
                  prior = list(g = prior_ridge(shape = 2, scale = 3)), control = tight())
  x <- ref$x[, 1:2]
  twin <- twin_fit(twin_model(x, ifelse(ref$data$y == "yes", 1, -1), list(block_normal(1:2)),
                              group = as.integer(ref$data$g),
                              group_blocks = list(block_ridge(1, 2, 3))))
  expect_close(elbo(shifted), twin$bound, tolerances[["bound"]], abs(twin$bound))
})

test_that("misspelt arguments are refused", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(elbo(fit, nix = 1), "argument", c("elbo()", "`nix`"))
})
