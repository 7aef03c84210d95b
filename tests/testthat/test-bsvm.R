test_that("a data frame first, with a formula, works as from a pipe", {
  d <- binary_data()
  expect_identical(bsvm(d, formula = y ~ x1, engine = "vb")$posterior,
                   bsvm(y ~ x1, d, engine = "vb")$posterior)
})

test_that("parameters come back from simulated data", {
  n <- 4000
  d <- with_seed(20, {
    d <- data.frame(x1 = rnorm(n), x2 = rnorm(n), g = sample(200, n, TRUE))
    link <- d$x1 - 0.5 * d$x2 + rnorm(200)[d$g]
    d$y <- runif(n) < plogis(3 * link)
    d
  })
  fit <- bsvm(y ~ x1 + x2 + (1 | g), d, engine = "vb")
  expect_lt(abs(fixef(fit)[["x2"]] / fixef(fit)[["x1"]] + 0.5), 0.1)
  true <- with_seed(20, {
    rnorm(n)
    rnorm(n)
    sample(200, n, TRUE)
    rnorm(200)
  })
  expect_gt(cor(ranef(fit)$g[[1]], true), 0.85)
  expect_lt(mean(predict(fit) != as.character(d$y)), 0.2)
})

test_that("fits of many random sets have valid results (extended)", {
  skip_unless_extended()
  for (seed in 1:200) {
    d <- grouped_data(30 + seed, 4 + seed %% 9, seed)
    # Some of these are separable, and say so.
    fit <- suppressWarnings(bsvm(y ~ x1 * f + t + (1 + t || g), d, engine = "vb"))
    expect_valid_fit(fit)
    expect_never_falls(accepted_bounds(fit$trace))
    order <- with_seed(seed, sample(nrow(d)))
    again <- suppressWarnings(bsvm(y ~ x1 * f + t + (1 + t || g), d[order, ], engine = "vb"))
    expect_same_posterior(again, fit, 1e-3)
  }
})

test_that("a million rows in a hundred thousand groups fit (extended)", {
  skip_unless_extended()
  n <- 1e6
  d <- with_seed(1, {
    d <- as.data.frame(matrix(rnorm(n * 10), n))
    d$g <- sample(1e5, n, TRUE)
    d$y <- d$V1 + rnorm(1e5)[d$g] + rnorm(n) > 0
    d
  })
  fit <- bsvm(y ~ . + (1 | g), d, engine = "vb", control = bsvm_control(tol = 1e-4))
  expect_finite(fixef(fit))
  expect_equal(fit$termination, "converged")
})
