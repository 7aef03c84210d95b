bsvm <- paper_bsvm

g <- grouped_data()

test_that("one level, or a level for each row, is fitted with a warning", {
  expect_warning(one <- bsvm(y ~ x1 + (1 | h), transform(g, h = "only"), engine = "vb"),
                 class = "bsvm_warning_group")
  expect_finite(fixef(one))
  expect_finite(ranef(one)$h)
  warning <- expect_warning(
    own <- bsvm(y ~ x1 + (1 | h), transform(g, h = seq_along(y)), engine = "vb"),
    class = "bsvm_warning_group"
  )
  expect_match(conditionMessage(warning), "120 levels for 120 rows")
  expect_valid_fit(own)
  expect_equal(nrow(ranef(own)$h), nrow(g))
})

test_that("as many effects as rows are fitted with a warning", {
  data <- transform(g, h = rep(1:60, 2))
  expect_warning(bsvm_frame(y ~ (t || h), data), class = "bsvm_warning_group")
  expect_silent(bsvm_frame(y ~ (1 | h), data))
})

test_that("a multiplier that does not vary is refused by name, unless it is the intercept", {
  data <- transform(g, one = 1, two = 2, none = 0)
  expect_refusal(bsvm_frame(y ~ x1 + (two | g), data), "group", c("`two`", "`g`", "intercept"))
  expect_refusal(bsvm_frame(y ~ (two || g), data), "group", "`two`")
  expect_refusal(bsvm_frame(y ~ (1 | g) + (0 + two | g), data), "group", "`two`")
  expect_refusal(bsvm_frame(y ~ (0 + one + two | g), data), "group", "`two`")
  expect_refusal(bsvm_frame(y ~ (0 + none | g), data), "group", c("`none`", "nothing"))
  data$large <- data$t * 1e200
  data$tiny <- data$t * 1e-200
  for (formula in list(y ~ (large | g), y ~ (large || g), y ~ (1 | g) + (0 + tiny | g))) {
    expect_refusal(bsvm_frame(formula, data), "predictors", "between 1e-150 and 1e150")
  }
  expect_identical(bsvm_frame(y ~ (0 + two | g), data)$groups$g$labels, "two")
  expect_identical(bsvm_frame(y ~ (0 + two + t | g), data)$groups$g$labels, c("two", "t"))
})

test_that("effects of one bar are one block, of a double bar a block each", {
  blocks <- function(formula) bsvm_frame(formula, g)$groups$g$blocks
  expect_identical(blocks(y ~ (t + x1 | g)), list(1:3))
  expect_identical(blocks(y ~ (t + x1 || g)), list(1L, 2L, 3L))
  expect_identical(blocks(y ~ (1 | g) + (0 + t + x1 | g)), list(1L, 2:3))
})

test_that("levels are ordered as factors order them", {
  numbers <- transform(g, h = c(10, 9, 100)[1 + seq_along(y) %% 3])
  expect_identical(rownames(ranef(bsvm(y ~ x1 + (1 | h), numbers, engine = "vb"))$h),
                   c("9", "10", "100"))
})

