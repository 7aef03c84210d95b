# A scale that differs by row: engines against sums over grids, what methods say by hand, refusals.

spread_data <- function(n = 40) {
  with_seed(11, {
    x <- stats::rnorm(n, 2)
    data.frame(x = x, y = 3 + 0.5 * x + exp(0.2 + 0.5 * (x - 2)) * stats::rt(n, 5),
               f = factor(rep_len(c("a", "b", "c"), n)), g = factor(rep_len(1:8, n)))
  })
}

quiet <- bsvm_control(verbose = FALSE)

spread_fit <- function(data = spread_data(), likelihood = likelihood_laplace(scale = ~ x), ...) {
  bsvm(y ~ x, data, likelihood = likelihood, control = quiet, ...)
}

# Of the intercept, the scale and gamma for one standard deviation of x, with the slope of the mean
# left out; the intercept's prior is N(0, sd^2) about the median.
exact_spread <- function(data, log_p) {
  unit <- stats::mad(data$y)
  z <- (data$x - mean(data$x)) / stats::sd(data$x)
  b <- stats::median(data$y) + seq(-1.6, 1.6, length.out = 81) * unit
  log_s <- seq(-2.2, 1.2, length.out = 71)
  gamma <- seq(-0.9, 1.9, length.out = 71)
  prior <- outer(log_s + log(stats::dt(exp(log_s), 3)), stats::dnorm(gamma, log = TRUE), "+")
  sums <- vapply(b, function(at) {
    rows <- 0
    for (i in seq_along(z)) {
      s <- unit * exp(outer(log_s, gamma * z[i], "+"))
      rows <- rows + log_p((data$y[i] - at) / s) - log(s)
    }
    rows + prior
  }, prior)
  p <- exp(sums - max(sums))
  p <- p / sum(p)
  moment <- function(margin, at) {
    mass <- apply(p, margin, sum)
    mean <- sum(mass * at)
    c(mean, sqrt(sum(mass * (at - mean)^2)))
  }
  rbind(moment(3L, b), moment(1L, unit * exp(log_s)), moment(2L, gamma / stats::sd(data$x)))
}

found_spread <- function(fit) {
  table <- parameter_table(fit)
  cbind(c(coef(fit), table[, "Estimate"]), c(sqrt(diag(vcov(fit))), table[, "SD"]))
}

test_that("engines have the exact posterior of scale and its coefficient", {
  skip_on_cran()
  data <- spread_data()
  cases <- list(
    list(likelihood_laplace(scale = ~ x), function(r) -log(2) - abs(r)),
    list(likelihood_eps_insensitive(nu = 0.5, scale = ~ x),
         function(r) -log(4) - pmax(abs(r) - 1, 0)),
    list(likelihood_gaussian(scale = ~ x), function(r) stats::dnorm(r, log = TRUE))
  )
  for (case in cases) {
    exact <- exact_spread(data, case[[2L]])
    fit <- function(engine) {
      bsvm(y ~ 1, data, likelihood = case[[1L]], engine = engine, control = quiet)
    }
    close <- function(engine, means, sds) {
      found <- found_spread(fit(engine))
      expect_close(found[, 1L], exact[, 1L], means, scale = exact[, 2L])
      expect_close(found[, 2L], exact[, 2L], sds, scale = exact[, 2L])
    }
    close(engine_gaussian(), 0.1, 0.08)
    set.seed(1)
    close(engine_slice(draws = 2500, burnin = 500), 0.08, 0.08)
    close(engine_gibbs(draws = 2500, burnin = 500), 0.08, 0.08)
  }
})

test_that("without effect it is the fit with one scale", {
  data <- spread_data(60)
  data$y <- with_seed(4, 1 + data$x + stats::rnorm(60))
  one <- spread_fit(data, likelihood_laplace(), engine = engine_gaussian())
  by_row <- spread_fit(data, engine = engine_gaussian())
  expect_close(coef(by_row), coef(one), 0.15, scale = sqrt(diag(vcov(one))))
  expect_lt(by_row$elbo, one$elbo)
})

