# Population-level columns are centred inside: a flat prior is flat however far a predictor lies
# from zero, under every engine, and what is told of the fit is on the user's scale.

d <- with_seed(4, {
  n <- 160
  d <- data.frame(x = rnorm(n), z = rnorm(n), t = rnorm(n), f = gl(3, 1, n), g = gl(16, 10),
                  h = gl(5, 1, n))
  d$y <- as.integer(plogis(2 * d$x - d$z + rnorm(16)[d$g]) > runif(n))
  d
})
shifts <- c(1e3, 1e5, 1e6)

moved <- function(data, by) transform(data, x = x + by, z = z - 2 * by)

# The rounding of the shifted data, in standard deviations of columns of size one.
rounding <- function(by) 1e-12 + 100 * .Machine$double.eps * by

# Everything but the intercept, which is where the predictors are zero, agrees.
expect_unmoved <- function(fit, run, tolerance) {
  sd <- sqrt(diag(vcov(fit)))
  for (by in shifts) {
    other <- run(moved(d, by))
    limit <- tolerance(by)
    expect_close(fixef(other)[-1], fixef(fit)[-1], limit, scale = sd[-1])
    expect_close(sqrt(diag(vcov(other)))[-1], sd[-1], limit, scale = sd[-1])
    at_old_zero <- fixef(other)[1] + sum(by * c(1, -2) * fixef(other)[c("x", "z")])
    expect_close(at_old_zero, fixef(fit)[1], 10 * limit, scale = sd[1])
    expect_close(fitted(other), fitted(fit), 10 * limit)
    new <- d[1:20, ]
    link <- function(fit, new) predict(fit, new, type = "link", interval = TRUE)
    expect_close(unlist(link(other, moved(new, by))), unlist(link(fit, new)), 10 * limit)
  }
}

mixed_fit <- function(engine, normalized, formula = y ~ x + z + f + (1 | g), prior = prior_flat()) {
  function(data) {
    with_seed(1, suppressWarnings(bsvm(formula, data, engine = engine, prior = prior,
                                       likelihood = likelihood_hinge(normalized = normalized),
                                       control = bsvm_control(tol = 1e-14, verbose = FALSE))))
  }
}

test_that("slopes with flat priors do not move with the predictors' zero, under any engine", {
  skip_on_cran()
  for (engine in c("vb", "gaussian", "map")) {
    for (normalized in if (engine == "vb") FALSE else c(FALSE, TRUE)) {
      run <- mixed_fit(engine, normalized)
      expect_unmoved(run(d), run, function(by) 1e-9 + rounding(by))
    }
  }
  # Rounding in one draw is carried on to the next, until a proposal is accepted in one chain and
  # not in the other: then they agree as two chains do.
  run <- mixed_fit(engine_slice(100, 50, chains = 1), TRUE)
  expect_unmoved(run(d), run, function(by) 1e-8 + 1e3 * rounding(by))
  run <- mixed_fit(engine_gibbs(2000, 200, chains = 1), FALSE)
  fit <- run(d)
  sd <- sqrt(diag(vcov(fit)))[-1]
  for (by in shifts) {
    other <- run(moved(d, by))
    expect_close(fixef(other)[-1], fixef(fit)[-1], 0.12, scale = sd)
    expect_close(sqrt(diag(vcov(other)))[-1], sd, 0.1, scale = sd)
  }
})

test_that("the same with several factors, varying slopes and no bars", {
  skip_on_cran()
  for (formula in list(y ~ x + z + (1 | g) + (1 | h), y ~ x + z + (t | g), y ~ x + z)) {
    run <- mixed_fit("gaussian", FALSE, formula)
    expect_unmoved(run(d), run, function(by) 1e-6 + rounding(by))
  }
})

test_that("a slope is what it is at zero and where the flat prior used to hold it", {
  run <- mixed_fit("gaussian", FALSE, y ~ x + (1 | g))
  far <- transform(d, x = x + 1e6)
  expect_gt(fixef(run(d))[["x"]], 1)
  expect_close(fixef(run(far))[["x"]], fixef(run(d))[["x"]], 1e-8)
})

