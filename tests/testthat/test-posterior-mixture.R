d <- grouped_data()
made <- hand_mixture(y ~ x1 + t + (1 | g), d)
level <- 0.9

test_that("a quantile of a mixture of normals has its mass below it", {
  with_seed(1, {
    mean <- matrix(rnorm(600, 0, 3), 100)
    sd <- matrix(exp(rnorm(600, 0, 2)), 100)
    weights <- runif(6)
  })
  weights <- weights / sum(weights)
  for (p in c(1e-6, 0.025, 0.5, 0.9, 1 - 1e-6)) {
    x <- bsvm:::mixture_quantile(mean, sd, weights, p)
    expect_close(drop(pnorm((x - mean) / sd) %*% weights), rep(p, 100), 1e-10)
  }
  expect_close(bsvm:::mixture_quantile(matrix(2), matrix(3), 1, 0.1), qnorm(0.1, 2, 3), 1e-12)
  # two spikes far apart, the quantile between them and within one
  spikes <- bsvm:::mixture_quantile(matrix(c(0, 1e3), 1), matrix(1e-3, 1, 2), c(0.4, 0.6),
                                    c(0.2))
  expect_close(spikes, qnorm(0.5, 0, 1e-3), 1e-9)
  expect_identical(bsvm:::mixture_quantile(matrix(NA_real_, 1, 2), matrix(1, 1, 2), c(0.5, 0.5),
                                           0.3), NA_real_)
})

test_that("coefficients: weighted means, law of total variance, quantiles", {
  mean <- columns_of_fits(made, fixef)
  sd <- columns_of_fits(made, function(fit) sqrt(diag(vcov(fit))))
  hand <- hand_moments(mean, sd, made$weights)
  expect_close(fixef(made$fit), hand$mean, 1e-12)
  expect_close(sqrt(diag(vcov(made$fit))), hand$sd, 1e-10)
  deviations <- mean - hand$mean
  whole <- Reduce(`+`, lapply(1:3, function(k) {
    made$weights[k] * (vcov(made$fits[[k]]) + tcrossprod(deviations[, k]))
  }))
  expect_close(vcov(made$fit), whole, 1e-10)
  expect_quantiles(suppressMessages(confint(made$fit, level = level)), mean, sd, made$weights,
                   level)
  expect_close(summary(made$fit)$coefficients[, "SD"], hand$sd, 1e-10)
})

test_that("links of known and new levels", {
  new <- transform(d[1:8, ], g = c(as.character(g[1:4]), rep("new", 4)))
  all <- lapply(made$fits, predict, new, interval = TRUE, allow_new_levels = TRUE)
  mean <- do.call(cbind, lapply(all, `[[`, "fit"))
  sd <- do.call(cbind, lapply(all, `[[`, "sd"))
  hand <- hand_moments(mean, sd, made$weights)
  got <- predict(made$fit, new, interval = TRUE, level = level, allow_new_levels = TRUE)
  expect_close(got$fit, hand$mean, 1e-12)
  expect_close(got$sd, hand$sd, 1e-10)
  expect_quantiles(as.matrix(got[c("lower", "upper")]), mean, sd, made$weights, level)
  holes <- transform(new, x1 = replace(x1, 2, NA))
  expect_identical(is.na(predict(made$fit, holes, interval = TRUE, allow_new_levels = TRUE)$lower),
                   seq_len(8) == 2)
})

test_that("group effects", {
  mean <- columns_of_fits(made, function(fit) as.data.frame(ranef(fit))$condval)
  sd <- columns_of_fits(made, function(fit) as.data.frame(ranef(fit))$condsd)
  hand <- hand_moments(mean, sd, made$weights)
  long <- as.data.frame(ranef(made$fit, level = level))
  expect_close(long$condval, hand$mean, 1e-12)
  expect_close(long$condsd, hand$sd, 1e-10)
  expect_named(long, c("grpvar", "term", "grp", "condval", "condsd", "lower", "upper"))
  expect_quantiles(as.matrix(long[c("lower", "upper")]), mean, sd, made$weights, level)
  tidied <- tidy(made$fit, "ran_vals", conf.int = TRUE, conf.level = level)
  expect_close(tidied$conf.low, long$lower, 1e-12)
})

