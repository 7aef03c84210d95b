counts <- data.frame(x = c(-1, 0, 1, 2), g = gl(2, 2), a = c(1, 3, 0, 4), n = c(5, 5, 0, 5))

test_that("counts of two classes are rows of both classes, weighted", {
  fit <- bsvm(cbind(a, n - a) ~ x, counts, engine = "vb")
  long <- with(counts, data.frame(x = c(x, x), y = rep(c(1, 0), each = 4), n = c(a, n - a)))
  rows <- long[rep(1:8, long$n), ]
  single <- bsvm(y ~ x, rows, engine = "vb")
  expect_same_posterior(fit, single, tolerances[["invariance"]])
  expect_identical(fit$response$levels, c("failure", "success"))
  expect_equal(sum(weights(fit)), 15)
  expect_close(predict(fit, counts, type = "prob")[, 2],
               predict(single, counts, type = "prob")[, 2], 1e-6)
  expect_identical(formula(update(fit, . ~ . + g)), cbind(a, n - a) ~ x + g, ignore_attr = TRUE)
  dot <- bsvm(cbind(a, n - a) ~ ., counts, engine = "vb")
  expect_identical(names(fixef(dot)), c("(Intercept)", "x", "g2"))
  expect_identical(bsvm(cbind(a, n - a) ~ . + (1 | g), counts, engine = "vb")$formula[[3]],
                   quote(x + (1 | g)))
  expect_equal(coef(bsvm(cbind(a, n - a) ~ x, counts, subset = x < 2, engine = "vb")),
               coef(bsvm(cbind(a, n - a) ~ x, counts[1:3, ], engine = "vb")))
  named <- bsvm(cbind(a, n - a) ~ x, transform(counts, outcome = 1, count = 2), engine = "vb")
  expect_same_posterior(named, fit, tolerances[["rounding"]])
})

test_that("what is no counts is refused", {
  for (bad in list(quote(cbind(a, n - a - 1)), quote(cbind(a, n / 3)), quote(cbind(a, NA * n)))) {
    formula <- as.formula(call("~", bad, quote(x)))
    expect_refusal(bsvm(formula, counts), "response", c("counts", "Found"))
  }
  expect_refusal(bsvm(cbind(a, n - a) ~ x, counts, weights = n), "weights", "counts")
  expect_refusal(bsvm(cbind(a, n, n) ~ x, counts), "response", "4 x 3")
  a <- counts$a
  expect_refusal(bsvm(cbind(a, a) ~ a), "data", "`data`")
})

herds <- data.frame(period = gl(4, 1, 40), herd = gl(10, 4), z = sin(1:40),
                    ill = c(2, 3, 4, 0, 3, 1, 1, 8), size = c(14, 12, 9, 5, 22, 18, 21, 22))

test_that("fits of counts speak of rows of counts, as glm() does", {
  fit <- bsvm(cbind(ill, size - ill) ~ period + (1 | herd), herds, engine = "gaussian")
  other <- glm(cbind(ill, size - ill) ~ period, binomial, herds)
  expect_identical(nobs(fit), nobs(other))
  expect_identical(glance(fit)$nobs, 40L)
  expect_identical(formula(fit), cbind(ill, size - ill) ~ period + (1 | herd), ignore_attr = TRUE)
  expect_output(print(fit), "615 trials in 40 rows, 10 levels of herd", fixed = TRUE)
  expect_false(any(grepl("put into class", capture.output(print(fit)))))
  drawn <- simulate(fit, 400, seed = 1)
  expect_identical(dim(drawn), c(40L, 400L))
  expect_identical(colnames(drawn$sim_1), c("ill", ""))
  expect_equal(unname(rowSums(drawn$sim_7)), herds$size)
  prob <- predict(fit, herds, type = "prob")[, 2]
  mean <- rowMeans(vapply(drawn, function(one) one[, 1], numeric(40)))
  expect_lt(max(abs(mean - herds$size * prob) / sqrt(herds$size)), 0.15)
  again <- update(fit, . ~ . + z)
  expect_identical(deparse1(again$call$formula), "cbind(ill, size - ill) ~ period + (1 | herd) + z")
  expect_identical(nobs(update(fit, data = herds[1:20, ])), 20L)
  expect_equal(coef(update(again, . ~ . - z)), coef(fit))
  herds$z[3:4] <- NA
  omitted <- bsvm(cbind(ill, size - ill) ~ z + (1 | herd), herds, na.action = na.omit,
                  engine = "gaussian")
  expect_output(print(omitted), "in 38 rows, 10 levels of herd; 2 more excluded")
  expect_identical(nrow(simulate(omitted)), 38L)
  expect_equal(rowSums(simulate(omitted)[[1]]), herds$size[-(3:4)])
})

