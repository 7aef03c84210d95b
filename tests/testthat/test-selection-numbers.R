# Priors that select together with numbers of the likelihood that are inferred: draws against sums
# over all models, variational Bayes against a plain twin and fits with the scale given, units,
# what users get.

skip_on_cran()

number_rows <- function(n = 14, p = 2, seed = 3) {
  with_seed(seed, {
    x <- matrix(stats::rnorm(n * p), n)
    x[, 2] <- 0.6 * x[, 1] + 0.8 * x[, 2]
    list(x = x, y = 0.5 * x[, 1] + stats::rt(n, 3), weight = rep(c(1, 2), length.out = n))
  })
}

# The largest difference from exact means in standard errors.
number_z <- function(table, exact) max(abs(colMeans(table) - exact) / batch_error(table, 50))

# Draws of a case agree with what is exact of it, and not with what is exact of the case where the
# slab is wider, or the scale's prior is.
expect_exact_selection <- function(case, exact_of, draws = 30000) {
  exact <- exact_of(case)
  for (mixing in c(TRUE, FALSE)) {
    found <- number_table(core_gibbs(case, draws = draws, chains = 2, mixing = mixing, seed = 4))
    expect_lt(number_z(found, exact), 4.5)
  }
  wider <- case
  wider$blocks[[1L]]$parameters[["nu"]] <- 1.2 * case$blocks[[1L]]$parameters[["nu"]]
  expect_gt(number_z(found, exact_of(wider)), 6)
  wider <- case
  wider$blocks[[2L]]$parameters[["scale"]] <- 1.3 * case$blocks[[2L]]$parameters[["scale"]]
  expect_gt(number_z(found, exact_of(wider)), 6)
}

log_scales <- seq(-2.6, 2.4, length.out = 61)

test_that("spike and slab with an inferred Laplace scale: exact by sums over models and a grid", {
  r <- number_rows()
  laplace <- function(case) {
    unit <- case$blocks[[2L]]$parameters[["scale"]]
    log_p <- function(r, s) -log(2 * s) - abs(r) / s
    exact_number_selection(case, log_p, cbind(exp(log_scales)),
                           log_half_t(exp(log_scales), 3, unit) + log_scales)
  }
  for (slab in list(block_spike_slab(1:2, 0.6, pi = 0.4, sigma = c(1, 1.4)),
                    block_spike_slab(1:2, 0.6, pi = 0.25))) {
    expect_exact_selection(
      number_case(r$x, r$y, "eps_insensitive", slab, block_parameter(0.7),
                  numbers = c(epsilon = 0), weight = r$weight), laplace)
  }
})

test_that("spike and slab with an inferred scale and tube: exact by sums over models and a grid", {
  r <- number_rows(18)
  log_kappa <- seq(-6, 6, length.out = 49)
  tube <- function(case) {
    unit <- case$blocks[[2L]]$parameters[["scale"]]
    shapes <- case$blocks[[3L]]$parameters
    values <- as.matrix(expand.grid(exp(log_scales), exp(log_kappa)))
    nu <- 1 / (1 + values[, 2L])
    log <- log_half_t(values[, 1L], 3, unit) + log(values[, 1L]) +
      stats::dbeta(nu, shapes[[1L]], shapes[[2L]], log = TRUE) + log(nu) + log(1 - nu)
    log_p <- function(r, v) log_eps_insensitive(r, v[[1L]], 1 / (1 + v[[2L]]))
    exact_number_selection(case, log_p, values, log, nodes = 51)
  }
  case <- number_case(r$x, r$y, "eps_insensitive", block_spike_slab(1:2, 0.6, pi = 0.3),
                      block_parameter(0.5), block_share(3, 2))
  expect_exact_selection(case, tube)
})

# Given sd all is conjugate. With three rows for four columns nothing is eliminated by the core.
test_that("spike and slab with an inferred normal sd: exact by sums over models and one grid", {
  for (n in c(16, 3)) {
    r <- number_rows(n, 4)
    case <- number_case(r$x, r$y, "normal", block_spike_slab(1:4, 0.7, pi = 0.3),
                        block_parameter(0.6))
    exact_of <- function(case) {
      exact_normal_selection(case, case$blocks[[2L]]$parameters[["scale"]])
    }
    expect_exact_selection(case, exact_of, draws = 60000)
  }
})

