# likelihood_hinge(gamma, gamma0): engines against sums over grids of the paper's formula, the box
# programme, the hinge with weights, and what is refused.

d <- with_seed(3, {
  x <- rnorm(24)
  data.frame(x = x, y = ifelse(runif(24) < plogis(1.5 * x), 1, -1))
})

# log L of a vector of u, the paper's equation (5).
log_skew <- function(u, gamma, gamma0) {
  c <- sqrt(1 + 2 * gamma0 / gamma)
  -gamma * (c * abs(u) + u) + if (gamma0 > 0) log(gamma0 / c) else 0
}
sum_at <- function(b, gamma, gamma0) sum(log_skew(1 - d$y * d$x * b, gamma, gamma0))

fit_slope <- function(likelihood, engine, ...) {
  bsvm(y ~ 0 + x, d, likelihood = likelihood, engine = engine, prior = prior_ridge(variance = 2),
       standardize = FALSE, ...)
}
# Tails of one slope mix slowly under engine_slice().
draws_of <- function(kind) {
  if (kind == "gibbs") engine_gibbs(draws = 5000, burnin = 500)
  else engine_slice(draws = 2e4, burnin = 500)
}
drawn_fit <- function(...) with_seed(1, unchecked(fit_slope(...)))
numbers <- list(c(gamma = 0.7, gamma0 = 0.3), c(gamma = 2.5, gamma0 = 0.05),
                c(gamma = 2, gamma0 = 0))
of_numbers <- function(at) likelihood_hinge(gamma = at[["gamma"]], gamma0 = at[["gamma0"]])

# ---- the object ---------------------------------------------------------------------------------

test_that("the defaults are the hinge, in every bit", {
  expect_identical(likelihood_hinge(gamma = 1L, gamma0 = 0), likelihood_hinge())
  expect_identical(likelihood_hinge()$name, "hinge")
  expect_identical(likelihood_hinge(normalized = TRUE, gamma = 1),
                   likelihood_hinge(normalized = TRUE))
})

test_that("it says what it is", {
  expect_output(print(of_numbers(numbers[[1L]])), "skewed hinge pseudo-likelihood, gamma = 0.7")
  expect_output(print(likelihood_hinge(gamma = 3)), ": hinge pseudo-likelihood, gamma = 3")
  open <- likelihood_hinge(gamma = prior_gamma(2, 1), gamma0 = 0.1)
  expect_output(print(open), "gamma0 = 0.1, gamma\\s+inferred")
  expect_output(print(prior_gamma(2, 0.5)), "Prior of a positive number: gamma(2, 0.5)",
                fixed = TRUE)
  fit <- fit_slope(open, "gaussian")
  expect_output(print(summary(fit, details = TRUE)), "Inferred parameters:")
  expect_output(print(summary(fit)), "not calibrated")
  priors <- prior_summary(fit)
  expect_identical(priors$prior[priors$name == "gamma"], "gamma(2, 1)")
})

test_that("what can't be is refused in words", {
  expect_refusal(likelihood_hinge(TRUE, gamma = 2), "argument", c("`gamma`", "pseudo-likelihood"))
  expect_refusal(likelihood_hinge(gamma = prior_gamma()), "argument", c("`gamma0`", "gamma0 = 0.1"))
  for (wrong in list(0, -1, NA, "1", c(1, 2), Inf, 1e13, NULL, factor(1))) {
    expect_refusal(likelihood_hinge(gamma = wrong, gamma0 = 1), "argument", "`gamma`")
  }
  for (wrong in list(-1, NA, "1", c(1, 2), Inf, 1e13, NULL)) {
    expect_refusal(likelihood_hinge(gamma0 = wrong), "argument", "`gamma0`")
  }
  expect_refusal(likelihood_hinge(gamma = prior_half_t(), gamma0 = 1), "argument", "prior_gamma()")
  expect_refusal(likelihood_hinge(gamma0 = prior_beta()), "argument", "prior_gamma()")
  expect_refusal(prior_gamma(0), "prior", "`shape`")
  expect_refusal(prior_gamma(1, Inf), "prior", "`rate`")
  open <- likelihood_hinge(gamma = prior_gamma(), gamma0 = 0.1)
  for (engine in c("em", "ecme", "map")) {
    expect_refusal(fit_slope(open, engine), "unsupported", "`gamma` is inferred")
  }
  fit <- drawn_fit(of_numbers(numbers[[1L]]), engine_gibbs(draws = 500, burnin = 10))
  expect_refusal(loo(fit), "unsupported", "does not sum to one")
  expect_refusal(posterior_predict(fit), "unsupported", "not normalised")
})

