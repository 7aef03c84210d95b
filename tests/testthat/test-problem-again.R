# The problem made again from a fit and its data is the one that was fitted.

bsvm <- paper_bsvm

expect_same_problem <- function(fit) {
  rows <- bsvm:::rows_again(fit, parent.frame())
  problem <- bsvm:::problem_again(fit, rows)
  model <- bsvm:::model_again(fit)
  result <- bsvm:::core_fit(problem, model, core_options())
  expect_close(bsvm:::user_mean(fit$design, c(result$mean, tail(result$effects,
                                                                length(fit$design$sparse)))),
               fixef(fit), 1e-6, scale = max(1e-3, sd(fixef(fit))))
  expect_close(result$bound, elbo(fit), 1e-9)
}

d <- grouped_data()
d$w <- rep(c(1, 2, 0, 1), 30)
d$o <- rep(c(0, 0.3, -0.2), 40)
d$h <- factor(rep(c("p", "q", "r"), 40))

test_that("standardised columns, weights (zero too), offset, missing rows", {
  d$x2[5] <- NA
  fit <- bsvm(y ~ x1 + x2 + f, d, weights = w, offset = o, na.action = na.omit, engine = "vb",
              control = tight())
  expect_same_problem(fit)
})

test_that("one factor, several, a smooth", {
  expect_same_problem(bsvm(y ~ x1 + (t | g), d, weights = w, engine = "vb", control = tight()))
  expect_same_problem(bsvm(y ~ x1 + (1 | h) + (0 + t | g), d, engine = "vb", control = tight()))
  skip_if_not_installed("mgcv")
  expect_same_problem(bsvm(y ~ s(x1, k = 5) + (1 | g), d, engine = "vb", control = tight()))
})

test_that("more columns than rows, a sparse matrix", {
  r <- random_case(15, 40, seed = 5)
  x <- r$x[, -1]
  colnames(x) <- paste0("x", seq_len(39))
  y <- r$y
  expect_same_problem(bsvm(x, y, engine = "vb", control = tight()))
  skip_if_not_installed("Matrix")
  with_seed(4, {
    x <- Matrix::rsparsematrix(80, 30, 0.15)
    y <- rnorm(80) + x[, 1] * 3 > 0
    group <- sample(6, 80, TRUE)
  })
  expect_same_problem(bsvm(x, y, group = group, engine = "vb", control = tight(),
                           prior = prior_ridge(variance = 1)))
})