test_that("draws have the density of each row's own scale", {
  skip_if_not_installed("posterior")
  data <- spread_data()
  set.seed(2)
  fit <- suppressWarnings(spread_fit(data, likelihood_eps_insensitive(scale = ~ x + f),
                                     engine = engine_slice(draws = 60, burnin = 60, chains = 1)))
  draws <- posterior::as_draws_matrix(fit)
  class(draws) <- "matrix"
  new <- data[c(5, 1, 9), ]
  scale_at <- function(rows) {
    shown <- draws[, c("scale: x", "scale: fb", "scale: fc")]
    design <- function(d) cbind(d$x, d$f == "b", d$f == "c")
    away <- t(t(design(rows)) - colMeans(design(data)))
    draws[, "scale"] * exp(shown %*% t(away))
  }
  log_p <- function(rows) {
    s <- scale_at(rows)
    kappa <- 1 / draws[, "nu"] - 1
    f <- draws[, "(Intercept)"] + draws[, "x"] %o% rows$x
    r <- rep(rows$y, each = nrow(s)) - f
    -log(2 * s * (1 + kappa)) - pmax(abs(r) / s - kappa, 0)
  }
  expect_close(unname(log_lik(fit, new)), unname(log_p(new)), 1e-10, scale = 1)
  expect_close(unname(log_lik(fit)), unname(log_p(data)), 1e-10, scale = 1)
  expect_equal(unname(log_lik(fit, draw_ids = 3:5)), unname(log_p(data)[3:5, ]), tolerance = 1e-12)
  tube <- colMeans(scale_at(data) * (1 / draws[, "nu"] - 1))
  r <- data$y - fitted(fit)
  expect_close(unname(residuals(fit, type = "tube")), unname(sign(r) * pmax(abs(r) - tube, 0)),
               1e-10, scale = 1)
  s <- scale_at(data)
  kappa <- 1 / draws[, "nu"] - 1
  nu <- draws[, "nu"]
  variance <- s^2 * ((1 - nu) * kappa^2 / 3 + nu * (kappa^2 + 2 * kappa + 2))
  expect_equal(sigma(fit), sqrt(mean(variance)), tolerance = 1e-10)
  moments <- predict(fit, interval = "prediction")
  f <- posterior_linpred(fit)
  expect_equal(moments$sd, unname(sqrt(colMeans(variance) + apply(f, 2L, stats::var) * 59 / 60)),
               tolerance = 1e-8)
  below <- predict(fit, new, type = "quantile", probs = 0.1)
  r <- below[, 1L][rep(1:3, each = 60)] - as.vector(posterior_linpred(fit, newdata = new))
  h <- list(a = as.vector(1 / scale_at(new)), e1 = as.vector(scale_at(new) * kappa))
  p <- hinges_cdf(r, c(h, list(b = h$a, e2 = h$e1)))
  expect_close(colMeans(matrix(p, 60)), rep(0.1, 3), 1e-6)
  responses <- vapply(1:40, function(k) posterior_predict(fit, seed = k)[, 5L], numeric(60))
  expect_close(stats::sd(responses - f[, 5]), sqrt(mean(variance[, 5])), 0.1)
  expect_identical(dim(posterior_predict(fit, new)), c(60L, 3L))
  expect_identical(posterior_epred(fit, new), posterior_linpred(fit, newdata = new))
})

test_that("results are the same in other units, for moved predictors and other orders of rows", {
  data <- spread_data()
  likelihood <- likelihood_eps_insensitive(scale = ~ x)
  for (engine in list(engine_gaussian(), engine_vb())) {
    near <- if (engine$name == "vb") 1e-5 else 4e-5 # of derivatives by differences
    fit <- spread_fit(data, likelihood, engine = engine)
    other <- spread_fit(transform(data, y = 1000 * y - 7e4, x = 10 * x + 3), likelihood,
                        engine = engine)
    a <- predict(fit, interval = TRUE)
    b <- predict(other, interval = TRUE)
    expect_close((b$fit + 7e4) / 1000, a$fit, near, scale = a$sd)
    expect_equal(b$sd / 1000, a$sd, tolerance = near)
    by <- c(1000, 1, 0.1)
    expect_equal(parameter_table(other)[, "Estimate"], parameter_table(fit)[, "Estimate"] * by,
                 tolerance = near)
    turned <- spread_fit(data[rev(seq_len(nrow(data))), ], likelihood, engine = engine)
    expect_close(coef(turned), coef(fit), near, scale = sqrt(diag(vcov(fit))))
  }
})

