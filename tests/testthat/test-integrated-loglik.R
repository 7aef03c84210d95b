# Log-likelihood with group effects integrated out, against integrate() and sums over grids.

bsvm <- paper_bsvm

skip_on_cran()

d <- grouped_data()
d$w <- rep(c(1, 2, 0.5, 1), 30)
d$o <- rep(c(0, 0.3, -0.2), 40)
y <- ifelse(d$y == "yes", 1, -1)

log_p <- function(margin, normalised) {
  loss <- -2 * pmax(1 - margin, 0)
  if (normalised) loss - log(exp(loss) + exp(-2 * pmax(1 + margin, 0))) else loss
}

# `o`: links without the effects; z n x q; sum over groups of log integral by a fine grid in units
# of the covariance's root, which must hold the kinks closely.
grid_loglik <- function(o, z, covariance, normalised, weight = rep(1, length(o)), nodes = 4001) {
  q <- ncol(z)
  side <- seq(-9, 9, length.out = if (q == 1) 20 * nodes else nodes)
  root <- t(chol(covariance))
  coarse <- side[seq(1, nodes, 8)]
  v <- if (q == 1) cbind(side) else as.matrix(expand.grid(coarse, coarse))
  log_prior <- rowSums(dnorm(v, log = TRUE))
  u <- v %*% t(root)
  step <- if (q == 1) log(side[2] - side[1]) else 2 * log(side[9] - side[1])
  sum(vapply(split(seq_along(o), d$g), function(rows) {
    total <- log_prior
    for (i in rows) {
      total <- total + weight[i] * log_p(y[i] * (o[i] + drop(u %*% z[i, ])), normalised)
    }
    max(total) + log(sum(exp(total - max(total)))) + step
  }, 0))
}

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))
fit_of <- function(formula, likelihood, ...) {
  bsvm(formula, d, likelihood = likelihoods[[likelihood]], engine = engine_gaussian(), ...)
}

for (likelihood in names(likelihoods)) {
  normalised <- likelihood == "normalised"
  test_that(sprintf("one effect, intercept or slope, weights and offset: %s", likelihood), {
    fit <- bsvm(y ~ x1 + (1 | g), d, weights = w, offset = o, engine = engine_gaussian(),
                likelihood = likelihoods[[likelihood]])
    b <- c(0.2, -0.7)
    names(b) <- c("(Intercept)", "x1")
    for (sd in c(0.05, 1, 4)) {
      exact <- grid_loglik(b[1] + b[2] * d$x1 + d$o, matrix(1, 120), matrix(sd^2), normalised, d$w)
      expect_close(integrated_loglik(fit, b, sd = sd), exact, 1e-7)
    }
    slope <- fit_of(y ~ x1 + (0 + t | g), likelihood)
    exact <- grid_loglik(b[1] + b[2] * d$x1, cbind(d$t), matrix(0.49), normalised)
    expect_close(integrated_loglik(slope, b, sd = c("g: t" = 0.7)), exact, 1e-7)
    expect_close(integrated_loglik(slope, b, covariance = matrix(0.49)), exact, 1e-7)
  })

  test_that(sprintf("two effects, correlated and independent: %s", likelihood), {
    fit <- fit_of(y ~ x1 + (t | g), likelihood)
    covariance <- matrix(c(1, 0.3, 0.3, 0.5), 2)
    b <- fixef(fit)
    exact <- grid_loglik(b[1] + b[2] * d$x1, cbind(1, d$t), covariance, normalised)
    expect_close(integrated_loglik(fit, covariance = covariance), exact, 1e-5)
    expect_close(integrated_loglik(fit, covariance = list(g = covariance)), exact, 1e-5)
    apart <- fit_of(y ~ x1 + (t || g), likelihood)
    b <- fixef(apart)
    exact <- grid_loglik(b[1] + b[2] * d$x1, cbind(1, d$t), diag(c(1, 0.25)), normalised)
    expect_close(integrated_loglik(apart, sd = c("g: t" = 0.5, "g: (Intercept)" = 1)), exact, 1e-5)
  })

  test_that(sprintf("without groups the sum over rows: %s", likelihood), {
    fit <- bsvm(y ~ x1, d, weights = w, offset = o, engine = engine_gaussian(),
                likelihood = likelihoods[[likelihood]])
    b <- fixef(fit)
    expect_close(integrated_loglik(fit),
                 sum(d$w * log_p(y * (b[1] + b[2] * d$x1 + d$o), normalised)), 1e-12)
  })
}

