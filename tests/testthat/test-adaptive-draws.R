# How many draws chains make where the user gives no number: engine_slice(draws = NULL).

normalised <- likelihood_hinge(normalized = TRUE)
half_t <- prior_ridge(variance = prior_half_t())
d <- grouped_data()

adaptive <- function(formula, data, prior, ..., threads = 1L, seed = 3) {
  with_seed(seed, bsvm(formula, data, likelihood = normalised, prior = prior,
                       engine = engine_slice(...),
                       control = bsvm_control(threads = threads, verbose = FALSE)))
}

worst <- function(fit) {
  table <- suppressWarnings(summary(fit))
  rbind(table$coefficients, table$variance_draws)[, c("Rhat", "Bulk_ESS", "Tail_ESS")]
}

test_that("chains go on until their draws are enough, and no longer", {
  fit <- expect_silent(adaptive(y ~ x1 + (t | g), d, list(g = half_t)))
  table <- worst(fit)
  expect_true(all(table[, -1] >= 400))
  expect_true(all(table[, "Rhat"] <= 1.01))
  reached <- fit$sampling$draws
  expect_gte(reached, 300)
  expect_lt(reached, 3000)
  expect_output(print(fit), paste0("4 chains of ", reached, " draws after 500 of burn-in ",
                                   "\\(until 400"))
  # The draws of as many that are asked for.
  asked <- adaptive(y ~ x1 + (t | g), d, list(g = half_t), draws = reached)
  expect_identical(asked$posterior, fit$posterior)
  expect_false(asked$sampling$adaptive)
})

test_that("a given number of draws is kept to", {
  fit <- suppressWarnings(adaptive(y ~ x1 + (1 | g), d, list(g = half_t), draws = 20, chains = 2))
  expect_equal(dim(fit$posterior$coefficients)[2:3], c(20, 2))
})

test_that("threads and a run cut in two change no bit", {
  whole <- adaptive(y ~ x1 + (1 | g), d, list(g = half_t), burnin = 50)
  two <- adaptive(y ~ x1 + (1 | g), d, list(g = half_t), burnin = 50, threads = 2L)
  expect_identical(two$posterior, whole$posterior)
  for (first in c(100, 250)) {
    file <- new_checkpoint()
    on.exit(unlink(file), add = TRUE)
    suppressWarnings(adaptive(y ~ x1 + (1 | g), d, list(g = half_t), burnin = 50, draws = first,
                              checkpoint = file))
    rest <- adaptive(y ~ x1 + (1 | g), d, list(g = half_t), burnin = 50, checkpoint = file,
                     resume = TRUE, seed = 8)
    expect_identical(rest$posterior, whole$posterior)
  }
})

test_that("at the limit there is a warning", {
  local_replace("most_draws", 350L)
  expect_warning(fit <- adaptive(y ~ x1 + (t | g), d, list(g = half_t), burnin = 5, chains = 1),
                 class = "bsvm_warning_convergence")
  expect_equal(fit$sampling$draws, 350)
})

test_that("draws of ours to choose take no more memory than is allowed", {
  old <- options(bsvm.max_memory = 2^21)
  on.exit(options(old))
  fit <- suppressWarnings(adaptive(y ~ x1 + (t | g), d, list(g = half_t), burnin = 5))
  numbers <- 2 + 1 + 24
  expect_lte(fit$sampling$draws, max(300, 2^20 / (8 * 4 * numbers)))
})

test_that("Gibbs sampling goes on too", {
  fit <- expect_silent(with_seed(2, bsvm(y ~ x1, d, engine = engine_gibbs(burnin = 100),
                                         likelihood = likelihood_hinge(),
                                         prior = prior_ridge(variance = 1))))
  expect_true(all(worst(fit)[, -1] >= 400))
})

test_that("the default does not warn on ordinary data with several inferred variances", {
  skip_on_cran()
  skip_if_not_installed("MASS")
  skip_if_not_installed("lme4")
  sleep <- transform(lme4::sleepstudy, slow = Reaction > stats::median(Reaction))
  ticks <- transform(lme4::grouseticks, any = TICKS > 0)
  cases <- list(
    list(y ~ trt + week + (week | ID), MASS::bacteria, list(ID = half_t)),
    list(slow ~ Days + (Days | Subject), sleep, list(Subject = half_t)),
    list(any ~ YEAR + cHEIGHT + (1 | BROOD) + (1 | LOCATION), ticks,
         list(BROOD = half_t, LOCATION = half_t))
  )
  for (case in cases) expect_silent(adaptive(case[[1]], case[[2]], case[[3]]))
})

test_that("chains that the limit would not help end before it", {
  d <- with_seed(1, data.frame(x = rnorm(80), g = gl(8, 10), y = rep(0:1, 40)))
  d$o <- rep(c(1, -1), 40) * 1e5
  fit <- suppressWarnings(with_seed(1, bsvm(y ~ x + (x | g), d, offset = o,
                                            control = bsvm_control(verbose = FALSE))))
  expect_gte(fit$sampling$draws, 1000)
  expect_lt(fit$sampling$draws, 10000)
})
