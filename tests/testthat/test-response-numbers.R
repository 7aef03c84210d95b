# A response of numbers: which are accepted, what is said of them, and their predictions.

regress <- function(formula = dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive(),
                    engine = engine_vb(), ...) {
  bsvm(formula, data, likelihood = likelihood, engine = engine, ...)
}

test_that("without a likelihood for numbers the error says what to write, and that works", {
  expect_refusal(bsvm(dist ~ speed, data = cars), "response", "`likelihood = likelihood_eps_insensitive()`")
  expect_s3_class(bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive()), "bsvm")
  zero_one <- bsvm(am ~ wt, data = mtcars, engine = "vb")
  expect_identical(levels(predict(zero_one)), c("0", "1"))
})

test_that("responses that have no scale are refused", {
  flat <- transform(cars, dist = 7)
  expect_refusal(regress(data = flat), "response", c("must vary", "7"))
  line <- transform(cars, dist = 3 + 2 * speed)
  expect_refusal(regress(data = line, prior = prior_flat()), "response", "fitted exactly")
  expect_refusal(regress(data = cars[1, ]), "response", "must vary")
  expect_refusal(regress(data = transform(cars, dist = replace(dist, 3, Inf))), "predictors", "Inf")
  expect_refusal(regress(data = transform(cars, dist = replace(dist, 3, NA))), "missing", "`dist`")
  expect_refusal(regress(data = transform(cars, dist = factor(dist > 40))), "response", "numbers")
  expect_refusal(regress(data = transform(cars, dist = as.character(dist))), "response", "numbers")
  expect_refusal(regress(data = transform(cars, dist = dist * 1e200)), "response", "1e150")
  expect_refusal(regress(cbind(dist, dist) ~ speed), "response", "copy")
})

test_that("integers, two rows, and a response with most rows at one value are numbers", {
  expect_finite(coef(regress(data = transform(cars, dist = as.integer(dist)))))
  expect_finite(coef(regress(data = cars[c(1, 50), ])))
  tied <- transform(cars, dist = replace(dist, 1:35, 20))
  fit <- regress(data = tied)
  expect_finite(c(coef(fit), sigma(fit)))
})

test_that("one outlier of a million standard deviations does not move the rest", {
  far <- transform(cars, dist = replace(dist, 7, 1e7))
  plain <- regress(data = cars[-7, ], engine = engine_gaussian())
  fit <- regress(data = far, engine = engine_gaussian(), likelihood = likelihood_laplace(scale = 10))
  given <- regress(data = cars[-7, ], engine = engine_gaussian(), likelihood = likelihood_laplace(scale = 10))
  expect_close(coef(fit), coef(given), 0.6, scale = sqrt(diag(vcov(given))))
  expect_finite(unlist(predict(regress(data = far, engine = engine_gaussian()), interval = TRUE)))
})

test_that("predict() has predictive and confidence intervals, quantiles and values", {
  fit <- regress(engine = engine_gaussian())
  new <- data.frame(speed = c(5, 15, NA, 25))
  value <- predict(fit, new)
  expect_type(value, "double")
  expect_identical(is.na(value), c(FALSE, FALSE, TRUE, FALSE), ignore_attr = TRUE)
  wide <- predict(fit, new, interval = TRUE)
  expect_identical(wide, predict(fit, new, interval = "prediction"))
  narrow <- predict(fit, new, interval = "confidence")
  expect_close(wide$fit[-3], narrow$fit[-3], 1e-9)
  expect_true(all(wide$upper[-3] - wide$lower[-3] > 3 * (narrow$upper[-3] - narrow$lower[-3])))
  limits <- predict(fit, new, type = "quantile", probs = c(0.025, 0.975))
  expect_close(limits[-3, ], as.matrix(wide[-3, c("lower", "upper")]), 1e-9)
  expect_refusal(predict(fit, new, type = "class"), "argument", "`type`")
  expect_refusal(predict(fit, new, interval = "both"), "argument", "`interval`")
  expect_refusal(predict(fit, new, type = "quantile", probs = 1), "argument", "`probs`")
  quantile <- regress(likelihood = likelihood_quantile(0.9))
  expect_refusal(predict(quantile, interval = TRUE), "unsupported", "\"confidence\"")
  expect_finite(unlist(predict(quantile, interval = "confidence")))
  classes <- bsvm(am ~ wt, data = mtcars, engine = "vb")
  expect_refusal(predict(classes, type = "quantile"), "argument", "`type`")
})

