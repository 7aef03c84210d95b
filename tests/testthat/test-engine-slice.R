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
  expect_output(print(engine), paste("3 chains of 10 draws after 0 of burn-in, one kept of 2,",
                                     "no effects integrated out$"))
  expect_output(print(engine_slice()), "^Engine: Slice sampler, 4 chains of 1000 draws$")
  expect_output(print(engine_slice(draws = 1, chains = 1)), "1 chain of 1 draw$")
})

test_that("numbers of draws, chains and the like are whole and in range", {
  for (name in c("draws", "thin", "chains")) {
    for (value in list(0, -1, 1.5, NA, NaN, Inf, "10", c(1, 2), NULL, TRUE, 3e9, list(5))) {
      given <- stats::setNames(list(value), name)
      expect_refusal(do.call(engine_slice, given), "argument", paste0("`", name, "`"))
    }
  }
  for (value in list(-1, 0.5, NA, Inf, "10", c(1, 2), NULL, 3e9)) {
    expect_refusal(engine_slice(burnin = value), "argument", "`burnin`")
  }
  expect_refusal(engine_slice(chains = 1001), "argument", c("`chains`", "at most 1000", "1001"))
  expect_refusal(engine_slice(draws = 1e9), "argument", c("1e9", "1000001000"))
})

test_that("flags and file names", {
  for (value in list(NA, 1, "yes", NULL, c(TRUE, FALSE))) {
    expect_refusal(engine_slice(integrate = value), "argument", "`integrate`")
    expect_refusal(engine_slice(keep_effects = value), "argument", "`keep_effects`")
    expect_refusal(engine_slice(resume = value, checkpoint = "a"), "argument", "`resume`")
  }
  for (value in list("", NA_character_, 1, c("a", "b"), TRUE, character())) {
    expect_refusal(engine_slice(checkpoint = value), "argument", "`checkpoint`")
  }
  expect_refusal(engine_slice(resume = TRUE), "argument", c("`resume", "`checkpoint`"))
})

test_that("arguments of other samplers are refused with what they are here", {
  expect_refusal(engine_slice(iter = 2000), "argument", c("`iter`", "`draws`", "`burnin`"))
  expect_refusal(engine_slice(warmup = 500), "argument", "`burnin`")
  expect_refusal(engine_slice(cores = 4), "argument", "bsvm_control(threads = )")
  expect_refusal(engine_slice(seed = 1), "argument", "set.seed()")
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

test_that("factors with three effects each are refused with what takes them", {
  d <- transform(grouped_data(), h = gl(4, 30))
  for (likelihood in likelihoods) {
    expect_refusal(bsvm(y ~ x1 + (t + x2 | g) + (t + x3 | h), d, engine = engine_slice(10),
                        likelihood = likelihood),
                   "unsupported", c("several grouping factors", exact_or_close(likelihood)))
    three <- slice(y ~ x1 + (t + x2 | g), d, likelihood = likelihood)
    expect_finite(list(coef(three), three$posterior$effects))
  }
})

test_that("what would not fit into memory is refused before it runs", {
  many <- transform(binary_data(), g = rep(1:30, length.out = 60))
  expect_refusal(slice(y ~ x1 + (1 | g), many, draws = 9e8, chains = 100), "size", "`thin`")
  expect_refusal(slice(y ~ x1, many, checkpoint = file.path(tempfile(), "x")), "argument",
                 "does not exist")
})

test_that("a start is for other engines", {
  expect_refusal(bsvm(y ~ x1, binary_data(), engine = "slice",
                      control = bsvm_control(start = c(0, 0))),
                 "argument", c("`start`", "engine_gaussian()"))
})

# ---- data that try the numbers ------------------------------------------------------------

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

test_that("separated classes under flat priors: a warning, finite draws", {
  separable <- transform(binary_data(), y = factor(x1 > 0, labels = c("no", "yes")))
  for (likelihood in likelihoods) {
    for (prior in list(prior_flat(), prior_ridge())) {
      run <- function() {
        with_seed(1, bsvm(y ~ x1 + x2, separable, prior = prior, likelihood = likelihood,
                          engine = engine_slice(200, 200, chains = 2)))
      }
      fit <- expect_warned(run(), "rank")
      expect_finite(list(fit$posterior$coefficients, coef(fit), vcov(fit), fitted(fit)))
    }
  }
})

test_that("odd but possible: one draw, no burn-in, many chains, few rows, few columns", {
  d <- binary_data()
  for (likelihood in likelihoods) {
    finite <- function(...) expect_finite(coef(slice(..., likelihood = likelihood)))
    finite(y ~ x1, d, draws = 1, burnin = 0)
    finite(y ~ x1, d, draws = 2, burnin = 0, chains = 9)
    finite(y ~ x1, d, draws = 3, thin = 7)
    finite(y ~ x1, d[c(which(d$y == "no")[1], which(d$y == "yes")[1]), ])
    finite(y ~ 1, d)
    finite(y ~ 0 + (1 | f), d)
    finite(y ~ x1 + copy, transform(d, copy = x1))
    finite(y ~ x1 + x3, transform(d, x3 = 7))
    finite(y ~ x1 + (1 | id), transform(d, id = seq_along(y)))
  }
})

test_that("columns at 1e150 and 1e-150, offsets and weights far out", {
  d <- binary_data()
  wide <- transform(d, x1 = x1 * 1e149, x2 = x2 * 1e-149)
  far <- transform(d, o = 1e8 * x1, w = 10^(4 * x3))
  engine <- engine_slice(20, 10, chains = 1)
  for (likelihood in likelihoods) {
    expect_finite(fitted(slice(y ~ x1 + x2, wide, likelihood = likelihood)))
    for (call in list(quote(bsvm(y ~ x2, far, offset = o, engine = engine,
                                 likelihood = likelihood)),
                      quote(bsvm(y ~ x2, far, weights = w, engine = engine,
                                 likelihood = likelihood)))) {
      expect_finite(fitted(with_seed(1, suppressWarnings(eval(call)))))
    }
  }
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
                     c("(Intercept)", "x1", "t", "var_g: (Intercept)", "cov_g: (Intercept), t",
                       "var_g: t", "g[g01].(Intercept)", "g[g01].t"))
    means <- colMeans(draws)
    expect_close(fixef(fit), means[1:3], 1e-10)
    expect_close(VarCorr(fit)$g[c(1, 2, 4)], means[4:6], 1e-10)
    expect_close(t(as.matrix(ranef(fit)$g)), means[-(1:6)], 1e-10)
    expect_close(sqrt(diag(vcov(fit))), apply(draws[, 1:3], 2, sd), 1e-10)
    links <- posterior_linpred(fit)
    b <- unclass(draws)
    row <- d[7, ]
    effects <- sprintf("g[%s].%s", row$g, c("(Intercept)", "t"))
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
    said <- suppressWarnings(capture.output(print(summary(fit))))
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

test_that("effects are integrated out only where that is asked for and has a form", {
  both <- lapply(c(TRUE, FALSE), function(integrate) {
    slice(y ~ x1 + (1 | g), d, integrate = integrate)$posterior$coefficients
  })
  expect_false(identical(both[[1]], both[[2]]))
  same <- lapply(c(TRUE, FALSE), function(integrate) {
    slice(y ~ x1 + (1 | g), d, integrate = integrate, likelihood = normalised)$posterior
  })
  expect_identical(same[[1]], same[[2]])
})
