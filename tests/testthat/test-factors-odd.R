# Factor terms: sizes, names, weights and runs at the edge of what there is.

test_that("variables may outnumber rows by less than the factors", {
  d <- factor_data(20L, 22L)
  for (engine in list(few_draws(20, 20), engine_vb())) {
    fit <- quiet_factors(y ~ factors(x, k = 4), d, engine = engine)
    expect_true(all(is.finite(coef(fit))))
  }
})

test_that("rows without a response count as rows in the prior of loadings", {
  d <- factor_data(30L, 20L)
  d$y[11:30] <- NA
  fit <- quiet_factors(y ~ factors(x, k = 2, unlabelled = TRUE), d, engine = few_draws(20, 20))
  expect_output(print(fit), "local shrinkage")
})

test_that("variables of low rank have as many factors as that", {
  set.seed(1)
  w <- matrix(rnorm(90), 30)
  expect_equal(choose_factors(w %*% matrix(rnorm(24), 3))$k, 3L)
  expect_equal(choose_factors(w %*% matrix(rnorm(300), 3))$k, 3L)
  expect_equal(choose_factors(cbind(w[, 1], matrix(0, 30, 5)))$k, 1L)
  expect_equal(choose_factors(w[rep(1:2, 15), ])$k, 1L)
})

test_that("new data may have no rows, and variables no names", {
  d <- factor_data(30L, 6L)
  colnames(d$x) <- c("a b", "a b", "", NA, "age", "(Intercept)")
  linear <- quiet_factors(y ~ age + factors(x, k = 2), d)
  expect_equal(factor_loadings(linear)$variable[1:6],
               c("a b", "a b_1", "x3", "x4", "age", "(Intercept)"))
  expect_output(print(factor_loadings(linear)), "x3")
  curved <- quiet_factors(y ~ age + factors(x, k = 2, classifier = "gp", points = 10), d)
  for (fit in list(linear, curved)) {
    expect_length(predict(fit, d[0, ]), 0L)
    expect_equal(nrow(predict(fit, d[0, ], interval = TRUE)), 0L)
    expect_equal(dim(factor_scores(fit, d[0, ])), c(0L, 2L))
    expect_equal(predict(fit, d[2:1, ], type = "link")[2:1], predict(fit, d[1:2, ], type = "link"))
  }
  expect_equal(dim(model.matrix(curved)), c(30L, 3L))
})

test_that("a run that kept no loadings says so where they are asked for", {
  fit <- quiet_factors(y ~ factors(x, k = 2), factor_data(30L, 6L))
  kept <- fit$posterior$factors$kept
  fit$posterior$factors$kept$at <- integer()
  fit$posterior$factors$kept$loadings <- kept$loadings[, , 0L, , drop = FALSE]
  fit$posterior$factors$kept$noise <- kept$noise[, 0L, , drop = FALSE]
  for (read in list(factor_loadings, factor_scores, factor_table)) {
    expect_error(read(fit), "interrupted before", class = "bsvm_error_unsupported")
  }
  expect_output(suppressWarnings(print(summary(fit))), "2 factors of 6 variables")
})

test_that("advice is for what factors can do", {
  d <- factor_data(30L, 6L)
  expect_error(bsvm(y ~ factors(x, k = 2), d, prior = list(factors = prior_flat())),
               "prior_ridge()", class = "bsvm_error_unsupported", fixed = TRUE)
  expect_error(bsvm(y ~ factors(x, k = 2, label = 3), d), "no argument `label`",
               class = "bsvm_error_formula")
  session$likelihood <- NULL # shown once a session
  expect_message(quiet_factors(y ~ factors(x, k = 2, classifier = "gp", points = Inf), d,
                               engine = few_draws(5, 5)),
                 "which `points = Inf` requires", class = "bsvm_message_likelihood")
  d$age[2] <- NA
  error <- expect_error(bsvm(y ~ age + factors(x, k = 2), d), class = "bsvm_error_missing")
  expect_no_match(conditionMessage(error), "missing_normal")
})

test_that("what looks at other problems refuses factors, and smooths are drawn beside them", {
  d <- factor_data(30L, 6L)
  fit <- quiet_factors(y ~ s(age, k = 4) + factors(x, k = 2), d, engine = engine_vb())
  for (read in list(integrated_loglik, check_approximation,
                    function(fit) vcov(fit, method = "linear_response"))) {
    expect_error(read(fit), "does not support a fit with factors()", fixed = TRUE,
                 class = "bsvm_error_unsupported")
  }
  skip_if_not_installed("ggplot2")
  expect_s3_class(plot(fit, "smooth"), "ggplot")
})

test_that("weights above one reward what variables do not determine, and are told", {
  d <- factor_data(30L, 8L)
  set.seed(4)
  d$y <- factor(sample(c("a", "b"), 30L, TRUE))
  expect_warning(quiet_factors(y ~ factors(x, k = 6), d, weights = rep(2, 30)), "repeat rows",
                 class = "bsvm_warning_determinacy")
  # the scale of numbers would go to zero
  numbers <- function(weights, formula = z ~ factors(x, k = 2)) {
    quiet_factors(formula, d, weights = weights, likelihood = likelihood_gaussian())
  }
  expect_error(numbers(rep(2, 30)), "divide the weights", class = "bsvm_error_unsupported")
  expect_error(bsvm(z ~ factors(x, k = 2), d, weights = rep(2, 30), engine = "vb",
                    likelihood = likelihood_gaussian()), class = "bsvm_error_unsupported")
  scales <- list(numbers(rep(c(0.5, 1.5), 15)),
                 numbers(rep(2, 30), z ~ factors(x, k = 2, feedback = FALSE)))
  for (fit in scales) expect_gt(summary(fit)$variance_draws["scale", "Estimate"], 0.1)
})
