bsvm <- paper_bsvm

d <- binary_data(80)
fit <- bsvm(y ~ x1 + x2 + x3, d, prior = prior_laplace_zero(0.3), engine = "vb")
other <- bsvm(y ~ x2 + x3, d, prior = prior_laplace_zero(0.5), engine = "vb")

test_that("bars are the probabilities, sorted, colours the signs", {
  skip_if_not_installed("ggplot2")
  shown <- plot_inclusion(fit)
  expect_s3_class(shown, "ggplot")
  found <- inclusion(fit)
  expect_equal(shown$data$probability, found$probability)
  expect_identical(rev(levels(shown$data$term)), found$term[order(-found$probability)])
  expect_identical(shown$data$sign, likely_sign(found$p_positive))
  expect_identical(as.character(likely_sign(c(0.01, 0.3, 0.6, 0.99, NA))),
                   c("negative", "probably negative", "probably positive", "positive", "not known"))
  expect_equal(plot(found)$data, shown$data)
  expect_equal(ggplot2::autoplot(found)$data, shown$data)
  expect_silent(ggplot2::ggplot_build(shown))
})

test_that("several fits stand in panels with their names", {
  skip_if_not_installed("ggplot2")
  shown <- plot_inclusion(sparse = fit, inclusion(other))
  expect_identical(levels(shown$data$fit), c("sparse", "fit 2"))
  expect_equal(nrow(shown$data), 5)
  expect_equal(as.vector(table(ggplot2::ggplot_build(shown)$data[[1]]$PANEL)), c(3, 2))
})

test_that("of many columns the most probable are shown, and the caption says so", {
  skip_if_not_installed("ggplot2")
  shown <- plot_inclusion(fit, n = 2)
  found <- inclusion(fit)
  expect_setequal(as.character(shown$data$term), head(found$term[order(-found$probability)], 2))
  expect_match(shown$labels$caption, "1 more column with probability")
})

test_that("what can't be plotted is refused", {
  skip_if_not_installed("ggplot2")
  expect_refusal(plot_inclusion(), "argument", "plot_inclusion()")
  expect_refusal(plot_inclusion(3), "argument", "3")
  expect_refusal(plot_inclusion(fit, thershold = 0.2), "argument", c("`thershold`", "0.2"))
  expect_refusal(plot_inclusion(fit, threshold = 2), "argument", "`threshold`")
  expect_refusal(plot_inclusion(fit, n = 0), "argument", "`n`")
})
