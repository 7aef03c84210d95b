# The exact density, the distribution points are drawn from, and Monte Carlo errors: against
# quadrature, long runs of the Gibbs sampler and repeated samples.

bsvm <- paper_bsvm

skip_on_cran()

skip_if_not_installed("loo")

r <- random_case(50, 2, seed = 3)
d <- data.frame(y = r$y, x = r$x[, 2], w = r$weight, o = r$offset, g = rep(1:6, length.out = 50))
likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))
grouped <- grouped_data()

# ---- the exact density --------------------------------------------------------------------------

for (likelihood in names(likelihoods)) {
  normalised <- likelihood == "normalised"

  test_that(sprintf("the target is log p(y, b, theta), and its integral the evidence: %s",
                    likelihood), {
    model <- list(y = d$y, weight = d$w, normalised = normalised)
    fit <- bsvm(y ~ 1, d, weights = w, offset = o, likelihood = likelihoods[[likelihood]],
                engine = engine_gaussian(), keep_data = TRUE,
                prior = list("(Intercept)" = prior_ridge(2, 1)))
    points <- t(expand.grid(b = seq(-6, 6, 0.04), theta = seq(-3, 5, 0.04)))
    f <- outer(points[1, ], d$o, `+`)
    s2 <- exp(2 * points[2, ])
    plain <- hinge_loglik(model, f) + dnorm(points[1, ], 0, sqrt(s2), log = TRUE) +
      log_inv_gamma(s2, 2, 1) + log(2 * s2)
    own <- pieces(fit)
    expect_close(density_at(own, points), plain, 1e-10)
    evidence <- log(sum(exp(plain)) * 0.04^2)
    draws <- with_seed(1, own$proposal$draw(4000L))
    ratio <- density_at(own, draws) - own$proposal$log_density(draws)
    expect_close(log(mean(exp(ratio))), evidence, 0.03)
    expect_close(attr(draws, "log_density"), own$proposal$log_density(draws), 1e-9)
  })

  test_that(sprintf("corrected moments are those of quadrature: %s", likelihood), {
    model <- c(twin_model(r$x, r$y, list(block_normal(1, 2), block_ridge(2, 2, 1)),
                          weight = r$weight, offset = r$offset), list(normalised = normalised))
    grid <- list(seq(-3, 4, length.out = 121), seq(-2, 5, length.out = 121))
    exact <- exact_coefficients(model, grid, from = -9, to = 12)
    engines <- if (normalised) "gaussian" else c("gaussian", "vb")
    for (engine in engines) {
      fit <- bsvm(y ~ x, d, weights = w, offset = o, standardize = FALSE, engine = engine,
                  keep_data = TRUE, likelihood = likelihoods[[likelihood]],
                  prior = list("(Intercept)" = prior_ridge(variance = 2), prior_ridge(2, 1)))
      check <- checked(fit, 4000)
      expect_lt(check$pareto_k, 0.5)
      expect_exact_moments(corrected(check, with_log_variance), exact, 1:3, 0.08)
      expect_equal(check$table$mean_corrected, unname(corrected(check)$mean))
    }
  })

  test_that(sprintf("and with group effects integrated out: %s", likelihood), {
    twin <- twin_model(r$x[, 1, drop = FALSE], r$y, list(block_normal(1, 2)), weight = r$weight,
                       offset = r$offset, group = d$g, group_blocks = list(block_ridge(1, 2, 1)))
    model <- c(twin, list(normalised = normalised))
    exact <- exact_groups(model, seq(-4, 4, length.out = 81))
    engines <- if (normalised) c("gaussian", "map") else c("gaussian", "map", "vb")
    for (engine in engines) {
      fit <- bsvm(y ~ 1 + (1 | g), d, weights = w, offset = o, engine = engine, keep_data = TRUE,
                  likelihood = likelihoods[[likelihood]],
                  prior = list("(Intercept)" = prior_ridge(variance = 2), g = prior_ridge(2, 1)))
      check <- checked(fit, 4000)
      expect_exact_moments(corrected(check, with_log_variance), exact, c(1, 8), 0.12)
    }
  })
}

test_that("corrected moments are those of a long run of the Gibbs sampler", {
  model <- function(engine) {
    bsvm(y ~ x1 + t + (1 | g), grouped, engine = engine, likelihood = likelihoods$pseudo,
         prior = list(prior_flat(), g = prior_ridge(2, 1)), keep_data = TRUE)
  }
  exact <- with_seed(4, model(engine_gibbs(4000, 500)))
  drawn <- bsvm:::drawn_quantities(exact)
  sd <- apply(drawn, 1, stats::sd)
  for (engine in list(engine_map(), engine_vb(), engine_gaussian())) {
    check <- checked(model(engine), 4000)
    expect_equal(rownames(drawn), rownames(check$table))
    expect_close(check$table$mean_corrected, rowMeans(drawn), 0.1, scale = sd)
    expect_close(check$table$sd_corrected, sd, 0.1, scale = sd)
  }
})

