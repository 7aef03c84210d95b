# Gaussian-process terms of every kind of variable, with every likelihood and engine; what must not
# matter; predictions, updates, few points, refusals of odd values.

known <- list(gp = given(1.5))

data_of <- function(n, seed) {
  with_seed(seed, {
    d <- data.frame(x = rnorm(n), z = rnorm(n, 3, 2), g = gl(3, 1, n, c("a", "b", "c")))
    d$m <- matrix(rnorm(3 * n), n, 3)
    d$l <- d$x > 0.3
    d$t <- as.character(d$g)
    d$y <- sin(2 * d$x) + 0.3 * d$z + as.integer(d$g) + rnorm(n, sd = 0.4)
    d$class <- d$y > mean(d$y)
    d
  })
}
d <- data_of(48, 1)
new <- with_seed(2, data_of(9, 3))

fit_of <- function(formula, data = d, engine = "gaussian", prior = known, ...) {
  quietly(bsvm(formula, data, engine = engine, prior = prior, ...))
}
links <- function(fit, newdata = new, ...) {
  bsvm:::posterior_linear(fit, bsvm:::new_design(fit, newdata, ...))
}
expect_same <- function(a, b, tolerance = 1e-6, newdata = new, newdata_b = newdata) {
  expect_close(links(b, newdata_b)$mean, links(a, newdata)$mean, tolerance)
  expect_close(links(b, newdata_b)$sd, links(a, newdata)$sd, tolerance)
}

# ---- variables ----------------------------------------------------------------------------------

test_that("factors, characters and dummies are the same variable", {
  one <- fit_of(class ~ gp(g, kernel = kernel_se(1)))
  expect_same(one, fit_of(class ~ gp(t, kernel = kernel_se(1))))
  d$dummies <- outer(as.integer(d$g), 1:3, `==`) + 0
  new$dummies <- outer(as.integer(new$g), 1:3, `==`) + 0
  expect_equal(length(one$bases[[1]]$columns), 3L)
  two <- fit_of(class ~ gp(dummies, kernel = kernel_se(1)), d)
  expect_same(one, two, newdata = new)
  logical <- fit_of(class ~ gp(l, kernel = kernel_se(1)))
  d$number <- as.numeric(d$l)
  new$number <- as.numeric(new$l)
  expect_same(logical, fit_of(class ~ gp(number, kernel = kernel_se(1)), d), newdata = new)
})

test_that("matrix columns have one scale, separate variables one each", {
  together <- fit_of(class ~ gp(m, kernel = kernel_se(1)))
  d$m1 <- d$m[, 1]
  d$m2 <- d$m[, 2]
  d$m3 <- d$m[, 3]
  sds <- apply(d$m, 2, sd)
  l <- sqrt(mean(sds^2)) / sds
  for (k in 1:3) new[[paste0("m", k)]] <- new$m[, k]
  expect_same(together, fit_of(class ~ gp(m1, m2, m3, kernel = kernel_se(l, ard = TRUE)), d),
              newdata = new)
  scaled <- function(data) within(data, m <- sweep(m, 2, colMeans(d$m)) / sqrt(mean(sds^2)))
  expect_same(together, fit_of(class ~ gp(m[, 2:1], m[, 3], kernel = kernel_se(1),
                                          standardize = FALSE), scaled(d)), newdata_b = scaled(new))
})

test_that("gp(.) is of the other variables", {
  few <- d[c("class", "x", "z")]
  expect_same(fit_of(class ~ gp(., kernel = kernel_se(1)), few),
              fit_of(class ~ gp(x, z, kernel = kernel_se(1)), few))
  few <- d[c("class", "x", "z", "g")]
  both <- list(gp = given(1), g = given(1))
  expect_same(fit_of(class ~ gp(., kernel = kernel_se(1)) + (1 | g), few, prior = both),
              fit_of(class ~ gp(x, z, kernel = kernel_se(1)) + (1 | g), few, prior = both))
})

test_that("scales, centres, order of rows and of variables do not matter", {
  one <- fit_of(class ~ gp(x, z, kernel = kernel_se(c(0.8, 1.5), ard = TRUE)))
  expect_same(one, fit_of(class ~ gp(z, x, kernel = kernel_se(c(1.5, 0.8), ard = TRUE))))
  other <- function(d) within(d, {
    x <- 100 * x - 7
    z <- z / 1000
  })
  expect_same(one, fit_of(class ~ gp(x, z, kernel = kernel_se(c(0.8, 1.5), ard = TRUE)), other(d)),
              newdata_b = other(new))
  expect_same(one, fit_of(class ~ gp(x, z, kernel = kernel_se(c(0.8, 1.5), ard = TRUE)), d[48:1, ]),
              1e-5)
  turned <- fit_of(!class ~ gp(x, z, kernel = kernel_se(c(0.8, 1.5), ard = TRUE)))
  expect_close(links(turned)$mean, -links(one)$mean, 1e-7)
})

