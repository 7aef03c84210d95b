# A prior is added to a copy of the source in one file, and works: registry, R, and twin.

test_that("a prior added in one file is listed, fits, and agrees with its twin", {
  skip_on_cran()
  d <- binary_data()
  result <- in_extended(quote({
    numbers <- c(df = 4, scale = 0.8)
    prior <- bsvm:::new_prior("student", numbers, "independent t, 4 df, scale 0.8", TRUE)
    fit <- bsvm(y ~ x1 + x2 + x3, d, prior = prior, engine = "vb", standardize = FALSE,
                control = bsvm_control(tol = 1e-24))
    invisible(capture.output(print(fit), print(summary(fit))))
    list(priors = bsvm:::core_registry()$priors, mean = fixef(fit), covariance = vcov(fit),
         bound = elbo(fit))
  }), d)
  expect_true("student" %in% result$priors)

  # A t is a normal whose variance is IG(df/2, df scale^2/2): one ridge block a coefficient.
  design <- centred(cbind(1, d$x1, d$x2, d$x3))
  slopes <- lapply(2:4, block_ridge, shape = 4 / 2, scale = 4 * 0.8^2 / 2)
  twin <- twin_fit(twin_model(design$x, ifelse(d$y == "yes", 1, -1),
                              c(list(block_normal(1)), slopes)))
  covariance <- design$back %*% twin$covariance %*% t(design$back)
  sd <- sqrt(diag(covariance))
  expect_close(result$mean, design$back %*% twin$mean, tolerances[["twin"]], scale = sd)
  expect_close(result$covariance, covariance, tolerances[["twin"]], scale = outer(sd, sd))
  expect_close(result$bound, twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
})
