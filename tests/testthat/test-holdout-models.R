# What models may be and may say, against predictions that are known.

bsvm <- paper_bsvm

d <- binary_data(80)
g <- grouped_data()
levels <- c("no", "yes")
two <- function(levels) new_response("classes", levels = levels)
read <- function(said, n = 3) read_prediction(said, two(levels), n)

test_that("predictions are read by their shape", {
  second <- c(TRUE, FALSE, NA)
  expect_identical(read(factor(c("yes", "no", NA), levels))$class, second)
  expect_identical(read(c("yes", "no", NA))$class, second)
  zero_one <- read_prediction(c(TRUE, FALSE), two(c("FALSE", "TRUE")), 2)
  expect_identical(zero_one, list(class = c(TRUE, FALSE), link = NULL, prob = NULL))
  expect_identical(read(c(a = 0, b = -1, c = 2)),
                   list(class = c(TRUE, FALSE, TRUE), link = c(0, -1, 2), prob = NULL))
  prob <- cbind(no = c(0.2, 0.5, 0.9), yes = c(0.8, 0.5, 0.1))
  expected <- list(class = c(TRUE, TRUE, FALSE), link = NULL, prob = c(0.8, 0.5, 0.1))
  expect_identical(read(prob), expected)
  expect_identical(read(as.data.frame(prob[, 2:1])), expected)
  expect_identical(read(list(prob = c(0.8, 0.5, 0.1))), expected)
  dotted <- data.frame(.pred_class = factor(c("no", "yes", "no"), levels))
  expect_identical(read(dotted)$class, c(FALSE, TRUE, FALSE))
  all <- read(list(class = c("no", "yes", "no"), link = 1:3, prob = prob))
  expect_identical(all, list(class = c(FALSE, TRUE, FALSE), link = 1:3, prob = prob[, 2]))
})

test_that("numbers are classes where the response is coded so", {
  coded <- function(said, levels) read_prediction(said, two(levels), length(said))
  second <- c(FALSE, TRUE, NA)
  expected <- list(class = second, link = NULL, prob = NULL)
  codings <- list(c("0", "1"), c("FALSE", "TRUE"))
  for (levels in codings) {
    expect_identical(coded(c(0, 1, NA), levels), expected)
    expect_identical(coded(c(0L, 1L, NA), levels), expected)
    expect_identical(coded(second, levels), expected)
    expect_identical(read_prediction(list(class = factor(c(0, 1, NA))), two(levels), 3), expected)
  }
  expect_identical(coded(c(0, 0), c("0", "1"))$class, c(FALSE, FALSE))
  expect_identical(coded(c(-1, 1, NA), c("-1", "1")), expected)
  expect_identical(coded(c(1, 0), c("1", "0"))$class, c(FALSE, TRUE))
  expect_identical(coded(c(-1, 1), c("0", "1")),
                   list(class = c(FALSE, TRUE), link = c(-1, 1), prob = NULL))
  expect_identical(coded(c(0, 2), c("0", "1"))$link, c(0, 2))
})

test_that("numbers between 0 and 1 must be said to be links or probabilities", {
  expect_refusal(read(c(0.2, 0.9, NA)), "argument", c("`list(prob = )`", "`list(link = )`"))
  expect_refusal(read(c(0, 1, 1)), "argument", "between 0 and 1")
  expect_refusal(read_prediction(c(0, 0.5), two(c("0", "1")), 2), "argument", "between 0 and 1")
  expect_identical(read(list(link = c(0.2, 0.9, 0)))$class, c(TRUE, TRUE, TRUE))
  expect_identical(read(list(prob = c(0.2, 0.9, 0)))$class, c(FALSE, TRUE, FALSE))
  study <- with_seed(1, quiet_study(holdout(list(p = scored_by(plogis(x1))), d, times = 2,
                                            response = y, metrics = "error")))
  expect_match(study$failure, "list(prob = )", fixed = TRUE)
})

test_that("classes and probabilities are read from one data frame", {
  both <- data.frame(.pred_class = factor(c("no", "yes", "yes"), levels),
                     .pred_no = c(0.9, 0.2, 0.6), .pred_yes = c(0.1, 0.8, 0.4))
  expect_identical(read(both), list(class = c(FALSE, TRUE, TRUE), link = NULL,
                                    prob = c(0.1, 0.8, 0.4)))
  expect_identical(read(data.frame(link = c(-2, 0, 1)))$link, c(-2, 0, 1))
  expect_null(read(both[1:2])$prob)
})

