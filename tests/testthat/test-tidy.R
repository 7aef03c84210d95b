bsvm <- paper_bsvm

ref <- grouped_reference()
fit <- ref$fit

test_that("tidy has a row a term, standard deviation or effect", {
  rows <- tidy(fit)
  expect_equal(rows$effect, c("fixed", "fixed", "fixed", "ran_pars", "ran_pars"))
  expect_equal(rows$term, c(colnames(ref$x), "sd__(Intercept)", "sd__t"))
  expect_close(rows$estimate[1:3], fixef(fit), tolerances[["rounding"]])
  expect_close(rows$std.error[1:3], sqrt(diag(vcov(fit))), tolerances[["rounding"]])
  expect_close(rows$estimate[4:5], attr(VarCorr(fit)$g, "stddev"), tolerances[["rounding"]])
  values <- tidy(fit, effects = "ran_vals", conf.int = TRUE)
  expect_equal(nrow(values), 24)
  expect_true(all(values$conf.low < values$estimate & values$estimate < values$conf.high))
  expect_refusal(tidy(fit, effects = "none"), "argument", c("`effects`", "none"))
})

test_that("intervals of standard deviations are quantiles of their posterior", {
  rows <- tidy(fit, effects = "ran_pars", conf.int = TRUE, conf.level = 0.8)
  q <- ref$twin$variances[[2]]$variance
  mass <- integrate(function(l) exp(log_inv_gamma(exp(l), q[["shape"]], q[["scale"]]) + l),
                    2 * log(rows$conf.low[1]), 2 * log(rows$conf.high[1]))$value
  expect_close(mass, 0.8, 1e-6)
})

test_that("glance is one row, augment keeps the rows", {
  row <- glance(fit)
  expect_equal(nrow(row), 1)
  expect_equal(row$nobs, nrow(ref$data))
  expect_equal(row$ngroups, 12)
  expect_equal(row$elbo, elbo(fit))
  expect_equal(row$n_support, sum(residuals(fit) > 0))
  expect_equal(glance(bsvm(y ~ x1, ref$data, engine = "vb"))$ngroups, 0)
  rows <- augment(fit, ref$data, sd = TRUE)
  expect_equal(nrow(rows), nrow(ref$data))
  expect_close(rows$.fitted, fitted(fit), tolerances[["rounding"]])
  expect_close(rows$.resid, residuals(fit), tolerances[["rounding"]])
  expect_identical(levels(rows$.class), levels(ref$data$y))
  expect_close(rows$.sd, predict(fit, ref$data, interval = TRUE)$sd, tolerances[["rounding"]])
  new <- augment(fit, newdata = ref$data[1:3, ])
  expect_equal(nrow(new), 3)
  expect_refusal(augment(fit, ref$data[1:3, ]), "data", "newdata")
  d <- ref$data
  kept <- bsvm(y ~ x1 + (1 | g), d, keep_data = TRUE, engine = "vb")
  expect_equal(names(augment(kept))[1:3], c("y", "x1", "g"))
})

test_that("glance has the same columns with draws", {
  skip_if_not_installed("posterior")
  drawn <- drawn_reference()
  row <- glance(drawn$fit)
  expect_named(row, names(glance(fit)))
  expect_true(is.na(row$elbo) && is.na(row$passes) && is.na(row$gradient))
  all <- posterior::summarise_draws(posterior::as_draws(drawn$fit, "^[^r]", regex = TRUE))
  expect_close(row$max_rhat, as.numeric(max(all$rhat)), 1e-10)
  expect_close(row$min_ess, min(as.numeric(all$ess_bulk), as.numeric(all$ess_tail)), 1e-10)
  expect_false(row$converged)
  rows <- tidy(drawn$fit, conf.int = TRUE)
  expect_close(cbind(rows$conf.low, rows$conf.high)[1:3, ], row_tails(drawn$coefficients), 1e-10)
  more <- augment(drawn$fit, drawn$data, sd = TRUE)
  expect_close(more$.sd, row_sds(hand_links(drawn)), 1e-10)
})

