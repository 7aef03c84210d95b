test_that("constructors give the core's names and numbers", {
  expect_equal(prior_ridge()[c("name", "parameters")],
               list(name = "ridge", parameters = c(shape = 0.01, scale = 0.01)),
               ignore_attr = TRUE)
  expect_equal(prior_ridge(2, 3)$parameters, c(shape = 2, scale = 3))
  expect_equal(prior_ridge(variance = 2)$parameters, c(variance = 2))
  expect_equal(prior_ridge(variance = 2)$name, "normal")
  expect_identical(prior_ridge(variance = prior_inv_gamma(2, 3)), prior_ridge(2, 3))
  half <- prior_ridge(variance = prior_half_t(4, 0.5))
  expect_equal(half$name, "half_t")
  expect_equal(half$parameters, c(df = 4, scale = 0.5))
  expect_equal(prior_flat()$parameters, c(variance = 1e8))
  expect_false(prior_flat()$penalised)
  expect_true(half$penalised)
})

test_that("priors print in one line", {
  expect_output(print(prior_ridge()), "inverse-gamma\\(0.01, 0.01\\) on the variance")
  expect_output(print(prior_ridge(variance = 2)), "variance 2")
  expect_output(print(prior_flat()), "flat")
  expect_output(print(prior_half_t()), "half-t\\(3, 1\\) on the standard deviation")
})

test_that("nonsense hyper-parameters are refused by name, with what was found", {
  expect_refusal(prior_ridge(shape = -1), "prior", c("`shape`", "-1"))
  expect_refusal(prior_ridge(scale = 0), "prior", c("`scale`", "0"))
  expect_refusal(prior_ridge(variance = -2), "prior", c("`variance`", "-2"))
  expect_refusal(prior_ridge(variance = c(1, 2)), "prior", "`variance`")
  expect_refusal(prior_ridge(variance = Inf), "prior", "Inf")
  expect_refusal(prior_ridge(variance = "big"), "prior", "big")
  expect_refusal(prior_ridge(variance = prior_ridge()), "prior", "bsvm_prior")
  expect_refusal(prior_ridge(shape = 1, variance = 2), "prior", "not both")
  expect_refusal(prior_flat(NA), "prior", "`variance`")
  expect_refusal(prior_inv_gamma(NaN, 1), "prior", "`shape`")
  expect_refusal(prior_half_t(df = 0), "prior", "`df`")
  expect_refusal(prior_half_t(scale = -1), "prior", "`scale`")
})