test_that("a row of weight two is the row twice, and of weight zero predicted only", {
  data <- spread_data()
  data$w <- rep_len(c(1, 2, 0, 1), nrow(data))
  weighted <- spread_fit(data, engine = engine_vb(), weights = w)
  written <- spread_fit(data[rep(seq_len(nrow(data)), data$w), ], engine = engine_vb())
  expect_equal(coef(weighted), coef(written), tolerance = 1e-7)
  expect_equal(parameter_table(weighted), parameter_table(written), tolerance = 1e-7)
  expect_equal(sigma(weighted), sigma(written), tolerance = 1e-7)
  found <- predict(weighted, interval = TRUE)
  expect_equal(found, predict(weighted, data, interval = TRUE), ignore_attr = TRUE,
               tolerance = 1e-8)
})

test_that("group effects, leave-one-out scores and the check of the approximation go with it", {
  skip_on_cran()
  data <- spread_data(64)
  data$y <- data$y + with_seed(2, stats::rnorm(8))[data$g]
  likelihood <- likelihood_laplace(scale = ~ x)
  fit <- bsvm(y ~ x + (1 | g), data, likelihood = likelihood, engine = engine_gaussian(),
              control = quiet)
  check <- suppressWarnings(check_approximation(fit))
  expect_lt(max(abs(check$table$shift)), 0.15)
  set.seed(1)
  drawn <- update(fit, engine = engine_slice(draws = 500, burnin = 300))
  scores <- suppressWarnings(c(loo(fit)$estimates["elpd_loo", 1L],
                               loo(drawn)$estimates["elpd_loo", 1L]))
  expect_close(scores[1L], scores[2L], 0.6, scale = 1)
  # integrated by a sum over the effect, at what integrated_loglik() holds
  table <- parameter_table(drawn)
  s <- table["scale", 1L] * exp(table["scale: x", 1L] * (data$x - mean(data$x)))
  sd <- 0.9
  f <- fixef(drawn)[[1L]] + fixef(drawn)[[2L]] * data$x
  u <- seq(-9, 9, length.out = 20001) * sd
  log_level <- function(rows) {
    each <- vapply(rows, function(i) -log(2 * s[i]) - abs(data$y[i] - f[i] - u) / s[i], u)
    sums <- rowSums(each) + stats::dnorm(u, 0, sd, log = TRUE)
    max(sums) + log(sum(exp(sums - max(sums))) * (u[2L] - u[1L]))
  }
  truth <- sum(vapply(split(seq_along(f), data$g), log_level, 0))
  expect_equal(integrated_loglik(drawn, sd = sd), truth, tolerance = 1e-6)
})

test_that("many coefficients of a scale have the standard deviations of draws", {
  skip_on_cran()
  data <- with_seed(20, {
    f <- factor(rep_len(1:20, 600))
    x <- stats::rnorm(600)
    data.frame(x = x, f = f, y = x + exp(stats::rnorm(20, 0, 0.5))[f] * stats::rt(600, 4))
  })
  likelihood <- likelihood_laplace(scale = ~ f)
  near <- parameter_table(spread_fit(data, likelihood, engine = engine_gaussian()))
  set.seed(1)
  drawn <- parameter_table(suppressWarnings(
    spread_fit(data, likelihood, engine = engine_slice(draws = 500, burnin = 300))
  ))
  expect_close(near[-1L, "SD"], drawn[-1L, "SD"], 0.12, scale = drawn[-1L, "SD"])
  expect_close(near[-1L, "Estimate"], drawn[-1L, "Estimate"], 0.2, scale = drawn[-1L, "SD"])
})

test_that("rows whose scale goes to zero are warned of, a small unit of a predictor is not", {
  data <- spread_data()
  exact <- transform(data, y = ifelse(f == "a", 1 + x, y))
  expect_warning(withCallingHandlers(
    spread_fit(exact, likelihood_laplace(scale = ~ f), engine = engine_vb()),
    bsvm_warning_convergence = function(c) invokeRestart("muffleWarning")
  ), "14 of 40 rows are fitted exactly", class = "bsvm_warning_exact")
  set.seed(1)
  small <- engine_slice(draws = 1000, burnin = 300)
  expect_no_warning(spread_fit(data, likelihood_laplace(scale = ~ I(x * 1e-100)), engine = small),
                    class = "bsvm_warning_rank")
})

