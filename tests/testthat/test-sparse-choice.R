# Sparse predictors: dense where small, a sparse factor where that stays sparse, else the mode by
# conjugate gradients.

normalised <- likelihood_hinge(normalized = TRUE)

random_sparse <- function(n, p, each, seed, size = 1) {
  set.seed(seed)
  i <- rep(seq_len(n), each = each)
  j <- sample(p, n * each, TRUE)
  x <- Matrix::sparseMatrix(i, j, x = rnorm(n * each), dims = c(n, p), use.last.ij = TRUE)
  colnames(x) <- paste0("v", seq_len(p))
  list(x = x, y = rbinom(n, 1, plogis(as.vector(x %*% rnorm(p, sd = size)))))
}

# Some columns may have no entry.
fit_of <- function(d, engine, prior, likelihood = normalised, x = d$x, ...) {
  withCallingHandlers(
    bsvm(x, d$y, likelihood = likelihood, prior = prior, engine = engine, ...),
    bsvm_warning_constant = function(w) invokeRestart("muffleWarning")
  )
}

test_that("small sparse matrices are fitted as as.matrix() would be, and as the sparse path does", {
  skip_if_not_installed("Matrix")
  # With fewer rows a coefficient dense columns have an engine of their own (gaussian/row_newton).
  d <- random_sparse(600, 40, 3, 1)
  prior <- prior_ridge(variance = 0.3)
  small <- as_users_have(fit_of(d, "gaussian", prior))
  expect_null(small$design$sparse)
  expect_equal(coef(small), coef(fit_of(d, "gaussian", prior, x = as.matrix(d$x))))
  new <- d$x[1:5, ]
  expect_equal(predict(small, new, type = "link"),
               predict(small, as.matrix(new), type = "link"))
  sparse <- fit_of(d, "gaussian", prior)
  expect_length(sparse$design$sparse, 40L)
  expect_equal(coef(sparse), coef(small), tolerance = 1e-4)
})

test_that("wide sparse matrices are made dense by their rank", {
  skip_if_not_installed("Matrix")
  d <- random_sparse(100, 600, 6, 2)
  prior <- prior_ridge(variance = 0.1)
  small <- as_users_have(fit_of(d, "gaussian", prior))
  expect_null(small$design$sparse)
  expect_length(small$design$rotation, 1L)
  sparse <- fit_of(d, "gaussian", prior)
  # One step of expectation propagation here, as many as it takes there.
  sd <- sqrt(0.1)
  expect_lt(max(abs(coef(sparse)[-1] - coef(small)[-1]) * small$design$scale[-1]) / sd, 0.006)
})

test_that("engine_map() of sparse columns is the Gaussian engine's answer at these variances", {
  skip_if_not_installed("Matrix")
  for (likelihood in list(normalised, likelihood_hinge())) {
    for (d in list(random_sparse(200, 300, 5, 3), random_sparse(1500, 60, 3, 4))) {
      prior <- prior_ridge(variance = 0.05)
      mode <- fit_of(d, "map", prior, likelihood)
      near <- fit_of(d, "gaussian", prior, likelihood)
      expect_true(mode$posterior$point)
      own <- mode$posterior$components[[1L]]
      exact <- near$posterior$components[[1L]]
      expect_lt(max(abs(own$effects - exact$effects) / exact$effects_sd), 0.15)
      expect_lt(sqrt(mean(((own$effects - exact$effects) / exact$effects_sd)^2)), 0.05)
      expect_lt(max(abs(own$effects_sd / exact$effects_sd - 1)), 0.15)
      expect_lt(sqrt(mean((own$effects_sd / exact$effects_sd - 1)^2)), 0.06)
    }
  }
})

