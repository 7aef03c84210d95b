# The two verbs all methods use, against a dense posterior.

test_that("linear functions of coefficients and group effects", {
  ref <- grouped_reference()
  codes <- as.integer(ref$data$g)
  codes[c(3, 50)] <- NA
  ours <- bsvm:::posterior_linear(ref$fit, ref$x, codes, ref$z)
  dense <- dense_links(ref$x, codes, ref$z, ref$twin)
  expect_close(ours$mean, dense$mean, 1e-8)
  expect_close(ours$sd, dense$sd, 1e-8)
  expect_null(bsvm:::posterior_linear(ref$fit, ref$x, sd = FALSE)$sd)
  new <- bsvm:::posterior_linear(ref$fit, ref$x[1:2, ], c(0L, 0L), ref$z[1:2, ],
                                 new_variance = c(4, 9))
  population <- dense_links(ref$x[1:2, ], c(NA, NA), ref$z[1:2, ], ref$twin)
  expect_close(new$sd^2, population$sd^2 + drop(ref$z[1:2, ]^2 %*% c(4, 9)), 1e-8)
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
