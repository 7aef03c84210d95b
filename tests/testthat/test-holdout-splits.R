# Splits: shares by counting, groups whole, folds that cover all, what can't be split.

truth <- rep(c(TRUE, FALSE), c(30, 90))
levels <- c("no", "yes")
clinic <- rep(1:24, each = 5)

sides <- function(split) c(length(split$train), length(split$test))

test_that("a stratified split has the same share of each class on both sides", {
  splits <- with_seed(1, random_splits(split_units(truth), 20, 3 / 4, levels))
  expect_length(splits, 20)
  for (split in splits) {
    expect_setequal(unlist(split), seq_along(truth))
    # 0.75 * 30 = 22.5 is rounded to the even number
    expect_equal(sum(truth[split$train]), 22)
    expect_equal(sum(!truth[split$train]), 68)
  }
  expect_false(identical(splits[[1]], splits[[2]]))
})

test_that("without strata only the size is given", {
  units <- split_units(truth, stratify = FALSE)
  splits <- with_seed(1, random_splits(units, 30, 3 / 4, levels))
  positives <- vapply(splits, function(split) sum(truth[split$train]), 1L)
  expect_true(all(vapply(splits, function(split) length(split$train) == 90, TRUE)))
  expect_gt(length(unique(positives)), 3)
})

test_that("groups stay whole and are stratified by their majority", {
  mixed <- replace(truth, c(1, 2, 40), c(FALSE, FALSE, TRUE))
  units <- split_units(mixed, clinic)
  expect_identical(unname(units$stratum), rep(2:1, c(6, 18)))
  for (split in with_seed(2, random_splits(units, 20, 2 / 3, levels))) {
    expect_length(intersect(clinic[split$train], clinic[split$test]), 0)
    expect_setequal(unlist(split), seq_along(truth))
    expect_equal(sum(unique(clinic[split$train]) <= 6), 4)
    expect_length(unique(clinic[split$train]), 16)
  }
})

test_that("rows that may not be tested are trained on, but not beside their tested group", {
  testable <- rep(c(TRUE, FALSE), 60)
  for (split in with_seed(3, random_splits(split_units(truth, NULL, testable), 5, 1 / 2, levels))) {
    expect_true(all(testable[split$test]))
    expect_setequal(unlist(split), seq_along(truth))
    expect_equal(sum(testable[split$train]), 15 - 15 %/% 2 + 22)
  }
  testable[clinic <= 3] <- FALSE
  units <- split_units(truth, clinic, testable)
  for (split in with_seed(3, random_splits(units, 5, 1 / 2, levels))) {
    expect_true(all(testable[split$test]))
    expect_true(all(which(clinic <= 3) %in% split$train))
    expect_length(intersect(clinic[split$train], clinic[split$test]), 0)
    expect_true(all(testable[clinic %in% clinic[split$test]] ==
                      (which(clinic %in% clinic[split$test]) %in% split$test)))
  }
})

test_that("folds test each row once, alike in size and classes", {
  splits <- with_seed(4, fold_splits(split_units(truth), 7, 2, levels))
  expect_length(splits, 14)
  for (part in list(splits[1:7], splits[8:14])) {
    expect_setequal(unlist(lapply(part, `[[`, "test")), seq_along(truth))
    sizes <- vapply(part, sides, integer(2))
    expect_equal(colSums(sizes), rep(120, 7))
    expect_true(all(sizes[2, ] %in% 17:18))
    positives <- vapply(part, function(split) sum(truth[split$test]), 1L)
    expect_true(all(positives %in% 4:5))
  }
  expect_false(identical(splits[1:7], splits[8:14]))
  mixed <- with_seed(6, sample(truth)) # classes in no order
  for (split in with_seed(4, fold_splits(split_units(mixed), 7, 3, levels))) {
    expect_true(sum(mixed[split$test]) %in% 4:5)
  }
  whole <- with_seed(4, fold_splits(split_units(truth, clinic), 24, 1, levels))
  expect_true(all(vapply(whole, function(split) length(split$test) == 5, TRUE)))
})

test_that("a class that training sets lack is drawn again, or named", {
  few <- rep(c(TRUE, FALSE), c(2, 30))
  units <- split_units(few, stratify = FALSE)
  for (split in with_seed(5, random_splits(units, 50, 1 / 2, levels))) {
    expect_true(any(few[split$train]))
  }
  one <- split_units(few, rep(1:4, each = 8), stratify = FALSE)
  for (split in with_seed(5, random_splits(one, 20, 1 / 2, levels))) expect_true(1 %in% split$train)
  expect_refusal(fold_splits(one, 4, 1, levels), "response", c("'yes'", "absent"))
  expect_refusal(with_seed(5, random_splits(split_units(rev(few), rev(rep(1:2, c(2, 30))),
                                                        c(rep(TRUE, 30), FALSE, FALSE)),
                                            1, 1 / 2, levels)), "argument", "`prop = 0.5`")
})

test_that("what can't be split is refused", {
  expect_refusal(split_units(truth, rep("a", 120)), "group", "`group`")
  expect_refusal(fold_splits(split_units(truth, clinic), 25, 1, levels), "argument", c("24", "25"))
  one <- split_units(truth, NULL, replace(rep(FALSE, 120), 7, TRUE))
  expect_refusal(random_splits(one, 1, 3 / 4, levels), "argument", "`prop = 0.75`")
})

test_that("rows are told by a vector, a column's name or a formula", {
  d <- data.frame(a = 1:4, g = c("u", "u", "v", "v"))
  elsewhere <- 4:1
  own <- function(group, env = parent.frame()) row_argument("group", d, environment(), env)
  expect_identical(own(g), d$g)
  expect_identical(own("g"), d$g)
  expect_identical(own(~ g), d$g)
  expect_identical(own(~ paste(g, a)), paste(d$g, 1:4))
  expect_identical(own(elsewhere), 4:1)
  expect_identical(own(~ a > elsewhere), c(FALSE, FALSE, TRUE, TRUE))
  expect_identical(own(elsewhere, globalenv()), 4:1)
  through <- function(...) own(...)
  inner <- 8:5
  expect_identical(through(inner), 8:5)
  expect_identical(through(g), d$g)
  expect_null(own(NULL))
  expect_refusal(own("h"), "argument", c("`group`", "h"))
  expect_refusal(own(absent), "argument", "absent")
  expect_refusal(own(1:3), "argument", "4")
  expect_refusal(own(g ~ a), "argument", "one-sided")
})
