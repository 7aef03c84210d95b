# Fits with missing predictors against sums over grids, one engine against another, and what the
# two likelihoods say of a predictor without effect.

bsvm <- paper_bsvm

skip_on_cran()

one_fit <- function(s, ..., prior = prior_ridge(variance = 2)) {
  quiet_missing(matrix(s$x, dimnames = list(NULL, "x")), s$y, ..., standardize = FALSE,
            prior = prior, missing = missing_normal())
}

gibbs <- function(draws = 5000, ...) engine_gibbs(draws = draws, burnin = 500, ...)

# ---- one predictor ------------------------------------------------------------------------------

test_that("draws have the exact posterior's moments, those of missing values included", {
  s <- one_missing()
  exact <- exact_missing(s$y, s$x, 2)
  set.seed(1)
  fit <- one_fit(s, engine = gibbs())
  draws <- given_draws(fit)
  expect_exact(t(draws), exact, mean = 0.05, sd = 0.05)
  expect_close(fixef(fit), exact$mean, 0.05, exact$sd)
  found <- imputed(fit)
  expect_close(found$mean, exact$imputed_mean, 0.06, exact$imputed_sd)
  expect_close(found$sd / exact$imputed_sd, rep(1, nrow(found)), 0.05)
  drawn <- imputed(fit, draws = TRUE)
  expect_close(colMeans(drawn), exact$imputed_mean, 0.06, exact$imputed_sd)
  expect_close(apply(drawn, 2, sd) / exact$imputed_sd, rep(1, nrow(found)), 0.05)
  expect_close(fit$missing$law$mean, exact$law$mean[["mean"]], 0.06, exact$law$sd[["mean"]])
  expect_close(fit$missing$law$covariance, exact$law$mean[["variance"]], 0.06,
               exact$law$sd[["variance"]])
})

test_that("weights count in draws as powers of the likelihood", {
  s <- one_missing(30, 0.3, seed = 2)
  weight <- rep(c(1, 2), 15)
  exact <- exact_missing(s$y, s$x, 2, weight)
  set.seed(2)
  fit <- one_fit(s, weights = weight, engine = gibbs())
  expect_exact(t(given_draws(fit)), exact, mean = 0.05, sd = 0.05)
  expect_close(imputed(fit)$mean, exact$imputed_mean, 0.06, exact$imputed_sd)
})

test_that("engine_slice() draws from the exact posterior under both likelihoods", {
  weight <- rep(c(1, 3), 15)
  for (normalised in c(FALSE, TRUE)) {
    s <- one_missing(30, 0.3, seed = 2)
    exact <- exact_missing(s$y, s$x, 2, weight, normalised = normalised)
    set.seed(2)
    fit <- one_fit(s, weights = weight, engine = engine_slice(5000, 500),
                   likelihood = likelihood_hinge(normalized = normalised))
    expect_exact(t(given_draws(fit)), exact, mean = 0.06, sd = 0.06)
    expect_close(imputed(fit)$mean, exact$imputed_mean, 0.06, exact$imputed_sd)
    expect_close(imputed(fit)$sd / exact$imputed_sd, rep(1, 9), 0.06)
  }
})

test_that("draws under a bridge prior are exact too", {
  s <- one_missing(30, 0.3, seed = 4)
  exact <- exact_missing(s$y, s$x, log_prior = function(b) -sqrt(abs(b) / 0.1), nodes = 61)
  set.seed(3)
  fit <- one_fit(s, engine = gibbs(), prior = prior_bridge(alpha = 0.5, nu = 0.1))
  expect_exact(t(given_draws(fit)), exact, mean = 0.05, sd = 0.05)
  expect_close(imputed(fit)$mean, exact$imputed_mean, 0.06, exact$imputed_sd)
})

