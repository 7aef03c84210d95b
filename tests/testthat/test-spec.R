d <- binary_data()

test_that("the four stages in a row are bsvm()", {
  frame <- bsvm_frame(y ~ x1 + f, d)
  spec <- bsvm_spec(frame, engine = "vb")
  expect_s3_class(spec, "bsvm_spec")
  expect_output(print(spec), "population-level slopes")
  fit <- new_bsvm(frame, spec, bsvm_run(spec), quote(bsvm(y ~ x1 + f, d, engine = "vb")))
  whole <- bsvm(y ~ x1 + f, d, engine = "vb")
  expect_identical(fit$posterior, whole$posterior)
  expect_identical(fitted(fit), fitted(whole))
})

test_that("stages refuse what is not theirs", {
  expect_refusal(bsvm_spec(d), "argument", "bsvm_frame()")
  expect_refusal(bsvm_run(d), "argument", "bsvm_spec()")
  spec <- bsvm_spec(bsvm_frame(y ~ x1, d))
  expect_refusal(bsvm_run(spec, list()), "argument", "bsvm_control()")
})

test_that("what the core has not got is refused before anything runs", {
  unknown <- bsvm:::new_prior("horseshoe", c(scale = 1), "horseshoe", TRUE)
  expect_refusal(bsvm(y ~ x1, d, prior = unknown, engine = "vb"), "unsupported",
                 c("'horseshoe'", "'ridge'"))
})

test_that("the design is standardised in the core, not copied", {
  frame <- bsvm_frame(y ~ x1 + x2, d)
  spec <- bsvm_spec(frame)
  expect_identical(spec$problem$x, frame$x)
  expect_equal(spec$design$center, c(0, mean(d$x1), mean(d$x2)))
  expect_equal(spec$design$scale, c(1, sd(d$x1), sd(d$x2)))
  w <- rep(c(1, 2), 30)
  weighted <- bsvm_spec(bsvm_frame(y ~ x1, d, weights = w))
  twice <- c(d$x1, d$x1[w == 2])
  expect_equal(weighted$design$center[2], mean(twice))
  expect_equal(weighted$design$scale[2], sd(twice))
})
