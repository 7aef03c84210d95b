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

test_that("text of two values is the factor of these", {
  text <- transform(d, y = as.character(y))
  as_text <- bsvm(y ~ x1, text, engine = "vb", likelihood = likelihood_hinge())
  as_factor <- bsvm(factor(y) ~ x1, text, engine = "vb", likelihood = likelihood_hinge())
  expect_identical(coef(as_text), coef(as_factor))
  expect_identical(as_text$response$levels, sort(unique(text$y)))
  expect_identical(levels(predict(as_text, text)), sort(unique(text$y)))
  expect_s3_class(calibration(as_text, text), "bsvm_calibration")
  expect_identical(coef(update(as_text, standardize = TRUE)), coef(as_text))
  expect_refusal(bsvm(y ~ x1, transform(text, y = replace(y, 1, "third"))), "response",
                 c("3", "'third'"))
  expect_refusal(bsvm(y ~ x1, transform(text, y = replace(y, 1, NA))), "missing", "`y` has 1 NA")
})

test_that("what the messages about 1/2, cbind() and a level NA say to write works", {
  twos <- transform(d, y = as.integer(y))
  expect_refusal(bsvm(y ~ x1, twos), "response", c("factor()", "1 and 2"))
  expect_s3_class(bsvm(factor(y) ~ x1, twos, engine = "vb"), "bsvm")
  counts <- data.frame(x = c(-1, 0, 1), successes = c(1, 3, 4), failures = c(4, 2, 1))
  expect_refusal(bsvm(I(cbind(successes, failures)) ~ x, counts), "response",
                 c("`weights`", "y = rep(c(1, 0), each = 3)", "c(successes, failures)"))
  long <- with(counts, data.frame(x = c(x, x), y = rep(c(1, 0), each = 3),
                                  n = c(successes, failures)))
  rows <- long[rep(1:6, long$n), ]
  expect_same_posterior(bsvm(y ~ x, long, weights = n, engine = "vb"),
                        bsvm(y ~ x, rows, engine = "vb"), tolerances[["invariance"]])
  absent <- transform(d, y = factor(replace(as.character(y), x1 > 1, NA), exclude = NULL))
  expect_refusal(bsvm(y ~ x1, absent, engine = "vb"), "response", c("`NA`", "factor()", "na.omit"))
  expect_refusal(bsvm(y ~ x1, absent, engine = "vb", na.action = na.omit), "response", "`NA`")
  expect_identical(nobs(bsvm(factor(y) ~ x1, absent, engine = "vb", na.action = na.omit)),
                   sum(d$x1 <= 1))
  unused <- transform(d, y = addNA(y))
  expect_identical(bsvm(y ~ x1, unused, engine = "vb")$response$levels, levels(d$y))
})
