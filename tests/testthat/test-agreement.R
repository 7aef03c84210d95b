# The core against the plain-R twin, the bound against simulation and quadrature, the optimum
# against finite differences and optim.

bsvm <- paper_bsvm

cases <- core_cases()
twins <- lapply(cases, function(case) twin_fit(case_twin(case)))

# ---- the twin itself ----------------------------------------------------------------------

test_that("the twin's mixture of inverse gammas is a half-t on the standard deviation", {
  df <- 2.5
  scale <- 0.7
  at <- c(0.01, 0.4, 1, 6)
  mixture <- vapply(at, function(s) {
    joint <- function(a) {
      exp(log_inv_gamma(s^2, df / 2, df / a) + log_inv_gamma(a, 1 / 2, scale^-2)) * 2 * s
    }
    integrate(function(l) joint(exp(l)) * exp(l), -25, 25, rel.tol = 1e-10)$value
  }, 0)
  expect_close(mixture, 2 * dt(at / scale, df) / scale, 1e-7)
})

test_that("draws of the latent scales have the moments of their law", {
  m <- c(0.01, 1, 30)
  a <- with_seed(1, vapply(m, function(mean) {
    x <- draw_inverse_gaussian(rep(mean, 2e5))
    c(mean(x) / mean, mean(1 / x) / (1 / mean + 1))
  }, numeric(2)))
  expect_close(a, rep(1, 6), 0.05)
})

test_that("the twin's bound never falls and equals its simulation", {
  for (name in c("half_t", "slopes")) {
    twin <- twins[[name]]
    expect_never_falls(twin$trace, 1e-13)
    draws <- with_seed(11, twin_bound_draws(twin$model, twin, 20000))
    expect_lt(abs(mean(draws) - twin$bound), 4 * sd(draws) / sqrt(length(draws)))
  }
})

# ---- core and twin ------------------------------------------------------------------------

inverse_means <- function(result) {
  unname(vapply(c(result$hyper, result$group_hyper), `[[`, 0, "inverse_mean"))
}

