# Against the exact posterior by quadrature, under both likelihoods. Nothing here is random: what is
# allowed is twice the error there is.

skip_on_cran()

bsvm <- paper_bsvm

r <- random_case(50, 2, seed = 3)
d <- data.frame(y = r$y, x = r$x[, 2], w = r$weight, o = r$offset, g = rep(1:6, length.out = 50))
likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))

exact_model <- function(x, blocks, normalised, ...) {
  c(twin_model(x, r$y, blocks, ...), list(normalised = normalised))
}

# Mean and sd of the first of `free`, on the scale of log s2.
log_variance <- function(fit) {
  theta <- 2 * fit$posterior$theta[1, ]
  mean <- sum(fit$posterior$weights * theta)
  c(mean, sqrt(sum(fit$posterior$weights * (theta - mean)^2)))
}

expect_near <- function(mean, sd, exact, at, mean_tolerance, sd_tolerance) {
  expect_close(mean, exact$mean[at], mean_tolerance, scale = exact$sd[at])
  expect_close(sd, exact$sd[at], sd_tolerance, scale = exact$sd[at])
}

for (likelihood in names(likelihoods)) {
  normalised <- likelihood == "normalised"

  test_that(sprintf("coefficients and an inferred variance: %s", likelihood), {
    model <- exact_model(r$x, list(block_normal(1, 2), block_ridge(2, 2, 1)), normalised,
                         weight = r$weight, offset = r$offset)
    grid <- list(seq(-3, 4, length.out = 161), seq(-2, 5, length.out = 161))
    exact <- exact_coefficients(model, grid, from = -9, to = 12)
    fit <- bsvm(y ~ x, d, weights = w, offset = o, standardize = FALSE,
                engine = engine_gaussian(), likelihood = likelihoods[[likelihood]],
                prior = list("(Intercept)" = prior_ridge(variance = 2), prior_ridge(2, 1)))
    expect_near(fixef(fit), sqrt(diag(vcov(fit))), exact, 1:2, 0.025, 0.08)
    expect_near(log_variance(fit)[1], log_variance(fit)[2], exact, 3, 0.02, 0.035)
    expect_equal(fit$posterior$integrated, 0L)
  })

  test_that(sprintf("group effects integrated out: %s", likelihood), {
    model <- exact_model(r$x[, 1, drop = FALSE], list(block_normal(1, 2)), normalised,
                         weight = r$weight, offset = r$offset, group = d$g,
                         group_blocks = list(block_ridge(1, 2, 1)))
    exact <- exact_groups(model, seq(-4, 4, length.out = 81))
    fit <- bsvm(y ~ 1 + (1 | g), d, weights = w, offset = o, engine = engine_gaussian(),
                likelihood = likelihoods[[likelihood]],
                prior = list("(Intercept)" = prior_ridge(variance = 2), g = prior_ridge(2, 1)))
    expect_equal(fit$posterior$integrated, 1L)
    expect_near(fixef(fit), sqrt(diag(vcov(fit))), exact, 1, 0.004, 0.01)
    effects <- as.data.frame(ranef(fit))
    expect_near(effects$condval, effects$condsd, exact, 2:7, 0.05, 0.04)
    expect_near(log_variance(fit)[1], log_variance(fit)[2], exact, 8, 0.015, 0.03)
    links <- predict(fit, data.frame(g = 1:6, o = 0), interval = TRUE)
    expect_near(links$fit, links$sd, exact, 9:14, 0.05, 0.05)
  })

  test_that(sprintf("limits of integrated effects hold their mass: %s", likelihood), {
    fit <- bsvm(y ~ 1 + (1 | g), d, engine = engine_gaussian(),
                likelihood = likelihoods[[likelihood]],
                prior = list("(Intercept)" = prior_ridge(variance = 1e-6),
                             g = prior_ridge(variance = 2)))
    effects <- as.data.frame(ranef(fit, level = 0.9))
    u <- seq(-15, 15, length.out = 60001)
    for (g in 1:6) {
      own <- list(y = d$y[d$g == g], weight = rep(1, sum(d$g == g)), normalised = normalised)
      log_law <- hinge_loglik(own, matrix(u, length(u), length(own$y))) - u^2 / 4
      law <- exp(log_law - max(log_law))
      below <- function(x) sum(law[u <= x]) / sum(law)
      expect_close(below(effects$lower[g]), 0.05, 2e-4)
      expect_close(below(effects$upper[g]), 0.95, 2e-4)
    }
  })
}

