bsvm <- paper_bsvm

ref <- grouped_reference()

test_that("summary holds coefficients, variances, groups and certificate", {
  s <- summary(ref$fit, level = 0.9)
  expect_s3_class(s, "summary.bsvm")
  expect_close(s$coefficients[, 1:2], cbind(fixef(ref$fit), sqrt(diag(vcov(ref$fit)))),
               tolerances[["rounding"]])
  expect_close(s$coefficients[, 3:4], confint(ref$fit, level = 0.9), tolerances[["rounding"]])
  plug_in <- 1 / vapply(ref$twin$variances[2:3], `[[`, 0, "inverse")
  expect_close(s$variances$plug_in, plug_in, 1e-8)
  expect_close(s$variances$cost, 2 * plug_in, 1e-8)
  expect_equal(s$ngroups, c(g = 12))
  expect_equal(s$n_support, sum(residuals(ref$fit) > 0))
  expect_equal(s$termination, "converged")
  expect_lt(s$gradient, 1e-4)
})

test_that("coefficients are ranked on request", {
  table <- summary(ref$fit, rank = TRUE)$coefficients
  expect_false(is.unsorted(-abs(table[, "Estimate"] / table[, "SD"])))
})

test_that("the printed summary is stable, with details and without", {
  normalised <- likelihood_hinge(TRUE)
  fits <- list(
    ref$fit, bsvm(y ~ x1 + f, binary_data(), engine = "vb"),
    bsvm(y ~ x1 + (t | g), grouped_data(), engine = "gaussian"),
    bsvm(y ~ x1 + (1 | g), grouped_data(), engine = "gaussian", likelihood = normalised),
    bsvm(y ~ x1, binary_data(), engine = "map", likelihood = normalised)
  )
  for (fit in fits) {
    expect_snapshot_output(print_masked(summary(fit)))
    expect_snapshot_output(print_masked(summary(fit, details = TRUE)))
  }
})

test_that("details are kept, can be asked of print, and change no number", {
  brief <- summary(ref$fit)
  full <- summary(ref$fit, details = TRUE)
  expect_identical(brief[names(brief) != "details"], full[names(full) != "details"])
  lines <- function(x, ...) capture.output(print(x, ...))
  expect_identical(lines(brief, details = TRUE), lines(full))
  expect_identical(lines(full, details = FALSE), lines(brief))
  expect_no_match(lines(brief), "LIBSVM|Priors|Gradient|passes|Support")
  expect_match(lines(full), "LIBSVM", all = FALSE)
  expect_refusal(summary(ref$fit, details = NA), "argument", "`details`")
})

test_that("a fit that did not converge says so without details", {
  fit <- suppressWarnings(bsvm(y ~ x1 + (1 | g), grouped_data(), engine = "vb",
                               control = bsvm_control(max_passes = 2)))
  expect_output(print(summary(fit)), "after 2 iterations: stopped at the limit, not converged")
})

test_that("under the normalised likelihood it is said once how coefficients compare", {
  s <- summary(bsvm(y ~ x1 + (1 | g), grouped_data(), likelihood = likelihood_hinge(TRUE)))
  expect_length(grep("Four times a coefficient", capture.output(print(s))), 1L)
  expect_no_match(capture.output(print(summary(ref$fit))), "Four times")
})

test_that("with draws there is a table with diagnostics, of coefficients and variances", {
  skip_if_not_installed("posterior")
  drawn <- drawn_reference()
  s <- unchecked(summary(drawn$fit, level = 0.9))
  draws <- posterior::as_draws(drawn$fit, c(names(fixef(drawn$fit)), "sd_g__t"))
  theirs <- posterior::summarise_draws(draws, "mean", "sd", ~ quantile(.x, c(0.05, 0.95)), "rhat",
                                       "ess_bulk", "ess_tail", "mcse_mean")
  theirs <- as.matrix(theirs[-1])
  columns <- c("SD", "lower", "upper", "Rhat", "Bulk_ESS", "Tail_ESS", "MCSE")
  expect_equal(unname(s$coefficients[, columns]), unname(theirs[1:3, -1]), tolerance = 1e-10)
  expect_equal(unname(s$variance_draws["sd_g__t", ]), unname(theirs[4, ]), tolerance = 1e-10)
  expect_equal(s$coefficients[, "Estimate"], fixef(drawn$fit))
  expect_equal(s$sampling$chains, 2)
  inverse <- apply(apply(drawn$covariance, 3, solve), 1, mean)
  expect_close(s$variances$plug_in[2:3], diag(solve(matrix(inverse, 2))), 1e-10)
  expect_equal(s$variances$block, c("population-level slopes", "g: (Intercept)", "g: t"))
  expect_output(print(s, details = TRUE), "2 chains of 150 draws after 50 of burn-in")
  expect_no_match(capture.output(print(s)), "Rhat|ESS|MCSE")
  expect_output(print(drawn$fit), "Gibbs sampler")
})