test_that("learned kernels do not depend on scales, order of rows or the seed", {
  learned <- function(d, seed = 1) {
    set.seed(seed)
    fit <- fit_of(class ~ gp(x, z), d, prior = NULL)
    fit$bases[[1]]$parts[[1]]$numbers$theta
  }
  one <- learned(d)
  expect_identical(learned(d, 2), one)
  # rounding is blown up where linear systems are solved to 1e-3; a search ends within 5e-3 nats
  expect_close(learned(d[48:1, ]), one, 0.02)
  expect_close(learned(within(d, x <- 1000 * x + 3)), one, 0.02)
})

test_that("constant variables among others, repeated rows and very many columns are no trouble", {
  d$constant <- 4
  new$constant <- 4
  expect_same(fit_of(class ~ gp(x, constant, kernel = kernel_se(1)), d),
              fit_of(class ~ gp(x, kernel = kernel_se(1))), newdata = new)
  expect_refusal(fit_of(class ~ gp(constant), d), "predictors", "constant")
  twice <- fit_of(class ~ gp(x, kernel = kernel_se(1)), rbind(d, d[1:20, ]))
  expect_lte(length(twice$bases[[1]]$columns), 48L)
  wide <- d
  wide$m <- with_seed(5, matrix(rnorm(48 * 1000), 48))
  fit <- fit_of(class ~ gp(m), wide, prior = NULL)
  expect_finite(links(fit, wide))
})

test_that("a weight of two is a row twice, and of zero none", {
  weight <- rep(c(1, 2, 1, 0, 1, 1), 8)
  rows <- rep(1:48, weight)
  for (kernel in list(kernel_se(1), kernel_poly(2, 0.5))) {
    one <- fit_of(class ~ gp(x, z, kernel = kernel), weights = weight)
    # moments of two factors are matched one by one, those of a weight of two together
    expect_same(one, fit_of(class ~ gp(x, z, kernel = kernel), d[rows, ]), 3e-3)
    expect_same(one, fit_of(class ~ gp(x, z, kernel = kernel), d[weight > 0, ],
                            weights = weight[weight > 0]))
    expect_same(one, fit_of(class ~ gp(x, z, kernel = kernel), weights = weight,
                            subset = weight > 0))
  }
})

test_that("two rows are fitted", {
  two <- fit_of(y ~ 0 + gp(x, standardize = FALSE, kernel = kernel_se(1)), d[1:2, ],
                likelihood = likelihood_gaussian(scale = 1))
  k <- 1.5 * exp(-as.matrix(dist(d$x[1:2]))^2 / 2)
  expect_close(links(two, d[1:2, ])$mean, k %*% solve(k + diag(2), d$y[1:2]), 1e-7)
  expect_close(links(two, d[1:2, ])$sd^2, diag(k - k %*% solve(k + diag(2), k)), 1e-7)
  two <- fit_of(class ~ gp(x), d[c(1, which(d$class != d$class[1])[1]), ], prior = NULL)
  expect_finite(links(two))
})

# ---- likelihoods and engines --------------------------------------------------------------------

test_that("terms go with every likelihood", {
  for (likelihood in list(likelihood_gaussian(), likelihood_eps_insensitive(), likelihood_laplace(),
                          likelihood_quantile(0.3))) {
    fit <- fit_of(y ~ gp(x) + z + (1 | g), likelihood = likelihood, prior = NULL)
    expect_finite(links(fit))
    expect_lt(mean((d$y - links(fit, d)$mean)^2), 0.5 * var(d$y))
    expect_identical(fit$termination, "converged")
  }
  for (likelihood in list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))) {
    fit <- fit_of(class ~ gp(x, z), likelihood = likelihood, prior = NULL)
    expect_gt(mean((links(fit, d)$mean > 0) == d$class), 0.7)
  }
})

test_that("terms go with every engine that takes a ridge", {
  for (engine in list("vb", "gaussian", engine_slice(draws = 50, burnin = 20),
                      engine_gibbs(draws = 50, burnin = 20))) {
    fit <- fit_of(class ~ gp(x, kernel = kernel_se(1)), engine = engine, prior = NULL,
                  likelihood = likelihood_hinge())
    expect_finite(links(fit))
  }
  fit <- fit_of(class ~ gp(x, kernel = kernel_se(1)), engine = "em",
                likelihood = likelihood_hinge())
  expect_finite(predict(fit, new, type = "link"))
})

