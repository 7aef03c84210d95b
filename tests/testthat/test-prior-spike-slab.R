bsvm <- paper_bsvm

d <- binary_data()
d$noise <- with_seed(2, rnorm(nrow(d)))

plain_gibbs <- function(draws = 60, ...) engine_gibbs(draws, 20, chains = 2, ...)

fit_selecting <- function(formula = y ~ x1 + x2, data = d, prior = prior_spike_slab(pi = 0.3),
                          engine = plain_gibbs(), ...) {
  with_seed(1, unchecked(bsvm(formula, data, prior = prior, engine = engine, ...,
                              control = bsvm_control(verbose = FALSE))))
}

test_that("a spike-and-slab prior says what it is", {
  expect_output(print(prior_spike_slab()), "spike and slab, pi ~ Beta(1, 1), nu 1", fixed = TRUE)
  expect_output(print(prior_spike_slab(0.2, nu = 3)), "pi 0.2, nu 3", fixed = TRUE)
  fit <- fit_selecting(prior = prior_spike_slab(size = 0.5, sigma = c(1, 2)))
  expect_equal(prior_summary(fit)$prior[2], "spike and slab, size 0.5 (pi 0.25), nu 1, sigma given")
})

test_that("with more columns than rows few are expected, unless `b` is given", {
  x <- with_seed(1, matrix(rnorm(10 * 12), 10))
  prior_of <- function(prior, columns) {
    spec <- bsvm_spec(bsvm_frame(x = x[, columns], y = rep(c(-1, 1), 5)), prior = prior)
    spec$blocks[[2]]$prior
  }
  wide <- prior_of(prior_spike_slab(a = 2), 1:12)
  expect_equal(wide$parameters[["shape_out"]], 12)
  expect_equal(wide$parameters[["log_odds"]], log(2 / 12))
  expect_match(wide$label, "Beta(2, 12)", fixed = TRUE)
  for (prior in list(prior_of(prior_spike_slab(), 1:9), prior_of(prior_spike_slab(b = 1), 1:12))) {
    expect_equal(prior$parameters[["shape_out"]], 1)
    expect_match(prior$label, "Beta(1, 1)", fixed = TRUE)
  }
})

test_that("numbers that can't be a spike-and-slab prior's are refused by name", {
  for (pi in list(0, 1, -0.1, 2, NA, "a", c(0.1, 0.2), Inf)) {
    expect_refusal(prior_spike_slab(pi), "prior", "`pi`")
  }
  for (x in list(0, -1, NA, Inf, "a", 1:2)) {
    expect_refusal(prior_spike_slab(nu = x), "prior", "`nu`")
    expect_refusal(prior_spike_slab(a = x), "prior", "`a`")
    expect_refusal(prior_spike_slab(b = x), "prior", "`b`")
    expect_refusal(prior_spike_slab(size = x), "prior", "`size`")
  }
  for (sigma in list(0, c(1, -1), c(1, NA), "a", numeric(0), c(1, Inf))) {
    expect_refusal(prior_spike_slab(sigma = sigma), "prior", "`sigma`")
  }
  expect_refusal(prior_spike_slab(0.1, size = 2), "prior", c("`pi`", "`size`"))
  expect_refusal(prior_spike_slab(0.1, a = 2), "prior", c("`a`", "`b`"))
  expect_refusal(prior_spike_slab(size = 2, b = 2), "prior", c("`a`", "`b`"))
})

test_that("what does not fit the columns is refused before anything runs", {
  expect_refusal(fit_selecting(prior = prior_spike_slab(sigma = c(1, 2, 3))), "prior",
                 c("2 columns", "found 3"))
  expect_refusal(fit_selecting(prior = prior_spike_slab(size = 2)), "prior", c("`size`", "found 2"))
})

test_that("other engines, groups and sparse predictors are refused in words", {
  for (engine in list("vb", "gaussian", "map", "slice")) {
    expect_refusal(fit_selecting(engine = engine), "unsupported", "engine_gibbs()")
  }
  expect_equal(bsvm_spec(bsvm_frame(y ~ x1, d), prior = prior_spike_slab())$engine$name, "gibbs")
  g <- grouped_data()
  expect_refusal(fit_selecting(y ~ x1 + (1 | g), g, list(g = prior_spike_slab())), "prior",
                 "grouping factor")
  skip_if_not_installed("Matrix")
  x <- Matrix::rsparsematrix(60, 8, 0.1)
  expect_refusal(bsvm(x, rep(c(-1, 1), 30), prior = prior_spike_slab(), engine = "gibbs"),
                 "unsupported", c("Sparse", "as.matrix"))
})

test_that("draws have zeros, and the methods take them", {
  fit <- fit_selecting(y ~ x1 + noise, prior = prior_spike_slab(a = 1, b = 4))
  zero <- fit$posterior$coefficients == 0
  expect_true(any(zero[-1, , ]) && !all(zero[-1, , ]) && !any(zero[1, , ]))
  expect_finite(list(coef(fit), vcov(fit), confint(fit), predict(fit, type = "link")))
  table <- suppressWarnings(summary(fit))
  expect_equal(rownames(table$variance_draws), "pi_population-level slopes")
  expect_output(print(table, details = TRUE), "pi_population-level slopes")
  expect_equal(nrow(table$variances), 0)
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws_df(fit)
  pi <- draws[["pi_population-level slopes"]]
  expect_true(all(pi > 0 & pi < 1))
  expect_equal(mean(draws$noise == 0), mean(zero[3, , ]))
})

test_that("of very many coefficients no covariance is kept", {
  n <- 25
  x <- with_seed(1, matrix(rnorm(n * 1100), n, dimnames = list(NULL, paste0("x", 1:1100))))
  y <- ifelse(x[, 1] > 0, 1, -1)
  fit <- with_seed(1, unchecked(bsvm(x, y, prior = prior_spike_slab(size = 3),
                                     engine = plain_gibbs(),
                                     control = bsvm_control(verbose = FALSE))))
  expect_null(fit$posterior$covariance)
  draws <- coefficient_draws(fit, c(1, 7))
  sd <- suppressWarnings(summary(fit))$coefficients[c(1, 7), "SD"]
  expect_equal(unname(sd), apply(draws, 1, stats::sd))
  wide <- linear_draws(fit, list(x = selector(fit$design, c(1, 7))))
  expect_equal(unname(draws), wide)
  expect_finite(list(coef(fit), predict(fit, type = "link")))
})
