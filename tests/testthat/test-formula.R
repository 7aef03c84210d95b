bsvm <- paper_bsvm

d <- grouped_data()

d$h <- factor(rep(c("u", "v", "w"), 40))
d$k <- rep(c(10, 9, 100, 2), each = 30)

# Design, grouping factors and multipliers of a formula, against lme4's parser.
expect_like_lme4 <- function(formula, data = d, ...) {
  frame <- bsvm_frame(formula, data, ...)
  ignore <- lme4::glmerControl(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore",
                               check.nlev.gtr.1 = "ignore")
  theirs <- lme4::glFormula(formula, data, family = binomial, control = ignore, ...)
  label <- deparse1(formula)
  expect_equal(unname(frame$x), unname(theirs$X), ignore_attr = TRUE, label = label)
  expect_identical(frame$columns, colnames(theirs$X))
  expect_same_factors(frame$groups, theirs$reTrms$flist, label)
  expect_same_multipliers(frame$groups, theirs$reTrms, label)
}

# lme4 of before 2025 writes k:(h:g) where reformulas has k:h:g.
plain <- function(names) gsub("[()]", "", names)

expect_same_factors <- function(groups, flist, label) {
  expect_setequal(names(groups), plain(names(flist)))
  for (name in names(flist)) {
    ours <- groups[[plain(name)]]
    expect_identical(plain(ours$levels), plain(levels(flist[[name]])), label = label)
    expect_identical(ours$codes, as.integer(flist[[name]]), label = label)
  }
}

# Both level by level within a term; the order of terms differs, so columns are matched by name.
expect_same_multipliers <- function(groups, re, label) {
  s <- bsvm:::sparse_effects(groups)
  ours <- Matrix::sparseMatrix(i = s$i, p = s$p, x = s$x, dims = c(ncol(re$Zt), s$n_columns),
                               index1 = FALSE)
  names <- unlist(lapply(unname(groups), function(g) {
    outer(g$labels, g$levels, paste, g$name)
  }))
  expect_identical(anyDuplicated(names), 0L)
  factors <- re$flist[attr(re$flist, "assign")]
  their_names <- unlist(Map(function(labels, factor, name) {
    outer(labels, plain(levels(factor)), paste, plain(name))
  }, unname(re$cnms), factors, names(factors)))
  theirs <- as.matrix(Matrix::t(re$Zt))
  expect_setequal(names, their_names)
  expect_equal(unname(as.matrix(ours)), unname(theirs[, match(names, their_names)]), label = label)
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
    y ~ x1 + (1 | f:g),
    y ~ x1 + (t | g),
    y ~ x1 + (1 + t + x2 | g),
    y ~ x1 + (poly(t, 2) | g),
    y ~ f + (f | g),
    y ~ f + (0 + f | g),
    y ~ x1 + (t | g) + (0 + x2 | g),
    y ~ x1 + (1 | g) + (1 | h),
    y ~ x1 + (t | h) + (x2 || g),
    y ~ x1 + (1 | g) + (0 + t | g) + (1 | h) + (0 + x2 | h),
    y ~ x1 + (1 | h / f),
    y ~ x1 + (t | h / f),
    y ~ x1 + (1 | h / f / k),
    y ~ x1 + (1 | g) + (1 | f) + (1 | g:f),
    y ~ x1 + (1 | k) + (1 | f:h),
    y ~ x1 + offset(x3) + (t | k) + ((1 | h)),
    y ~ (1 | h) + x1 + (1 | h:k) + f
  )) suppressWarnings(expect_like_lme4(formula), classes = "bsvm_warning_group")
})

test_that("characters and numbers are grouping factors as in lme4", {
  skip_if_not_installed("lme4")
  named <- transform(d, g = as.character(g), f = as.character(f))
  expect_like_lme4(y ~ x1 + (t | g) + (1 | k:f), named)
})

