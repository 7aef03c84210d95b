# Several responses: bsvm(cbind(a, b) ~ x, likelihood = likelihood_gaussian()).

simulated_responses <- function(n = 80L, seed = 1L) {
  set.seed(seed)
  d <- data.frame(x = rnorm(n), z = rnorm(n), g = factor(rep(seq_len(n / 8L), 8L)))
  e <- matrix(rnorm(2L * n), n) %*% chol(matrix(c(1, 0.8, 0.8, 1), 2L))
  u <- rnorm(n / 8L)
  d$a <- 10 + 3 * d$x + u[d$g] + e[, 1L]
  d$b <- 200 * (1 - d$z + 0.5 * u[d$g] + e[, 2L])
  d
}

fit_two <- function(formula, data, ..., draws = 1000L) {
  set.seed(1)
  suppressWarnings(bsvm(formula, data, likelihood = likelihood_gaussian(),
                        engine = engine_gibbs(draws = draws, burnin = 200L, chains = 2L), ...),
                   classes = "bsvm_warning_convergence")
}

# Sigma ~ IW(df, scale), flat coefficients: B is matrix t about least squares, and Sigma is
# IW(df + n - p, scale + R'R).
test_that("with an inverse Wishart prior the posterior is the conjugate one", {
  d <- simulated_responses()
  scale <- matrix(c(2, -30, -30, 9000), 2L)
  fit <- fit_two(cbind(a, b) ~ x + z, d, draws = 10000L,
                 prior = list(prior_flat(), residual = prior_inv_wishart(df = 5, scale = scale)))
  x <- model.matrix(~ x + z, d)
  y <- as.matrix(d[c("a", "b")])
  ols <- qr.coef(qr(x), y)
  rest <- crossprod(y - x %*% ols) + scale
  df <- 5 + nrow(d) - 3
  mean <- rest / (df - 3)
  sd <- sqrt(outer(diag(solve(crossprod(x))), diag(mean)))
  expect_lt(max(abs(coef(fit) - ols) / sd), 0.03)
  sds <- sapply(fit$fits, function(f) posterior_coefficients(f)$sd)
  expect_lt(max(abs(log(sds / sd))), 0.03)
  own <- VarCorr(fit)$residual__
  # sd of an inverse Wishart's entries over their mean is about sqrt(2/df)
  expect_lt(max(abs(as.matrix(own)[1:2, 1:2] / mean - 1)), 4 * sqrt(2 / df / 15000))
  expect_equal(unname(sigma(fit)), unname(rowMeans(sqrt(matrix(fit$residual[c(1L, 3L), , ], 2L)))),
               tolerance = 0.01)
})

test_that("results do not depend on units", {
  d <- simulated_responses()
  fit <- fit_two(cbind(a, b) ~ x + (1 | g), d, draws = 100L)
  d2 <- transform(d, a = 1000 * a - 7, b = b / 1000)
  fit2 <- fit_two(cbind(a, b) ~ x + (1 | g), d2, draws = 100L)
  expect_equal(fit2$residual[1L, , ], 1e6 * fit$residual[1L, , ], tolerance = 1e-6)
  expect_equal(fit2$residual[2L, , ], fit$residual[2L, , ], tolerance = 1e-6)
  expect_equal(predict(fit2, d[1:5, ])[, "a"], 1000 * predict(fit, d[1:5, ])[, "a"] - 7, tolerance = 1e-6)
  expect_equal(fit2$groups[[1L]]$draws[1L, , ], 1e6 * fit$groups[[1L]]$draws[1L, , ], tolerance = 1e-6)
})

test_that("an uncorrelated response has the posterior of its own fit", {
  set.seed(4)
  n <- 150L
  d <- data.frame(x = runif(n, -2, 2), g = gl(15L, 10L))
  d$a <- sin(2 * d$x) + rnorm(15L)[d$g] * 0.5 + 0.3 * rnorm(n)
  d$b <- rnorm(n)
  fit <- fit_two(cbind(a, b) ~ gp(x, kernel = kernel_se(lengthscale = 0.5)) + (1 | g), d)
  one <- bsvm(a ~ gp(x, kernel = kernel_se(lengthscale = 0.5)) + (1 | g), d,
              likelihood = likelihood_gaussian())
  new <- data.frame(x = seq(-2, 2, 0.5), g = "3")
  both <- predict(fit, new, interval = "confidence")[, , "a"]
  own <- predict(one, new, interval = "confidence")
  expect_lt(max(abs(both[, "fit"] - own$fit) / own$sd), 0.25)
  expect_lt(max(abs(log(both[, "sd"] / own$sd))), 0.15)
  expect_equal(unname(sigma(fit)["a"]), sigma(one), tolerance = 0.03)
})