for (name in names(cases)) for (accelerate in c(TRUE, FALSE)) {
  test_that(sprintf("core and twin agree: %s, accelerate = %s", name, accelerate), {
    twin <- twins[[name]]
    result <- run_core(cases[[name]], accelerate)
    dense <- core_dense(result)
    sd <- sqrt(diag(twin$covariance))
    inverse <- vapply(twin$variances, `[[`, 0, "inverse")
    expect_close(dense$mean, twin$mean, tolerances[["twin"]], scale = sd)
    expect_close(dense$covariance, twin$covariance, tolerances[["twin"]], scale = outer(sd, sd))
    expect_close(inverse_means(result), inverse, tolerances[["twin"]], scale = inverse)
    expect_close(result$bound, twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
  })
}

test_that("a grouped fit is the fit with a dummy column for every level", {
  case <- cases$slopes
  n <- length(case$y)
  p <- ncol(case$x)
  dense <- case
  dense$x <- twin_design(case$x, case$group, case$z)
  dense[c("group", "z", "group_blocks", "n_groups")] <- NULL
  levels <- seq_len(max(case$group)) - 1
  dense$blocks <- c(case$blocks, list(block_ridge(p + 1 + 2 * levels),
                                      block_half_t(p + 2 + 2 * levels)))
  grouped <- core_dense(run_core(case))
  explicit <- run_core(dense)
  sd <- sqrt(diag(explicit$covariance))
  expect_close(grouped$mean, explicit$mean, tolerances[["twin"]], scale = sd)
  expect_close(grouped$covariance, explicit$covariance, tolerances[["twin"]],
               scale = outer(sd, sd))
  expect_close(run_core(case)$bound, explicit$bound, tolerances[["bound"]],
               scale = abs(explicit$bound))
})

test_that("coefficients rotated to fewer columns give the full problem's answer", {
  for (block in list(block_ridge, block_half_t)) {
    case <- wide_case()
    case$blocks[[2]] <- block(case$blocks[[2]]$columns)
    twin <- twin_fit(case_twin(case))
    x <- case$x[, -1]
    m <- ncol(x)
    rotated <- bsvm:::core_rotate(x, rep(0, m), rep(1, m))
    expect_close(rotated$features %*% t(rotated$basis), x, tolerances[["rounding"]])
    expect_close(crossprod(rotated$basis), diag(ncol(rotated$basis)), tolerances[["rounding"]])
    small <- case
    small$x <- cbind(1, rotated$features)
    small$blocks[[2]] <- block(1 + seq_len(ncol(rotated$features)),
                               unseen = m - ncol(rotated$features))
    result <- run_core(small)
    sd <- sqrt(diag(twin$covariance))
    expect_close(rotated$basis %*% result$mean[-1], twin$mean[-1], tolerances[["twin"]],
                 scale = sd[-1])
    own <- result$covariance[-1, -1] - diag(1 / result$hyper[[2]][["inverse_mean"]],
                                            ncol(rotated$features))
    covariance <- rotated$basis %*% own %*% t(rotated$basis) +
      diag(1 / result$hyper[[2]][["inverse_mean"]], m)
    expect_close(covariance, twin$covariance[-1, -1], tolerances[["twin"]],
                 scale = outer(sd, sd)[-1, -1])
    expect_close(result$bound, twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
  }
})

test_that("centre and scale in the core are a standardised design", {
  case <- cases$several
  centre <- c(0, 0.3, -1, 2)
  scale <- c(1, 2, 0.5, 7)
  problem <- case_problem(case)
  problem$center <- centre
  problem$scale <- scale
  inside <- bsvm:::core_fit(problem, case_model(case), core_options())
  case$x <- sweep(sweep(case$x, 2, centre), 2, scale, `/`)
  outside <- run_core(case)
  sd <- sqrt(diag(outside$covariance))
  expect_close(inside$mean, outside$mean, tolerances[["twin"]], scale = sd)
  expect_close(inside$bound, outside$bound, tolerances[["bound"]], scale = abs(outside$bound))
})

# ---- the bound ----------------------------------------------------------------------------

test_that("the bound never falls, accelerated or plain", {
  for (case in cases) for (accelerate in c(TRUE, FALSE)) {
    result <- run_core(case, accelerate)
    expect_never_falls(accepted_bounds(result$trace))
    expect_close(result$bound, tail(accepted_bounds(result$trace), 1), tolerances[["rounding"]])
  }
})

# The core's answer as the twin's q.
as_twin_q <- function(result, model) {
  reports <- c(result$hyper, result$group_hyper)
  variances <- Map(function(block, report) {
    if (block$prior == "normal") return(list(inverse = report[["inverse_mean"]]))
    q <- list(variance = report[c("shape", "scale")], inverse = report[["inverse_mean"]])
    if (block$prior == "half_t") {
      q$aux <- c(shape = report[["aux_shape"]], scale = report[["aux_scale"]])
    }
    q
  }, model$blocks, reports)
  c(core_dense(result), list(variances = variances))
}

expect_bound_of_q <- function(case, passes, ...) {
  model <- case_twin(case)
  result <- run_core(case, max_passes = passes, ...)
  q <- as_twin_q(result, model)
  formula <- twin_bound(model, q$mean, q$covariance, q$variances)
  expect_close(result$bound, formula, tolerances[["bound"]], scale = abs(formula),
               label = sprintf("the bound after %d passes", passes))
}

test_that("wherever a run stops, its bound is that of the q it returns", {
  for (name in c("several", "slopes")) for (passes in c(2:12, 25)) {
    expect_bound_of_q(cases[[name]], passes)
  }
})

test_that("the same where steps are taken back, and the bound never falls there either", {
  r <- random_case(40, 4, seed = 3)
  case <- core_case((20 * r$x)^3, r$y, list(block_ridge(1:4)), group = r$group,
                    group_blocks = list(block_ridge(1)))
  start <- c(5, -20, 60, 1)
  whole <- run_core(case, tol = 1e-10, start = start)
  taken_back <- which(whole$trace[-(1:2), "step"] < 1) + 1
  expect_gt(length(taken_back), 0)
  expect_never_falls(accepted_bounds(whole$trace))
  for (passes in unique(c(taken_back, taken_back + 1))) {
    expect_bound_of_q(case, passes, start = start)
  }
})

test_that("the bound is E log p - E log q, by formula and by simulation", {
  for (name in c("ridge", "several", "slopes")) {
    case <- cases[[name]]
    model <- case_twin(case)
    result <- run_core(case)
    q <- as_twin_q(result, model)
    formula <- twin_bound(model, q$mean, q$covariance, q$variances)
    expect_close(result$bound, formula, tolerances[["bound"]], scale = abs(formula))
    draws <- with_seed(3, twin_bound_draws(model, q, 20000))
    expect_lt(abs(mean(draws) - result$bound), 4 * sd(draws) / sqrt(length(draws)))
  }
})

test_that("the bound lies below the log evidence, the means near the exact ones", {
  r <- random_case(n = 40)
  case <- core_case(r$x[, 1:2], r$y, list(block_normal(1, 10), block_normal(2, 2)),
                    weight = r$weight, offset = r$offset)
  twin <- twin_fit(case_twin(case))
  evidence <- twin_log_evidence(case_twin(case), twin)
  gap <- evidence - run_core(case)$bound
  expect_gt(gap, 0)
  expect_lt(gap, 1.9) # 1.1 to 1.9 over six data sets
})

# ---- the optimum --------------------------------------------------------------------------

test_that("the reported gradient is small and finite differences vanish at the optimum", {
  for (name in c("fixed", "ridge", "several", "intercepts")) {
    model <- case_twin(cases[[name]])
    result <- run_core(cases[[name]])
    q <- as_twin_q(result, model)
    precision <- twin_precision(model, q$variances)
    theta <- twin_pack(q$mean, q$covariance)
    gradient <- central_gradient(function(t) twin_objective(t, model, precision), theta)
    expect_lt(max(abs(gradient)), 1e-5)
    expect_lt(result$gradient, 1e-5)
    away <- twin_pack(q$mean + 1e-3 * sqrt(diag(q$covariance)), q$covariance)
    expect_gt(max(abs(central_gradient(function(t) twin_objective(t, model, precision), away))),
              1e-4)
  }
})

test_that("optim on the concave objective finds no better point", {
  r <- random_case()
  case <- core_case(r$x[, 1:3], r$y, list(block_normal(1:3, 2)), offset = r$offset)
  model <- case_twin(case)
  result <- run_core(case)
  precision <- rep(1 / 2, 3)
  negative <- function(theta) -twin_objective(theta, model, precision)
  found <- optim(twin_pack(rep(0.5, 3), diag(3)), negative,
                 function(theta) central_gradient(negative, theta), method = "BFGS",
                 control = list(reltol = 1e-15, maxit = 1000))
  reported <- negative(twin_pack(result$mean, result$covariance))
  expect_close(reported, found$value, 1e-9)
  sd <- sqrt(diag(result$covariance))
  expect_close(found$par[1:3], result$mean, 1e-4, scale = sd)
})

test_that("20 random starts end at the same point", {
  d <- binary_data()
  fit_from <- function(start) {
    bsvm(y ~ x1 + x2 + x3 + f, d, engine = "vb", control = tight(start = start))
  }
  reference <- bsvm(y ~ x1 + x2 + x3 + f, d, engine = "vb", control = tight())
  starts <- with_seed(9, replicate(20, rnorm(6, 0, 5), simplify = FALSE))
  for (start in starts) expect_same_posterior(fit_from(start), reference, tolerances[["start"]])
})

test_that("Algorithm 1 at the inferred penalty is Algorithm 2", {
  d <- binary_data()
  inferred <- bsvm(y ~ x1 + x2 + x3 + f, d, engine = "vb", control = tight())
  variance <- 1 / fit_block(inferred, "population-level slopes")$hyper[["inverse_mean"]]
  fixed <- bsvm(y ~ x1 + x2 + x3 + f, d, prior = prior_ridge(variance = variance),
                engine = "vb", control = tight())
  sd <- sqrt(diag(vcov(inferred)))
  expect_close(fixef(fixed), fixef(inferred), tolerances[["start"]], scale = sd)
  expect_close(vcov(fixed), vcov(inferred), tolerances[["start"]], scale = outer(sd, sd))
})

test_that("Algorithm 1 at the inferred penalty is Algorithm 2, random effects too", {
  case <- cases$intercepts
  inferred <- run_core(case)
  case$group_blocks <- list(block_normal(1, 1 / inferred$group_hyper[[1]][["inverse_mean"]]))
  fixed <- run_core(case)
  sd <- sqrt(diag(core_dense(fixed)$covariance))
  expect_close(core_dense(fixed)$mean, core_dense(inferred)$mean, tolerances[["start"]], sd)
})

test_that("one level's huge fixed variance is a fixed effect", {
  case <- cases$intercepts
  case$group_blocks <- list(block_normal(1, 1e8))
  case$x <- case$x[, -1]
  case$blocks <- list(block_normal(1:3))
  dummies <- case
  dummies$x <- cbind(case$x, twin_design(case$x[, 0], case$group))
  dummies$blocks <- list(block_normal(seq_len(ncol(dummies$x))))
  dummies[c("group", "group_blocks", "n_groups")] <- NULL
  expect_close(core_dense(run_core(case))$mean, run_core(dummies)$mean, 1e-7)
})

# ---- against other programs ---------------------------------------------------------------

test_that("the spam data end at the bound of the papers' algorithm, in at most 60 passes", {
  spam <- spam_data()
  spam[-58] <- scale(spam[-58])
  fit <- bsvm(type ~ ., spam, prior = prior_ridge(0.01), engine = "vb", standardize = FALSE,
              control = bsvm_control(tol = 1e-10))
  expect_close(elbo(fit), -1982.98335659, 1e-7, scale = 1)
  expect_lte(fit$passes, 60)
  expect_equal(fit$termination, "converged")
})

test_that("the toenail trial ends at the bound of the papers' algorithm", {
  d <- toenail_data()
  d$outcome <- ifelse(d$outcome == "none or mild", -1, 1)
  d$treatment <- as.numeric(d$treatment == "terbinafine")
  fit <- bsvm(outcome ~ time * treatment + (1 | patientID), d, engine = "vb",
              control = tight())
  expect_close(elbo(fit), -1222.49973089, 1e-7, scale = 1)
  expect_close(fixef(fit), c(-0.34751, -0.30187, -0.02878, -0.10051), 1e-5, scale = 1)
  expect_close(1 / fit_block(fit, "patientID")$hyper[["inverse_mean"]], 3.52265, 1e-5,
               scale = 1)
})
