test_that("probabilities of statements are shares of draws", {
  fit <- bsvm(y ~ trt + week + (1 | ID), MASS::bacteria, engine = "gaussian")
  draws <- as.matrix(fit)
  table <- hypothesis(fit, c("trtdrug < 0", "trtdrug < `trtdrug+`", "Intercept", "exp(week) > 1"))
  expect_identical(table$Probability,
                   c(mean(draws[, "trtdrug"] < 0), mean(draws[, "trtdrug"] < draws[, "trtdrug+"]),
                     mean(draws[, 1] > 0), mean(draws[, "week"] > 0)))
  expect_close(table$Estimate[2], mean(draws[, "trtdrug"] - draws[, "trtdrug+"]), 1e-12)
  expect_close(table$upper[4], quantile(exp(draws[, "week"]) - 1, 0.975), 1e-12)
  expect_output(print(table), "the larger one")
  expect_false(any(grepl("larger", capture.output(print(hypothesis(fit, "week > 0"))))))
  expect_identical(hypothesis(fit)$Hypothesis, paste0("`", names(fixef(fit)), "`"))
  named <- bsvm(am ~ `my weight` + wt:`my weight`, transform(mtcars, `my weight` = wt,
                                                             check.names = FALSE), engine = "vb")
  own <- as.matrix(named)
  table <- hypothesis(named, c("`my weight` < 0", "`my weight:wt` < 0"))
  expect_identical(table$Probability, unname(colMeans(own[, 2:3] < 0)))
  expect_identical(nrow(hypothesis(named)), 3L)
  for (bad in list("x <", "week == 0", "1 > 0", "week > 0 & trtdrug < 0", "0 < week < 1", 3,
                   NA_character_, character(0), "week; trtdrug", "nix > 0", "week + 'a' > 0")) {
    expect_refusal(hypothesis(fit, bad), "argument", "`hypothesis`")
  }
  mode <- bsvm(y ~ week, MASS::bacteria, likelihood = "hinge", engine = "em",
               prior = prior_ridge(variance = 1))
  expect_refusal(hypothesis(mode, "week < 0"), "unsupported", "hypothesis() needs")
  expect_refusal(hypothesis(fit, "week > 0", prob = 0.9), "argument", "`level`")
  expect_refusal(hypothesis(fit, "poly(week, 2)1 > 0"), "argument", "backticks")
  expect_refusal(hypothesis(fit, "r_ID[X01,Intercept] > 0"), "argument", "`r_ID[X01,Intercept]` < 0")
  for (code in c("stop('run') > week", "week > system('true')", "{week} > 0", "week$x > 0",
                 "(function(x) x)(week) > 0", "base::exp(week) > 0", "week > max(week)",
                 "r_ID[X01,Intercept] > 0", "week:trtdrug < 0", "week > TRUE")) {
    expect_refusal(hypothesis(fit, code), "argument", c("may use", "plogis()", "backticks"))
  }
  expect_close(hypothesis(fit, "-plogis(Intercept)^2 / 2 < pmin(week, 1)")$Estimate,
               mean(-plogis(draws[, 1])^2 / 2 - pmin(draws[, "week"], 1)), 1e-12)
})
