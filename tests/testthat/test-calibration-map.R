# Slopes against a logistic regression through zero with Platt's targets.

bsvm <- paper_bsvm

d <- binary_data(300)
train <- d[1:100, ]
held <- d[101:300, ]
fit <- bsvm(y ~ x1 + x2, train, engine = "vb")

test_that("the slope is Platt's without intercept, and predict() takes it", {
  map <- calibration_map(fit, held)
  link <- predict(fit, held, type = "link")
  n <- table(held$y)
  target <- ifelse(held$y == "yes", (n[["yes"]] + 1) / (n[["yes"]] + 2), 1 / (n[["no"]] + 2))
  expect_close(map$slope, coef(suppressWarnings(glm(target ~ 0 + link, binomial()))), 1e-6)
  p <- predict(fit, d, type = "prob", map = map)[, 2]
  expect_close(p, plogis(map$slope * predict(fit, d, type = "link")), 1e-12)
  expect_identical(unname(p >= 0.5), unname(predict(fit, d) == "yes"))
  expect_output(print(map), "Learned from 200 held-out rows", fixed = TRUE)
})

test_that("rows count by the fit's class weights", {
  weighted <- bsvm(y ~ x1 + x2, train, engine = "vb", class.weights = c(yes = 3))
  link <- predict(weighted, held, type = "link")
  w <- ifelse(held$y == "yes", 3, 1)
  n <- tapply(w, held$y, sum)
  target <- ifelse(held$y == "yes", (n[["yes"]] + 1) / (n[["yes"]] + 2), 1 / (n[["no"]] + 2))
  expected <- suppressWarnings(glm(target ~ 0 + link, binomial(), weights = w))
  expect_close(calibration_map(weighted, held)$slope, coef(expected), 1e-6)
})

test_that("separated rows have a finite slope; matrices have their classes as `y`", {
  x <- as.matrix(d[c("x1", "x2")])
  matrix_fit <- bsvm(x[1:100, ], train$y, engine = "vb")
  expect_equal(calibration_map(matrix_fit, x[101:300, ], y = held$y)$slope,
               calibration_map(fit, held)$slope, tolerance = 1e-6)
  right <- held[predict(fit, held) == held$y, ]
  expect_finite(calibration_map(fit, right)$slope)
})

test_that("rows that can't teach are refused", {
  expect_refusal(calibration_map(fit), "newdata", "`newdata`")
  expect_refusal(calibration_map(fit, held[c("x1", "y")]), "newdata", "`x2`")
  expect_refusal(calibration_map(fit, held[c("x1", "x2")]), "newdata", "`y`")
  expect_refusal(calibration_map(fit, held[held$y == "yes", ]), "newdata", "both classes")
  expect_refusal(calibration_map(fit, held[1:9, ]), "newdata", c("10", "9"))
  swapped <- transform(held, y = factor(ifelse(y == "yes", "no", "yes"), c("no", "yes")))
  expect_refusal(calibration_map(fit, swapped), "newdata", "no better than chance")
  expect_refusal(calibration_map(1, held), "argument", "bsvm()")
  expect_refusal(calibration_map(fit, held, slope = 1), "argument", "`slope`")
})
