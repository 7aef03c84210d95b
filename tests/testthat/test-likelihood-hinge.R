test_that("the hinge likelihood is an object or its name", {
  d <- binary_data()
  expect_output(print(likelihood_hinge()), "hinge")
  expect_identical(bsvm(y ~ x1, d, likelihood = "hinge", engine = "vb")$posterior,
                   bsvm(y ~ x1, d, likelihood = likelihood_hinge(), engine = "vb")$posterior)
})