# ---- given numbers: sums over a grid ------------------------------------------------------------

grid <- seq(-5, 8, length.out = 8001)
on_grid <- function(at) {
  logs <- vapply(grid, sum_at, 0, at[["gamma"]], at[["gamma0"]]) +
    dnorm(grid, 0, sqrt(2), log = TRUE)
  top <- max(logs)
  weight <- exp(logs - top)
  evidence <- top + log(sum(weight) * (grid[2L] - grid[1L]))
  weight <- weight / sum(weight)
  mean <- sum(weight * grid)
  list(mean = mean, sd = sqrt(sum(weight * (grid - mean)^2)), evidence = evidence,
       mode = grid[which.max(logs)], weight = weight)
}

test_that("draws have the posterior's mean and standard deviation", {
  for (at in numbers) {
    truth <- on_grid(at)
    for (kind in c("gibbs", "slice")) {
      fit <- drawn_fit(of_numbers(at), draws_of(kind))
      b <- as.vector(fit$posterior$coefficients)
      expect_close((mean(b) - truth$mean) / truth$sd, 0, 0.05, label = paste(kind, "mean"))
      expect_close(sd(b) / truth$sd, 1, 0.04, label = paste(kind, "sd"))
    }
  }
})

# E sum log L over N(m, s^2), and the papers' bound with one latent scale a row.
expected_sum <- function(m, s, at) {
  sum(vapply(seq_len(24), function(i) {
    centre <- 1 - d$y[i] * d$x[i] * m
    spread <- abs(d$x[i]) * s
    cut <- min(max(0, centre - 12 * spread), centre + 12 * spread)
    f <- function(u) log_skew(u, at[["gamma"]], at[["gamma0"]]) * dnorm(u, centre, spread)
    integrate(f, centre - 12 * spread, cut, rel.tol = 1e-11, subdivisions = 1000)$value +
      integrate(f, cut, centre + 12 * spread, rel.tol = 1e-11, subdivisions = 1000)$value
  }, 0))
}
augmented_sum <- function(m, s, at) {
  u <- 1 - d$y * d$x * m
  c <- sqrt(1 + 2 * at[["gamma0"]] / at[["gamma"]])
  constant <- if (at[["gamma0"]] > 0) log(at[["gamma0"]] / c) else 0
  sum(constant - at[["gamma"]] * (u + c * sqrt(u^2 + d$x^2 * s^2)))
}
best_normal <- function(rows, at) {
  bound <- function(q) {
    s <- exp(q[2L])
    rows(q[1L], s, at) - (q[1L]^2 + s^2) / 4 - log(sqrt(2) / s) + 1 / 2
  }
  found <- optim(c(1, -1), bound, control = list(fnscale = -1, reltol = 1e-13, maxit = 2000))
  list(mean = found$par[1L], sd = exp(found$par[2L]), bound = found$value)
}

test_that("variational Bayes is at the top of its bound", {
  for (at in numbers) {
    truth <- best_normal(augmented_sum, at)
    fit <- fit_slope(of_numbers(at), "vb", control = tight())
    expect_close(coef(fit), truth$mean, 1e-5)
    expect_close(sqrt(vcov(fit)), truth$sd, 1e-5)
    expect_close(elbo(fit), truth$bound, 1e-9)
    expect_lt(elbo(fit), on_grid(at)$evidence)
  }
})

