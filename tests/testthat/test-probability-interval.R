# Intervals of probabilities: against draws, and the map of the linear predictor's limits.

test_that("draws have the quantiles of their probabilities", {
  d <- binary_data(80)
  fit <- bsvm(y ~ x1 + x2, d, engine = engine_slice(draws = 500, burnin = 100, chains = 2))
  new <- d[1:6, ]
  found <- predict(fit, new, type = "prob", interval = TRUE, level = 0.9)
  expect_named(found, c("fit", "lower", "upper"))
  p <- posterior_epred(fit, newdata = new)
  expect_equal(found$fit, unname(colMeans(p)), tolerance = 1e-10)
  expect_equal(found$lower, unname(apply(p, 2L, quantile, 0.05)), tolerance = 1e-3)
  expect_equal(found$upper, unname(apply(p, 2L, quantile, 0.95)), tolerance = 1e-3)
  expect_equal(found$fit, unname(predict(fit, new, type = "prob")[, 2L]))
})

test_that("approximations and maps have those of the linear predictor's limits", {
  d <- binary_data(80)
  for (engine in c("gaussian", "vb")) {
    likelihood <- if (engine == "vb") "hinge"
    fit <- bsvm(y ~ x1 + x2, d, engine = engine, likelihood = likelihood)
    link <- predict(fit, d, interval = TRUE)
    for (map in c(if (engine == "vb") "logistic" else "likelihood", "probit")) {
      found <- predict(fit, d, type = "prob", interval = TRUE, map = map)
      of <- switch(map, probit = pnorm, logistic = function(f) plogis(fit$odds_slope * f),
                   likelihood = function(f) {
                     h <- 2 * f + 2 * pmin(pmax(f, -1), 1) # log odds
                     plogis(h)
                   })
      expect_equal(found$lower, of(link$lower), tolerance = 1e-10)
      expect_equal(found$upper, of(link$upper), tolerance = 1e-10)
      expect_true(all(found$lower < found$fit & found$fit < found$upper))
    }
  }
  expect_error(predict(fit, d, type = "class", interval = TRUE), "prob",
               class = "bsvm_error_argument")
  d$x1[3] <- NA
  expect_equal(which(is.na(predict(fit, d, type = "prob", interval = TRUE)$lower)), 3L)
})