test_that("rows that are only precise, or have no weight, are not fitted exactly", {
  wide <- with_seed(2, {
    z <- seq(-10, 10, length.out = 150)
    data.frame(x = stats::rnorm(150), z = z, e = stats::rnorm(150))
  })
  wide$y <- wide$x + exp(1.2 * wide$z) * wide$e
  wide$g <- factor(rep_len(1:10, 150))
  for (f in list(y ~ x, y ~ x + (1 | g))) {
    expect_no_warning(fit <- bsvm(f, wide, likelihood = likelihood_gaussian(scale = ~ z),
                                  engine = engine_gaussian(), control = quiet))
    expect_close(parameter_table(fit)["scale: z", "Estimate"], 1.2, 0.03)
    expect_close(unname(fixef(fit)[["x"]]), 1, 1e-5)
  }
  data <- transform(spread_data(), w = rep_len(0:1, 40))
  data$x[1L] <- -60
  expect_no_warning(bsvm(y ~ 1, data, weights = w, likelihood = likelihood_laplace(scale = ~ x),
                         engine = engine_vb(), control = quiet))
})

test_that("far from the fit's rows scales are what numbers hold", {
  data <- spread_data()
  fit <- spread_fit(data, engine = engine_gaussian())
  found <- predict(fit, data.frame(x = c(1e3, -1e6, 1e6)), interval = "prediction")
  expect_true(all(is.finite(as.matrix(found))))
})

test_that("the sandwich has scores of each row's own scale", {
  data <- spread_data(80)
  fit <- spread_fit(data, likelihood_quantile(0.7, scale = ~ x), engine = engine_gaussian())
  expect_true(all(is.finite(vcov(fit, method = "sandwich"))))
  scale <- likelihood_at(fit)$values$scale
  expect_length(scale, 80)
  r <- data$y - fitted(fit)
  expect_equal(residual_score(likelihood_at(fit), r), ifelse(r > 0, 0.7, -0.3) / scale)
})

test_that("several quantiles have scales by row, and pictures are drawn", {
  skip_if_not_installed("ggplot2")
  data <- spread_data(60)
  fits <- bsvm(y ~ x, data, likelihood = likelihood_quantile(c(0.2, 0.8), scale = ~ x),
               engine = engine_gaussian(), control = quiet)
  expect_true(all(diff(t(predict(fits, data))) >= 0))
  expect_identical(rownames(parameter_table(fits[[1L]])), c("scale", "scale: x"))
  fit <- spread_fit(data, likelihood_eps_insensitive(scale = ~ x), engine = engine_gaussian())
  built <- ggplot2::ggplot_build(plot(fit, which = "residuals"))
  expect_identical(nrow(built$data[[1L]]), 60L)
  expect_output(print(summary(fit)), "tube up to [0-9.]+ to [0-9.]+ in size")
})

test_that("new rows have the columns of the fit", {
  data <- spread_data()
  fit <- spread_fit(data, likelihood_laplace(scale = ~ poly(x, 2) + f), engine = engine_vb())
  expect_equal(predict(fit, data[4:6, ], interval = TRUE),
               predict(fit, interval = TRUE)[4:6, ], ignore_attr = TRUE, tolerance = 1e-10)
  new <- data[1:3, ]
  new$f[2L] <- NA
  found <- predict(fit, new, interval = TRUE)
  expect_identical(is.na(found$lower), c(FALSE, TRUE, FALSE))
  expect_error(predict(fit, data[1:2, c("x", "y")], interval = TRUE), "lacks the variable `?f",
               class = "bsvm_error_newdata")
  expect_error(predict(fit, data.frame(x = 1, f = "z"), interval = TRUE), "are new",
               class = "bsvm_error_newdata")
})