test_that("the Gaussian engine is near the posterior, its evidence not below the expected bound", {
  for (at in numbers) {
    truth <- on_grid(at)
    fit <- fit_slope(of_numbers(at), "gaussian", control = tight())
    expect_close((coef(fit) - truth$mean) / truth$sd, 0, 0.05)
    expect_close(sqrt(vcov(fit)) / truth$sd, 1, 0.1)
    expect_gt(elbo(fit), best_normal(expected_sum, at)$bound)
    expect_close(elbo(fit), truth$evidence, 0.05, scale = 1)
  }
})

test_that("two coefficients, one of them without penalty", {
  at <- numbers[[1L]]
  a <- seq(-4, 4, length.out = 161)
  b <- seq(-3, 5, length.out = 161)
  logs <- outer(a, b, Vectorize(function(a, b) {
    sum(log_skew(1 - d$y * (a + d$x * b), at[["gamma"]], at[["gamma0"]])) +
      dnorm(b, 0, sqrt(2), log = TRUE)
  }))
  weight <- exp(logs - max(logs)) / sum(exp(logs - max(logs)))
  mean <- c(sum(weight * a), sum(t(weight) * b))
  sd <- sqrt(c(sum(weight * a^2), sum(t(weight) * b^2)) - mean^2)
  for (kind in c("gibbs", "slice")) {
    fit <- with_seed(1, unchecked(bsvm(y ~ x, d, likelihood = of_numbers(at),
                                       engine = draws_of(kind), standardize = FALSE,
                                       prior = prior_ridge(variance = 2))))
    expect_close((coef(fit) - mean) / sd, c(0, 0), 0.05)
    expect_close(sqrt(diag(vcov(fit))) / sd, c(1, 1), 0.04)
  }
})

# ---- numbers that are inferred ------------------------------------------------------------------

# Sums over b, log gamma and log gamma0, those that are inferred: means and standard deviations.
inferred_truth <- function(gamma, gamma0, shape = 2, rate = 1.5) {
  b <- seq(-4, 7, length.out = 141)
  free <- function(given, from, to, n) {
    if (is.null(given)) exp(seq(from, to, length.out = n)) else given
  }
  cells <- expand.grid(b = b, gamma = free(gamma, -9, 4.5, 120), gamma0 = free(gamma0, -8, 4, 90))
  prior <- function(x, given) if (is.null(given)) dgamma(x, shape, rate, log = TRUE) + log(x) else 0
  u <- 1 - outer(b, d$x * d$y)
  above <- rowSums(pmax(u, 0))[match(cells$b, b)]
  below <- rowSums(pmax(-u, 0))[match(cells$b, b)]
  c <- sqrt(1 + 2 * cells$gamma0 / cells$gamma)
  logs <- 24 * log(cells$gamma0 / c) - cells$gamma * ((c + 1) * above + (c - 1) * below) +
    dnorm(cells$b, 0, sqrt(2), log = TRUE) + prior(cells$gamma, gamma) + prior(cells$gamma0, gamma0)
  weight <- exp(logs - max(logs))
  moments <- function(x) {
    mean <- sum(weight * x) / sum(weight)
    c(mean, sqrt(sum(weight * (x - mean)^2) / sum(weight)))
  }
  lapply(as.list(cells), moments)
}

open_cases <- list(
  list(likelihood = function() likelihood_hinge(gamma = prior_gamma(2, 1.5), gamma0 = 0.1),
       truth = function() inferred_truth(NULL, 0.1), names = "gamma"),
  list(likelihood = function() likelihood_hinge(gamma = 0.8, gamma0 = prior_gamma(2, 1.5)),
       truth = function() inferred_truth(0.8, NULL), names = "gamma0"),
  list(likelihood = function() likelihood_hinge(gamma = prior_gamma(2, 1.5),
                                                gamma0 = prior_gamma(2, 1.5)),
       truth = function() inferred_truth(NULL, NULL), names = c("gamma", "gamma0"))
)

test_that("draws of inferred numbers, and of coefficients with them, are the posterior's", {
  for (case in open_cases) {
    truth <- case$truth()
    for (kind in c("gibbs", "slice")) {
      fit <- drawn_fit(case$likelihood(), draws_of(kind))
      b <- as.vector(fit$posterior$coefficients)
      expect_close((mean(b) - truth$b[1L]) / truth$b[2L], 0, 0.07)
      expect_close(sd(b) / truth$b[2L], 1, 0.07)
      table <- bsvm:::parameter_table(fit)
      expect_identical(rownames(table), case$names)
      for (name in case$names) {
        expect_close((table[name, "Estimate"] - truth[[name]][1L]) / truth[[name]][2L], 0, 0.07)
        expect_close(table[name, "SD"] / truth[[name]][2L], 1, 0.07)
      }
    }
  }
})

