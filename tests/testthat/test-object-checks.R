d <- with_seed(1, {
  d <- data.frame(a = rnorm(60), b = rnorm(60), g = gl(6, 10), f = gl(2, 3, 60))
  transform(d, y = rbinom(60, 1, plogis(a)))
})

vb_fit <- function(formula, ...) {
  bsvm(formula, d, engine = "vb", likelihood = likelihood_hinge(), ...)
}

test_that("functions called without arguments say which they need", {
  bare <- list(bsvm_run, bsvm_spec, calibration, calibration_map, check_approximation,
               cross_validate, holdout, holdout_predictions, holdout_runs, holdout_splits, imputed,
               inclusion, integrated_loglik, new_bsvm, prior_for, regularization_path, selected,
               support_vectors, bsvm_parsnip)
  for (f in bare) expect_refusal(f(), "argument", c("needs `", "missing"))
  expect_refusal(holdout(list(y ~ a)), "argument", c("holdout()", "`data`"))
})

test_that("what only has a class is refused, and so is a fit that was changed", {
  fit <- vb_fit(y ~ a + (1 | g))
  likes <- list(print, summary, coef, fitted, predict, fixef, ranef, VarCorr, confint, tidy, glance,
                augment, update, elbo, model.frame, nobs, plot, prior_summary, check_approximation)
  for (f in likes) {
    expect_refusal(f(structure(list(), class = "bsvm")), "argument", "not as bsvm() made it")
  }
  expect_refusal(bsvm_control(start = structure(list(), class = "bsvm")), "argument")
  changes <- list(list("link", "x"), list(c("design", "center"), 1:9), list("blocks", -1),
                  list("groups", quote(x)), list(c("posterior", "mean"), "x"),
                  list("posterior", list()), list("offset", 1:3), list("engine", NULL),
                  list("bases", list(1)),
                  list(c("response", "levels"), "x"),
                  list(c("posterior", "covariance"), matrix(0, 1, 1)))
  for (change in changes) {
    bad <- fit
    bad[[change[[1]]]] <- change[[2]]
    expect_refusal(summary(bad), "argument", change[[1]][1])
    expect_refusal(predict(bad, d), "argument", change[[1]][1])
  }
  expect_s3_class(suppressWarnings(check_approximation(fit, draws = 100)), "bsvm_check")
})

test_that("components must be what the functions that make them return", {
  like <- function(kind, ...) structure(list(...), class = paste0("bsvm_", kind))
  expect_refusal(bsvm(y ~ a, d, engine = like("engine", name = "vb")), "argument", "`engine`")
  expect_refusal(bsvm(y ~ a, d, likelihood = like("likelihood")), "argument", "`likelihood`")
  expect_refusal(bsvm(y ~ a, d, missing = like("missing", name = "normal")), "argument",
                 "`missing`")
  expect_refusal(bsvm(y ~ a, d, control = like("control", tol = 1)), "argument", "`control`")
  expect_refusal(bsvm(y ~ a, d, prior = like("prior", name = "ridge")), "prior", "`prior`")
  expect_refusal(bsvm(y ~ a, d, prior = list(a = like("prior"))), "prior", "`prior`")
  expect_refusal(prior_ridge(variance = like("hyperprior")), "prior", "`variance`")
  changed <- engine_vb()
  changed$parameters <- c(nonsense = 1)
  expect_refusal(bsvm(y ~ a, d, engine = changed), "argument", "engine_vb()")
})

test_that("a frame, a spec and a result of different models are not put together", {
  one <- bsvm_frame(y ~ a, d)
  two <- bsvm_frame(y ~ b + f, d)
  make <- function(frame) bsvm_spec(frame, engine = "vb", likelihood = likelihood_hinge())
  result <- bsvm_run(make(two))
  call <- quote(bsvm())
  expect_s3_class(new_bsvm(two, make(two), result, call), "bsvm")
  expect_refusal(new_bsvm(one, make(two), result, call), "argument", "bsvm_spec(frame)")
  expect_refusal(new_bsvm(one, make(one), result, call), "argument", "bsvm_run(spec)")
  expect_refusal(new_bsvm(list(), make(two), result, call), "argument", "bsvm_frame()")
  expect_refusal(new_bsvm(two, make(two), result, "bsvm"), "argument", "`call`")
})

test_that("what only has the class of a frame or a spec, or was changed, is refused", {
  expect_refusal(bsvm_spec(structure(list(), class = "bsvm_frame")), "argument",
                 c("`frame`", "bsvm_frame()"))
  expect_refusal(bsvm_run(structure(list(), class = "bsvm_spec")), "argument",
                 c("`spec`", "bsvm_spec()"))
  frame <- bsvm_frame(y ~ a, d)
  spec <- bsvm_spec(frame, engine = "vb", likelihood = likelihood_hinge())
  for (field in c("y", "x", "columns", "nobs", "response")) {
    bad <- frame
    bad[[field]] <- NULL
    expect_refusal(bsvm_spec(bad), "argument", "`frame`")
  }
  for (field in c("problem", "model", "design", "blocks", "engine", "likelihood")) {
    bad <- spec
    bad[[field]] <- NULL
    expect_refusal(bsvm_run(bad), "argument")
  }
  expect_s3_class(bsvm_run(spec)$posterior, "bsvm_moments")
})

