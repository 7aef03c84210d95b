bsvm <- paper_bsvm

skip_if_not_installed("posterior")
ref <- drawn_reference()
fit <- ref$fit

test_that("draws are on the user's scale, under the names the documentation gives", {
  draws <- posterior::as_draws_matrix(fit)
  expect_equal(dim(draws), c(300, 3 + 1 + 3 + 24))
  expect_identical(posterior::variables(draws)[1:9],
                   c("(Intercept)", "x1", "t", "var_population-level slopes",
                     "sd_g__Intercept", "sd_g__t", "cor_g__Intercept__t",
                     "r_g[g01,Intercept]", "r_g[g01,t]"))
  expect_close(t(draws[, 1:3]), ref$coefficients, tolerances[["rounding"]])
  expect_identical(as.vector(draws[, 4]), as.vector(fit$posterior$variances[[1]]))
  sds <- sqrt(cbind(ref$covariance[1, 1, ], ref$covariance[2, 2, ]))
  expect_identical(as.vector(draws[, "sd_g__t"]), sds[, 2])
  expect_close(draws[, "cor_g__Intercept__t"], ref$covariance[1, 2, ] / sds[, 1] / sds[, 2],
               tolerances[["rounding"]])
  expect_identical(as.vector(draws[, "r_g[g05,t]"]), ref$effects[2, 5, ])
  expect_identical(posterior::variables(draws)[-(1:7)], names(coef(fit))[-(1:3)])
})

test_that("every format has the chains as they are", {
  array <- posterior::as_draws_array(fit)
  expect_s3_class(posterior::as_draws(fit), "draws_array")
  expect_equal(dim(array), c(150, 2, 31))
  expect_close(array[, 2, "x1"], ref$coefficients[2, 151:300], tolerances[["rounding"]])
  expect_s3_class(posterior::as_draws_df(fit), "draws_df")
  expect_s3_class(posterior::as_draws_list(fit), "draws_list")
  expect_close(posterior::draws_of(posterior::as_draws_rvars(fit)$x1), ref$coefficients[2, ],
               tolerances[["rounding"]])
  expect_close(posterior::as_draws_df(fit)$t, ref$coefficients[3, ], tolerances[["rounding"]])
})

test_that("variables are chosen by name or pattern; others are refused", {
  expect_identical(posterior::variables(posterior::as_draws_df(fit, c("t", "r_g[g02,t]"))),
                   c("t", "r_g[g02,t]"))
  some <- posterior::as_draws_matrix(fit, "^(var|sd|cor)_", regex = TRUE)
  expect_equal(posterior::nvariables(some), 4)
  expect_refusal(posterior::as_draws(fit, "nix"), "argument", c("`variable`", "nix"))
  expect_refusal(posterior::as_draws(fit, 3), "argument", "`variable`")
  expect_refusal(posterior::as_draws(fit, "[", regex = TRUE), "argument",
                 c("`variable` must be regular expressions; found \"[\"", "compilation"))
  expect_refusal(posterior::as_draws(fit, "^nix", regex = TRUE), "argument", "not found")
  expect_refusal(posterior::as_draws(fit, NA_character_), "argument", "`variable`")
  expect_refusal(posterior::as_draws(fit, "t", regex = 1), "argument", "`regex`")
  expect_refusal(posterior::as_draws(fit, pars = "t"), "argument", "`pars`")
})

test_that("a fit without standard deviations has none to give", {
  plain <- bsvm(y ~ x1, ref$data, engine = "em", prior = prior_ridge(variance = 1))
  for (f in list(posterior::as_draws, posterior::as_draws_df, posterior::as_draws_rvars)) {
    expect_refusal(f(plain), "unsupported", c("engine_em()", "engine"))
  }
})

test_that("tidybayes takes the names of effects apart, bayesplot the fit", {
  d <- transform(ref$data, g = factor(paste("level", g)))
  names <- effect_names(bsvm(y ~ x1 + (x1 | g), d, engine = "vb")$groups)
  expect_match(names, "^r_g[[]level[.]g[0-9]+,(Intercept|x1)[]]$")
  skip_if_not_installed("bayesplot")
  expect_s3_class(bayesplot::mcmc_trace(fit, pars = "x1"), "ggplot")
  expect_identical(bayesplot::rhat(fit, "x1"), diagnose(population_draws(fit, 2L))[, "Rhat"])
  expect_true(all(bayesplot::neff_ratio(fit) > 0))
  expect_refusal(rhat.bsvm(bsvm(y ~ x1, d, engine = "vb")), "unsupported", "draws")
})