# Nothing is random; what is allowed is little more than the error there is. Over six data sets it
# was at most 0.08 sd in means, 0.12 in standard deviations under the pseudo-likelihood.
test_that("engine_gaussian() is close to the exact posterior under both likelihoods", {
  weight <- rep(c(1, 2), 30)
  for (normalised in c(FALSE, TRUE)) {
    allowed <- if (normalised) 0.05 else 0.1
    s <- one_missing(60, 0.25, seed = 3)
    exact <- exact_missing(s$y, s$x, 2, weight, normalised)
    fit <- one_fit(s, engine = "gaussian", weights = weight,
                   likelihood = likelihood_hinge(normalized = normalised))
    expect_close(fixef(fit), exact$mean, allowed, exact$sd)
    expect_close(sqrt(diag(vcov(fit))) / exact$sd, c(1, 1), allowed)
    found <- imputed(fit)
    expect_close(found$mean, exact$imputed_mean, 0.06, exact$imputed_sd)
    expect_close(found$sd / exact$imputed_sd, rep(1, nrow(found)), 0.08)
  }
})

# ---- several ------------------------------------------------------------------------------------

# Means of 8000 draws are known to about 0.02 sd.
test_that("engine_gaussian() is close to draws with several incomplete predictors", {
  s <- simulate_missing(300, 4, 0.12, seed = 4)
  near <- quiet_missing(s$x, s$y, missing = "normal", engine = "gaussian")
  set.seed(3)
  exact <- quiet_missing(s$x, s$y, missing = "normal", engine = gibbs(2000))
  sd <- sqrt(diag(vcov(exact)))
  expect_close(fixef(near), fixef(exact), 0.05, sd)
  expect_close(sqrt(diag(vcov(near))) / sd, rep(1, 5), 0.08)
  expect_close(imputed(near)$mean, imputed(exact)$mean, 0.07, imputed(exact)$sd)
})

test_that("engine_gaussian() is close to draws beside group effects", {
  s <- simulate_missing(300, 2, 0.12, seed = 5)
  d <- data.frame(s$x, g = rep(1:15, 20))
  d$y <- with_seed(1, runif(300) < plogis(2 * s$full[, 1] + rnorm(15)[d$g]))
  near <- quiet_missing(y ~ x1 + x2 + (1 | g), d, missing = "normal", engine = "gaussian")
  set.seed(7)
  exact <- quiet_missing(y ~ x1 + x2 + (1 | g), d, missing = "normal", engine = gibbs(2000))
  sd <- sqrt(diag(vcov(exact)))
  expect_close(fixef(near), fixef(exact), 0.05, sd)
  expect_close(sqrt(diag(vcov(near))) / sd, rep(1, 3), 0.1)
  expect_close(near$missing$imputed$mean, exact$missing$imputed$mean, 0.07,
               exact$missing$imputed$sd)
  two <- quiet_missing(y ~ x1 + x2 + (1 | g), d, missing = "normal", engine = "gaussian",
                   control = bsvm_control(threads = 2))
  expect_identical(two$posterior, near$posterior)
})

test_that("draws are those of a plain sampler with group effects and an auxiliary variable", {
  s <- simulate_missing(60, 3, 0.3, 1:2, seed = 5)
  g <- rep(1:6, 10)
  d <- data.frame(y = s$y, s$x, g)
  set.seed(4)
  fit <- quiet_missing(y ~ x1 + x2 + (1 | g), d, missing = missing_normal(auxiliary = ~ x3),
                   engine = gibbs(), prior = list(g = prior_ridge(variance = 0.5)))
  twin <- with_seed(5, twin_gibbs_missing(fit, d, variance = 0.5, draws = 5000))
  draws <- rbind(flat_draws(fit$posterior$coefficients), flat_draws(fit$posterior$effects))
  expect_same_law(t(draws), twin$coefficients)
  expect_same_law(imputed(fit, draws = TRUE), twin$entries)
})

# ---- draws as such ------------------------------------------------------------------------------