test_that("predictive quantiles are those of the mixture over the posterior", {
  set.seed(2)
  for (engine in list(engine_gaussian(), engine_slice(draws = 300, burnin = 100), engine_vb())) {
    fit <- regress(engine = engine)
    rows <- data.frame(speed = c(7, 21))
    p <- c(0.03, 0.5, 0.9)
    found <- predict(fit, rows, type = "quantile", probs = p)
    points <- residual_points(fit)
    new <- prediction_rows(fit, rows, NULL, FALSE, NULL, NULL, globalenv())
    links <- link_points(fit$posterior, fit, new)
    if (engine$name == "slice") { # as many as are mixed
      kept <- points_that_matter(points$weights)
      points <- list(weights = rep(1 / length(kept), length(kept)),
                     values = lapply(points$values, `[`, kept))
      links <- lapply(links, function(x) x[, kept, drop = FALSE])
    }
    for (i in 1:2) for (j in 1:3) {
      below <- vapply(seq_along(points$weights), function(k) {
        scale <- rep_len(points$values$scale, k)[k]
        hinges <- list(a = 1 / scale, b = 1 / scale, e1 = scale * rep_len(points$values$kappa, k)[k],
                    e2 = scale * rep_len(points$values$kappa, k)[k])
        f <- function(u) hinges_cdf(found[i, j] - links$mean[i, k] - links$sd[i, k] * u, hinges) * dnorm(u)
        if (links$sd[i, k] == 0) hinges_cdf(found[i, j] - links$mean[i, k], hinges)
        else stats::integrate(f, -8, 8, rel.tol = 1e-8, subdivisions = 500L)$value
      }, 0)
      expect_close(sum(below * points$weights), p[j], 1e-6)
    }
  }
})

test_that("residuals, sigma and R-squared are what they say", {
  skip_if_not_installed("posterior")
  fit <- regress(engine = engine_slice(draws = 200, burnin = 100))
  expect_close(residuals(fit), cars$dist - fitted(fit), 1e-12)
  tube <- tube_of(fit)
  beyond <- residuals(fit, type = "tube")
  expect_close(abs(beyond), pmax(abs(residuals(fit)) - tube, 0), 1e-12)
  draws <- posterior::as_draws_matrix(fit)
  f <- outer(as.vector(draws[, "(Intercept)"]), rep(1, 50)) + as.vector(draws[, "speed"]) %o% cars$speed
  scale <- as.vector(draws[, "scale"])
  epsilon <- scale * (1 / as.vector(draws[, "nu"]) - 1)
  share <- scale / (scale + epsilon)
  variance <- (1 - share) * epsilon^2 / 3 + share * (epsilon^2 + 2 * epsilon * scale + 2 * scale^2)
  expect_close(sigma(fit), mean(sqrt(variance)), 1e-9)
  explained <- apply(f, 1, function(row) mean((row - mean(row))^2))
  expect_close(bayes_R2(fit), explained / (explained + variance), 1e-9)
  expect_refusal(residuals(bsvm(am ~ wt, mtcars, engine = "vb"), type = "tube"), "unsupported", "numbers")
})

test_that("log-likelihoods are densities at each draw, and loo() has them", {
  skip_if_not_installed("posterior")
  fit <- regress(engine = engine_slice(draws = 200, burnin = 100))
  draws <- posterior::as_draws_matrix(fit)
  f <- outer(as.vector(draws[, "(Intercept)"]), rep(1, 50)) + as.vector(draws[, "speed"]) %o% cars$speed
  expected <- f
  for (s in seq_len(nrow(f))) {
    scale <- draws[s, "scale"][[1L]]
    expected[s, ] <- log_eps_insensitive(cars$dist - f[s, ], scale, draws[s, "nu"][[1L]])
  }
  expect_close(log_lik(fit), expected, 1e-9)
  expect_close(loo_terms(fit, "row", 1L, environment()), expected, 1e-9)
  expect_close(log_lik(fit, draw_ids = c(3, 7)), expected[c(3, 7), ], 1e-9)
  expect_s3_class(loo::loo(fit), "loo")
})