test_that("a missing response is predicted from what its row has", {
  d <- simulated_responses(400L)
  whole <- d$b
  d$b[c(3L, 10L)] <- NA
  d$a[10L] <- NA
  fit <- fit_two(cbind(a, b) ~ x + z, d, draws = 4000L)
  expect_equal(fit$nobs, 399L)
  expect_equal(fit$imputed[c("row", "response")],
               data.frame(row = c(3L, 10L, 10L), response = c("b", "a", "b")))
  covariance <- as.matrix(VarCorr(fit)$residual__)[1:2, 1:2]
  expected <- fitted(fit)[3L, "b"] + covariance[2L, 1L] / covariance[1L, 1L] * residuals(fit)[3L, "a"]
  spread <- sqrt(covariance[2L, 2L] - covariance[2L, 1L]^2 / covariance[1L, 1L])
  expect_lt(abs(fit$imputed$mean[1L] - expected), 0.05 * spread)
  expect_equal(fit$imputed$sd[1L], spread, tolerance = 0.05)
  expect_equal(fit$imputed$sd[2:3], unname(sigma(fit)), tolerance = 0.05)
  expect_true(is.na(residuals(fit)[3L, "b"]))
  expect_identical(ncol(loo_of <- log_lik(fit)), 400L)
  expect_true(all(loo_of[, 10L] == 0))
})

test_that("log_lik() is the density of a row", {
  d <- simulated_responses()
  d$b[2L] <- NA
  fit <- fit_two(cbind(a, b) ~ x, d, draws = 50L)
  f <- posterior_epred(fit)
  s <- 77L
  covariance <- matrix(matrix(fit$residual, 3L)[c(1L, 2L, 2L, 3L), s], 2L)
  away <- as.matrix(d[1L, c("a", "b")]) - f[s, 1L, ]
  density <- -log(2 * pi) - log(det(covariance)) / 2 - sum(away %*% solve(covariance) * away) / 2
  expect_equal(unname(log_lik(fit)[s, 1L]), density, tolerance = 1e-12)
  expect_equal(unname(log_lik(fit)[s, 2L]),
               dnorm(d$a[2L], f[s, 2L, 1L], sqrt(covariance[1L, 1L]), log = TRUE), tolerance = 1e-12)
})

test_that("the order of responses does not matter to the density of a row", {
  d <- simulated_responses()
  d$a[1:5] <- NA
  d$b[3:8] <- NA
  one <- log_lik(fit_two(cbind(a, b) ~ x, d, draws = 2000L))
  other <- log_lik(fit_two(cbind(b, a) ~ x, d, draws = 2000L))
  expect_equal(colMeans(one), colMeans(other), tolerance = 0.05)
  expect_true(all(colMeans(one)[c(1:2, 6:8)] < 0))
  expect_equal(unname(colMeans(one)[3:5]), numeric(3L))
})

test_that("draws of new responses are correlated as the residuals are", {
  d <- simulated_responses(240L)
  fit <- fit_two(cbind(a, b) ~ x + z, d)
  drawn <- posterior_predict(fit, d[rep(1L, 50L), ], seed = 2)
  expect_equal(dim(drawn), c(2000L, 50L, 2L))
  left <- drawn - posterior_epred(fit, d[rep(1L, 50L), ])
  expect_equal(cor(c(left[, , 1L]), c(left[, , 2L])),
               attr(VarCorr(fit)$residual__, "correlation")[2L, 1L], tolerance = 0.02)
  expect_equal(apply(left, 3L, sd), sqrt(diag(VarCorr(fit)$residual__)[1:2]), tolerance = 0.02)
})

