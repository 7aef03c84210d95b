# The same bits for any number of threads. Enough rows that every lane has some.

bsvm <- paper_bsvm

less_control <- function(fit) {
  fit$control <- fit$call <- fit$arguments$control <- NULL
  fit
}

# Four threads at home; two under R CMD check on CRAN, which allows no more.
thread_counts <- function() if (identical(Sys.getenv("NOT_CRAN"), "true")) c(2L, 4L) else 2L

expect_same_bits <- function(fit_with) {
  one <- fit_with(1L)
  for (threads in thread_counts()) {
    expect_identical(less_control(fit_with(threads)), less_control(one))
  }
}

test_that("a dense fit has the same bits for any number of threads", {
  d <- binary_data(12000)
  expect_same_bits(function(threads) {
    bsvm(y ~ x1 + x2 + x3 + f, d, engine = "vb", control = bsvm_control(threads = threads))
  })
})

test_that("a grouped fit has the same bits for any number of threads", {
  d <- grouped_data(12000, 700)
  expect_same_bits(function(threads) {
    bsvm(y ~ x1 + t + (1 + t || g), d, engine = "vb", weights = rep(1:3, 4000),
         control = bsvm_control(threads = threads))
  })
})

test_that("a few rows and many threads are no trouble", {
  d <- binary_data(7)
  expect_same_bits(function(threads) {
    bsvm(y ~ x1, d, engine = "vb", control = bsvm_control(threads = threads))
  })
})

test_that("a run is repeated to the bit", {
  d <- grouped_data(500, 40)
  fit <- function() bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  expect_identical(fit(), fit())
})

test_that("crossed factors: the same bits for any number of threads", {
  d <- grouped_data(12000, 700)
  d$h <- factor(rep(1:40, 300))
  expect_same_bits(function(threads) {
    bsvm(y ~ x1 + t + (t | g) + (1 | h), d, engine = "vb", weights = rep(1:3, 4000),
         control = bsvm_control(threads = threads))
  })
})

test_that("draws have the same bits for any number of threads, fewer or more than chains", {
  d <- grouped_data(9000, 300)
  d$h <- factor(rep(1:30, 300))
  for (formula in list(y ~ x1 + x2 + f, y ~ x1 + (t | g), y ~ x1 + (1 | g) + (1 | h))) {
    expect_same_bits(function(threads) {
      fit <- with_seed(1, suppressWarnings(
        bsvm(formula, d, engine = engine_gibbs(draws = 6, burnin = 4, chains = 3),
             control = bsvm_control(threads = threads, verbose = FALSE))
      ))
      fit$sampling$seconds <- NULL
      fit
    })
  }
})
