test_that("the core's errors come back in the user's words", {
  invalid <- structure(class = c("bsvm_core_invalid", "error", "condition"),
                       list(message = "It must be positive.", call = NULL, argument = "weight"))
  expect_refusal(bsvm:::resignal_invalid(invalid), "weights", c("`weights`", "positive"))
  invalid$argument <- "checkpoint"
  expect_refusal(bsvm:::resignal_invalid(invalid), "checkpoint", "positive")
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
  expect_setequal(names(result), c("posterior", "hyper", "group_hyper", "bound", "trace", "passes",
                                   "gradient", "termination"))
  expect_s3_class(result$posterior, "bsvm_moments")
  expect_named(result$posterior, c("mean", "covariance", "group_mean", "group_precision",
                                   "group_regression"))
  expect_equal(colnames(result$trace), c("bound", "gradient", "damping", "step"))
  expect_equal(nrow(result$trace), result$passes)
  expect_equal(result$termination, "converged")
  expect_equal(dim(result$posterior$group_mean), c(1, 12))
})

test_that("a mixture holds what the documentation lists", {
  d <- grouped_data()
  d$h <- factor(rep(c("p", "q", "r"), 40))
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + (1 | g) + (1 | h), d), engine = "gaussian")
  result <- bsvm_run(spec)
  expect_setequal(names(result), c("posterior", "hyper", "group_hyper", "bound", "trace", "passes",
                                   "gradient", "termination", "unbounded"))
  expect_identical(result$unbounded, rep(FALSE, 4))
  posterior <- result$posterior
  expect_s3_class(posterior, "bsvm_mixture")
  expect_true(all(c("mean", "covariance", "components", "weights", "log_density", "theta", "free",
                    "integrated") %in% names(posterior)))
  expect_equal(sum(posterior$weights), 1)
  expect_equal(dim(posterior$theta), c(2, length(posterior$weights)))
  expect_equal(posterior$free, list(integer(), integer(), 1L, 2L))
  expect_equal(posterior$integrated, 1L)
  sd <- exp(posterior$theta[1, ])
  expect_close(result$group_hyper[[1]][["inverse_mean"]], sum(posterior$weights / sd^2), 1e-12)
  expect_equal(result$termination, "converged")
  map <- bsvm_run(bsvm_spec(bsvm_frame(y ~ x1 + (1 | g), d), engine = "map"))
  expect_null(map$bound)
  expect_length(map$posterior$components, 1)
})

test_that("free parameters belong to their blocks, sparse ones in between", {
  spec <- list(model = list(blocks = list(1, 2)), group_blocks = list("g", "h"),
               blocks = list(1, 2, "sparse"))
  expect_equal(bsvm:::free_by_block(c(0L, 1L, 3L, 1L, 2L), spec),
               list(integer(), 1L, 6:7, 2:4, 5L))
})

test_that("a result with draws holds what the documentation lists", {
  spec <- bsvm_spec(bsvm_frame(y ~ x1 + (1 | g), grouped_data()), prior = prior_flat(),
                    engine = engine_gibbs(20, 10, chains = 3))
  result <- unchecked(bsvm_run(spec, bsvm_control(verbose = FALSE)))
  expect_setequal(names(result), c("posterior", "hyper", "group_hyper", "termination", "sampling"))
  expect_s3_class(result$posterior, "bsvm_draws")
  expect_equal(dim(result$posterior$coefficients), c(2, 20, 3))
  expect_equal(dim(result$posterior$effects), c(12, 20, 3))
  expect_equal(lapply(result$posterior$variances, dim), list(c(0, 20, 3), c(0, 20, 3), c(1, 20, 3)))
  draws <- result$posterior$variances[[3]]
  expect_close(result$group_hyper[[1]], c(mean(draws), mean(1 / draws)), tolerances[["rounding"]])
  expect_equal(result$hyper[[1]][["inverse_mean"]], 1e-8)
  expect_equal(result$termination, "completed")
  expect_equal(result$sampling[c("draws", "burnin", "thin", "chains", "mixing", "resumed")],
               list(draws = 20, burnin = 10, thin = 1, chains = 3, mixing = TRUE, resumed = FALSE))
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