# All that chains do, variances included, beside a sampler that shares no code.
test_that("draws have the distribution of those of a plain sampler", {
  set.seed(11)
  n <- 40L
  m <- 15L
  q <- 2L
  x <- matrix(rnorm(n * m), n)
  y <- x %*% matrix(rnorm(m * q, 0, 0.5), m) + matrix(rnorm(n * q), n) %*% matrix(c(1, 0, 0.8, 0.6), 2L)
  d <- data.frame(row.names = seq_len(n))
  d$y <- y
  d$x <- scale(x)
  fit <- fit_two(y ~ 0 + x, d, draws = 5000L,
                 prior = list(prior_ridge(variance = prior_half_t(3, 1)),
                              residual = prior_half_t(2, 1)))
  x <- scale(x)
  xx <- crossprod(x)
  sigma <- diag(q)
  tau <- c(1, 1)
  sweeps <- 12000L
  plain <- matrix(0, sweeps, 5L + m * q)
  for (s in seq_len(sweeps)) {
    inverse <- solve(sigma)
    root <- chol(kronecker(inverse, xx) + diag(rep(1 / tau, each = m)))
    b <- backsolve(root, backsolve(root, c(crossprod(x, y) %*% inverse), transpose = TRUE) + rnorm(m * q))
    b <- matrix(b, m)
    mix <- 1 / rgamma(q, 2, 3 / tau + 1)
    tau <- 1 / rgamma(q, (3 + m) / 2, 3 / mix + colSums(b^2) / 2)
    a <- 1 / rgamma(q, 2, 2 * diag(inverse) + 1)
    sigma <- solve(rWishart(1L, 3 + n, solve(crossprod(y - x %*% b) + diag(4 / a)))[, , 1L])
    plain[s, ] <- c(log(tau), log(diag(sigma)), cov2cor(sigma)[2L], b)
  }
  plain <- plain[-(1:500), ]
  residual <- matrix(fit$residual, 3L)
  variances <- vapply(fit$fits, function(f) c(f$posterior$variances[[1L]]), numeric(10000L))
  own <- cbind(log(variances), t(log(residual[c(1L, 3L), ])),
               residual[2L, ] / sqrt(residual[1L, ] * residual[3L, ]),
               do.call(cbind, lapply(fit$fits, function(f) t(matrix(f$posterior$coefficients, m)))))
  unit <- vapply(fit$fits, function(f) f$design$scale, numeric(m))
  own[, -(1:5)] <- own[, -(1:5)] / rep(c(unit), each = nrow(own))
  sds <- apply(plain, 2L, sd)
  expect_lt(max(abs(colMeans(own) - colMeans(plain)) / sds), 0.12)
  expect_lt(max(abs(log(apply(own, 2L, sd) / sds))), 0.08)
})

test_that("effects of a new level are correlated over responses", {
  set.seed(12)
  d <- data.frame(x = rnorm(240L), g = gl(40L, 6L))
  u <- matrix(rnorm(80L), 40L) %*% chol(matrix(c(1, -0.95, -0.95, 1), 2L))
  d$a <- d$x + 2 * u[d$g, 1L] + 0.3 * rnorm(240L)
  d$b <- 30 * u[d$g, 2L] + 3 * rnorm(240L)
  for (formula in list(cbind(a, b) ~ x + (1 | g), cbind(a, b) ~ x + (x || g))) {
    fit <- fit_two(formula, d)
    new <- data.frame(x = 0, g = c("new", "newer"))
    e <- posterior_epred(fit, new, allow_new_levels = TRUE)
    expect_lt(cor(e[, 1L, 1L], e[, 1L, 2L]), -0.8)
    expect_lt(abs(cor(e[, 1L, 1L], e[, 2L, 2L])), 0.1)
    expect_equal(sd(e[, 1L, 1L]), predict(fit, new[1L, ], interval = "confidence",
                                          allow_new_levels = TRUE)[1L, "sd", "a"], tolerance = 0.05)
  }
  # more columns than rows: what no row sees is independent
  d <- data.frame(y = I(matrix(rnorm(60L), 30L)), x = I(matrix(rnorm(30L * 80L), 30L)))
  wide <- fit_two(y ~ x, d)
  e <- posterior_epred(wide, data.frame(x = I(matrix(rnorm(80L), 1L))))
  expect_lt(abs(cor(e[, 1L, 1L], e[, 1L, 2L])), 0.3)
})

test_that("independent fits with unequal draws and rows are put together", {
  d <- simulated_responses()
  d$x[3L] <- NA
  one <- bsvm(cbind(a, b) ~ x, d, na.action = na.omit, likelihood = likelihood_laplace())
  expect_equal(dim(fitted(one)), c(79L, 2L))
  expect_equal(nobs(one), 79L)
  expect_equal(unname(residuals(one)[1:2, ]), unname(as.matrix(d[1:2, c("a", "b")]) - fitted(one)[1:2, ]))
  expect_output(print(summary(one)), "Residual standard deviations")
  out <- fit_two(cbind(a, b) ~ x, d, na.action = na.exclude, draws = 50L)
  expect_equal(dim(fitted(out)), c(80L, 2L))
  expect_true(all(is.na(residuals(out)[3L, ])))
  d <- d[-3L, ]
  expect_equal(dim(fitted(bsvm(cbind(a, b) ~ x, d, subset = z > 0,
                               likelihood = likelihood_laplace()))), c(sum(d$z > 0), 2L))
  sampled <- bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_laplace(), engine = "slice")
  p <- posterior_predict(sampled, d[rep(1L, 40L), ], seed = 3)
  expect_lt(abs(cor(c(p[, , 1L]), c(p[, , 2L]))), 0.1)
  expect_equal(ncol(bayes_R2(sampled)), 2L)
  skip_if_not_installed("posterior")
  expect_true("b: x" %in% posterior::variables(posterior::as_draws(sampled)))
})

