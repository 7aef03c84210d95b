test_that("an engine holds what it was asked for", {
  engine <- engine_gibbs(draws = 10, burnin = 0, thin = 2, chains = 3, mixing = FALSE)
  expect_s3_class(engine, "bsvm_engine")
  expect_equal(unlist(engine$settings[c("draws", "burnin", "thin", "chains")]),
               c(draws = 10, burnin = 0, thin = 2, chains = 3))
  expect_equal(engine$parameters, c(mixing = 0))
  expect_output(print(engine), "3 chains of 10 draws after 0 of burn-in, one kept of 2, plain$")
  expect_output(print(engine_gibbs()), "^Engine: Gibbs sampler, 4 chains of 1000 draws$")
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
  expect_refusal(fit(60, checkpoint = file, resume = TRUE, thin = 2), "checkpoint", c("thin = 1", "2"))
  writeLines("nonsense", file)
  expect_refusal(fit(60, checkpoint = file, resume = TRUE), "checkpoint", file)
  expect_refusal(fit(60, checkpoint = file.path(file, "x")), "argument", "does not exist")
})

test_that("a start is for the other engine", {
  d <- binary_data()
  expect_refusal(bsvm(y ~ x1, d, engine = "gibbs", control = bsvm_control(start = c(0, 0))),
                 "argument", c("`start`", "engine_vb()"))
})

test_that("there are limits to chains and sweeps", {
  expect_refusal(engine_gibbs(chains = 1001), "argument", c("`chains`", "at most 1000", "1001"))
  expect_refusal(engine_gibbs(draws = 1e9), "argument", c("1e9", "1000001000"))
  expect_refusal(engine_gibbs(draws = 2e9, thin = 2e9), "argument", "`thin`")
  expect_silent(engine_gibbs(draws = 1e9 - 1000, chains = 1000))
})

test_that("arguments of other samplers are refused with what they are here", {
  expect_refusal(engine_gibbs(iter = 2000), "argument", c("`iter`", "`draws`", "`burnin`"))
  expect_refusal(engine_gibbs(warmup = 500), "argument", "`burnin`")
  expect_refusal(engine_gibbs(cores = 4), "argument", "bsvm_control(threads = )")
  expect_refusal(engine_gibbs(seed = 1), "argument", "set.seed()")
  expect_refusal(engine_gibbs(nix = 1), "argument", c("engine_gibbs()", "`nix`"))
})

test_that("a checkpoint is not a folder", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  for (resume in c(TRUE, FALSE)) {
    engine <- engine_gibbs(10, 0, checkpoint = folder, resume = resume)
    error <- expect_refusal(bsvm(y ~ x1, binary_data(), engine = engine), "argument", "folder")
    expect_false(grepl("remove", conditionMessage(error)))
  }
})

test_that("a checkpoint that could not be written is a warning, and the draws are kept", {
  core <- core_sample
  local_replace("core_sample", function(...) {
    utils::modifyList(core(...), list(checkpoint_failed = "disk full."))
  })
  fit <- function() {
    unchecked(bsvm(y ~ x1, binary_data(), engine = engine_gibbs(10, 0, chains = 1),
                   control = bsvm_control(verbose = FALSE)))
  }
  expect_equal(expect_warned(fit(), "checkpoint")$sampling$draws, 10)
  expect_warning(fit(), "disk full[)]", class = "bsvm_warning_checkpoint")
  local_replace("core_sample", core)
  expect_silent(fit())
})

test_that("sparse predictors need their draws kept", {
  skip_if_not_installed("Matrix")
  x <- with_seed(3, matrix(rbinom(160 * 12, 1, 0.15), 160, dimnames = list(NULL, letters[1:12])))
  x <- Matrix::Matrix(x, sparse = TRUE)
  engine <- engine_gibbs(10, 0, chains = 1, keep_effects = FALSE)
  expect_refusal(bsvm(x, rep(0:1, 80), engine = engine), "argument",
                 c("`keep_effects = FALSE`", "sparse predictors"))
})
