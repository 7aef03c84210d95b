# A study as a data frame: what of it is still one.

d <- binary_data(80)
study <- with_seed(1, holdout(list(x = scored_by(x1), z = scored_by(3 - x2)), d, times = 3,
                              response = "y", metrics = c("ber", "error")))

expect_plain <- function(x, names, rows) {
  expect_s3_class(x, "data.frame", exact = TRUE)
  expect_identical(names(attributes(x))[!names(attributes(x)) %in% c("names", "row.names")],
                   "class")
  expect_identical(names(x), names)
  expect_equal(nrow(x), rows)
}

test_that("without all its columns it is a plain data frame", {
  two <- c("model", "value")
  expect_plain(study[, two], two, 12)
  expect_plain(study[two], two, 12)
  expect_plain(study[study$split == 1, two], two, 4)
  expect_plain(study[, "value", drop = FALSE], "value", 12)
  expect_identical(study[, "value"], study$value)
  expect_identical(study[2, "value"], study$value[2])
  expect_output(print(study[two]), "model +value")
})

test_that("some of its rows are still a study", {
  one <- study[study$split == 1, ]
  expect_s3_class(one, c("bsvm_holdout", "data.frame"), exact = TRUE)
  expect_identical(holdout_splits(one), holdout_splits(study))
  expect_identical(summary(one)$means$mean, study$value[study$split == 1][c(1, 3, 2, 4)])
  expect_s3_class(study[rev(study_columns)], "bsvm_holdout")
  expect_output(print(study[rev(study_columns)]), "Part of a study")
})

test_that("it is printed as a table of models by metrics", {
  shown <- capture.output(print(study))
  at <- grep("^Mean .standard error. over [0-9]+ splits:$", shown)
  means <- summary(study)$means
  expect_identical(strsplit(trimws(shown[at + 1L]), " +")[[1L]], unique(means$metric))
  models <- unique(means$model)
  expect_true(all(startsWith(shown[at + seq_along(models) + 1L], models)))
  table <- data.frame(model = c("a", "b"), metric = rep(c("error", "auc", "s"), each = 2),
                      mean = c(0.12345, 0.2, 0.9, 1, 20.26, NA), se = c(0.0312, 0, 0, 0, 1.5, NA))
  expect_identical(unname(metric_columns(table, 3L)),
                   cbind(c("0.123 (0.031)", "0.200 (0.000)"), c("0.9 (0)", "1.0 (0)"),
                         c("20.3 (1.5)", "NA")))
})

test_that("head() and tail() show rows", {
  expect_plain(head(study), study_columns, 6)
  expect_plain(tail(study, 2), study_columns, 2)
  expect_identical(head(study, 3)$value, study$value[1:3])
  expect_identical(tail(study, 2)$value, study$value[11:12])
})

test_that("what has lost columns by other ways is refused, or printed as it is", {
  lost <- study
  lost$failure <- NULL
  expect_refusal(summary(lost), "argument", c("summary()", "`value`"))
  expect_output(print(lost), "model +split +metric +value")
  skip_if_not_installed("ggplot2")
  expect_refusal(plot(lost), "argument", "plot()")
  expect_refusal(plot_ber(lost), "argument", "\"ber\"")
})
