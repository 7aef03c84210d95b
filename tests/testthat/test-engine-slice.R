bsvm <- paper_bsvm

normalised <- likelihood_hinge(normalized = TRUE)
likelihoods <- list(likelihood_hinge(), normalised)

slice <- function(formula, data, ..., draws = 20, burnin = 10, chains = 1, likelihood = "hinge") {
  if (identical(likelihood, "hinge")) likelihood <- likelihood_hinge()
  with_seed(1, suppressWarnings(bsvm(formula, data, control = bsvm_control(verbose = FALSE),
                                     likelihood = likelihood,
                                     engine = engine_slice(draws, burnin, chains = chains, ...))))
}

# ---- the constructor ----------------------------------------------------------------------

test_that("an engine holds what it was asked for", {
  engine <- engine_slice(draws = 10, burnin = 0, thin = 2, chains = 3, integrate = FALSE)
  expect_s3_class(engine, "bsvm_engine")
  expect_equal(unlist(engine$settings[c("draws", "burnin", "thin", "chains", "integrate")]),
               c(draws = 10, burnin = 0, thin = 2, chains = 3, integrate = 0))
  expect_equal(engine$parameters, c(integrate = 0))
  expect_output(print(engine), "3 chains of 10 draws after 0 of burn-in, one kept of 2$")
  expect_output(print(engine_slice()),
                "^Engine: Slice sampler, 4 chains, draws until 400 are effective$")
  expect_output(print(engine_slice(integrate = TRUE)), "effects integrated out$")
  expect_output(print(engine_slice(draws = 1, chains = 1)), "1 chain of 1 draw$")
  expect_refusal(engine_slice(mixing = TRUE), "argument", c("engine_slice()", "`mixing`"))
})

# ---- what it can't, and what can ----------------------------------------------------------

exact_or_close <- function(likelihood) {
  if (likelihood$normalized) "engine_gaussian() comes close" else "engine_gibbs() can"
}

test_that("sparse predictors are refused with what takes them", {
  skip_if_not_installed("Matrix")
  x <- with_seed(3, matrix(rbinom(160 * 12, 1, 0.15), 160, dimnames = list(NULL, letters[1:12])))
  x <- Matrix::Matrix(x, sparse = TRUE)
  for (likelihood in likelihoods) {
    expect_refusal(bsvm(x, rep(0:1, 80), engine = engine_slice(10), likelihood = likelihood),
                   "unsupported",
                   c("sparse predictors", exact_or_close(likelihood), "dense matrix"))
  }
})

test_that("several factors may have three effects each", {
  d <- transform(grouped_data(), h = gl(4, 30))
  for (likelihood in likelihoods) {
    for (formula in list(y ~ x1 + (t + x2 | g) + (t + x3 | h), y ~ x1 + (t + x2 | g))) {
      fit <- slice(formula, d, likelihood = likelihood)
      expect_finite(list(coef(fit), fit$posterior$effects))
    }
  }
})

test_that("too few draws warn with how to have more", {
  d <- binary_data()
  few <- function(draws, chains) {
    with_seed(1, bsvm(y ~ x1, d, engine = engine_slice(draws, 10, chains = chains)))
  }
  w <- expect_warning(few(50, 4), class = "bsvm_warning_convergence")
  expect_match(conditionMessage(w), "Raise the engine's `draws`", fixed = TRUE)
  w <- expect_warning(few(1, 1), class = "bsvm_warning_convergence")
  expect_match(conditionMessage(w), "too few draws")
  expect_silent(with_seed(1, bsvm(y ~ x1, d, engine = engine_slice(2000, 500),
                                  prior = prior_ridge(variance = 1),
                                  control = bsvm_control(verbose = FALSE))))
})

# ---- what comes of the draws --------------------------------------------------------------

d <- grouped_data()

