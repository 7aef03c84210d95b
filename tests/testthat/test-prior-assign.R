# The oracles have the papers' priors; test-defaults.R is about what there is without a word.

bsvm <- paper_bsvm

d <- binary_data()
y <- ifelse(d$y == "yes", 1, -1)
x <- model.matrix(~ x1 + x2 + x3 + f, d)
given <- function(prior, formula = y ~ x1 + x2 + x3 + f) {
  bsvm(formula, d, prior = prior, standardize = FALSE, engine = "vb", control = tight())
}
expect_twin <- function(fit, blocks, design = centred(x)) {
  twin <- twin_fit(twin_model(design$x, y, blocks))
  sd <- sqrt(diag(design$back %*% twin$covariance %*% t(design$back)))
  expect_close(fixef(fit), design$back %*% twin$mean, tolerances[["golden"]], scale = sd)
  expect_close(elbo(fit), twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
}

test_that("the default shrinks all but the intercept, together", {
  expect_twin(given(NULL), list(block_normal(1), block_ridge(2:6)))
  expect_twin(given(prior_ridge(1, 2)), list(block_normal(1), block_ridge(2:6, 1, 2)))
})

test_that("columns, terms and the intercept can have priors of their own", {
  expect_twin(given(list(prior_ridge(variance = 2), x2 = prior_ridge(0.01))),
              list(block_normal(1), block_normal(c(2, 4:6), 2), block_ridge(3)))
  expect_twin(given(list(f = prior_ridge(variance = prior_half_t(3, 1)))),
              list(block_normal(1), block_ridge(2:4), block_half_t(5:6)))
  expect_twin(given(list(f = prior_ridge(variance = 1), fc = prior_flat(1e4))),
              list(block_normal(1), block_ridge(2:4), block_normal(5, 1), block_normal(6, 1e4)))
  expect_twin(given(list("(Intercept)" = prior_ridge(variance = 3))),
              list(block_normal(1, 3), block_ridge(2:6)), list(x = x, back = diag(6)))
  expect_twin(given(prior_flat(1e5)), list(block_normal(1), block_normal(2:6, 1e5)))
})

test_that("with bars the fixed effects are flat and the groups inferred, unless said otherwise", {
  g <- grouped_data()
  fit <- bsvm(y ~ x1 + t + (1 | g), g, engine = "vb")
  expect_output(print(summary(fit, details = TRUE)), "flat")
  summary <- prior_summary(fit)
  expect_match(summary$prior[summary$name == "population-level slopes"], "flat")
  expect_match(summary$prior[summary$name == "g: (Intercept)"], "inverse-gamma\\(0.01, 0.01\\)")
  other <- bsvm::bsvm(y ~ x1 + t + (1 + t || g), g, engine = "vb", likelihood = "hinge",
                      prior = list(prior_ridge(0.01), g = prior_ridge(variance = 1),
                                   "g: t" = prior_ridge(variance = prior_half_t(3, 2))))
  expect_false(other$default_prior)
  summary <- prior_summary(other)
  expect_equal(summary$name, c("(Intercept)", "population-level slopes", "g: (Intercept)", "g: t"))
  expect_match(summary$prior[3], "variance 1")
  expect_match(summary$prior[4], "half-t\\(3, 2\\)")
  expect_equal(summary$columns, c(1, 2, 12, 12))
})

test_that("prior_for lists what can be named, and every name works", {
  g <- grouped_data()
  listed <- prior_for(y ~ x1 + f + (1 + t || g), g)
  expect_true(all(c("", "(Intercept)", "x1", "f", "fb", "g", "g: t") %in% listed$name))
  for (name in setdiff(listed$name, "")) {
    prior <- stats::setNames(list(prior_ridge(variance = 0.5)), name)
    fit <- bsvm(y ~ x1 + f + (1 + t || g), g, prior = prior, engine = "vb")
    expect_true(any(grepl("variance 0.5", prior_summary(fit)$prior)), label = name)
  }
})

test_that("penalised columns are scaled, all are centred where there is an intercept", {
  part <- bsvm(y ~ x1 + x2, d, prior = list(x2 = prior_flat()), engine = "vb")
  expect_equal(part$design$scale, c(1, sd(d$x1), 1))
  expect_equal(part$design$center, c(0, mean(d$x1), mean(d$x2)))
  none <- bsvm(y ~ x1 + x2, d, standardize = FALSE, engine = "vb")
  expect_equal(none$design$scale, c(1, 1, 1))
  origin <- bsvm(y ~ 0 + x1, d, engine = "vb")
  expect_equal(origin$design$center, 0)
})

test_that("a flat prior of moderate variance is no sign of collinear columns", {
  expect_silent(given(prior_flat(10)))
})

test_that("names for nothing, twice or idle are refused", {
  expect_refusal(given(list(x9 = prior_ridge(0.01))), "prior", c("`x9`", "`x1`"))
  expect_refusal(given(list(prior_ridge(0.01), prior_flat())), "prior", "more than one entry")
  expect_refusal(given(list(x1 = prior_ridge(0.01), x1 = prior_flat())), "prior", "`x1`")
  g <- grouped_data()
  expect_refusal(bsvm(y ~ g + (1 | g), g, prior = list(g = prior_ridge(0.01))), "prior",
                 c("both a column and the grouping factor", "g: (Intercept)"))
  expect_refusal(given("ridge"), "prior", "\"ridge\"")
  expect_refusal(given(prior_half_t()), "prior", "prior_ridge(variance = )")
  expect_refusal(given(prior_ridge(0.01), y ~ 1), "prior", "slopes")
  all <- prior_ridge(0.01)
  expect_refusal(given(list(f = all, fb = all, fc = all)), "prior",
                 c("`f`", "sets nothing"))
})