test_that("standard deviations by linear response, of coefficients alone", {
  d <- ref$data # as the fit's call has it
  rows <- tidy(fit, c("fixed", "ran_pars", "ran_vals"), conf.int = TRUE)
  response <- tidy(fit, c("fixed", "ran_pars", "ran_vals"), conf.int = TRUE,
                   method = "linear_response")
  fixed <- rows$effect == "fixed"
  sd <- sqrt(diag(vcov(fit, method = "linear_response")))
  expect_close(response$std.error[fixed], sd, tolerances[["rounding"]])
  expect_close(response$conf.high[fixed], fixef(fit) + qnorm(0.975) * sd, 1e-10)
  expect_identical(response$estimate, rows$estimate)
  expect_identical(response[!fixed, ], rows[!fixed, ])
  expect_refusal(tidy(fit, method = "lr"), "argument", "`method`")
  gaussian <- bsvm(y ~ x1, ref$data, engine = "gaussian")
  expect_refusal(tidy(gaussian, method = "linear_response"), "unsupported", "engine_vb()")
})

test_that("misspelt arguments and nonsense are refused", {
  expect_refusal(tidy(fit, level = 0.5), "argument", "`conf.level`")
  expect_refusal(tidy(fit, conf.int = "a"), "argument", "`conf.int`")
  expect_refusal(glance(fit, nix = 1), "argument", c("glance()", "`nix`"))
  expect_refusal(augment(fit, se = TRUE), "argument", c("`se`", "`sd`"))
  new <- ref$data[1:3, ]
  expect_refusal(augment(fit, newdata = new, se_fit = TRUE), "argument", c("augment()", "`sd`"))
  expect_refusal(augment(fit, newdata = new, type = "class"), "argument", "`.class`")
  expect_refusal(augment(fit, newdata = new, re.form = NA), "argument", "`re_formula`")
  expect_refusal(augment(fit, re_formula = NA), "argument", "`newdata`")
  expect_refusal(augment(fit, NULL, new, FALSE, NA), "argument", "unnamed")
  expect_equal(augment(fit, newdata = new, re_formula = NA)$.fitted,
               unname(predict(fit, new, type = "link", re_formula = NA)))
  expect_refusal(augment(fit, sd = "a"), "argument", "`sd`")
})

test_that("augment() has probabilities named by the levels on request", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  p <- predict(fit, d, type = "prob")
  for (rows in list(augment(fit, prob = TRUE), augment(fit, d, prob = TRUE),
                    augment(fit, newdata = d, prob = TRUE))) {
    expect_close(rows$.pred_yes, p[, "yes"], 1e-12)
    expect_close(rows$.pred_no, p[, "no"], 1e-12)
  }
  expect_false(".pred_yes" %in% names(augment(fit, newdata = d)))
  expect_refusal(augment(fit, prob = "yes"), "argument", "`prob`")
  proper <- bsvm(y ~ x1 + (1 | g), d, likelihood = "normalized", keep_data = TRUE)
  p <- predict(proper, d, type = "prob")
  for (rows in list(augment(proper), augment(proper, d["y"]), augment(proper, newdata = d))) {
    expect_close(rows$.pred_yes, p[, "yes"], 1e-12)
  }
  expect_false(".pred_yes" %in% names(augment(proper, prob = FALSE)))
  light <- update(proper, keep_data = FALSE)
  expect_false(".pred_yes" %in% names(augment(light, d)))
  line <- bsvm(x1 ~ t, d, likelihood = likelihood_eps_insensitive())
  expect_refusal(augment(line, prob = TRUE), "unsupported", "`.fitted`")
})

test_that("coefficients are no log odds, and average odds ratios are named", {
  expect_identical(tidy(fit, exponentiate = FALSE), tidy(fit))
  expect_refusal(tidy(fit, exponentiate = TRUE), "unsupported",
                 c("not constant", "average odds ratios", "likelihood = \"normalized\""))
  line <- bsvm(x1 ~ t, grouped_data(), likelihood = likelihood_eps_insensitive())
  expect_refusal(tidy(line, exponentiate = TRUE), "unsupported", "not on a log scale")
  expect_refusal(tidy(fit, exponentiate = NA), "argument", "`exponentiate`")
})