# ---- variational Bayes --------------------------------------------------------------------------

heavy_rows <- function(n = 60, p = 5, seed = 5) {
  with_seed(seed, {
    x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
    x <- sweep(x, 2, colMeans(x))
    data.frame(x, y = 1.2 * x[, 1] - 0.8 * x[, 2] + 0.8 * stats::rt(n, 3))
  })
}

test_that("Laplace-zero with an inferred scale: the optimum and the bound of a plain twin", {
  d <- heavy_rows(seed = 12) # one indicator is not near zero or one
  x <- as.matrix(d[1:5])
  twin <- laplace_twin(cbind(1, x), d$y, 2:6, 0.3, 0.5, 0.4, unit = 0.7)
  bounds <- numeric(1000)
  for (pass in seq_along(bounds)) {
    twin <- laplace_pass(twin)
    bounds[pass] <- laplace_bound(twin)
  }
  expect_never_falls(bounds)
  case <- core_case(cbind(1, x), d$y, list(
    block_normal(1), list(prior = "laplace_zero", columns = 2:6, unseen = 0L,
                          parameters = c(rho = 0.3, shape = 0.5, scale = 0.4)),
    block_parameter(0.7)
  ), likelihood = list(name = "eps_insensitive", parameters = c(epsilon = 0)))
  for (accelerate in c(TRUE, FALSE)) {
    options <- c(core_options(tol = 1e-18), starts = 1L)
    found <- bsvm:::core_fit(case_problem(case), case_model(case, accelerate), options)
    expect_equal(found$bound, bounds[length(bounds)], tolerance = 1e-13)
    # the bound is flat at its optimum: plain updates end where its last bits no longer rise
    expect_equal(1 / sqrt(found$hyper[[3L]][["inverse_mean"]]), twin$residual, tolerance = 2e-8)
    expect_equal(found$inclusion$probability, twin$g[-1L], tolerance = 1e-8)
    expect_equal(found$inclusion$mean, twin$mean[-1L], tolerance = 2e-8)
    expect_equal(found$inclusion$sd, sqrt(diag(twin$covariance))[-1L],
                 tolerance = if (accelerate) 5e-9 else 3e-8)
  }
})

# The bound of fits with the scale given and the log density of its logarithm.
profile_of_scale <- function(formula, data, prior, unit) {
  function(scale) {
    fit <- bsvm(formula, data, likelihood = likelihood_laplace(scale = scale), prior = prior,
                engine = "vb", control = bsvm_control(tol = 1e-16, verbose = FALSE))
    elbo(fit) + log_half_t(scale, 3, unit) + log(scale)
  }
}

# More columns than rows: the core forms no matrix of all columns. There the bound is that of many
# coefficients with little noise, or none with much, unless starts look between.
test_that("Laplace-zero: the scale is the one whose bound is highest, by rows and wide", {
  wide <- lapply(2:4, function(seed) with_seed(seed, {
    x <- matrix(stats::rnorm(20 * 50), 20)
    data.frame(x, y = 5 + 3 * x[, 1] - 3 * x[, 2] + 0.7 * stats::rt(20, 2.5))
  }))
  for (d in c(list(heavy_rows()), wide)) {
    prior <- prior_laplace_zero(if (nrow(d) > ncol(d)) 0.3 else 0.1)
    fit <- bsvm(y ~ ., d, likelihood = likelihood_laplace(), prior = prior, engine = "vb",
                control = bsvm_control(tol = 1e-16, verbose = FALSE))
    scale <- parameter_table(fit)[["scale", "Estimate"]]
    profile <- profile_of_scale(y ~ ., d, prior, stats::mad(d$y))
    expect_equal(profile(scale), elbo(fit), tolerance = 1e-9)
    grid <- vapply(scale * 2^(-3:3), profile, 0)
    expect_true(all(grid <= elbo(fit) + 1e-9))
    # Newton's step from there, the slope by two central differences
    around <- vapply(scale * exp(0.02 * c(-2, -1, 1, 2)), profile, 0)
    slope <- (8 * (around[3] - around[2]) - (around[4] - around[1])) / (12 * 0.02)
    bend <- (2 * elbo(fit) - around[2] - around[3]) / 0.02^2
    expect_lt(abs(slope / bend), 1e-5)
    expect_gt(bend, 1)
  }
})

