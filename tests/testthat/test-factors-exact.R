# Factor terms with points = Inf: a Gaussian process of the scores without inducing points. The sampler
# is tested in core/test_factors_exact_*.cpp.

exact_data <- function(n = 60L) {
  d <- factor_data(n, 12L, 2L, noise = 0.4)
  w <- attr(d, "scores")
  d$y <- factor(ifelse(rowSums(w^2) > 1.4, "out", "in"))
  d$z <- rowSums(w^2) + 0.3 * rnorm(n)
  d
}

# Mean and variance of the link of rows `x` (standardised) by kept draw j of a chain: g is known at the
# scores `inputs`, and E k(w, v) of the squared exponential for normal w is closed.
plain_function <- function(fit, x, j, chain, feedback) {
  kept <- fit$posterior$factors$kept
  v <- t(kept$inputs[, , j, chain])
  l2 <- exp(2 * kept$theta[, j, chain])
  variance <- kept$variance[, j, chain]
  k <- exp(-as.matrix(stats::dist(v))^2 / (2 * l2))
  root <- t(chol(k + diag(1e-8, nrow(k))))
  weights <- backsolve(t(root), kept$b[, j, chain]) * sqrt(variance)
  lapply(seq_len(nrow(x)), function(i) {
    row <- plain_row(x[i, ], kept$mean[, j, chain], kept$loadings[, , j, chain],
                     kept$noise[, j, chain], numeric(2L))
    s <- if (feedback) row$covariance else 0 * row$covariance
    of <- solve(diag(2L) + s / l2)
    off <- t(v) - row$score
    with <- sqrt(det(of)) * exp(-colSums(off * (of %*% off)) / (2 * l2))
    list(mean = sum(with * weights),
         variance = variance * (1 - sum(forwardsolve(root, with)^2)))
  })
}

test_that("predictions are those of a plain twin, with feedback and without", {
  d <- exact_data()
  new <- exact_data(8L)
  new$x[2L, 1:5] <- NA
  for (feedback in c(TRUE, FALSE)) {
    fit <- quiet_factors(
      y ~ age + factors(x, k = 2, classifier = "gp", points = Inf, feedback = feedback), d,
      likelihood = "hinge", engine = few_draws(100, 100))
    if (feedback) {
      expect_gt(mean(predict(fit) == d$y), 0.85)
      expect_output(print(fit), "kernel_se()", fixed = TRUE)
    }
    kept <- fit$posterior$factors$kept
    expect_equal(dim(kept$inputs), c(2L, 60L, dim(kept$b)[2:3]))
    for (rows in list(d, new)) {
      x <- standard_variables(rows$x, factors_of(fit))
      links <- kept_scores(kept, x, fit$control, links = TRUE, feedback = feedback)
      for (chain in 1:2) {
        plain <- plain_function(fit, x, 5L, chain, feedback)
        at <- 5L + (chain - 1L) * length(kept$at)
        mean <- vapply(plain, `[[`, 0, "mean")
        # by few points, or at mean scores
        expect_lt(max(abs(links$mean[, at] - mean)), (if (feedback) 0.1 else 1e-5) * sd(mean))
        if (!feedback) {
          expect_equal(links$variance[, at], vapply(plain, `[[`, 0, "variance"), tolerance = 1e-4)
        }
      }
    }
  }
})

test_that("numbers are predicted, and rows without a response inform the factors", {
  d <- exact_data(80L)
  d$z[61:80] <- NA
  fit <- quiet_factors(z ~ factors(x, k = 2, classifier = "gp", points = Inf, unlabelled = TRUE), d,
                       likelihood = likelihood_gaussian(), engine = few_draws(100, 100))
  expect_equal(dim(fit$posterior$factors$kept$inputs)[2L], 60L)
  expect_gt(cor(predict(fit, d[61:80, ]), rowSums(attr(exact_data(80L), "scores")^2)[61:80]), 0.8)
  expect_true(all(is.finite(log_lik(fit)[1:2, ])))
})

test_that("a seed gives the same fit, whatever the threads", {
  d <- exact_data(30L)
  fits <- lapply(1:2, function(threads) {
    set.seed(3)
    quiet_factors(y ~ factors(x, k = 2, classifier = kernel_se(ard = TRUE), points = Inf), d,
                  likelihood = "hinge", engine = few_draws(20, 20),
                  control = bsvm_control(threads = threads))
  })
  expect_identical(fits[[1L]]$posterior, fits[[2L]]$posterior)
  expect_length(grep("kernel_", rownames(fits[[1L]]$posterior$factors$identified)), 2L)
})

test_that("what it does not support is refused, with advice that works", {
  d <- exact_data(30L)
  term <- y ~ factors(x, k = 2, classifier = "gp", points = Inf)
  refused <- function(pattern, ..., data = d) {
    expect_error(bsvm(term, data, ...), pattern, class = "bsvm_error_unsupported", fixed = TRUE)
  }
  refused("requires engine_gibbs()", engine = "vb", likelihood = "hinge")
  refused("points = 100", engine = "vb", likelihood = "hinge")
  refused("likelihood = \"hinge\"", likelihood = "normalized")
  many <- d[rep(1:30, 70), ]
  many$x <- many$x + rnorm(length(many$x))
  refused("up to 2000 rows", data = many, likelihood = "hinge")
  # without a likelihood it is the one that there is
  fit <- suppressMessages(quiet_factors(term, d, engine = few_draws(20, 20)))
  expect_equal(fit$likelihood$name, "hinge")
  expect_error(bsvm(y ~ factors(x, k = 2, classifier = "gp", points = 0), d), "points",
               class = "bsvm_error_argument")
})

test_that("advice under the pseudo-likelihood can be followed", {
  d <- factor_data(40L, 6L)
  short <- engine_gibbs(draws = 50, burnin = 20, chains = 2)
  fit <- suppressWarnings(
    quiet_factors(y ~ factors(x, k = 2), d, likelihood = "hinge", engine = short))
  error <- expect_error(loo(fit), class = "bsvm_error_unsupported")
  said <- conditionMessage(error)
  expect_match(said, normalised_call, fixed = TRUE)
  expect_no_match(said, "engine_slice")
  again <- suppressWarnings(eval(str2lang(normalised_call)))
  expect_true(is_law(again$likelihood))
  exact <- suppressWarnings(
    quiet_factors(y ~ factors(x, k = 2, classifier = "gp", points = Inf), d,
                  likelihood = "hinge", engine = short))
  expect_no_match(pseudo_note(exact), "normalized")
  expect_no_match(capture.output(print(exact)), "of variables of")
  expect_no_match(conditionMessage(expect_error(loo(exact))), "normalized")
})
