# 2000 rows of which about 2 % are of class 1: every row is nearer to class 0.
rare <- with_seed(2, {
  x <- rnorm(2000)
  data.frame(x = x, y = rbinom(2000, 1, plogis(-4.5 + x)))
})

forget <- function(...) rm(list = intersect(c(...), ls(bsvm:::session)), envir = bsvm:::session)

test_that("one class for all rows is said by print() and once by predict(), with ways out", {
  for (likelihood in list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))) {
    engine <- if (likelihood$normalized) "gaussian" else "vb"
    fit <- bsvm(y ~ x, rare, engine = engine, likelihood = likelihood,
                prior = prior_ridge(variance = prior_half_t()))
    words <- c("class \"0\"", "`threshold`", "`costs`", "`class.weights`")
    printed <- paste(capture.output(print(fit)), collapse = " ")
    for (word in words) expect_true(grepl(word, printed, fixed = TRUE))
    forget("one_class")
    said <- expect_message(classes <- predict(fit), class = "bsvm_message_one_class")
    for (word in words) expect_true(grepl(word, conditionMessage(said), fixed = TRUE))
    expect_identical(nlevels(droplevels(classes)), 1L)
    expect_silent(predict(fit))
    forget("one_class")
    expect_no_message(predict(fit, type = "prob"), class = "bsvm_message_one_class")
    # What it advises finds the other class.
    expect_true("1" %in% predict(fit, threshold = mean(rare$y)))
    expect_true("1" %in% predict(fit, costs = c("0" = 1, "1" = 1 / mean(rare$y))))
    weighted <- update(fit, class.weights = c("1" = 40))
    expect_true("1" %in% predict(weighted))
  }
})

test_that("fits with two classes, or without predictors, say nothing", {
  d <- binary_data()
  forget("one_class")
  fit <- bsvm(y ~ x1 + x2, d, engine = "vb", likelihood = likelihood_hinge())
  expect_silent(predict(fit))
  expect_no_match_in(paste(capture.output(print(fit)), collapse = " "), "All rows")
  alone <- bsvm(y ~ 1, rare, engine = "vb", likelihood = likelihood_hinge())
  expect_silent(predict(alone))
})

test_that("a factor of very many levels that shares a variance gets a hint, once a session", {
  d <- with_seed(3, data.frame(x = rnorm(200), id = gl(40, 5)))
  d$y <- with_seed(4, rbinom(200, 1, plogis(d$x + rnorm(40)[d$id])))
  frame <- function(formula, prior = prior_ridge()) {
    bsvm_spec(bsvm_frame(formula, d), prior = prior, likelihood = likelihood_hinge(), engine = "vb")
  }
  forget("many_levels id")
  hint <- expect_message(frame(y ~ x + id), class = "bsvm_message_many_levels")
  expect_match(conditionMessage(hint), "(1 | id)", fixed = TRUE)
  expect_message(frame(y ~ x + id), NA)
  expect_s3_class(bsvm(y ~ x + (1 | id), d, engine = "vb", likelihood = likelihood_hinge()), "bsvm")
  # no other predictor, a variance of its own, a given one, flat priors, few levels
  for (quiet in list(list(y ~ id), list(y ~ x + id, list(id = prior_ridge(), x = prior_ridge())),
                     list(y ~ x + id, prior_ridge(variance = 1)), list(y ~ x + (1 | id)))) {
    forget("many_levels id")
    expect_message(do.call(frame, quiet), NA)
  }
  d$id <- gl(10, 20)
  expect_message(frame(y ~ x + id), NA)
})
