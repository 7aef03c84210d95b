# engine_vb() against Algorithm 4 in plain R, and what must hold of any fit with missing predictors.

bsvm <- paper_bsvm

vb <- function(...) quiet_missing(..., engine = "vb", control = tight())

fixed_part <- function(x) cbind("(Intercept)" = 1, x)

# ---- the twin -----------------------------------------------------------------------------------

test_that("the fit is Algorithm 4's, whatever is missing", {
  patterns <- list(
    one_column = simulate_missing(60, 3, 0.3, 2, seed = 1),
    two_columns = simulate_missing(60, 3, 0.3, c(1, 3), seed = 2),
    all_columns = simulate_missing(60, 2, 0.2, seed = 3)
  )
  patterns$empty_row <- patterns$two_columns
  patterns$empty_row$x[c(5, 9), ] <- NA
  for (s in patterns) {
    fit <- vb(s$x, s$y, missing = missing_normal())
    expect_twin(fit, s$y, fixed_part(s$x), 1)
  }
})

test_that("variances may be given, columns as they come", {
  s <- simulate_missing(60, 3, 0.25, seed = 4)
  x <- sweep(s$x, 2, c(100, 0.01, 1), `*`) + rep(c(5, 0, -3), each = 60)
  fit <- vb(x, s$y, missing = missing_normal(), prior = prior_ridge(variance = 0.5))
  ridge <- list(list(columns = 1, variance = 1e8), list(columns = 2:4, variance = 0.5))
  expect_twin(fit, s$y, fixed_part(x), 1, blocks = ridge)
  x <- s$x + 2
  fit <- vb(x, s$y, missing = missing_normal(), standardize = FALSE)
  expect_twin(fit, s$y, fixed_part(x), 1)
  fit <- vb(x, s$y, missing = missing_normal(df = 7, scale = 2, mean_variance = 3))
  expect_twin(fit, s$y, fixed_part(x), 1, df = 7, psi = 2, mean_variance = 3)
})

test_that("weights raise the likelihood and leave the imputation model alone", {
  s <- simulate_missing(50, 2, 0.25, seed = 5)
  weights <- with_seed(1, sample(c(0.5, 1, 3), 50, TRUE))
  fit <- vb(s$x, s$y, weights = weights, missing = missing_normal())
  expect_twin(fit, s$y, fixed_part(s$x), 1, weight = weights)
})

test_that("dummies are conditioned on, auxiliary variables help", {
  s <- simulate_missing(70, 4, 0.3, 1:2, seed = 6)
  d <- data.frame(y = s$y, s$x[, 1:2], z1 = s$x[, 3], z2 = s$x[, 4],
                  f = with_seed(2, gl(3, 1, 70)))
  d$z2[4:9] <- NA
  x <- model.matrix(~ x1 + x2 + f, model.frame(~ x1 + x2 + f, d, na.action = na.pass))
  fit <- vb(y ~ x1 + x2 + f, d, missing = missing_normal())
  expect_identical(fit$missing$law$given, c("(Intercept)", "f2", "f3"))
  expect_twin(fit, d$y, x, c(1, 4, 5), given = x[, c(1, 4, 5)])
  fit <- vb(y ~ x1 + x2, d, missing = missing_normal(auxiliary = ~ z1 + z2 + f))
  expect_twin(fit, d$y, x[, 1:3], 1, given = x[, c(1, 4, 5)],
              auxiliary = as.matrix(d[c("z1", "z2")]))
})

test_that("group effects stand beside missing predictors", {
  s <- simulate_missing(80, 2, 0.25, seed = 7)
  g <- with_seed(3, sample(8, 80, TRUE))
  y <- with_seed(4, ifelse(runif(80) < plogis(2 * s$full[, 1] + rnorm(8)[g]), 1, -1))
  fit <- vb(y ~ x1 + x2 + (1 | g), data.frame(y, s$x, g), missing = missing_normal())
  z <- model.matrix(~ factor(g) - 1)
  v <- law_variables(fit, fixed_part(s$x))
  blocks <- list(list(columns = 1, variance = 1e8), list(columns = 10:11, variance = 1e8),
                 list(columns = 2:9))
  twin <- twin_missing(y, v$u, cbind(1, z), v$shift, v$factor, v$predictor, blocks = blocks)
  sd <- sqrt(diag(twin$covariance))
  expect_close(fit$elbo, twin$bound, tolerances[["bound"]], abs(twin$bound))
  expect_close(fit$posterior$mean, twin$coefficients[c(1, 10, 11)], 1e-5, sd[c(1, 10, 11)])
  expect_close(as.vector(fit$posterior$group_mean), twin$coefficients[2:9], 1e-5, sd[2:9])
  found <- fit$missing$imputed
  expect_close((found$mean - fit$missing$law$center[found$variable]) /
                 fit$missing$law$scale[found$variable],
               twin$filled[cbind(found$row, found$variable)], 1e-5)
})