test_that("arguments of a wrong kind are refused by name", {
  fit <- vb_fit(y ~ a + b)
  expect_refusal(engine_gibbs(burnin = mean), "argument", c("`burnin`", "a function"))
  expect_refusal(engine_slice(burnin = -1), "argument", "`burnin`")
  expect_identical(engine_gibbs(burnin = 0)$settings$burnin, 0L)
  expect_refusal(vb_fit(y ~ a, weights = mean), "weights", "a function")
  expect_refusal(vb_fit(y ~ a, weights = new.env()), "weights", "numbers")
  expect_refusal(vb_fit(y ~ a, offset = mean), "offset", "a function")
  expect_refusal(vb_fit(y ~ f, contrasts = 3), "argument", c("`contrasts`", "contr.sum"))
  expect_refusal(vb_fit(y ~ f, contrasts = list("contr.sum")), "argument", "named")
  for (parm in list(list(), quote(x), c(1, -1), 99, "zz")) {
    expect_refusal(confint(fit, parm = parm), "argument", "`parm`")
  }
  expect_refusal(tidy(fit, effects = quote(x)), "argument", "`effects`")
  expect_refusal(tidy(fit, effects = character()), "argument", "`effects`")
  expect_refusal(update(fit, formula. = 1), "formula", "`formula.`")
  expect_identical(prior_inv_gamma(c(a = 1), c(b = 2)), prior_inv_gamma(1, 2))
})

test_that("damaged sparse matrices are refused before anything reads them", {
  skip_if_not_installed("Matrix")
  m <- Matrix::sparseMatrix(i = 1:60, j = rep(1:3, 20), x = 1)
  damage <- list(function(m) { m@i[1] <- 1000L; m }, function(m) { m@p[2] <- -5L; m },
                 function(m) { m@x <- m@x[1:3]; m }, function(m) { m@i[2] <- -1L; m })
  for (f in damage) expect_refusal(bsvm(f(m), d$y, engine = "vb"), "predictors", "damaged")
  fit <- bsvm(m, d$y, engine = "vb", likelihood = likelihood_hinge())
  expect_refusal(predict(fit, damage[[1]](m)), "predictors", "damaged")
})

test_that("priors and offsets at the ends of the numbers: numbers, or a classed error", {
  quiet <- function(code) suppressMessages(suppressWarnings(code))
  outcome <- function(code) tryCatch(quiet(code), bsvm_error = function(e) NULL)
  priors <- list(prior_inv_gamma(1e300, 1e300), prior_half_t(3, 1e300), prior_inv_gamma(1, 1e300),
                 prior_half_t(1e300, 1))
  for (variance in priors) for (engine in c("vb", "gaussian")) {
    ridge <- prior_ridge(variance = variance)
    fit <- outcome(bsvm(y ~ a + b + (1 | g), d, prior = list(ridge, g = ridge), engine = engine,
                        likelihood = likelihood_hinge()))
    if (!is.null(fit)) expect_output(print(quiet(summary(fit, details = TRUE))), "Variances")
    fit <- outcome(bsvm(y ~ a + b, d, prior = ridge, engine = engine,
                        likelihood = likelihood_hinge()))
    if (!is.null(fit)) expect_output(print(quiet(summary(fit, details = TRUE))), "Variances")
  }
  fit <- outcome(vb_fit(y ~ a, offset = rep(c(1, -1), 30) * 1e300))
  if (!is.null(fit)) expect_output(print(quiet(summary(fit, details = TRUE))), "Variances")
})

test_that("loo() and waic() of one draw ask for more", {
  skip_if_not_installed("loo")
  for (chains in 1:2) {
    fit <- suppressWarnings(bsvm(y ~ a, d, likelihood = likelihood_hinge(normalized = TRUE),
                                 engine = engine_slice(draws = 1, burnin = 5, chains = chains)))
    expect_refusal(loo::loo(fit), "argument", c("two draws", "engine_slice(draws = 1000)"))
    expect_refusal(loo::waic(fit), "argument", "two draws")
  }
})

test_that("columns of odd types under a smooth term are refused with a class", {
  skip_if_not_installed("mgcv")
  odd <- transform(d, r = as.raw(rep(1:3, 20)), z = complex(real = a))
  expect_refusal(bsvm(y ~ a + s(b, by = r, k = 3), odd), "formula", "`s(b, by = r, k = 3)`")
  expect_error(bsvm(y ~ s(z, k = 3), odd), class = "bsvm_error")
})
