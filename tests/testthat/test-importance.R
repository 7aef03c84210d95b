test_that("importance is the increase of the loss, by hand", {
  fit <- bsvm(type ~ glu + bmi + bp, MASS::Pima.tr, engine = "gaussian")
  test <- MASS::Pima.te[1:100, ]
  found <- importance(fit, test, times = 1, seed = 3)
  expect_identical(found$predictor[1], "glu")
  loss <- function(d) {
    p <- predict(fit, d, type = "prob")
    unname(-log(p[cbind(seq_len(nrow(d)), match(test$type, colnames(p)))]))
  }
  order <- with_seed(3, sample.int(100))
  increase <- loss(transform(test, glu = glu[order])) - loss(test)
  expect_close(found$estimate[1], mean(increase), 1e-12)
  expect_close(found$se[1], sd(increase) / 10, 1e-12)
  expect_identical(importance(fit, test, seed = 1), importance(fit, test, seed = 1))
  expect_output(print(importance(fit, times = 1)), "rows of the fit the increases are too large")
  expect_s3_class(plot(found), "ggplot")
  expect_identical(nrow(importance(fit, transform(test, bp = replace(bp, 1:3, NA)), times = 1)), 3L)
  grouped <- bsvm(type ~ glu + g, transform(MASS::Pima.tr, g = gl(2, 100)), engine = "vb")
  new <- transform(test, g = factor(rep(1:4, 25)))
  expect_warning(found <- importance(grouped, new, times = 2, seed = 1, allow_new_levels = TRUE),
                 class = "bsvm_warning_new_levels")
  expect_identical(found, structure(importance(grouped, new[new$g %in% 1:2, ], times = 2, seed = 1),
                                    row.names = 1:2))
  weighted <- bsvm(type ~ glu, MASS::Pima.tr, weights = rep(0:3, 50), engine = "gaussian")
  repeated <- importance(weighted, times = 1, seed = 1)
  expect_identical(attr(repeated, "rows"), 150L)
  expect_refusal(importance(bsvm(type ~ 1, MASS::Pima.tr)), "unsupported", "predictor")
  expect_refusal(importance(fit, test["glu"]), "newdata", "type")
  expect_refusal(importance(fit, test, metric = "auc"), "argument", "`metric`")
  expect_refusal(importance(fit, test, times = 0), "argument", "`times`")
  expect_refusal(importance(fit, test[0, ]), "newdata", "two complete rows")
})

test_that("a grouping factor and a numeric response have an importance, too", {
  fit <- bsvm(mpg ~ wt + (1 | cyl), mtcars, likelihood = likelihood_gaussian(), engine = "gaussian")
  found <- importance(fit, mtcars, metric = "mae", times = 2, seed = 1)
  expect_setequal(found$predictor, c("wt", "cyl"))
  constant <- importance(fit, transform(mtcars, wt = 3), times = 2, seed = 1)
  expect_identical(constant$estimate[constant$predictor == "wt"], 0)
})
