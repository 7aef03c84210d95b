# engine_ecm(): the mode at a given kernel against a quadratic program, the posterior, predictions
# and FITC against dense linear algebra in plain R, evidence and gradients through R, what is
# refused.

forget <- function(name) suppressWarnings(rm(list = name, envir = bsvm:::session))

data_of <- function(n, seed) {
  with_seed(seed, {
    d <- data.frame(x = rnorm(n), z = rnorm(n, 3, 2), w = rnorm(n), g = gl(5, 1, n))
    d$y <- factor(ifelse(sin(2 * d$x) + 0.3 * (d$z - 3) + rnorm(n, sd = 0.5) > 0, "b", "a"))
    d
  })
}
signs <- function(d) ifelse(d$y == "b", 1, -1)

# A kernel and variance that are given: rounds change nothing.
fixed_fit <- function(d, ..., points = NULL, likelihood = "hinge", control = bsvm_control()) {
  kernel <- kernel_se(0.8)
  quietly(bsvm(y ~ 0 + gp(x, z, kernel = kernel, points = points), d, likelihood = likelihood,
               prior = list(gp = given(1.7)), engine = engine_ecm(rounds = 1, iterations = 2),
               control = control, ...))
}

# min a'Ka/2 - sum(y a), lower <= y a <= upper, by coordinates; f = K a.
box_program <- function(k, y, lower, upper) {
  a <- f <- numeric(length(y))
  for (sweep in 1:20000) {
    before <- a
    for (i in seq_along(y)) {
      beta <- min(max(y[i] * a[i] + (1 - y[i] * f[i]) / k[i, i], lower[i]), upper[i])
      f <- f + (y[i] * beta - a[i]) * k[, i]
      a[i] <- y[i] * beta
    }
    if (max(abs(a - before)) < 1e-13) break
  }
  list(a = a, f = f, value = sum(y * a) - sum(a * f) / 2)
}

linear_moments <- function(fit, newdata) {
  bsvm:::posterior_linear(fit, bsvm:::new_design(fit, newdata))
}

far <- data.frame(x = c(0.3, -1, 40, 2), z = c(2, 5, -100, 3))

# ---- at a given kernel --------------------------------------------------------------------------

test_that("the mode is the quadratic program's, by coordinates and by kernlab", {
  d <- data_of(45, 1)
  y <- signs(d)
  k <- 1.7 * se(inputs_of(d), inputs_of(d), 0.8)
  for (numbers in list(c(1, 0), c(0.6, 0.3))) {
    gamma <- numbers[1]
    c <- sqrt(1 + 2 * numbers[2] / gamma)
    fit <- fixed_fit(d, likelihood = likelihood_hinge(gamma = gamma, gamma0 = numbers[2]),
                     control = bsvm_control(max_passes = 20000))
    program <- box_program(k + diag(1.7e-8, 45), y, rep(gamma * (1 - c), 45),
                           rep(gamma * (1 + c), 45))
    f <- fitted(fit)
    u <- 1 - y * f
    value <- sum(gamma * (c * abs(u) + u)) + sum(f * solve(k + diag(1.7e-8, 45), f)) / 2
    expect_close(value, program$value, 1e-6)
    expect_close(f, program$f, 2e-3)
    expect_lt(fit$gradient, 1e-7)
    expect_identical(fit$termination, "converged")
  }
  skip_if_not_installed("kernlab")
  fit <- fixed_fit(d)
  solved <- kernlab::ipop(rep(-1, 45), (k + diag(1.7e-8, 45)) * outer(y, y), matrix(0, 1, 45), -1,
                          rep(0, 45), rep(2, 45), 2, sigf = 8)
  expect_close(fitted(fit), drop(k %*% (kernlab::primal(solved) * y)), 5e-3)
})