test_that("the Gaussian engine has inferred numbers in its grid", {
  for (case in open_cases) {
    truth <- case$truth()
    fit <- fit_slope(case$likelihood(), "gaussian")
    expect_close((coef(fit) - truth$b[1L]) / truth$b[2L], 0, 0.1)
    table <- bsvm:::parameter_table(fit)
    for (name in case$names) {
      expect_close((table[name, "Estimate"] - truth[[name]][1L]) / truth[[name]][2L], 0, 0.1)
      expect_close(table[name, "SD"] / truth[[name]][2L], 1, 0.1)
    }
    point <- bsvm:::parameter_table(fit_slope(case$likelihood(), "vb"))
    for (name in case$names) {
      expect_lt(abs(point[name, "Estimate"] - truth[[name]][1L]) / truth[[name]][2L], 0.8)
    }
  }
})

# With f held where it is, p(log gamma | f) is one formula: n log(gamma0 / c) - gamma sum(c |u| + u)
# and the prior. The paper's ECM update of gamma is right with brackets around all three terms and
# E lambda = |u|/c + 1/(gamma c^2) in it: it ends at the top of p(gamma | f). With 1/E(1/lambda) in
# that place it does not.
test_that("gamma given f has its own posterior, at whose top the paper's update ends", {
  f <- 1.4 * d$x
  u <- 1 - d$y * f
  gamma0 <- 0.1
  log_gamma <- seq(-9, 5, length.out = 40001)
  logs <- vapply(log_gamma, function(t) {
    sum(log_skew(u, exp(t), gamma0)) + dgamma(exp(t), 2, 1.5, log = TRUE) + t
  }, 0)
  weight <- exp(logs - max(logs)) / sum(exp(logs - max(logs)))
  mean <- sum(weight * exp(log_gamma))
  sd <- sqrt(sum(weight * exp(2 * log_gamma)) - mean^2)
  held <- function(engine) {
    likelihood <- likelihood_hinge(gamma = prior_gamma(2, 1.5), gamma0 = gamma0)
    with_seed(1, unchecked(bsvm(y ~ 0 + x, d, offset = f, prior = prior_ridge(variance = 1e-14),
                                standardize = FALSE, engine = engine, likelihood = likelihood)))
  }
  for (kind in c("gibbs", "slice")) {
    table <- bsvm:::parameter_table(held(draws_of(kind)))
    expect_close((table["gamma", "Estimate"] - mean) / sd, 0, 0.05)
    expect_close(table["gamma", "SD"] / sd, 1, 0.04)
  }
  table <- bsvm:::parameter_table(held("gaussian"))
  expect_close((table["gamma", "Estimate"] - mean) / sd, 0, 0.08)
  expect_close(table["gamma", "SD"] / sd, 1, 0.08)

  update <- function(lambda_of) {
    gamma <- 1
    for (k in 1:20000) {
      c <- sqrt(1 + 2 * gamma0 / gamma)
      inverse <- c / abs(u)
      rate <- 1.5 + sum(inverse * u^2 + 2 * u + lambda_of(abs(u) / c, gamma, c)) / 2
      gamma <- (2 + 24 / 2 - 1) / rate
    }
    gamma
  }
  top <- exp(log_gamma[which.max(logs - log_gamma)])
  expect_close(update(function(tau, gamma, c) tau + 1 / (gamma * c^2)), top, 1e-3)
  expect_gt(abs(update(function(tau, gamma, c) tau) / top - 1), 0.3)
})

# ---- point estimates ----------------------------------------------------------------------------

