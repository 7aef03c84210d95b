test_that("numbers, counts and flags are checked, and the message says what was found", {
  expect_equal(bsvm:::check_positive(2, "a"), 2)
  expect_refusal(bsvm:::check_positive(-1, "a"), "argument", c("`a`", "above 0", "-1"))
  for (bad in list(NA, NULL, "1", c(1, 2), Inf, NaN)) {
    expect_refusal(bsvm:::check_number(bad, "a", "prior"), "prior", c("`a`", "finite"))
  }
  expect_identical(bsvm:::check_count(3, "a"), 3L)
  for (bad in list(0, 1.5, 2^31, -1)) {
    expect_refusal(bsvm:::check_count(bad, "a"), "argument", "whole number")
  }
  for (bad in list(NA, 1, "TRUE", c(TRUE, TRUE))) {
    expect_refusal(bsvm:::check_flag(bad, "a"), "argument", "TRUE or FALSE")
  }
})

test_that("sizes beyond an integer are refused", {
  expect_null(bsvm:::check_size(10, 10))
  expect_refusal(bsvm:::check_size(2^31), "size", "2147483647")
  expect_refusal(bsvm:::check_size(1e6, 1e4), "size", "2147483647")
})

test_that("arguments of neighbours get a hint, others are named", {
  d <- binary_data()
  expect_refusal(bsvm(y ~ x1, d, kernel = "linear"), "argument", c("kernel", "gp(x1, x2"))
  expect_refusal(bsvm(y ~ x1, d, cost = 3), "argument", "prior_ridge(variance = cost / 2)")
  expect_refusal(bsvm(y ~ x1, d, family = binomial), "argument", "likelihood")
  expect_refusal(bsvm(y ~ x1, d, re.form = NA), "argument", "re_formula")
  expect_refusal(bsvm(y ~ x1, d, allow.new.levels = TRUE), "argument", "allow_new_levels")
  expect_refusal(bsvm(y ~ x1, d, wieghts = 1), "argument", "wieghts")
  for (name in c("iter", "warmup", "chains", "thin", "draws")) {
    arguments <- stats::setNames(list(y ~ x1, d, 4), c("", "", name))
    expect_refusal(do.call(bsvm, arguments), "argument", c(name, "engine_slice("))
  }
  expect_refusal(bsvm(y ~ x1, d, cores = 4), "argument", "bsvm_control(threads = )")
  expect_refusal(bsvm(y ~ x1, d, seed = 4), "argument", "set.seed()")
  expect_refusal(bsvm(as.matrix(d[1:3]), d$y, kernel = "linear"), "argument", "kernel")
  expect_refusal(bsvm(as.matrix(d[1:3]), d$y, NULL, NULL, NULL, na.fail, TRUE, NULL, "hinge",
                      NULL, NULL, "vb", TRUE, FALSE, bsvm_control(), 17), "argument",
                 c("unnamed", "17"))
})