test_that("it is the mode by engine_em() on the same features, with linear terms, weights, an offset", {
  d <- data_of(60, 2)
  d$o <- d$w / 4
  weight <- with_seed(3, sample(1:3, 60, TRUE))
  kernel <- kernel_matern(1.5, 0.9)
  for (points in list(NULL, Inf)) {
    own <- function(engine) {
      quietly(bsvm(y ~ w + gp(x, z, kernel = kernel, points = points) + offset(o), d,
                   weights = weight, likelihood = "hinge", engine = engine,
                   prior = list(prior_flat(), gp = given(1.3))))
    }
    fit <- own(engine_ecm(rounds = 0))
    mode <- own(engine_em())
    expect_close(fitted(fit), fitted(mode), 5e-3)
    objective <- function(of) {
      b <- coef(of)
      # a flat prior's variance is large, not infinite
      2 * sum(weight * pmax(1 - signs(d) * fitted(of), 0)) + sum(b[-(1:2)]^2) / 2 / 1.3
    }
    expect_close(objective(fit), objective(mode), 1e-6)
  }
})

# ---- the posterior ------------------------------------------------------------------------------

test_that("the posterior given the latent scales is that of dense regression, FITC included", {
  d <- data_of(50, 4)
  y <- signs(d)
  x <- inputs_of(d)
  new <- inputs_of(d, far)
  for (points in list(NULL, as.matrix(d[c(1, 8, 20, 33, 41), c("x", "z")]))) {
    fit <- quietly(bsvm(y ~ 0 + gp(x, z, kernel = kernel_se(0.8), points = points), d,
                        likelihood = "hinge", prior = list(gp = given(1.7)),
                        engine = engine_ecm(rounds = 1, learn_points = FALSE)))
    v <- if (is.null(points)) x else x[c(1, 8, 20, 33, 41), ]
    ratio <- solve(se(v, v, 0.8) + diag(1e-8, nrow(v)), se(v, x, 0.8))
    k <- 1.7 * se(x, v, 0.8) %*% ratio
    if (!is.null(points)) diag(k) <- 1.7
    across <- 1.7 * se(new, v, 0.8) %*% ratio
    # By FITC a row's own part is in f, and not in the fitted value.
    f <- if (is.null(points)) fitted(fit) else box_program(k, y, rep(0, 50), rep(2, 50))$f
    tau <- pmax(abs(1 - y * f), 1e-9)
    precision <- solve(k + diag(tau))
    alpha <- drop(precision %*% (y * (1 + tau)))
    found <- linear_moments(fit, far)
    expect_close(drop(k %*% alpha), f, 1e-6)
    expect_close(found$mean, drop(across %*% alpha), 1e-6)
    expect_close(found$sd, sqrt(1.7 - rowSums((across %*% precision) * across)), 1e-6)
    expect_close(found$sd[3], sqrt(1.7), 1e-9)
    p <- predict(fit, far, type = "prob", map = "probit")
    expect_close(p[, 2], pnorm(found$mean / sqrt(1 + found$sd^2)), 1e-12)
  }
})

test_that("the probit map is the average of the normal distribution function", {
  # m = 0.7, v = 2: 0.65695; the paper's exponent -1 has 0.59225
  expect_close(pnorm(0.7 / sqrt(1 + 2)), 0.65695, 1e-5)
  fit <- fixed_fit(data_of(45, 1))
  at <- linear_moments(fit, far)
  exact <- vapply(1:4, function(i) {
    stats::integrate(function(f) pnorm(f) * dnorm(f, at$mean[i], at$sd[i]), -Inf, Inf,
                     rel.tol = 1e-9)$value
  }, 0)
  p <- predict(fit, far, type = "prob", map = "probit")[, 2]
  expect_close(p, exact, 1e-7)
  expect_gt(max(abs(pnorm(at$mean / (1 + at$sd^2)) - exact)), 0.01)
})

