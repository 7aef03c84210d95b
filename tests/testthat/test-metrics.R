# Metrics against cases worked by hand, pairs counted one by one, and glm().

seen <- list(truth = c(TRUE, TRUE, TRUE, FALSE, FALSE), class = c(TRUE, TRUE, FALSE, FALSE, TRUE),
             link = c(2, 1, -1, -2, 1), prob = c(0.9, 0.8, 0.3, 0.1, 0.8))

test_that("worked by hand", {
  expect_equal(metric_error(seen), 2 / 5)
  expect_equal(metric_ber(seen), (1 / 3 + 1 / 2) / 2)
  expect_equal(metric_brier(seen), (0.01 + 0.04 + 0.49 + 0.01 + 0.64) / 5)
  expect_equal(metric_log_score(seen), log(0.9 * 0.8 * 0.3 * 0.9 * 0.2) / 5)
  # of 6 pairs 4 are in order and one is tied
  expect_equal(metric_auc(seen), 4.5 / 6)
  seen$link <- NULL
  expect_equal(metric_auc(seen), 4.5 / 6)
})

test_that("areas count pairs, however many are tied", {
  many <- with_seed(1, list(truth = runif(300) < 0.3, link = sample(20, 300, TRUE)))
  pairs <- outer(many$link[many$truth], many$link[!many$truth], "-")
  expect_equal(metric_auc(many), mean((sign(pairs) + 1) / 2))
  rank_sum <- suppressWarnings(wilcox.test(many$link[many$truth], many$link[!many$truth]))
  expect_equal(metric_auc(many), rank_sum$statistic[["W"]] / length(pairs))
})

test_that("the slope is that of a logistic regression on the log odds", {
  many <- with_seed(2, {
    odds <- rnorm(500, sd = 2)
    list(truth = runif(500) < plogis(0.5 * odds), prob = plogis(odds))
  })
  fit <- glm(many$truth ~ qlogis(many$prob), family = binomial())
  expect_equal(calibration_line(many$truth, many$prob), coef(fit), ignore_attr = TRUE)
  expect_equal(metric_slope(many), coef(fit)[[2]])
})

test_that("what can't be known is NA", {
  one <- list(truth = c(TRUE, TRUE), class = c(TRUE, FALSE), link = 1:2, prob = c(0.5, 0.6))
  for (name in c("ber", "auc", "slope")) expect_identical(known_metrics()[[name]](one), NA_real_)
  for (name in c("auc", "brier", "log_score", "slope")) {
    expect_identical(known_metrics()[[name]](seen[c("truth", "class")]), NA_real_)
  }
  apart <- list(truth = c(TRUE, TRUE, FALSE), prob = c(0.9, 0.8, 0.1))
  expect_identical(metric_slope(apart), NA_real_)
  expect_identical(metric_slope(list(truth = c(TRUE, FALSE), prob = c(0.3, 0.3))), NA_real_)
  seen$link[2] <- NA
  expect_identical(metric_auc(seen), NA_real_)
  expect_identical(metric_log_score(list(truth = c(TRUE, FALSE), prob = c(0, 1))),
                   log(.Machine$double.eps))
})