test_that("fits to single responses do without rows that lack theirs", {
  d <- simulated_responses()
  d$b[1:30] <- NA
  fit <- fit_two(cbind(a, b) ~ x + z, d, draws = 600L)
  one <- fit$fits$b
  expect_equal(nobs(one), 50L)
  expect_true(all(is.na(residuals(one)[1:30])))
  expect_equal(unname(residuals(one)[31:80]), unname(residuals(fit)[31:80, "b"]))
  expect_true(all(log_lik(one)[, 1:30] == 0))
  expect_equal(dim(predict(one, interval = "prediction")), c(80L, 4L))
  expect_output(print(summary(one, details = TRUE)), "half-t\\(2")
  expect_s3_class(plot(fit), "ggplot")
})

test_that("shapes and names are as documented", {
  d <- simulated_responses()
  fit <- fit_two(cbind(a, log(b + 2000)) ~ x + (x | g), d, draws = 100L)
  names <- c("a", "log(b + 2000)")
  expect_equal(dimnames(coef(fit)), list(c("(Intercept)", "x"), names))
  expect_equal(dim(predict(fit, d[1:3, ])), c(3L, 2L))
  interval <- predict(fit, d[1:3, ], interval = "prediction")
  expect_equal(dimnames(interval)[2:3], list(c("fit", "sd", "lower", "upper"), names))
  expect_equal(unname(predict(fit)), unname(fitted(fit)))
  expect_equal(unname(fitted(fit) + residuals(fit)), unname(fit$y))
  expect_equal(dim(VarCorr(fit)$g), c(4L, 4L))
  expect_equal(rownames(VarCorr(fit)$g), c("a: (Intercept)", "a: x", "log(b + 2000): (Intercept)",
                                           "log(b + 2000): x"))
  frame <- as.data.frame(VarCorr(fit))
  expect_equal(sum(frame$grp == "g"), 10L)
  expect_equal(frame$vcov[frame$grp == "Residual" & frame$var1 == "a" & is.na(frame$var2)],
               mean(fit$residual[1L, , ]))
  expect_equal(dim(bayes_R2(fit)), c(200L, 2L))
  expect_equal(nrow(tidy(fit)), 10L)
  expect_named(ranef(fit), names)
  expect_output(print(summary(fit)), "Residuals: standard deviations")
  expect_output(print(fit), "Residual correlations")
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws(fit)
  expect_true("rescor__a__log(b + 2000)" %in% posterior::variables(draws))
  expect_equal(posterior::nchains(draws), 2L)
})

# The core orders effects by block, level, response and effect.
test_that("group effects are those of their levels and responses", {
  set.seed(6)
  d <- data.frame(g = gl(6L, 40L), h = gl(4L, 60L)[sample(240L)], x = rnorm(240L))
  u <- cbind(1:6, (6:1)^2)
  v <- cbind(c(-3, 3, -3, 3), c(10, 0, 0, -10))
  w <- cbind(c(2, -2, 2, -2, 0, 0), c(0, 0, 5, -5, 5, -5))
  d$a <- u[d$g, 1L] + w[d$g, 1L] * d$x + v[d$h, 1L] + 0.1 * rnorm(240L)
  d$b <- u[d$g, 2L] + w[d$g, 2L] * d$x + v[d$h, 2L] + 0.1 * rnorm(240L)
  for (formula in list(cbind(a, b) ~ 1 + (x | g) + (1 | h), cbind(a, b) ~ 1 + (x || g) + (1 | h))) {
    fit <- fit_two(formula, d, draws = 200L)
    for (j in 1:2) {
      expect_gt(cor(ranef(fit)[[j]]$g[["(Intercept)"]], u[, j]), 0.999)
      expect_gt(cor(ranef(fit)[[j]]$g[["x"]], w[, j]), 0.999)
      expect_gt(cor(ranef(fit)[[j]]$h[["(Intercept)"]], v[, j]), 0.999)
    }
    expect_lt(max(abs(residuals(fit))), 0.6)
  }
})

