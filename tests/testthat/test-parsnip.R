svm_engine <- function(..., cost = NULL) {
  skip_if_not_installed("parsnip")
  model <- parsnip::svm_linear(mode = "classification", cost = !!cost)
  parsnip::set_engine(model, "bsvm", ...)
}

test_that("`cost` is LIBSVM's", {
  skip_if_not_installed("e1071")
  d <- binary_data()[c("x1", "x2", "x3", "y")]
  svm <- e1071::svm(y ~ ., d, kernel = "linear", cost = 0.3, tolerance = 1e-8)
  fit <- bsvm_parsnip(y ~ ., d, cost = 0.3, algorithm = "em")
  link <- attr(predict(svm, d, decision.values = TRUE), "decision.values")
  sign <- if (colnames(link) == "yes/no") 1 else -1
  expect_close(fitted(fit), sign * link, 1e-5)
  expect_identical(coef(fit), coef(bsvm(y ~ ., d, prior = prior_ridge(variance = 0.15),
                                        engine = "em")))
})

test_that("`cost` must be positive and goes without `prior`", {
  d <- binary_data()
  for (cost in list(0, -1, NA_real_, "a", 1:2)) {
    expect_refusal(bsvm_parsnip(y ~ x1, d, cost = cost), "argument", "`cost`")
  }
  expect_refusal(bsvm_parsnip(y ~ x1, d, cost = 1, prior = prior_flat()), "argument",
                 c("`cost`", "`prior`"))
  expect_refusal(bsvm_parsnip(y ~ x1, d, kernel = "radial"), "argument", "`kernel`")
})

test_that("weights are those given, whatever columns the data have", {
  d <- binary_data()
  w <- rep(1:3, length.out = nrow(d))
  direct <- bsvm(y ~ x1 + x2, d, weights = w, engine = "vb")
  d$weights <- d$w <- d$data <- 9
  fit <- bsvm_parsnip(y ~ x1 + x2, d, weights = w, algorithm = "vb")
  expect_identical(fit$posterior, direct$posterior)
})

test_that("the call holds code only, and can't be evaluated again unless the data are kept", {
  d <- binary_data()
  fit <- bsvm_parsnip(y ~ x1, d, weights = rep(2, nrow(d)), algorithm = "vb", keep_data = FALSE)
  expect_identical(fit$call, quote(bsvm(formula = y ~ x1, data = `<data>`, weights = `<weights>`,
                                        engine = "vb", keep_data = FALSE)))
  expect_refusal(update(fit, engine = "map"), "data", c("`data`", "`weights`"))
  kept <- bsvm_parsnip(y ~ x1, d, algorithm = "vb", keep_data = TRUE)
  expect_identical(coef(update(kept, . ~ . + 0)), coef(bsvm(y ~ x1 + 0, d, engine = "vb")))
})

test_that("parsnip fits and predicts as bsvm() does", {
  model <- svm_engine(algorithm = "vb", cost = 4)
  d <- binary_data()
  levels(d$y) <- c("not yet", "yes") # no name of a variable
  direct <- bsvm(y ~ x1 + x2 + f, d, prior = prior_ridge(variance = 2), engine = "vb")
  fit <- parsnip::fit(model, y ~ x1 + x2 + f, data = d)
  expect_identical(coef(fit$fit), coef(direct))
  new <- d[5:1, ]
  expect_identical(as.list(predict(fit, new)),
                   list(.pred_class = unname(predict(direct, new))))
  link <- unname(predict(direct, new, type = "link"))
  expect_equal(predict(fit, new, type = "linear_pred")$.pred_linear_pred, link)
  expect_equal(predict(fit, new, type = "raw", opts = list(interval = TRUE)),
               predict(direct, new, interval = TRUE))
  columns <- parsnip::fit_xy(model, x = d[c("x1", "x2", "f")], y = d$y)
  expect_close(coef(columns$fit), coef(direct), tolerances[["rounding"]])
  expect_equal(predict(columns, new[c("f", "x2", "x1")]), predict(fit, new))
})

test_that("probabilities are those of predict(), named by the levels", {
  d <- binary_data()
  levels(d$y) <- c("not yet", "yes")
  model <- svm_engine(likelihood = likelihood_hinge(normalized = TRUE), algorithm = "gaussian")
  fit <- parsnip::fit(model, y ~ x1 + x2, data = d)
  prob <- predict(fit, d, type = "prob")
  expect_named(prob, c(".pred_not yet", ".pred_yes"))
  expect_equal(as.matrix(prob), predict(fit$fit, d, type = "prob"), ignore_attr = TRUE)
  both <- parsnip::augment(fit, d)
  expect_identical(both$.pred_class == "yes", both$.pred_yes >= 0.5)
})

test_that("bars, case weights and engine arguments reach bsvm()", {
  model <- svm_engine(algorithm = "vb", class.weights = c(no = 2))
  g <- grouped_data()
  w <- rep(1:2, length.out = nrow(g))
  fit <- parsnip::fit(model, y ~ x1 + (1 | g), data = g,
                      case_weights = parsnip::frequency_weights(w))
  direct <- bsvm(y ~ x1 + (1 | g), g, weights = w, class.weights = c(no = 2), engine = "vb")
  expect_identical(fit$fit$posterior, direct$posterior)
  new <- transform(g[1:3, ], g = c("g01", "unseen", "g02"))
  expect_identical(predict(fit, new)$.pred_class,
                   unname(predict(direct, new, allow_new_levels = TRUE)))
  expect_refusal(predict(fit, new, type = "raw"), "newdata", "unseen")
})

