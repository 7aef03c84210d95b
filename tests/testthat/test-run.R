test_that("the core's errors come back in the user's words", {
  invalid <- structure(class = c("bsvm_core_invalid", "error", "condition"),
                       list(message = "It must be positive.", call = NULL, argument = "weight"))
  expect_refusal(bsvm:::resignal_invalid(invalid), "weights", c("`weights`", "positive"))
  invalid$argument <- "something else"
  expect_refusal(bsvm:::resignal_invalid(invalid), "argument", "positive")
  broken <- structure(class = c("bsvm_core_numerical", "error", "condition"),
                      list(message = "At pass 3.", call = NULL, argument = ""))
  expect_refusal(bsvm:::resignal_numerical(broken), "numerical", c("At pass 3.", "rescale"))
})

test_that("an interrupt before there is anything to keep stays an interrupt, of our class", {
  early <- structure(class = c("bsvm_core_interrupted", "error", "condition"),
                     list(message = "Before the first pass.", call = NULL, argument = ""))
  found <- tryCatch(bsvm:::resignal_interrupted(early), interrupt = identity)
  expect_s3_class(found, "bsvm_error_interrupted")
  expect_match(conditionMessage(found), "first pass")
})

test_that("a result holds what the documentation lists", {
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + (1 | g), grouped_data()), engine = "vb")
  result <- bsvm_run(spec)
  expect_true(all(c("mean", "covariance", "group_mean", "group_precision", "group_regression",
                    "hyper", "group_hyper", "bound", "trace", "passes", "gradient",
                    "termination") %in% names(result)))
  expect_equal(colnames(result$trace), c("bound", "gradient", "damping", "step"))
  expect_equal(nrow(result$trace), result$passes)
  expect_equal(result$termination, "converged")
  expect_equal(dim(result$group_mean), c(1, 12))
})

test_that("a start is taken on the user's scale", {
  d <- binary_data()
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + x2, d))
  start <- c(1, -2, 0.5)
  internal <- bsvm:::internal_start(start, spec$design)
  expect_close(bsvm:::user_mean(spec$design, internal), start, tolerances[["rounding"]])
  x <- cbind(1, scale(d[c("x1", "x2")]))
  expect_close(x %*% internal, cbind(1, d$x1, d$x2) %*% start, tolerances[["rounding"]])
})

test_that("lack of memory in the core is an error of size", {
  memory <- structure(class = c("bsvm_core_memory", "error", "condition"),
                      list(message = "There is not enough memory.", call = NULL, argument = ""))
  expect_refusal(bsvm:::resignal_memory(memory), "size", c("memory", "fewer"))
})
