bsvm <- paper_bsvm

skip_on_cran()

block_of <- function(prior, formula = am ~ mpg + wt, ...) {
  bsvm:::assign_priors(bsvm_frame(formula, mtcars, ...), prior)$blocks[[2]]$prior
}

# ---- constructors -------------------------------------------------------------------------

test_that("the core is given alpha, nu, the law of nu and the scales of the columns", {
  expect_equal(prior_lasso(2)$parameters, c(alpha = 1, nu = 2, shape = 1, rate = 1))
  expect_equal(prior_lasso(2), prior_bridge(1, 2))
  expect_equal(prior_bridge(NULL, shape = 3, rate = 0.5)$parameters,
               c(alpha = 0, nu = 0, shape = 3, rate = 0.5))
  expect_equal(block_of(prior_lasso(sigma = 3:2))$parameters[5:6], c(sigma_1 = 3, sigma_2 = 2))
  expect_equal(block_of(prior_lasso(sigma = 4))$parameters[5:6], c(sigma_1 = 4, sigma_2 = 4))
  expect_length(block_of(prior_lasso())$parameters, 4)
  grid <- prior_lasso(c(0.1, 1, 5))
  expect_equal(grid$grid, c(0.1, 1, 5))
  expect_equal(grid$parameters[["nu"]], 5)
})

test_that("its words say what is inferred", {
  expect_match(prior_lasso()$label, "lasso, nu inferred, gamma(1, 1) on nu^-alpha", fixed = TRUE)
  expect_match(prior_bridge(NULL, 2)$label, "alpha inferred, nu 2", fixed = TRUE)
  expect_match(prior_bridge(0.5, 1:3, 2)$label, "alpha 0.5, nu 1 to 3, sigma given", fixed = TRUE)
})

test_that("bad numbers are refused by name", {
  bad <- list("a", NA_real_, NaN, Inf, 0, -1, c(1, 2), TRUE)
  for (value in c(bad, 2.0001)) expect_refusal(prior_bridge(value), "prior", "`alpha`")
  for (value in bad[-7]) {
    expect_refusal(prior_lasso(value), "prior", "`nu`")
    expect_refusal(prior_lasso(sigma = value), "prior", "`sigma`")
  }
  for (value in bad) {
    expect_refusal(prior_bridge(shape = value), "prior", "`shape`")
    expect_refusal(prior_lasso(rate = value), "prior", "`rate`")
  }
  expect_refusal(prior_lasso(c(1, 3, 2)), "prior", c("`nu`", "3 before 2"))
  expect_refusal(prior_lasso(c(1, 1)), "prior", "increase")
  expect_refusal(prior_lasso(c(1, NA)), "prior", "number 2")
  expect_refusal(prior_lasso(numeric()), "prior", "`nu`")
  expect_refusal(prior_lasso(factor(1:2)), "prior", "`nu`")
  expect_refusal(prior_lasso(sigma = c(1, -1)), "prior", "`sigma`")
  expect_refusal(prior_lasso(1, shape = 2), "prior", c("`shape` and `rate`", "`nu`"))
})

# ---- what it goes with ----------------------------------------------------------------------

fit_cars <- function(formula = am ~ mpg + hp, data = mtcars, ..., draws = 60) {
  gibbs_fit(formula, data, ..., draws = draws, burnin = 30)
}

test_that("sigma must fit its block, and a block has columns", {
  expect_refusal(fit_cars(prior = prior_lasso(sigma = 1:3)), "prior",
                 c("`sigma`", "2 columns", "found 3"))
  named <- list(hp = prior_lasso(sigma = 1:2))
  expect_refusal(fit_cars(prior = named), "prior", c("1 columns of `hp`", "found 2"))
  expect_refusal(fit_cars(am ~ 1, prior = prior_lasso()), "prior", "none left")
})

test_that("engines that can't take it say so, and Gibbs takes no grid", {
  for (engine in c("vb", "gaussian", "map", "slice")) {
    expect_refusal(bsvm(am ~ mpg + hp, mtcars, prior = prior_lasso(1), engine = engine),
                   "unsupported", c(paste0("engine_", engine, "()"), "lasso", "engine_gibbs()"))
  }
  expect_refusal(fit_cars(prior = prior_lasso(c(1, 2))), "unsupported", c("grid", "engine_gibbs()"))
  expect_refusal(fit_cars(prior = prior_bridge(0.01, 1)), "unsupported", "alpha 0.01")
  default <- bsvm_spec(bsvm_frame(am ~ mpg + hp, mtcars), prior = prior_bridge(NULL))
  expect_identical(default$engine$name, "gibbs")
})

