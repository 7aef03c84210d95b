test_that("the hinge likelihood is an object or its name", {
  d <- binary_data()
  expect_output(print(likelihood_hinge()), "hinge")
  expect_identical(bsvm(y ~ x1, d, likelihood = "hinge", engine = "vb")$posterior,
                   bsvm(y ~ x1, d, likelihood = likelihood_hinge(), engine = "vb")$posterior)
})

test_that("the normalised one has the core's name, and says what it is", {
  pseudo <- likelihood_hinge()
  normalised <- likelihood_hinge(normalized = TRUE)
  expect_identical(pseudo$name, "hinge")
  expect_false(pseudo$normalized)
  expect_identical(normalised$name, "hinge_normalized")
  expect_true(normalised$normalized)
  expect_true(all(c(pseudo$name, normalised$name) %in% bsvm:::core_registry()$likelihoods))
  expect_output(print(normalised), "Likelihood: normalised hinge")
  expect_output(print(pseudo), "pseudo")
})

test_that("`normalized` is TRUE or FALSE", {
  for (wrong in list(NA, "yes", 1, c(TRUE, FALSE), NULL)) {
    expect_refusal(likelihood_hinge(normalized = wrong), "argument", "`normalized`")
  }
})

test_that("another spelling of `normalized`, or another argument, is refused", {
  expect_refusal(likelihood_hinge(normalised = TRUE), "argument", c("`normalised`", "`normalized`"))
  expect_refusal(likelihood_hinge(margin = 1), "argument", c("likelihood_hinge()", "`margin`"))
  expect_refusal(likelihood_hinge(TRUE, 1, 0, 1), "argument", "unnamed")
})

test_that("engines on latent scales refuse the normalised likelihood before anything runs", {
  d <- binary_data()
  for (engine in list(engine_vb(), engine_vb(accelerate = FALSE), engine_gibbs(), "vb", "gibbs")) {
    expect_refusal(
      bsvm(y ~ x1, d, likelihood = likelihood_hinge(normalized = TRUE), engine = engine),
      "unsupported", c("latent scales", "engine_gaussian()", "engine_map()", "likelihood_hinge()")
    )
  }
  expect_refusal(bsvm:::check_combination(likelihood_hinge(TRUE), engine_gibbs()), "unsupported",
                 "engine_gibbs()")
  expect_no_error(bsvm:::check_combination(likelihood_hinge(), engine_gibbs()))
  other <- bsvm:::new_engine("gaussian", numeric(0), "another")
  expect_no_error(bsvm:::check_combination(likelihood_hinge(TRUE), other))
})

# ---- the twin of the normalised likelihood, on which other tests rely -------------------------

test_that("where no engine takes the normalised likelihood, those of the other are named", {
  fit <- function(...) {
    bsvm(y ~ x1, binary_data(), likelihood = likelihood_hinge(normalized = TRUE), ...)
  }
  expect_refusal(fit(prior = prior_spike_slab(0.3)), "unsupported",
                 paste("No engine supports this model as it is; under likelihood_hinge()",
                       "engine_gibbs() can."))
  expect_refusal(fit(prior = prior_lasso(nu = 1), engine = "em"), "unsupported",
                 "under likelihood_hinge() engine_em() or engine_gibbs() can.")
})

test_that("the twin's probabilities sum to one and are logistic in a line with two bends", {
  g <- c(-50, seq(-4, 4, by = 0.13), 50)
  expect_equal(exp(normalized_log_p(g)) + exp(normalized_log_p(-g)), rep(1, length(g)),
               tolerance = 1e-14)
  h <- ifelse(g < -1, 2 * g - 2, ifelse(g > 1, 2 * g + 2, 4 * g))
  expect_equal(normalized_log_p(g), plogis(h, log.p = TRUE), tolerance = 1e-13)
})

test_that("the twin's expectation is closed for the pseudo-likelihood, and its own derivative", {
  hinge <- function(g) -2 * pmax(1 - g, 0)
  for (v in c(1e-4, 0.09, 4, 100)) {
    for (m in c(-2, -0.3, 0.8, 1.6)) {
      a <- 1 - m
      s <- sqrt(v)
      found <- expected_terms(1, m, v, hinge)
      expect_equal(found$value, -2 * (a * pnorm(a / s) + s * dnorm(a / s)), tolerance = 1e-10)
      expect_equal(found$slope, 2 * pnorm(a / s), tolerance = 1e-8)
      expect_equal(found$weight, 2 * dnorm(a / s) / s, tolerance = 1e-7)
      value <- function(dm) expected_terms(1, m + dm, v)$value
      h <- 0.01 * s
      expect_equal((8 * (value(h) - value(-h)) - value(2 * h) + value(-2 * h)) / (12 * h),
                   expected_terms(1, m, v)$slope, tolerance = 1e-6)
      expect_equal(expected_terms(-1, -m, v)$slope, -expected_terms(1, m, v)$slope)
    }
  }
})
