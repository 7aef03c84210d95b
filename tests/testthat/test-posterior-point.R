bsvm <- paper_bsvm

point_fit <- function() {
  set.seed(1)
  d <- data.frame(x = rnorm(120), z = rnorm(120), clinic = gl(12, 10))
  d$sick <- d$x + rnorm(12)[d$clinic] + rnorm(120) > 0
  bsvm(sick ~ x + z + (1 | clinic), data = d, engine = engine_em(), keep_data = TRUE,
       prior = list(prior_lasso(nu = 1), clinic = prior_ridge(variance = 1)))
}

test_that("support vectors have multipliers that balance the penalty's slope", {
  d <- rule_data(80, 5)
  fit <- em_fit(d$data, prior_ridge(variance = 0.5), weights = rep(1:2, 40))
  found <- support_vectors(fit)
  expect_named(found, c("row", "multiplier", "kind"))
  pull <- crossprod(d$x[found$row, ], d$y[found$row] * found$multiplier)
  expect_equal(as.vector(pull)[-1L], unname(coef(fit)[-1L]) / 0.5, tolerance = 1e-5)
  expect_lt(abs(pull[1L]), 1e-5)
  u <- 1 - d$y * fitted(fit)
  weight <- rep(1:2, 40)
  expect_true(all(abs(u[found$row[found$kind == "margin"]]) < 1e-5))
  inside <- found$row[found$kind == "inside"]
  expect_identical(found$multiplier[found$kind == "inside"], 2 * as.double(weight[inside]))
  expect_setequal(found$row, which(u > -1e-6))
  expect_identical(summary(fit)$n_support, nrow(found))
})

test_that("a path is refused to other fits", {
  fit <- bsvm(am ~ mpg, mtcars, engine = "vb")
  expect_error(support_vectors(1), class = "bsvm_error_argument")
  expect_error(regularization_path(fit), class = "bsvm_error_unsupported")
})

test_that("a point estimate has no spread, and says which engine has", {
  fit <- point_fit()
  expect_true(is_point(fit))
  for (ask in list(vcov, confint, function(x) predict(x, interval = TRUE),
                   function(x) ranef(x, sd = TRUE), function(x) tidy(x, conf.int = TRUE))) {
    expect_error(ask(fit), "engine_gibbs()", fixed = TRUE, class = "bsvm_error_unsupported")
  }
  expect_error(elbo(fit), class = "bsvm_error_unsupported")
  expect_true(all(is.na(summary(fit)$coefficients[, c("SD", "lower", "upper")])))
  expect_true(all(is.na(tidy(fit, effects = c("fixed", "ran_vals"))$std.error)))
  skip_if_not_installed("ggplot2")
  expect_error(plot(fit, "coefficients"), "engine_gibbs()", fixed = TRUE,
               class = "bsvm_error_unsupported")
})

test_that("what needs draws names the engine that has them under the fit's priors", {
  d <- rule_data(40, 3)
  asks <- function(fit, ...) {
    expect_error(plot(fit, "trace"), ..., fixed = TRUE, class = "bsvm_error_unsupported")
  }
  skip_if_not_installed("ggplot2")
  asks(em_fit(d$data, prior_lasso(nu = 1)), "`engine = engine_gibbs()`")
  asks(em_fit(d$data, prior_lasso(nu = c(0.1, 1))), "Give `nu` one number")
  asks(em_fit(d$data, prior_laplace_zero(0.3), engine = "vb"), "`engine = engine_gibbs()`")
  asks(em_fit(d$data, prior_ridge(variance = 1)), "`engine = engine_slice()`")
})

test_that("what needs draws names an engine that takes what is missing, and groups", {
  d <- with_seed(2, data.frame(x = stats::rnorm(40), z = stats::rnorm(40), g = gl(8, 5)))
  d$y <- d$x - d$z + with_seed(3, stats::rt(40, 3))
  d$k <- d$y > 0
  holes <- transform(d, x = replace(x, 3:6, NA))
  fits <- function(formula, data, ..., engine = "vb") {
    bsvm(formula, data, likelihood = likelihood_eps_insensitive(), engine = engine,
         keep_data = TRUE, ...)
  }
  select <- function(...) fits(y ~ x + z, d, prior = prior_laplace_zero(0.3), ...)
  group <- function(...) fits(y ~ x + z + (1 | g), holes, missing = missing_normal(), ...)
  selected <- select()
  grouped <- group()
  alone <- fits(y ~ x + z, holes, missing = missing_normal())
  asks <- function(code, words) expect_refusal(code, "unsupported", words)
  for (fit in list(selected, grouped)) asks(log_lik(fit), "`engine = engine_gibbs()`")
  asks(log_lik(alone), "`engine = engine_slice()`")
  for (fit in list(selected, grouped, alone)) {
    for (ask in list(posterior_predict, bayes_R2, posterior_linpred)) expect_finite(ask(fit))
  }
  asks(loo(selected), "`engine = engine_gibbs()`")
  set.seed(1)
  few <- engine_gibbs(draws = 50, burnin = 20)
  for (fit in list(select, group)) {
    expect_finite(bayes_R2(suppressWarnings(fit(engine = few))))
  }
  classes <- bsvm(k ~ x + z + (1 | g), holes, missing = missing_normal(), engine = "gaussian",
                  likelihood = "normalized")
  asks(log_lik(classes), "No engine draws")
  expect_finite(posterior_epred(classes))
})

test_that("what needs no spread works", {
  fit <- point_fit()
  expect_length(coef(fit), 3 + 12)
  expect_identical(dim(ranef(fit)$clinic), c(12L, 1L))
  expect_equal(unname(predict(fit, fit$data[1:5, ], type = "link")), fitted(fit)[1:5])
  expect_equal(as.numeric(VarCorr(fit)$clinic), 1)
  expect_identical(nrow(augment(fit)), 120L)
  expect_true(glance(fit)$converged)
  facts <- summary(fit)$estimate
  expect_lt(facts$gap, 1e-8)
  expect_true(facts$certified)
  expect_output(print(summary(fit, details = TRUE)), "relative duality gap")
  expect_output(print(fit), "Scale nu of population-level slopes: 1 \\(fixed\\)")
  skip_if_not_installed("ggplot2")
  expect_s3_class(plot(fit, "bound"), "ggplot")
})