test_that("what is no prediction is refused", {
  expect_refusal(read(c("yes", "maybe", "no")), "argument", c("'no' and 'yes'", "'maybe'"))
  expect_refusal(read(1:4), "argument", c("3", "4"))
  expect_refusal(read(cbind(a = 1:3, b = 1)), "argument", c("'a' and 'b'"))
  expect_refusal(read(list(prob = c(0.1, 1.2, 0))), "argument", "between 0 and 1")
  expect_refusal(read(sum), "argument", "a function")
})

test_that("a fit is fitted again with all its arguments, by its own methods", {
  prior <- prior_ridge(variance = 0.3)
  d$w <- rep(1:2, 40)
  fit <- bsvm(y ~ x1 + log(x3 + 1), d, weights = w, prior = prior, engine = "vb",
              standardize = FALSE, class.weights = c(yes = 2))
  again <- as_learner(fit, "fit", NULL, environment())(d[1:50, ])
  direct <- bsvm(y ~ x1 + log(x3 + 1), d[1:50, ], weights = w, prior = prior, engine = "vb",
                 standardize = FALSE, class.weights = c(yes = 2))
  expect_identical(again$posterior, direct$posterior)
  said <- classify(again, d[51:80, ], two(levels), TRUE)
  expect_identical(said$class, unname(predict(direct, d[51:80, ]) == "yes"))
  expect_equal(said$link, unname(predict(direct, d[51:80, ], type = "link")))
})

test_that("a fit is fitted again with the values its arguments had", {
  again <- function(fit) as_learner(fit, "fit", NULL, environment())(d[1:50, ])
  direct <- function(...) bsvm(y ~ x1 + f, d[1:50, ], engine = "vb", ...)
  looped <- list()
  for (v in c(1e-4, 10)) {
    looped[[length(looped) + 1]] <- bsvm(y ~ x1 + f, d, prior = prior_ridge(variance = v),
                                         engine = "vb")
  }
  applied <- lapply(c(1e-4, 10), function(own) {
    bsvm(y ~ x1 + f, d, prior = prior_ridge(variance = own), engine = "vb")
  })
  variances <- c(1e-4, 10)
  for (k in 1:2) {
    expected <- direct(prior = prior_ridge(variance = variances[k]))$posterior
    expect_identical(again(looped[[k]])$posterior, expected)
    expect_identical(again(applied[[k]])$posterior, expected)
  }
  weighted <- lapply(c(1, 5), function(own) {
    contrast <- if (own == 1) "contr.sum" else "contr.helmert"
    bsvm(y ~ x1 + f, d, class.weights = c(yes = own), contrasts = list(f = contrast),
         missing = missing_omit(), engine = "vb")
  })
  expected <- direct(class.weights = c(yes = 5), contrasts = list(f = "contr.helmert"))
  expect_identical(again(weighted[[2]])$posterior, expected$posterior)
  expect_identical(weighted[[1]]$arguments$missing, missing_omit())
})

test_that("weights and offset are of the data's columns", {
  k <- 2
  constant <- bsvm(y ~ x1, d, weights = x3 * k, engine = "vb")
  learner <- as_learner(constant, "mine", NULL, environment())
  expect_refusal(learner(d), "data", c("`weights`", "`k`"))
  given <- do.call(bsvm, list(y ~ x1, d, offset = d$x3, engine = "vb"))
  expect_refusal(as_learner(given, "mine", NULL, environment()), "data", "`offset`")
})

test_that("a formula is a fit with the defaults, and constants of the formula come along", {
  k <- 3
  fit <- bsvm(y ~ I(x1^k), d, engine = "vb")
  again <- as_learner(fit, "fit", NULL, globalenv())(d[1:50, ])
  expect_identical(again$posterior, bsvm(y ~ I(x1^3), d[1:50, ], engine = "vb")$posterior)
  plain <- with_seed(1, as_learner(y ~ x1, "plain", NULL, globalenv())(d))
  expect_identical(plain$posterior, with_seed(1, bsvm::bsvm(y ~ x1, d))$posterior)
})

test_that("where a fit started is not carried over", {
  first <- bsvm(y ~ x1, d, engine = "vb")
  started <- bsvm(y ~ x1, d, engine = "vb", control = bsvm_control(start = first, verbose = TRUE))
  again <- as_learner(started, "fit", NULL, environment())(d)
  expect_null(again$control$start)
  expect_false(again$control$verbose)
})