test_that("its bound is above the augmented one and below the evidence", {
  fixed <- list("(Intercept)" = prior_ridge(variance = 2), prior_ridge(variance = 1))
  fit <- bsvm(y ~ x, d, standardize = FALSE, prior = fixed, engine = engine_gaussian())
  augmented <- bsvm(y ~ x, d, standardize = FALSE, prior = fixed, engine = "vb")
  b <- expand.grid(seq(-4, 4, length.out = 401), seq(-3, 6, length.out = 401))
  log_joint <- hinge_loglik(list(y = r$y, weight = rep(1, 50)), as.matrix(b) %*% t(r$x)) +
    dnorm(b[, 1], 0, sqrt(2), log = TRUE) + dnorm(b[, 2], log = TRUE)
  evidence <- log(sum(exp(log_joint))) + log(8 / 400) + log(9 / 400)
  expect_gt(elbo(fit), elbo(augmented))
  expect_lt(elbo(fit), evidence + 1e-6)
  expect_gt(elbo(fit), evidence - 0.12)
})

test_that("the constructor", {
  expect_output(print(engine_gaussian()), "Gaussian approximation")
  expect_refusal(engine_gaussian(NA), "argument", "`integrate`")
  expect_refusal(engine_gaussian(tol = 1), "argument", "bsvm_control(tol = )")
  expect_s3_class(bsvm(y ~ x, d, engine = "gaussian")$posterior, "bsvm_mixture")
})

test_that("`integrate = FALSE` keeps all effects in the normal law", {
  whole <- bsvm(y ~ x + (1 | g), d, engine = engine_gaussian(integrate = FALSE))
  expect_equal(whole$posterior$integrated, 0L)
  expect_s3_class(whole$posterior$components[[1]], "bsvm_moments")
  parts <- bsvm(y ~ x + (1 | g), d, engine = engine_gaussian())
  expect_close(fixef(whole), fixef(parts), 0.02, scale = sqrt(diag(vcov(parts))))
})

test_that("several factors: the one with most levels is integrated", {
  g <- grouped_data()
  g$h <- factor(rep(c("p", "q", "r"), 40))
  fit <- bsvm(y ~ x1 + (1 | h) + (t | g), g, engine = engine_gaussian())
  expect_equal(fit$posterior$integrated, 2L)
  expect_s3_class(fit$posterior$components[[1]], "bsvm_integrated")
  expect_equal(lengths(ranef(fit)), c(h = 1, g = 2))
  expect_finite(predict(fit, g[1:4, ], interval = TRUE))
  limits <- as.data.frame(ranef(fit, level = 0.9))
  expect_true(all(limits$lower < limits$condval & limits$condval < limits$upper))
})

test_that("one component where nothing is inferred, weights that sum to one else", {
  fixed <- bsvm(y ~ x, d, prior = prior_flat(1), engine = "gaussian")
  expect_length(fixed$posterior$components, 1)
  fit <- bsvm(y ~ x + (1 | g), d, engine = "gaussian")
  expect_equal(sum(fit$posterior$weights), 1)
  expect_gt(length(fit$posterior$weights), 3)
  expect_equal(vapply(fit$posterior$components, function(p) length(p$mean), 0L),
               rep(2L, length(fit$posterior$weights)))
})

test_that("engines that can't have the normalised likelihood name those that can", {
  for (engine in list("vb", engine_gibbs(draws = 10))) {
    expect_refusal(bsvm(y ~ x, d, likelihood = likelihood_hinge(normalized = TRUE),
                        engine = engine),
                   "unsupported", c("engine_gaussian()", "engine_map()"))
  }
})

test_that("threads change nothing", {
  g <- grouped_data()
  fit <- function(threads) {
    bsvm(y ~ x1 + (t | g), g, engine = "gaussian", control = bsvm_control(threads = threads))
  }
  expect_identical(fit(1)$posterior, fit(2)$posterior)
})

# Against 240000 draws of engine_gibbs() (effective sample sizes above 6000, so means are known to
# 0.013 sd): the posterior of the intercepts' variance is wide and skewed, and there are kinks that
# hardly anything smooths. Independent effects' standard deviations are 14 % too small.
test_that("two effects a level, few of them known well", {
  skip_if_not_installed("MASS")
  d <- MASS::bacteria
  fit <- bsvm(y ~ trt + (week | ID), d, engine = engine_gaussian())
  exact <- list(mean = c(1.7574, -0.4776, -0.0545), sd = c(0.3733, 0.4348, 0.4391))
  expect_near(fixef(fit), sqrt(diag(vcov(fit))), exact, 1:3, 0.03, 0.05)
  expect_close(c(confint(fit)), c(1.194, -1.429, -0.967, 2.649, 0.302, 0.786), 0.03)
  expect_close(diag(VarCorr(fit)$ID), c(0.5477, 0.0962), 0.03, scale = c(0.5477, 0.0962))
  sds <- tidy(fit, effects = "ran_pars", conf.int = TRUE)[1:2, ]
  expect_close(log(c(sds$conf.low, sds$conf.high)), c(-1.160, -1.744, 0.390, -0.700), 0.04)
  independent <- bsvm(y ~ trt + (week || ID), d, engine = engine_gaussian())
  exact <- list(mean = c(1.734, -0.399, -0.012), sd = c(0.593, 0.506, 0.510))
  expect_near(fixef(independent), sqrt(diag(vcov(independent))), exact, 1:3, 0.03, 0.15)
})