test_that("effects of a grouping factor need one variance", {
  for (formula in list(am ~ mpg + (1 | cyl), am ~ mpg + (hp || cyl))) {
    expect_refusal(fit_cars(formula, prior = list(cyl = prior_lasso())), "unsupported",
                   c("one variance", "prior_ridge()", "lasso"))
  }
  expect_refusal(fit_cars(am ~ mpg + (hp | cyl), prior = list(cyl = prior_lasso())), "prior",
                 "prior_inv_wishart()")
  fit <- fit_cars(am ~ mpg + hp + (1 | cyl), prior = prior_lasso())
  expect_named(fit$blocks[[1]]$hyper, "nu")
})

wide_data <- function(n, p) {
  with_seed(2, list(x = matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p)))),
                    y = rep(0:1, length.out = n)))
}

test_that("more columns than rows: a dense system, up to a limit", {
  d <- wide_data(20, 30)
  fit <- gibbs_fit(d$x, d$y, prior = prior_lasso(0.1), draws = 20, burnin = 10)
  expect_true(all(is.finite(fixef(fit))))
  expect_length(fit$design$rotation, 0)
  d <- wide_data(20, 2001)
  expect_refusal(gibbs_fit(d$x, d$y, prior = prior_bridge(0.5)), "size",
                 c("2001 columns", "2000", "bridge, alpha 0.5"))
})

test_that("sparse predictors are dense to it", {
  skip_if_not_installed("Matrix")
  d <- wide_data(40, 5)
  d$x[abs(d$x) < 1.3] <- 0
  sparse <- Matrix::Matrix(d$x, sparse = TRUE)
  fits <- lapply(list(d$x, sparse), gibbs_fit, d$y, prior = prior_lasso(0.5), draws = 40)
  expect_null(fits[[2]]$design$sparse)
  expect_equal(fixef(fits[[2]]), fixef(fits[[1]]), tolerance = 1e-6)
})

# ---- draws ----------------------------------------------------------------------------------

test_that("alpha = 2 is the ridge prior, and nu sigma is what matters, draw by draw", {
  draws <- function(prior, mixing = TRUE) {
    engine <- engine_gibbs(60, 30, chains = 2, mixing = mixing)
    c(gibbs_fit(am ~ mpg + hp, mtcars, prior = prior, engine = engine)$posterior$coefficients)
  }
  expect_equal(draws(prior_bridge(2, nu = sqrt(2 * 0.7)), FALSE),
               draws(prior_ridge(variance = 0.7), FALSE), tolerance = 1e-6)
  for (alpha in c(0.5, 1, 1.5)) {
    expect_equal(draws(prior_bridge(alpha, nu = 1, sigma = c(2, 0.5))),
                 draws(prior_bridge(alpha, nu = 0.5, sigma = c(4, 1))), tolerance = 1e-6)
  }
})

weak_case <- function(alpha, nu, shape = 2, sigma = c(1, 0.5)) {
  r <- with_seed(4, {
    x <- matrix(rnorm(60), 30)
    list(x = x, y = ifelse(runif(30) < plogis(x[, 1]), 1, -1), offset = rnorm(30) / 4)
  })
  p <- length(sigma)
  core_case(r$x[, seq_len(p), drop = FALSE], r$y, weight = rep(1:2, 15) / 2, offset = r$offset,
            list(block_bridge(seq_len(p), alpha, nu, shape, sigma = sigma)))
}

expect_bridge <- function(case, exact) {
  for (mixing in c(TRUE, FALSE)) {
    draws <- core_gibbs(case, draws = if (mixing) 25000 else 60000, chains = 2, mixing = mixing,
                        seed = 10)
    expect_exact(bridge_table(case, draws), exact, label = paste("draws, mixing", mixing))
  }
}

for (alpha in c(0.5, 1, 1.5, 2)) for (nu in c(0.4, 0)) {
  test_that(sprintf("exact by quadrature: alpha = %g, nu = %g (0: inferred)", alpha, nu), {
    one <- weak_case(alpha, nu, sigma = 0.7)
    expect_bridge(one, exact_bridge(case_twin(one), 2000))
    two <- weak_case(alpha, nu)
    expect_bridge(two, exact_bridge(case_twin(two), 150))
  })
}

test_that("exact by quadrature: alpha inferred, nu too", {
  for (nu in c(0.4, 0)) {
    case <- weak_case(0, nu, shape = 4)
    expect_bridge(case, exact_bridge(case_twin(case), 60))
  }
})