test_that("independent residuals are separate fits", {
  d <- simulated_responses()
  d$b[4L] <- NA
  set.seed(3)
  fit <- bsvm(cbind(a, b) ~ x + z, d, likelihood = likelihood_laplace())
  set.seed(3)
  a <- bsvm(a ~ x + z, d, likelihood = likelihood_laplace())
  b <- bsvm(b ~ x + z, d[-4L, ], likelihood = likelihood_laplace())
  expect_equal(coef(fit), cbind(a = fixef(a), b = fixef(b)))
  expect_null(fit$residual)
  expect_true(is.na(fitted(fit)[4L, "b"]))
  expect_equal(unname(fitted(fit)[-4L, "b"]), unname(fitted(b)))
  same <- bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_gaussian(residual = "independent"))
  expect_null(same$residual)
  weighted <- bsvm(cbind(a, b) ~ x, d, weights = rep(1:2, 40L), subset = z > 0,
                   likelihood = likelihood_laplace(), engine = "gaussian")
  expect_equal(fixef(weighted)[, "b"],
               fixef(bsvm(b ~ x, d, weights = rep(1:2, 40L), subset = z > 0 & !is.na(b),
                          likelihood = likelihood_laplace(), engine = "gaussian")))
})

test_that("`.` and matrices of responses mean what they should", {
  d <- simulated_responses()
  d$y <- as.matrix(d[c("a", "b")])
  short <- d[c("x", "z", "y")]
  fit <- fit_two(y ~ ., short, draws = 50L)
  expect_equal(dimnames(coef(fit)), list(c("(Intercept)", "x", "z"), c("a", "b")))
  both <- fit_two(cbind(a, b) ~ ., d[c("x", "z", "a", "b")], draws = 50L)
  expect_equal(coef(both), coef(fit))
  weighted <- fit_two(cbind(a, b) ~ x, d, weights = rep(c(1, 2), 40L), subset = z > -1, draws = 50L)
  expect_equal(weighted$nobs, sum(d$z > -1))
  expect_warning(again <- update(weighted, subset = z > 0), class = "bsvm_warning_convergence")
  expect_equal(nrow(again$y), sum(d$z > 0))
})

# Under variances for each response that are inferred, effects that all responses have alike are taken
# for a residual with one large direction.
test_that("effects that all responses share are not lost in the residual covariance", {
  set.seed(13)
  d <- data.frame(diet = gl(3L, 6L))
  size <- c(0, 6, 7)[d$diet] + rnorm(18L)
  d$y <- size + matrix(0.1 * rnorm(18L * 8L), 18L)
  fit <- fit_two(y ~ diet, d)
  expect_equal(unname(coef(fit)), unname(coef(lm(y ~ diet, d))), tolerance = 0.02)
  expect_match(prior_summary(fit$fits[[1L]])$prior[2L], "normal, standard deviation")
  ridge <- fit_two(y ~ diet, d, prior = prior_ridge())
  expect_match(prior_summary(ridge$fits[[1L]])$prior[2L], "ridge")
  wide <- data.frame(x = I(matrix(rnorm(180L), 18L)), y = I(matrix(rnorm(36L), 18L)))
  expect_match(prior_summary(fit_two(y ~ x, wide)$fits[[1L]])$prior[2L], "ridge")
})

test_that("a response that varies in incomplete rows alone is fitted", {
  set.seed(14)
  d <- data.frame(a = c(rep(NA, 20L), rnorm(20L)), b = c(rnorm(20L), rep(1, 20L)), x = rnorm(40L))
  expect_s3_class(fit_two(cbind(a, b) ~ x, d), "bsvm_responses")
})

test_that("a model of group effects alone is fitted", {
  d <- simulated_responses()
  fit <- fit_two(cbind(a, b) ~ 0 + (1 | g), d)
  expect_output(print(summary(fit)), "Residuals")
  expect_equal(dim(predict(fit, d[1:2, ])), c(2L, 2L))
})

test_that("few rows and many columns do not get in the way of a function", {
  expect_s3_class(fit_two(cbind(mpg, qsec) ~ cyl + disp + drat + gp(wt), mtcars[1:6, ], draws = 30L),
                  "bsvm_responses")
  set.seed(2)
  d <- data.frame(y = I(matrix(rnorm(60L), 30L)), x = I(matrix(rnorm(30L * 40L), 30L)), z = rnorm(30L))
  expect_s3_class(fit_two(y ~ x + gp(z), d, draws = 30L), "bsvm_responses")
  expect_s3_class(fit_two(y ~ s(z), d, draws = 30L), "bsvm_responses")
})