test_that("engine_map() of sparse columns finds the variance's mode", {
  skip_if_not_installed("Matrix")
  d <- random_sparse(1500, 60, 3, 5)
  for (likelihood in list(normalised, likelihood_hinge())) {
    prior <- prior_ridge(variance = prior_half_t())
    mode <- fit_of(d, "map", prior, likelihood)
    near <- fit_of(d, "gaussian", prior, likelihood)
    theta <- drop(near$posterior$theta)
    centre <- sum(theta * near$posterior$weights)
    sd <- sqrt(sum((theta - centre)^2 * near$posterior$weights))
    expect_lt(abs(drop(mode$posterior$theta) - centre), 0.5 * sd)
    expect_identical(mode$termination, "converged")
  }
})

test_that("engine_map() of sparse columns has weights and offsets", {
  skip_if_not_installed("Matrix")
  d <- random_sparse(400, 80, 3, 6)
  set.seed(7)
  frame <- data.frame(y = d$y, f = factor(sample(60, 400, TRUE)))
  x <- Matrix::sparse.model.matrix(~ 0 + f, frame)
  fit <- function(engine) {
    fit_of(list(x = x, y = frame$y), engine, prior_ridge(variance = 0.2),
           weights = rep(c(1, 2), 200), offset = rep(c(0.1, -0.1), 200))
  }
  near <- fit("gaussian")
  gap <- fit("map")$posterior$components[[1L]]$effects - near$posterior$components[[1L]]$effects
  expect_lt(sqrt(mean((gap / near$posterior$components[[1L]]$effects_sd)^2)), 0.06)
})

test_that("the same fit gives the same bits, whatever the threads", {
  skip_if_not_installed("Matrix")
  d <- random_sparse(200, 300, 5, 3)
  one <- fit_of(d, "map", prior_ridge(variance = prior_half_t()))
  two <- fit_of(d, "map", prior_ridge(variance = prior_half_t()),
                control = bsvm_control(threads = 2L))
  expect_identical(coef(one), coef(two))
})

test_that("a factor that fills up gives a point estimate, and a message says what is missing", {
  skip_if_not_installed("Matrix")
  d <- random_sparse(800, 2500, 8, 8)
  told <- expect_message(
    fit <- as_users_have(fit_of(d, NULL, prior_ridge(variance = prior_half_t()))),
    class = "bsvm_message_point_estimate"
  )
  expect_match(conditionMessage(told), "intervals")
  expect_identical(fit$engine$name, "map")
  expect_true(all(is.na(summary(fit)$coefficients[, "SD"])))
  expect_error(vcov(fit), class = "bsvm_error_unsupported")
  expect_true(all(is.finite(predict(fit, d$x[1:3, ], type = "link"))))
  expect_no_message(fit_of(d, "map", prior_ridge(variance = 0.1)),
                    class = "bsvm_message_point_estimate")
})

test_that("a factor that stays sparse keeps the Gaussian engine", {
  skip_if_not_installed("Matrix")
  f <- data.frame(f = factor(rep(1:1500, 4)))
  x <- Matrix::sparse.model.matrix(~ 0 + f, f)
  frame <- bsvm_frame(x, rep(0:1, 3000))
  assigned <- bsvm_spec(frame, likelihood = normalised, engine = "gaussian",
                        prior = prior_ridge(variance = 1))[c("blocks", "group_blocks")]
  expect_identical(sparse_engine(frame, normalised, assigned), "gaussian")
})

test_that("columns with frequencies as in text have a point estimate before a slow factor", {
  skip_if_not_installed("Matrix")
  set.seed(1)
  n <- 2000
  p <- 3000
  j <- sample(p, n * 10, TRUE, prob = 1 / seq_len(p))
  x <- Matrix::sparseMatrix(rep(seq_len(n), each = 10), j, x = 1, dims = c(n, p),
                            use.last.ij = TRUE)
  colnames(x) <- paste0("v", seq_len(p))
  y <- rbinom(n, 1, plogis(as.vector(x[, 1:100] %*% rnorm(100))))
  fit <- suppressMessages(fit_of(list(x = x, y = y), NULL, NULL))
  expect_identical(fit$engine$name, "map")
})
