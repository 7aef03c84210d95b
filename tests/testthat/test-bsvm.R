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
  expect_lt(abs(fixef(fit)[["x2"]] / fixef(fit)[["x1"]] + 0.5), 0.04) # of five data sets the most
  true <- with_seed(20, {
    rnorm(n)
    rnorm(n)
    sample(200, n, TRUE)
    rnorm(200)
  })
  expect_gt(cor(ranef(fit)$g[[1]], true), 0.95)
  # The rule that made the rows: one that has seen them errs a little less.
  best <- d$x1 - 0.5 * d$x2 + true[d$g] > 0
  expect_lt(mean(predict(fit) != as.character(d$y)), mean(best != d$y))
  expect_lt(mean((predict(fit) == "TRUE") != best), 0.06)
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

test_that("arguments may come through another function's `...`", {
  d <- grouped_data()
  d$w <- rep(1:2, 60)
  through <- function(...) bsvm(..., engine = "vb")
  twice <- function(...) through(...)
  fit <- bsvm(y ~ x1, d, subset = t > 0, weights = w, offset = x3, engine = "vb")
  for (f in c(through, twice)) {
    other <- f(y ~ x1, data = d, subset = t > 0, weights = w, offset = x3)
    expect_identical(other$posterior, fit$posterior)
    expect_identical(other$call[c("data", "subset", "weights", "offset")],
                     fit$call[c("data", "subset", "weights", "offset")])
    expect_identical(update(other, keep_data = TRUE)$posterior, fit$posterior)
  }
  expect_identical(through(d, formula = y ~ x1, weights = w)$weights, as.double(d$w))
  degree <- 2
  inner <- local({
    degree <- 3
    through(y ~ poly(x1, degree), data = d)
  })
  expect_length(fixef(inner), 4)
  expect_identical(through(as.matrix(d["x1"]), d$y)$call$y, quote(d$y))
  numbered <- function(formula, ...) bsvm(formula, d, weights = ..1, engine = "vb")
  expect_identical(numbered(y ~ x1, d$w)$posterior,
                   bsvm(y ~ x1, d, weights = w, engine = "vb")$posterior)
})
