# Bins and parts by hand, the curve against splinefun(), and what must be refused.

bsvm <- paper_bsvm

sample_prob <- with_seed(1, plogis(rnorm(1000, sd = 1.5)))
sample_truth <- with_seed(2, runif(1000) < sample_prob)

test_that("bins by hand", {
  prob <- c(0.1, 0.2, 0.2, 0.7, 0.8, 0.9)
  truth <- c(FALSE, FALSE, TRUE, TRUE, FALSE, TRUE)
  found <- calibration(prob, truth, bins = 2)
  expect_equal(found$bins$n, c(3, 3))
  expect_equal(found$bins$predicted, c(0.5 / 3, 0.8))
  expect_equal(found$bins$observed, c(1 / 3, 2 / 3))
  exact <- binom.test(1, 3, conf.level = 0.95)$conf.int
  expect_equal(c(found$bins$lower[1], found$bins$upper[1]), as.vector(exact))
  expect_equal(found$parts[["reliability"]], ((0.5 / 3 - 1 / 3)^2 + (0.8 - 2 / 3)^2) / 2)
  expect_equal(found$parts[["resolution"]], (1 / 6)^2)
  expect_equal(found$parts[["uncertainty"]], 1 / 4)
  expect_identical(as.data.frame(found), found$bins)
  one <- calibration(rep(0.3, 20), rep(c(TRUE, FALSE), 10))
  expect_equal(nrow(one$bins), 1)
  expect_null(one$curve)
  all <- calibration(c(0.1, 0.2, 0.8, 0.9), c(FALSE, FALSE, TRUE, TRUE), bins = 2)
  expect_equal(c(all$bins$lower[1], all$bins$upper[2]), c(0, 1))
})

test_that("parts add up to the Brier score, the rest within bins is Stephenson's", {
  for (bins in c(1, 4, 10, 50)) {
    found <- calibration(sample_prob, sample_truth, bins = bins)
    sign <- c(1, -1, 1, 1)
    expect_equal(sum(sign * found$parts), mean((sample_prob - sample_truth)^2))
    expect_equal(found$brier, mean((sample_prob - sample_truth)^2))
    expect_equal(sum(found$bins$n), 1000)
    cuts <- cut(sample_prob, seq(0, 1, length.out = bins + 1))
    p <- sample_prob - ave(sample_prob, cuts)
    o <- sample_truth - ave(as.numeric(sample_truth), cuts)
    expect_equal(found$parts[["within"]], mean(p^2) - 2 * mean(p * o))
  }
})

test_that("the curve is a logistic regression on a natural spline of the log odds", {
  found <- calibration(sample_prob, sample_truth, level = 0.9)
  odds <- qlogis(sample_prob)
  knots <- quantile(odds, c(0.05, 0.35, 0.65, 0.95), names = FALSE)
  cardinal <- function(x) {
    vapply(1:4, function(j) splinefun(knots, 1:4 == j, method = "natural")(x), 0 * x)
  }
  spline <- glm(sample_truth ~ 0 + cardinal(odds), binomial())
  at <- predict(spline, data.frame(odds = qlogis(found$curve$predicted)), se.fit = TRUE)
  expect_close(found$curve$observed, plogis(at$fit), 1e-6)
  expect_close(found$curve$upper, plogis(at$fit + qnorm(0.95) * at$se.fit), 1e-6)
  expect_gt(mean(abs(found$curve$observed - found$curve$predicted) < 0.1), 0.9)
})

test_that("a fit's probabilities, or the same given by themselves", {
  d <- binary_data(200)
  fit <- bsvm(y ~ x1 + x2, d[1:100, ], engine = "vb")
  held <- d[101:200, ]
  held$x1[3] <- NA
  held$y[5] <- NA
  found <- calibration(fit, held, map = "probit")
  prob <- predict(fit, held, type = "prob", map = "probit")[-c(3, 5), ]
  by_hand <- calibration(unname(prob), held$y[-c(3, 5)])
  expect_equal(found, by_hand)
  expect_equal(calibration(unname(prob[, 2]), held$y[-c(3, 5)]), by_hand)
  expect_equal(sum(found$nobs), 98)
  expect_equal(found$auc, metric_auc(list(prob = prob[, 2], truth = held$y[-c(3, 5)] == "yes")))
  expect_output(print(found), "Brier score .* reliability")
  expect_output(print(found), "slope")
})

test_that("columns with names are known by them", {
  both <- cbind(yes = sample_prob, no = 1 - sample_prob)
  truth <- factor(ifelse(sample_truth, "yes", "no"))
  expect_identical(calibration(both, truth), calibration(sample_prob, truth))
  expect_identical(calibration(both[, 2:1], truth), calibration(sample_prob, truth))
})

# The pseudo-posterior is exact under the tilted prior (helper-tilted.R), and there so is the
# average of the likelihood's map over it, for rows that take no part in the tilt.
test_that("under the tilted prior averages over the pseudo-posterior are calibrated", {
  case <- tilted_cases()$fixed
  model <- case_twin(case)
  seen <- with_seed(4, {
    drawn <- tilted_draws(model, 300)
    do.call(rbind, lapply(1:300, function(i) {
      case$y <- drawn$y[i, ]
      b <- core_slice(case, draws = 100, burnin = 50, thin = 3, seed = i)$b
      x <- cbind(1, rnorm(20))
      truth <- runif(20) < normalised_map(drop(x %*% drawn$b[i, ]))
      data.frame(prob = rowMeans(normalised_map(tcrossprod(x, b))), truth)
    }))
  })
  line <- calibration(seen$prob, seen$truth)$line
  expect_lt(abs(line[["slope"]] - 1), 0.1)
  expect_lt(abs(line[["intercept"]]), 0.1)
})

test_that("what can't be judged is refused", {
  prob <- c(0.2, 0.7, 0.4)
  truth <- c(FALSE, TRUE, TRUE)
  expect_refusal(calibration(c(NA, 0.5, 0.4), truth), "argument", c("between 0 and 1", "1 do not"))
  expect_refusal(calibration(c(1.2, -0.5, 0.4), truth), "argument", "2 do not")
  expect_refusal(calibration("a", truth), "argument", "`object`")
  expect_refusal(calibration(numeric(0), logical(0)), "argument", "`object`")
  expect_refusal(calibration(matrix(0.1, 3, 3), truth), "argument", "3 x 3")
  expect_refusal(calibration(prob, truth[1:2]), "argument", "`truth`")
  expect_refusal(calibration(cbind(one = prob, two = 1 - prob), truth), "argument", "'one'")
  expect_refusal(calibration(prob, c(NA, TRUE, FALSE)), "argument", c("`truth`", "missing"))
  expect_refusal(calibration(prob), "argument", "`truth`")
  expect_refusal(calibration(prob, rep(TRUE, 3)), "argument", "both classes")
  expect_refusal(calibration(prob, c("a", "b", "c")), "argument", "`truth`")
  expect_refusal(calibration(prob, truth, bins = 0), "argument", "`bins`")
  expect_refusal(calibration(prob, truth, level = 2), "argument", "`level`")
  d <- binary_data()
  fit <- bsvm(y ~ x1, d, engine = "vb")
  expect_refusal(calibration(fit), "newdata", "`newdata`")
  expect_refusal(calibration(fit, d["x1"]), "newdata", "`y`")
  expect_refusal(calibration(fit, d[d$y == "no", ]), "newdata", "both classes")
  expect_refusal(calibration(fit, d, map = "none"), "argument", "`map`")
  expect_refusal(calibration(fit, d, maps = "probit"), "argument", "`maps`")
})