# Against 1600 importance draws with integrated_loglik() as weights (effective sample size 756).
test_that("two effects a level under the normalised likelihood", {
  skip_if_not_installed("MASS")
  fit <- bsvm(y ~ trt + (week | ID), MASS::bacteria, engine = engine_gaussian(),
              likelihood = likelihoods$normalised)
  exact <- list(mean = c(0.672, -0.306, -0.139), sd = c(0.148, 0.182, 0.189))
  expect_near(fixef(fit), sqrt(diag(vcov(fit))), exact, 1:3, 0.07, 0.07)
  expect_close(diag(VarCorr(fit)$ID), c(0.0507, 0.00354), 0.1, scale = c(0.0507, 0.00354))
})

test_that("random slopes do not depend on the units of their predictor, or its sign", {
  set.seed(1)
  g <- gl(30, 8)
  x <- rnorm(240)
  d <- data.frame(x, g, y = 0.3 + 0.5 * x + rnorm(30)[g] + 0.8 * rnorm(30)[g] * x + rnorm(240) > 0)
  covariance <- function(x) {
    d$x <- x
    fit <- expect_no_warning(bsvm(y ~ x + (x | g), d, engine = engine_gaussian(),
                                  likelihood = likelihoods$normalised))
    VarCorr(fit)$g
  }
  own <- covariance(d$x)
  small <- covariance(d$x / 1000)
  size <- sqrt(outer(diag(own), diag(own)))
  expect_close(c(small) / c(1, 1000, 1000, 1e6), c(own), 1e-3, scale = size)
  expect_close(c(covariance(-d$x)) * c(1, -1, -1, 1), c(own), 1e-4, scale = size)
})

test_that("the evidence of proper priors is below one, also where kinks are few", {
  for (seed in 1:4) {
    set.seed(seed)
    g <- gl(10, 6)
    x <- matrix(rnorm(120), 60)
    d <- data.frame(x, g, y = drop(x %*% c(2, 0.2)) + rnorm(10)[g] + 0.1 * rnorm(60) > 0)
    fit <- suppressWarnings(bsvm(
      y ~ X1 + X2 + (1 | g), d, likelihood = likelihoods$normalised, engine = "gaussian",
      prior = list(prior_ridge(variance = 25), "(Intercept)" = prior_ridge(variance = 25),
                   g = prior_ridge(variance = prior_half_t(4, 1)))
    ))
    expect_lt(elbo(fit), 0)
    expect_gt(length(fit$posterior$weights), 2)
  }
})

test_that("classes that columns with an inferred variance separate", {
  d <- droplevels(subset(iris, Species != "virginica"))
  for (likelihood in likelihoods) {
    expect_warning(
      fit <- bsvm(Species ~ Petal.Length, d, engine = engine_gaussian(), likelihood = likelihood),
      "bound the variance of `population-level slopes`", class = "bsvm_warning_rank"
    )
    expect_finite(fixef(fit))
    expect_equal(predict(fit, type = "class"), d$Species, ignore_attr = TRUE)
    bounded <- prior_ridge(variance = prior_half_t(3, 1))
    expect_no_warning(fit <- bsvm(Species ~ Petal.Length, d, engine = engine_gaussian(),
                                  likelihood = likelihood, prior = bounded))
    expect_finite(fixef(fit))
  }
})

test_that("a formula without population-level columns", {
  for (engine in list(engine_gaussian(), engine_map())) {
    fit <- bsvm(y ~ 0 + (1 | g), d, engine = engine)
    expect_length(fixef(fit), 0)
    expect_length(ranef(fit)$g[[1]], 6)
    expect_finite(VarCorr(fit)$g)
    expect_finite(predict(fit, data.frame(g = 1:6), type = "link"))
  }
})

# The scale of residuals starts at that of the response, sixty times too large, where climbs went
# astray: 67 and 118 looks to the top, and with more rows they stalled (gaussian/DECISIONS.md).
test_that("a scale far below the response's is found in few passes", {
  set.seed(1)
  d <- data.frame(x1 = runif(1500, -2, 2), x2 = runif(1500, -2, 2))
  d$y <- sin(2 * d$x1) + cos(1.5 * d$x2) * d$x1 / 2 + 0.01 * (rexp(1500) - rexp(1500))
  for (likelihood in list(likelihood_laplace(), likelihood_quantile(0.9))) {
    fit <- bsvm(y ~ gp(x1, x2, kernel = kernel_se(0.5), points = 60), d, likelihood = likelihood,
                engine = "gaussian")
    expect_equal(fit$termination, "converged")
    expect_lt(nrow(fit$trace), 60)
    expect_lt(fit$passes, 250)
  }
})
