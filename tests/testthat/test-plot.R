bsvm <- paper_bsvm

ref <- grouped_reference()

test_that("plot and autoplot give the same ggplot", {
  skip_if_not_installed("ggplot2")
  for (which in c("coefficients", "groups", "bound")) {
    drawn <- plot(ref$fit, which = which)
    expect_s3_class(drawn, "ggplot")
    expect_equal(drawn$data, ggplot2::autoplot(ref$fit, which = which)$data)
    expect_silent(ggplot2::ggplot_build(drawn))
  }
})

test_that("the plotted numbers are the fit's", {
  skip_if_not_installed("ggplot2")
  shown <- plot(ref$fit, intercept = TRUE, level = 0.9, scaled = FALSE)$data
  limits <- confint(ref$fit, level = 0.9)[as.character(shown$term), ]
  expect_close(cbind(shown$lower, shown$upper), limits, tolerances[["rounding"]])
  expect_false("(Intercept)" %in% plot(ref$fit)$data$term)
  expect_equal(nrow(plot(ref$fit, "groups")$data), 24)
})

test_that("what can't be plotted is refused", {
  skip_if_not_installed("ggplot2")
  plain <- bsvm(y ~ x1, ref$data, engine = "vb")
  expect_refusal(plot(plain, "groups"), "unsupported", "groups")
  expect_refusal(plot(plain, "leverage"), "argument", c("`which`", "leverage"))
})

test_that("the pictures warn of a pseudo-posterior, and of nothing else", {
  skip_if_not_installed("ggplot2")
  gaussian <- bsvm(y ~ x1 + (1 | g), ref$data, engine = "gaussian")
  for (which in c("coefficients", "groups", "bound")) {
    expect_silent(ggplot2::ggplot_build(plot(gaussian, which)))
  }
  expect_match(plot(gaussian)$labels$caption, "pseudo-posterior")
  normalised <- bsvm(y ~ x1, ref$data, likelihood = likelihood_hinge(normalized = TRUE))
  expect_false(any(grepl("pseudo", plot(normalised)$labels$caption)))
})

test_that("coefficients are per standard deviation, whoever knows it", {
  skip_if_not_installed("ggplot2")
  d <- binary_data(60)
  d$x1 <- 100 * d$x1
  w <- rep(1:2, 30)
  deviation <- function(v) sqrt(sum(w * (v - weighted.mean(v, w))^2) / (sum(w) - 1))
  for (prior in list(prior_flat(), prior_ridge())) { # without and with scaled columns
    fit <- bsvm(y ~ x1 + x2, d, weights = w, prior = prior, engine = "vb")
    shown <- plot(fit)$data
    units <- c(x1 = deviation(d$x1), x2 = deviation(d$x2))
    expect_close(shown$estimate, unname((fixef(fit)[-1] * units)[as.character(shown$term)]), 1e-10)
    expect_match(plot(fit)$labels$x, "per standard deviation")
  }
  lost <- bsvm(y ~ x1 + x2, d, prior = prior_flat(), engine = "vb", keep_data = FALSE)
  expect_match(plot(lost)$labels$x, "per standard deviation") # d is still there
  rm(d)
  expect_match(plot(lost)$labels$x, "per unit")
  expect_match(plot(lost)$labels$caption, "Not per standard deviation")
})

test_that("one wide bar is cut, its numbers are told, and many coefficients are counted", {
  skip_if_not_installed("ggplot2")
  rows <- data.frame(term = factor(letters[1:5], letters[1:5]), estimate = c(1, 0, -1, 40, 1),
                     lower = c(0.5, -0.5, -1.5, -10, 0.6), upper = c(1.5, 0.5, -0.5, 90, 1.4))
  expect_equal(row_limits(rows), c(-2.5, 2.5))
  expect_identical(is_much_wider(rows), letters[1:5] == "d")
  expect_match(wide_words(rows), "d 40 (-10 to 90)", fixed = TRUE)
  expect_equal(row_limits(rows[-4, ]), c(-1.5, 1.5))
  expect_null(wide_words(rows[-4, ]))
  far <- transform(rows, lower = replace(lower, 4, 30))
  cut <- cut_rows(far, row_limits(far))
  expect_true(all(cut$from < cut$to & cut$to <= 2.5) && !cut$inside[4])
  expect_silent(ggplot2::ggplot_build(plot_interval_rows(far)))
  one <- plot(ref$fit, n = 1)
  expect_equal(nrow(one$data), 1)
  expect_match(one$labels$caption, "more coefficient.* nearer to zero")
})

test_that("of many levels the extreme ones are named, and all have a place in order", {
  part <- row_places(data.frame(condval = 1:200), 200)
  expect_identical(which(part$named), c(1:10, 191:200))
  expect_false(is.unsorted(part$at, strictly = TRUE))
  expect_equal(range(part$at), c(1, 26))
  expect_true(all(row_places(data.frame(condval = 1:60), 60)$named))
  expect_identical(short_names(c("short", strrep("ab", 20)), 12), c("short", "ababab..abab"))
})