# Where all weights count twice, the density has gained what the rows say at the fitted links.
test_that("points hold coefficients and effects in the core's order", {
  grouped$h <- gl(5, 24)
  formulas <- list(y ~ x1 + (1 | g), y ~ x1 + x2 + (t + x3 | g), y ~ x1 + (1 | g) + (t | h))
  for (formula in formulas) for (likelihood in likelihoods) {
    fit <- bsvm(formula, grouped, engine = engine_gaussian(integrate = FALSE),
                likelihood = likelihood, keep_data = TRUE)
    own <- pieces(fit)
    own$target$model$integrated <- -1L
    part <- fit$posterior$components[[1]]
    point <- cbind(c(part$mean, part$group_mean, part$effects, fit$posterior$theta[, 1]))
    once <- density_at(own, point)
    own$target$problem$weight <- rep(2, nrow(grouped))
    rows <- bsvm:::rows_again(fit, globalenv())
    link <- bsvm:::posterior_linear(bsvm:::component_fit(fit, 1), rows, sd = FALSE)$mean
    expect_close(density_at(own, point) - once, bsvm:::row_loglik(likelihood, rows, link), 1e-10)
  }
})

# ---- the proposal --------------------------------------------------------------------------------

# The mean of the gradient of a log density over its own draws is zero, and that of the product
# of gradient and point minus one.
expect_own_draws <- function(law, h, n = 20000, step = 1e-4) {
  theta <- with_seed(1, law$draw(n))
  expect_equal(dim(theta), c(h, n))
  for (k in seq_len(h)) {
    by <- step * (seq_len(h) == k)
    slope <- (law$log_density(theta + by) - law$log_density(theta - by)) / (2 * step)
    for (term in list(slope, 1 + slope * (theta[k, ] - mean(theta[k, ])))) {
      expect_lt(abs(mean(term)) / (stats::sd(term) / sqrt(n)), 4.5)
    }
  }
}

test_that("proposals are the densities of their draws", {
  grouped$h <- gl(5, 24)
  ridge <- prior_ridge(variance = prior_half_t())
  fits <- list(
    y ~ x1 + t, y ~ x1 + t + (1 | g), y ~ x1 + (t | g), y ~ x1 + (1 | g) + (1 | h),
    y ~ x1 + (1 | g) + (t || h)
  )
  for (formula in fits) {
    fit <- bsvm(formula, grouped, engine = "vb", likelihood = likelihoods$pseudo, prior = ridge,
                keep_data = TRUE)
    own <- pieces(fit)$proposal
    points <- with_seed(1, own$draw(3000))
    expect_own_draws(list(draw = function(n) points, log_density = own$log_density),
                     nrow(points), 3000)
  }
})

# With a Gaussian likelihood the coefficients given theta are known for all theta.
test_that("Gaussians are moved along a variance as a Gaussian likelihood moves them", {
  rows <- crossprod(with_seed(1, matrix(rnorm(12), 4)))
  linear <- c(1, -2, 0.5)
  at <- function(theta) {
    precision <- rows + diag(c(0.1, exp(-2 * theta), exp(-2 * theta)))
    list(mean = solve(precision, linear), precision = precision)
  }
  known <- at(0)
  nodes <- list(theta = matrix(0), means = cbind(known$mean), precisions = list(known$precision),
                own = list(list(row = 1L, at = 2:3)))
  for (theta in c(-6, -1, 2)) {
    found <- bsvm:::moved_node(nodes, 1L, theta)
    expect_close(found$mean, at(theta)$mean, 1e-10)
    expect_close(crossprod(found$root), at(theta)$precision, 1e-10)
  }
})

test_that("each single variance moves the coefficients that have it", {
  grouped$h <- gl(5, 24)
  fit <- bsvm(y ~ x1 + x2 + (1 | g) + (t || h), grouped, engine = "vb", keep_data = TRUE,
              likelihood = likelihoods$pseudo, prior = prior_ridge(variance = prior_half_t()))
  own <- pieces(fit)
  found <- bsvm:::own_variances(own$answer, own$target)
  expect_equal(lapply(found, `[[`, "row"), list(1L, 3L, 4L))
  expect_equal(lapply(found, `[[`, "at"), list(2:3, 3 + c(1, 3, 5, 7, 9), 3 + c(2, 4, 6, 8, 10)))
})

