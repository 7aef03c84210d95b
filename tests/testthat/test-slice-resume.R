# engine_slice(): the same draws whatever the threads, and however a run was cut; checkpoints that
# must not be used.

bsvm <- paper_bsvm

crossed <- sampled_cases()$crossed
integrated <- sampled_cases()$nested
settings <- list(draws = 120, burnin = 40, thin = 2, chains = 2, seed = 77)

# Both ways of a chain: with effects in it, and integrated out.
kinds <- list(
  kept = list(of = crossed, integrate = FALSE),
  integrated = list(of = integrated, integrate = TRUE),
  slopes = list(of = sampled_cases()$wishart, integrate = TRUE),
  normalised = list(of = utils::modifyList(crossed, list(normalised = TRUE)), integrate = TRUE)
)

again <- function(kind, ...) {
  given <- utils::modifyList(c(settings, list(integrate = kind$integrate)), list(...))
  do.call(sample_core, c(list(kind$of), given))
}

for (name in names(kinds)) {
  kind <- kinds[[name]]
  whole <- again(kind)

  test_that(sprintf("draws are a function of seed, chain and sweep alone: %s", name), {
    expect_same_draws(again(kind), whole)
    expect_same_draws(again(kind, threads = 2), whole)
    one <- again(kind, chains = 1)
    for (part in c("coefficients", "effects")) {
      expect_identical(one[[part]][, , 1], whole[[part]][, , 1])
    }
    expect_identical(again(kind, chains = 1, threads = 2)$coefficients, one$coefficients)
    expect_gt(max(abs(whole$coefficients[, , 1] - whole$coefficients[, , 2])), 0.01)
    expect_false(identical(again(kind, seed = 78)$coefficients, whole$coefficients))
  })

  test_that(sprintf("a shorter run, resumed with more draws, is the longer run: %s", name), {
    file <- new_checkpoint()
    on.exit(unlink(file))
    for (draws in c(1, 37, 119)) {
      part <- again(kind, draws = draws, checkpoint = file, resume = TRUE)
      expect_equal(part$draws, draws)
      expect_identical(part$coefficients, whole$coefficients[, seq_len(draws), , drop = FALSE])
      expect_identical(part$effects, whole$effects[, seq_len(draws), , drop = FALSE])
    }
    resumed <- again(kind, checkpoint = file, resume = TRUE, threads = 2, seed = 5)
    expect_same_draws(resumed, whole)
    expect_true(resumed$resumed)
    expect_same_draws(again(kind, checkpoint = file, resume = TRUE), whole)
  })

  test_that(sprintf("writing checkpoints changes nothing: %s", name), {
    file <- new_checkpoint()
    on.exit(unlink(file))
    result <- again(kind, checkpoint = file, checkpoint_interval = 0, resume = TRUE)
    expect_same_draws(result, whole)
    expect_false(result$resumed)
  })

  test_that(sprintf("thinning keeps every draw that it says, and effects may be left out: %s",
                    name), {
    every <- again(kind, draws = 240, thin = 1)
    expect_identical(whole$coefficients, every$coefficients[, 2 * seq_len(120), , drop = FALSE])
    less <- again(kind, keep_effects = FALSE)
    expect_length(less$effects, 0)
    same <- c("coefficients", "variances", "mean", "effects_mean", "effects_sd")
    expect_identical(less[same], whole[same])
    expect_close(whole$effects_mean, rowMeans(matrix(whole$effects, dim(whole$effects)[1])), 1e-8)
    expect_close(whole$effects_sd, apply(stack_chains(whole$effects), 2, sd), 1e-8)
  })
}

# ---- the front door -----------------------------------------------------------------------

d <- grouped_data()

fit <- function(formula = y ~ x1 + (1 | g), draws = 60, ..., data = d, threads = 1L, seed = 9,
                likelihood = likelihood_hinge()) {
  with_seed(seed, suppressWarnings(
    bsvm(formula, data, likelihood = likelihood,
         control = bsvm_control(threads = threads, verbose = FALSE),
         engine = engine_slice(draws, 30, chains = 2, ...))
  ))
}