test_that("methods need none of their own", {
  d <- data_of(60, 5)
  fit <- quietly(bsvm(y ~ w + gp(x, z), d, likelihood = "hinge", engine = engine_ecm(rounds = 2)))
  expect_finite(list(coef(fit), vcov(fit), confint(fit), fitted(fit), residuals(fit)))
  expect_close(predict(fit, d, type = "link"), fitted(fit), 1e-9)
  expect_finite(predict(fit, d[1:3, ], type = "prob"))
  expect_identical(levels(predict(fit, data.frame(far, w = 0))), levels(d$y))
  expect_finite(as.data.frame(VarCorr(fit))$vcov)
  expect_finite(tidy(fit)$estimate)
  expect_output(print(fit), "ECM, kernels by ML-II")
  expect_output(print(fit), "Mode found")
  expect_output(print(summary(fit, details = TRUE)), "do not maximise one objective")
  expect_output(print(summary(fit, details = TRUE)), "Relative duality gap")
  expect_output(print(summary(fit)), "far\\s+too\\s+small")
  expect_refusal(elbo(fit), "unsupported", "no lower bound")
  facts <- summary(fit)$gp$learning
  expect_identical(dim(facts$rounds), c(2L, 4L))
  expect_true(all(facts$rounds[, "after"] >= facts$rounds[, "before"]))
  again <- update(fit, engine = "gaussian")
  expect_false(is.null(summary(again)$gp$learning$scores))
  skip_if_not_installed("ggplot2")
  expect_s3_class(plot(fit, "gp"), "ggplot")
})

# ---- learning -----------------------------------------------------------------------------------

test_that("gamma is where its density given f is highest; the printed update is elsewhere", {
  d <- data_of(50, 6)
  y <- signs(d)
  for (gamma0 in c(0.02, 0.1, 1)) {
    fit <- fixed_fit(d, likelihood = likelihood_hinge(gamma = prior_gamma(2, 1.5), gamma0 = gamma0),
                     control = bsvm_control(max_passes = 20000))
    f <- fitted(fit)
    u <- 1 - y * f
    density <- function(gamma) {
      c <- sqrt(1 + 2 * gamma0 / gamma)
      log(gamma) - 1.5 * gamma + 50 * log(gamma0 / c) - gamma * sum(c * abs(u) + u)
    }
    best <- stats::optimize(density, c(1e-4, 20), maximum = TRUE, tol = 1e-10)$maximum
    gamma <- exp(fit$posterior$theta[1])
    expect_close(gamma, best, 1e-5)
    expect_close(summary(fit)$parameters[1, 1], gamma, 1e-9)
    printed <- 1
    for (k in 1:5000) {
      c <- sqrt(1 + 2 * gamma0 / printed)
      printed <- (2 + 25 - 1) / (1.5 + sum(c * abs(u) + 2 * u + abs(u) / c) / 2)
    }
    expect_gt(abs(printed - best), 0.05 * best)
  }
})

test_that("a prior of `gamma` whose density has no mode above zero is refused before any work", {
  d <- data_of(60, 6)
  fit_of <- function(shape, weight, rounds = 0) {
    d$weight <- weight
    quietly(bsvm(y ~ 0 + gp(x, z, kernel = kernel_se(0.8), points = 10), d, weights = weight,
                 likelihood = likelihood_hinge(gamma = prior_gamma(shape, 1), gamma0 = 0.1),
                 prior = list(gp = given(1.7)), engine = engine_ecm(rounds = rounds)))
  }
  for (rounds in 0:1) {
    expect_refusal(fit_of(0.3, 0.01, rounds), "unsupported",
                   c("engine_ecm()", "no mode above zero", "prior_gamma(shape = 1)"))
  }
  expect_refusal(fit_of(0.69, 0.01), "unsupported", "no mode above zero")
  fit <- fit_of(0.7, 0.011)
  expect_gt(summary(fit)$parameters[1, 1], 0)
  expect_finite(fitted(fit))
})