test_that("random starts hold the scale first, too", {
  d <- with_seed(2, {
    x <- matrix(stats::rnorm(20 * 50), 20)
    data.frame(x, y = 5 + 3 * x[, 1] - 3 * x[, 2] + 0.7 * stats::rt(20, 2.5))
  })
  fit <- function(starts) {
    with_seed(1, bsvm(y ~ ., d, likelihood = likelihood_laplace(), prior = prior_laplace_zero(0.1),
                      engine = engine_vb(starts = starts), control = bsvm_control(verbose = FALSE)))
  }
  eight <- fit(8)
  expect_length(eight$start_bounds, 8L)
  expect_equal(max(eight$start_bounds), elbo(eight))
  expect_gt(elbo(eight), elbo(fit(1)) + 5)
  expect_setequal(selected(eight), c("X1", "X2"))
})

# ---- units --------------------------------------------------------------------------------------

test_that("what is selected does not depend on the response's unit, nor does the rest", {
  d <- heavy_rows()
  settings <- list(
    list(engine_vb(), prior_laplace_zero(0.3), 1000, 1e-6),
    list(engine_gibbs(draws = 100, burnin = 50), prior_laplace_zero(0.3), 1024, 1e-9),
    list(engine_gibbs(draws = 100, burnin = 50), prior_spike_slab(), 1024, 1e-9)
  )
  for (own in settings) {
    fit <- function(by) {
      prior <- list(own[[2L]], "(Intercept)" = prior_flat(1e8 * by^2))
      suppressWarnings(with_seed(1, bsvm(
        y ~ ., transform(d, y = by * y), likelihood = likelihood_eps_insensitive(), prior = prior,
        engine = own[[1L]], control = bsvm_control(tol = 1e-16, verbose = FALSE)
      )))
    }
    here <- fit(1)
    there <- fit(own[[3L]])
    with_unit <- function(fit) {
      found <- inclusion(fit)
      c(coef(fit), sqrt(diag(vcov(fit))), found$mean, found$sd, sigma(fit),
        parameter_table(fit)["scale", "Estimate"])
    }
    expect_close(with_unit(there) / own[[3L]], with_unit(here), own[[4L]], scale = 1)
    expect_close(inclusion(there)$probability, inclusion(here)$probability, own[[4L]])
    expect_close(parameter_table(there)["nu", "Estimate"], parameter_table(here)["nu", "Estimate"],
                 own[[4L]])
    if (is.null(here$elbo)) next
    # the table is of what coef() averages over inclusion
    found <- inclusion(there)
    expect_close(found$probability * found$mean, unname(coef(there)[-1L]), 1e-9,
                 scale = own[[3L]])
    shift <- nrow(d) * log(own[[3L]])
    expect_close(there$elbo + shift, here$elbo, 1e-7)
    expect_close(there$start_bounds + shift, here$start_bounds, 1e-5)
    expect_close(max(there$start_bounds), there$elbo, 1e-12)
  }
})

# ---- what users get -----------------------------------------------------------------------------

expect_no_condition_of <- function(code) {
  withCallingHandlers(code, warning = function(w) fail(paste("A warning:", conditionMessage(w))),
                      message = function(m) fail(paste("A message:", conditionMessage(m))))
}

many_rows <- function(n, p, seed) {
  with_seed(seed, {
    x <- matrix(stats::rnorm(n * p), n)
    data.frame(x, y = 5 + 3 * x[, 1] - 3 * x[, 2] + stats::rt(n, 2.5))
  })
}