test_that("Gaussian-process terms share a kernel that suits all responses", {
  set.seed(8)
  n <- 120L
  d <- data.frame(x = runif(n))
  d$a <- sin(12 * d$x) + 0.2 * rnorm(n)
  d$b <- 50 * cos(12 * d$x) + 5 * rnorm(n)
  d$c <- rnorm(n)
  fit <- fit_two(cbind(a, b, c) ~ gp(x), d, draws = 300L)
  scales <- vapply(fit$fits, function(f) f$bases[[1L]]$parts[[1L]]$numbers$theta, 0)
  expect_equal(unname(scales), rep(scales[[1L]], 3L))
  new <- data.frame(x = c(0.2, 0.5, 0.8))
  expect_lt(max(abs(predict(fit, new)[, "a"] - sin(12 * new$x))), 0.2)
  expect_lt(max(abs(predict(fit, new)[, "b"] - 50 * cos(12 * new$x))), 5)
  expect_s3_class(plot(fit$fits$a, "gp"), "ggplot")
})

# The amplitude of such a kernel is far larger than what the function varies: under a prior of the
# amplitude itself all is noise.
test_that("a kernel that is nearly linear has no mode where all is noise", {
  set.seed(10)
  n <- 40L
  d <- data.frame(x = I(matrix(rnorm(n * 6L), n)))
  d$y <- unclass(d$x) %*% matrix(rnorm(24L), 6L) + 0.3 * matrix(rnorm(n * 4L), n)
  d$y[, 4L] <- d$y[, 4L] / 10 - rowSums(d$y[, 1:3])
  fit <- fit_two(y ~ gp(x, kernel = kernel_se(lengthscale = 700)), d, draws = 300L)
  expect_lt(max(sigma(fit) / apply(d$y, 2L, sd)), 0.5)
})

# best_evidence() beside a normal density.
test_that("the evidence of a response alone is its density at its best", {
  set.seed(5)
  x <- cbind(1, matrix(rnorm(30L * 4L), 30L))
  y <- drop(x %*% c(3, 1, -1, 2, 0)) + rnorm(30L)
  found <- column_evidences(x, cbind(y), list(2:5))
  others <- qr(x[, 1L, drop = FALSE])
  r <- qr.qty(others, y)[-1L]
  f <- qr.qty(others, x[, 2:5])[-1L, ]
  density <- function(theta) {
    covariance <- exp(2 * theta[1L]) * diag(29L) + exp(2 * theta[2L]) * tcrossprod(f)
    -0.5 * drop(determinant(covariance)$modulus) - 0.5 * sum(r * solve(covariance, r))
  }
  top <- optim(c(0, 0), density, control = list(fnscale = -1, reltol = 1e-12))
  expect_equal(unname(found[c("residual", "part"), 1L]), top$par, tolerance = 1e-3)
  two <- column_evidences(x, cbind(y), list(2:3, 4:5))
  expect_gt(two["value", 1L], found["value", 1L] - 1e-6)
})

test_that("a run goes on from its checkpoint to the bit", {
  d <- simulated_responses()
  file <- tempfile()
  on.exit(unlink(file))
  run <- function(draws, ...) {
    set.seed(9)
    suppressWarnings(bsvm(cbind(a, b) ~ x + (1 | g), d, likelihood = likelihood_gaussian(),
                          engine = engine_gibbs(draws = draws, burnin = 20L, chains = 2L, ...)))
  }
  whole <- run(60L)
  run(30L, checkpoint = file)
  again <- run(60L, checkpoint = file, resume = TRUE)
  expect_identical(again$residual, whole$residual)
  expect_identical(again$fits$a$posterior$coefficients, whole$fits$a$posterior$coefficients)
})

# ---- a second residual --------------------------------------------------------------------------

