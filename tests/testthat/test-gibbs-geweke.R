# Geweke's (2004) test under the tilted prior (helper-tilted.R): parameters given data by the
# sampler, data given parameters from L/Z, in turns, have the law of the tilted prior.

skip_on_cran()

long <- identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")

worst_z <- function(name, k, sampler) {
  case <- tilted_cases()[[name]]
  model <- case_twin(case)
  with_seed(30, {
    draws <- tilted_draws(model, 4 * k)
    independent <- draw_quantities(model, draws, draws$y)
    max(rank_z(turned_draws(case, k, 2, sampler), independent))
  })
}

for (name in c("ridge", "intercepts", "crossed", "wishart")) for (mixing in c(TRUE, FALSE)) {
  test_that(sprintf("data and parameters in turns: %s, mixing = %s", name, mixing), {
    seed <- 0
    sampler <- function(case, draws) {
      seed <<- seed + 1
      core_gibbs(case, draws = draws, burnin = 80, seed = seed, mixing = mixing)
    }
    expect_lt(worst_z(name, if (long) 20000 else 300, sampler), 4.5)
  })
}

test_that("the plain-R sampler passes and planted errors do not", {
  with_mutation <- function(mutation) {
    sampler <- function(case, draws) twin_gibbs(case_twin(case), draws, 40, 1, mutation)
    worst_z("ridge", 150, sampler)
  }
  expect_lt(with_mutation("none"), 4.5)
  expect_gt(with_mutation("linear"), 6)
})
