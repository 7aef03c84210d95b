# What is added to a copy of the source in new files works: a prior in one file, a kernel and a
# latent in two. The latent is of true values behind measured ones, which come with a term, fitted
# by all engines that have a form of it, and used for new rows.

# Where each file goes.
extensions <- c("student.cpp" = "src/core/prior", "measured.cpp" = "src/core/missing",
                "basis-measured.R" = "R", "cauchy.cpp" = "src/core/kernel",
                "kernel-cauchy.R" = "R")

test_that("a prior added in one file is listed, fits, and agrees with its twin", {
  skip_on_cran()
  d <- binary_data()
  result <- in_extended(quote({
    numbers <- c(df = 4, scale = 0.8)
    prior <- bsvm:::new_prior("student", numbers, "independent t, 4 df, scale 0.8", TRUE)
    fit <- bsvm(y ~ x1 + x2 + x3, d, prior = prior, engine = "vb", standardize = FALSE,
                control = bsvm_control(tol = 1e-24))
    invisible(capture.output(print(fit), print(summary(fit, details = TRUE))))
    list(priors = bsvm:::core_registry()$priors, mean = fixef(fit), covariance = vcov(fit),
         bound = elbo(fit))
  }), d, extensions)
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

test_that("a kernel added in new files has values, and is a part of sums and products", {
  skip_on_cran()
  x <- matrix(sin(1:24), 8, 3)
  found <- in_extended(quote({
    kernel <- (bsvm:::kernel_cauchy(2) + kernel_linear()) * kernel_periodic(3)
    products <- bsvm:::kernel_products(kernel)
    factors <- bsvm:::kernel_factors(list(bsvm:::kernel_cauchy(ard = TRUE)), d)
    list(words = format(kernel), sizes = lengths(products),
         values = bsvm:::core_kernel(factors, d, d, log(c(0.5, 1, 2))))
  }), x, extensions)
  expect_identical(found$words, paste("(kernel_cauchy(lengthscale = 2) + kernel_linear()) *",
                                      "kernel_periodic(period = 3)"))
  expect_identical(found$sizes, c(2L, 2L))
  expected <- 1 / (1 + as.matrix(stats::dist(t(t(x) / c(0.5, 1, 2))))^2)
  expect_equal(found$values, unname(expected), tolerance = 1e-14)
})

# ---- a latent, with the term that brings it -------------------------------------------------------

fit_measured <- quote({
  out <- list()
  moments <- function(fit) {
    list(mean = unname(fixef(fit)), covariance = unname(as.matrix(vcov(fit))),
         imputed = imputed(fit)[c("mean", "sd")], link = unname(fitted(fit)))
  }
  tight <- list(prior_ridge(variance = 3), "measured(x, 0.3)" = prior_ridge(variance = 4))
  vb <- bsvm(y ~ 0 + w + measured(x, 0.3), d$small, weights = k, engine = "vb", prior = tight,
             likelihood = "hinge", standardize = FALSE, control = bsvm_control(tol = 1e-24))
  out$vb <- c(moments(vb), list(bound = elbo(vb)))
  threads <- bsvm(y ~ 0 + w + measured(x, 0.3), d$small, weights = k, engine = "vb", prior = tight,
                  likelihood = "hinge", standardize = FALSE,
                  control = bsvm_control(tol = 1e-24, threads = 2))
  out$same <- identical(vb$posterior, threads$posterior)
  run <- function(data, ...) {
    bsvm(y ~ measured(x, 0.3), data, ...,
         prior = list("(Intercept)" = prior_flat(), "measured(x, 0.3)" = prior_ridge(variance = 4)))
  }
  proper <- likelihood_hinge(normalized = TRUE)
  new <- data.frame(x = c(-1, 0, 1))
  gaussian <- run(d$large, engine = "gaussian", likelihood = proper)
  set.seed(1)
  slice <- run(d$middle, engine = engine_slice(4000, 500), likelihood = proper)
  gibbs <- run(d$middle, engine = engine_gibbs(8000, 500), likelihood = "hinge")
  for (name in c("gaussian", "slice", "gibbs")) {
    out[[name]] <- c(moments(get(name)), list(
      probability = unname(predict(get(name), new, type = "prob", map = "likelihood")[, 2L])
    ))
  }
  out$link <- unname(predict(gaussian, new, type = "link"))
  out$words <- capture.output(print(vb), print(summary(gaussian, details = TRUE)))
  refusal <- function(...) {
    tryCatch(run(d$small, ...), error = function(e) c(class(e)[1L], conditionMessage(e)))
  }
  out$refused <- list(map = refusal(engine = "map"), em = refusal(engine = "em"),
                      normalised_vb = refusal(engine = "vb", likelihood = proper))
  d$small$w[3L] <- NA
  out$refused$two <- tryCatch(
    bsvm(y ~ w + measured(x, 0.3), d$small, missing = missing_normal()),
    error = function(e) c(class(e)[1L], conditionMessage(e))
  )
  out
})

test_that("a latent added in new files is fitted by every engine with a form of it, and predicts", {
  skip_on_cran()
  data <- list(small = measured_data(60), middle = measured_data(100, 4),
               large = measured_data(800, 5))
  found <- in_extended(fit_measured, data, extensions)
  small <- data$small
  twin <- twin_measured(signs_of(small), cbind(small$w, small$x), c(1 / 3, 1 / 4), small$k)
  sd <- sqrt(diag(twin$covariance))
  expect_close(found$vb$bound, twin$bound, tolerances[["bound"]], abs(twin$bound))
  expect_close(found$vb$mean, twin$mean, 1e-5, sd)
  expect_close(found$vb$covariance, twin$covariance, 1e-5, outer(sd, sd))
  expect_close(found$vb$imputed$mean, twin$x, 1e-5)
  expect_close(found$vb$imputed$sd, twin$sd, 1e-5)
  expect_close(found$vb$link, cbind(small$w, twin$x) %*% twin$mean, 1e-5)
  expect_true(found$same)

  compare <- function(found, data, normalised, mean, sd) {
    spread <- sqrt(diag(found$covariance))
    exact <- exact_measured(data, normalised, found$mean, spread, c(-1, 0, 1))
    expect_close(found$mean, exact$mean, mean, exact$sd)
    expect_close(spread / exact$sd, c(1, 1), sd)
    expect_close(found$probability, exact$probability, 0.005)
  }
  compare(found$gaussian, data$large, TRUE, 0.02, 0.02)
  compare(found$slice, data$middle, TRUE, 0.06, 0.06)
  compare(found$gibbs, data$middle, FALSE, 0.06, 0.06)
  expect_close(found$link, found$gaussian$mean[1] + found$gaussian$mean[2] * c(-1, 0, 1), 1e-9)

  expect_match(found$words, "measured(x, 0.3) is unknown", fixed = TRUE, all = FALSE)
  for (refused in found$refused) expect_identical(refused[1L], "bsvm_error_unsupported")
  for (engine in c("map", "em")) {
    expect_match(found$refused[[engine]][2L], "does not support `measured(x, 0.3)`", fixed = TRUE)
  }
  expect_match(found$refused$two[2L], "one rule", fixed = TRUE)
})