test_that("a latent response under a loss gives predictions, draws and shares", {
  d <- simulated_responses(120L)
  d$b[4L] <- NA
  set.seed(2)
  fit <- suppressWarnings(bsvm(
    cbind(a, b) ~ x + z, d, likelihood = likelihood_eps_insensitive(residual = "correlated"),
    engine = engine_gibbs(draws = 500L, burnin = 300L, chains = 2L)),
    classes = "bsvm_warning_convergence")
  expect_equal(dim(fit$loss$draws), c(4L, 500L, 2L))
  expect_true(all(fit$loss$draws > 0) && all(fit$loss$draws[3:4, , ] < 1))
  found <- predict(fit, d[1:5, ], interval = "prediction")
  expect_equal(dim(found), c(5L, 4L, 2L))
  expect_equal(found[, "fit", ], predict(fit, d[1:5, ]), tolerance = 1e-8, ignore_attr = TRUE)
  drawn <- posterior_predict(fit, d[1:5, ], seed = 1)
  expect_equal(apply(drawn, 2:3, sd), found[, "sd", ], tolerance = 0.15, ignore_attr = TRUE)
  total <- drawn - posterior_epred(fit, d[1:5, ])
  expect_equal(apply(total, 3L, sd), sigma(fit), tolerance = 0.1, ignore_attr = TRUE)
  expect_output(print(summary(fit)), "share in the residual variance")
  expect_output(print(fit), "latent response")
  expect_s3_class(plot(fit), "ggplot")
  expect_error(log_lik(fit), class = "bsvm_error_unsupported")
  # a missing response has both residuals
  expect_gt(fit$imputed$sd, sqrt(mean(tube_variance(fit$loss$draws[2L, , ], fit$loss$draws[4L, , ]))))
  expect_equal(dim(predict(fit, interval = "prediction")), c(120L, 4L, 2L))
  expect_true("a: nu of the loss" %in% posterior::variables(posterior::as_draws(fit)))
  # scales are in units of the responses
  d2 <- transform(d, a = a * 1000)
  set.seed(2)
  fit2 <- suppressWarnings(bsvm(
    cbind(a, b) ~ x + z, d2, likelihood = likelihood_eps_insensitive(residual = "correlated"),
    engine = engine_gibbs(draws = 500L, burnin = 300L, chains = 2L)),
    classes = "bsvm_warning_convergence")
  expect_equal(fit2$loss$draws[c(1L, 3L), , ], fit$loss$draws[c(1L, 3L), , ] * c(1000, 1),
               tolerance = 1e-6)
})

test_that("draws of the epsilon-insensitive density have its variance and share outside", {
  set.seed(3)
  scale <- 0.7
  nu <- 0.4
  e <- tube_draws(scale, nu, c(1L, 200000L))
  expect_equal(mean(e^2), tube_variance(scale, nu), tolerance = 0.02)
  expect_equal(mean(abs(e) > scale * (1 - nu) / nu), nu, tolerance = 0.02)
  expect_equal(tube_variance(scale, 1), 2 * scale^2)
})

test_that("two normal residuals are as one, of which they are the sum", {
  d <- simulated_responses(200L)
  set.seed(2)
  two <- suppressWarnings(bsvm(cbind(a, b) ~ x + z, d, likelihood = likelihood_gaussian(residual = "paper"),
                               engine = engine_gibbs(draws = 3000L, burnin = 500L, chains = 2L)),
                          classes = "bsvm_warning_convergence")
  one <- fit_two(cbind(a, b) ~ x + z, d)
  expect_equal(coef(two), coef(one), tolerance = 0.03)
  expect_equal(sigma(two), sigma(one), tolerance = 0.05)
  expect_equal(attr(VarCorr(two)$residual__, "correlation")[2L], attr(VarCorr(one)$residual__, "correlation")[2L],
               tolerance = 0.1)
  expect_equal(nrow(two$loss$draws), 2L)
  expect_output(print(two), "of which the sum is shown")
  expect_equal(dim(log_lik(two)), c(6000L, 200L))
})

test_that("what a second residual does not go with is refused", {
  d <- simulated_responses()
  tube <- function(...) likelihood_eps_insensitive(..., residual = "correlated")
  refused <- function(likelihood, class, ...) {
    expect_error(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood, ...),
                 class = paste0("bsvm_error_", class))
  }
  refused(tube(epsilon = 0.5), "argument")
  refused(tube(scale = prior_half_t(3, 1)), "argument")
  refused(tube(scale = ~ x), "argument")
  refused(tube(), "unsupported", weights = rep(1:2, 40L))
  refused(tube(), "unsupported", engine = "gaussian")
  refused(likelihood_gaussian(scale = 1, residual = "paper"), "argument")
  expect_error(likelihood_laplace(residual = "paper"), class = "bsvm_error_argument")
  given <- suppressWarnings(bsvm(cbind(a, b) ~ x, d, likelihood = tube(scale = 1, nu = 0.5),
                                 engine = engine_gibbs(draws = 30L, burnin = 20L, chains = 1L)))
  expect_equal(range(given$loss$draws[1:2, , ]), c(1, 1))
  expect_equal(range(given$loss$draws[3:4, , ]), c(0.5, 0.5))
  laplace <- suppressWarnings(bsvm(
    cbind(a, b) ~ x + (1 | g), d, likelihood = likelihood_laplace(residual = "correlated"),
    engine = engine_gibbs(draws = 30L, burnin = 20L, chains = 1L)))
  expect_equal(range(laplace$loss$draws[3:4, , ]), c(1, 1))
})