test_that("subset and offset of counts are those of the rows of the data", {
  outside <- sin(1:40)
  fit <- bsvm(cbind(ill, size - ill) ~ period, herds, engine = "gaussian", offset = outside)
  long <- with(herds, data.frame(period = rep(period, 2), y = rep(c(1, 0), each = 40),
                                 n = c(ill, size - ill), o = rep(outside, 2)))
  single <- bsvm(y ~ period, long, weights = n, offset = o, engine = "gaussian")
  expect_close(fixef(fit), fixef(single), 1e-8)
  expect_close(fixef(update(fit, . ~ . + z)),
               fixef(bsvm(cbind(ill, size - ill) ~ period + z, cbind(herds, o = outside), offset = o,
                          engine = "gaussian")), 1e-8)
  expect_identical(nobs(update(fit, offset = NULL, data = herds, subset = c("5", "6", "7", "8"))), 4L)
  twice <- bsvm(cbind(ill, size - ill) ~ period, herds, engine = "gaussian", subset = c(1:40, 1:2))
  expect_identical(nobs(twice), 42L)
  expect_refusal(bsvm(cbind(ill, size - ill) ~ period, herds, subset = nope), "argument", "`subset`")
  expect_refusal(bsvm(cbind(ill, size - ill) ~ period, herds, subset = c("5", "x")), "argument",
                 "`subset`")
  expect_refusal(bsvm(cbind(ill, size - ill) ~ period, herds, offset = 1:3), "offset", "(40)")
})

test_that("importance, hold-out and calibration take counts and weigh trials", {
  fit <- bsvm(cbind(ill, size - ill) ~ period + (1 | herd), herds, engine = "gaussian")
  found <- importance(fit, herds, seed = 1, times = 3L)
  expect_equal(importance(fit, seed = 1, times = 3L)$estimate, found$estimate)
  expect_identical(attr(found, "rows"), 40L)
  prob <- predict(fit, herds, type = "prob")
  own <- -with(herds, ill * log(prob[, 2]) + (size - ill) * log(prob[, 1]))
  set.seed(1)
  increase <- lapply(1:3, function(k) {
    shuffled <- transform(herds, period = period[sample.int(40)])
    prob <- predict(fit, shuffled, type = "prob")
    -with(herds, ill * log(prob[, 2]) + (size - ill) * log(prob[, 1])) - own
  })
  expect_close(found$estimate[found$predictor == "period"], sum(unlist(increase)) / 3 / 615, 1e-10)
  expect_refusal(importance(fit, herds["period"]), "newdata", "`ill`")
  set.seed(1)
  study <- holdout(list(fit = fit, both = cbind(ill, size - ill) ~ period + (1 | herd),
                        none = cbind(ill, size - ill) ~ 1), herds, times = 2,
                   predictions = TRUE)
  expect_identical(levels(study$metric), c("log_score", "seconds"))
  expect_output(print(study), "75 % of the rows trained on; 615 trials", fixed = TRUE)
  tested <- holdout_predictions(study)
  row <- rep(1:40, herds$size)
  for (k in 1:2) {
    own <- table(row[tested$.row[tested$split == k & tested$model == "fit"]])
    expect_equal(as.vector(own), herds$size[as.integer(names(own))])
  }
  expect_equal(sum(tested$truth[tested$model == "fit" & tested$split == 1] == "success"),
               sum(herds$ill[unique(row[tested$.row[tested$split == 1]])]))
  expect_refusal(holdout(list(fit, cbind(ill, size) ~ 1), herds, times = 1), "argument",
                 "same response")
  expect_identical(sum(calibration(fit, herds)$nobs), 615L)
  drawn <- update(fit, engine = engine_slice(draws = 200))
  expect_refusal(log_lik(drawn, herds), "newdata", c("row for each trial", "`outcome`"))
  expect_identical(prior_for(cbind(ill, size - ill) ~ ., herds)$name[3:5],
                   c("period", "herd", "z"))
})

test_that("effects average over rows of counts, and posterior checks are of trials", {
  fit <- bsvm(cbind(ill, size - ill) ~ period + z, herds, engine = "gaussian")
  skip_if_not_installed("ggplot2")
  expect_match(plot(fit, "effects")$labels$caption, "in 40 rows")
  skip_if_not_installed("bayesplot")
  bars <- suppressMessages(bayesplot::pp_check(fit))
  expect_equal(sum(ggplot2::ggplot_build(bars)$data[[1]]$y), 615)
})