test_that("what the fit says of a quantity is what its summaries say", {
  for (engine in c("vb", "gaussian", "map")) {
    fit <- bsvm(y ~ x1 + (1 | g), grouped, engine = engine, likelihood = likelihoods$pseudo,
                prior = list(prior_flat(), g = prior_ridge(2, 1)), keep_data = TRUE)
    said <- bsvm:::fit_moments(fit)
    expect_equal(said$mean[1:2], unname(fixef(fit)))
    expect_equal(said$sd[1:2], unname(sqrt(diag(vcov(fit)))))
    expect_equal(said$mean[3], bsvm:::effect_spread(fit)$sd)
    if (engine != "vb") next
    hyper <- fit$group_blocks[[1]]$hyper
    roots <- with_seed(1, 1 / sqrt(rgamma(1e5, hyper[["shape"]], hyper[["scale"]])))
    expect_close(c(said$mean[3], said$sd[3]), c(mean(roots), stats::sd(roots)), 0.01)
  }
})

# ---- errors and verdicts -------------------------------------------------------------------------

test_that("Monte Carlo errors are those of repeated samples", {
  correlated <- function(n) as.vector(stats::arima.sim(list(ar = 0.6), n))
  draws <- with_seed(1, lapply(1:200, function(i) {
    rbind(replicate(4, correlated(960)) |> as.vector(), rnorm(3840))
  }))
  found <- lapply(draws, bsvm:::chain_worth)
  means <- vapply(draws, rowMeans, numeric(2))
  sds <- vapply(draws, function(x) apply(x, 1, stats::sd), numeric(2))
  mean_errors <- rowMeans(vapply(found, `[[`, numeric(2), "mean_error"))
  sd_errors <- rowMeans(vapply(found, `[[`, numeric(2), "sd_error"))
  expect_close(mean_errors, apply(means, 1, stats::sd) / rowMeans(sds), 0.15, scale = mean_errors)
  expect_close(sd_errors, apply(log(sds), 1, stats::sd), 0.15, scale = sd_errors)
  expect_lt(max(vapply(found, `[[`, 0, "rhat")), 1.05)
  apart <- rbind(with_seed(1, rnorm(3840)) + rep(c(0, 0, 0, 1), each = 960))
  expect_gt(bsvm:::chain_worth(apart)$rhat, 1.05)
})

test_that("heavy tails are seen, and no standard deviation is given", {
  with_seed(1, {
    square <- rbind(runif(8000)^-1.2, runif(8000)^-0.7, rnorm(8000)^2)
  })
  tail <- bsvm:::row_tails(square, rep(1 / 8000, 8000))
  expect_close(tail, c(1.2, 0.7, 0), 0.25)
  # Whether weights are usable is near its limit here, so that the last bits decide; either way no
  # standard deviation is trusted.
  d <- droplevels(iris[1:100, ])
  heavy <- vapply(1 + c(0, 1e-13, 3e-15), function(factor) {
    d$Sepal.Length <- d$Sepal.Length * factor
    fit <- bsvm(Species ~ ., d, engine = "vb", likelihood = likelihoods$pseudo, keep_data = TRUE,
                prior = prior_ridge(variance = prior_inv_gamma(0.01, 0.01)))
    expect_warned(check <- with_seed(1, check_approximation(fit)), "approximation")
    expect_false(any(check$table$trust %in% TRUE))
    if (check$method != "importance") return(FALSE)
    expect_true(all(is.na(check$table$sd_corrected)))
    expect_true(all(is.na(check$table$trust)))
    grepl("so heavy a tail", paste(bsvm:::check_sentences(check), collapse = " "))
  }, TRUE)
  expect_true(any(heavy))
})

test_that("a row is decided only by a margin of its Monte Carlo errors", {
  verdict <- bsvm:::verdict
  expect_equal(verdict(c(0.03, 0.05, 0.09, 0.13, 0.2), 0.1, 0.02), c(TRUE, TRUE, NA, NA, FALSE))
  expect_equal(verdict(0.09, 0.1, 0.001), TRUE)
  table <- data.frame(shift = c(0, 0, 0.3, 0), sd_ratio = c(1, 0.8, NA, NA), sd = c(1, 1, 1, NA),
                      shift_error = 0.01, ratio_error = 0.01)
  expect_equal(bsvm:::verdicts(table), c(TRUE, FALSE, FALSE, TRUE))
})
