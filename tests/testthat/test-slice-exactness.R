# Slice draws against the exact posterior by quadrature, under both likelihoods; against
# engine_gibbs(); and toenail's exact figures.

bsvm <- paper_bsvm

skip_on_cran()

of_kind <- function(case, normalised) {
  case$normalised <- normalised
  case
}

# There is a closed form of the pseudo-likelihood.
integrates <- function(case) {
  if (is.null(case[["group"]]) || case$normalised) TRUE else c(TRUE, FALSE)
}

# Where nothing but a ridge of kinks holds an intercept, ellipses move it slowly.
draws_of <- function(name) {
  if (name %in% c("margin", "fractional", "separated")) 150000 else 20000
}

# The same by the source of several factors.
sparse_too <- function(case) {
  if (is.null(case[["group"]])) return(list(case))
  sparse <- case
  sparse$factors <- list(list(codes = case[["group"]], z = case$z, levels = case$n_groups))
  sparse[c("group", "z", "n_groups")] <- NULL
  list(case, sparse)
}

for (normalised in c(FALSE, TRUE)) for (name in names(quadrature_cases())) {
  test_that(sprintf("exact by quadrature: %s, normalised = %s", name, normalised), {
    given <- of_kind(quadrature_cases()[[name]], normalised)
    exact <- exact_of(given, nodes = 101)
    for (case in sparse_too(given)) for (integrate in integrates(given)) {
      draws <- core_slice(case, draws = draws_of(name), chains = 2, integrate = integrate,
                          seed = 10)
      expect_exact(exact_table(case, draws), exact,
                   label = sprintf("%s, integrate = %s", name, integrate))
    }
  })
}

# ---- against the other sampler ------------------------------------------------------------

# Of coefficients, log variances, covariances and effects.
drawn_moments <- function(fit) {
  draws <- posterior::as_draws_array(fit)
  variances <- grep("^(var|sd)_", posterior::variables(draws))
  draws[, , variances] <- log(draws[, , variances])
  over <- function(f) apply(draws, 3, f)
  list(mean = over(mean), sd = over(sd), error = over(posterior::mcse_mean),
       sd_error = over(posterior::mcse_sd), size = over(posterior::ess_mean))
}

expect_as_gibbs <- function(..., slice = list(15000, 500, chains = 2),
                            gibbs = list(15000, 500, chains = 2)) {
  fit <- function(engine) {
    with_seed(4, suppressWarnings(bsvm(..., engine = engine,
                                       control = bsvm_control(verbose = FALSE))))
  }
  own <- drawn_moments(fit(do.call(engine_slice, slice)))
  other <- drawn_moments(fit(do.call(engine_gibbs, gibbs)))
  away <- abs(own$mean - other$mean)
  expect_lt(max(away / sqrt(own$error^2 + other$error^2)), 4)
  large <- own$size > 10000 & other$size > 10000  # 0.05 is 3.5 standard errors then or more
  expect_lt(max(0, (away / other$sd)[large]), 0.05)
  expect_lt(max(abs(own$sd - other$sd) / sqrt(own$sd_error^2 + other$sd_error^2)), 5)
}

half_t <- prior_ridge(variance = prior_half_t(4, 1))

test_that("the draws of engine_gibbs(): correlated and independent slopes", {
  skip_if_not_installed("posterior")
  d <- grouped_data()
  expect_as_gibbs(y ~ x1 + (t | g), d, prior = list(half_t, g = prior_inv_wishart(5)))
  expect_as_gibbs(y ~ x1 + (t || g), d, prior = list(half_t, g = half_t))
})

test_that("the draws of engine_gibbs(): crossed factors, effects integrated out or kept", {
  skip_if_not_installed("posterior")
  d <- transform(grouped_data(), h = factor(rep(c("p", "q", "r", "s"), 30)))
  # beside an unknown variance of four levels integrated chains hardly mix
  for (known in list(list(integrate = TRUE, h = prior_ridge(variance = 1)),
                     list(integrate = FALSE, h = half_t))) {
    expect_as_gibbs(y ~ x1 + (1 | g) + (1 | h), d, prior = list(half_t, g = half_t, h = known$h),
                    slice = list(4000, 500, chains = 2, integrate = known$integrate))
  }
})

test_that("the draws of engine_gibbs(): correlated slopes beside another factor", {
  d <- transform(grouped_data(), h = factor(rep(c("p", "q", "r", "s"), 30)))
  effects <- function(engine) {
    fit <- with_seed(4, suppressWarnings(bsvm(y ~ x1 + (t | g) + (1 | h), d, engine = engine,
                                              prior = list(half_t, h = half_t),
                                              control = bsvm_control(verbose = FALSE))))
    expect_finite(fit$posterior[c("effects", "effects_sd")], "draws of the effects")
    unlist(ranef(fit))
  }
  own <- effects(engine_slice(30, 20, chains = 2))
  expect_gt(cor(own, effects(engine_gibbs(1000, 200, chains = 2))), 0.9)
})

test_that("the draws of engine_gibbs(): more columns than rows", {
  skip_if_not_installed("posterior")
  case <- wide_case(n = 20, p = 41)
  expect_as_gibbs(case$x[, -1], case$y, prior = half_t)
})

# ---- the papers' trial --------------------------------------------------------------------

test_that("toenail: exact figures", {
  expect_toenail(toenail_fit(engine_slice(1500, 200, chains = 2)))
})

test_that("toenail under the normalised likelihood is where engine_gaussian() is", {
  normalised <- likelihood_hinge(normalized = TRUE)
  near <- toenail_fit(engine_gaussian(), likelihood = normalised)
  fit <- toenail_fit(engine_slice(1500, 300, chains = 2), likelihood = normalised)
  sd <- sqrt(diag(vcov(fit)))
  expect_close(fixef(near), fixef(fit), 0.15, scale = sd)
  expect_close(sqrt(diag(vcov(near))) / sd, rep(1, 4), 0.15, scale = 1)
  expect_close(log(VarCorr(near)$patientID[1, 1]), log(VarCorr(fit)$patientID[1, 1]), 0.15)
})
