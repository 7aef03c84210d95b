# Fits with Gaussian-process terms at a known kernel and amplitude, against exact regression in
# plain R, the linear machine, kernlab's support vector machine, and draws.

data_of <- function(n, seed) {
  with_seed(seed, {
    d <- data.frame(x = rnorm(n), z = rnorm(n, 3, 2), w = rnorm(n), g = gl(5, 1, n))
    d$y <- sin(2 * d$x) + 0.3 * d$z + 0.5 * d$w + rnorm(5)[d$g] + rnorm(n, sd = 0.4)
    d$class <- d$y > mean(d$y)
    d
  })
}

# f ~ N(H b, K), b flat, y ~ N(f, noise): moments of f at new rows with prior covariances `across`
# (new x n) and variances `own`, and columns `new_h`; the evidence if there is no H.
regression <- function(k, y, noise, across, own, h = NULL, new_h = NULL) {
  total <- k + diag(noise, length(y))
  solved <- solve(total)
  mean <- across %*% solved %*% y
  variance <- own - rowSums((across %*% solved) * across)
  if (!is.null(h)) {
    precision <- t(h) %*% solved %*% h
    b <- solve(precision, t(h) %*% solved %*% y)
    left <- new_h - across %*% solved %*% h
    mean <- across %*% solved %*% (y - h %*% b) + new_h %*% b
    variance <- variance + rowSums((left %*% solve(precision)) * left)
  }
  list(mean = drop(mean), sd = sqrt(drop(variance)),
       evidence = -0.5 * (length(y) * log(2 * pi) + c(determinant(total)$modulus) +
                            sum(y * (solved %*% y))))
}

moments_at <- function(fit, newdata, ...) {
  bsvm:::posterior_linear(fit, bsvm:::new_design(fit, newdata, ...))
}

far <- data.frame(x = c(0.3, -1, 40, 2), z = c(2, 5, -100, 3), w = c(0, 1, 0, -1),
                  g = factor(c(1, 3, 5, 2), 1:5))

# ---- regression ---------------------------------------------------------------------------------

test_that("regression with all numbers given is exact Gaussian-process regression", {
  for (lengthscale in c(0.4, 1, 3)) {
    d <- data_of(45, 1)
    fit <- bsvm(y ~ 0 + gp(x, z, kernel = kernel_se(lengthscale)), d, engine = "gaussian",
                likelihood = likelihood_gaussian(scale = 0.5), prior = list(gp = given(1.7)))
    x <- inputs_of(d)
    k <- 1.7 * se(x, x, lengthscale)
    for (new in list(d, far)) {
      v <- inputs_of(d, new)
      exact <- regression(k, d$y, 0.25, 1.7 * se(v, x, lengthscale), 1.7)
      found <- moments_at(fit, new)
      # the diagonal of K is raised by 1e-8 of itself, which matters most away from the data
      expect_close(found$mean, exact$mean, if (identical(new, d)) 6e-7 else 5e-5)
      expect_close(found$sd, exact$sd, 3e-7)
    }
    expect_close(elbo(fit), exact$evidence, 3e-7)
    expect_close(found$sd[3], sqrt(1.7), 1e-9)  # nothing is known that far away
    expect_lt(abs(found$mean[3]), 1e-9)
  }
})

# A hundred rows and more, where classes are fitted in numbers of rows.
many <- transform(data_of(120, 3), y = y + 10)
many_prior <- prior_half_t(3, 2)
test_that("regression with a flat intercept is exact", {
  fit <- bsvm(y ~ gp(x, z, kernel = kernel_se(0.6)), many, engine = "gaussian",
              likelihood = likelihood_gaussian(scale = 0.5), prior = list(gp = given(1.7)))
  x <- inputs_of(many)
  k <- 1.7 * se(x, x, 0.6)
  exact <- regression(k, many$y, 0.25, k, 1.7, matrix(1, 120L), matrix(1, 120L))
  found <- moments_at(fit, many)
  expect_close(found$mean, exact$mean, 1e-6)
  expect_close(found$sd, exact$sd, 1e-6)
})