# What the core is given for a formula.
core_of <- function(formula, d, points = NULL, likelihood = likelihood_hinge(), ...) {
  frame <- bsvm_frame(formula, d, prior = bsvm:::not_learned)
  assigned <- bsvm:::scale_priors(bsvm:::assign_priors(frame, list(...)), likelihood)
  model <- bsvm:::learning_model(bsvm:::with_distances(frame, seq_len(nrow(d))), assigned, likelihood, list(unit = 1, shift = 0),
                                 seq_len(nrow(d)))
  list(model = model$core, points = points, options = bsvm:::ecm_scheme(likelihood, engine_ecm()))
}

test_that("evidence and its gradient are those of plain R, in full and by FITC with its points", {
  d <- data_of(40, 7)
  y <- signs(d)
  x <- inputs_of(d)
  f <- with_seed(8, rnorm(40))
  lambda <- pmax(abs(1 - y * f), 1e-6)
  evidence <- function(theta, v = NULL) {
    k <- se(x, x, exp(theta[2]))
    if (!is.null(v)) {
      k_mm <- se(v, v, exp(theta[2]))
      k <- se(x, v, exp(theta[2])) %*% solve(k_mm + diag(1e-8, nrow(v)), se(v, x, exp(theta[2])))
      diag(k) <- 1
    }
    g <- exp(2 * theta[1]) * k + diag(lambda)
    z <- y * (1 + lambda)
    -0.5 * (sum(z * solve(g, z)) + c(determinant(g)$modulus))
  }
  gradient <- function(value, at, h = 1e-4) {
    vapply(seq_along(at), function(j) {
      by <- replace(0 * at, j, h)
      (8 * (value(at + by) - value(at - by)) - (value(at + 2 * by) - value(at - 2 * by))) / (12 * h)
    }, 0)
  }
  theta <- c(0.4, -0.3)
  full <- core_of(y ~ 0 + gp(x, z), d, list(NULL))
  at <- bsvm:::core_ecm_at(full$model, full$points, full$options, theta, f)
  expect_close(at$evidence, evidence(theta), 1e-9)
  expect_close(at$gradient, gradient(evidence, theta), 1e-7)
  v <- unname(x[c(2, 9, 17, 30), ]) + 0.1
  fitc <- core_of(y ~ 0 + gp(x, z, points = 4), d, list(v))
  at <- bsvm:::core_ecm_at(fitc$model, fitc$points, fitc$options, c(theta, t(v)), f)
  expect_close(at$evidence, evidence(theta, v), 1e-8)
  whole <- function(all) evidence(all[1:2], matrix(all[-(1:2)], ncol = 2, byrow = TRUE))
  expect_close(at$gradient, gradient(whole, c(theta, t(v))), 1e-6)
  # all rows as points: the process in full
  all <- core_of(y ~ 0 + gp(x, z, points = 39), d, list(unname(x)))
  same <- bsvm:::core_ecm_at(all$model, all$points, all$options, c(theta, t(x)), f)
  whole <- bsvm:::core_ecm_at(full$model, full$points, full$options, theta, f)
  expect_close(same$f, whole$f, 4e-8)
  expect_close(same$evidence, whole$evidence, 1e-5)
})

test_that("kernel, amplitude and pseudo-inputs are learned, given ones stay", {
  d <- data_of(80, 9)
  fit_of <- function(formula, ...) {
    quietly(bsvm(formula, d, likelihood = "hinge", engine = engine_ecm(...)))
  }
  numbers <- function(fit) summary(fit)$gp$numbers$estimate
  points <- function(fit) fit$bases[[1]]$parts[[1]]$points
  learned <- fit_of(y ~ gp(x, z, points = 8), rounds = 4)
  kept <- fit_of(y ~ gp(x, z, points = 8), rounds = 4, learn_points = FALSE)
  start <- fit_of(y ~ gp(x, z, points = 8), rounds = 0)
  expect_identical(points(kept), points(start))
  expect_gt(max(abs(points(learned) - points(start))), 0.05)
  expect_gt(max(abs(log(numbers(learned) / numbers(start)))), 0.05)
  expect_gt(utils::tail(summary(learned)$gp$learning$rounds[, "after"], 1),
            utils::tail(summary(kept)$gp$learning$rounds[, "after"], 1))
  fixed <- fit_of(y ~ gp(x, z, kernel = kernel_se(0.7), points = 8), rounds = 4)
  expect_close(numbers(fixed), 0.7 * fixed$bases[[1]]$inputs$scale, 1e-12)
  several <- fit_of(y ~ gp(x, kernel = kernel_matern(2.5)) + gp(z, points = 6) + gp(x, by = w),
                    rounds = 2)
  expect_finite(list(coef(several), fitted(several), numbers(several)))
  expect_identical(fitted(fit_of(y ~ gp(x, z, points = 8), rounds = 4)), fitted(learned))
})

