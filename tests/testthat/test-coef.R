bsvm <- paper_bsvm

ref <- grouped_reference()
fit <- ref$fit
p <- 3

test_that("fixef and coef are named and agree with the twin", {
  expect_close(fixef(fit), ref$twin$mean[1:p], tolerances[["twin"]])
  expect_named(fixef(fit), colnames(ref$x))
  expect_length(coef(fit), length(ref$twin$mean))
  expect_close(coef(fit), ref$twin$mean, 1e-8)
  expect_named(coef(fit)[4:5], c("r_g[g01,Intercept]", "r_g[g01,t]"))
})

test_that("ranef has the means and standard deviations of the dense posterior", {
  effects <- ranef(fit)
  expect_named(effects, "g")
  expect_identical(dimnames(effects$g), list(levels(ref$data$g), c("(Intercept)", "t")))
  expect_close(t(as.matrix(effects$g)), ref$twin$mean[-(1:p)], 1e-8)
  sd <- sqrt(diag(ref$twin$covariance))[-(1:p)]
  expect_close(t(as.matrix(attr(effects$g, "sd"))), sd, 1e-8)
  expect_null(attr(ranef(fit, sd = FALSE)$g, "sd"))
  long <- as.data.frame(effects)
  expect_named(long, c("grpvar", "term", "grp", "condval", "condsd"))
  expect_equal(nrow(long), 24)
  expect_equal(long$condval[long$grp == "g03" & long$term == "t"], effects$g["g03", "t"])
  expect_output(print(effects), "Effects of g")
})

test_that("ranef of a fit without groups is refused", {
  plain <- bsvm(y ~ x1, ref$data, engine = "vb")
  expect_refusal(ranef(plain), "unsupported", c("ranef()", "(1 | group)"))
  expect_identical(coef(plain), fixef(plain))
})

test_that("standardised fits report on the user's scale", {
  d <- binary_data()
  scaled <- bsvm(y ~ x1 + x2, d, engine = "vb", control = tight())
  x <- scale(d[c("x1", "x2")])
  twin <- twin_fit(twin_model(cbind(1, x), ifelse(d$y == "yes", 1, -1),
                              list(block_normal(1), block_ridge(2:3))))
  slopes <- twin$mean[2:3] / attr(x, "scaled:scale")
  expect_close(fixef(scaled), c(twin$mean[1] - sum(slopes * attr(x, "scaled:center")), slopes),
               1e-8)
  by_hand <- drop(cbind(1, d$x1, d$x2) %*% fixef(scaled))
  expect_close(fitted(scaled), by_hand, tolerances[["rounding"]])
})

# The means are averages of conditional means: as far from those of the draws as these err.
test_that("with draws: means near those of the draws, standard deviations theirs", {
  drawn <- drawn_reference()
  effects <- matrix(drawn$effects, 24)
  expect_named(coef(drawn$fit)[4:5], c("r_g[g01,Intercept]", "r_g[g01,t]"))
  all <- rbind(drawn$coefficients, effects)
  expect_lt(max(abs(coef(drawn$fit) - rowMeans(all)) / batch_error(t(all))), 4)
  expect_lt(max(abs(coef(drawn$fit) - rowMeans(all)) / row_sds(all)), 0.2)
  ours <- ranef(drawn$fit)
  expect_close(t(as.matrix(attr(ours$g, "sd"))), row_sds(effects), 1e-10)
  values <- tidy(drawn$fit, "ran_vals", conf.int = TRUE)
  tails <- row_tails(effects)[c(seq(1, 23, 2), seq(2, 24, 2)), ]
  expect_close(cbind(values$conf.low, values$conf.high), tails, 1e-10)
})

test_that("misspelt arguments and nonsense are refused", {
  fit <- bsvm(y ~ x1 + (1 | g), grouped_data(), engine = "vb")
  expect_refusal(coef(fit, scaled = TRUE), "argument", c("coef()", "`scaled`"))
  expect_refusal(fixef(fit, scaled = TRUE), "argument", "fixef()")
  expect_refusal(ranef(fit, condVar = TRUE), "argument", "`sd`")
  expect_refusal(print(ranef(fit), n = "a"), "argument", "`n`")
  expect_output(print(ranef(fit), n = Inf), "g12")
})

test_that("limits of group effects: normal, or quantiles of draws", {
  fit <- bsvm(y ~ x1 + (t || g), grouped_data(), engine = "vb")
  effects <- ranef(fit, level = 0.9)
  sd <- attr(effects$g, "sd")
  expect_equal(dimnames(attr(effects$g, "lower")), dimnames(sd))
  expect_close(as.matrix(attr(effects$g, "upper") - effects$g), as.matrix(qnorm(0.95) * sd), 1e-12)
  long <- as.data.frame(effects)
  expect_close(long$condval - long$lower, qnorm(0.95) * long$condsd, 1e-12)
  expect_output(print(effects), "lower (Intercept)", fixed = TRUE)
  drawn <- drawn_reference()
  limits <- as.data.frame(ranef(drawn$fit, level = 0.9))
  tails <- row_tails(matrix(drawn$effects, 24), 0.9)[c(seq(1, 23, 2), seq(2, 24, 2)), ]
  expect_close(cbind(limits$lower, limits$upper), tails, 1e-10)
  expect_refusal(ranef(fit, level = 2), "argument", "`level`")
  expect_refusal(ranef(fit, conf.level = 0.9), "argument", "`level`")
})

test_that("limits come without standard deviations where these are not asked for", {
  for (formula in list(y ~ x1 + (1 | g), y ~ x1 + (t | g))) {
    fit <- bsvm(formula, grouped_data(), engine = "vb")
    effects <- ranef(fit, sd = FALSE, level = 0.9)
    expect_null(attr(effects$g, "sd"))
    expect_identical(attr(effects$g, "lower"), attr(ranef(fit, level = 0.9)$g, "lower"))
    expect_true(all(vapply(attr(effects$g, "upper"), is.vector, TRUE)))
    expect_named(as.data.frame(effects), c("grpvar", "term", "grp", "condval", "lower", "upper"))
    expect_no_match_in(paste(capture.output(print(effects)), collapse = " "), "standard deviation")
  }
})

test_that("limits of integrated effects are skewed, and need the data", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + (t | g), d, engine = "gaussian", keep_data = TRUE)
  long <- as.data.frame(ranef(fit, level = 0.9))
  expect_true(all(long$lower < long$condval & long$condval < long$upper))
  normal <- as.data.frame(ranef(fit))
  expect_equal(normal$condsd, long$condsd)
  expect_gt(max(abs(long$lower + long$upper - 2 * long$condval) / long$condsd), 0.1)
  gone <- local({
    here <- d
    bsvm(y ~ x1 + (1 | g), here, engine = "gaussian")
  })
  expect_refusal(ranef(gone, level = 0.9), "data", "keep_data = TRUE")
  expect_finite(ranef(gone))
})
