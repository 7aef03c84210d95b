# Regression: the engines against sums over grids, limits that are other methods, and refusals.

flat_line <- function(data, likelihood, engine, ...) {
  bsvm(y ~ x, data, prior = prior_flat(), likelihood = likelihood, engine = engine, ...)
}

# The unit of `data$y`, and standard deviations of flat priors on the user's scale.
exact_line <- function(data, log_p, shape = TRUE) {
  unit <- stats::mad(data$y)
  wide <- 1e4 * unit
  grid_regression(data, log_p, unit, c(wide, wide), c(10, 3, log(1.5)), c(2.2, 2.6, 1.4), shape)
}

moments_of <- function(fit) {
  parameters <- parameter_table(fit)
  list(mean = c(coef(fit), parameters[, "Estimate"]),
       sd = c(sqrt(diag(vcov(fit))), parameters[, "SD"]))
}

test_that("with scale and tube inferred engines have the exact posterior", {
  skip_on_cran()
  data <- numbers_data()
  exact <- exact_line(data, log_eps_insensitive)
  gaussian <- moments_of(flat_line(data, likelihood_eps_insensitive(), engine_gaussian()))
  expect_close(gaussian$mean[1:3], exact$mean[1:3], 0.06, scale = exact$sd[1:3])
  expect_close(gaussian$sd[1:3], exact$sd[1:3], 0.05, scale = exact$sd[1:3])
  expect_close(gaussian$mean[4L], exact$mean[4L], 0.3, scale = exact$sd[4L])
  for (engine in list(engine_slice(draws = 2500, burnin = 500), engine_gibbs(draws = 2500, burnin = 500))) {
    set.seed(1)
    drawn <- moments_of(flat_line(data, likelihood_eps_insensitive(), engine))
    expect_close(drawn$mean, exact$mean, 0.09, scale = exact$sd)
    expect_close(drawn$sd, exact$sd, 0.09, scale = exact$sd)
  }
})

test_that("the Laplace density is that without a tube", {
  skip_on_cran()
  data <- numbers_data()
  log_laplace <- function(r, scale, nu) -log(2 * scale) - abs(r) / scale
  exact <- exact_line(data, log_laplace, shape = FALSE)
  found <- moments_of(flat_line(data, likelihood_laplace(), engine_gaussian()))
  expect_close(found$mean, exact$mean[1:3], 0.05, scale = exact$sd[1:3])
  expect_close(found$sd, exact$sd[1:3], 0.04, scale = exact$sd[1:3])
  same <- flat_line(data, likelihood_eps_insensitive(epsilon = 0), engine_gaussian())
  expect_identical(coef(same), coef(flat_line(data, likelihood_laplace(), engine_gaussian())))
})

test_that("the normal likelihood is linear regression", {
  data <- numbers_data()
  model <- stats::lm(y ~ x, data)
  given <- flat_line(data, likelihood_gaussian(scale = 2), engine_gaussian())
  expect_close(coef(given), coef(model), 1e-6)
  unscaled <- summary(model)$cov.unscaled
  expect_close(vcov(given), 4 * unscaled, 1e-5, scale = max(4 * unscaled))
  inferred <- flat_line(data, likelihood_gaussian(), engine_gaussian())
  expect_close(coef(inferred), coef(model), 1e-5)
  log_normal_density <- function(r, scale, nu) stats::dnorm(r, 0, scale, log = TRUE)
  exact <- grid_regression(data, log_normal_density, stats::mad(data$y), c(1e5, 1e5),
                           c(coef(model), log(summary(model)$sigma)), c(3, 3, 0.7), FALSE)
  found <- moments_of(inferred)
  expect_close(found$mean, exact$mean[1:3], 0.06, scale = exact$sd[1:3])
  expect_close(found$sd, exact$sd[1:3], 0.04, scale = exact$sd[1:3])
})

test_that("the mode at given numbers is LIBSVM's epsilon-SVR", {
  skip_if_not_installed("e1071")
  data <- numbers_data(80)
  data$z <- with_seed(3, stats::rnorm(80))
  scale <- 0.8
  for (epsilon in c(0, 0.5)) for (engine in list(engine_em(), engine_map())) {
    fit <- bsvm(y ~ x + z, data, prior = prior_ridge(variance = 3),
                likelihood = likelihood_eps_insensitive(epsilon = epsilon, scale = scale),
                engine = engine, standardize = FALSE)
    rival <- e1071::svm(y ~ x + z, data, type = "eps-regression", kernel = "linear", cost = 3 / scale,
                        epsilon = epsilon, scale = FALSE, tolerance = 1e-8)
    expect_close(fitted(fit), unname(predict(rival, data)), 1e-4)
  }
})

test_that("under a flat prior the mode is quantile regression's", {
  skip_if_not_installed("lpSolve")
  data <- numbers_data(31)
  tau <- 0.8
  n <- nrow(data)
  columns <- cbind(1, -1, data$x, -data$x, diag(n), -diag(n)) # b, then residuals above and below
  solved <- lpSolve::lp("min", c(0, 0, 0, 0, rep(tau, n), rep(1 - tau, n)), columns, rep("=", n), data$y)
  fit <- flat_line(data, likelihood_quantile(tau, scale = 0.1), engine_em())
  loss <- function(r) sum(pmax(tau * r, (tau - 1) * r))
  expect_close(loss(data$y - fitted(fit)), solved$objval, 1e-6)
})

test_that("constructors refuse what can't be", {
  expect_refusal(likelihood_eps_insensitive(epsilon = 1, nu = 0.5), "argument", c("`epsilon`", "`nu`"))
  expect_refusal(likelihood_eps_insensitive(epsilon = -1), "argument", "`epsilon`")
  expect_refusal(likelihood_eps_insensitive(scale = 0), "argument", "`scale`")
  expect_refusal(likelihood_eps_insensitive(scale = prior_beta()), "argument", "`scale`")
  expect_refusal(likelihood_eps_insensitive(nu = 1.5), "argument", "`nu`")
  expect_refusal(likelihood_eps_insensitive(nu = prior_half_t(3)), "argument", "prior_beta()")
  expect_refusal(likelihood_quantile(1), "argument", "`tau`")
  expect_refusal(likelihood_quantile(), "argument", "`tau`")
  expect_refusal(prior_beta(0, 1), "prior", "`shape1`")
})

test_that("small data without choosing anything have chains that agree", {
  skip_on_cran()
  for (seed in 1:12) {
    data <- with_seed(seed, {
      n <- c(12, 24, 40)[seed %% 3L + 1L]
      x <- stats::rnorm(n)
      noise <- list(stats::rnorm(n), 3 * stats::runif(n), stats::rt(n, 2))[[seed %% 3L + 1L]]
      data.frame(x = x, y = x + noise)
    })
    set.seed(seed)
    expect_no_warning(bsvm(y ~ x, data, likelihood = likelihood_eps_insensitive()))
  }
})

test_that("prints say what is given and what is inferred", {
  expect_output(print(likelihood_eps_insensitive(epsilon = 2)), "epsilon = 2, scale inferred")
  expect_output(print(likelihood_eps_insensitive()), "scale and nu inferred")
  expect_output(print(likelihood_quantile(c(0.1, 0.9))), "0.1.*0.9")
  expect_output(print(prior_beta(2, 3)), "share: beta(2, 3)", fixed = TRUE)
})