regression_over_grid <- function(d, noise) {
  x <- inputs_of(d)
  k <- se(x, x, 0.6)
  eigen <- eigen(k, symmetric = TRUE)
  ones <- drop(crossprod(eigen$vectors, rep(1, 120)))
  y <- drop(crossprod(eigen$vectors, d$y))
  half_t <- function(s, scale) stats::dt(s / scale, 3, log = TRUE) + log(s)
  at <- function(s, sigma) {
    variance <- s^2 * pmax(eigen$values, 0) + sigma^2
    level <- sum(ones * y / variance) / sum(ones^2 / variance)
    gain <- 1 - sigma^2 / variance
    mean <- drop(eigen$vectors %*% (ones * level + gain * (y - ones * level)))
    left <- drop(eigen$vectors %*% ((1 - gain) * ones))
    own <- drop(eigen$vectors^2 %*% (gain * sigma^2)) + left^2 / sum(ones^2 / variance)
    list(mean = mean, square = mean^2 + own,
         log = -0.5 * (sum(log(variance)) + sum((y - ones * level)^2 / variance) +
                         log(sum(ones^2 / variance))) +
           half_t(s, 2) + half_t(sigma, stats::mad(d$y)))
  }
  grid <- expand.grid(s = exp(seq(log(0.3), log(12), length.out = 60)),
                      sigma = noise * exp(seq(-0.6, 0.6, length.out = 60)))
  seen <- Map(at, grid$s, grid$sigma)
  log <- vapply(seen, `[[`, 0, "log")
  weight <- exp(log - max(log)) / sum(exp(log - max(log)))
  average <- function(name) drop(vapply(seen, `[[`, numeric(120), name) %*% weight)
  mean <- average("mean")
  sd <- sqrt(average("square") - mean^2)
  scale <- sum(weight * grid$sigma)
  list(mean = mean, sd = sd, scale = scale, scale_sd = sqrt(sum(weight * grid$sigma^2) - scale^2))
}

test_that("linear terms in other units are the same terms", {
  with_unit <- function(unit) {
    d <- transform(many, k = unit * with_seed(5, rnorm(120)))
    fit <- bsvm(y ~ k + gp(x, z, kernel = kernel_se(0.6)), d, engine = "gaussian",
                likelihood = likelihood_gaussian(scale = 0.5),
                prior = list(gp = given(1.7), prior_flat()))
    c(coef(fit)[["k"]], sqrt(vcov(fit)["k", "k"])) * unit
  }
  for (unit in c(1e-3, 2, 30, 1000)) expect_close(with_unit(unit) / with_unit(1), c(1, 1), 5e-5)
})

# A posterior of the scale that is far narrower than its prior, too: with `noise` far below the spread.
test_that("with amplitude and scale inferred it is the sum over a fine grid of both", {
  for (noise in c(0.05, 0.4, 2)) {
    d <- transform(many, y = with_seed(4, sin(2 * x) + 0.3 * z + noise * rnorm(120)))
    fit <- bsvm(y ~ gp(x, z, kernel = kernel_se(0.6)), d, engine = "gaussian",
                likelihood = likelihood_gaussian(),
                prior = list(gp = prior_ridge(variance = many_prior)))
    exact <- regression_over_grid(d, noise)
    found <- moments_at(fit, d)
    expect_lt(max(abs(found$mean - exact$mean) / exact$sd), 0.055)
    expect_close(found$sd / exact$sd, rep(1, 120), 0.03)
    scale <- summary(fit)$parameters
    expect_close(scale[1L, "Estimate"] / exact$scale, 1, 0.01)
    expect_close(scale[1L, "SD"] / exact$scale_sd, 1, 0.06)
  }
})

test_that("weights, an offset and each kernel are in the exact regression too", {
  d <- data_of(40, 2)
  weight <- with_seed(3, runif(40, 0.5, 2))
  # weights are of the scaling, and of the mean variance of polynomials, too
  raw <- as.matrix(d[c("x", "z")])
  centred <- sweep(raw, 2, colSums(raw * weight) / sum(weight))
  x <- sweep(centred, 2, sqrt(colSums(centred^2 * weight) / (sum(weight) - 1)), `/`)
  r <- as.matrix(dist(x)) / 0.9
  s <- sum(colSums(x^2 * weight)) / sum(weight)
  kernels <- list(
    list(kernel_matern(0.5, 0.9), exp(-r)),
    list(kernel_matern(1.5, 0.9), (1 + sqrt(3) * r) * exp(-sqrt(3) * r)),
    list(kernel_rational(shape = 1.5, lengthscale = 0.9), (1 + r^2 / 3)^-1.5),
    list(kernel_poly(1, 0.5), (0.5 * s + x %*% t(x)) / (1.5 * s)),
    list(kernel_linear(), x %*% t(x) / s),
    list(kernel_se(0.9) * kernel_linear(), exp(-r^2 / 2) * x %*% t(x) / s)
  )
  for (one in kernels) {
    kernel <- one[[1]]
    fit <- quietly(bsvm(y ~ 0 + gp(x, z, kernel = kernel) + offset(w), d, weights = weight,
                        engine = "gaussian", likelihood = likelihood_gaussian(scale = 0.5),
                        prior = list(gp = given(1.3))))
    k <- 1.3 * one[[2]]
    exact <- regression(k, d$y - d$w, 0.25 / weight, k, diag(k))
    found <- moments_at(fit, d)
    expect_close(found$mean, exact$mean, 1e-6, label = format(kernel))
    expect_close(found$sd, exact$sd, 1e-6, label = format(kernel))
  }
})

