bsvm <- paper_bsvm

ref <- grouped_reference()

test_that("fitted is the link, residuals 1 - y f", {
  links <- dense_links(ref$x, as.integer(ref$data$g), ref$z, ref$twin)
  expect_close(fitted(ref$fit), links$mean, 1e-8)
  y <- ifelse(ref$data$y == "yes", 1, -1)
  expect_close(residuals(ref$fit), 1 - y * links$mean, 1e-8)
  expect_length(fitted(ref$fit), nobs(ref$fit))
})

test_that("na.exclude pads, na.omit does not", {
  d <- binary_data()
  d$x1[c(2, 5)] <- NA
  omitted <- bsvm(y ~ x1 + x2, d, na.action = na.omit, engine = "vb")
  padded <- bsvm(y ~ x1 + x2, d, na.action = na.exclude, engine = "vb")
  expect_length(fitted(omitted), 58)
  expect_length(fitted(padded), 60)
  expect_identical(which(is.na(unname(fitted(padded)))), c(2L, 5L))
  expect_identical(which(is.na(unname(residuals(padded)))), c(2L, 5L))
  expect_identical(unname(fitted(padded))[-c(2, 5)], unname(fitted(omitted)))
  expect_equal(nobs(padded), 58)
})

test_that("kinds of residuals that are not there are refused", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(residuals(fit, type = "pearson"), "argument", c("`type`", "pearson"))
  expect_refusal(fitted(fit, scale = "link"), "argument", "fitted()")
})