test_that("defaults are posterior means, and other coefficients stay", {
  fit <- fit_of(y ~ x1 + t + (1 | g), "pseudo")
  expect_identical(integrated_loglik(fit),
                   integrated_loglik(fit, fixef(fit), covariance = VarCorr(fit)))
  some <- replace(fixef(fit), "t", 0)
  expect_identical(integrated_loglik(fit, c(t = 0)), integrated_loglik(fit, some))
  expect_identical(integrated_loglik(fit, unname(some)), integrated_loglik(fit, some))
  expect_identical(integrated_loglik(fit, sd = c(g = 2)), integrated_loglik(fit, sd = 2))
})

test_that("given sds keep the correlation of the posterior mean", {
  fit <- fit_of(y ~ x1 + (t | g), "pseudo")
  sd <- c("g: (Intercept)" = 1.5, "g: t" = 0.5)
  r <- cov2cor(VarCorr(fit)$g)
  expect_close(integrated_loglik(fit, sd = sd),
               integrated_loglik(fit, covariance = r * outer(sd, sd)), 1e-12)
})

test_that("of two effects the sds may come unnamed, in order", {
  fit <- fit_of(y ~ x1 + (t | g), "pseudo")
  expect_identical(integrated_loglik(fit, sd = c(1.5, 0.5)),
                   integrated_loglik(fit, sd = c("g: t" = 0.5, "g: (Intercept)" = 1.5)))
  shuffled <- VarCorr(fit)$g[2:1, 2:1]
  expect_identical(integrated_loglik(fit, covariance = shuffled), integrated_loglik(fit))
})

test_that("it works for every engine", {
  b <- c("(Intercept)" = 0.1, x1 = 1)
  drawn <- gibbs_fit(y ~ x1 + (1 | g), d)
  exact <- grid_loglik(b[1] + b[2] * d$x1, matrix(1, 120), matrix(1.44), FALSE)
  for (fit in list(bsvm(y ~ x1 + (1 | g), d, engine = "vb"), drawn,
                   bsvm(y ~ x1 + (1 | g), d, engine = "map"))) {
    expect_close(integrated_loglik(fit, b, sd = 1.2), exact, 1e-7)
  }
  kept <- bsvm(y ~ x1 + (1 | g), d, engine = "vb", keep_data = TRUE)
  own <- local({
    d <- NULL
    integrated_loglik(kept, b, sd = 1.2)
  })
  expect_close(own, exact, 1e-7)
})

test_that("of several factors one is integrated, the others held", {
  d$h <- factor(rep(c("p", "q", "r"), 40))
  fit <- bsvm(y ~ x1 + (1 | h) + (1 | g), d, engine = "vb")
  b <- fixef(fit)
  held <- ranef(fit)$h[as.character(d$h), 1]
  exact <- grid_loglik(b[1] + b[2] * d$x1 + held, matrix(1, 120), matrix(2.25), FALSE)
  expect_close(integrated_loglik(fit, sd = 1.5), exact, 1e-7)
})