# min a'Ka/2 - y'a within gamma (1 - c) <= y a <= gamma (1 + c), a coordinate at a time; f = K a.
box_programme <- function(kernel, y, gamma, gamma0, passes = 20000) {
  c <- sqrt(1 + 2 * gamma0 / gamma)
  a <- 0 * y
  f <- 0 * y
  for (pass in seq_len(passes)) {
    before <- a
    for (i in seq_along(y)) {
      own <- y[i] * (a[i] + (y[i] - f[i]) / kernel[i, i])
      own <- y[i] * min(max(own, gamma * (1 - c)), gamma * (1 + c))
      f <- f + kernel[, i] * (own - a[i])
      a[i] <- own
    }
    if (max(abs(a - before)) < 1e-14) break
  }
  list(a = a, f = f, objective = sum(gamma * (c * abs(1 - y * f) + 1 - y * f)) + sum(a * f) / 2)
}

test_that("EM is at the optimum of the box programme, with its multipliers", {
  d <- binary_data(40)
  y <- ifelse(d$y == "yes", 1, -1)
  x <- as.matrix(d[c("x1", "x2", "x3")])
  for (at in numbers) {
    truth <- box_programme(1.3 * tcrossprod(x), y, at[["gamma"]], at[["gamma0"]])
    fit <- function(...) {
      bsvm(y ~ 0 + x1 + x2 + x3, d, likelihood = of_numbers(at), engine = engine_em(...),
           prior = prior_ridge(variance = 1.3), standardize = FALSE)
    }
    found <- fit()
    expect_close(found$posterior$objective, truth$objective, 1e-7)
    expect_close(fitted(found), truth$f, 1e-4)
    expect_close(unchecked(fit(accelerate = FALSE))$posterior$objective, truth$objective, 1e-4)
    vectors <- support_vectors(found)
    expect_close(1.3 * crossprod(x[vectors$row, ], y[vectors$row] * vectors$multiplier),
                 coef(found), 1e-4)
    c <- sqrt(1 + 2 * at[["gamma0"]] / at[["gamma"]])
    ends <- at[["gamma"]] * (1 + c(-1, 1) * c)
    expect_true(all(vectors$multiplier >= ends[1L] - 1e-9 & vectors$multiplier <= ends[2L] + 1e-9))
    u <- (1 - y * truth$f)[vectors$row]
    expect_true(all(u[vectors$kind == "inside"] > 0))
    if (at[["gamma0"]] > 0) {
      expect_identical(vectors$row, seq_len(40))
      expect_true(all(u[vectors$kind == "outside"] < 0))
      expect_gt(sum(vectors$kind == "outside"), 3)
    } else {
      expect_identical(levels(vectors$kind), c("margin", "inside"))
    }
    expect_identical(summary(found)$n_support, nrow(vectors))
  }
})

# ---- the same model written differently ---------------------------------------------------------

# Under engine_gaussian() the moments of a row are matched, and of one of weight two each half's.
test_that("gamma without gamma0 is a weight of all rows", {
  d <- grouped_data(60, 6)
  for (formula in list(y ~ x1 + x2, y ~ x1 + (1 | g), y ~ x1 + (1 + x1 | g))) {
    fit <- function(engine, ...) {
      unchecked(bsvm(formula, d, engine = engine, control = tight(), ..., standardize = FALSE,
                     prior = prior_ridge(variance = 1)))
    }
    for (engine in c("vb", "gaussian")) {
      skew <- fit(engine, likelihood = likelihood_hinge(gamma = 2))
      twice <- fit(engine, likelihood = "hinge", weights = rep(2, 60))
      near <- if (engine == "vb") 1e-6 else 0.03
      sd <- sqrt(diag(vcov(twice)))
      expect_close((fixef(skew) - fixef(twice)) / sd, 0 * sd, near)
      expect_close(sqrt(diag(vcov(skew))) / sd, sd / sd, near)
      expect_close(elbo(skew), elbo(twice), if (engine == "vb") 1e-10 else 1e-3)
    }
  }
})