# ---- the bound ----------------------------------------------------------------------------------

test_that("the bound never falls, plain or accelerated", {
  s <- simulate_missing(100, 4, 0.3, seed = 8)
  for (accelerate in c(TRUE, FALSE)) {
    fit <- quiet_missing(s$x, s$y, missing = missing_normal(),
                         engine = engine_vb(accelerate = accelerate))
    expect_never_falls(accepted_bounds(fit$trace))
  }
  g <- with_seed(5, sample(10, 100, TRUE))
  fit <- quiet_missing(y ~ x1 + x2 + (1 | g), data.frame(y = s$y, s$x, g), missing = "normal",
                       engine = "vb")
  expect_never_falls(accepted_bounds(fit$trace))
})

test_that("the bound is its own average under q", {
  s <- simulate_missing(25, 2, 0.3, 2, seed = 9)
  fit <- vb(s$x, s$y, missing = missing_normal(), prior = prior_ridge(variance = 2))
  simulated <- with_seed(1, simulated_missing_bound(fit, s$y, s$x, variance = 2))
  expect_lt(simulated$error, 0.1)
  expect_lt(abs(simulated$value - fit$elbo), 4 * simulated$error)
})

# ---- without missing values ---------------------------------------------------------------------

test_that("complete predictors give the fit without a model of them", {
  s <- simulate_missing(60, 3, 0, seed = 10)
  d <- data.frame(y = s$y, s$full, g = gl(6, 10))
  for (formula in list(y ~ x1 + x2 + x3, y ~ x1 + x2 + (1 | g))) {
    plain <- bsvm(formula, d, engine = "vb", control = tight())
    fit <- vb(formula, d, missing = missing_normal())
    expect_close(fixef(fit), fixef(plain), 1e-6, sqrt(diag(vcov(plain))))
    expect_close(vcov(fit), vcov(plain), 1e-6)
    expect_identical(nrow(imputed(fit)), 0L)
    for (normalized in c(TRUE, FALSE)) {
      fits <- lapply(list(NULL, missing_normal()), function(missing) {
        bsvm(formula, d, engine = engine_gaussian(integrate = FALSE), missing = missing,
             likelihood = likelihood_hinge(normalized = normalized), control = tight())
      })
      expect_close(fixef(fits[[2]]), fixef(fits[[1]]), 1e-4, sqrt(diag(vcov(fits[[1]]))))
    }
  }
  draws <- lapply(list(NULL, missing_normal()), function(missing) {
    set.seed(1)
    suppressWarnings(bsvm(y ~ x1 + x2, d, missing = missing,
                          engine = engine_gibbs(draws = 20, burnin = 5)))
  })
  expect_equal(fixef(draws[[2]]), fixef(draws[[1]]), tolerance = 1e-8)
})

# ---- other priors -------------------------------------------------------------------------------

test_that("priors that select, and bridges, stand beside missing predictors", {
  s <- simulate_missing(200, 5, 0.15, 1:3, seed = 11)
  y <- with_seed(6, ifelse(runif(200) < plogis(3 * s$full[, 1]), 1, -1))
  fit <- quiet_missing(s$x, y, missing = missing_normal(), prior = prior_laplace_zero(rho = 0.5),
                       engine = engine_vb(starts = 2))
  expect_never_falls(accepted_bounds(fit$trace))
  inclusion <- inclusion(fit)
  expect_gt(inclusion$probability[1], 0.9)
  set.seed(1)
  for (prior in list(prior_laplace_zero(rho = 0.5), prior_bridge(nu = 1), prior_spike_slab())) {
    drawn <- suppressWarnings(bsvm(s$x, y, missing = missing_normal(), prior = prior,
                                   engine = engine_gibbs(draws = 400, burnin = 200, chains = 2)))
    expect_finite(fixef(drawn))
    expect_gt(fixef(drawn)[[2]], max(abs(fixef(drawn)[4:6])))
    found <- imputed(drawn)
    expect_lt(mean((found$mean - true_values(found, s$full))^2), mean(s$full^2))
  }
})