test_that("with nothing chosen but prior and likelihood: selected, predicted, printed", {
  for (size in list(c(100, 30), c(20, 50))) {
    d <- many_rows(size[1L], size[2L], 1)
    set.seed(1)
    fit <- expect_no_condition_of(
      bsvm(y ~ ., d, likelihood = likelihood_eps_insensitive(), prior = prior_spike_slab())
    )
    expect_identical(fit$engine$name, "gibbs")
    expect_setequal(selected(fit), c("X1", "X2"))
    expect_lt(max(inclusion(fit)$probability[-(1:2)]), 0.5)
    new <- many_rows(200, size[2L], 2)
    found <- predict(fit, new, interval = "prediction")
    expect_finite(found)
    inside <- mean(new$y > found$lower & new$y < found$upper)
    expect_gt(inside, 0.88)
    expect_gt(stats::cor(found$fit, new$y), 0.85)
    expect_output(print(summary(fit, details = TRUE)), "scale +[0-9]")
    expect_output(print(fit), "nu +[0-9]")
    expect_true(all(c("scale", "nu") %in% dimnames(bsvm:::inferred_draws(fit))[[1L]]))
    # each draw of the linear predictor with its own scale and share
    numbers <- bsvm:::inferred_draws(fit)
    by_hand <- log_eps_insensitive(rep(d$y, each = nrow(log_lik(fit))) - posterior_linpred(fit),
                                   c(numbers["scale", , ]), c(numbers["nu", , ]))
    expect_close(log_lik(fit), by_hand, 1e-9)
    old <- options(bsvm.max_memory = 1e4)
    expect_refusal(update(fit), "size", "max_memory")
    options(old)
  }
})

test_that("every likelihood with inferred numbers goes with every prior that selects", {
  d <- many_rows(60, 5, 3)
  likelihoods <- list(likelihood_eps_insensitive(), likelihood_eps_insensitive(epsilon = 0.5),
                      likelihood_eps_insensitive(scale = 1), likelihood_laplace(),
                      likelihood_gaussian(), likelihood_quantile(0.3))
  gibbs <- engine_gibbs(draws = 200, burnin = 200)
  for (likelihood in likelihoods) {
    for (own in list(list(prior_spike_slab(), gibbs), list(prior_laplace_zero(0.3), gibbs),
                     list(prior_laplace_zero(0.3), engine_vb()))) {
      fit <- suppressWarnings(with_seed(1, bsvm(
        y ~ ., d, likelihood = likelihood, prior = own[[1L]], engine = own[[2L]],
        control = bsvm_control(verbose = FALSE)
      )))
      expect_true(all(c("X1", "X2") %in% selected(fit)))
      expect_finite(c(coef(fit), fitted(fit), parameter_table(fit)[, "Estimate"]))
    }
  }
})

test_that("together with a grouping factor, and checked by draws", {
  d <- transform(many_rows(120, 4, 4), g = gl(12, 10))
  d$y <- d$y + with_seed(5, 3 * stats::rnorm(12))[d$g]
  fit <- function(engine, prior) {
    suppressWarnings(with_seed(1, bsvm(
      y ~ X1 + X2 + X3 + X4 + (1 | g), d, likelihood = likelihood_laplace(),
      prior = list(prior), engine = engine,
      control = bsvm_control(verbose = FALSE)
    )))
  }
  by_vb <- fit(engine_vb(), prior_laplace_zero(0.3))
  drawn <- fit(engine_gibbs(draws = 1000, burnin = 500), prior_laplace_zero(0.3))
  slab <- fit(engine_gibbs(draws = 1000, burnin = 500), prior_spike_slab(0.3))
  for (own in list(by_vb, drawn, slab)) expect_setequal(selected(own), c("X1", "X2"))
  estimate <- function(fit) parameter_table(fit)[["scale", "Estimate"]]
  sd <- parameter_table(drawn)[["scale", "SD"]]
  expect_close(estimate(by_vb), estimate(drawn), 2, scale = sd)
  expect_close(estimate(slab), estimate(drawn), 0.5, scale = sd)
  expect_close(fixef(by_vb)[["X1"]], fixef(drawn)[["X1"]], 0.1)
  checked <- with_seed(1, inclusion(by_vb, check = TRUE))
  expect_gt(min(checked$gibbs[1:2]), 0.95)
})
