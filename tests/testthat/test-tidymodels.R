# Workflows, resampling and tuning of the tidymodels with the engine of parsnip. What they predict and
# measure equals what loops over bsvm() and predict() give. Workflows give numeric predictors first,
# so formulas here have them in that order.

need_tidymodels <- function() {
  skip_on_cran()
  skip_if_not_installed("parsnip", "1.3")
  skip_if_not_installed("workflows", "1.3")
  skip_if_not_installed("tune", "2.1")
  skip_if_not_installed("rsample")
  skip_if_not_installed("yardstick")
}

# `columns` is a formula, or the names of the response and the predictors; with these, `formula` is
# what bsvm() is given.
workflow_of <- function(model, columns, formula = NULL) {
  model <- parsnip::set_engine(model, "bsvm", algorithm = "gaussian")
  flow <- workflows::add_model(workflows::workflow(), model, formula = formula)
  if (!is.character(columns)) return(workflows::add_formula(flow, columns))
  workflows::add_variables(flow, outcomes = columns[1L], predictors = columns[-1L])
}

# The mean over folds of `score`, for a direct fit to the training rows of each fold.
over_folds <- function(folds, fit, score) {
  mean(vapply(folds$splits, function(split) {
    score(fit(rsample::analysis(split)), rsample::assessment(split))
  }, 0))
}

log_loss <- function(fit, new) {
  prob <- predict(fit, new, type = "prob", allow_new_levels = TRUE)
  -mean(log(prob[cbind(seq_len(nrow(new)), as.integer(new$y))]))
}

accuracy <- function(fit, new) {
  mean(predict(fit, new, type = "class", allow_new_levels = TRUE) == new$y)
}

seen <- function(results, metric) {
  expect_identical(nrow(tune::collect_notes(results)), 0L)
  found <- tune::collect_metrics(results)
  found$mean[found$.metric == metric]
}

gaussian_fit <- function(formula, ...) {
  function(data) bsvm(formula, data, engine = "gaussian", ...)
}

test_that("a workflow predicts what bsvm() does, with intervals of probabilities", {
  need_tidymodels()
  d <- binary_data()
  direct <- bsvm(y ~ x1 + x2 + f, d, engine = "gaussian")
  flows <- list(workflow_of(parsnip::svm_linear("classification"), y ~ x1 + x2 + f),
                workflow_of(parsnip::svm_linear("classification"), c("y", "x1", "x2", "f")))
  new <- d[7:1, ]
  limits <- predict(direct, new, type = "prob", interval = TRUE, level = 0.8)
  for (flow in flows) {
    fit <- parsnip::fit(flow, d)
    expect_identical(coef(workflows::extract_fit_engine(fit)), coef(direct))
    expect_identical(predict(fit, new)$.pred_class, unname(predict(direct, new)))
    expect_equal(as.matrix(predict(fit, new, type = "prob")), predict(direct, new, type = "prob"),
                 ignore_attr = TRUE)
    found <- predict(fit, new, type = "conf_int", level = 0.8)
    expect_named(found, c(".pred_lower_no", ".pred_upper_no", ".pred_lower_yes", ".pred_upper_yes"))
    expect_equal(found$.pred_lower_yes, limits$lower)
    expect_equal(found$.pred_upper_yes, limits$upper)
    expect_equal(found$.pred_lower_no, 1 - limits$upper)
    expect_equal(found$.pred_upper_no, 1 - limits$lower)
  }
  expect_equal(parsnip::augment(fit, new)$.pred_yes, limits$fit)
})

test_that("recipes and case weights of a workflow reach bsvm()", {
  need_tidymodels()
  skip_if_not_installed("recipes")
  d <- binary_data()
  recipe <- recipes::step_dummy(recipes::recipe(y ~ f + x1, d), f)
  model <- parsnip::set_engine(parsnip::svm_linear("classification"), "bsvm",
                               algorithm = "gaussian")
  flow <- workflows::add_recipe(workflows::add_model(workflows::workflow(), model), recipe)
  fit <- workflows::extract_fit_engine(parsnip::fit(flow, d))
  expect_close(coef(fit)[c("(Intercept)", "x1", "f_b", "f_c")],
               coef(bsvm(y ~ x1 + f, d, engine = "gaussian")), tolerances[["rounding"]])
  w <- rep(1:3, length.out = nrow(d))
  flow <- workflows::add_case_weights(workflow_of(parsnip::svm_linear("classification"), y ~ x1), n)
  d$n <- parsnip::frequency_weights(w)
  expect_identical(coef(workflows::extract_fit_engine(parsnip::fit(flow, d))),
                   coef(bsvm(y ~ x1, d, weights = w, engine = "gaussian")))
})