test_that("what does not fit is refused", {
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  expect_refusal(integrated_loglik(fit, c(z = 1)), "argument", c("`fixef`", "z", "x1"))
  expect_refusal(integrated_loglik(fit, 1), "argument", "`fixef`")
  expect_refusal(integrated_loglik(fit, sd = -1), "argument", c("`sd`", "-1", "g: (Intercept)"))
  expect_refusal(integrated_loglik(fit, sd = c(h = 1)), "argument", c("`sd`", "`h`"))
  expect_refusal(integrated_loglik(fit, sd = 1, covariance = matrix(1)), "argument", "one of them")
  expect_refusal(integrated_loglik(fit, covariance = diag(2)), "argument", "1 x 1")
  expect_refusal(integrated_loglik(fit, covariance = matrix(-1)), "argument", "positive definite")
  expect_refusal(integrated_loglik(fit, theta = 1), "argument", c("`theta`", "`sd`"))
  expect_refusal(integrated_loglik(1), "argument", c("bsvm()", "1"))
  plain <- bsvm(y ~ x1, d, engine = "vb")
  expect_refusal(integrated_loglik(plain, sd = 1), "argument", "group effects")
  many <- bsvm(y ~ (x1 + t | g), d, engine = "vb")
  expect_refusal(integrated_loglik(many), "unsupported", c("`g`", "one or two"))
  gone <- local({
    here <- d
    bsvm(y ~ x1 + (1 | g), here, engine = "vb")
  })
  expect_refusal(integrated_loglik(gone, sd = 1), "data", "keep_data = TRUE")
})

test_that("refusals say which names and how many numbers, and what was found", {
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  refused <- function(..., words) expect_refusal(integrated_loglik(fit, ...), "argument", words)
  refused(c(x1 = 1, x1 = 2), words = c("`fixef`", "`x1` more than once"))
  refused(list(x1 = 1), words = c("`fixef`", "2 numbers", "a list"))
  refused(c(x1 = 1, 2), words = c("`fixef`", "without a name"))
  refused(c(x1 = Inf), words = c("`fixef`", "finite", "Inf for `x1`"))
  refused(c(x1 = 1.7e308), words = c("`fixef`", "linear predictors"))
  refused(sd = c(g = 1, g = 2), words = c("`sd`", "`g: (Intercept)` more than once"))
  refused(sd = c(g = 1, "g: (Intercept)" = 2), words = "more than once")
  for (none in list(numeric(), c(g = 1)[0])) {
    refused(sd = none, words = c("`sd`", "`g: (Intercept)`", "length 0"))
  }
  refused(sd = "a", words = c("one number", "`g: (Intercept)`", "\"a\""))
  refused(sd = c(1, 2), words = c("one number", "`g: (Intercept)`", "length 2"))
  refused(sd = c(foo = 1), words = c("`g: (Intercept)`", "found `foo`"))
  for (wrong in c(0, 1e300, 1e-200, NaN, Inf)) {
    refused(sd = wrong, words = c("`sd` and its square", format(wrong), "for `g: (Intercept)`"))
  }
  refused(covariance = matrix("a"), words = c("1 x 1", "character matrix"))
  refused(covariance = mean, words = c("1 x 1", "a function"))
  refused(covariance = list(matrix(1)), words = "without names")
  refused(covariance = list(foo = matrix(1)), words = "a list named `foo`")
  fit <- bsvm(y ~ x1 + (t | g), d, engine = "vb")
  refused(sd = 1, words = c("2 numbers", "`g: (Intercept)` and `g: t`", "found 1"))
  refused(sd = c("g: t" = 1, 2), words = "without a name")
  refused(covariance = c(1, 0, 0, 1), words = c("symmetric 2 x 2", "length 4"))
  refused(covariance = diag(c(1, NA)), words = c("symmetric 2 x 2", "NA in it"))
  refused(covariance = matrix(c(1, 0.2, 0.3, 1), 2), words = c("symmetric", "0.2 and 0.3"))
})

test_that("of several factors the one that is integrated is named", {
  d$h <- factor(rep(c("p", "q", "r"), 40))
  fit <- bsvm(y ~ x1 + (1 | h) + (1 | g), d, engine = "vb")
  only <- c("Only the effects of `g` are integrated out", "`h` are held")
  expect_refusal(integrated_loglik(fit, sd = c(h = 1)), "argument", c("found `h`", only))
  expect_refusal(integrated_loglik(fit, sd = c(1, 2)), "argument", only)
  expect_refusal(integrated_loglik(fit, covariance = list(h = matrix(1))), "argument",
                 c("named `h`", only))
  expect_identical(integrated_loglik(fit, covariance = VarCorr(fit)), integrated_loglik(fit))
})

