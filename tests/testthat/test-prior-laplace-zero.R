# Variational Bayes with the Laplace-zero prior against a plain twin (helper-reference-selection.R)
# and against draws from q.

bsvm <- paper_bsvm

selection_data <- function(n = 80L, p = 6L, seed = 3) {
  with_seed(seed, {
    x <- matrix(rnorm(n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
    x[, 2] <- x[, 1] + 0.5 * x[, 2]
    x <- scale(x, scale = FALSE) # as the core has them
    attr(x, "scaled:center") <- NULL
    f <- 1.5 * x[, 1] - x[, 3] + rnorm(n)
    list(x = x, y = ifelse(f > 0, 1, -1), group = rep(seq_len(8), length.out = n),
         weight = sample(c(1, 1, 2), n, TRUE), offset = rnorm(n, sd = 0.3))
  })
}

# From one start, as the twin.
fit_selection <- function(data, ..., rho = 0.3, shape = 0.5, engine = engine_vb(starts = 1L),
                          tol = 1e-14, max_passes = 20000L) {
  bsvm(data$x, data$y, prior = prior_laplace_zero(rho, shape, 0.4), engine = engine,
       standardize = FALSE, control = bsvm_control(tol = tol, max_passes = max_passes), ...)
}

twin_of <- function(data, ..., rho = 0.3, shape = 0.5) {
  selection_twin(cbind(1, data$x), data$y, 1L + seq_len(ncol(data$x)), rho, shape, 0.4, ...)
}

expect_same_selection <- function(fit, twin, tolerance = 1e-6) {
  p <- length(fit$design$columns)
  expect_equal(fit$elbo, utils::tail(twin$bounds, 1L), tolerance = 1e-9)
  expect_equal(fit$posterior$inclusion$probability, twin$g[twin$selected], tolerance = tolerance)
  expect_equal(fit$posterior$inclusion$mean, twin$mean[twin$selected], tolerance = tolerance)
  expect_equal(fit$posterior$inclusion$sd, sqrt(diag(twin$covariance))[twin$selected],
               tolerance = tolerance)
  expect_equal(unname(fixef(fit)), effective_mean(twin)[seq_len(p)], tolerance = tolerance)
  expect_equal(unname(vcov(fit)), effective_covariance(twin)[seq_len(p), seq_len(p)],
               tolerance = tolerance)
}

test_that("plain updates are those of Algorithm 3, with b and s2 at their common optimum", {
  data <- selection_data()
  expect_warning(
    fit <- fit_selection(data, engine = engine_vb(accelerate = FALSE), max_passes = 41L),
    class = "bsvm_warning_convergence"
  )
  twin <- twin_of(data)
  bounds <- numeric(40L)
  for (pass in 1:40) {
    twin <- selection_pass(twin, joint = TRUE)
    bounds[pass] <- selection_bound(twin)
  }
  expect_equal(unname(fit$trace[-1L, "bound"]), bounds, tolerance = 1e-12)
  expect_equal(fit$posterior$inclusion$probability, twin$g[-1L], tolerance = 1e-10)
})

test_that("the fixed point is that of Algorithm 3 as printed, however it is reached", {
  data <- selection_data()
  twin <- run_selection_twin(twin_of(data))
  expect_same_selection(fit_selection(data), twin)
  expect_same_selection(fit_selection(data, engine = engine_vb(accelerate = FALSE)), twin)
})

test_that("weights and offsets are the twin's", {
  data <- selection_data()
  twin <- run_selection_twin(twin_of(data, weight = data$weight, offset = data$offset))
  expect_same_selection(fit_selection(data, weights = data$weight, offset = data$offset), twin)
})

test_that("group effects stand beside it as columns that are always in", {
  data <- selection_data(160L)
  frame <- data.frame(y = data$y, data$x, g = factor(data$group))
  prior <- list(prior_laplace_zero(0.3, 0.5, 0.4), g = prior_ridge(variance = 0.7))
  formula <- y ~ x1 + x2 + x3 + x4 + x5 + x6 + (1 | g)
  dummies <- outer(data$group, 1:8, `==`) + 0
  twin <- run_selection_twin(selection_twin(
    cbind(1, data$x, dummies), data$y, 2:7, 0.3, 0.5, 0.4,
    variance = c(rep(1e8, 7L), rep(0.7, 8L))
  ))
  for (accelerate in c(TRUE, FALSE)) {
    fit <- bsvm(formula, frame, prior = prior, standardize = FALSE,
                engine = engine_vb(accelerate, starts = 1L),
                control = bsvm_control(tol = 1e-14, max_passes = 20000L))
    expect_same_selection(fit, twin)
    effects <- as.data.frame(ranef(fit))
    expect_equal(effects$condval, effective_mean(twin)[8:15], tolerance = 1e-6)
    expect_equal(effects$condsd, sqrt(diag(effective_covariance(twin))[8:15]), tolerance = 1e-6)
    link <- predict(fit, frame[1:9, ], type = "link", interval = TRUE)
    rows <- cbind(1, data$x, dummies)[1:9, ]
    expect_equal(link$sd, sqrt(rowSums((rows %*% effective_covariance(twin)) * rows)),
                 tolerance = 1e-6)
  }
})

test_that("the bound is E log p - log q of draws from q", {
  data <- selection_data(30L, 4L)
  twin <- run_selection_twin(twin_of(data), most = 6L, joint = TRUE) # a q that is not optimal
  draws <- with_seed(9, selection_draws(twin, 40000L))
  error <- sd(draws) / sqrt(length(draws))
  expect_lt(error, 0.05)
  expect_lt(abs(mean(draws) - selection_bound(twin)), 4 * error)
})

test_that("rho = 1 is the Laplace prior, and rho near 1 is near it", {
  data <- selection_data()
  laplace <- run_selection_twin(twin_of(data, rho = 1))
  expect_equal(laplace$g, rep(1, 7L))
  expect_same_selection(fit_selection(data, rho = 1), laplace)
  expect_equal(fit_selection(data, rho = 1 - 1e-7)$elbo, utils::tail(laplace$bounds, 1L),
               tolerance = 1e-6)
})

test_that("the bound never falls, and what lowers it is taken back", {
  data <- selection_data(200L, 20L)
  for (rho in c(0.01, 0.2, 0.8)) {
    plain <- fit_selection(data, rho = rho, engine = engine_vb(accelerate = FALSE), tol = 1e-8)
    bounds <- plain$trace[-1L, "bound"]
    expect_true(all(diff(bounds) >= -1e-9 * abs(bounds[1L])))
    quick <- fit_selection(data, rho = rho)
    expect_identical(quick$elbo, max(quick$trace[, "bound"]))
    expect_lt(quick$passes, plain$passes)
  }
})

test_that("several starts: the best is kept, all are reported, and R's seed decides", {
  data <- selection_data(100L, 15L)
  several <- with_seed(5, fit_selection(data, engine = engine_vb(starts = 6L), rho = 0.1))
  again <- with_seed(5, fit_selection(data, engine = engine_vb(starts = 6L), rho = 0.1))
  expect_length(several$start_bounds, 6L)
  expect_identical(several$elbo, max(several$start_bounds))
  expect_identical(several$start_bounds, again$start_bounds)
  expect_output(print(summary(several, details = TRUE)), "Bounds of 6 starts")
  one <- fit_selection(data, engine = engine_vb(starts = 1L), rho = 0.1)
  expect_identical(one$elbo, several$start_bounds[1L])
  set.seed(1)
  fit_selection(data, rho = 0.1)
  first <- runif(1)
  set.seed(1)
  expect_identical(runif(1), first)
})

test_that("more columns than rows: what the twin has, with no p x p matrix", {
  data <- selection_data(25L, 40L)
  twin <- run_selection_twin(twin_of(data, rho = 0.2, shape = 20), move = 1e-12)
  for (accelerate in c(TRUE, FALSE)) {
    fit <- fit_selection(data, engine = engine_vb(accelerate, starts = 1L), rho = 0.2, shape = 20)
    expect_s3_class(fit$posterior$covariance, "bsvm_low_rank")
    expect_same_selection(fit, twin)
    limits <- predict(fit, data$x[1:5, ], type = "link", interval = TRUE)
    rows <- cbind(1, data$x[1:5, ])
    expect_equal(limits$sd, sqrt(rowSums((rows %*% effective_covariance(twin)) * rows)),
                 tolerance = 1e-6)
    expect_equal(unname(summary(fit)$coefficients[, "SD"]),
                 sqrt(diag(effective_covariance(twin))), tolerance = 1e-6)
  }
})

test_that("fifty times more columns than rows: what is kept grows with rows times columns", {
  data <- with_seed(1, {
    x <- matrix(rnorm(50 * 2500), 50)
    list(x = x, y = ifelse(2 * x[, 1] - 2 * x[, 2] + rnorm(50) > 0, 1, -1))
  })
  fit <- fit_selection(data, rho = 0.001, tol = 1e-10)
  expect_identical(fit$termination, "converged")
  expect_lt(as.numeric(object.size(fit$posterior)), 8 * 2501 * 80)
  expect_error(vcov(fit), "2501", class = "bsvm_error_size")
  expect_true(all(confint(fit)[, 2] >= confint(fit)[, 1]))
})

test_that("on spam 31 variables are in, at a bound above that of the plain updates", {
  skip_if_not_installed("kernlab")
  spam <- new.env()
  data("spam", package = "kernlab", envir = spam)
  fit <- bsvm(type ~ ., data = spam$spam, prior = prior_laplace_zero(0.01), engine = engine_vb())
  found <- fit$posterior$inclusion
  inside <- fit$design$columns[found$columns][found$probability > 0.5]
  expect_length(inside, 31L)
  expect_true("email" %in% inside)
  expect_false("cs" %in% inside)
  expect_gt(elbo(fit), -2105.7509) # plain updates from the same start
})

test_that("bad numbers and models it can't take are refused in words", {
  for (rho in list(0, 1.1, -1, NA, "a", c(0.1, 0.2))) {
    expect_error(prior_laplace_zero(rho), "`rho` must be", class = "bsvm_error_prior")
  }
  expect_error(prior_laplace_zero(), "`rho` must be given", class = "bsvm_error_prior")
  expect_error(prior_laplace_zero(0.1, shape = -1), "`shape`", class = "bsvm_error_prior")
  expect_error(prior_laplace_zero(0.1, scale = 0), "`scale`", class = "bsvm_error_prior")
  expect_error(engine_vb(starts = 0), "`starts`", class = "bsvm_error_argument")
  cars <- transform(mtcars, g = factor(gear), h = factor(carb))
  fit_cars <- function(formula, ...) {
    bsvm(formula, cars, prior = list(prior_laplace_zero(0.1), ...), engine = engine_vb())
  }
  expect_error(fit_cars(am ~ mpg + (1 | g) + (1 | h)), "several grouping factors",
               class = "bsvm_error_unsupported")
  expect_error(fit_cars(am ~ mpg + (1 | g), g = prior_laplace_zero(0.2)),
               class = "bsvm_error_prior")
  expect_error(bsvm(am ~ mpg, cars, prior = prior_laplace_zero(0.1), engine = engine_gaussian()),
               "engine_vb()", class = "bsvm_error_unsupported")
  fit <- fit_cars(am ~ mpg + wt)
  expect_error(vcov(fit, method = "linear_response"), "selects", class = "bsvm_error_unsupported")
  expect_error(check_approximation(fit), "exactly zero", class = "bsvm_error_unsupported")
  expect_output(print(summary(fit, details = TRUE)),
                "probabilities of inclusion too close to 0 and 1")
})

test_that("the default engine is exact where draws are cheap", {
  fit <- unchecked(bsvm(am ~ mpg + wt, mtcars, prior = prior_laplace_zero(0.5)))
  expect_identical(fit$engine$name, "gibbs")
})

test_that("starts with fewer coefficients find the optimum that the first start misses", {
  skip_if_not_installed("MASS")
  e <- MASS::birthwt
  e$race <- factor(e$race)
  e$bwt <- NULL
  prior <- prior_laplace_zero(rho = 0.3, shape = 2, scale = 1)
  vb <- function(engine) {
    bsvm(low ~ ., e, likelihood = likelihood_hinge(), prior = prior, engine = engine,
         keep_data = TRUE)
  }
  first <- vb(engine_vb(starts = 1L))
  fit <- vb(engine_vb())
  expect_identical(fit$elbo, max(fit$start_bounds))
  expect_identical(fit$start_bounds[1L], first$elbo)
  expect_gt(fit$elbo, first$elbo + 10)
  # seven of nine, of which the posterior hardly has two
  expect_gt(sum(inclusion(first)$probability > 0.96), 6)
  checked <- with_seed(1, inclusion(fit, check = TRUE))
  expect_false(any(checked$probability > 0.5 & checked$gibbs < 0.5))
  expect_output(print(checked), "differ from those by draws", fixed = TRUE)
  # plain updates are the paper's, from all coefficients
  expect_length(vb(engine_vb(accelerate = FALSE))$start_bounds, 1L)
  # what was drawn at random before is not changed
  set.seed(1)
  vb(engine_vb())
  after <- runif(1)
  set.seed(1)
  expect_identical(runif(1), after)
})
