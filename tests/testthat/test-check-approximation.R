# What checks find: against quadrature, long runs of exact engines, and mistakes made on purpose.

bsvm <- paper_bsvm

skip_on_cran()

skip_if_not_installed("loo")

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))
grouped <- grouped_data()

# ---- what a check finds --------------------------------------------------------------------------

test_that("a distribution that is too narrow does not hide what lies outside it", {
  with_seed(708, {
    n <- 200
    x1 <- rnorm(n)
    x2 <- 0.6 * x1 + 0.8 * rnorm(n)
    y <- rbinom(n, 1, plogis(x1))
  })
  d <- data.frame(y, x1, x2)
  model <- function(engine) {
    bsvm(y ~ x1 + x2, d, engine = engine, likelihood = likelihoods$pseudo,
         prior = prior_ridge(2, 1), keep_data = TRUE)
  }
  exact <- with_seed(1, model(engine_slice(draws = 4000, burnin = 500)))
  sd <- sqrt(diag(vcov(exact)))
  check <- checked(model("vb"), NULL)
  expect_close(check$table$mean_corrected[1:3], fixef(exact), 0.06, scale = sd)
  expect_close(check$table$sd_corrected[1:3], sd, 0.06, scale = sd)
  expect_equal(check$table$trust[1:3], c(FALSE, FALSE, FALSE))
  expect_no_match(paste(bsvm:::check_sentences(check), collapse = " "), "close to the exact")
  expect_warned(with_seed(1, check_approximation(model("vb"))), "approximation")
})

test_that("engine_gaussian() is close, and what is true is trusted", {
  skip_if_not_installed("MASS")
  for (likelihood in likelihoods) {
    fit <- bsvm(type ~ ., MASS::Pima.tr, engine = engine_gaussian(), likelihood = likelihood,
                prior = prior_ridge(variance = 0.05))
    check <- expect_no_warning_of(with_seed(1, check_approximation(fit)), "approximation")
    expect_lt(check$pareto_k, 0.7)
    expect_true(all(check$table$trust))
    expect_match(bsvm:::check_sentences(check), "is close to the exact posterior")
  }
})

test_that("engine_vb() on toenail warns: what is off by how much, and who is exact", {
  d <- toenail_data()
  fit <- bsvm(outcome ~ time * treatment + (1 | patientID), d, engine = "vb", keep_data = TRUE,
              likelihood = likelihoods$pseudo,
              prior = list(prior_flat(), patientID = prior_ridge(0.01, 0.01)))
  said <- tryCatch(with_seed(1, check_approximation(fit)),
                   bsvm_warning_approximation = conditionMessage)
  expect_match(said, "engine_vb\\(\\) is off for 5 of 5 quantities: the mean of `sd_patientID")
  expect_match(said, "update\\(fit, engine = engine_slice\\(\\)\\) draws from the exact posterior")
  check <- checked(fit, NULL)
  expect_lt(check$pareto_k, 0.7)
  expect_false(check$table["sd_patientID: (Intercept)", "trust"])
  # by 40000 exact draws: bench/results/exact.csv
  expect_close(check$table["sd_patientID: (Intercept)", "mean_corrected"], 3.31, 0.05)
})

test_that("engine_gaussian() on toenail is close under both likelihoods", {
  d <- toenail_data()
  for (likelihood in likelihoods) {
    fit <- bsvm(outcome ~ time * treatment + (1 | patientID), d, engine = engine_gaussian(),
                likelihood = likelihood, keep_data = TRUE,
                prior = list(prior_flat(), patientID = prior_ridge(0.01, 0.01)))
    check <- checked(fit, NULL)
    expect_lt(check$pareto_k, 0.7)
    expect_true(all(check$table$trust))
  }
})

test_that("a second mode at a variance near zero is seen", {
  skip_if_not_installed("MASS")
  formula <- low ~ age + lwt + factor(race) + smoke + ptl + ht + ui + ftv + I(age^2) + I(lwt^2)
  fit <- bsvm(formula, MASS::birthwt, engine = "vb", likelihood = likelihoods$pseudo,
              prior = prior_ridge(variance = prior_half_t()))
  check <- checked(fit, 8000)
  small <- check$values["sd_population-level slopes", ] < 0.08
  # 0.05 to 0.1 by chains that cross between the modes; none by the approximation
  expect_gt(sum(check$weights[small]), 0.02)
  expect_false(check$table["smoke", "trust"])
})