test_that("draws of the response have their density", {
  fit <- regress(engine = engine_slice(draws = 1000, burnin = 100))
  drawn <- posterior_predict(fit, data.frame(speed = 15), seed = 1)
  limits <- predict(fit, data.frame(speed = 15), type = "quantile", probs = c(0.1, 0.5, 0.9))
  share <- vapply(limits, function(limit) mean(drawn < limit), 0)
  expect_close(share, c(0.1, 0.5, 0.9), 0.035)
  simulated <- simulate(fit, nsim = 3, seed = 2)
  expect_identical(dim(simulated), c(50L, 3L))
  expect_refusal(simulate(fit, nsim = 1e6), "argument", "`nsim`")
})

test_that("pictures and prints of regression are drawn", {
  skip_if_not_installed("ggplot2")
  fit <- regress(engine = engine_gaussian())
  for (which in c("residuals", "predictive", "coefficients")) {
    expect_s3_class(plot(fit, which), "ggplot")
    expect_silent(ggplot2::ggplot_build(plot(fit, which)))
  }
  expect_output(print(fit), "support vector regression")
  expect_output(print(summary(fit)), "tube up to")
  expect_output(print(regress(likelihood = likelihood_quantile(0.3))), "quantile regression")
  expect_refusal(plot(bsvm(am ~ wt, mtcars, engine = "vb"), "residuals"), "unsupported", "numbers")
})

test_that("without kept effects methods say so, and with them alone all works", {
  data <- transform(cars, g = gl(10, 5))
  set.seed(1)
  fit <- regress(dist ~ speed + (1 | g), data,
                 engine = engine_slice(draws = 100, burnin = 50, keep_effects = FALSE))
  expect_error(predict(fit, data[1:2, ], interval = TRUE), class = "bsvm_error_unsupported")
  expect_finite(predict(fit, data[1:2, ], interval = TRUE, re_formula = NA)$lower)
})

test_that("what needs given numbers says so, and works with them", {
  given <- likelihood_eps_insensitive(epsilon = 1, scale = 2)
  expect_refusal(regress(engine = engine_map()), "unsupported", "inferred")
  expect_finite(coef(regress(likelihood = given, engine = engine_map())))
})

test_that("a response without spread takes its unit from the likelihood", {
  flat <- transform(cars, dist = 7)
  fit <- regress(data = flat, likelihood = likelihood_eps_insensitive(epsilon = 0.1, scale = 1))
  expect_close(predict(fit, data.frame(speed = 10)), 7, 0.2)
  line <- transform(cars, dist = 2 * speed)
  expect_finite(coef(regress(data = line, likelihood = likelihood_eps_insensitive(epsilon = 0.1))))
})

test_that("quantiles far out are as exact as others", {
  fit <- regress(likelihood = likelihood_gaussian(scale = 15), prior = prior_ridge(variance = 400),
                 engine = engine_gaussian())
  new <- data.frame(speed = 12)
  line <- predict(fit, new, interval = "confidence")
  p <- c(1e-9, 1e-6, 0.01, 1 - 1e-6)
  found <- predict(fit, new, type = "quantile", probs = p)
  expect_close(found, line$fit + stats::qnorm(p) * sqrt(15^2 + line$sd^2), 1e-3)
  expect_close(predict(fit, new, interval = "prediction")$sd, sqrt(15^2 + line$sd^2), 1e-9)
})

test_that("what a quantile's density says of new responses is not shown", {
  fit <- regress(likelihood = likelihood_quantile(0.9), engine = engine_slice(draws = 100, burnin = 50))
  expect_close(colMeans(posterior_epred(fit)), predict(fit), 1e-9)
  expect_refusal(posterior_predict(fit), "unsupported", "device")
  expect_refusal(bayes_R2(fit), "unsupported", "device")
  expect_refusal(regress(cbind(dist, speed) ~ speed), "formula", "among the predictors")
  expect_refusal(regress(as.Date("2020-01-01") + dist ~ speed), "response", "as.numeric()")
})