test_that("resampling measures held-out rows, of new groups too", {
  need_tidymodels()
  d <- grouped_data()
  formula <- y ~ x1 + (1 | g)
  flow <- workflow_of(parsnip::svm_linear("classification"), c("y", "g", "x1"), formula)
  folds <- with_seed(1, rsample::group_vfold_cv(d, g, v = 3))
  metrics <- yardstick::metric_set(yardstick::accuracy, yardstick::mn_log_loss)
  results <- tune::fit_resamples(flow, folds, metrics = metrics)
  fit <- gaussian_fit(formula)
  expect_equal(seen(results, "accuracy"), over_folds(folds, fit, accuracy))
  expect_equal(seen(results, "mn_log_loss"), over_folds(folds, fit, log_loss))
})

test_that("cost and sigma are tuned over a grid", {
  need_tidymodels()
  d <- binary_data()
  folds <- with_seed(1, rsample::vfold_cv(d, v = 2))
  loss <- yardstick::metric_set(yardstick::mn_log_loss)
  flow <- workflow_of(parsnip::svm_linear("classification", cost = tune::tune()), y ~ x1 + x2)
  results <- tune::tune_grid(flow, folds, grid = data.frame(cost = c(0.02, 2)), metrics = loss)
  direct <- vapply(c(0.02, 2), function(cost) {
    over_folds(folds, function(data) bsvm_parsnip(y ~ x1 + x2, data, cost = cost,
                                                  algorithm = "gaussian"), log_loss)
  }, 0)
  expect_equal(seen(results, "mn_log_loss"), direct)
  best <- tune::select_best(results, metric = "mn_log_loss")
  expect_identical(best$cost, c(0.02, 2)[which.min(direct)])
  final <- parsnip::fit(tune::finalize_workflow(flow, best), d)
  expect_identical(coef(workflows::extract_fit_engine(final)),
                   coef(bsvm_parsnip(y ~ x1 + x2, d, cost = best$cost, algorithm = "gaussian")))
  flow <- workflow_of(parsnip::svm_rbf("classification", rbf_sigma = tune::tune()), y ~ x1 + x2)
  results <- tune::tune_grid(flow, folds, grid = data.frame(rbf_sigma = c(0.1, 1)), metrics = loss)
  direct <- vapply(c(0.1, 1), function(sigma) {
    formula <- eval(bquote(y ~ gp(x1, x2, kernel = kernel_se(.(1 / sqrt(2 * sigma))))))
    over_folds(folds, gaussian_fit(formula), log_loss)
  }, 0)
  expect_equal(seen(results, "mn_log_loss"), direct)
})

test_that("regression has numbers, intervals and resampled errors", {
  need_tidymodels()
  flow <- workflow_of(parsnip::svm_linear("regression"), mpg ~ hp + wt)
  fit <- parsnip::fit(flow, mtcars)
  own <- gaussian_fit(mpg ~ hp + wt, likelihood = likelihood_eps_insensitive())
  direct <- own(mtcars)
  new <- mtcars[3:6, ]
  expect_equal(predict(fit, new)$.pred, unname(predict(direct, new)))
  for (type in c(conf_int = "confidence", pred_int = "prediction")) {
    limits <- predict(direct, new, interval = type, level = 0.8)
    found <- predict(fit, new, type = if (type == "confidence") "conf_int" else "pred_int",
                     level = 0.8)
    expect_equal(found, limits[c("lower", "upper")], ignore_attr = TRUE)
  }
  folds <- with_seed(1, rsample::vfold_cv(mtcars, v = 3))
  error <- function(fit, new) sqrt(mean((predict(fit, new) - new$mpg)^2))
  expect_equal(seen(tune::fit_resamples(flow, folds), "rmse"), over_folds(folds, own, error))
})
