# Observed classes against drawn ones.

skip_if_not_installed("bayesplot")

d <- grouped_data()
fit <- as_normalised(gibbs_fit(y ~ x1 + f + (1 | g), d))
pp_check <- bayesplot::pp_check

test_that("every type is drawn from the rows of the fit", {
  bars <- pp_check(fit)
  expect_s3_class(bars, "ggplot")
  built <- ggplot2::ggplot_build(bars)
  expect_close(sort(built$data[[1]]$y), sort(as.numeric(table(d$y))), 1e-12)
  expect_identical(built$layout$panel_params[[1]]$x$get_labels(), c("no", "yes"))
  for (type in c("error_binned", "stat")) {
    expect_s3_class(suppressMessages(ggplot2::ggplot_build(pp_check(fit, type))), "ggplot_built")
  }
  grouped <- ggplot2::ggplot_build(pp_check(fit, "bars_grouped", group = "f"))
  expect_identical(nrow(grouped$layout$layout), 3L)
  own <- ggplot2::ggplot_build(pp_check(fit, "bars_grouped", group = d$f, freq = FALSE))
  expect_identical(nrow(own$layout$layout), 3L)
})

test_that("errors are observed minus mean probabilities", {
  drawn <- ggplot2::ggplot_build(pp_check(fit, "error_binned", bins = 5))
  points <- Filter(function(layer) nrow(layer) == 5 && "shape" %in% names(layer), drawn$data)[[1]]
  p <- colMeans(posterior_epred(fit))
  expect_close(sum(points$y) / 5, mean((d$y == "yes") - p), 0.01)
})

test_that("rows of weight zero are left out, random numbers are R's", {
  some <- as_normalised(gibbs_fit(y ~ x1, d, weights = as.numeric(x2 > 2)))
  built <- ggplot2::ggplot_build(pp_check(some))
  expect_close(sort(built$data[[1]]$y), sort(as.numeric(table(d$y[d$x2 > 2]))), 1e-12)
  one <- with_seed(1, pp_check(fit, draw_ids = 1:20))
  same <- with_seed(1, pp_check(fit, draw_ids = 1:20))
  expect_identical(ggplot2::layer_data(one, 2), ggplot2::layer_data(same, 2))
})

test_that("what can't be is refused", {
  expect_refusal(pp_check(fit, "dens"), "argument", "`type`")
  expect_refusal(pp_check(fit, "bars_grouped"), "argument", "`group`")
  expect_refusal(pp_check(fit, "bars_grouped", group = "zz"), "argument", c("`group`", "`f`"))
  expect_refusal(pp_check(fit, "bars_grouped", group = 1:3), "argument", "120 rows")
  expect_refusal(pp_check(fit, group = "f"), "argument", "bars_grouped")
  expect_refusal(pp_check(fit, "stat", stat = "no_such_function"), "unsupported", "bayesplot")
  expect_needs_law(pp_check, "pp_check()")
})
