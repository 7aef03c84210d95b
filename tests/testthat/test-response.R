# Codings of the response: all the same model, each giving back its own levels.

bsvm <- paper_bsvm

d <- binary_data()
codings <- list(
  factor = d$y,
  ordered = factor(d$y, ordered = TRUE),
  logical = d$y == "yes",
  zero_one = as.numeric(d$y == "yes"),
  integer = as.integer(d$y == "yes"),
  plus_minus = ifelse(d$y == "yes", 1, -1),
  unused = factor(d$y, levels = c("no", "perhaps", "yes"))
)

test_that("every coding of the response gives the same fit", {
  reference <- bsvm(y ~ x1 + x2, d, engine = "vb")
  for (kind in names(codings)) {
    fit <- bsvm(y ~ x1 + x2, transform(d, y = codings[[kind]]), engine = "vb")
    expect_identical(fit$posterior, reference$posterior, label = kind)
  }
})

test_that("predicted classes have the levels of the response", {
  expected <- list(factor = c("no", "yes"), logical = c("FALSE", "TRUE"),
                   zero_one = c("0", "1"), plus_minus = c("-1", "1"))
  for (kind in names(expected)) {
    data <- transform(d, y = codings[[kind]])
    class <- predict(bsvm(y ~ x1 + x2, data, engine = "vb"), data)
    expect_s3_class(class, "factor")
    expect_identical(levels(class), expected[[kind]])
    expect_gt(mean(as.character(class) == as.character(data$y)), 0.7)
  }
})

test_that("what is not two classes is refused, with what was found", {
  fit_to <- function(y) {
    d$y <- y
    bsvm(y ~ x1, d, engine = "vb")
  }
  expect_refusal(fit_to(factor(rep(c("a", "b", "c"), 20))), "response",
                 c("3", "'a', 'b' and 'c'", "one against the rest"))
  expect_refusal(fit_to(factor(rep("a", 60))), "response", c("both classes", "'a'"))
  expect_refusal(fit_to(rep(TRUE, 60)), "response", "'TRUE'")
  expect_refusal(fit_to(rep(c(1, 2), 30)), "response", c("0/1", "1 and 2"))
  expect_refusal(fit_to(d$x1), "response", "0/1")
  expect_refusal(fit_to(as.Date("2020-01-01") + 1:60), "response", "Date")
  expect_refusal(bsvm(cbind(x1, x2) ~ x3, d), "response", "matrix")
})
