bsvm <- paper_bsvm

test_that("ridge is the quadratic programme of e1071, on spam", {
  skip_if_not_installed("e1071")
  skip_on_cran()
  data <- spam_rows()
  fit <- em_fit(data, prior_ridge(variance = 0.05))
  svm <- e1071::svm(y ~ ., data, kernel = "linear", cost = 0.1, tolerance = 1e-8, scale = FALSE)
  b <- c(-svm$rho, crossprod(svm$coefs, svm$SV))
  if (svm$levels[svm$labels[1L]] == "-1") b <- -b
  x <- cbind(1, as.matrix(data[names(data) != "y"]))
  y <- ifelse(data$y == "1", 1, -1)
  theirs <- plain_objective(b, x, y, 2, sqrt(2 * 0.05))
  ours <- plain_objective(coef(fit), x, y, 2, sqrt(2 * 0.05))
  expect_lt(abs(ours - theirs), 1e-6 * theirs)
  expect_equal(ours, fit$posterior$objective, tolerance = 1e-10)
  expect_lt(fit$posterior$gap, 1e-8)
  expect_true(all(svm$index %in% support_vectors(fit)$row)) # of rows that occur twice it takes one
})

test_that("the lasso is the linear programme, and so is spam's by its own certificate", {
  skip_if_not_installed("lpSolve")
  for (seed in 1:3) {
    d <- rule_data(120, 8, seed)
    for (nu in c(0.03, 0.3, 3)) {
      fit <- em_fit(d$data, prior_lasso(nu = nu))
      expect_equal(plain_objective(coef(fit), d$x, d$y, 1, nu),
                   linear_programme(d$x, d$y, nu)$objective,
                   tolerance = 1e-7)
    }
  }
})

test_that("spam's lasso has a gap below 1e-8", {
  skip_on_cran()
  fit <- em_fit(spam_rows(), prior_lasso(nu = 0.05))
  expect_lt(fit$posterior$gap, 1e-8)
  expect_identical(fit$termination, "converged")
})

test_that("the plain iteration is the papers', pass by pass", {
  d <- rule_data(80, 5)
  for (alpha in c(2, 1.3, 1)) {
    twin <- plain_em(numeric(6), d$x, d$y, alpha, 0.4, 25)
    expect_warning(
      fit <- bsvm(y ~ ., d$data, prior = prior_bridge(alpha, nu = 0.4), standardize = FALSE,
                  engine = engine_em(accelerate = FALSE),
                  control = bsvm_control(max_passes = 25, tol = 1e-16, verbose = FALSE)),
      class = "bsvm_warning_convergence"
    )
    expect_equal(unname(fit$trace[, "objective"]), twin$objective, tolerance = 1e-8)
    expect_equal(unname(coef(fit)), unname(twin$b), tolerance = 1e-6)
    expect_true(all(diff(fit$trace[, "objective"]) <= 1e-8))
  }
})

test_that("alpha = 1 and 2 are the limits of what lies between", {
  d <- rule_data(100, 6)
  objective <- function(alpha) em_fit(d$data, prior_bridge(alpha, nu = 0.5))$posterior$objective
  expect_equal(objective(2 - 1e-7), objective(2), tolerance = 1e-6)
  expect_equal(objective(1 + 1e-7), objective(1), tolerance = 1e-6)
  expect_equal(em_fit(d$data, prior_bridge(2, nu = 0.5))$posterior$objective,
               em_fit(d$data, prior_ridge(variance = 0.125))$posterior$objective, tolerance = 1e-9)
})

test_that("the default is the optimum among all b nearby, for every alpha", {
  d <- rule_data(60, 4)
  set.seed(3)
  for (alpha in c(0.5, 1, 1.5, 2)) {
    fit <- em_fit(d$data, prior_bridge(alpha, nu = 0.3))
    best <- plain_objective(coef(fit), d$x, d$y, alpha, 0.3)
    beside <- replicate(200, plain_objective(coef(fit) + rnorm(5) * 10^runif(1, -5, -1), d$x, d$y,
                                             alpha, 0.3))
    expect_true(all(beside >= best - 1e-7))
  }
})

test_that("weights count rows, offsets shift them, rows of weight zero have no say", {
  d <- rule_data(60, 4)
  prior <- prior_lasso(nu = 0.5)
  twice <- em_fit(rbind(d$data, d$data[1:10, ]), prior)
  weighted <- em_fit(d$data, prior, weights = rep(2:1, c(10, 50)))
  expect_equal(coef(weighted), coef(twice), tolerance = 1e-5)
  absent <- em_fit(d$data, prior, weights = rep(0:1, c(10, 50)))
  expect_equal(coef(absent), coef(em_fit(d$data[-(1:10), ], prior)), tolerance = 1e-5)
  expect_true(all(support_vectors(absent)$row > 10))
  moved <- em_fit(d$data, prior, offset = 0.7 * d$x[, 2])
  expect_equal(moved$posterior$objective,
               plain_objective(coef(moved), d$x, d$y, 1, 0.5, offset = 0.7 * d$x[, 2]))
})