test_that("chains take over where weights fail or effects cannot be integrated out", {
  ridge <- prior_ridge(variance = prior_half_t())
  wide <- with_seed(1, matrix(rnorm(150 * 110), 150, dimnames = list(NULL, paste0("v", 1:110))))
  fit <- bsvm(wide, wide[, 1] > 0, engine = "gaussian", likelihood = likelihoods$normalised,
              prior = prior_ridge(variance = 0.05), keep_data = TRUE)
  check <- checked(fit, NULL)
  expect_equal(check$method, "chains")
  expect_true(is.na(check$pareto_k))
  expect_finite(check$table[c("mean_corrected", "sd_corrected")])
  expect_output(print(check), "Corrected by chains of engine_slice\\(\\) \\(\\d+ draws")
  expect_gt(check$exact$seconds, 0)

  fit <- bsvm(y ~ x1 + (t + x3 | g), grouped, engine = "vb", likelihood = likelihoods$pseudo,
              prior = ridge, keep_data = TRUE)
  check <- checked(fit, 1000)
  expect_equal(c(check$method, check$draws), c("chains", 1024))
})

test_that("seeds repeat a check", {
  fit <- bsvm(y ~ x1 + t, grouped, engine = "vb", likelihood = likelihoods$pseudo,
              prior = prior_ridge(2, 1), keep_data = TRUE)
  expect_identical(checked(fit, NULL, 3)$table, checked(fit, NULL, 3)$table)
  expect_gte(checked(fit, NULL)$draws, 1000)
  expect_equal(checked(fit, 300)$draws, 300)
})

# A fit with its Gaussians changed, and what follows from these.
changed <- function(fit, f) {
  fit$posterior$components <- lapply(fit$posterior$components, f)
  total <- bsvm:::total_moments(fit$posterior$components, fit$posterior$weights)
  moved <- total$mean - fit$posterior$mean
  fit$link <- fit$link + drop(bsvm:::check_target(fit, globalenv())$problem$x %*% moved)
  fit$posterior[c("mean", "covariance")] <- total
  fit
}

test_that("mistakes are found", {
  skip_if_not_installed("MASS")
  fit <- bsvm(type ~ ., MASS::Pima.tr, engine = engine_gaussian(),
              likelihood = likelihoods$pseudo, prior = prior_ridge(2, 1))
  narrow <- changed(fit, function(part) {
    part$covariance <- part$covariance / 4
    part
  })
  expect_warned(check <- with_seed(1, check_approximation(narrow)), "approximation")
  expect_lt(check$pareto_k, 0.7)
  expect_false(any(check$table$trust[1:8]))
  expect_close(check$table$sd_ratio[1:8], rep(0.5, 8), 0.05)

  moved <- changed(fit, function(part) {
    part$mean[3] <- part$mean[3] + 0.6 * sqrt(part$covariance[3, 3])
    part
  })
  check <- checked(moved, 4000)
  expect_lt(check$pareto_k, 0.7)
  expect_equal(which(check$table$trust[2:8] %in% FALSE), 2L)
  expect_close(check$table$shift[3], 0.6, 0.1)
  expect_match(bsvm:::check_sentences(check)[1], paste(
    "off for . of 9 quantities: the mean of `glu` is 0\\.[56][0-9]* standard deviations too high;"
  ))

  wide <- changed(fit, function(part) {
    part$covariance[3, ] <- 1.4 * part$covariance[3, ]
    part$covariance[, 3] <- 1.4 * part$covariance[, 3]
    part
  })
  check <- checked(wide, 4000)
  expect_close(check$table$sd_ratio[3], 1.4, 0.08)
  expect_equal(which(check$table$trust[2:8] %in% FALSE), 2L)

  theta <- fit
  theta$posterior$theta <- theta$posterior$theta + 0.5
  check <- checked(theta, 4000)
  expect_false(isTRUE(check$table["sd_population-level slopes", "trust"]))
})

test_that("a wrong distribution of variances is found", {
  fit <- bsvm(y ~ x1 + (1 | g), grouped, engine = engine_map(), keep_data = TRUE,
              likelihood = likelihoods$pseudo, prior = list(prior_flat(), g = prior_ridge(2, 1)))
  fit$posterior$theta_covariance <- fit$posterior$theta_covariance / 2
  fit$posterior$components[[1]]$covariance <- fit$posterior$components[[1]]$covariance -
    fit$posterior$slope %*% fit$posterior$theta_covariance %*% t(fit$posterior$slope)
  check <- checked(fit, 4000)
  expect_false(isTRUE(check$table["sd_g: (Intercept)", "trust"]))
})

