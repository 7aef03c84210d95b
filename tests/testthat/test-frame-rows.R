# Rows of weight zero: absent from the fit, present in what is returned.

bsvm <- paper_bsvm

d <- binary_data()

test_that("rows of weight zero get the link of a new row", {
  w <- replace(rep(1, 60), c(2, 50), 0)
  fit <- bsvm(y ~ x1 + f, d, weights = w, engine = "vb")
  expect_length(fitted(fit), 60)
  expect_close(fitted(fit), predict(fit, d, type = "link"), tolerances[["rounding"]])
  expect_equal(residuals(fit)[2], 1 - ifelse(d$y[2] == "yes", 1, -1) * fitted(fit)[2],
               ignore_attr = TRUE)
})

test_that("a weight of zero excuses missing values and unseen levels", {
  d$x1[2] <- NA
  levels(d$f) <- c(levels(d$f), "rare")
  d$f[3] <- "rare"
  w <- replace(rep(1, 60), 2:3, 0)
  fit <- bsvm(y ~ x1 + f, d, weights = w, engine = "vb")
  expect_named(fixef(fit), c("(Intercept)", "x1", "fb", "fc"))
  expect_identical(unname(which(is.na(fitted(fit)))), 2:3)
})

test_that("na.omit, subset and weight zero at once keep the rows apart", {
  d$x1[c(4, 10)] <- NA
  w <- replace(rep(1, 60), c(1, 10, 20), 0)
  fit <- bsvm(y ~ x1, d, weights = w, subset = 1:40, na.action = na.exclude, engine = "vb")
  by_hand <- bsvm(y ~ x1, d[setdiff(1:40, c(1, 4, 10, 20)), ], engine = "vb")
  expect_same_posterior(fit, by_hand, 1e-6)
  links <- fitted(fit)
  expect_length(links, 40)
  expect_true(is.na(links[4]))
  expect_false(anyNA(links[-c(4, 10)]))
  expect_close(links[20], predict(fit, d[20, ], type = "link"), tolerances[["rounding"]])
})