for (likelihood in likelihoods) {
  fit <- slice_fit(y ~ x1 + t + (t | g), d, likelihood = likelihood)

  test_that(paste("draws have the names and are the means of what is said:", likelihood$label), {
    skip_if_not_installed("posterior")
    draws <- posterior::as_draws_matrix(fit)
    expect_equal(dim(draws), c(300, 3 + 3 + 24))
    expect_identical(posterior::variables(draws)[1:8],
                     c("(Intercept)", "x1", "t", "sd_g__Intercept", "sd_g__t",
                       "cor_g__Intercept__t", "r_g[g01,Intercept]", "r_g[g01,t]"))
    means <- colMeans(draws)
    expect_close(fixef(fit), means[1:3], 1e-10)
    expect_close(VarCorr(fit)$g[c(1, 2, 4)],
                 c(mean(draws[, 4]^2), mean(apply(draws[, 4:6], 1, prod)), mean(draws[, 5]^2)), 1e-10)
    expect_close(t(as.matrix(ranef(fit)$g)), means[-(1:6)], 1e-10)
    expect_close(sqrt(diag(vcov(fit))), apply(draws[, 1:3], 2, sd), 1e-10)
    links <- posterior_linpred(fit)
    b <- unclass(draws)
    row <- d[7, ]
    effects <- sprintf("r_g[%s,%s]", row$g, c("Intercept", "t"))
    expect_close(links[, 7], b[, 1] + b[, 2] * row$x1 + (b[, 3] + b[, effects[2]]) * row$t +
                   b[, effects[1]], 1e-10)
    new <- transform(d[1:4, ], x1 = 2 * x1)
    expect_close(predict(fit, new, type = "link"), colMeans(posterior_linpred(fit, newdata = new)),
                 1e-10)
    limits <- predict(fit, new, interval = TRUE)
    expect_close(limits$sd, apply(posterior_linpred(fit, newdata = new), 2, sd), 1e-10)
    unseen <- predict(fit, transform(new, g = "new"), type = "link", allow_new_levels = TRUE)
    expect_finite(unseen)
    expect_refusal(predict(fit, transform(new, g = "new")), "newdata", "new")
  })

  test_that(paste("print() and summary() say what was done:", likelihood$label), {
    expect_output(print(fit), "slice sampler")
    expect_output(print(fit), "2 chains of 150 draws after 50 of burn-in")
    said <- suppressWarnings(capture.output(print(summary(fit, details = TRUE))))
    for (words in c("slice sampler", "Rhat", "Bulk_ESS", "2 chains of 150 draws")) {
      expect_match(said, words, all = FALSE)
    }
    expect_false(any(grepl("Gibbs|approximation", said)))
    expect_equal(any(grepl("pseudo-posterior", said)), !likelihood$normalized)
    expect_false(any(grepl("engine_slice", said)))
  })

  test_that(paste("another engine by update(), and back:", likelihood$label), {
    again <- with_seed(1, unchecked(update(fit, engine = engine_slice(40, 10, chains = 1))))
    expect_equal(again$sampling[c("draws", "burnin", "chains")],
                 list(draws = 40, burnin = 10, chains = 1L), ignore_attr = TRUE)
    near <- update(fit, engine = if (likelihood$normalized) engine_gaussian() else engine_vb())
    back <- with_seed(1, unchecked(update(near, engine = engine_slice(150, 50, chains = 2))))
    expect_identical(back$posterior, fit$posterior)
  })
}

test_that("effects that are not kept have their mean and sd, and no draws", {
  for (integrate in c(TRUE, FALSE)) {
    kept <- slice(y ~ x1 + (1 | g), d, draws = 30, integrate = integrate)
    less <- slice(y ~ x1 + (1 | g), d, draws = 30, integrate = integrate, keep_effects = FALSE)
    expect_length(less$posterior$effects, 0)
    expect_identical(ranef(less), ranef(kept))
    expect_identical(coef(less), coef(kept))
    expect_refusal(predict(less, d, interval = TRUE), "unsupported", "keep_effects = TRUE")
    expect_equal(dim(posterior_linpred(less, newdata = d, re_formula = NA)), c(30, 120))
  }
})

test_that("effects are integrated out where that is asked for and has a form", {
  both <- lapply(c(TRUE, FALSE), function(integrate) {
    slice(y ~ x1 + (1 | g), d, integrate = integrate)$posterior$coefficients
  })
  expect_false(identical(both[[1]], both[[2]]))
  expect_identical(slice(y ~ x1 + (1 | g), d)$posterior$coefficients, both[[2]])
  same <- lapply(c(TRUE, FALSE), function(integrate) {
    slice(y ~ x1 + (1 | g), d, integrate = integrate, likelihood = normalised)$posterior
  })
  expect_identical(same[[1]], same[[2]])
})
