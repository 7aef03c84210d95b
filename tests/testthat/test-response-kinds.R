# What every kind of response must do, and a kind and a likelihood that are made here: they run
# through coding, printing and predictions without an edit of the package.

prefix <- "bsvm_response_"
code_methods <- grep(paste0("^code_values[.]", prefix),
                     ls(asNamespace("bsvm")[[".__S3MethodsTable__."]]), value = TRUE)
kinds <- sub(paste0("^code_values[.]", prefix), "", code_methods)

# Values of a kind that a fit may have, and more of them in other rows.
kind_examples <- list(classes = list(values = factor(c("b", "a", "b", "b")), new = c("a", "b", NA)),
                      numbers = list(values = c(1.5, -2, 30), new = c(0, NA)))

test_that("each kind of response has an example here", {
  expect_setequal(kinds, names(kind_examples))
})

# Coding, words and the shape of predictions.
expect_kind <- function(kind, example) {
  coded <- bsvm:::code_response(example$values, kind = kind)
  response <- coded$response
  n <- length(example$values)
  expect_true(bsvm:::is_kind(response, kind))
  expect_type(coded$y, "double")
  expect_length(coded$y, n)
  expect_false(anyNA(coded$y))
  expect_equal(bsvm:::recode_values(response, example$values), coded$y)
  new <- bsvm:::code_new_values(response, example$new)
  expect_identical(is.na(new), is.na(example$new))
  expect_true(bsvm:::same_coding(response, response))
  expect_no_error(bsvm:::check_whole_response(response))
  expect_type(bsvm:::describe_kind(response), "character")
  expect_length(bsvm:::as_truth(response, coded$y), n)
  expect_true(all(vapply(bsvm:::known_metrics_of(response), is.function, TRUE)))
  types <- bsvm:::prediction_types(response)
  expect_true(bsvm:::interval_type(response) %in% types)
  found <- list(mean = coded$y, prob = rep(0.5, n), quantiles = cbind(coded$y))
  for (type in types) {
    expect_identical(bsvm:::check_prediction_type(response, type, FALSE), type)
    expect_identical(NROW(bsvm:::shape_prediction(response, found, type, NULL)), n)
  }
  expect_refusal(bsvm:::check_prediction_type(response, "nothing", FALSE), "argument", "`type`")
  expect_identical(bsvm:::augmented_columns(response, coded$y)$.fitted, coded$y)
  for (generic in generics_of("bsvm_response_")) {
    expect(has_method(generic, response) || has_method(generic, structure(1, class = "default")),
           paste(generic, "has no method for", kind))
  }
}

for (kind in names(kind_examples)) {
  test_that(sprintf("kind %s keeps the contract", kind), {
    expect_kind(kind, kind_examples[[kind]])
  })
}

# ---- a kind that is made here -------------------------------------------------------------------

metres_methods <- list(
  code_values = function(response, values, drop_unused, name) {
    if (!is.numeric(values)) abort("response", "`", name, "` must be numbers.")
    list(y = as.double(values), response = bsvm:::new_response("metres", unit = "m"))
  },
  recode_values = function(response, values) as.double(values),
  code_new_values = function(response, values) as.double(values),
  same_coding = function(response, other) TRUE,
  check_whole_response = function(response) NULL,
  describe_kind = function(response) "metres",
  describe_response = function(response) paste("response in", response$unit),
  prediction_types = function(response) c("response", "link"),
  interval_type = function(response) "response",
  check_prediction_type = function(response, type, interval) {
    bsvm:::pick_one(type, c("response", "link"), "type")
  },
  shape_prediction = function(response, found, type, threshold) bsvm:::shape_links(found),
  check_types = function(response) "overlay",
  drawn_scale = function(response, y) y,
  draw_check = function(response, type, likelihood, f, y, group, ...) NULL,
  class_factors = function(response, y) NULL,
  as_truth = function(response, y) y,
  known_metrics_of = function(response) {
    list(rmse = function(seen) sqrt(mean((seen$truth - seen$mean)^2)))
  },
  read_prediction = function(said, response, n) list(mean = as.vector(said)),
  ask_fit = function(response, fitted, newdata, prob) stats::predict(fitted, newdata),
  ask_foreign = function(response, predict, fitted, newdata, prob) predict(fitted, newdata),
  prediction_frame = function(response, seen, rows) {
    data.frame(.row = rows, truth = seen$truth, .pred = seen$mean)
  }
)

toy_methods <- list(
  response_kind = function(likelihood) "metres",
  log_density = function(likelihood, y, f) stats::dnorm(y, f, log = TRUE),
  expected_response = function(likelihood, f) f,
  row_residuals = function(likelihood, y, f) y - f,
  is_support = function(likelihood, y, f) abs(y - f) > 1,
  draw_response = function(likelihood, f) f + stats::rnorm(length(f)),
  response_sd = function(likelihood, fit) 1
)

with_toy <- function(code) {
  with_methods("bsvm_response_metres", metres_methods,
               with_methods("bsvm_likelihood_toy", toy_methods, code))
}

# Under the name of a likelihood of the core, which is not asked to fit it.
toy <- bsvm:::new_likelihood("hinge_normalized", numeric(0), "toy", TRUE, class = "toy")

test_that("a kind of response that is defined elsewhere keeps the contract", {
  with_toy(expect_kind("metres", list(values = c(1.5, -2, 3), new = c(0, NA))))
})

