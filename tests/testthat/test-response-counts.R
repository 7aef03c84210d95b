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
  expect_identical(formula(update(fit, . ~ . + g))[[3]], quote(x + g))
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
