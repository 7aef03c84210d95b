# Leave-one-out scores in closed form against fits without each row.

# log E p(y | f) of the row under a fit without it.
score_of <- function(fit, row) {
  rows <- prediction_rows(fit, row, NULL, TRUE, NULL, NULL, globalenv())
  links <- link_points(fit$posterior, fit, rows)
  points <- if (is_residual(fit$likelihood)) residual_points(fit)$values else list()
  each <- vapply(seq_along(fit$posterior$weights), function(k) {
    likelihood <- fit$likelihood
    likelihood$values <- lapply(points, function(value) value[min(k, length(value))])
    p <- function(u) {
      exp(log_density(likelihood, new_response_of(fit, row, NULL), links$mean[, k] + links$sd[, k] * u)) *
        stats::dnorm(u)
    }
    stats::integrate(p, -9, 9, rel.tol = 1e-9, subdivisions = 2000L)$value
  }, 0)
  log(sum(fit$posterior$weights * each))
}

refitted <- function(fit, data) {
  vapply(seq_len(nrow(data)), function(i) {
    score_of(suppressWarnings(update(fit, data = data[-i, ])), data[i, ])
  }, 0)
}

test_that("of a normal likelihood and prior they are exact", {
  fit <- bsvm(mpg ~ wt + hp, mtcars, prior = list(prior_ridge(variance = 9)), standardize = FALSE,
              likelihood = likelihood_gaussian(scale = 2.5), engine = engine_gaussian())
  own <- loo::loo(fit)
  # by the formulas of linear algebra
  x <- cbind(1, mtcars$wt - mean(mtcars$wt), mtcars$hp - mean(mtcars$hp))
  precision <- diag(c(1 / fit$blocks[[1L]]$prior$parameters[["variance"]], 1 / 9, 1 / 9))
  centre <- stats::median(mtcars$mpg)
  exact <- vapply(1:32, function(i) {
    a <- solve(crossprod(x[-i, ]) / 2.5^2 + precision)
    b <- a %*% crossprod(x[-i, ], mtcars$mpg[-i] - centre) / 2.5^2
    stats::dnorm(mtcars$mpg[i], centre + sum(x[i, ] * b), sqrt(2.5^2 + drop(x[i, ] %*% a %*% x[i, ])), TRUE)
  }, 0)
  expect_close(own$pointwise[, "elpd_loo"], exact, 1e-6)
})

test_that("they are near those of refits, numbers inferred", {
  skip_on_cran()
  for (likelihood in list(likelihood_eps_insensitive(), likelihood_laplace(), likelihood_gaussian())) {
    fit <- bsvm(mpg ~ wt + hp, mtcars, likelihood = likelihood, engine = engine_gaussian())
    own <- loo::loo(fit)$pointwise[, "elpd_loo"]
    truth <- refitted(fit, mtcars)
    expect_close(own, truth, 0.06)
    expect_close(sum(own), sum(truth), 0.12)
  }
})

test_that("rows of a weight are so many rows, taken out together", {
  set.seed(3)
  d <- data.frame(x = stats::rnorm(15))
  d$y <- d$x + stats::rnorm(15) > 0
  weight <- rep(c(1, 2, 3), 5)
  fit_to <- function(rows) {
    suppressWarnings(bsvm(y ~ x, d[rows, ], weights = weight[rows], engine = "gaussian",
                          prior = prior_ridge(variance = 2), standardize = FALSE))
  }
  own <- loo::loo(fit_to(1:15), method = "closed")$pointwise[, "elpd_loo"]
  truth <- vapply(1:15, function(i) {
    fit <- fit_to(setdiff(1:15, i))
    link <- posterior_linear(fit, new_design(fit, d[i, ]))
    sign <- if (d$y[i]) 1 else -1
    p <- function(u) core_averaged_probability("hinge_normalized", list(), sign * (link$mean + link$sd * u), rep(0, length(u)))
    log(stats::integrate(function(u) p(u)^weight[i] * stats::dnorm(u), -9, 9)$value)
  }, 0)
  expect_close(own, truth, 0.25)
  expect_close(sum(own), sum(truth), 0.7)
})

test_that("group effects of numbers count as known by their other rows", {
  skip_on_cran()
  skip_if_not_installed("lme4")
  data <- lme4::sleepstudy
  fit <- bsvm(Reaction ~ Days + (1 | Subject), data, likelihood = likelihood_eps_insensitive(),
              engine = engine_gaussian())
  own <- loo::loo(fit)
  set.seed(1)
  drawn <- update(fit, engine = engine_slice(draws = 1000))
  other <- suppressWarnings(loo::loo(log_lik(drawn)))
  expect_close(own$estimates["elpd_loo", 1L], other$estimates["elpd_loo", 1L], 1.5)
  plain <- loo::loo(update(fit, . ~ Days))
  expect_identical(attr(plain, "yhash"), attr(loo::loo(drawn), "yhash"))
  expect_no_warning(compared <- loo::loo_compare(list(groups = own, plain = plain)))
  expect_identical(rownames(compared)[1L], "groups")
  expect_output(print(own), "closed form")
})

test_that("of classes they are those of refits, or draws are taken", {
  skip_on_cran()
  data <- binary_data(60)
  fit <- bsvm(y ~ x1, data, likelihood = likelihood_hinge(normalized = TRUE), engine = engine_gaussian())
  expect_close(sum(loo::loo(fit)$pointwise[, 1L]), sum(refitted(fit, data)), 0.15)
  near <- bsvm(am ~ wt + hp + qsec, mtcars, likelihood = likelihood_hinge(normalized = TRUE),
               engine = engine_gaussian()) |> suppressWarnings()
  expect_message(suppressWarnings(loo::loo(near)), class = "bsvm_message_draws")
  expect_refusal(loo::loo(fit, by = "group", method = "closed"), "unsupported")
})

test_that("scores of a response in another unit, or far from zero, are the same but for the unit", {
  d <- with_seed(1, data.frame(x = rnorm(100)))
  d$y <- with_seed(2, d$x + rnorm(100))
  score <- function(y) {
    d$z <- y
    fit <- suppressMessages(bsvm(z ~ x, d, engine = "gaussian", likelihood = likelihood_gaussian()))
    loo(fit, method = "closed")$estimates["elpd_loo", 1L]
  }
  plain <- score(d$y)
  for (unit in c(1e-8, 1e-3, 1e6)) {
    expect_equal(score(unit * d$y) + 100 * log(unit), plain, tolerance = 1e-5)
  }
  expect_equal(score(d$y + 1e6), plain, tolerance = 1e-5)
})