test_that("one seed, one fit, for any number of threads", {
  normalised <- likelihood_hinge(normalized = TRUE)
  for (formula in list(y ~ x1 + t, y ~ x1 + (1 | g), y ~ x1 + (t | g))) {
    for (likelihood in list(likelihood_hinge(), normalised)) {
      one <- fit(formula, likelihood = likelihood)
      expect_true(identical(fit(formula, likelihood = likelihood, threads = 2L)$posterior,
                            one$posterior))
      expect_false(identical(fit(formula, likelihood = likelihood, seed = 10)$posterior,
                             one$posterior))
    }
  }
})

test_that("many rows and groups: the same bits for any number of threads", {
  large <- grouped_data(9000, 300)
  large$h <- factor(rep(1:30, 300))
  for (formula in list(y ~ x1 + x2 + f, y ~ x1 + (t | g), y ~ x1 + (1 | g),
                       y ~ x1 + (1 | g) + (1 | h))) {
    of <- function(threads) fit(formula, 4, data = large, threads = threads)$posterior
    expect_true(identical(of(2L), of(1L)))
  }
})

test_that("resumed fits are the uninterrupted ones", {
  for (integrate in c(TRUE, FALSE)) {
    file <- new_checkpoint()
    on.exit(unlink(file), add = TRUE)
    fit(draws = 20, checkpoint = file, integrate = integrate)
    expect_refusal(fit(checkpoint = file, integrate = integrate), "checkpoint", "resume = TRUE")
    resumed <- fit(checkpoint = file, resume = TRUE, integrate = integrate, seed = 1)
    expect_true(identical(resumed$posterior, fit(integrate = integrate)$posterior))
    expect_true(resumed$sampling$resumed)
  }
})

# ---- checkpoints that must not be used ----------------------------------------------------

test_that("a checkpoint of another model, other settings or another engine is refused", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  fit(draws = 10, checkpoint = file)
  before <- readBin(file, "raw", file.size(file))
  refused <- function(..., words = "other") {
    expect_refusal(fit(..., checkpoint = file, resume = TRUE), "checkpoint", words)
    expect_identical(readBin(file, "raw", file.size(file)), before)
  }
  refused(y ~ x1 + t + (1 | g))
  refused(y ~ x1 + (t | g))
  refused(data = d[-1, ])
  refused(likelihood = likelihood_hinge(normalized = TRUE))
  refused(integrate = TRUE)
  refused(thin = 2, words = c("thin = 1", "2"))
  refused(keep_effects = FALSE, words = "keep_effects = 1")
  gibbs <- engine_gibbs(20, 30, chains = 2, checkpoint = file, resume = TRUE)
  expect_refusal(bsvm(y ~ x1 + (1 | g), d, engine = gibbs), "checkpoint", "other")
  expect_identical(readBin(file, "raw", file.size(file)), before)
  unlink(file)
  gibbs$settings$resume <- FALSE
  suppressWarnings(bsvm(y ~ x1 + (1 | g), d, engine = gibbs))
  before <- readBin(file, "raw", file.size(file))
  refused()
})

test_that("a damaged checkpoint is refused and left as it was", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  fit(draws = 10, checkpoint = file)
  good <- readBin(file, "raw", file.size(file))
  refused <- function(bytes) {
    writeBin(bytes, file)
    expect_refusal(fit(checkpoint = file, resume = TRUE), "checkpoint")
    expect_identical(readBin(file, "raw", file.size(file)), bytes)
  }
  size <- length(good)
  for (length in c(0, 7, 40, size %/% 2, size - 1)) refused(good[seq_len(length)])
  for (at in with_seed(8, c(1, 9, 20, size, sample(size, 6)))) {
    refused(replace(good, at, xor(good[at], as.raw(2^(at %% 8)))))
  }
  refused(c(good, as.raw(0)))
})

# ---- Ctrl-C -------------------------------------------------------------------------------

test_that("Ctrl-C ends a run within half a second, with the first draws of the whole run", {
  skip_on_os("windows")
  skip_on_cran()
  for (integrate in c(TRUE, FALSE)) {
    engine <- sprintf("engine_slice(draws = %%s, burnin = 50, chains = 2, integrate = %s,
                      keep_effects = FALSE)", integrate)
    expect_first_draws(engine, after = 1, compared = 200)
  }
})