test_that("the same, where rows are missing or chosen", {
  skip_if_not_installed("lme4")
  d$x1[3] <- NA
  d$g[5] <- NA
  expect_like_lme4(y ~ x1 + (t | g) + (1 | h), subset(d, x3 < 2), na.action = na.omit)
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
  expect_identical(bsvm_frame(y ~ . + (1 | g) + (1 | f), data)$columns,
                   c("(Intercept)", "x1", "x2"))
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

test_that("`||` makes each column an effect of its own, dummies of a factor too", {
  blocks <- function(formula) bsvm_frame(formula, d)$groups$g$blocks
  expect_equal(blocks(y ~ (f || g)), list(1, 2, 3))
  expect_equal(blocks(y ~ (t + x2 || g)), list(1, 2, 3))
  expect_equal(blocks(y ~ (f | g)), list(1:3))
  expect_equal(blocks(y ~ (t | g) + (0 + x2 | g) + (0 + x1 + x3 || g)), list(1:2, 3, 4, 5))
})

test_that("malformed formulas are refused", {
  expect_refusal(bsvm(~ x1, d), "formula", c("no response", "y ~ x"))
  expect_refusal(bsvm(y ~ 0, d), "formula", "nothing to fit")
  expect_refusal(bsvm(y ~ x1 * (1 | g), d), "formula", "added")
  expect_refusal(bsvm(y ~ x1 - (1 | g), d), "formula", "added")
  expect_refusal(bsvm(y ~ x1 + (1 | g) + (1 | g), d), "formula", "twice")
  expect_refusal(bsvm(y ~ x1 + (0 | g), d), "formula", "no effect")
  expect_refusal(bsvm(y ~ x1 + (1 + s(t) | g), d), "formula", "s(t)")
  expect_refusal(bsvm_frame("y ~ x1", d), "predictors", "must be a formula")
  expect_refusal(bsvm(d, formula = "y ~ x1"), "formula", "must be a formula")
})

test_that("bars and smooths inside a call are refused while parsing", {
  for (formula in list(y ~ log((1 | g)), y ~ I(1 | g), y ~ x1 + I((0 + x1 | g)), y ~ I(x1 | g),
                       y ~ offset(1 || g), y ~ x1:log(1 | t), y ~ (log(1 | g) | h),
                       y ~ s(I(1 | g)))) {
    expect_refusal(bsvm_frame(formula, d), "formula", c("added", "stands inside", "`or`"))
  }
  for (formula in list(y ~ log(s(x1)), y ~ x2 + offset(mgcv::s(x1)), y ~ s(s(x1)))) {
    expect_refusal(bsvm_frame(formula, d), "formula", c("smooth", "added", "(x1)"))
  }
  logical <- transform(d, a = x1 > 0, b = rep(0:1, 60))
  either <- bsvm_frame(y ~ I(a | b) + I((a | b)) + I((x1 > 0) | t > 1), logical)
  expect_equal(either$x[, 2], as.numeric(logical$a | logical$b))
  expect_length(bsvm_frame(y ~ I(x1[] > 1 | a), logical)$columns, 2)
})

test_that("the formula is kept as typed, with `.` in its place", {
  data <- d[c("y", "x1", "x2", "f", "g")]
  kept <- function(formula) deparse1(bsvm_frame(formula, data)$formula)
  for (text in c("y ~ (1 | g) + x2 + f", "y ~ x1 * f + ((1 | g)) + x2", "y ~ x1 + x2 - 1")) {
    expect_identical(kept(as.formula(text)), text)
  }
  expect_identical(kept(y ~ (1 | g) + f + . + sin(x1)), "y ~ (1 | g) + f + x1 + x2 + sin(x1)")
  expect_identical(kept(y ~ . - x2 + (1 | g)), "y ~ x1 + f + (1 | g)")
  expect_identical(kept(y ~ 0 + .), "y ~ 0 + x1 + x2 + f + g")
  expect_identical(kept(terms(y ~ x1 + x2)), "y ~ x1 + x2")
  skip_if_not_installed("mgcv")
  expect_identical(kept(y ~ s(x1) + x2 + (1 | g)), "y ~ s(x1) + x2 + (1 | g)")
  expect_identical(kept(y ~ s(x1) + . + (1 | g)), "y ~ s(x1) + x2 + f + (1 | g)")
  fit <- bsvm(y ~ s(x1, k = 4) + x2 + (1 | g), data, engine = "vb")
  expect_identical(deparse1(formula(fit)), "y ~ s(x1, k = 4) + x2 + (1 | g)")
  expect_setequal(names(model.frame(fit)), c("y", "x2", "x1", "g"))
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

test_that("the response among the predictors is refused, wherever it stands", {
  g <- grouped_data()
  g$h <- 1
  for (formula in list(y ~ y + x1, y ~ x1 * y, y ~ x1 + (1 | y), y ~ x1 + (0 + y | g))) {
    expect_refusal(bsvm(formula, g), "formula", c("`y`", "right-hand side"))
  }
  expect_s3_class(bsvm(y ~ x1 - y, g, engine = "vb"), "bsvm")
  expect_s3_class(bsvm(I(x1 > 0) ~ t, g, engine = "vb"), "bsvm")
})

test_that("formulas without environment, and `.` less grouping factors, are fitted", {
  g <- grouped_data()
  g$h <- gl(2, 1, nrow(g))
  plain <- bsvm(y ~ x1, g, engine = "vb")
  homeless <- y ~ x1
  environment(homeless) <- NULL
  expect_identical(coef(bsvm(homeless, g, engine = "vb")), coef(plain))
  less <- bsvm(y ~ . - g - h + (1 | g), g, engine = "vb")
  spelt <- bsvm(y ~ x1 + x2 + x3 + f + t + (1 | g), g, engine = "vb")
  expect_same_posterior(less, spelt, tolerances[["invariance"]])
  expect_close(predict(less, g, type = "link"), fitted(less), tolerances[["rounding"]])
})

test_that("names that R's parser can't read, and columns without one, are refused", {
  d <- data.frame(y = rep(0:1, 10), x = 1:20)
  names(d)[2] <- strrep("x", 9999)
  expect_refusal(bsvm(y ~ ., d), "data", c("9999", "Rename"))
  expect_s3_class(bsvm(as.matrix(d[2]), d$y, engine = "vb"), "bsvm")
  names(d)[2] <- strrep("x", 200)
  fit <- bsvm(y ~ ., d, engine = "vb")
  expect_close(predict(fit, d, type = "link"), fitted(fit), tolerances[["rounding"]])
  names(d)[2] <- ""
  expect_refusal(bsvm(y ~ ., d), "formula", c("number 2", "no name"))
})