# tidybayes needs a ggplot2 whose pictures differ from the stored ones, so it is not suggested.
test_that("tidybayes spreads, gathers and predicts the package's own draws", {
  skip_if_not_installed("tidybayes", "3.0")
  from <- function(name) getExportedValue("tidybayes", name)
  normal <- bsvm::bsvm(y ~ x1 + (x1 | g), ref$data, engine = "gaussian")
  draws <- as.matrix(normal)
  expect_equal(as.matrix(from("tidy_draws")(normal)[colnames(draws)]), draws, ignore_attr = TRUE)
  spread <- from("spread_draws")(normal, r_g[group, term])
  one <- spread$r_g[spread$group == "g02" & spread$term == "x1"]
  expect_equal(one, unname(draws[, "r_g[g02,x1]"]))
  gathered <- from("gather_draws")(normal, x1, sd_g__Intercept)
  expect_equal(gathered$.value[gathered$.variable == "sd_g__Intercept"],
               unname(draws[, "sd_g__Intercept"]))
  new <- ref$data[1:3, ]
  epred <- from("add_epred_draws")(new, normal, ndraws = 50)
  expect_equal(epred$.epred, as.vector(posterior_epred(normal, new, ndraws = 50)))
  predicted <- from("add_predicted_draws")(new, normal, ndraws = 50, seed = 1)
  expect_equal(predicted$.prediction,
               as.vector(posterior_predict(normal, new, ndraws = 50, seed = 1)))
})

test_that("effects that were not kept are not among the draws", {
  short <- with_seed(1, unchecked(bsvm(y ~ x1 + (1 | g), ref$data, control = bsvm_control(
    verbose = FALSE), engine = engine_gibbs(30, 10, chains = 1, keep_effects = FALSE))))
  expect_identical(posterior::variables(posterior::as_draws(short)),
                   c("(Intercept)", "x1", "sd_g__Intercept"))
  expect_length(coef(short), 14)
  expect_refusal(predict(short, interval = TRUE), "unsupported", "keep_effects = TRUE")
  expect_refusal(augment(short, sd = TRUE), "unsupported", "predict() and posterior_linpred()")
  values <- tidy(short, effects = "ran_vals", conf.int = TRUE)
  expect_close(values$conf.high, values$estimate + qnorm(0.975) * values$std.error, 1e-12)
  expect_equal(dim(posterior_linpred(short, re_formula = NA)), c(30, 120))
})

test_that("the package posterior is asked for where it is missing", {
  local_replace("has_posterior", function() FALSE)
  expect_refusal(as_draws_array.bsvm(fit), "unsupported", "install.packages(\"posterior\")")
})

# More columns than rows: b = Q s + (I - QQ') e, e ~ N(0, variance).
test_that("what no row sees has its prior given the variance, and the same draws each time", {
  case <- wide_case()
  x <- case$x[, -1]
  wide <- gibbs_fit(x, case$y, draws = 400, standardize = FALSE,
                    prior = prior_ridge(variance = prior_half_t(50, 0.5)))
  draws <- unclass(posterior::as_draws_matrix(wide))
  b <- draws[, 2:40]
  x <- scale(x, scale = FALSE)
  expect_close(x %*% t(b), x %*% wide$design$rotation[[1]]$basis %*%
                 flat_draws(wide$posterior$coefficients)[-1, ], 1e-10)
  beyond <- qr.Q(qr(t(x)), complete = TRUE)[, 16:39]
  noise <- b %*% beyond / sqrt(draws[, "var_population-level slopes"])
  expect_gt(ks.test(as.vector(noise), "pnorm")$p.value, 1e-4)
  expect_lt(max(abs(cor(noise) - diag(24))), 0.2)
  expect_identical(unclass(posterior::as_draws_matrix(wide)), draws)
  new <- with_seed(8, matrix(rnorm(7 * 39), 7))
  expect_close(posterior_linpred(wide, newdata = new), draws[, 1:40] %*% t(cbind(1, new)), 1e-9)
  expect_close(diag(vcov(wide))[-1], apply(b, 2, var), 0.25, scale = diag(vcov(wide))[-1])
  link <- predict(wide, new, interval = TRUE)
  expect_close(link$sd, apply(draws[, 1:40] %*% t(cbind(1, new)), 2, sd), 0.15, scale = link$sd)
})