# ---- predictions --------------------------------------------------------------------------------

test_that("far from the data predictions go back to the prior", {
  far <- data.frame(x = c(1e3, -1e5), z = 3)
  for (engine in c("gaussian", "vb")) {
    fit <- fit_of(class ~ 0 + gp(x, kernel = kernel_se(1)), engine = engine,
                  likelihood = likelihood_hinge())
    expect_close(links(fit, far)$mean, c(0, 0), 1e-12)
    expect_close(links(fit, far)$sd, sqrt(c(1.5, 1.5)), 1e-9)
  }
  draws <- fit_of(class ~ 0 + gp(x, kernel = kernel_se(1)), likelihood = likelihood_hinge(),
                  engine = engine_gibbs(draws = 4000))
  expect_close(apply(posterior_linpred(draws, newdata = far), 2, sd), sqrt(c(1.5, 1.5)), 0.05)
  normalised <- fit_of(class ~ 0 + gp(x, kernel = kernel_se(1)),
                       likelihood = likelihood_hinge(normalized = TRUE))
  expect_close(predict(normalised, far, type = "prob")[, 1], c(0.5, 0.5), 1e-6)
})

test_that("rows predicted in blocks, alone and at once are the same", {
  fit <- fit_of(class ~ gp(x, z, points = 7) + gp(g), prior = NULL)
  at_once <- links(fit)
  alone <- lapply(1:9, function(i) links(fit, new[i, ]))
  expect_close(vapply(alone, `[[`, 0, "mean"), at_once$mean, 1e-12)
  expect_close(vapply(alone, `[[`, 0, "sd"), at_once$sd, 1e-12)
  expect_close(links(fit, d)$mean, predict(fit, type = "link"), 1e-9)
})

test_that("missing values of new rows are missing predictions, new levels are refused", {
  fit <- fit_of(class ~ gp(x, g, kernel = kernel_se(1)))
  some <- new
  some$x[c(2, 5)] <- NA
  some$g[7] <- NA
  found <- predict(fit, some, type = "link")
  expect_identical(which(is.na(found)), c(2L, 5L, 7L))
  expect_close(found[-c(2, 5, 7)], predict(fit, new, type = "link")[-c(2, 5, 7)], 1e-12)
  expect_true(all(is.na(predict(fit, some[c(2, 5), ], type = "link"))))
  some <- new
  some$g <- factor("d")
  expect_refusal(predict(fit, some), "newdata", "d")
})

test_that("a fit keeps what it needs: without its data, updated, saved", {
  formula <- class ~ gp(x, z, kernel = kernel_se(1)) + g
  fit <- fit_of(formula)
  expect_same(fit, fit_of(formula, keep_data = FALSE), 1e-12)
  again <- quietly(update(fit, engine = "vb"))
  expect_same(again, fit_of(formula, engine = "vb"), 1e-9)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_same(fit, readRDS(file), 1e-14)
  less <- quietly(update(fit, . ~ . - g))
  expect_same(less, fit_of(class ~ gp(x, z, kernel = kernel_se(1))), 1e-9)
})

# ---- few points ---------------------------------------------------------------------------------

test_that("points are a number, a matrix or a data frame; the bound grows with them", {
  bounds <- vapply(c(2, 4, 8, 16, 48), function(m) {
    elbo(fit_of(y ~ gp(x, z, kernel = kernel_se(1), points = m),
                likelihood = likelihood_gaussian(scale = 0.5)))
  }, 0)
  expect_true(all(diff(bounds) > 0))
  full <- fit_of(y ~ gp(x, z, kernel = kernel_se(1)), likelihood = likelihood_gaussian(scale = 0.5))
  expect_close(bounds[5], elbo(full), 1e-8)
  chosen <- d[c(3, 9, 20, 31), c("x", "z")]
  by_frame <- fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = chosen))
  inputs <- as.matrix(chosen)
  expect_same(by_frame, fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = inputs)), 1e-12)
  expect_equal(length(by_frame$bases[[1]]$columns), 4L)
  every <- as.matrix(d[c("x", "z")])
  expect_same(fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = every)),
              fit_of(class ~ gp(x, z, kernel = kernel_se(1))), 1e-3)
  expect_same(fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = Inf)),
              fit_of(class ~ gp(x, z, kernel = kernel_se(1))), 1e-12)
})