test_that("a fit keeps what its scale needs, and is updated", {
  data <- spread_data()
  fit <- spread_fit(data, engine = engine_vb())
  expect_setequal(names(fit$data), c("x", "y"))
  expect_identical(rownames(parameter_table(update(fit, subset = x > 1))), c("scale", "scale: x"))
  by_factor <- update(fit, likelihood = likelihood_laplace(scale = ~ f))
  expect_identical(rownames(parameter_table(by_factor)), c("scale", "scale: fb", "scale: fc"))
  expect_true("f" %in% names(by_factor$data))
  expect_identical(rownames(parameter_table(update(by_factor, likelihood = likelihood_laplace()))),
                   "scale")
  expect_lt(utils::object.size(serialize(by_factor$likelihood, NULL)), 5e4)
  left <- spread_fit(replace(data, "f", list(replace(data$f, 3L, NA))),
                     likelihood_laplace(scale = ~ f), engine = engine_vb(), na.action = na.omit)
  expect_identical(nobs(left), nrow(data) - 1L)
})

test_that("prints say what the scale of a fit is, and hints where a scale by row is asked for", {
  data <- spread_data()
  said <- "row at the means of its predictors"
  fit <- spread_fit(data, engine = engine_gaussian())
  expect_output(print(fit), said)
  set.seed(1)
  drawn <- suppressWarnings(summary(update(fit, engine = engine_slice(draws = 50, burnin = 50))))
  expect_output(print(drawn), said)
  expect_output(print(fit$likelihood), "scale inferred, scale by row: ~x")
  for (name in c("scale", "sigma", "dispformula")) {
    given <- c(list(y ~ x, data), stats::setNames(list(~ x), name))
    expect_error(do.call(bsvm, given), "likelihood_eps_insensitive\\(scale = ~ x\\)",
                 class = "bsvm_error_argument")
  }
})

test_that("what can't be a scale is refused", {
  refused <- function(scale, why) {
    expect_error(likelihood_laplace(scale = scale), why, class = "bsvm_error_argument")
  }
  refused(y ~ x, "one side")
  refused(~ (1 | g), "random-effects terms")
  refused(~ s(x), "smooth terms")
  refused(~ ., "must name")
  refused(~ 1, "must have a predictor")
  refused(~ x + offset(z), "have an offset")
  refused("x", "formula such as")
  expect_error(likelihood_eps_insensitive(epsilon = 1, scale = ~ x), "give `nu`",
               class = "bsvm_error_argument")
  data <- spread_data()
  data$one <- 1
  data$part <- replace(data$x, 2L, NA)
  expect_error(spread_fit(data, likelihood_laplace(scale = ~ y)), "depend on the response",
               class = "bsvm_error_formula")
  expect_error(bsvm(log(y + 20) ~ x, data, likelihood = likelihood_laplace(scale = ~ y)),
               "depend on the response", class = "bsvm_error_formula")
  rate <- bsvm(y / w ~ x, transform(data, w = x^2 + 1), engine = engine_vb(), control = quiet,
               likelihood = likelihood_laplace(scale = ~ w))
  expect_identical(rownames(parameter_table(rate)), c("scale", "scale: w"))
  expect_error(bsvm(data$y ~ data$x, likelihood = likelihood_laplace(scale = ~ data$y)),
               "depend on the response", class = "bsvm_error_formula")
  both <- as.matrix(data[c("y", "x")])
  taken <- bsvm(both[, 1] ~ both[, 2], likelihood = likelihood_laplace(scale = ~ both[, 2]),
                engine = engine_vb(), control = quiet)
  expect_identical(rownames(parameter_table(taken)), c("scale", "scale: both[, 2]"))
  expect_error(spread_fit(data, likelihood_laplace(scale = ~ one)), "must vary",
               class = "bsvm_error_predictors")
  expect_error(spread_fit(data, likelihood_laplace(scale = ~ nothing)), "Unknown variable",
               class = "bsvm_error_data")
  expect_error(spread_fit(data, likelihood_laplace(scale = ~ part)), "Missing values",
               class = "bsvm_error_missing")
  expect_error(spread_fit(data, likelihood_laplace(scale = ~ part), missing = missing_normal()),
               "`scale`|of the design", class = "bsvm_error_missing")
  expect_error(bsvm(as.matrix(data["x"]), data$y, likelihood = likelihood_laplace(scale = ~ x)),
               "formula and data", class = "bsvm_error_unsupported")
  for (engine in list(engine_map(), engine_em())) {
    expect_error(spread_fit(data, engine = engine), "does not support",
                 class = "bsvm_error_unsupported")
  }
})
