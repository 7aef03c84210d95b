# Simulation-based calibration of slice sampling: under the pseudo-likelihood with the tilted prior
# (helper-tilted.R), under the normalised one as it is, y drawn from p(y | f). What was drawn from
# the prior ranks uniformly among the sampler's draws.

skip_on_cran()

long <- identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")
kept <- 31

# Rejected below this by chance about once in 1e4 quantities; the seeds are fixed.
least <- 1e-4

# Rows of weight one: others are no probability model under the normalised likelihood.
normalised_case <- function(case) {
  case["weight"] <- list(NULL)
  case$normalised <- TRUE
  case
}

# `integrate = TRUE` says something of one effect a level under the pseudo-likelihood only.
integrated_cases <- c("intercepts", "nested", "crossed")
slow <- "huang_wand" # each of many fits starts with an approximation

for (normalised in c(FALSE, TRUE)) for (name in names(tilted_cases())) {
  both <- !normalised && name %in% integrated_cases
  for (integrate in c(FALSE, if (both) TRUE)) {
    test_that(sprintf("calibrated: %s, normalised = %s, integrate = %s", name, normalised,
                      integrate), {
      if (name %in% slow) skip_unless_extended()
      case <- tilted_cases()[[name]]
      if (normalised) case <- normalised_case(case)
      seed <- 0
      sampler <- function(case, draws) {
        seed <<- seed + 1
        core_slice(case, draws = draws, burnin = 100, thin = 15, seed = seed,
                   integrate = integrate)
      }
      ranks <- with_seed(23, calibration_ranks(case, if (long) 5000 else 100, kept, sampler))
      expect_gt(min(uniformity(ranks, kept)), least)
    })
  }
}

test_that("draws of another likelihood are not calibrated", {
  case <- normalised_case(tilted_cases()$fixed)
  sampler <- function(case, draws) {
    case$normalised <- FALSE
    core_slice(case, draws = draws, burnin = 100, thin = 15)
  }
  ranks <- with_seed(23, calibration_ranks(case, 200, kept, sampler))
  expect_lt(min(uniformity(ranks, kept)), least)
})