test_that("laplace-zero with hardly any missing value is near the fit without", {
  s <- simulate_missing(100, 3, 0, seed = 12)
  x <- s$full
  full <- bsvm(x, s$y, prior = prior_laplace_zero(rho = 0.5), engine = engine_vb(starts = 1),
               control = tight())
  x[1, 2] <- NA
  fit <- vb(x, s$y, missing = missing_normal(), prior = prior_laplace_zero(rho = 0.5))
  expect_close(fixef(fit), fixef(full), 0.1, sqrt(diag(vcov(full))))
})

# ---- interfaces ---------------------------------------------------------------------------------

test_that("matrix and formula are the same model", {
  s <- simulate_missing(60, 3, 0.2, seed = 13)
  d <- data.frame(y = s$y, s$x)
  for (engine in list(engine_vb(), engine_gaussian())) {
    fit <- quiet_missing(y ~ x1 + x2 + x3, d, missing = "normal", engine = engine)
    other <- quiet_missing(s$x, s$y, missing = "normal", engine = engine)
    expect_equal(coef(other), coef(fit), tolerance = 1e-12)
    expect_equal(as.data.frame(imputed(other)), as.data.frame(imputed(fit)), tolerance = 1e-12)
  }
  z <- s$full[, 3, drop = FALSE]
  fit <- quiet_missing(y ~ x1 + x2, data.frame(d, z = z[, 1]), engine = "vb",
                       missing = missing_normal(auxiliary = ~ z))
  other <- quiet_missing(s$x[, 1:2], s$y, missing = missing_normal(auxiliary = z), engine = "vb")
  expect_equal(coef(other), coef(fit), tolerance = 1e-12)
})

test_that("the order of rows and the coding of classes do not matter", {
  s <- simulate_missing(60, 2, 0.25, seed = 14)
  fit <- vb(s$x, s$y, missing = missing_normal())
  back <- vb(s$x[60:1, ], s$y[60:1], missing = missing_normal())
  swapped <- vb(s$x, -s$y, missing = missing_normal())
  sd <- sqrt(diag(vcov(fit)))
  expect_close(fixef(back), fixef(fit), 1e-6, sd)
  expect_close(fixef(swapped), -fixef(fit), 1e-6, sd)
  expect_close(imputed(swapped)$mean, imputed(fit)$mean, 1e-6)
  threads <- quiet_missing(s$x, s$y, missing = missing_normal(), engine = "vb",
                           control = bsvm_control(threads = 2))
  one <- quiet_missing(s$x, s$y, missing = missing_normal(), engine = "vb",
                       control = bsvm_control(threads = 1))
  expect_identical(threads$posterior, one$posterior)
  expect_identical(imputed(threads), imputed(one))
})

test_that("a smooth of an incomplete variable has a basis of its complete values", {
  skip_if_not_installed("mgcv")
  s <- simulate_missing(80, 2, 0, seed = 15)
  d <- data.frame(y = s$y, s$full)
  d$x1[c(2, 30, 77)] <- NA
  fit <- quiet_missing(y ~ s(x1, k = 5) + x2, d, missing = "normal", engine = "vb")
  expect_valid_fit(fit)
  expect_identical(unique(imputed(fit)$row), c(2L, 30L, 77L))
  complete <- bsvm(y ~ s(x1, k = 5) + x2, d, missing = missing_omit(), engine = "vb") |>
    suppressMessages()
  at <- data.frame(x1 = c(-1, 0, 1), x2 = 0)
  expect_lt(max(abs(predict(fit, at, type = "link") - predict(complete, at, type = "link"))), 0.2)
  expect_length(predict(fit, data.frame(x1 = c(0, NA), x2 = 1), type = "link"), 2)
  expect_finite(predict(fit, data.frame(x1 = c(0, NA), x2 = 1), type = "link"))
})
