prob <- with_seed(1, plogis(rnorm(600, sd = 1.5)))
found <- calibration(prob, with_seed(2, runif(600) < prob))

test_that("points are bins, the line is the curve, ticks are the rows by class", {
  skip_if_not_installed("ggplot2")
  shown <- plot(found)
  expect_s3_class(shown, "ggplot")
  expect_identical(shown$data, found$bins)
  built <- ggplot2::ggplot_build(shown)$data
  expect_equal(built[[3]]$y, found$curve$observed)
  expect_equal(built[[4]]$ymax, found$bins$upper)
  expect_setequal(built[[6]]$x, prob[!found$truth])
  expect_setequal(built[[7]]$x, prob[found$truth])
  expect_length(plot(found, smooth = FALSE)$layers, length(shown$layers) - 2L)
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(found)))
  expect_match(shown$labels$title, "'TRUE'")
  expect_match(shown$labels$caption, "95 % Clopper-Pearson")
  expect_equal(range(found$curve$predicted), range(found$bins$predicted))
})

test_that("of many rows some ticks; without a curve the rest", {
  skip_if_not_installed("ggplot2")
  many <- calibration(rep(prob, 5), rep(found$truth, 5))
  built <- ggplot2::ggplot_build(plot(many))$data
  expect_identical(nrow(built[[6]]), most_ticks)
  expect_silent(ggplot2::ggplot_build(plot(calibration(c(0.2, 0.7, 0.4), c(FALSE, TRUE, FALSE)))))
  expect_refusal(plot(found, smoth = TRUE), "argument", "`smoth`")
  expect_refusal(plot(found, smooth = 2), "argument", "`smooth`")
})