test_that("the same model written differently has the same weights", {
  base <- binary_data(150)
  check_of <- function(d, formula = y ~ x1 + x2 + x3, threads = 1L, ...) {
    checked(bsvm(formula, d, engine = engine_gaussian(), keep_data = TRUE,
                 likelihood = likelihoods$normalised, prior = prior_ridge(2, 1),
                 control = bsvm_control(tol = 1e-14, threads = threads), ...))
  }
  expected <- check_of(base)
  scaled <- check_of(transform(base, x1 = 1000 * x1 + 7))
  expect_close(scaled$weights * 1000, expected$weights * 1000, 1e-3)
  expect_close(scaled$table["x1", "mean_corrected"] * 1000,
               expected$table["x1", "mean_corrected"], 1e-4)
  offset <- check_of(transform(base, o = 0.5 * x1), offset = o)
  expect_false(any(offset$table$trust %in% FALSE))
  expect_identical(check_of(base, threads = 3L)$weights, expected$weights)
  expect_identical(check_of(base)$table, expected$table)
  reordered <- check_of(base[150:1, ])
  expect_close(reordered$weights * 1000, expected$weights * 1000, 1e-3)
})

test_that("every structure has its check", {
  n <- 90
  d <- grouped
  d$h <- gl(5, 24)
  fits <- list(
    smooth = if (requireNamespace("mgcv", quietly = TRUE)) y ~ s(x1, k = 5) + (1 | g),
    slopes = y ~ x1 + (t | g), apart = y ~ x1 + (t || g), three = y ~ x1 + (t + x3 | g),
    nested = y ~ x1 + (1 | h / g), only = y ~ 0 + (1 | g)
  )
  for (formula in Filter(Negate(is.null), fits)) for (engine in c("vb", "gaussian")) {
    fit <- bsvm(formula, d, engine = engine, likelihood = likelihoods$pseudo, keep_data = TRUE)
    check <- checked(fit, 400)
    expect_finite(check$table["mean"])
    coefficients <- seq_along(fixef(fit))
    if (length(coefficients) == 0) next
    expect_finite(check$table$sd[coefficients])
    if (check$usable) expect_finite(check$table$mean_corrected[coefficients])
    expect_equal(ncol(check$values), check$draws)
  }
  fixed <- bsvm(y ~ x1 + x2, d, engine = "gaussian", prior = prior_ridge(variance = 1),
                likelihood = likelihoods$pseudo, keep_data = TRUE)
  expect_equal(rownames(checked(fixed, 200)$table), c("(Intercept)", "x1", "x2"))
})

test_that("more columns than rows: only what rows see counts", {
  x <- with_seed(1, matrix(rnorm(40 * 60), 40, dimnames = list(NULL, paste0("v", 1:60))))
  y <- x[, 1] + x[, 2] > 0
  for (likelihood in likelihoods) {
    fit <- bsvm(x, y, engine = "gaussian", keep_data = TRUE, likelihood = likelihood,
                prior = prior_ridge(variance = 0.01))
    expect_equal(ncol(pieces(fit)$target$problem$x), 41)
    check <- checked(fit, 4000)
    expect_lt(check$pareto_k, 0.7)
    expect_false(any(check$table$trust %in% FALSE))
    sd <- sqrt(diag(vcov(fit)))
    expect_close(check$table$sd_corrected, sd, 0.1, scale = sd)
  }
  inferred <- bsvm(x, y, engine = "vb", keep_data = TRUE,
                   prior = prior_ridge(variance = prior_inv_gamma(3, 1)))
  expect_finite(checked(inferred)$pareto_k)
})

test_that("sparse predictors", {
  skip_if_not_installed("Matrix")
  x <- with_seed(1, Matrix::rsparsematrix(120, 12, 0.1))
  colnames(x) <- paste0("v", 1:12)
  y <- as.vector(x[, 1] + x[, 2]) + with_seed(2, rnorm(120)) > 0
  model <- function(x, engine) {
    bsvm(x, y, engine = engine, likelihood = likelihoods$pseudo, keep_data = TRUE,
         prior = prior_ridge(variance = 0.5), standardize = FALSE)
  }
  exact <- with_seed(1, model(as.matrix(x), engine_slice(draws = 4000, burnin = 500)))
  sd <- sqrt(diag(vcov(exact)))
  for (engine in c("vb", "gaussian")) {
    check <- checked(model(x, engine), 4000)
    expect_close(check$table$mean_corrected[1:13], fixef(exact), 0.08, scale = sd)
    expect_close(check$table$sd_corrected[1:13], sd, 0.08, scale = sd)
  }
  # too large to be made dense
  fit <- model(x, "vb")
  fit <- bsvm:::dense_fit(fit, 1e8)
  expect_equal(bsvm:::target_engine(list(fit = fit))$name, "gibbs")
})

# ---- who is exact --------------------------------------------------------------------------------

test_that("the exact engine is one that covers the model", {
  target <- function(likelihood, sparse) {
    list(fit = list(likelihood = likelihood, design = list(sparse = sparse)))
  }
  name <- function(...) bsvm:::target_engine(target(...))$name
  for (likelihood in likelihoods) expect_equal(name(likelihood, NULL), "slice")
  expect_equal(name(likelihoods$pseudo, 1:3), "gibbs")
  expect_null(name(likelihoods$normalised, 1:3))
})

