# Bad and odd input of the sampler, of formulas with several terms, and of checkpoints.

d <- binary_data()
g <- grouped_data()

gibbs <- function(formula, data, ..., draws = 20, burnin = 10, chains = 1) {
  suppressWarnings(bsvm(formula, data, control = bsvm_control(verbose = FALSE),
                        engine = engine_gibbs(draws, burnin, chains = chains, ...)))
}

# ---- the engine's arguments ---------------------------------------------------------------

test_that("numbers of draws, chains and the like are whole and in range", {
  for (name in c("draws", "thin", "chains")) {
    for (value in list(0, -1, 1.5, NA, NaN, Inf, "10", c(1, 2), NULL, TRUE, 3e9, list(5))) {
      given <- stats::setNames(list(value), name)
      expect_refusal(do.call(engine_gibbs, given), "argument", paste0("`", name, "`"))
    }
  }
  for (value in list(-1, 0.5, NA, Inf, "10", c(1, 2), NULL, 3e9)) {
    expect_refusal(engine_gibbs(burnin = value), "argument", "`burnin`")
  }
  expect_s3_class(engine_gibbs(burnin = 0), "bsvm_engine")
})

test_that("flags and file names", {
  for (value in list(NA, 1, "yes", NULL, c(TRUE, FALSE))) {
    expect_refusal(engine_gibbs(mixing = value), "argument", "`mixing`")
    expect_refusal(engine_gibbs(keep_effects = value), "argument", "`keep_effects`")
    expect_refusal(engine_gibbs(resume = value, checkpoint = "a"), "argument", "`resume`")
  }
  for (value in list("", NA_character_, 1, c("a", "b"), TRUE, character())) {
    expect_refusal(engine_gibbs(checkpoint = value), "argument", "`checkpoint`")
  }
  expect_refusal(engine_gibbs(resume = TRUE), "argument", c("`resume", "`checkpoint`"))
})

test_that("what would not fit into memory or an integer is refused before it runs", {
  expect_refusal(gibbs(y ~ x1, d, draws = 2e9, chains = 100), "argument", "at most 1e9")
  many <- transform(d, g = rep(1:30, length.out = nrow(d)))
  expect_refusal(gibbs(y ~ x1 + (1 | g), many, draws = 9e8, chains = 100), "size", "`thin`")
})

test_that("odd but possible: one draw, no burn-in, many chains and threads, few rows", {
  expect_finite(coef(gibbs(y ~ x1, d, draws = 1, burnin = 0)))
  expect_finite(coef(gibbs(y ~ x1, d, draws = 2, burnin = 0, chains = 9)))
  expect_finite(coef(gibbs(y ~ x1, d, draws = 3, thin = 7)))
  two <- d[c(which(d$y == "no")[1], which(d$y == "yes")[1]), ]
  expect_finite(coef(gibbs(y ~ x1, two)))
  expect_finite(coef(gibbs(y ~ 1, d)))
})

test_that("equal seeds give equal draws, and a start is refused", {
  fit <- function() gibbs(y ~ x1, d)
  expect_true(identical(with_seed(3, fit())$posterior, with_seed(3, fit())$posterior))
  expect_refusal(bsvm(y ~ x1, d, engine = "gibbs", control = bsvm_control(start = c(0, 0))),
                 "argument", "`start`")
})

# ---- data that try the numbers ------------------------------------------------------------

test_that("separated classes, duplicated and constant columns, points on the margin", {
  separable <- transform(d, y = factor(x1 > 0, labels = c("no", "yes")))
  expect_finite(coef(gibbs(y ~ x1 + x2, separable)))
  expect_finite(coef(gibbs(y ~ x1 + copy, transform(d, copy = x1))))
  expect_finite(coef(gibbs(y ~ x1 + x3, transform(d, x3 = 7))))
  one_sided <- data.frame(y = rep(c("no", "yes"), c(20, 40)), x = rep(c(-1, 1), c(20, 40)))
  expect_finite(coef(gibbs(factor(y) ~ 0 + x, one_sided)))
})

test_that("columns at 1e150 and 1e-150, offsets and weights far out", {
  wide <- transform(d, x1 = x1 * 1e149, x2 = x2 * 1e-149)
  expect_finite(fitted(gibbs(y ~ x1 + x2, wide)))
  far <- transform(d, o = 1e8 * x1, w = 10^(4 * x3))
  engine <- engine_gibbs(20, 10, chains = 1)
  for (fit in list(quote(bsvm(y ~ x2, far, offset = o, engine = engine)),
                   quote(bsvm(y ~ x2, far, weights = w, engine = engine)))) {
    expect_finite(fitted(suppressWarnings(eval(fit))))
  }
})

test_that("more columns than rows", {
  case <- wide_case(n = 12, p = 60)
  wide <- function(...) {
    with_seed(1, bsvm(case$x[, -1], case$y, engine = engine_gibbs(40, 20, chains = 2), ...))
  }
  fit <- suppressWarnings(wide(prior = prior_ridge(variance = 1)))
  expect_length(coef(fit), 60)
  expect_finite(list(coef(fit), vcov(fit), fitted(fit), confint(fit)))
  # The classes are separated, and the variance's law has hardly any end.
  expect_warned(wide(), "rank")
})

# ---- formulas -----------------------------------------------------------------------------

both <- function(formula, data, class, words = character()) {
  for (engine in list("vb", engine_gibbs(20, 10, chains = 1))) {
    expect_refusal(bsvm(formula, data, engine = engine), class, words)
  }
}

test_that("a random slope of a constant names the slope", {
  both(y ~ x1 + (k | g), transform(g, k = 3), "group", "`k`")
  both(y ~ x1 + (k || g), transform(g, k = 0), "group", "`k`")
})

test_that("as many levels as rows is fitted with a warning, more effects too", {
  lone <- transform(d, id = seq_along(y))
  for (engine in list("vb", engine_gibbs(20, 10, chains = 1))) {
    fit <- expect_warned(bsvm(y ~ x1 + (1 | id), lone, engine = engine), "group")
    expect_finite(fitted(fit))
  }
})

test_that("s() with too few distinct values says how many there are", {
  skip_if_not_installed("mgcv")
  few <- transform(d, v = rep(1:4, 15))
  both(y ~ s(v), few, "predictors", c("s(v)", "4 distinct values", "k"))
  both(y ~ s(v, k = 5), few, "predictors", c("4 distinct", "5"))
  both(y ~ s(k0), transform(d, k0 = 2), "predictors", "does not vary")
  expect_finite(coef(bsvm(y ~ s(v, k = 4), few, engine = "vb")))
})

test_that("smooths and bars that mean nothing", {
  skip_if_not_installed("mgcv")
  both(y ~ s(), d, "formula", "s()")
  both(y ~ s(f), d, "predictors", "`f`")
  both(y ~ s(x1) + s(x1), d, "formula", "s(x1)")
  both(y ~ te(x1, x2), d, "unsupported", "t2()")
  both(y ~ x1 * s(x2), d, "formula")
  both(y ~ (t | g) + (1 | g), g, "formula", "(Intercept)")
  both(y ~ (1 | absent), g, "data", "absent")
})