test_that("coefficients of smooth terms are counted, not printed", {
  skip_if_not_installed("mgcv")
  fit <- bsvm(y ~ x1 + s(x2), binary_data(), engine = "vb")
  s <- summary(fit)
  expect_equal(nrow(s$coefficients), length(fixef(fit)))
  expect_output(print(s), "and 8 of smooth terms")
  expect_output(print(fit), "and 8 of smooth terms")
  expect_no_match(capture.output(print(fit)), "s(x2).1", fixed = TRUE)
  expect_false(s$standard_scale)
})

test_that("a level that is none is refused", {
  for (level in list(0, 1, 95, NA, "a", c(0.5, 0.9))) {
    expect_refusal(summary(ref$fit, level = level), "argument", "`level`")
  }
})

test_that("misspelt arguments and nonsense are refused", {
  expect_refusal(summary(ref$fit, lvel = 0.5), "argument", c("summary()", "`lvel`"))
  expect_refusal(summary(ref$fit, conf.level = 0.5), "argument", "`level`")
  expect_refusal(summary(ref$fit, rank = "a"), "argument", "`rank`")
  expect_refusal(print(summary(ref$fit), n = -3), "argument", c("`n`", "-3"))
  expect_refusal(print(summary(ref$fit), digits = 100), "argument", "`digits`")
})

test_that("closing words go with engine and likelihood", {
  d <- grouped_data()
  closing <- function(...) {
    paste(capture.output(print(summary(bsvm(y ~ x1 + (1 | g), d, ...)))), collapse = " ")
  }
  normalised <- likelihood_hinge(normalized = TRUE)
  expect_match(closing(engine = "vb"), "pseudo-posterior.*far too low")
  expect_match(closing(engine = "gaussian"), "pseudo-posterior.*normalized")
  expect_no_match_in(closing(engine = "gaussian"), "too small")
  expect_no_match_in(closing(likelihood = normalised), "pseudo|Intervals|LIBSVM|concave")
  expect_match(closing(likelihood = normalised), "normalised hinge likelihood, Gaussian engine")
  expect_match(closing(engine = "map", likelihood = normalised), "Modes, and standard deviations from the curvature")
})

test_that("standard deviations have a table where they are averaged over", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + (t || g), d, engine = "gaussian")
  table <- summary(fit, level = 0.9)$sds
  expect_equal(rownames(table), c("g: (Intercept)", "g: t"))
  rows <- tidy(fit, "ran_pars", conf.int = TRUE, conf.level = 0.9)
  expect_close(table, as.matrix(rows[c("estimate", "std.error", "conf.low", "conf.high")]), 1e-12)
  joint <- bsvm(y ~ x1 + (t | g), d, engine = "gaussian")
  rows <- tidy(joint, "ran_pars", conf.int = TRUE)
  told <- summary(joint)
  expect_identical(rownames(told$correlations), "g: (Intercept), t")
  expect_close(rbind(told$sds, told$correlations), unname(as.matrix(rows[, 4:7])), 1e-12)
  alone <- summary(bsvm(y ~ x1, d, engine = "vb"))$sds
  expect_identical(attr(alone, "population"), rownames(alone))
  expect_null(summary(bsvm(y ~ x1, d, engine = "vb", prior = prior_ridge(variance = 2)))$sds)
})
