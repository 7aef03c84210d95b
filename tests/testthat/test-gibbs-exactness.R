# Gibbs draws against the exact pseudo-posterior by quadrature, and against the plain-R sampler,
# which is itself held against quadrature. With and without the moves that help mixing.

skip_on_cran()

quadrature_cases <- quadrature_cases()
exact <- lapply(quadrature_cases, exact_of)

for (name in names(quadrature_cases)) {
  test_that(sprintf("exact by quadrature: %s", name), {
    case <- quadrature_cases[[name]]
    for (mixing in c(TRUE, FALSE)) {
      # Plain draws hang together.
      draws <- core_gibbs(case, draws = if (mixing) 25000 else 60000, chains = 2,
                          mixing = mixing, seed = 10)
      expect_exact(exact_table(case, draws), exact[[name]],
                   label = sprintf("%s, mixing = %s", name, mixing))
    }
  })
}

test_that("group effects of the sparse source are exact too", {
  case <- quadrature_cases$groups
  case$factors <- list(list(codes = case[["group"]], z = case$z, levels = 6))
  case[c("group", "z", "n_groups")] <- NULL
  for (mixing in c(TRUE, FALSE)) {
    draws <- core_gibbs(case, draws = 30000, chains = 2, mixing = mixing, seed = 10)
    expect_exact(exact_table(case, draws), exact$groups)
  }
})

# ---- the plain-R sampler ------------------------------------------------------------------

test_that("the plain-R sampler is exact by quadrature, and planted errors are seen there", {
  for (name in c("margin", "slope", "ridge")) {
    model <- case_twin(quadrature_cases[[name]])
    draws <- with_seed(1, twin_gibbs(model, 3000))
    expect_exact(draw_table(model, draws), exact[[name]], 0.12, 0.12)
  }
  model <- case_twin(quadrature_cases$margin)
  clamped <- with_seed(1, twin_gibbs(model, 2000, mutation = "clamped"))$b
  expect_gt(sd(clamped) / exact$margin$sd, 1.2)
  model <- case_twin(quadrature_cases$slope)
  linear <- with_seed(1, twin_gibbs(model, 500, mutation = "linear"))$b
  expect_gt(max(abs(colMeans(linear) - exact$slope$mean) / exact$slope$sd), 0.5)
})

structures <- sampled_cases()

# ---- what is averaged over the last step ---------------------------------------------------

test_that("Rao-Blackwell means are the means of the draws, within their error", {
  for (name in c("wishart", "crossed_slopes")) {
    result <- sample_core(structures[[name]], draws = 4000, chains = 2)
    draws <- core_draws(result)$b
    means <- c(result$mean, result$effects_mean)
    expect_length(means, ncol(draws))
    expect_lt(max(abs(colMeans(draws) - means) / batch_error(draws)), 4.5)
    expect_close(result$effects_sd, apply(stack_chains(result$effects), 2, sd), 1e-8)
  }
})

test_that("effects that are not kept have the same mean and sd", {
  case <- structures$crossed_slopes
  kept <- sample_core(case, draws = 300, chains = 2)
  less <- sample_core(case, draws = 300, chains = 2, keep_effects = FALSE)
  expect_length(less$effects, 0)
  same <- c("coefficients", "variances", "mean", "effects_mean", "effects_sd")
  expect_identical(less[same], kept[same])
})

test_that("thinning keeps every draw that it says", {
  case <- structures$wishart
  every <- sample_core(case, draws = 90, burnin = 40)
  third <- sample_core(case, draws = 30, burnin = 40, thin = 3)
  at <- 3 * seq_len(30)
  expect_identical(third$coefficients, every$coefficients[, at, , drop = FALSE])
  expect_identical(third$effects, every$effects[, at, , drop = FALSE])
})

# ---- variational Bayes is near, and too sure of itself -------------------------------------

test_that("VB means are near, VB is narrower", {
  case <- quadrature_cases$slope
  vb <- run_core(case)
  sd <- exact$slope$sd
  expect_lt(max(abs(vb$mean - exact$slope$mean) / sd), 0.3)
  expect_close(sqrt(diag(matrix(vb$covariance, 2))) / sd, c(0.55, 0.55), 0.1)
})

# ---- the papers' trial --------------------------------------------------------------------

test_that("toenail: exact figures", {
  expect_toenail(toenail_fit(engine_gibbs(2500, 500, chains = 2)))
})
