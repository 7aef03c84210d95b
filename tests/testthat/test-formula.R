d <- grouped_data()

# Design and grouping of a formula, against lme4's parser.
expect_like_lme4 <- function(formula, data = d) {
  frame <- bsvm_frame(formula, data)
  theirs <- lme4::glFormula(formula, data, family = binomial)
  expect_equal(unname(frame$x), unname(theirs$X), ignore_attr = TRUE)
  expect_identical(frame$columns, colnames(theirs$X))
  factor <- theirs$reTrms$flist[[1]]
  expect_identical(frame$group$levels, levels(factor))
  expect_identical(as.integer(frame$group$codes), as.integer(factor))
  expect_setequal(frame$group$labels, unlist(theirs$reTrms$cnms))
  z <- twin_design(matrix(0, nrow(frame$x), 0), frame$group$codes, frame$group$z)
  order <- lme4_column_order(theirs$reTrms, frame$group$labels)
  expect_equal(z, unname(t(as.matrix(theirs$reTrms$Zt)))[, order], ignore_attr = TRUE)
}

# lme4's columns are term by term, ours level by level.
lme4_column_order <- function(re, labels) {
  m <- nlevels(re$flist[[1]])
  where <- match(labels, unlist(re$cnms))
  as.vector(t(outer(seq_len(m), (where - 1) * m, `+`)))
}

test_that("bars are parsed as lme4 does", {
  skip_if_not_installed("lme4")
  for (formula in list(
    y ~ x1 + (1 | g),
    y ~ x1 * f + (1 | g),
    y ~ (1 | g),
    y ~ 0 + x1 + (1 | g),
    y ~ x1 + (0 + t | g),
    y ~ x1 + (t || g),
    y ~ x1 + (1 + t + x2 || g),
    y ~ x1 + (1 | g) + (0 + t | g),
    y ~ poly(x2, 2) + log1p(x3) + (1 | g),
    y ~ x1 + I(x2^2) + (x1:t - 1 | g),
    y ~ x1 + (1 | f:g)
  )) expect_like_lme4(formula)
})

test_that("the same, where rows are missing or chosen", {
  skip_if_not_installed("lme4")
  d$x1[3] <- NA
  d$g[5] <- NA
  frame <- bsvm_frame(y ~ x1 + (1 | g), d, na.action = na.omit, subset = x3 < 2)
  theirs <- lme4::glFormula(y ~ x1 + (1 | g), d, family = binomial, subset = x3 < 2)
  expect_equal(unname(frame$x), unname(theirs$X), ignore_attr = TRUE)
  expect_identical(as.integer(frame$group$codes), as.integer(theirs$reTrms$flist[[1]]))
})

test_that("`.` is every other column, without the grouping factor", {
  data <- d[c("y", "x1", "x2", "f", "g")]
  fit <- bsvm(y ~ ., data[-5], engine = "vb")
  expect_named(fixef(fit), c("(Intercept)", "x1", "x2", "fb", "fc"))
  expect_false("." %in% all.vars(formula(fit)))
  with_bars <- bsvm(y ~ . + (1 | g), data, engine = "vb")
  expect_named(fixef(with_bars), c("(Intercept)", "x1", "x2", "fb", "fc"))
  expect_identical(names(fixef(bsvm(y ~ . - x2, data[-5], engine = "vb"))),
                   c("(Intercept)", "x1", "fb", "fc"))
  expect_refusal(bsvm(y ~ x1 + (. | g), data), "formula", "`.`")
  expect_refusal(bsvm(y ~ .), "formula", "`data`")
})

test_that("variables may come from where the formula was made", {
  outside <- d$x1
  degree <- 2
  fit <- bsvm(y ~ outside + poly(x2, degree), d, engine = "vb")
  inside <- bsvm(y ~ x1 + poly(x2, 2), d, engine = "vb")
  expect_close(fixef(fit), fixef(inside), tolerances[["rounding"]])
  all_outside <- with(d, bsvm(y ~ x1, engine = "vb"))
  expect_close(fixef(all_outside), fixef(bsvm(y ~ x1, d, engine = "vb")),
               tolerances[["rounding"]])
})

test_that("what can't be fitted yet is refused with what can", {
  expect_refusal(bsvm(y ~ x1 + (t | g), d), "unsupported", "(t || g)")
  expect_refusal(bsvm(y ~ x1 + (1 + t | g), d), "unsupported", c("correlated", "||"))
  expect_refusal(bsvm(y ~ x1 + (1 | g) + (1 | f), d), "unsupported",
                 c("one grouping factor", "`g`", "`f`"))
  expect_refusal(bsvm(y ~ x1 + (1 | g / f), d), "unsupported", "one grouping factor")
})

test_that("malformed formulas are refused", {
  expect_refusal(bsvm(~ x1, d), "formula", c("no response", "y ~ x"))
  expect_refusal(bsvm(y ~ 0, d), "formula", "nothing to fit")
  expect_refusal(bsvm(y ~ x1 * (1 | g), d), "formula", "added")
  expect_refusal(bsvm(y ~ x1 - (1 | g), d), "formula", "added")
  expect_refusal(bsvm(y ~ x1 + (1 | g) + (1 | g), d), "formula", "twice")
  expect_refusal(bsvm(y ~ x1 + (0 | g), d), "formula", "no effect")
  expect_refusal(bsvm_frame("y ~ x1", d), "predictors", "must be a formula")
  expect_refusal(bsvm(d, formula = "y ~ x1"), "formula", "must be a formula")
})

test_that("a bar inside a call or in the response is R's own `or`", {
  fit <- bsvm((x2 > 3 | x1 > 1) ~ x3 + I(x1 > 1 | t > 1), d, engine = "vb")
  expect_length(fixef(fit), 3)
  expect_close(predict(fit, d, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("an intercept alone, group effects alone, no intercept", {
  only <- bsvm(y ~ 1, d, engine = "vb")
  expect_named(fixef(only), "(Intercept)")
  expect_valid_fit(only)
  groups <- bsvm(y ~ 0 + (1 | g), d, engine = "vb")
  expect_length(fixef(groups), 0)
  expect_finite(ranef(groups)$g)
  none <- bsvm(y ~ 0 + x1 + x2, d, engine = "vb")
  expect_named(fixef(none), c("x1", "x2"))
})
