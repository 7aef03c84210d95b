# Bad and odd input of the samplers, and of formulas with several terms.

bsvm <- paper_bsvm

d <- binary_data()
g <- grouped_data()

# ---- data that try the numbers ------------------------------------------------------------

kinds <- list(
  gibbs = list(engine = engine_gibbs, likelihood = likelihood_hinge()),
  slice = list(engine = engine_slice, likelihood = likelihood_hinge()),
  integrated = list(engine = function(...) engine_slice(..., integrate = TRUE),
                    likelihood = likelihood_hinge()),
  normalised = list(engine = engine_slice, likelihood = likelihood_hinge(normalized = TRUE))
)

for (name in names(kinds)) {
  engine <- kinds[[name]]$engine
  likelihood <- kinds[[name]]$likelihood
  sampled <- function(formula, data, ..., draws = 20, burnin = 10, chains = 1) {
    with_seed(1, suppressWarnings(bsvm(formula, data, likelihood = likelihood,
                                       control = bsvm_control(verbose = FALSE),
                                       engine = engine(draws, burnin, chains = chains, ...))))
  }

  test_that(paste("what would not fit into memory is refused before it runs:", name), {
    many <- transform(d, g = rep(1:30, length.out = nrow(d)))
    expect_refusal(sampled(y ~ x1 + (1 | g), many, draws = 9e8, chains = 100), "size", "`thin`")
    expect_refusal(sampled(y ~ x1, d, checkpoint = file.path(tempfile(), "x")), "argument",
                   "does not exist")
  })

  test_that(paste("odd but possible: one draw, no burn-in, many chains, few rows, few columns:",
                  name), {
    finite <- function(...) expect_finite(coef(sampled(...)))
    finite(y ~ x1, d, draws = 1, burnin = 0)
    finite(y ~ x1, d, draws = 2, burnin = 0, chains = 9)
    finite(y ~ x1, d, draws = 3, thin = 7)
    finite(y ~ x1, d[c(which(d$y == "no")[1], which(d$y == "yes")[1]), ])
    finite(y ~ 1, d)
    finite(y ~ 0 + (1 | f), d)
    finite(y ~ x1 + copy, transform(d, copy = x1))
    finite(y ~ x1 + x3, transform(d, x3 = 7))
    finite(y ~ x1 + (1 | id), transform(d, id = seq_along(y)))
    # all points on the margin
    finite(factor(y) ~ 0 + x, data.frame(y = rep(c("no", "yes"), c(20, 40)),
                                         x = rep(c(-1, 1), c(20, 40))))
  })

  test_that(paste("separated classes under flat priors: a warning, finite draws:", name), {
    separable <- transform(d, y = factor(x1 > 0, labels = c("no", "yes")))
    for (prior in list(prior_flat(), prior_ridge(0.01))) {
      run <- function() {
        with_seed(1, bsvm(y ~ x1 + x2, separable, prior = prior, likelihood = likelihood,
                          engine = engine(200, 200, chains = 2)))
      }
      fit <- expect_warned(run(), "rank")
      expect_finite(list(fit$posterior$coefficients, coef(fit), vcov(fit), fitted(fit)))
    }
  })

  test_that(paste("columns at 1e150 and 1e-150, offsets and weights far out:", name), {
    wide <- transform(d, x1 = x1 * 1e149, x2 = x2 * 1e-149)
    expect_finite(fitted(sampled(y ~ x1 + x2, wide)))
    far <- transform(d, o = 1e5 * x1, w = 10^(4 * x3))
    few <- engine(20, 10, chains = 1)
    for (fit in list(quote(bsvm(y ~ x2, far, offset = o, engine = few, likelihood = likelihood)),
                     quote(bsvm(y ~ x2, far, weights = w, engine = few,
                                likelihood = likelihood)))) {
      expect_finite(fitted(with_seed(1, suppressWarnings(eval(fit)))))
    }
  })
}

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