test_that("two factors, each effect where it belongs", {
  d$h <- rep(c("p", "q", "r"), 40)
  two <- hand_mixture(y ~ x1 + (t || g) + (1 | h), d,
                      others = list(h = prior_ridge(variance = 0.7)))
  mean <- columns_of_fits(two, function(fit) as.data.frame(ranef(fit))$condval)
  sd <- columns_of_fits(two, function(fit) as.data.frame(ranef(fit))$condsd)
  long <- as.data.frame(ranef(two$fit, level = level))
  expect_close(long$condsd, hand_moments(mean, sd, two$weights)$sd, 1e-10)
  expect_quantiles(as.matrix(long[c("lower", "upper")]), mean, sd, two$weights, level)
  links <- predict(two$fit, d, interval = TRUE, level = level)
  parts <- lapply(two$fits, predict, d, interval = TRUE)
  part <- function(name) do.call(cbind, lapply(parts, `[[`, name))
  expect_quantiles(as.matrix(links[c("lower", "upper")]), part("fit"), part("sd"), two$weights,
                   level)
})

test_that("more columns than rows: unseen directions have the mean of the variance", {
  r <- random_case(15, 40, seed = 5)
  wide <- as.data.frame(r$x[, -1])
  wide$y <- r$y
  made <- hand_mixture(y ~ ., wide, name = "")
  mean <- columns_of_fits(made, fixef)
  sd <- columns_of_fits(made, function(fit) sqrt(diag(vcov(fit))))
  expect_close(sqrt(diag(vcov(made$fit))), hand_moments(mean, sd, made$weights)$sd, 1e-9)
  expect_quantiles(suppressMessages(confint(made$fit, level = level)), mean, sd, made$weights,
                   level, 1e-8)
})

test_that("sparse predictors", {
  skip_if_not_installed("Matrix")
  with_seed(4, {
    x <- Matrix::rsparsematrix(80, 60, 0.15)
    y <- rnorm(80) + x[, 1] * 3 > 0
  })
  made <- hand_mixture_matrix(x, y)
  mean <- columns_of_fits(made, fixef)
  sd <- columns_of_fits(made, function(fit) summary(fit)$coefficients[, "SD"])
  expect_close(fixef(made$fit), hand_moments(mean, sd, made$weights)$mean, 1e-12)
  expect_close(summary(made$fit)$coefficients[, "SD"],
               hand_moments(mean, sd, made$weights)$sd, 1e-9)
  expect_quantiles(suppressMessages(confint(made$fit, level = level)), mean, sd, made$weights,
                   level, 1e-8)
})

test_that("a posterior that is a point has no spread, and says so", {
  point <- made$fit
  point$posterior$point <- TRUE
  point$posterior <- bsvm:::without_spread(point$posterior)
  point$engine <- engine_map()
  expect_equal(fixef(point), fixef(made$fit))
  words <- c("engine_map()", "not differentiable", "engine_gaussian()")
  expect_refusal(vcov(point), "unsupported", c("vcov()", words))
  expect_refusal(confint(point), "unsupported", c("confint()", words))
  expect_refusal(predict(point, interval = TRUE), "unsupported", words)
  expect_refusal(ranef(point, sd = TRUE), "unsupported", words)
  expect_refusal(ranef(point, level = 0.9), "unsupported", words)
  expect_refusal(tidy(point, conf.int = TRUE), "unsupported", words)
  expect_refusal(augment(point, d, sd = TRUE), "unsupported", words)
  expect_null(attr(ranef(point)$g, "sd"))
  expect_true(all(is.na(summary(point)$coefficients[, "SD"])))
  expect_true(all(is.na(tidy(point, c("fixed", "ran_vals"))$std.error)))
  expect_output(print(summary(point)), "loss is not differentiable")
  skip_if_not_installed("ggplot2")
  expect_refusal(plot(point), "unsupported", words)
  expect_refusal(plot(point, "groups"), "unsupported", words)
})