test_that("crossed variables make one factor", {
  fit <- bsvm(y ~ x1 + (1 | g:f), g, engine = "vb")
  made <- bsvm(y ~ x1 + (1 | h), transform(g, h = paste(g, f, sep = ":")), engine = "vb")
  expect_same_posterior(fit, made, tolerances[["invariance"]])
  expect_close(predict(fit, g, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("levels of crossed variables must be told apart by name", {
  data <- transform(g, a = rep(c("p", "p:q"), 60), b = rep(c("q:r", "r"), 60))
  expect_refusal(bsvm_frame(y ~ (1 | a:b), data), "group", "'p:q:r'")
})

test_that("several factors go to the core as a sparse matrix, level by level", {
  g$h <- rep(c("u", "v", "w"), 40)
  groups <- bsvm_frame(y ~ (t | g) + (1 | h), g)$groups
  s <- bsvm:::sparse_effects(groups)
  expect_identical(s$levels, c(12L, 3L))
  expect_identical(s$effects, c(2L, 1L))
  z <- cbind(twin_design(matrix(0, 120, 0), groups$g$codes, groups$g$z),
             twin_design(matrix(0, 120, 0), groups$h$codes))
  ours <- matrix(0, 120, s$n_columns)
  ours[cbind(s$i + 1, rep(seq_len(s$n_columns), diff(s$p)))] <- s$x
  expect_identical(ours, z)
  expect_true(is.integer(s$i) && is.integer(s$p) && is.integer(s$n_columns))
  expect_equal(unname(bsvm:::effect_numbers(groups)), list(1:2, 3))
})

test_that("one factor goes as codes, whatever its bars", {
  core <- bsvm:::core_groups(bsvm_frame(y ~ (t | g), g)$groups, 2L)
  expect_null(core$sparse)
  expect_identical(core$group, as.integer(g$g))
  expect_equal(core$z, cbind(1, g$t))
  none <- bsvm:::core_groups(NULL)
  expect_true(is.null(none$group) && is.null(none$sparse) && none$n_groups == 0)
})

test_that("re_formula chooses factors and effects", {
  g$h <- rep(c("u", "v", "w"), 40)
  groups <- bsvm_frame(y ~ (f | g) + (1 | h), g)$groups
  chosen <- function(formula) bsvm:::chosen_effects(groups, formula)
  expect_true(chosen(NULL))
  expect_false(chosen(NA))
  expect_false(chosen(~ 0))
  expect_equal(chosen(~ (1 | h)), list(h = 1))
  expect_equal(chosen(~ (1 | g)), list(g = 1))
  expect_equal(chosen(~ (0 + f | g) + (1 | h)), list(g = 2:3, h = 1))
  expect_equal(chosen(~ (1 | g) + (0 + f | g)), list(g = 1:3))
  expect_refusal(chosen(~ (1 | k)), "argument", c("(1 | k)", "`g: fb`"))
  expect_refusal(chosen(~ (t | g)), "argument", "(t | g)")
  expect_refusal(chosen(~ x1), "argument", "~ (1 | id)")
  expect_refusal(chosen("all"), "argument", "\"all\"")
})

test_that("new rows are placed in each factor", {
  g$h <- rep(c("u", "v", "w"), 40)
  frame <- bsvm_frame(y ~ x1 + (t | g) + (1 | h) + (1 | h:f), g)
  new <- rbind(g[c(5, 9), ], transform(g[7, ], h = "never", g = NA))
  rows <- bsvm:::design_rows(frame, new)$groups
  expect_named(rows, c("g", "h", "h:f"))
  expect_identical(rows$g$codes, c(frame$groups$g$codes[c(5, 9)], NA))
  expect_equal(rows$g$z, cbind(1, new$t))
  expect_identical(rows$h$codes, c(frame$groups$h$codes[c(5, 9)], 0L))
  expect_identical(rows[["h:f"]]$codes, c(frame$groups[["h:f"]]$codes[c(5, 9)], 0L))
  expect_null(rows$h$z)
  expect_identical(rows$h$values[3], "never")
})

test_that("a grouping factor may be made in the formula", {
  numbers <- transform(g, h = as.integer(g))
  fit <- bsvm(y ~ x1 + (1 | factor(h)), numbers, engine = "vb")
  expect_named(ranef(fit), "factor(h)")
  expect_same_posterior(fit, bsvm(y ~ x1 + (1 | h), numbers, engine = "vb"),
                        tolerances[["invariance"]])
  expect_close(predict(fit, numbers, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("factors as multipliers are rebuilt for new rows", {
  fit <- bsvm(y ~ x1 + (0 + f || g), g, engine = "vb")
  expect_close(predict(fit, g[9:3, ], type = "link"), fitted(fit)[9:3], tolerances[["rounding"]])
})

test_that("what is no factor is refused", {
  g$pair <- cbind(1, seq_len(nrow(g)))
  expect_refusal(bsvm(y ~ x1 + (1 | pair), g), "group", c("`pair`", "vector or a factor"))
  for (group in c("1", "-g", "x2 - x3")) {
    formula <- stats::as.formula(sprintf("y ~ x1 + (1 | %s)", group))
    expect_refusal(bsvm(formula, g), "group", c(sprintf("`%s`", group), "factor(id)"))
  }
})