test_that("the engine is registered whichever package comes first", {
  skip_on_cran()
  skip_if_not_installed("parsnip")
  folder <- new_folder("parsnip")
  on.exit(unlink(folder, recursive = TRUE))
  script <- file.path(folder, "order.R")
  for (first in c("bsvm", "parsnip")) {
    writeLines(c(
      sprintf(".libPaths(%s)", deparse1(.libPaths())),
      sprintf("invisible(lapply(%s, loadNamespace))",
              deparse1(c(first, setdiff(c("bsvm", "parsnip"), first)))),
      "bsvm:::register_parsnip()", # once more changes nothing
      "cat(sum(parsnip::show_engines('svm_linear')$engine == 'bsvm'))"
    ), script)
    output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)),
                      stdout = TRUE, stderr = TRUE)
    expect_identical(tail(output, 1), "2", info = paste(c(first, output), collapse = "\n"))
  }
})

test_that("regression is a mode of the engine", {
  skip_if_not_installed("parsnip")
  direct <- bsvm(mpg ~ wt + hp, mtcars, likelihood = likelihood_eps_insensitive(), engine = "vb")
  model <- parsnip::set_engine(parsnip::svm_linear(mode = "regression"), "bsvm", algorithm = "vb")
  fit <- parsnip::fit(model, mpg ~ wt + hp, data = mtcars)
  expect_identical(coef(fit$fit), coef(direct))
  new <- mtcars[3:5, ]
  expect_equal(predict(fit, new)$.pred, unname(predict(direct, new)))
  limits <- predict(direct, new, interval = "prediction", level = 0.8)
  found <- predict(fit, new, type = "pred_int", level = 0.8)
  expect_equal(found$.pred_lower, limits$lower)
  expect_equal(found$.pred_upper, limits$upper)
  limits <- predict(direct, new, interval = "confidence")
  expect_equal(predict(fit, new, type = "conf_int")$.pred_upper, limits$upper)
  margin <- parsnip::set_engine(parsnip::svm_linear(mode = "regression", margin = 0.5), "bsvm",
                                algorithm = "vb")
  fit <- parsnip::fit(margin, mpg ~ wt + hp, data = mtcars)
  expect_identical(coef(fit$fit), coef(bsvm(
    mpg ~ wt + hp, mtcars, likelihood = likelihood_eps_insensitive(epsilon = 0.5), engine = "vb"
  )))
})

test_that("the cost of regression is LIBSVM's, for a given scale", {
  skip_if_not_installed("e1071")
  fit <- bsvm_parsnip(mpg ~ wt + hp, mtcars, cost = 2, algorithm = "em", mode = "regression",
                      likelihood = likelihood_eps_insensitive(epsilon = 0.3, scale = 1.5))
  columns <- as.data.frame(scale(mtcars[c("wt", "hp")]))
  columns$mpg <- mtcars$mpg
  svm <- e1071::svm(mpg ~ ., columns, type = "eps-regression", kernel = "linear", cost = 2,
                    epsilon = 0.3, scale = FALSE, tolerance = 1e-8)
  expect_close(fitted(fit), predict(svm, columns), 1e-4)
  expect_refusal(bsvm_parsnip(mpg ~ wt, mtcars, cost = 1, mode = "regression"), "argument", "`cost`")
  expect_refusal(bsvm_parsnip(mpg ~ wt, mtcars, margin = 1, mode = "regression",
                              likelihood = likelihood_laplace()), "argument", "`margin`")
  expect_refusal(bsvm_parsnip(am ~ wt, mtcars, mode = "regression", likelihood = likelihood_hinge()),
                 "unsupported", "numbers")
  expect_refusal(bsvm_parsnip(mpg ~ wt, mtcars, likelihood = likelihood_laplace()), "unsupported",
                 "regression")
})

test_that("kernels: predictors are one term, offsets and group effects stay", {
  d <- transform(binary_data(), g = factor(seq_along(y) %% 4))
  fit <- bsvm_parsnip(y ~ x1 + x2 + offset(x3) + (1 | g), d, kernel = "rbf", rbf_sigma = 0.5,
                      algorithm = "gaussian")
  own <- bsvm(y ~ gp(x1, x2, kernel = kernel_se(1)) + offset(x3) + (1 | g), d, engine = "gaussian")
  expect_identical(formula(fit), formula(own))
  expect_identical(fitted(fit), fitted(own))
  fit <- bsvm_parsnip(y ~ x1 + x2, d, kernel = "poly", degree = 2, scale_factor = 0.5, cost = 2,
                      algorithm = "gaussian")
  own <- bsvm(y ~ gp(x1, x2, kernel = kernel_poly(2L, 1)), d, engine = "gaussian",
              prior = list(gp = cost_prior(2, NULL)))
  expect_identical(fitted(fit), fitted(own))
  for (bad in list(y ~ x1 * x2, y ~ x1 - x2, y ~ 1, y ~ offset(x1))) {
    expect_refusal(bsvm_parsnip(bad, d, kernel = "rbf"), "formula", "`formula` must have")
  }
  expect_refusal(bsvm_parsnip(y ~ x1, d, kernel = "rbf", rbf_sigma = -1), "argument", "rbf_sigma")
})
