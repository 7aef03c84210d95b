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
  shown <- plot(ref$fit, intercept = TRUE, level = 0.9)$data
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