test_that("alpha = 2 with gamma(2, 1) is the ridge prior with inverse-gamma(2, 1/2)", {
  case <- weak_case(2, 0, sigma = 1)
  exact <- exact_bridge(case_twin(case), 2000)
  case$blocks <- list(block_ridge(1, 2, 0.5))
  draws <- core_gibbs(case, draws = 25000, chains = 2, seed = 10)
  expect_exact(cbind(draws$b, log(2 * draws$variances[[1]]) / 2), exact)
})

test_that("the quadrature tells the misprinted mean of nu", {
  right <- weak_case(1, 0)
  wrong <- weak_case(1, 0, shape = 1) # shape - 1 for shape, as in the CME-step
  exact <- lapply(list(right, wrong), function(case) {
    exact_bridge(case_twin(case), 60)
  })
  expect_gt(max(abs(exact[[1]]$mean - exact[[2]]$mean) / exact[[1]]$sd), 0.1)
})

test_that("with separated classes a chain passes where its precision is singular to rounding", {
  for (seed in c(5, 15, 20, 45, 50)) for (p in c(20, 40)) {
    d <- rule_data(20, p, seed)
    fit <- with_seed(seed, suppressWarnings(
      bsvm(y ~ ., d$data, prior = prior_bridge(NULL), engine = engine_gibbs(300, 300, chains = 2),
           control = bsvm_control(verbose = FALSE)), classes = "bsvm_warning"))
    expect_equal(fit$termination, "completed")
    expect_finite(fit$posterior[c("coefficients", "variances")], paste(seed, p))
  }
})

test_that("draws that were resumed are those of one run", {
  file <- tempfile()
  on.exit(unlink(file))
  run <- function(draws, ...) {
    engine <- engine_gibbs(draws, 20, chains = 2, ...)
    gibbs_fit(am ~ mpg + hp, mtcars, prior = prior_bridge(NULL, shape = 4), engine = engine)
  }
  whole <- run(40)
  run(15, checkpoint = file)
  pieces <- run(40, checkpoint = file, resume = TRUE)
  expect_identical(pieces$posterior$coefficients, whole$posterior$coefficients)
  expect_identical(pieces$posterior$variances, whole$posterior$variances)
})

# ---- what is reported -------------------------------------------------------------------------

test_that("nu and alpha are among the draws and in the summary, variances are not", {
  skip_if_not_installed("posterior")
  fit <- fit_cars(prior = prior_bridge(NULL, shape = 4), draws = 200)
  names <- paste0(c("nu", "alpha"), "_population-level slopes")
  draws <- posterior::as_draws_matrix(fit)
  expect_identical(colnames(draws), c("(Intercept)", "mpg", "hp", names))
  expect_equal(fit$blocks[[2]]$hyper, c(nu = mean(draws[, 4]), alpha = mean(draws[, 5])))
  summary <- unchecked(summary(fit, details = TRUE))
  expect_equal(nrow(summary$variances), 0)
  expect_identical(rownames(summary$variance_draws), names)
  expect_equal(summary$variance_draws[, "Estimate"], colMeans(draws)[4:5], ignore_attr = TRUE)
  limits <- quantile(draws[, 5], c(0.025, 0.975), names = FALSE)
  expect_equal(unname(summary$variance_draws[2, 3:4]), limits)
  printed <- capture.output(print(summary))
  expect_match(printed, "^Hyper-parameters .population-level: of standardised", all = FALSE)
  expect_no_match(printed, "cost|Variances")
  expect_match(capture.output(print(fit)), "population-level slopes: nu [0-9.]+, alpha [0-9.]+",
               all = FALSE)
})

test_that("with nu and alpha given there is nothing more to report", {
  fit <- fit_cars(prior = prior_bridge(0.5, 1))
  expect_length(fit$blocks[[2]]$hyper, 0)
  expect_equal(nrow(unchecked(summary(fit))$variance_draws), 0)
  expect_no_match(capture.output(print(fit)), "Hyper-parameters|Variances")
  both <- fit_cars(prior = list(prior_lasso(), hp = prior_ridge(0.01)))
  expect_equal(unchecked(summary(both))$variances$block, "hp")
  expect_match(capture.output(print(unchecked(summary(both, details = TRUE)))), "^nu_population",
               all = FALSE)
})

test_that("a nu that nothing bounds is warned of", {
  separated <- data.frame(y = rep(0:1, each = 10), x = c(-10:-1, 1:10))
  prior <- list(prior_lasso(shape = 0.01, rate = 0.02), "(Intercept)" = prior_ridge(variance = 1))
  expect_warning(fit_cars(y ~ x, separated, prior = prior), class = "bsvm_warning_rank",
                 "nu_population-level slopes")
})