test_that("sums of kernels, multipliers and a function for each level are as the covariance says", {
  d <- data_of(50, 4)
  x <- inputs_of(d, names = "x")
  z <- inputs_of(d, names = "z")
  noise <- likelihood_gaussian(scale = 0.5)
  expect_exact <- function(formula, k, prior, h = NULL) {
    fit <- quietly(bsvm(formula, d, engine = "gaussian", likelihood = noise, prior = prior))
    exact <- regression(k, d$y, 0.25, k, diag(k), h, h)
    found <- moments_at(fit, d)
    expect_close(found$mean, exact$mean, 2e-6, label = deparse1(formula))
    expect_close(found$sd, exact$sd, 2e-6, label = deparse1(formula))
    if (is.null(h)) expect_close(elbo(fit), exact$evidence, 1e-6, label = deparse1(formula))
  }
  expect_exact(y ~ 0 + gp(x, kernel = kernel_se(0.7)) + gp(z, kernel = kernel_se(2)),
               1.2 * se(x, x, 0.7) + 0.6 * se(z, z, 2),
               list("gp(x, kernel = kernel_se(0.7))" = given(1.2),
                    "gp(z, kernel = kernel_se(2))" = given(0.6)))
  expect_exact(y ~ 0 + gp(x, kernel = kernel_se(0.7) + kernel_linear()),
               1.2 * se(x, x, 0.7) + 0.6 * x %*% t(x) / mean(x^2),
               list("gp(x, kernel = kernel_se(0.7) + kernel_linear())1" = given(1.2),
                    "gp(x, kernel = kernel_se(0.7) + kernel_linear())2" = given(0.6)))
  expect_exact(y ~ 0 + gp(x, by = w, kernel = kernel_se(0.7)),
               1.2 * se(x, x, 0.7) * outer(d$w, d$w) / mean(d$w^2), list(gp = given(1.2)))
  expect_exact(y ~ 0 + gp(x, by = g, kernel = kernel_se(0.7)),
               1.2 * se(x, x, 0.7) * outer(d$g, d$g, `==`), list(gp = given(1.2)))
  expect_exact(y ~ gp(x, kernel = kernel_se(0.7)), 1.2 * se(x, x, 0.7), list(gp = given(1.2)),
               h = matrix(1, 50, 1))
  # next to linear terms and a grouping factor
  w <- scale(d$w)
  expect_exact(y ~ w + gp(x, kernel = kernel_se(0.7)) + (1 | g),
               1.2 * se(x, x, 0.7) + 0.8 * outer(d$g, d$g, `==`),
               list(prior_flat(), gp = given(1.2), g = given(0.8)), h = cbind(1, w))
  expect_exact(y ~ 0 + w + gp(x, z, kernel = kernel_matern(1.5, 1)),
               1.2 * local({
                 r <- sqrt(3) * as.matrix(dist(cbind(x, z)))
                 (1 + r) * exp(-r)
               }) + 0.4 * outer(d$w, d$w) / var(d$w),
               list(given(0.4), gp = given(1.2)))
})

test_that("leave-one-out scores of regression are those of exact regression without the row", {
  d <- data_of(30, 5)
  for (points in list(NULL, 4)) {
    fit <- quietly(bsvm(y ~ 0 + gp(x, z, kernel = kernel_se(1), points = points), d,
                        engine = "gaussian", likelihood = likelihood_gaussian(scale = 0.5),
                        prior = list(gp = given(1.5))))
    x <- inputs_of(d)
    k <- 1.5 * se(x, x, 1)
    explained <- k
    if (!is.null(points)) {
      v <- fit$bases[[1]]$parts[[1]]$points
      expect_identical(nrow(v), 4L)
      across <- 1.5 * se(x, v, 1)
      explained <- across %*% solve(1.5 * se(v, v, 1), t(across))
    }
    left <- diag(k) - diag(explained)
    expected <- vapply(seq_len(30), function(i) {
      one <- regression(explained[-i, -i], d$y[-i], 0.25, explained[i, -i, drop = FALSE],
                        explained[i, i])
      dnorm(d$y[i], one$mean, sqrt(one$sd^2 + left[i] + 0.25), log = TRUE)
    }, 0)
    found <- quietly(loo(fit, method = "closed"))
    expect_close(found$pointwise[, "elpd_loo"], expected, 2e-6)
  }
})

# ---- the linear machine -------------------------------------------------------------------------

