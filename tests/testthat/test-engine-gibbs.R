test_that("an engine holds what it was asked for", {
  engine <- engine_gibbs(draws = 10, burnin = 0, thin = 2, chains = 3, mixing = FALSE)
  expect_s3_class(engine, "bsvm_engine")
  expect_equal(unlist(engine$settings[c("draws", "burnin", "thin", "chains")]),
               c(draws = 10, burnin = 0, thin = 2, chains = 3))
  expect_equal(engine$parameters, c(mixing = 0))
  expect_output(print(engine), "Gibbs sampler, 3 chains of 10 draws, plain")
  expect_output(print(engine_gibbs(draws = 1, chains = 1)), "1 chain of 1 draw$")
})

test_that("numbers out of range are refused by name", {
  whole <- c("a whole number of at least 1", "`draws`")
  expect_refusal(engine_gibbs(draws = 0), "argument", whole)
  expect_refusal(engine_gibbs(draws = 1.5), "argument", whole)
  expect_refusal(engine_gibbs(draws = 3e9), "argument", whole)
  expect_refusal(engine_gibbs(draws = NA), "argument", "`draws`")
  expect_refusal(engine_gibbs(draws = "100"), "argument", c("`draws`", "\"100\""))
  expect_refusal(engine_gibbs(burnin = -1), "argument", c("`burnin`", "at least 0", "-1"))
  expect_refusal(engine_gibbs(burnin = 2.5), "argument", "`burnin`")
  expect_refusal(engine_gibbs(burnin = c(1, 2)), "argument", "`burnin`")
  expect_refusal(engine_gibbs(burnin = NULL), "argument", "`burnin`")
  expect_refusal(engine_gibbs(thin = 0), "argument", "`thin`")
  expect_refusal(engine_gibbs(thin = Inf), "argument", "`thin`")
  expect_refusal(engine_gibbs(chains = 0), "argument", "`chains`")
  expect_refusal(engine_gibbs(chains = list(4)), "argument", "`chains`")
  expect_refusal(engine_gibbs(mixing = 1), "argument", "`mixing`")
  expect_refusal(engine_gibbs(keep_effects = NA), "argument", "`keep_effects`")
})

test_that("checkpoints and what they are for", {
  expect_refusal(engine_gibbs(checkpoint = 3), "argument", "`checkpoint`")
  expect_refusal(engine_gibbs(checkpoint = ""), "argument", "`checkpoint`")
  expect_refusal(engine_gibbs(checkpoint = c("a", "b")), "argument", "`checkpoint`")
  expect_refusal(engine_gibbs(checkpoint = NA_character_), "argument", "`checkpoint`")
  expect_refusal(engine_gibbs(resume = TRUE), "argument", c("`resume = TRUE`", "`checkpoint`"))
  expect_refusal(engine_gibbs(checkpoint = "a", resume = "yes"), "argument", "`resume`")
})

test_that("no seed but R's: one uniform a fit, the same draws for the same seed", {
  d <- binary_data()
  fit <- function(seed) gibbs_fit(y ~ x1, d, draws = 20, burnin = 0, seed = seed)
  expect_identical(fit(3)$posterior, fit(3)$posterior)
  expect_false(identical(fit(3)$posterior$mean, fit(4)$posterior$mean))
  with_seed(7, {
    expected <- runif(2)[2]
    set.seed(7)
    unchecked(bsvm(y ~ x1, d, engine = engine_gibbs(20, 0, chains = 2)))
    expect_identical(runif(1), expected)
  })
})

test_that("the number of threads is nothing to the draws", {
  d <- grouped_data()
  fit <- function(threads) {
    with_seed(1, unchecked(bsvm(y ~ x1 + (1 | g), d, engine = engine_gibbs(20, 10),
                                control = bsvm_control(threads = threads, verbose = FALSE))))
  }
  expect_identical(fit(1)$posterior, fit(2)$posterior)
})

test_that("a run goes on from its checkpoint as if it had never ended", {
  d <- grouped_data()
  file <- tempfile()
  on.exit(unlink(file))
  fit <- function(draws, ..., data = d, seed = 1) {
    with_seed(seed, unchecked(bsvm(y ~ x1 + (1 | g), data, control = bsvm_control(verbose = FALSE),
                                   engine = engine_gibbs(draws, 10, chains = 2, ...))))
  }
  first <- fit(30, checkpoint = file, resume = TRUE) # there is none: afresh
  expect_false(first$sampling$resumed)
  expect_refusal(fit(30, checkpoint = file), "checkpoint", c("exists already", "resume = TRUE"))
  longer <- fit(50, checkpoint = file, resume = TRUE, seed = 2)
  expect_true(longer$sampling$resumed)
  expect_identical(longer$posterior, fit(50)$posterior)
  expect_identical(longer$sampling$seed, first$sampling$seed)
  other <- d[-1, ]
  expect_refusal(fit(60, checkpoint = file, resume = TRUE, data = other), "checkpoint", "other data")
  expect_refusal(fit(60, checkpoint = file, resume = TRUE, thin = 2), "checkpoint", "settings")
  writeLines("nonsense", file)
  expect_refusal(fit(60, checkpoint = file, resume = TRUE), "checkpoint", file)
  expect_refusal(fit(60, checkpoint = file.path(file, "x")), "argument", "does not exist")
})

test_that("a start is for the other engine", {
  d <- binary_data()
  expect_refusal(bsvm(y ~ x1, d, engine = "gibbs", control = bsvm_control(start = c(0, 0))),
                 "argument", c("`start`", "engine_vb()"))
})
