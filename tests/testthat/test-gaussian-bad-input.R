# Odd and impossible input for engine_gaussian() and engine_map().

bsvm <- paper_bsvm

d <- binary_data()
engines <- list(gaussian = engine_gaussian(), map = engine_map())
likelihoods <- list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))

test_that("a plane in flat columns that separates the classes is reported", {
  apart <- transform(d, y = factor(ifelse(x1 + x3 > 0.7, "yes", "no")))
  for (engine in engines) for (likelihood in likelihoods) {
    fit <- expect_warned(bsvm(y ~ x1 + x3, apart, prior = prior_flat(), engine = engine,
                              likelihood = likelihood), "rank")
    expect_finite(coef(fit))
  }
  # a penalty holds the slopes, and the intercept with them
  for (engine in engines) {
    expect_no_warning_of(bsvm(y ~ x1 + x3, apart, prior = prior_ridge(variance = 1),
                              engine = engine), "rank")
    expect_no_warning_of(bsvm(y ~ x1 + x3, d, prior = prior_flat(), engine = engine), "rank")
  }
})

test_that("one row of each class, two in all", {
  two <- d[c(which(d$y == "no")[1], which(d$y == "yes")[1]), ]
  for (engine in engines) for (likelihood in likelihoods) {
    fit <- suppressWarnings(bsvm(y ~ x1, two, engine = engine, likelihood = likelihood,
                                 prior = prior_ridge(variance = 1)))
    expect_finite(coef(fit))
  }
  expect_refusal(bsvm(y ~ x1, d[1, ], engine = "gaussian"), "response", "both classes")
})

test_that("more columns than rows with a flat prior is reported", {
  r <- random_case(15, 40, seed = 5)
  x <- r$x[, -1]
  for (engine in engines) {
    fit <- expect_warned(bsvm(x, r$y, prior = prior_flat(), engine = engine), "rank")
    expect_finite(coef(fit))
  }
})

test_that("every row of a level of one class, levels of one row, one level", {
  g <- grouped_data()
  g$y[g$g %in% c("g01", "g02")] <- "yes"
  g$alone <- factor(seq_len(nrow(g)))
  g$only <- factor("a")
  for (engine in engines) for (likelihood in likelihoods) {
    for (formula in list(y ~ x1 + (1 | g), y ~ x1 + (1 | alone), y ~ x1 + (1 | only))) {
      fit <- suppressWarnings(bsvm(formula, g, engine = engine, likelihood = likelihood,
                                   prior = list(prior_ridge(variance = 1))))
      expect_finite(list(coef(fit), vcov(fit)), deparse1(formula))
    }
  }
})

test_that("extreme weights and variances stay finite", {
  g <- grouped_data()
  for (variance in c(1e-8, 1e8)) for (likelihood in likelihoods) {
    fit <- suppressWarnings(bsvm(y ~ x1 + (1 | g), g, engine = "gaussian", likelihood = likelihood,
                                 prior = list(g = prior_ridge(variance = variance))))
    expect_finite(list(coef(fit), vcov(fit)))
  }
  heavy <- suppressWarnings(bsvm(y ~ x1 + (1 | g), g, weights = rep(c(1e-6, 1e3), 60),
                                 engine = "gaussian"))
  expect_finite(list(coef(heavy), vcov(heavy)))
})

# Steps of 0.2 in the entries of a root made covariances singular to rounding.
test_that("three correlated effects of which one is hardly there", {
  d <- grouped_data(200, 10)
  d$x3 <- with_seed(1, rnorm(200))
  fit <- suppressWarnings(bsvm::bsvm(y ~ x1 + (t + x3 | g), d, engine = "gaussian"))
  expect_finite(unlist(VarCorr(fit)))
  expect_finite(vcov(fit))
})
