bsvm <- paper_bsvm

r <- random_case(50, 2, seed = 3)
d <- data.frame(y = r$y, x = r$x[, 2], g = rep(1:10, 5))

# log p(y | b, s) with intercepts integrated out, by a grid.
grid_marginal <- function(b, s, normalised) {
  u <- seq(-9, 9, length.out = 20001)
  f0 <- drop(r$x %*% b)
  sum(vapply(split(seq_along(r$y), d$g), function(rows) {
    own <- list(y = r$y[rows], weight = rep(1, length(rows)), normalised = normalised)
    total <- hinge_loglik(own, outer(s * u, f0[rows], `+`)) + dnorm(u, log = TRUE)
    max(total) + log(sum(exp(total - max(total)))) + log(u[2] - u[1])
  }, 0))
}

for (normalised in c(FALSE, TRUE)) {
  test_that(sprintf("mode, and Hessian, of the integrated posterior: normalised %s", normalised), {
    fit <- bsvm(y ~ x + (1 | g), d, engine = engine_map(),
                likelihood = likelihood_hinge(normalized = normalised),
                prior = list("(Intercept)" = prior_ridge(variance = 4), prior_ridge(variance = 3),
                             g = prior_ridge(variance = 0.8)), standardize = FALSE)
    objective <- function(b) {
      grid_marginal(b, sqrt(0.8), normalised) + sum(dnorm(b, 0, c(2, sqrt(3)), log = TRUE))
    }
    steps <- list(fnscale = -1, reltol = 1e-14, ndeps = c(0.02, 0.02))
    best <- optim(c(0, 0), objective, method = "BFGS", control = steps)
    covariance <- solve(-optimHess(best$par, objective, control = steps))
    sd <- sqrt(diag(covariance))
    expect_close(fixef(fit), best$par, 1e-2, scale = sd)
    expect_close(vcov(fit), covariance, 2e-2, scale = outer(sd, sd))
  })
}

test_that("an inferred variance is at a mode, with intervals from the Hessian", {
  fit <- bsvm(y ~ x + (1 | g), d, engine = "map")
  expect_length(fit$posterior$weights, 1)
  expect_equal(dim(fit$posterior$theta_covariance), c(1, 1))
  s <- attr(VarCorr(fit)$g, "stddev")
  expect_close(VarCorr(fit)$g, s^2, 1e-12)
  row <- tidy(fit, "ran_pars", conf.int = TRUE)
  expect_true(row$conf.low < row$estimate && row$estimate < row$conf.high)
  width <- 2 * qnorm(0.975) * sqrt(fit$posterior$theta_covariance)
  expect_close(log(row$conf.high / row$conf.low), width, 1e-10)
  expect_output(print(summary(fit, details = TRUE)), "engine_gaussian() has means", fixed = TRUE)
  expect_refusal(elbo(fit), "unsupported", c("engine_map()", "a mode", "engine_gaussian()"))
  expect_output(print(fit), "Mode found")
})

test_that("a variance that was given is not called a mode", {
  fit <- bsvm(y ~ x + (1 | g), d, engine = "map", prior = prior_ridge(variance = 3))
  expect_identical(summary(fit)$variances$fixed, c(TRUE, FALSE))
  for (x in list(fit, summary(fit, details = TRUE))) {
    shown <- capture.output(print(x))
    expect_length(grep("^population-level slopes \\(fixed\\) +3\\.0", shown), 1)
    expect_length(grep("^g: \\(Intercept\\) \\(fixed\\)", shown), 0)
  }
})

test_that("without integrated effects there is a mode and no spread", {
  fit <- bsvm(y ~ x, d, engine = "map", prior = list("(Intercept)" = prior_ridge(variance = 4),
                                                     prior_ridge(variance = 3)),
              standardize = FALSE)
  objective <- function(b) {
    -2 * sum(pmax(1 - r$y * drop(r$x %*% b), 0)) + sum(dnorm(b, 0, c(2, sqrt(3)), log = TRUE))
  }
  best <- objective(fixef(fit))
  with_seed(1, others <- matrix(rnorm(400, sd = 0.05), 2))
  expect_true(all(best + 1e-6 >= apply(fixef(fit) + others, 2, objective)))
  expect_refusal(vcov(fit), "unsupported", "engine_gaussian()")
  expect_refusal(confint(fit), "unsupported", "engine_gaussian()")
  expect_true(all(is.na(summary(fit)$coefficients[, "SD"])))
})

test_that("effects that can't be integrated are refused before anything runs", {
  g <- grouped_data()
  expect_refusal(bsvm(y ~ (x1 + t | g), g, engine = "map"), "unsupported",
                 c("engine_map()", "integrated out", "engine_gaussian()"))
  g$t[1:50] <- 0
  expect_refusal(bsvm(y ~ x1 + (0 + t | g), g, engine = "map"), "unsupported", "by zero")
})

test_that("the constructor", {
  expect_output(print(engine_map()), "posterior mode")
  expect_refusal(engine_map(draws = 3), "argument", c("engine_map()", "engine_slice()"))
})