test_that("the bound of few points is Titsias's for a normal likelihood", {
  fit <- fit_of(y ~ 0 + gp(x, z, kernel = kernel_se(1), points = 6),
                likelihood = likelihood_gaussian(scale = 0.5))
  x <- scale(as.matrix(d[c("x", "z")]))
  v <- fit$bases[[1]]$parts[[1]]$points
  se <- function(a, b) exp(-(outer(rowSums(a^2), rowSums(b^2), `+`) - 2 * a %*% t(b)) / 2)
  explained <- 1.5 * se(x, v) %*% solve(se(v, v), se(v, x))
  total <- explained + diag(0.25, 48)
  evidence <- -0.5 * (48 * log(2 * pi) + c(determinant(total)$modulus) +
                        sum(d$y * solve(total, d$y)))
  left <- 1.5 - diag(explained)
  expect_close(elbo(fit), evidence - sum(left) / 0.5, 1e-7)
  expect_close(links(fit, d)$sd^2,
               diag(explained - explained %*% solve(total, explained)) + left, 1e-6)
})

test_that("closed leave-one-out scores are near those of fits without the row", {
  few <- d[1:24, ]
  for (points in list(NULL, 5L)) {
    fit <- fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = points), few,
                  likelihood = likelihood_hinge(normalized = TRUE))
    v <- fit$bases[[1]]$parts[[1]]$points
    centre <- fit$bases[[1]]$inputs
    inputs <- sweep(sweep(v, 2, centre$scale, `*`), 2, centre$center, `+`)
    scores <- vapply(1:24, function(i) {
      # the same inputs, scaled as in the fit
      at <- function(d) within(d, {
        x <- (x - centre$center[1]) / centre$scale[1]
        z <- (z - centre$center[2]) / centre$scale[2]
      })
      without <- if (is.null(points)) {
        fit_of(class ~ gp(x, z, kernel = kernel_se(1), standardize = FALSE), at(few[-i, ]),
               likelihood = likelihood_hinge(normalized = TRUE))
      } else {
        fit_of(class ~ gp(x, z, kernel = kernel_se(1), standardize = FALSE, points = v),
               at(few[-i, ]), likelihood = likelihood_hinge(normalized = TRUE))
      }
      p <- predict(without, at(few[i, ]), type = "prob")[, 2]
      log(if (few$class[i]) p else 1 - p)
    }, 0)
    closed <- loo(fit, method = "closed")$pointwise[, "elpd_loo"]
    expect_lt(max(abs(closed - scores)), 0.15)
    expect_lt(abs(sum(closed - scores)), 0.2)
  }
})

test_that("closed leave-one-out scores hold where each row is most of what is known of it", {
  few <- d[1:24, ]
  few[c("x", "z")] <- scale(few[c("x", "z")])
  for (amplitude in c(1.5, 6)) {
    fit_to <- function(rows) {
      fit_of(class ~ gp(x, z, kernel = kernel_se(0.3), standardize = FALSE), rows,
             prior = list(gp = given(amplitude)), likelihood = likelihood_hinge(normalized = TRUE))
    }
    scores <- vapply(1:24, function(i) {
      p <- predict(fit_to(few[-i, ]), few[i, ], type = "prob")[, 2]
      log(if (few$class[i]) p else 1 - p)
    }, 0)
    own <- loo(fit_to(few), method = "closed")
    # by slopes and curvatures at the matched moments: 0.24 and 3.4 at 1.5, 9.2 and 62 at 6
    expect_lt(max(abs(own$pointwise[, "elpd_loo"] - scores)), 0.08)
    expect_lt(abs(sum(own$pointwise[, "elpd_loo"] - scores)), 0.2)
    expect_lt(max(own$share), 0.8)
  }
})

test_that("draws do not have what points leave over, so that a check against them is refused", {
  few <- fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = 4))
  expect_refusal(check_approximation(few), "unsupported", c("do not explain", "points"))
  few <- fit_of(class ~ gp(x, z, kernel = kernel_se(1), points = 4),
                likelihood = likelihood_hinge(normalized = TRUE))
  expect_refusal(loo(few, method = "draws"), "unsupported", c("do not explain", "closed"))
  expect_refusal(waic(few), "unsupported", c("do not explain", "closed"))
  expect_equal(loo(few), loo(few, method = "closed"))
  smooth <- fit_of(class ~ gp(x, z, kernel = kernel_se(3), points = 12))
  expect_s3_class(quietly(check_approximation(smooth)), "bsvm_check")
})

# ---- refusals -----------------------------------------------------------------------------------

