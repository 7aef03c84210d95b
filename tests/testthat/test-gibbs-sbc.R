# Simulation-based calibration under the tilted prior (helper-tilted.R): what was drawn from the
# prior ranks uniformly among the sampler's draws. Small data, so that the prior is drawn by
# rejection; ranked are all coefficients, variances, covariances and the log-likelihood.

skip_on_cran()

long <- identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")
kept <- 31

# Rejected below this by chance about once in 1e4 quantities; the seeds are fixed.
least <- 1e-4

cases <- c(tilted_cases(), tilted_bridges())

# An unknown alpha spreads coefficients over many powers of ten, where plain draws crawl.
for (name in names(cases)) for (mixing in c(TRUE, if (name != "exponent") FALSE)) {
  test_that(sprintf("calibrated: %s, mixing = %s", name, mixing), {
    case <- cases[[name]]
    seed <- 0
    sampler <- function(case, draws) {
      seed <<- seed + 1
      core_gibbs(case, draws = draws, burnin = 150, thin = 20, seed = seed, mixing = mixing)
    }
    ranks <- with_seed(20, calibration_ranks(case, if (long) 5000 else 140, kept, sampler))
    expect_gt(min(uniformity(ranks, kept)), least)
  })
}

test_that("the plain-R sampler is calibrated and planted errors are not", {
  with_mutation <- function(name, mutation) {
    sampler <- function(case, draws) {
      twin_gibbs(case_twin(case), draws, 20, 4, mutation)
    }
    min(uniformity(with_seed(21, calibration_ranks(cases[[name]], 100, kept, sampler)), kept))
  }
  expect_gt(with_mutation("fixed", "none"), least)
  expect_lt(with_mutation("fixed", "linear"), least)
  expect_lt(with_mutation("half_t", "shape"), least)
})