test_that("of numbers it is the sum over levels of integrals, scale and tube at their means", {
  skip_if_not_installed("posterior")
  data <- with_seed(3, {
    g <- gl(6, 5)
    x <- stats::rnorm(30)
    data.frame(x, g, y = 50 + 4 * x + 6 * stats::rnorm(6)[g] + 3 * stats::rt(30, 3))
  })
  set.seed(1)
  fit <- bsvm(y ~ x + (1 | g), data, likelihood = likelihood_eps_insensitive(),
              engine = engine_slice(draws = 200, burnin = 100))
  draws <- posterior::as_draws_matrix(fit)
  scale <- mean(draws[, "scale"])
  nu <- mean(draws[, "nu"])
  f <- drop(cbind(1, data$x) %*% c(40, 3))
  level <- function(rows, sd, scale, nu) {
    log_p <- function(u) {
      vapply(u, function(one) {
        sum(log_eps_insensitive(data$y[rows] - f[rows] - one, scale, nu))
      }, 0) + stats::dnorm(u, 0, sd, log = TRUE)
    }
    top <- stats::optimize(log_p, c(-60, 60), maximum = TRUE)
    ends <- top$maximum + c(-40, -10, -3, 0, 3, 10, 40)
    top$objective + log(sum(vapply(1:6, function(k) {
      stats::integrate(function(u) exp(log_p(u) - top$objective), ends[k], ends[k + 1L],
                       rel.tol = 1e-9, subdivisions = 2000L)$value
    }, 0)))
  }
  truth <- sum(vapply(split(seq_len(30), data$g), level, 0, 5, scale, nu))
  expect_close(integrated_loglik(fit, fixef = c(40, 3), sd = 5), truth, 1e-6)
  # and loo() has those of each draw
  terms <- loo_terms(fit, "group", 1L, environment())
  one <- 7L
  f <- drop(cbind(1, data$x) %*% as.numeric(draws[one, c("(Intercept)", "x")]))
  own <- vapply(split(seq_len(30), data$g), level, 0, draws[one, "sd_g__Intercept"][[1L]],
                draws[one, "scale"][[1L]], draws[one, "nu"][[1L]])
  expect_close(terms[one, ], own, 1e-4)
})

test_that("of numbers with two effects a level it is the sum over a grid of both", {
  skip_if_not_installed("posterior")
  data <- with_seed(3, {
    g <- gl(4, 5)
    x <- stats::rnorm(20)
    data.frame(x, g, y = 4 * x + 2 * stats::rnorm(4)[g] + 3 * stats::rt(20, 3))
  })
  set.seed(1)
  fit <- bsvm(y ~ x + (x | g), data, likelihood = likelihood_eps_insensitive(),
              engine = engine_slice(draws = 200, burnin = 100))
  draws <- posterior::as_draws_matrix(fit)
  covariance <- matrix(c(2.3, 0.5, 0.5, 0.6), 2L)
  e <- expand.grid(e0 = seq(-8, 8, by = 0.025), e1 = seq(-8, 8, by = 0.025))
  u <- as.matrix(e) %*% chol(covariance)
  log_prior <- rowSums(stats::dnorm(as.matrix(e), log = TRUE)) + 2 * log(0.025)
  level <- function(rows) {
    log_p <- log_prior
    for (i in rows) {
      r <- data$y[i] - 1 - 3 * data$x[i] - u[, 1L] - u[, 2L] * data$x[i]
      log_p <- log_p + log_eps_insensitive(r, mean(draws[, "scale"]), mean(draws[, "nu"]))
    }
    max(log_p) + log(sum(exp(log_p - max(log_p))))
  }
  truth <- sum(vapply(split(seq_len(20), data$g), level, 0))
  expect_close(integrated_loglik(fit, fixef = c(1, 3), covariance = covariance), truth, 1e-6)
})