test_that("the stages by themselves are the fit, and a kernel learned otherwise is taken as it is", {
  d <- data_of(60, 11)
  engine <- engine_ecm(rounds = 2)
  fit <- quietly(bsvm(y ~ gp(x, z), d, likelihood = "hinge", engine = engine))
  frame <- function(...) {
    quietly(bsvm_frame(y ~ gp(x, z), d, likelihood = "hinge", ...))
  }
  run <- function(frame) quietly(bsvm_run(bsvm_spec(frame, likelihood = "hinge", engine = engine)))
  expect_identical(run(frame(engine = engine))$posterior$mean, fit$posterior$mean)
  # amplitudes were learned under the normalised likelihood, whose unit is a quarter
  usual <- frame()
  log_sd <- usual$bases[[1]]$parts[[1]]$numbers$log_sd
  expect_close(run(usual)$hyper[[2]][["mean"]], 16 * exp(2 * log_sd), 1e-9)
})

# ---- what is refused ----------------------------------------------------------------------------

test_that("other models and likelihoods are refused by name", {
  d <- data_of(40, 10)
  refused <- function(formula, words, ..., likelihood = "hinge") {
    expect_refusal(quietly(bsvm(formula, d, engine = "ecm", likelihood = likelihood, ...)),
                   "unsupported", c("engine_ecm()", words))
  }
  refused(y ~ x, "needs a Gaussian-process term")
  refused(y ~ gp(x) + (1 | g), "random-effects terms")
  refused(y ~ gp(x) + w, "given variances of linear terms", prior = prior_ridge())
  refused(y ~ gp(x), "pseudo-likelihood", likelihood = "normalized")
  refused(y ~ gp(x), "gamma0", likelihood = likelihood_hinge(gamma0 = prior_gamma()))
  expect_refusal(bsvm(w ~ gp(x), d, engine = "ecm", likelihood = likelihood_gaussian(scale = 1)),
                 "unsupported", "engine_ecm()")
  if (requireNamespace("mgcv", quietly = TRUE)) refused(y ~ gp(x) + s(z, k = 5), "smooth terms")
  d$w[3] <- NA
  expect_refusal(quietly(bsvm(y ~ gp(x) + w, d, engine = "ecm", missing = missing_normal())),
                 "unsupported", "missing")
  forget("pseudo")
  forget("likelihood")
  expect_message(bsvm(y ~ gp(x, kernel = kernel_se(1)), d, engine = "ecm"), "pseudo-likelihood")
  expect_refusal(engine_ecm(rounds = -1), "argument", "`rounds`")
  expect_refusal(engine_ecm(iterations = 0), "argument", "`iterations`")
  expect_refusal(engine_ecm(learn_points = NA), "argument", "`learn_points`")
  expect_refusal(engine_ecm(points = 3), "argument", "gp()")
  expect_warning(bsvm(y ~ gp(x, kernel = kernel_se(1)), d, engine = engine_ecm(rounds = 0),
                      likelihood = "hinge", control = bsvm_control(max_passes = 3)),
                 class = "bsvm_warning_convergence")
})