test_that("at the mode gamma is a variance of the coefficients, and LIBSVM's cost goes with both", {
  d <- binary_data(60)
  fit <- function(gamma, variance) {
    bsvm(y ~ 0 + x1 + x2 + x3, d, likelihood = likelihood_hinge(gamma = gamma), engine = "em",
         prior = prior_ridge(variance = variance))
  }
  expect_close(coef(fit(3, 0.5)), coef(fit(1, 1.5)), 1e-6)
  expect_equal(summary(fit(3, 0.5))$variances$cost, 3)
  expect_true(is.na(summary(bsvm(y ~ x1, d, likelihood = of_numbers(numbers[[1L]]), engine = "em",
                                 prior = prior_ridge(variance = 1)))$variances$cost))
})

test_that("group effects integrated out agree with those that are drawn", {
  d <- grouped_data(60, 6)
  for (open in list(0.7, prior_gamma(2, 2))) {
    likelihood <- likelihood_hinge(gamma = open, gamma0 = 0.3)
    prior <- list(prior_ridge(variance = 1), g = prior_ridge(variance = 0.8))
    fit <- function(engine) {
      with_seed(1, unchecked(bsvm(y ~ x1 + (1 | g), d, likelihood = likelihood, engine = engine,
                                  prior = prior)))
    }
    draws <- fit(engine_gibbs(draws = 4000, burnin = 500))
    sd <- sqrt(diag(vcov(draws)))
    for (engine in list(engine_gaussian(integrate = TRUE),
                        engine_slice(draws = 3000, integrate = TRUE),
                        engine_slice(draws = 3000, integrate = FALSE))) {
      other <- fit(engine)
      expect_close((fixef(other) - fixef(draws)) / sd, c(0, 0), 0.12)
      expect_close(sqrt(diag(vcov(other))) / sd, c(1, 1), 0.1)
    }
  }
})

test_that("missing predictors are drawn and averaged as under the hinge with weights", {
  d <- binary_data(60)
  d$x2[c(3, 9, 20, 31, 44)] <- NA
  fit <- function(...) {
    suppressWarnings(unchecked(bsvm(y ~ x1 + x2, d, engine = "vb", missing = missing_normal(),
                                    prior = prior_ridge(variance = 1), control = tight(),
                                    standardize = FALSE, ...)))
  }
  skew <- fit(likelihood = likelihood_hinge(gamma = 2))
  twice <- fit(likelihood = "hinge", weights = rep(2, 60))
  expect_close(coef(skew), coef(twice), 1e-5)
  expect_close(vcov(skew), vcov(twice), 1e-5)
  draws <- function(likelihood, ...) {
    with_seed(1, suppressWarnings(unchecked(
      bsvm(y ~ x1 + x2, d, engine = engine_gibbs(draws = 3000), missing = missing_normal(),
           likelihood = likelihood, prior = prior_ridge(variance = 1), standardize = FALSE, ...)
    )))
  }
  one <- draws(likelihood_hinge(gamma = 2))
  other <- draws("hinge", weights = rep(2, 60))
  expect_close((coef(one) - coef(other)) / sqrt(diag(vcov(other))), c(0, 0, 0), 0.1)

  skewed <- function(engine) {
    with_seed(1, suppressWarnings(unchecked(
      bsvm(y ~ x1 + x2, d, engine = engine, missing = missing_normal(), standardize = FALSE,
           likelihood = of_numbers(numbers[[1L]]), prior = prior_ridge(variance = 1))
    )))
  }
  exact <- skewed(engine_gibbs(draws = 4000))
  for (engine in list(engine_slice(draws = 8000), engine_gaussian())) {
    expect_close((coef(skewed(engine)) - coef(exact)) / sqrt(diag(vcov(exact))), c(0, 0, 0), 0.12)
  }
})

# ---- probabilities ------------------------------------------------------------------------------