test_that("the likelihood decides how a frame codes the response", {
  with_toy({
    frame <- bsvm_frame(dist ~ speed, cars, likelihood = toy)
    expect_identical(frame$y, cars$dist)
    expect_s3_class(frame$response, "bsvm_response_metres")
    expect_output(print(frame), "bsvm_frame: 50 rows, 2 columns", fixed = TRUE)
    by_matrix <- bsvm_frame(as.matrix(cars["speed"]), cars$dist, likelihood = toy)
    expect_identical(by_matrix$y, cars$dist)
    weighted <- bsvm_frame(dist ~ speed, cars, weights = rep(0:1, 25), likelihood = toy)
    expect_identical(weighted$absent$y, cars$dist[rep(c(TRUE, FALSE), 25)])
    expect_refusal(bsvm_frame(dist ~ speed, cars), "response", "two levels")
    expect_refusal(bsvm_frame(dist ~ speed, cars, likelihood = toy, class.weights = c(a = 2)),
                   "weights", c("`class.weights`", "metres"))
    expect_refusal(bsvm_spec(frame), "argument", c("`likelihood`", "metres"))
    expect_refusal(bsvm_spec(frame, likelihood = "hinge"), "argument", "bsvm_frame()")
    expect_refusal(bsvm(dist ~ speed, transform(cars, dist = "far"), likelihood = toy), "response",
                   "`dist` must be numbers")
  })
})

test_that("a fit says and predicts what its response and likelihood say", {
  signs <- transform(mtcars, am = 2 * am - 1)
  fit <- bsvm(am ~ mpg + wt, signs, engine = "gaussian", control = bsvm_control(verbose = FALSE))
  fit$response <- bsvm:::new_response("metres", unit = "m")
  fit$likelihood <- toy
  with_toy({
    expect_output(print(fit), "response in m", fixed = TRUE)
    expect_output(print(summary(fit, details = TRUE)), "response in m", fixed = TRUE)
    expect_null(summary(fit)$n_positive)
    expect_identical(predict(fit), fitted(fit))
    expect_named(predict(fit, interval = TRUE), c("fit", "sd", "lower", "upper"))
    expect_refusal(predict(fit, type = "class"), "argument", "\"response\"")
    expect_refusal(predict(fit, threshold = 0.3), "argument", "`threshold`")
    expect_identical(residuals(fit), fit$y - fit$link)
    expect_identical(sigma(fit), 1)
    expect_identical(names(augment(fit)), c(names(model.frame(fit)), ".fitted", ".resid"))
    expect_equal(integrated_loglik(fit, fixef = fixef(fit)),
                 sum(dnorm(fit$y, fitted(fit), log = TRUE)))
  })
})

# What is for two classes only says what was found, and what to use.
test_that("functions for two classes refuse other responses", {
  signs <- transform(mtcars, am = 2 * am - 1)
  as_metres <- function(fit) {
    fit$response <- bsvm:::new_response("metres", unit = "m")
    fit$likelihood <- toy
    fit
  }
  quiet <- bsvm_control(verbose = FALSE)
  fit <- as_metres(bsvm(am ~ mpg + wt, signs, engine = "gaussian", control = quiet))
  point <- as_metres(bsvm(am ~ mpg + wt, signs, likelihood = "hinge", engine = "em",
                           prior = prior_ridge(variance = 1), control = quiet))
  with_toy({
    expect_refusal(calibration(fit, signs), "unsupported",
                   c("calibration()", "here it is metres", "holdout()"))
    expect_refusal(calibration_map(fit, signs), "unsupported",
                   c("calibration_map()", "here it is metres", "predict(type = \"response\")"))
    expect_refusal(support_vectors(point), "unsupported",
                   c("support_vectors()", "here it is metres", "summary()", "residuals()"))
    expect_identical(summary(point)$n_support, sum(abs(point$y - point$link) > 1))
    expect_null(summary(point)$estimate$n_margin)
    expect_output(print(summary(point, details = TRUE)),
                  "Support vectors: [0-9]+ of 32 rows \\([0-9.]+ %\\)\n")
    expect_refusal(bsvm_parsnip(dist ~ speed, cars, likelihood = toy), "unsupported",
                   c("bsvm_parsnip()", "here it is metres", "regression"))
    expect_refusal(holdout(list(fit, tuned_svm()), signs, times = 2), "unsupported",
                   c("tuned_svm()", "here it is metres", "function(data)"))
  })
  skip_if_not_installed("e1071")
  expect_refusal(fit(tuned_svm(), dist ~ speed, cars), "response", c("numeric", "a factor"))
})

test_that("studies test other kinds of response", {
  with_toy({
    coded <- bsvm:::code_response(cars$dist, kind = "metres")
    units <- bsvm:::split_units(coded$y)
    expect_true(all(units$stratum == 1L))
    splits <- with_seed(1, bsvm:::random_splits(units, 2, 3 / 4, NULL))
    job <- list(data = cars, truth = coded$y, response = coded$response, predictions = TRUE,
                learners = list(line = function(data) stats::lm(dist ~ speed, data)),
                metrics = bsvm:::check_metrics(c("rmse", "seconds"), coded$response),
                splits = splits, seeds = 1:2)
    result <- bsvm:::run_tasks(job, 1L, NULL, FALSE)
    rows <- splits[[1L]]
    line <- stats::lm(dist ~ speed, cars[rows$train, ])
    error <- cars$dist[rows$test] - predict(line, cars[rows$test, ])
    expect_equal(result[[1L]]$values[["rmse"]], sqrt(mean(error^2)))
    expect_identical(result[[1L]]$predictions$.row, rows$test)
    expect_identical(bsvm:::default_metrics(coded$response), c("rmse", "seconds"))
    expect_refusal(bsvm:::check_metrics("ber", coded$response), "argument", "\"rmse\"")
  })
})
