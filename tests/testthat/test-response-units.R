# Results for a response in other units, shifted, turned over or weighted are the same results.

skip_on_cran()

scaled_rows <- function(data, by, plus = 0) {
  data$y <- by * data$y + plus
  data
}

# Moments that have the response's unit, and those that have none, of a fit.
with_unit <- function(fit) {
  out <- c(fixef(fit)[-1L], sqrt(diag(vcov(fit))), sigma(fit))
  if (!is.null(fit$groups)) {
    out <- c(out, unlist(ranef(fit)), as.data.frame(VarCorr(fit))$sdcor[1L])
  }
  c(out, as.matrix(predict(fit, interval = TRUE))[, "sd"])
}

units_data <- function() {
  data <- with_seed(4, {
    g <- gl(12, 6)
    x <- stats::rnorm(72)
    data.frame(x = x, g = g, h = rep(gl(6, 1), 12),
               y = 200 + 5 * x + 8 * stats::rnorm(12)[g] + 3 * x * stats::rnorm(12)[g] +
                 5 * stats::rt(72, 3))
  })
}

expect_same_in_units <- function(formula, engine, by, tolerance) {
  data <- units_data()
  fit <- function(data) {
    set.seed(5)
    suppressWarnings(bsvm(formula, data, likelihood = likelihood_eps_insensitive(), engine = engine))
  }
  here <- fit(data)
  there <- fit(scaled_rows(data, by))
  expect_close(with_unit(there) / abs(by), with_unit(here), tolerance, scale = abs(with_unit(here)))
  expect_close(parameter_table(there)["nu", "Estimate"], parameter_table(here)["nu", "Estimate"], tolerance)
  shifted <- fit(scaled_rows(data, 1, 1e4))
  expect_close(fixef(shifted)[[1L]] - 1e4, fixef(here)[[1L]], tolerance, scale = abs(fixef(here)[[1L]]))
  if (!is.null(here$elbo)) {
    expect_close(there$elbo + nrow(data) * log(abs(by)), here$elbo, 1e-6)
  }
}

test_that("units of the response are those of the results, by every engine", {
  for (formula in list(y ~ x, y ~ x + (1 | g), y ~ x + (x | g), y ~ x + (1 | g) + (1 | h))) {
    expect_same_in_units(formula, engine_vb(), 1e-3, 1e-7)
    expect_same_in_units(formula, engine_gaussian(), 2.5e4, 1e-6)
    expect_same_in_units(formula, engine_slice(draws = 60, burnin = 40), 1e-3, 1e-7)
  }
  expect_same_in_units(y ~ x, engine_gibbs(draws = 60, burnin = 40), 1024, 1e-3)
})

test_that("units are those of the results with sparse predictors and in checks", {
  skip_if_not_installed("Matrix")
  data <- units_data()
  old <- options(bsvm.dense_cells = 10)
  on.exit(options(old))
  columns <- Matrix::sparse.model.matrix(~ 0 + g + x, data)
  for (engine in list(engine_gaussian(), engine_vb())) {
    fits <- lapply(c(1, 1e3), function(by) {
      bsvm(columns, by * data$y, likelihood = likelihood_eps_insensitive(), engine = engine)
    })
    expect_close(coef(fits[[2L]]) / 1e3, coef(fits[[1L]]), 1e-5)
    sds <- lapply(fits, function(fit) predict(fit, interval = "confidence")$sd)
    expect_close(sds[[2L]] / 1e3, sds[[1L]], 1e-5)
  }
  checks <- lapply(c(1, 1e3), function(by) {
    fit <- bsvm(y ~ x, scaled_rows(data, by), likelihood = likelihood_eps_insensitive(),
                engine = engine_gaussian())
    set.seed(6)
    suppressWarnings(check_approximation(fit))$table
  })
  power <- ifelse(rownames(checks[[1L]]) == "nu", 1, 1e3)
  expect_close(checks[[2L]]$mean_corrected / power, checks[[1L]]$mean_corrected, 0.05,
               scale = checks[[1L]]$sd_corrected)
  expect_true(all(abs(checks[[1L]]$shift) < 0.4))
})

test_that("a row of weight 2 is the row twice, one of weight 0 is absent", {
  data <- units_data()
  weight <- rep(c(1, 2, 0), 24)
  twice <- data[rep(seq_len(72), weight), ]
  for (formula in list(y ~ x, y ~ x + (1 | g))) for (engine in list(engine_vb(), engine_gaussian())) {
    weighted <- bsvm(formula, data, weights = weight, likelihood = likelihood_eps_insensitive(),
                     engine = engine)
    written <- bsvm(formula, twice, likelihood = likelihood_eps_insensitive(), engine = engine)
    # matched moments of a row squared are not those of two rows
    slack <- if (engine$name == "gaussian" && length(all.vars(formula)) == 2L) 5e-3 else 1e-6
    expect_close(fixef(weighted), fixef(written), slack, scale = sqrt(diag(vcov(written))))
    expect_close(vcov(weighted), vcov(written), 10 * slack, scale = max(vcov(written)))
    expect_close(parameter_table(weighted)[, 1L], parameter_table(written)[, 1L], 10 * slack)
  }
})

test_that("quantiles of the response turned over are its quantiles turned over", {
  data <- units_data()
  fit <- function(data, tau) {
    bsvm(y ~ x, data, likelihood = likelihood_quantile(tau), engine = engine_gaussian())
  }
  expect_close(coef(fit(scaled_rows(data, -1), 0.8)), -coef(fit(data, 0.2)), 1e-6)
})

test_that("an offset moves the response, in its units", {
  data <- units_data()
  data$o <- with_seed(8, stats::rnorm(72, 100, 20))
  moved <- data
  moved$y <- data$y + data$o
  for (engine in list(engine_vb(), engine_gaussian())) {
    plain <- bsvm(y ~ x, data, likelihood = likelihood_eps_insensitive(), engine = engine)
    offset <- bsvm(y ~ x + offset(o), moved, likelihood = likelihood_eps_insensitive(), engine = engine)
    expect_close(coef(offset), coef(plain), 1e-6)
    expect_close(fitted(offset) - data$o, fitted(plain), 1e-6)
    expect_close(as.matrix(predict(offset, interval = TRUE)) - outer(data$o, c(1, 0, 1, 1)),
                 as.matrix(predict(plain, interval = TRUE)), 1e-6)
  }
})

test_that("prior_for() has the priors of the fit, and rows without a linear predictor a score", {
  data <- units_data()
  shown <- prior_for(y ~ x + (1 | g), data, likelihood = likelihood_eps_insensitive())
  fit <- bsvm(y ~ x + (1 | g), data, likelihood = likelihood_eps_insensitive(), engine = "vb")
  used <- prior_summary(fit)
  for (name in c("(Intercept)", "g: (Intercept)")) {
    expect_identical(shown$prior[shown$name == name], used$prior[used$name == name])
  }
  known <- bsvm(y ~ 0 + x, transform(data, x = replace(x, 1:3, 0)), engine = "gaussian",
                likelihood = likelihood_eps_insensitive())
  expect_finite(loo::loo(known)$pointwise)
})