test_that("levels that were not trained on are predicted", {
  fit <- bsvm(y ~ x1 + (1 | g), g, engine = "vb")
  known <- g$g %in% levels(g$g)[1:6]
  again <- as_learner(fit, "fit", NULL, environment())(g[known, ])
  said <- classify(again, g[!known, ], two(levels), FALSE)
  expect_equal(said$link, unname(predict(again, g[!known, ], type = "link", re_formula = NA)))
})

test_that("probabilities are asked for by type, S4 models by their own predict()", {
  skip_if_not_installed("kernlab")
  svm <- with_seed(1, kernlab::ksvm(y ~ x1 + x2, d, prob.model = TRUE))
  said <- classify(svm, d, two(levels), TRUE)
  expect_equal(said$prob, kernlab::predict(svm, d, type = "probabilities")[, "yes"])
  expect_identical(said$class, kernlab::predict(svm, d) == "yes")
  expect_null(classify(svm, d, two(levels), FALSE)$prob)
  skip_if_not_installed("e1071")
  other <- e1071::svm(y ~ x1 + x2, data = d)
  expect_identical(classify(other, d, two(levels), TRUE),
                   list(class = unname(predict(other, d) == "yes"), link = NULL, prob = NULL))
})

test_that("a glm has the classes of its probabilities, whatever its link", {
  for (link in c("logit", "cloglog")) {
    fit <- suppressWarnings(glm(y ~ x1, binomial(link), d))
    said <- classify(fit, d, two(levels), TRUE)
    prob <- unname(predict(fit, d, type = "response"))
    expect_equal(said, list(class = prob >= 0.5, link = unname(predict(fit, d)), prob = prob))
  }
  expect_false(all((said$link >= 0) == said$class))
  linear <- glm(I(2 * (y == "yes") - 1) ~ x1, data = d)
  expect_equal(classify(linear, d, two(levels), TRUE)$link, unname(predict(linear, d)))
})

test_that("fits have the probabilities that predict() gives them", {
  for (likelihood in list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))) {
    fit <- bsvm(y ~ x1 + x2, d, engine = "gaussian", likelihood = likelihood)
    again <- as_learner(fit, "fit", NULL, environment())(d)
    expect_identical(classify(again, d[1:9, ], two(levels), TRUE)$prob,
                     unname(predict(fit, d[1:9, ], type = "prob")[, "yes"]))
  }
  study <- with_seed(3, holdout(list(fit = fit), d, times = 2, metrics = c("brier", "slope")))
  expect_true(all(is.na(study$failure)) && all(study$value[study$metric == "brier"] < 0.25))
})

test_that("what can't be fitted to other rows is refused", {
  as_model <- function(model) as_learner(model, "mine", NULL, environment())
  expect_refusal(as_model(3), "argument", c("3", "`mine`"))
  matrix <- bsvm(as.matrix(d[1:3]), d$y, engine = "vb")
  expect_refusal(as_model(matrix), "unsupported", c("bsvm(x, y)", "function(data)"))
  some <- bsvm(y ~ x1, d, subset = x2 > 2, engine = "vb")
  expect_refusal(as_model(some), "unsupported", "`subset`")
  frame <- bsvm_frame(y ~ x1, d)
  spec <- bsvm_spec(frame, prior_ridge(variance = 3), engine = "vb")
  staged <- function(...) new_bsvm(frame, spec, bsvm_run(spec), quote(bsvm(y ~ x1, d)), ...)
  expect_refusal(as_model(staged()), "unsupported", c("`mine`", "`arguments`"))
  kept <- staged(arguments = list(prior = prior_ridge(variance = 3)))
  expect_identical(as_model(kept)(d)$posterior, kept$posterior)
  expect_refusal(as_model(tuned_svm()), "argument", "tuned_svm(formula = y ~ x)")
  expect_refusal(check_models(list()), "argument", "`models`")
  expect_named(check_models(list(y ~ x1, a = y ~ x2)), c("model 1", "a"))
})

test_that("a fit to a matrix goes in through a function", {
  columns <- c("x1", "x2", "x3")
  own <- function(data) bsvm(as.matrix(data[columns]), data$y, engine = "vb")
  study <- with_seed(1, holdout(list(matrix = own), d, times = 2, response = y))
  fit <- bsvm(y ~ x1 + x2 + x3, d, engine = "vb")
  other <- with_seed(1, holdout(list(matrix = fit), d, times = 2))
  expect_identical(untimed(study), untimed(other))
})