test_that("threads do not change a draw, and a resumed run is the whole run", {
  s <- simulate_missing(50, 3, 0.25, seed = 6)
  d <- data.frame(y = s$y, s$x, g = rep(1:5, 10))
  check <- function(formula, engine, likelihood) {
    run <- function(draws = 60, threads = 1, ...) {
      with_seed(1, unchecked(quiet_missing(
        formula, d, missing = "normal", likelihood = likelihood,
        engine = engine(draws = draws, burnin = 30, chains = 2, ...),
        control = bsvm_control(threads = threads)
      )))
    }
    whole <- run()
    other <- run(threads = 2)
    expect_identical(other$posterior, whole$posterior)
    expect_identical(other$missing, whole$missing)
    file <- new_checkpoint()
    on.exit(unlink(file))
    part <- run(25, checkpoint = file)
    expect_identical(part$missing$draws, whole$missing$draws[, 1:25, ])
    resumed <- run(60, checkpoint = file, resume = TRUE)
    expect_identical(resumed$posterior, whole$posterior)
    expect_identical(resumed$missing, whole$missing)
  }
  check(y ~ x1 + x2 + x3 + (1 | g), engine_gibbs, likelihood_hinge())
  check(y ~ x1 + x2 + x3, engine_slice, likelihood_hinge())
  check(y ~ x1 + x2 + x3, engine_slice, likelihood_hinge(normalized = TRUE))
})

test_that("without their draws the moments of missing values are the same", {
  s <- simulate_missing(50, 2, 0.25, seed = 7)
  run <- function(keep) {
    with_seed(1, unchecked(quiet_missing(s$x, s$y, missing = missing_normal(keep_draws = keep),
                                     engine = engine_gibbs(draws = 100, burnin = 30))))
  }
  kept <- run(TRUE)
  fit <- run(FALSE)
  expect_identical(fit$posterior, kept$posterior)
  expect_null(fit$missing$draws)
  expect_identical(imputed(fit), imputed(kept))
  expect_refusal(imputed(fit, draws = TRUE), "unsupported", "keep_draws = TRUE")
  expect_equal(dim(imputed(kept, draws = TRUE)), c(400, sum(is.na(s$x))))
  expect_finite(predict(fit, interval = TRUE, type = "link"))
})

# ---- what is said of effects and values ---------------------------------------------------------

test_that("an irrelevant predictor, 35 % missing, has no effect under the normalised likelihood", {
  d <- with_seed(1, {
    x <- matrix(rnorm(4000), 2000)
    y <- ifelse(runif(2000) < plogis(x[, 1]), 1, -1)
    x[runif(2000) < 0.35, 2] <- NA
    data.frame(y, relevant = x[, 1], irrelevant = x[, 2])
  })
  formula <- y ~ relevant + irrelevant
  true <- bsvm(formula, d, missing = "normal", likelihood = likelihood_hinge(normalized = TRUE),
               engine = "gaussian")
  expect_identical(bsvm::bsvm(formula, d, missing = "normal")$engine$name, "gaussian")
  expect_lt(abs(fixef(true)[["irrelevant"]]), 0.1 * fixef(true)[["relevant"]])
  for (engine in c("gaussian", "vb")) {
    pseudo <- quiet_missing(formula, d, missing = "normal", engine = engine)
    expect_gt(abs(fixef(pseudo)[["irrelevant"]]), 0.3 * fixef(pseudo)[["relevant"]])
  }
  expect_lt(sqrt(vcov(pseudo)["irrelevant", "irrelevant"]), 0.05)
})

covered_share <- function(fit, full) {
  found <- imputed(fit)
  mean(abs(true_values(found, full) - found$mean) < qnorm(0.95) * found$sd)
}

test_that("intervals of missing values hold them", {
  strong <- simulate_missing(400, 3, 0.15, seed = 9)
  fit <- bsvm(strong$x, strong$y, missing = "normal",
              likelihood = likelihood_hinge(normalized = TRUE))
  expect_gt(covered_share(fit, strong$full), 0.85)
  expect_lt(covered_share(fit, strong$full), 0.95)
  # The pseudo-likelihood makes too much of a row's class, where other predictors say little.
  s <- with_seed(2, {
    common <- rnorm(400)
    full <- 0.95 * common + 0.3 * matrix(rnorm(1200), 400, dimnames = list(NULL, c("a", "b", "c")))
    y <- ifelse(runif(400) < plogis(common), 1, -1)
    list(x = replace(full, runif(1200) < 0.15, NA), full = full, y = y)
  })
  set.seed(6)
  for (engine in list(engine_vb(), engine_gaussian(), gibbs(500))) {
    fit <- unchecked(quiet_missing(s$x, s$y, missing = "normal", engine = engine))
    expect_gt(covered_share(fit, s$full), 0.8)
    expect_lt(covered_share(fit, s$full), 0.97)
  }
})
