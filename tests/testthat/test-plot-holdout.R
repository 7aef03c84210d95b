skip_if_not_installed("ggplot2")

d <- binary_data(80)
models <- list(x1 = scored_by(x1), x2 = scored_by(3 - x2), bad = function(data) stop("no"))
study <- with_seed(1, quiet_study(holdout(models, d, times = 8, response = "y",
                                          metrics = c("ber", "auc"))))

test_that("there is a box a model, a point a split, and two panels a metric", {
  shown <- plot(study)
  built <- ggplot2::ggplot_build(shown)$data
  expect_equal(nrow(built[[2]]), 4)
  values <- study$value[study$model == "x2" & study$metric == "ber"]
  at <- built[[2]][built[[2]]$PANEL == 1 & built[[2]]$y == 2, ]
  expect_equal(c(at$xlower, at$xmiddle, at$xupper), unname(quantile(values, c(0.25, 0.5, 0.75))))
  points <- built[[3]][built[[3]]$PANEL == 1 & round(built[[3]]$y) == 2, ]
  expect_setequal(points$x, values)
  expect_identical(levels(shown$data$panel),
                   c("Balanced error rate", "Balanced error rate\rDifference from 'x1'",
                     "Area under the curve", "Area under the curve\rDifference from 'x1'"))
  expect_identical(panel_title(levels(shown$data$panel)[2:3]),
                   c("Difference from 'x1'", "Area under the curve"))
  expect_equal(built[[1]]$xintercept, c(0.5, 0, 0.5, 0))
  one <- ggplot2::autoplot(study, metrics = "auc")
  expect_equal(nrow(ggplot2::ggplot_build(one)$data[[2]]), 2)
  expect_match(one$labels$title, "Area under the curve")
})

test_that("differences are those of the summary, with an interval by Student's t", {
  table <- summary(study)$differences
  own <- table[table$metric == "ber" & table$model == "x2", ]
  shown <- ggplot2::ggplot_build(plot(study, metrics = "ber"))$data[[4]]
  half <- qt(0.975, own$splits - 1) * own$se_corrected
  expect_close(c(shown$xmin, shown$xmax), own$difference + c(-1, 1) * half, 1e-12)
  lost <- study
  attr(lost, "splits") <- NULL
  shown <- ggplot2::ggplot_build(plot(lost, metrics = "ber"))$data[[4]]
  expect_close(shown$xmax, own$difference + qt(0.975, own$splits - 1) * own$se, 1e-12)
})

test_that("seconds are apart, in logarithms and ratios", {
  timed <- with_seed(1, holdout(models[1:2], d, times = 5, response = "y"))
  own <- timed$metric == "seconds"
  timed$value[own] <- ifelse(timed$model[own] == "x1", 0.1, 10)
  expect_match(plot(timed)$labels$caption, "Not shown: seconds", fixed = TRUE)
  shown <- plot(timed, metrics = "seconds")
  expect_setequal(round(exp(shown$data$value), 10), c(0.1, 10))
  ratio <- ggplot2::ggplot_build(shown)$data[[4]]
  expect_close(exp(ratio$xmin - panel_offset), 100, 1e-6)
  expect_match(levels(shown$data$panel)[2], "Ratio to 'x1'")
})

test_that("missing values are counted", {
  expect_match(plot(study)$labels$caption, "16 of 48 values are missing")
  expect_match(plot_ber(study, study)$labels$caption, "16 of 48 values are missing")
  expect_no_match(plot(study[study$model != "bad", ])$labels$caption, "missing")
  infinite <- study
  infinite$value[1] <- Inf
  expect_match(plot(infinite)$labels$caption, "17 of 48 values are missing")
  expect_refusal(plot(study[study$model == "bad", ]), "unsupported", "missing")
  first <- plot(study[study$model == "x1", ])
  expect_silent(ggplot2::ggplot_build(first))
  expect_length(levels(first$data$panel), 2)
})

test_that("plot_ber() sets studies beside each other", {
  expect_match(plot_ber(study)$labels$title, "Balanced error rate")
  both <- plot_ber(first = study, study)
  expect_identical(levels(both$data$panel)[c(1, 3)], c("first", "study 2"))
  expect_equal(as.vector(table(ggplot2::ggplot_build(both)$data[[2]]$PANEL)), c(2, 0, 2, 0))
})

test_that("a metric of the user's own keeps its name", {
  own <- with_seed(1, holdout(models["x1"], d, times = 3, response = "y",
                              metrics = list(mine = function(seen) mean(seen$link))))
  expect_match(plot(own)$labels$title, "mine")
})

test_that("what can't be plotted is refused", {
  expect_refusal(plot_ber(), "argument", "plot_ber()")
  expect_refusal(plot_ber(3), "argument", "3")
  expect_refusal(plot(study, metrics = "brier"), "argument", c("`metrics`", "\"brier\""))
  expect_refusal(plot_ber(study[study$metric == "auc", ]), "argument", "\"ber\"")
  expect_refusal(plot(study, which = 1), "argument", "`which`")
})