test_that("a linear kernel is the linear machine with a ridge of the same variance", {
  d <- data_of(60, 6)
  x <- inputs_of(d)
  s <- sum(colMeans(x^2))
  new <- far[-3, ]
  for (likelihood in list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))) {
    linear <- quietly(bsvm(class ~ x + z, d, engine = "gaussian", likelihood = likelihood,
                           prior = given(0.7)))
    term <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_linear()), d, engine = "gaussian",
                         likelihood = likelihood, prior = list(gp = given(0.7 * s))))
    expect_close(moments_at(term, new)$mean, moments_at(linear, new)$mean, 1e-5)
    expect_close(moments_at(term, new)$sd, moments_at(linear, new)$sd, 1e-5)
    # the intercept has another prior there
    none <- list(
      bsvm(class ~ 0 + x + z, d, engine = "gaussian", likelihood = likelihood, prior = given(0.7),
           standardize = FALSE),
      quietly(bsvm(class ~ 0 + gp(x, z, kernel = kernel_linear(), standardize = FALSE), d,
                   engine = "gaussian", likelihood = likelihood, standardize = FALSE,
                   prior = list(gp = given(0.7 * sum(colMeans(d[c("x", "z")]^2))))))
    )
    expect_close(elbo(none[[2]]), elbo(none[[1]]), 1e-8)
    # and with a second summand of hardly any variance
    both <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_linear() + kernel_se(1), label = "f"), d,
                         engine = "gaussian", likelihood = likelihood,
                         prior = list(f1 = given(0.7 * s), f2 = given(1e-9))))
    # in 60 rows' numbers, where moments of the hinge are matched by other steps
    expect_close(moments_at(both, new)$mean, moments_at(linear, new)$mean, 5e-3)
  }
  linear <- bsvm(class ~ x + z, d, engine = "em", likelihood = likelihood_hinge(),
                 prior = given(0.7))
  term <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_linear()), d, engine = "em",
                       likelihood = likelihood_hinge(), prior = list(gp = given(0.7 * s))))
  expect_close(predict(term, new, type = "link"), predict(linear, new, type = "link"), 1e-5)
})

test_that("very smooth functions are the linear machine", {
  d <- data_of(60, 7)
  linear <- quietly(bsvm(class ~ x + z, d, engine = "gaussian", likelihood = likelihood_hinge(),
                         prior = given(0.7)))
  term <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_se(100)), d, engine = "gaussian",
                       likelihood = likelihood_hinge(), prior = list(gp = given(0.7 * 1e4))))
  expect_close(moments_at(term, d)$mean, moments_at(linear, d)$mean, 0.02)
  expect_close(moments_at(term, d)$sd, moments_at(linear, d)$sd, 0.02)
})

# ---- neighbours and draws -----------------------------------------------------------------------

test_that("the mode is kernlab's support vector machine with the translated parameters", {
  skip_if_not_installed("kernlab")
  d <- data_of(60, 8)
  x <- inputs_of(d)
  for (lengthscale in c(0.5, 1.5)) {
    fit <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_se(lengthscale)), d, engine = "em",
                        likelihood = likelihood_hinge(), prior = list(gp = given(1.5))))
    svm <- kernlab::ksvm(x, factor(d$class), type = "C-svc", kernel = "rbfdot",
                         kpar = list(sigma = 1 / (2 * lengthscale^2)), C = 2 * 1.5, scaled = FALSE,
                         tol = 1e-8)
    decision <- kernlab::predict(svm, x, type = "decision")
    sign <- sign(sum(decision * predict(fit, d, type = "link")))
    expect_close(predict(fit, d, type = "link"), sign * decision, 1e-4)
  }
})

test_that("sampler, Gibbs and Gaussian engines have the same posterior", {
  skip_on_cran()
  d <- data_of(40, 9)
  fit_of <- function(engine, likelihood = likelihood_hinge()) {
    with_seed(1, quietly(bsvm(class ~ gp(x, z, kernel = kernel_se(1)), d, engine = engine,
                              likelihood = likelihood, prior = list(gp = given(2)))))
  }
  # 20000 draws: slice and Gibbs within 0.012 sd, sds 0.99 to 1.01; Gaussian 0.037 and 0.90 to 1.03
  # of the pseudo-likelihood, 0.011 and 0.93 to 1.00 of the normalised one
  compare <- function(draws, other, shift, low, high) {
    a <- moments_at(draws, d)
    b <- moments_at(other, d)
    expect_lt(max(abs(a$mean - b$mean) / a$sd), shift)
    expect_gt(min(b$sd / a$sd), low)
    expect_lt(max(b$sd / a$sd), high)
  }
  slice <- fit_of(engine_slice(draws = 10000))
  gibbs <- fit_of(engine_gibbs(draws = 10000))
  gaussian <- fit_of("gaussian")
  compare(slice, gibbs, 0.04, 0.97, 1.03)
  compare(slice, gaussian, 0.08, 0.88, 1.05)
  normalised <- likelihood_hinge(normalized = TRUE)
  compare(fit_of(engine_slice(draws = 10000), normalised), fit_of("gaussian", normalised),
          0.04, 0.9, 1.02)
})
