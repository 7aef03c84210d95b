test_that("constructors give the core's names and numbers", {
  expect_equal(prior_ridge()[c("name", "parameters")],
               list(name = "half_t", parameters = c(df = 3, scale = 1)), ignore_attr = TRUE)
  expect_identical(prior_ridge(), prior_ridge(variance = prior_half_t()))
  expect_equal(prior_ridge(0.01, 0.01)[c("name", "parameters")],
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
  expect_output(print(prior_ridge()), "half-t\\(3, 1\\) on the standard deviation")
  expect_output(print(prior_ridge(0.01)), "inverse-gamma\\(0.01, 0.01\\) on the variance")
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
  expect_refusal(prior_ridge(variance = prior_ridge(0.01)), "prior", "bsvm_prior")
  expect_refusal(prior_ridge(shape = 1, variance = 2), "prior", "not both")
  expect_refusal(prior_flat(NA), "prior", "`variance`")
  expect_refusal(prior_inv_gamma(NaN, 1), "prior", "`shape`")
  expect_refusal(prior_half_t(df = 0), "prior", "`df`")
  expect_refusal(prior_half_t(scale = -1), "prior", "`scale`")
})

# ---- scales that were not given ----------------------------------------------------------------

normalised <- likelihood_hinge(normalized = TRUE)
under <- function(prior, likelihood) bsvm:::scale_prior(prior, likelihood)

test_that("without `scale` the laws have 0.01 and 1 under the pseudo-likelihood", {
  expect_equal(prior_inv_gamma()$parameters, c(shape = 0.01, scale = 0.01))
  expect_equal(prior_inv_gamma(2)$parameters, c(shape = 2, scale = 0.01))
  expect_equal(prior_half_t()$parameters, c(df = 3, scale = 1))
  for (prior in list(prior_ridge(0.01), prior_ridge(), prior_flat(),
                     prior_ridge(variance = 2))) {
    expect_identical(under(prior, likelihood_hinge()), prior)
  }
})

test_that("under the normalised likelihood they are a sixteenth and a quarter, and say so", {
  ridge <- under(prior_ridge(0.01), normalised)
  expect_equal(ridge$parameters, c(shape = 0.01, scale = 0.01 / 16))
  expect_identical(ridge$label, "ridge, inverse-gamma(0.01, 0.000625) on the variance")
  expect_equal(under(prior_ridge(3), normalised)$parameters, c(shape = 3, scale = 0.01 / 16))
  expect_identical(under(prior_ridge(variance = prior_inv_gamma(0.01)), normalised), ridge)
  half <- under(prior_ridge(variance = prior_half_t(5)), normalised)
  expect_equal(half$parameters, c(df = 5, scale = 1 / 4))
  expect_identical(half$label, "ridge, half-t(5, 0.25) on the standard deviation")
})

test_that("what was given stays, as do flat priors and fixed variances", {
  for (prior in list(prior_ridge(0.01, 0.01), prior_ridge(scale = 0.01), prior_flat(),
                     prior_ridge(variance = prior_half_t(3, 1)), prior_ridge(variance = 0.7))) {
    expect_identical(under(prior, normalised), prior)
  }
})

test_that("a prior is resolved once", {
  once <- under(prior_ridge(0.01), normalised)
  expect_identical(under(once, normalised), once)
})

test_that("a model's priors follow its likelihood, whoever chose them", {
  d <- data.frame(y = rep(c(FALSE, TRUE), 60), x = rep(seq(-1, 1, length.out = 30), 4),
                  g = rep(letters[1:6], each = 20))
  assigned <- function(formula, prior = NULL, likelihood = normalised) {
    frame <- bsvm_frame(formula, d)
    bsvm:::scale_priors(bsvm:::assign_priors(frame, prior), likelihood)
  }
  slopes <- assigned(y ~ x, prior_ridge(0.01))$blocks[[2]]$prior
  expect_equal(slopes$parameters[["scale"]], 0.000625)
  group <- assigned(y ~ x + (1 | g), list(g = prior_ridge(variance = prior_half_t())))
  expect_equal(group$group_blocks[[1]]$prior$parameters[["scale"]], 0.25)
  expect_match(group$group_blocks[[1]]$prior$label, "half-t\\(3, 0.25\\)")
  for (likelihood in list(likelihood_hinge(), normalised)) {
    kept <- assigned(y ~ x + (1 | g), list(g = prior_ridge(scale = 3)), likelihood)
    expect_equal(kept$group_blocks[[1]]$prior$parameters[["scale"]], 3)
  }
  before <- bsvm:::assign_priors(bsvm_frame(y ~ x + (x | g), d))
  expect_identical(bsvm:::scale_priors(before, likelihood_hinge()), before)
})