test_that("missing and infinite values of a term's variables are refused", {
  bad <- d
  bad$x[4] <- NA
  expect_refusal(bsvm(class ~ gp(x, z), bad), "missing", c("`x`", "na.omit"))
  expect_error(bsvm(class ~ gp(x, z), bad), "^((?!missing_normal).)*$", perl = TRUE)
  expect_error(bsvm(class ~ x + gp(z), bad), "missing_normal")
  expect_refusal(bsvm(class ~ gp(x, z), bad, missing = missing_normal()), "missing",
                 c("gp(x, z)", "na.omit"))
  expect_refusal(bsvm(class ~ gp(z, by = x), bad, missing = missing_normal()), "missing",
                 c("`x`", "na.omit"))
  fit <- fit_of(class ~ gp(x, kernel = kernel_se(1)), bad, na.action = na.omit)
  expect_same(fit, fit_of(class ~ gp(x, kernel = kernel_se(1)), bad[-4, ]), 1e-12)
  bad$x[4] <- Inf
  expect_refusal(bsvm(class ~ gp(x, z), bad), "predictors", "Inf")
})

test_that("points of every row of very many are refused before memory is asked for", {
  many <- data.frame(x = seq_len(1e5) / 1e5)
  many$class <- rep(c(TRUE, FALSE), 5e4)
  expect_refusal(bsvm(class ~ gp(x, points = Inf), many), "size", c("100000", "4000", "GiB"))
})

test_that("a time limit while a kernel is learned leaves R healthy", {
  skip_on_cran()
  many <- with_seed(7, data.frame(x = rnorm(900), z = rnorm(900)))
  many$class <- sin(3 * many$x) + many$z > 0
  error <- tryCatch({
    setTimeLimit(elapsed = 0.3, transient = TRUE)
    bsvm(class ~ gp(x, z, kernel = kernel_se(ard = TRUE)), many)
    NULL
  }, error = identity, finally = setTimeLimit())
  expect_s3_class(error, "error")
  expect_identical(conditionMessage(error), gettext("reached elapsed time limit", domain = "R"))
  expect_finite(links(fit_of(class ~ gp(x, z))))
})

test_that("few inducing points are moved to means of rows where these leave less over", {
  set.seed(4)
  x <- matrix(rnorm(240), 120)
  factors <- kernel_factors(list(kernel_se()), x)
  theta <- log(0.7)
  chosen <- core_points(factors, x, theta, 8L, 1e-8)$points
  greedy <- x[chosen, ]
  moved <- moved_points(factors, theta, x, greedy)
  left <- function(points) mean(core_features_of(factors, x, points, theta)$left_over)
  expect_equal(dim(moved), dim(greedy))
  expect_lt(left(moved), left(greedy))
  # every row is a point: nothing to gain
  expect_identical(moved_points(factors, theta, x, x), x)
  # two points at one place, the second of which no row is nearest to
  twice <- rbind(greedy, greedy[1L, ] + 1e3)
  expect_true(all(is.finite(moved_points(factors, theta, x, twice))))
  expect_identical(moved_points(factors, theta, x, greedy[1L, , drop = FALSE]),
                   greedy[1L, , drop = FALSE])
  d <- data.frame(y = x[, 1L] > 0, x = x[, 1L])
  expect_equal(nrow(suppressWarnings(bsvm(y ~ gp(x, points = 1), d))$bases[[1L]]$parts[[1L]]$points),
               1L)
})

test_that("a formula is printed as it was written, and dates are told how to be numbers", {
  fit <- quietly(bsvm(Species == "setosa" ~ gp(.), iris))
  for (said in list(capture.output(print(fit)), capture.output(print(summary(fit))))) {
    expect_identical(trimws(said[2L]), "Species == \"setosa\" ~ gp(.)")
  }
  d <- data.frame(day = as.Date("2020-01-01") + 1:60)
  d$y <- sin(seq_len(60) / 8) > 0
  expect_refusal(bsvm(y ~ gp(day), d), "predictors", "gp(as.numeric(day))")
  expect_s3_class(quietly(bsvm(y ~ gp(as.numeric(day)), d)), "bsvm")
})

test_that("a prior of single coefficients is refused for a function", {
  data(crabs, package = "MASS")
  for (prior in list(prior_lasso(nu = 1), prior_spike_slab(0.5), prior_laplace_zero(rho = 0.5))) {
    expect_refusal(bsvm(sex ~ gp(FL), crabs, prior = list(gp = prior)), "prior",
                   c("gp(FL)", "prior_ridge()", "kernel_se(ard = TRUE)"))
  }
})