test_that("`map = \"likelihood\"` is the row's share of both classes, averaged", {
  for (at in c(numbers, list(c(gamma = 60, gamma0 = 4), c(gamma = 0.1, gamma0 = 10)))) {
    likelihood <- of_numbers(at)
    share <- function(f) {
      1 / (1 + exp(log_skew(1 + f, at[["gamma"]], at[["gamma0"]]) -
                     log_skew(1 - f, at[["gamma"]], at[["gamma0"]])))
    }
    f <- c(-40, -3, -1, -0.3, 0, 0.2, 0.99, 1.5, 7)
    expect_close(bsvm:::expected_response(likelihood, f), share(f), 1e-14)
    average <- function(m, s) {
      ends <- sort(c(m + c(-10, -4, -1, 0, 1, 4, 10) * s, c(-1, -0.05, 0, 0.05, 1)))
      ends <- ends[ends >= m - 10 * s & ends <= m + 10 * s]
      sum(vapply(seq_along(ends)[-1L], function(k) {
        integrate(function(f) share(f) * dnorm(f, m, s), ends[k - 1L], ends[k], rel.tol = 1e-10,
                  subdivisions = 2000)$value
      }, 0))
    }
    for (s in c(1e-9, 0.02, 0.7, 5, 60)) {
      truth <- if (s < 1e-6) share(f) else vapply(f, average, 0, s)
      expect_close(bsvm:::averaged_response(likelihood, f, rep(s, length(f))), truth, 1e-6)
    }
  }
})

test_that("predictions under every map, with draws and without", {
  at <- numbers[[1L]]
  new <- data.frame(x = c(-2, 0.1, 3))
  draws <- drawn_fit(of_numbers(at), draws_of("gibbs"))
  truth <- on_grid(at)
  share <- function(f) {
    1 / (1 + exp(log_skew(1 + f, at[["gamma"]], at[["gamma0"]]) -
                   log_skew(1 - f, at[["gamma"]], at[["gamma0"]])))
  }
  exact <- vapply(new$x, function(x) sum(truth$weight * share(grid * x)), 0)
  second <- function(fit, map) unname(predict(fit, new, type = "prob", map = map)[, 2L])
  expect_close(second(draws, "likelihood"), exact, 0.005)
  expect_close(unname(colMeans(posterior_epred(draws, new))), exact, 0.005)
  fit <- fit_slope(of_numbers(at), "gaussian")
  expect_close(second(fit, "likelihood"), exact, 0.005)
  for (map in c("logistic", "probit")) {
    p <- second(fit, map)
    expect_true(p[1L] < 0.5 && p[3L] > p[2L] && p[2L] > 0.5)
  }
  open <- fit_slope(likelihood_hinge(gamma = prior_gamma(), gamma0 = 0.1), "gaussian")
  expect_refusal(second(open, "likelihood"), "unsupported", c("`gamma` is inferred", "logistic"))
  expect_true(all(second(open, NULL) > 0 & second(open, NULL) < 1))
})

test_that("of groups with effects of a skewed shape, too", {
  d <- grouped_data(60, 6)
  fit <- bsvm(y ~ x1 + (1 | g), d, likelihood = of_numbers(numbers[[1L]]), engine = "gaussian")
  draws <- with_seed(1, unchecked(bsvm(y ~ x1 + (1 | g), d, likelihood = of_numbers(numbers[[1L]]),
                                       engine = engine_slice(draws = 4000))))
  expect_close(predict(fit, d[1:9, ], type = "prob", map = "likelihood"),
               predict(draws, d[1:9, ], type = "prob", map = "likelihood"), 0.02)
})

# A row that is left out moves its own link by about variance times the slope of its loss, which is
# negative beyond the margin.
test_that("left-out links are near those of fits without the row", {
  d <- binary_data(80)
  fit <- bsvm(y ~ x1 + x2 + x3, d, prior = prior_ridge(variance = 1), engine = "gaussian",
              likelihood = of_numbers(numbers[[1L]]))
  refitted <- vapply(seq_len(80), function(i) {
    unname(predict(update(fit, data = d[-i, ]), d[i, ], type = "link"))
  }, 0)
  rows <- bsvm:::prediction_rows(fit, d, NULL, FALSE, NULL, NULL, environment())
  y <- ifelse(d$y == "yes", 1, -1)
  shift <- bsvm:::left_out_shift(bsvm:::own_moments(fit, rows), y, 0, rep(1, 80),
                                 bsvm:::margin_slopes(fit$likelihood))
  true_shift <- y * (fitted(fit) - refitted)
  expect_gt(cor(drop(shift), true_shift), 0.97)
  expect_lt(min(shift), 0)
})