test_that("the same model with standardize = FALSE, weights, and fixed scales", {
  w <- with_seed(2, runif(nrow(d), 0.5, 2))
  run <- function(data) {
    bsvm(y ~ x + z, data, weights = w, engine = "vb", standardize = FALSE,
         prior = list(prior_ridge(variance = 2)), control = tight(),
         likelihood = likelihood_hinge())
  }
  expect_unmoved(run(d), run, function(by) 1e-9 + rounding(by))
})

# By the definition: f = t + (x - mean)'b with t ~ N(0, 4).
test_that("a prior on the intercept is on the linear predictor at the predictors' means", {
  prior <- list("(Intercept)" = prior_ridge(variance = 4), prior_flat())
  run <- function(data, ...) {
    bsvm(y ~ x + z, data, engine = "vb", prior = prior, control = tight(),
         likelihood = likelihood_hinge(), ...)
  }
  centred <- transform(d, x = x - mean(x), z = z - mean(z))
  by_hand <- run(centred, standardize = FALSE)
  fit <- run(moved(d, 10))
  expect_close(fixef(fit)[-1], fixef(by_hand)[-1], 1e-8)
  expect_close(fitted(fit), fitted(by_hand), 1e-8)
  # With columns as they are, the prior is where the predictors are zero.
  as_is <- run(moved(d, 10), standardize = FALSE)
  expect_identical(as_is$design$center, numeric(3))
  expect_gt(max(abs(fitted(as_is) - fitted(fit))), 1e-3)
})

test_that("without an intercept nothing is centred", {
  fit <- bsvm(y ~ 0 + x + z, d, engine = "vb", likelihood = likelihood_hinge(),
              prior = prior_flat())
  expect_identical(fit$design$center, numeric(2))
})

test_that("a start on the user's scale is where it says", {
  run <- mixed_fit("vb", FALSE, y ~ x + z)
  fit <- run(moved(d, 100))
  again <- bsvm(y ~ x + z, moved(d, 100), engine = "vb", prior = prior_flat(),
                likelihood = likelihood_hinge(),
                control = bsvm_control(start = fixef(fit), tol = 1e-14))
  expect_lte(again$passes, fit$passes)
  expect_close(fixef(again), fixef(fit), 1e-6)
})

test_that("full columns in a sparse block are centred, others stay sparse", {
  skip_if_not_installed("Matrix")
  x <- with_seed(3, {
    n <- 150
    cbind(1, matrix(rnorm(n), n), matrix(ifelse(runif(n * 30) < 0.05, 1, 0), n))
  })
  y <- with_seed(5, ifelse(x[, 2] + rnorm(nrow(x)) > 0, 1, -1))
  colnames(x) <- c("(Intercept)", paste0("c", seq_len(ncol(x) - 1)))
  run <- function(by, sparse) {
    x[, 2] <- x[, 2] + by
    if (sparse) x <- methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix")
    bsvm(x, y, engine = "vb", likelihood = likelihood_hinge(), control = tight(),
         prior = prior_ridge(variance = 1), standardize = TRUE)
  }
  dense <- run(0, FALSE)
  for (by in c(0, 1e5)) {
    fit <- run(by, TRUE)
    expect_gt(length(fit$design$sparse), 0)
    expect_identical(which(fit$design$center != 0), 2L)
    expect_close(fixef(fit)[-1], fixef(dense)[-1], 1e-6)
    sd <- unname(unlist(lapply(list(fit, dense), function(fit) {
      diff(confint(fit, 2)[1, ])
    })))
    expect_close(sd[1], sd[2], 1e-6)
    # The intercept, where the column is zero: its sd by the law of a linear function.
    own <- predict(fit, matrix(x[1:3, ] + rep(c(0, by, rep(0, 30)), each = 3), 3,
                               dimnames = list(NULL, colnames(x))), type = "link", interval = TRUE)
    other <- predict(dense, x[1:3, ], type = "link", interval = TRUE)
    expect_close(unlist(own), unlist(other), 1e-5)
  }
  # At zero, which is the intercept, both say the same.
  fit <- run(0, TRUE)
  zero <- matrix(c(1, numeric(31)), 1, dimnames = list(NULL, colnames(x)))
  link <- predict(fit, zero, type = "link", interval = TRUE)
  expect_close(unlist(link[c("lower", "upper")]), confint(fit, 1), 1e-8)
})
