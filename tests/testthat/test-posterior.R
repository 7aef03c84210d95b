# The verbs all methods use, against a dense posterior, or draws worked out by hand.

bsvm <- paper_bsvm

test_that("linear functions of coefficients and group effects", {
  ref <- grouped_reference()
  codes <- as.integer(ref$data$g)
  codes[c(3, 50)] <- NA
  rows <- function(x, codes, z) list(x = x, groups = list(g = list(codes = codes, z = z)))
  ours <- bsvm:::posterior_linear(ref$fit, rows(ref$x, codes, ref$z))
  dense <- dense_links(ref$x, codes, ref$z, ref$twin)
  expect_close(ours$mean, dense$mean, 1e-8)
  expect_close(ours$sd, dense$sd, 1e-8)
  expect_null(bsvm:::posterior_linear(ref$fit, list(x = ref$x), sd = FALSE)$sd)
  new <- bsvm:::posterior_linear(ref$fit, rows(ref$x[1:2, ], c(0L, 0L), ref$z[1:2, ]))
  population <- dense_links(ref$x[1:2, ], c(NA, NA), ref$z[1:2, ], ref$twin)
  variances <- diag(VarCorr(ref$fit)$g)
  expect_close(new$sd^2, population$sd^2 + drop(ref$z[1:2, ]^2 %*% variances), 1e-8)
})

test_that("linear functions of a rotated block, in rows the fit has not seen", {
  case <- wide_case()
  x <- case$x[, -1]
  fit <- bsvm(x, case$y, standardize = FALSE, engine = "vb", control = tight())
  twin <- twin_fit(case_twin(case))
  new <- with_seed(8, matrix(rnorm(7 * 39), 7))
  p <- predict(fit, new, interval = TRUE)
  c <- cbind(1, new)
  expect_close(p$fit, c %*% twin$mean, 1e-8)
  expect_close(p$sd, sqrt(rowSums((c %*% twin$covariance) * c)), 1e-8)
})

test_that("two wide blocks, each rotated, and standardised columns", {
  case <- wide_case(n = 12, p = 50)
  x <- case$x[, -1]
  colnames(x) <- paste0("v", 1:49)
  data <- data.frame(y = case$y)
  data$a <- x[, 1:20]
  data$b <- x[, 21:49]
  fit <- bsvm(y ~ a + b, data, prior = list(a = prior_ridge(1, 1), b = prior_ridge(2, 1)),
              engine = "vb", control = tight())
  z <- cbind(1, scale(x))
  twin <- twin_fit(twin_model(z, case$y, list(block_normal(1), block_ridge(2:21, 1, 1),
                                              block_ridge(22:50, 2, 1))))
  expect_close(elbo(fit), twin$bound, tolerances[["bound"]], abs(twin$bound))
  expect_close(fitted(fit), z %*% twin$mean, 1e-8)
  expect_close(predict(fit, interval = TRUE)$sd, sqrt(rowSums((z %*% twin$covariance) * z)), 1e-8)
  scale <- apply(x, 2, sd)
  expect_close(sqrt(diag(vcov(fit)))[-1], sqrt(diag(twin$covariance))[-1] / scale, 1e-8)
  expect_close(confint(fit)[, 2], fixef(fit) + qnorm(0.975) * sqrt(diag(vcov(fit))), 1e-8)
})

test_that("rows without an intercept are contrasts: nothing is centred", {
  d <- binary_data()
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb")
  rows <- rbind(c(0, 1, 0), c(0, 2, -1), c(1, 0, 0))
  ours <- bsvm:::posterior_linear(fit, list(x = rows))
  expect_close(ours$mean, rows %*% fixef(fit), tolerances[["rounding"]])
  expect_close(ours$sd, sqrt(diag(rows %*% vcov(fit) %*% t(rows))), 1e-10)
})

test_that("moments of draws are those of the draws by hand", {
  ref <- drawn_reference()
  links <- hand_links(ref)
  ours <- bsvm:::posterior_linear(ref$fit, bsvm:::new_design(ref$fit, ref$data))
  expect_close(ours$sd, row_sds(links), 1e-10)
  error <- abs(ours$mean - rowMeans(links)) / (row_sds(links) / sqrt(300))
  expect_lt(max(error), 20) # the mean is Rao-Blackwellised: not that of the draws, but near
  limits <- predict(ref$fit, ref$data, interval = TRUE, level = 0.8)
  expect_close(as.matrix(limits[c("lower", "upper")]), row_tails(links, 0.8), 1e-10)
  expect_close(limits$fit, ours$mean, tolerances[["rounding"]])
  expect_close(vcov(ref$fit), cov(t(ref$coefficients)), 1e-10)
  expect_close(confint(ref$fit, level = 0.9), row_tails(ref$coefficients, 0.9), 1e-10)
  expect_equal(colnames(confint(ref$fit, "x1")), c("2.5 %", "97.5 %"))
})

test_that("the variance of a new level is the mean of those of the draws", {
  ref <- drawn_reference()
  new <- transform(ref$data[1:4, ], g = "new")
  ours <- predict(ref$fit, new, interval = TRUE, allow_new_levels = TRUE)
  population <- ref$x[1:4, ] %*% ref$coefficients
  sigma <- apply(ref$covariance, 1:2, mean)
  z <- ref$z[1:4, ]
  expect_close(ours$sd, sqrt(row_sds(population)^2 + rowSums((z %*% sigma) * z)), 1e-10)
  some <- predict(ref$fit, new, interval = TRUE, allow_new_levels = TRUE,
                  re_formula = ~ (0 + t | g))
  expect_close(some$sd, sqrt(row_sds(population)^2 + z[, 2]^2 * sigma[2, 2]), 1e-10)
})

test_that("of one draw every method has means, and NA for what needs two", {
  d <- grouped_data()
  for (formula in list(y ~ x1 + (t | g), y ~ x1 + (t || g))) {
    fit <- gibbs_fit(formula, d, draws = 1, burnin = 0, chains = 1)
    unknown <- list(summary(fit)$coefficients[, -1], summary(fit)$variance_draws[, -1],
                    confint(fit), vcov(fit), tidy(fit, conf.int = TRUE)$std.error,
                    as.data.frame(ranef(fit))$condsd,
                    tidy(fit, effects = "ran_vals", conf.int = TRUE)$conf.low)
    for (values in unknown) expect_true(all(is.na(values) & !is.nan(values)))
    expect_finite(c(coef(fit), as.data.frame(VarCorr(fit))$sdcor, summary(fit)$variances$plug_in))
    new <- predict(fit, data.frame(x1 = 0, t = 1, g = "new"), interval = TRUE,
                   allow_new_levels = TRUE)
    expect_finite(new$fit)
    expect_true(all(is.na(new[-1]) & !is.nan(unlist(new[-1]))))
    expect_output(print(fit), "1 chain of 1 draw")
    expect_output(print(summary(fit, details = TRUE)), "sd_g__t")
  }
})

test_that("a covariance that is singular has no inverse, and says so by NA", {
  values <- matrix(c(1, 1, 1, 2, 0.5, 1), 3)
  rownames(values) <- paste0("variance_", c("1_1", "2_1", "2_2"))
  hyper <- joint_hyper(values, 2)
  expect_equal(hyper[["mean_1_1"]], 1.5)
  expect_true(all(is.na(hyper[4:6])))
  block <- list(columns = 1:2, factor = "g", hyper = hyper)
  expect_identical(plug_in_variances(block), c(NA_real_, NA_real_))
})