test_that("group effects of a fixed variance are columns under that ridge", {
  d <- rule_data(120, 3)
  d$data$g <- gl(6, 20)
  d$data$h <- gl(4, 1, 120)
  columns <- cbind(d$data, stats::model.matrix(~ 0 + g, d$data))
  one <- bsvm(y ~ x1 + x2 + x3 + (1 | g), d$data, engine = engine_em(), standardize = FALSE,
              prior = list(prior_lasso(nu = 1), g = prior_ridge(variance = 0.5)))
  own <- stats::setNames(rep(list(prior_ridge(variance = 0.5)), 6), paste0("g", 1:6))
  dense <- bsvm(y ~ . - g - h, columns, engine = engine_em(), standardize = FALSE,
                prior = c(list(prior_lasso(nu = 1)), own))
  expect_equal(one$posterior$objective, dense$posterior$objective, tolerance = 1e-8)
  expect_equal(ranef(one)$g[[1L]], unname(coef(dense)[paste0("g", 1:6)]), tolerance = 1e-4)
  two <- bsvm(y ~ x1 + x2 + x3 + (1 | g) + (1 | h), d$data, engine = engine_em(),
              standardize = FALSE,
              prior = list(prior_lasso(nu = 1), g = prior_ridge(variance = 0.5),
                           h = prior_ridge(variance = 1e-9)))
  expect_equal(two$posterior$objective, one$posterior$objective, tolerance = 1e-5)
  expect_equal(predict(one, d$data, type = "link"), fitted(one))
})

test_that("sparse predictors give what dense ones do", {
  skip_if_not_installed("Matrix")
  set.seed(2)
  x <- as.matrix(Matrix::rsparsematrix(80, 30, 0.1))
  colnames(x) <- paste0("x", 1:30)
  y <- factor(rowSums(x[, 1:5]) + rnorm(80) > 0)
  for (prior in list(prior_lasso(nu = 0.3), prior_ridge(variance = 0.3))) {
    dense <- bsvm(x, y, prior = prior, engine = engine_em(), standardize = FALSE)
    sparse <- bsvm(Matrix::Matrix(x, sparse = TRUE), y, prior = prior, engine = engine_em(),
                   standardize = FALSE)
    expect_equal(sparse$posterior$objective, dense$posterior$objective, tolerance = 1e-8)
    expect_equal(coef(sparse), coef(dense), tolerance = 1e-4)
  }
})

test_that("5000 predictors of 100 rows fit without a matrix of theirs", {
  d <- rule_data(100, 5000)
  for (prior in list(prior_lasso(nu = 0.05), prior_ridge(variance = 0.01))) {
    fit <- bsvm(d$x[, -1L], factor(d$y), prior = prior, engine = engine_em(), standardize = FALSE)
    expect_lt(fit$posterior$gap, 1e-8)
    expect_lt(as.numeric(object.size(fit)), 4e6)
    expect_lt(as.numeric(object.size(summary(fit))), 4e6)
  }
})

test_that("ecme: nu is at its mode given the coefficients, and theirs given nu", {
  d <- rule_data(100, 6)
  for (alpha in c(1, 2)) {
    fit <- em_fit(d$data, prior_bridge(alpha), engine = engine_ecme())
    nu <- fit$blocks[[2L]]$hyper[["nu"]]
    expect_equal(nu^-alpha, (6 / alpha + 1 - 1) / (1 + sum(abs(coef(fit)[-1L])^alpha)),
                 tolerance = 1e-6)
    given <- em_fit(d$data, prior_bridge(alpha, nu = nu))
    expect_equal(coef(given), coef(fit), tolerance = 1e-4)
  }
})

test_that("local optima: the best of the starts, which follow set.seed()", {
  d <- rule_data(60, 8)
  fit <- function() {
    set.seed(4)
    em_fit(d$data, prior_bridge(0.3, nu = 0.02), engine = engine_em(starts = 8))
  }
  one <- fit()
  expect_length(one$posterior$optima, 8)
  expect_identical(min(one$posterior$optima), one$posterior$objective)
  expect_false(one$posterior$certified)
  expect_identical(coef(fit()), coef(one))
  set.seed(1)
  before <- .Random.seed
  em_fit(d$data, prior_lasso(nu = 0.1))
  expect_identical(.Random.seed, before)
})

