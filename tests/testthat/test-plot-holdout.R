skip_if_not_installed("ggplot2")

d <- binary_data(80)
models <- list(x1 = scored_by(x1), x2 = scored_by(3 - x2), bad = function(data) stop("no"))
study <- with_seed(1, quiet_study(holdout(models, d, times = 8, response = "y",
                                          metrics = c("ber", "auc"))))

test_that("there is a box a model, and a panel a metric", {
  shown <- plot(study)
  built <- ggplot2::ggplot_build(shown)$data[[1]]
  expect_equal(nrow(built), 4)
  at <- built[built$PANEL == 1 & built$x == 2, ]
  values <- study$value[study$model == "x2" & study$metric == "ber"]
  expect_equal(c(at$lower, at$middle, at$upper), unname(quantile(values, c(0.25, 0.5, 0.75))))
  expect_identical(levels(shown$data$metric), c("Balanced error rate", "Area under the curve"))
  one <- ggplot2::autoplot(study, metrics = "auc")
  expect_equal(nrow(ggplot2::ggplot_build(one)$data[[1]]), 2)
  expect_identical(one$labels$y, "Area under the curve")
})

test_that("missing values are counted", {
  expect_identical(plot(study)$labels$caption, "16 of 48 values are missing")
  expect_identical(plot_ber(study, study)$labels$caption, "16 of 48 values are missing")
  expect_null(plot(study[study$model != "bad", ])$labels$caption)
  infinite <- study
  infinite$value[1] <- Inf
  expect_identical(plot(infinite)$labels$caption, "17 of 48 values are missing")
})

test_that("plot_ber() sets studies beside each other", {
  expect_identical(plot_ber(study)$labels$y, "Balanced error rate")
  both <- plot_ber(first = study, study)
  expect_identical(levels(both$data$study), c("first", "study 2"))
  expect_equal(as.vector(table(ggplot2::ggplot_build(both)$data[[1]]$PANEL)), c(2, 2))
})

test_that("a metric of the user's own keeps its name", {
  own <- with_seed(1, holdout(models["x1"], d, times = 3, response = "y",
                              metrics = list(mine = function(seen) mean(seen$link))))
  expect_identical(plot(own)$labels$y, "mine")
})

test_that("what can't be plotted is refused", {
  expect_refusal(plot_ber(), "argument", "plot_ber()")
  expect_refusal(plot_ber(3), "argument", "3")
  expect_refusal(plot(study, metrics = "brier"), "argument", c("`metrics`", "\"brier\""))
  expect_refusal(plot_ber(study[study$metric == "auc", ]), "argument", "\"ber\"")
  expect_refusal(plot(study, which = 1), "argument", "`which`")
})