test_that("what is not supported is refused with what to write instead", {
  d <- simulated_responses()
  refused <- function(expr, class = "unsupported") {
    expect_error(expr, class = paste0("bsvm_error_", class))
  }
  gaussian <- likelihood_gaussian()
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, engine = engine_vb()))
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, offset = z))
  refused(bsvm(cbind(a, b) ~ x + offset(z), d, likelihood = gaussian))
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, class.weights = c(1, 2)))
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, missing = missing_normal()))
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, weights = rep(0:1, 40L)))
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, prior = prior_spike_slab()))
  refused(bsvm(cbind(a, b) ~ gp(x, infer = "all"), d, likelihood = gaussian))
  refused(bsvm(cbind(a, a) ~ x, d, likelihood = gaussian), "response")
  refused(bsvm(cbind(a, b, a + b) ~ z, d, likelihood = gaussian), "response")
  refused(bsvm(cbind(a, k) ~ x, transform(d, k = a + x), likelihood = gaussian), "response")
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_quantile(c(0.2, 0.8))))
  refused(bsvm(cbind(a, 1) ~ x, d, likelihood = gaussian), "response")
  refused(bsvm(cbind(a, b) ~ x, transform(d, b = ifelse(z > 0, b, 1)), subset = z < 0,
               likelihood = gaussian), "response")
  refused(vcov(fit_two(cbind(a, b) ~ x, d, draws = 20L)))
  refused(bsvm(cbind(a, NA) ~ x, d, likelihood = gaussian), "response")
  refused(bsvm(cbind(a, ifelse(b > 0, Inf, b)) ~ x, d, likelihood = gaussian), "response")
  refused(bsvm(cbind(a, b) ~ x + a, d, likelihood = gaussian), "formula")
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_gaussian(scale = 2)), "argument")
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, prior = list(residual = prior_flat())),
          "prior")
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = likelihood_laplace(),
               prior = list(residual = prior_half_t())), "prior")
  refused(bsvm(cbind(a, b) ~ x, transform(d, x = ifelse(x > 2, NA, x)), likelihood = gaussian),
          "missing")
  refused(bsvm(cbind(a, b) ~ x, d), "response")
  refused(likelihood_gaussian(residual = "none"), "argument")
  d$a[1L] <- NA
  refused(bsvm(cbind(a, b) ~ x, d, likelihood = gaussian, weights = rep(1:2, 40L)))
})

test_that("pictures of several responses are made", {
  skip_if_not_installed("ggplot2")
  d <- simulated_responses()
  fit <- fit_two(cbind(a, b) ~ x + z, d, draws = 100L)
  for (which in c("response", "correlation", "coefficients")) {
    expect_s3_class(ggplot2::ggplot_build(plot(fit, which))$plot, "ggplot")
  }
  d$m <- matrix(rnorm(80L * 25L), 80L, dimnames = list(NULL, paste0("w", 25:49)))
  curve <- plot(fit_two(cbind(a, b) ~ m, d, draws = 100L), "coefficients")
  expect_equal(range(curve$data$at), c(25, 49))
  expect_error(plot(fit, "gp"), class = "bsvm_error_argument")
})

test_that("responses may be a matrix made by I() with values that repeat", {
  set.seed(2)
  y <- matrix(round(rnorm(60L), 1), 20L, dimnames = list(NULL, c("a", "b", "c")))
  y[3L, 2L] <- y[3L, 1L]
  d <- data.frame(x = rnorm(20L), y = I(y))
  fit <- suppressWarnings(bsvm(y ~ x, d, likelihood = likelihood_gaussian(),
                               engine = engine_gibbs(draws = 50L, burnin = 20L)))
  expect_named(fit$fits, c("a", "b", "c"))
  study <- suppressWarnings(holdout(list(fit = fit), data = d, times = 1L))
  expect_true(all(paste("rmse", c("a", "b", "c")) %in% levels(study$metric)))
})

test_that("what is for one response only says so", {
  fit <- bsvm(cbind(mpg, qsec) ~ wt, mtcars, likelihood = likelihood_gaussian())
  for (f in list(hypothesis, importance, as.matrix, as.array)) {
    expect_refusal(f(fit), "unsupported", "fit$fits[[1]]")
  }
  skip_if_not_installed("bayesplot")
  expect_refusal(bayesplot::pp_check(fit), "unsupported", "fit$fits[[1]]")
  expect_s3_class(bayesplot::pp_check(fit$fits[[1]]), "ggplot")
})