test_that("what does not fit together is refused, with what does", {
  expect_error(em_fit(rule_data(30, 2)$data, prior_lasso()), "engine_ecme",
               class = "bsvm_error_unsupported")
  expect_error(em_fit(rule_data(30, 2)$data, prior_lasso(nu = 1), engine = engine_ecme()),
               "engine_em()", class = "bsvm_error_unsupported")
  expect_error(em_fit(rule_data(30, 2)$data, prior_ridge(0.01)), "engine_vb",
               class = "bsvm_error_unsupported")
  expect_error(em_fit(rule_data(30, 2)$data, prior_ridge(variance = 1),
                      likelihood = likelihood_hinge(normalized = TRUE)), "latent scales",
               class = "bsvm_error_unsupported")
  expect_error(em_fit(rule_data(30, 2)$data, prior_bridge(NULL, nu = 1)),
               class = "bsvm_error_unsupported")
  expect_error(engine_em(accelerate = 2), "accelerate", class = "bsvm_error_argument")
  expect_error(engine_em(starts = 0), "starts", class = "bsvm_error_argument")
  expect_error(engine_ecme(tol = 1), "bsvm_control", class = "bsvm_error_argument")
})

test_that("odd input has finite answers", {
  data <- data.frame(y = factor(c(1, -1, 1, -1)), x = c(1, -1, 2, -2))
  for (prior in list(prior_lasso(nu = 1), prior_ridge(variance = 1), prior_bridge(0.5, nu = 1))) {
    expect_true(all(is.finite(coef(em_fit(data, prior)))))
    expect_true(all(is.finite(coef(bsvm(y ~ 0 + x, data, prior = prior, engine = engine_em(),
                                        standardize = FALSE)))))
  }
  huge <- em_fit(transform(data, x = x * 1e100), prior_lasso(nu = 1e-100))
  expect_true(all(is.finite(coef(huge))))
  alone <- bsvm(y ~ 1, data, prior = list("(Intercept)" = prior_ridge(variance = 1)),
                engine = engine_em())
  expect_true(is.finite(coef(alone)))
})

test_that("below alpha = 1 a start's zeros may become coefficients", {
  d <- rule_data(100, 5)
  own <- em_fit(d$data, prior_bridge(0.5, nu = 0.3), engine = engine_em(starts = 1))
  zero <- bsvm(y ~ ., d$data, prior = prior_bridge(0.5, nu = 0.3), standardize = FALSE,
               engine = engine_em(starts = 1), control = bsvm_control(start = rep(0, 6)))
  expect_gt(sum(coef(zero)[-1L] != 0), 1)
  expect_lt(zero$posterior$objective, 1.05 * own$posterior$objective)
})

test_that("annealing follows the seed, ends at an optimum, and precedes plain updates", {
  d <- rule_data(60, 9)
  d$data[c(2, 4, 6)] <- d$data[c(1, 3, 5)] + with_seed(4, matrix(rnorm(180), 60)) / 3
  prior <- prior_bridge(0.3, nu = 0.1)
  annealed <- function(seed, ...) {
    with_seed(seed, em_fit(d$data, prior, engine = engine_em(annealing = 300, ...)))
  }
  one <- annealed(1)
  expect_identical(coef(annealed(1)), coef(one))
  expect_lt(one$posterior$gap, 1e-8)
  lasso <- function(...) {
    with_seed(1, em_fit(d$data, prior_lasso(nu = 0.2), engine = engine_em(FALSE, ...)))
  }
  expect_equal(lasso(annealing = 200)$posterior$objective, lasso()$posterior$objective,
               tolerance = 1e-4)
  expect_refusal(engine_em(annealing = -1), "argument", c("`annealing`", "-1"))
  expect_output(print(engine_em(annealing = 5)), "annealed")
})

# Pairs of predictors that hardly differ: from none of ten starts do plain updates come to the
# lowest objective of fifty starts, from each of them an annealed one does.
test_that("where there are several modes annealing leaves those that hold plain updates", {
  d <- rule_data(60, 9, seed = 2)
  d$data[c(2, 4, 6)] <- d$data[c(1, 3, 5)] + with_seed(4, matrix(rnorm(180), 60)) / 3
  objectives <- function(annealing) {
    vapply(1:10, function(seed) {
      start <- with_seed(100 + seed, 3 * rnorm(10))
      fit <- with_seed(seed, bsvm(
        y ~ ., d$data, prior = prior_bridge(0.3, nu = 0.1), standardize = FALSE,
        engine = engine_em(starts = 1, annealing = annealing), control = bsvm_control(start = start)
      ))
      fit$posterior$objective
    }, 0)
  }
  plain <- objectives(0)
  expect_gt(length(unique(round(plain, 3))), 1)
  expect_gt(min(plain), 72)
  expect_lt(max(objectives(300)), 71.03)
})

test_that("numbers beyond what there are is an error, not an interrupt", {
  x <- with_seed(1, matrix(rnorm(90), 30))
  frame <- bsvm_frame(x, rep(c(-1, 1), 15), offset = rep(c(1e6, -1e6), 15))
  spec <- bsvm_spec(frame, prior_lasso(1), likelihood_hinge(), engine_em())
  spec$problem$weight <- rep(1e303, 30) # bsvm_frame() would refuse these
  expect_error(bsvm_run(spec), class = "bsvm_error_numerical")
})
