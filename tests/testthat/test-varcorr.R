bsvm <- paper_bsvm

ref <- grouped_reference()

test_that("VarCorr is the posterior mean of variance and sd", {
  v <- VarCorr(ref$fit)
  q <- lapply(ref$twin$variances[2:3], `[[`, "variance")
  mean <- vapply(q, function(f) f[["scale"]] / (f[["shape"]] - 1), 0)
  root <- vapply(q, function(f) {
    integrate(function(l) exp(log_inv_gamma(exp(l), f[["shape"]], f[["scale"]]) + 1.5 * l),
              -15, 15, rel.tol = 1e-10)$value
  }, 0)
  expect_close(diag(v$g), mean, 1e-8)
  expect_close(attr(v$g, "stddev"), root, 1e-6)
  frame <- as.data.frame(v)
  expect_named(frame, c("grp", "var1", "var2", "vcov", "sdcor"))
  expect_equal(frame$grp, c("g", "g"))
  expect_equal(frame$var1, c("(Intercept)", "t"))
  expect_true(all(is.na(frame$var2)))
  expect_close(frame$vcov, mean, 1e-8)
})

test_that("a fixed variance is reported as it is", {
  fit <- bsvm(y ~ x1 + (1 | g), ref$data, prior = list(g = prior_ridge(variance = 0.49)),
              engine = "vb")
  expect_equal(as.data.frame(VarCorr(fit))[c("vcov", "sdcor")],
               data.frame(vcov = 0.49, sdcor = 0.7))
})

test_that("no groups, no VarCorr; one level, an infinite mean that is explained", {
  plain <- bsvm(y ~ x1, ref$data, engine = "vb")
  expect_refusal(VarCorr(plain), "unsupported", "VarCorr()")
  one <- suppressWarnings(bsvm(y ~ x1 + (1 | h), transform(ref$data, h = "only"), engine = "vb"))
  expect_true(is.infinite(as.data.frame(VarCorr(one))$vcov))
  expect_output(print(VarCorr(one)), "Too few levels")
})

test_that("correlated effects: Lambda / (df - q - 1), and the marginals of an inverse Wishart", {
  fit <- bsvm(y ~ x1 + (t | g), ref$data, engine = "vb", control = tight(),
              prior = list(g = prior_inv_wishart(5, diag(c(2, 3)))))
  v <- VarCorr(fit)
  x <- ref$x[, 1:2]
  block <- list(prior = "inverse_wishart", columns = 1:2,
                parameters = c(effects = 2, df = 5, scale_1_1 = 2, scale_2_1 = 0, scale_2_2 = 3))
  q <- twin_fit(twin_model(x, ifelse(ref$data$y == "yes", 1, -1), list(block_normal(1:2)),
                           group = as.integer(ref$data$g), z = ref$z,
                           group_blocks = list(block)))$variances[[2]]$wishart
  expect_equal(q$df, 17)
  expect_close(v$g, q$scale / 14, 1e-7)
  expect_close(attr(v$g, "correlation"), cov2cor(q$scale), 1e-7)
  roots <- vapply(1:2, function(k) {
    integrate(function(l) exp(log_inv_gamma(exp(l), 8, q$scale[k, k] / 2) + 1.5 * l), -15, 15,
              rel.tol = 1e-10)$value
  }, 0)
  expect_close(attr(v$g, "stddev"), roots, 1e-6)
  frame <- as.data.frame(v)
  expect_equal(frame$var1, c("(Intercept)", "t", "(Intercept)"))
  expect_equal(frame$var2, c(NA, NA, "t"))
  expect_close(frame$vcov[3], q$scale[1, 2] / 14, 1e-7)
  expect_close(frame$sdcor[3], cov2cor(q$scale)[1, 2], 1e-7)
  expect_output(print(v), "Corr")
})

test_that("with draws these are means over the draws", {
  drawn <- drawn_reference()
  v <- VarCorr(drawn$fit)
  sigma <- drawn$covariance
  expect_close(v$g, apply(sigma, 1:2, mean), tolerances[["rounding"]])
  expect_close(attr(v$g, "stddev"), c(mean(sqrt(sigma[1, 1, ])), mean(sqrt(sigma[2, 2, ]))),
               tolerances[["rounding"]])
  r <- sigma[1, 2, ] / sqrt(sigma[1, 1, ] * sigma[2, 2, ])
  expect_close(attr(v$g, "correlation")[1, 2], mean(r), tolerances[["rounding"]])
  rows <- tidy(drawn$fit, "ran_pars", conf.int = TRUE, conf.level = 0.9)
  expect_equal(rows$term, c("sd__(Intercept)", "sd__t", "cor__(Intercept).t"))
  roots <- rbind(sqrt(sigma[1, 1, ]), sqrt(sigma[2, 2, ]), r)
  expect_close(rows$std.error, row_sds(roots), tolerances[["rounding"]])
  expect_close(cbind(rows$conf.low, rows$conf.high), row_tails(roots, 0.9),
               tolerances[["rounding"]])
})

test_that("fixed variances are reported as they are with draws, too", {
  fit <- gibbs_fit(y ~ x1 + (1 | g), ref$data, prior = list(g = prior_ridge(variance = 0.49)))
  expect_equal(as.data.frame(VarCorr(fit))[c("vcov", "sdcor")],
               data.frame(vcov = 0.49, sdcor = 0.7))
})

test_that("the correlations of more than two effects stand under one header, as in lme4", {
  d <- grouped_data()
  v <- VarCorr(bsvm(y ~ x1 + (x1 + t | g), d, engine = "vb"))
  lines <- capture.output(print(v))
  expect_match(lines[1], "^ Groups Name +Variance +Std.Dev. +Corr *$")
  expect_match(lines[4], "t( +-?[0-9.]+){4}$")
})

test_that("there is no sigma to multiply with", {
  fit <- bsvm(y ~ x1 + (1 | g), grouped_data(), engine = "vb")
  expect_refusal(VarCorr(fit, sigma = 2), "argument", c("`sigma`", "2"))
  expect_refusal(VarCorr(fit, sigmas = 1), "argument", "`sigmas`")
  expect_identical(VarCorr(fit, sigma = 1), VarCorr(fit))
  expect_refusal(print(VarCorr(fit), digits = "a"), "argument", "`digits`")
})

test_that("the print reminds of the pseudo-posterior, where it is one", {
  d <- grouped_data()
  words <- "likelihood = \"normalized\""
  expect_output(print(VarCorr(bsvm(y ~ x1 + (1 | g), d, engine = "vb"))), words, fixed = TRUE)
  normalised <- VarCorr(bsvm(y ~ x1 + (1 | g), d, likelihood = likelihood_hinge(TRUE)))
  expect_false(any(grepl("pseudo", capture.output(print(normalised)))))
})
