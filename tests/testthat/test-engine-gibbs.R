bsvm <- paper_bsvm

test_that("an engine holds what it was asked for", {
  engine <- engine_gibbs(draws = 10, burnin = 0, thin = 2, chains = 3, mixing = FALSE)
  expect_s3_class(engine, "bsvm_engine")
  expect_equal(unlist(engine$settings[c("draws", "burnin", "thin", "chains")]),
               c(draws = 10, burnin = 0, thin = 2, chains = 3))
  expect_equal(engine$parameters, c(mixing = 0))
  expect_output(print(engine), "3 chains of 10 draws after 0 of burn-in, one kept of 2, plain$")
  expect_output(print(engine_gibbs()),
                "^Engine: Gibbs sampler, 4 chains, draws until 400 are effective$")
  expect_output(print(engine_gibbs(draws = 1, chains = 1)), "1 chain of 1 draw$")
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
  expect_refusal(fit(60, checkpoint = file, resume = TRUE, data = other), "checkpoint",
                 "other data")
  expect_refusal(fit(60, checkpoint = file, resume = TRUE, thin = 2), "checkpoint",
                 c("thin = 1", "2"))
  writeLines("nonsense", file)
  expect_refusal(fit(60, checkpoint = file, resume = TRUE), "checkpoint", file)
  expect_refusal(fit(60, checkpoint = file.path(file, "x")), "argument", "does not exist")
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
