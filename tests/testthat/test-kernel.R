# Kernels as users write them, and their values from the core against plain R and kernlab.

inputs <- function(n, d, seed) {
  set.seed(seed)
  matrix(rnorm(n * d), n, d)
}

# The matrix of k(x_i, v_j), one pair of rows at a time.
each_pair <- function(x, v, k) {
  out <- matrix(0, nrow(x), nrow(v))
  for (i in seq_len(nrow(x))) for (j in seq_len(nrow(v))) out[i, j] <- k(x[i, ], v[j, ])
  out
}

# The core's values of a kernel made for the rows `rows`; theta: logarithms of its parameters.
values_of <- function(kernel, x, v = x, theta = numeric(0), rows = x) {
  product <- bsvm:::kernel_products(kernel)
  stopifnot(length(product) == 1L)
  bsvm:::core_kernel(bsvm:::kernel_factors(product[[1L]], rows), x, v, theta)
}

x <- inputs(11, 3, 1)
v <- rbind(inputs(6, 3, 2), x[c(2, 2, 9), ])

# ---- values ---------------------------------------------------------------------------------

test_that("values are those of the formulas", {
  l <- c(0.7, 1.4, 2.5)
  r <- function(a, b) sqrt(sum(((a - b) / l)^2))
  r1 <- function(a, b) sqrt(sum((a - b)^2)) / 1.3
  expect_close <- function(found, k) expect_lt(max(abs(found - each_pair(x, v, k))), 4e-15)

  expect_close(values_of(kernel_se(), x, v, log(1.3)), function(a, b) exp(-r1(a, b)^2 / 2))
  expect_close(values_of(kernel_se(ard = TRUE), x, v, log(l)), function(a, b) exp(-r(a, b)^2 / 2))
  expect_close(values_of(kernel_matern(0.5, ard = TRUE), x, v, log(l)),
               function(a, b) exp(-r(a, b)))
  expect_close(values_of(kernel_matern(ard = TRUE), x, v, log(l)), function(a, b) {
    (1 + sqrt(3) * r(a, b)) * exp(-sqrt(3) * r(a, b))
  })
  expect_close(values_of(kernel_matern(2.5), x, v, log(1.3)), function(a, b) {
    (1 + sqrt(5) * r1(a, b) + 5 / 3 * r1(a, b)^2) * exp(-sqrt(5) * r1(a, b))
  })
  expect_close(values_of(kernel_rational(), x, v, log(c(1.3, 0.6))), function(a, b) {
    (1 + r1(a, b)^2 / 1.2)^-0.6
  })
  expect_close(values_of(kernel_periodic(1, ard = TRUE), x, v, log(c(l, 2, 3, 5))), function(a, b) {
    exp(-2 * sum((sin(pi * (a - b) / c(2, 3, 5)) / l)^2))
  })
})

test_that("a polynomial is proportional to its power, of unit mean variance over the rows", {
  s <- sum(colMeans(x^2))
  plain <- each_pair(x, v, function(a, b) (0.4 * s + sum(a * b))^3)
  expect_equal(values_of(kernel_poly(3, 0.4), x, v),
               plain / mean((0.4 * s + rowSums(x^2))^3), tolerance = 1e-14)
  for (kernel in list(kernel_linear(), kernel_linear(0.3), kernel_poly(), kernel_poly(3, 0.4))) {
    expect_equal(mean(diag(values_of(kernel, x))), 1, tolerance = 1e-14)
    factors <- bsvm:::kernel_factors(list(kernel), x)
    expect_equal(bsvm:::core_kernel_diagonal(factors, x, numeric(0)), diag(values_of(kernel, x)),
                 tolerance = 1e-14)
  }
  # degree 1 is the linear kernel, and rows that weigh nothing do not count
  expect_equal(values_of(kernel_poly(1, 0.2), x), values_of(kernel_linear(0.2), x))
  some <- bsvm:::kernel_factors(list(kernel_poly(2, 1)), x, rep(1:0, c(7, 4)))
  expect_equal(bsvm:::core_kernel(some, x, v, numeric(0)),
               values_of(kernel_poly(2, 1), x, v, rows = x[1:7, ]), tolerance = 1e-14)
  # with length scales, each variable divided by its own
  l <- c(0.7, 1.4, 2.5)
  s <- sum(colMeans(x^2) / l^2)
  expect_equal(values_of(kernel_linear(0.5, ard = TRUE), x, v, log(l)),
               each_pair(x, v, function(a, b) (0.5 * s + sum(a * b / l^2)) / (1.5 * s)),
               tolerance = 1e-14)
})

test_that("kernlab's kernels are these, where its parameters can be translated", {
  skip_if_not_installed("kernlab")
  of <- function(kernel) unclass(kernlab::kernelMatrix(kernel, x, v))
  expect_lt(max(abs(values_of(kernel_se(), x, v, log(1 / sqrt(2 * 0.4))) -
                      of(kernlab::rbfdot(sigma = 0.4)))), 4e-15)
  expect_lt(max(abs(values_of(kernel_matern(0.5), x, v, log(1 / 0.4)) -
                      of(kernlab::laplacedot(sigma = 0.4)))), 1e-9)  # kernlab's own cancellation
  s <- sum(colMeans(x^2))
  found <- values_of(kernel_poly(2, 0.9 / (0.3 * s)), x, v, rows = x)
  ratio <- found / of(kernlab::polydot(degree = 2, scale = 0.3, offset = 0.9))
  expect_lt(diff(range(ratio)) / mean(ratio), 1e-11)
})

test_that("a product has its factors' values, and their numbers one after the other", {
  product <- kernel_rational() * kernel_periodic(3) * kernel_poly(2, ard = TRUE)
  theta <- log(c(1.1, 0.8, 0.9, 2, 3, 4, 0.6, 1.2, 1.8))
  expect_equal(values_of(product, x, v, theta, x),
               values_of(kernel_rational(), x, v, theta[1:2]) *
                 values_of(kernel_periodic(3), x, v, theta[3:6]) *
                 values_of(kernel_poly(2, ard = TRUE), x, v, theta[7:9], x), tolerance = 1e-14)
  factors <- bsvm:::kernel_factors(bsvm:::kernel_products(product)[[1]], x)
  expect_equal(bsvm:::core_kernel_diagonal(factors, x, theta),
               diag(values_of(product, x, x, theta)), tolerance = 1e-14)
  expect_identical(lapply(bsvm:::kernel_products(product)[[1]], bsvm:::parameter_sizes, d = 3L),
                   list(c(lengthscale = 1L, shape = 1L), c(lengthscale = 1L, period = 3L),
                        c(lengthscale = 3L)))
})

test_that("the core refuses inputs and numbers that do not fit", {
  factors <- bsvm:::kernel_factors(list(kernel_se()), x)
  wrong <- function(...) expect_error(bsvm:::core_kernel(...), class = "bsvm_core_invalid")
  wrong(factors, x[, 1:2], v, 0)
  wrong(factors, x, v[, 1:2], 0)
  wrong(factors, x, v, c(0, 0))
  wrong(list(), x, v, 0)
  wrong(list(list(name = "rbf", parameters = c(variables = 3, ard = 0), arrays = list())), x, v, 0)
  wrong(c(factors, bsvm:::kernel_factors(list(kernel_se()), x[, 1:2])), x, v, c(0, 0))
})

# ---- constructors ---------------------------------------------------------------------------

test_that("a kernel has the core's name, its parameters in order and its settings", {
  expect_identical(names(kernel_periodic(12)$parameters), c("lengthscale", "period"))
  expect_identical(names(kernel_rational()$parameters), c("lengthscale", "shape"))
  expect_identical(kernel_matern(2.5)$settings, c(nu = 2.5))
  expect_identical(kernel_poly(3L, 2)$settings, c(degree = 3, offset = 2))
  expect_identical(kernel_linear()$settings, c(degree = 1, offset = 0))
  expect_identical(kernel_linear()$parameters, list())
  expect_s3_class(kernel_linear(), c("kernel_linear", "kernel_poly", "bsvm_kernel"), exact = TRUE)
  expect_identical(kernel_se(3L)$parameters$lengthscale, 3)
  expect_identical(kernel_se(1:2, ard = TRUE)$parameters$lengthscale, c(1, 2))
  expect_identical(kernel_se()$parameters$lengthscale, prior_lognormal())
  expect_identical(kernel_periodic(1)$parameters$lengthscale, prior_lognormal(1))
})

test_that("a log-normal prior may leave its median to the data", {
  expect_identical(prior_lognormal(2, 0.5)$parameters, c(median = 2, sd = 0.5))
  expect_identical(prior_lognormal()$parameters, c(sd = 1))
  expect_identical(bsvm:::with_median(prior_lognormal(sd = 0.3), 4), prior_lognormal(4, 0.3))
  expect_identical(bsvm:::with_median(prior_lognormal(2), 4), prior_lognormal(2))
  expect_output(print(prior_lognormal(2)), "log-normal(median 2, sd 1)", fixed = TRUE)
  expect_output(print(prior_lognormal()), "median by the data", fixed = TRUE)
})

test_that("a kernel is printed as code that makes it", {
  kernels <- list(kernel_se(), kernel_se(2), kernel_se(c(1, 0.5), TRUE), kernel_matern(),
                  kernel_matern(0.5, prior_lognormal(sd = 2), ard = TRUE), kernel_rational(),
                  kernel_rational(2), kernel_rational(prior_lognormal(3)), kernel_periodic(12),
                  kernel_periodic(prior_lognormal(12, 0.1), 0.7), kernel_linear(),
                  kernel_linear(0.5, TRUE), kernel_poly(), kernel_poly(3, 0),
                  kernel_linear() + kernel_se() * kernel_periodic(12),
                  (kernel_linear() + kernel_se()) * kernel_matern())
  for (kernel in kernels) expect_identical(eval(str2lang(format(kernel))), kernel)
  expect_identical(format(kernel_linear() + kernel_se() * kernel_periodic(period = 12)),
                   "kernel_linear() + kernel_se() * kernel_periodic(period = 12)")
  expect_output(print(kernel_se(2)), "Kernel: kernel_se(lengthscale = 2)", fixed = TRUE)
})

# ---- sums and products ----------------------------------------------------------------------

words_of <- function(kernel) {
  vapply(bsvm:::kernel_products(kernel), function(factors) {
    paste(vapply(factors, format, ""), collapse = " * ")
  }, "")
}

test_that("any kernel is a sum of products", {
  a <- kernel_se(1)
  b <- kernel_se(2)
  c <- kernel_se(3)
  d <- kernel_linear()
  shown <- function(...) gsub("([0-9])", "kernel_se(lengthscale = \\1)", c(...))
  expect_identical(words_of(a), shown("1"))
  expect_identical(words_of(a + b + c), shown("1", "2", "3"))
  expect_identical(words_of(a + (b + c)), shown("1", "2", "3"))
  expect_identical(words_of(a * b * c), shown("1 * 2 * 3"))
  expect_identical(words_of(a + b * c), shown("1", "2 * 3"))
  expect_identical(words_of((a + b) * c), shown("1 * 3", "2 * 3"))
  expect_identical(words_of((a + b) * (c + d)), c(shown("1 * 3"), paste(format(a), "*", format(d)),
                                                  shown("2 * 3"), paste(format(b), "*", format(d))))
  expect_identical(words_of(a * (b + c * (a + b))), shown("1 * 2", "1 * 3 * 1", "1 * 3 * 2"))
})

# ---- what is refused ------------------------------------------------------------------------

test_that("numbers out of range are refused by name", {
  for (value in list("a", NA_real_, Inf, 0, -1, TRUE, list(1), numeric(), factor(1), c(1, -1))) {
    expect_refusal(kernel_se(value), "argument", "`lengthscale`")
    expect_refusal(kernel_rational(value), "argument", "`shape`")
    expect_refusal(kernel_periodic(value), "argument", "`period`")
  }
  expect_refusal(kernel_se(c(1, 2)), "argument", c("2 numbers", "ard = TRUE"))
  expect_refusal(kernel_rational(c(1, 2)), "argument", "`shape`")
  for (value in list(1, NA, "1.5", NULL, c(0.5, 1.5))) {
    expect_refusal(kernel_matern(value), "argument", c("`nu`", "0.5, 1.5 or 2.5"))
  }
  for (value in list(NA, 1, "yes", NULL)) {
    expect_refusal(kernel_se(ard = value), "argument", "`ard`")
  }
  for (value in list(0, 1.5, NA, "2", 101)) {
    expect_refusal(kernel_poly(value), "argument", "`degree`")
  }
  for (value in list(-1, NA_real_, "1", c(1, 2), NULL)) {
    expect_refusal(kernel_poly(offset = value), "argument", "`offset`")
    expect_refusal(kernel_linear(value), "argument", "`offset`")
  }
  for (value in list(0, -1, NA_real_, "1", c(1, 2))) {
    expect_refusal(prior_lognormal(value), "prior", "`median`")
    expect_refusal(prior_lognormal(1, value), "prior", "`sd`")
  }
})

test_that("priors that are not log-normal, or need a median, are refused", {
  expect_refusal(kernel_se(prior_half_t(3)), "argument", c("prior_lognormal()", "half-t"))
  expect_refusal(kernel_se(prior_ridge()), "argument", "bsvm_prior")
  expect_refusal(kernel_periodic(prior_lognormal()), "argument", c("`period`", "median"))
  expect_refusal(kernel_rational(prior_lognormal()), "argument", c("`shape`", "median"))
  expect_refusal(kernel_periodic(1, prior_lognormal()), "argument", c("`lengthscale`", "median"))
  expect_refusal(kernel_periodic(), "argument", c("`period`", "must be given"))
})

test_that("words of other packages are answered by what to write", {
  expect_refusal(kernel_se(sigma = 2), "argument", "`lengthscale = 1 / sqrt(2 * sigma)`")
  expect_refusal(kernel_se(gamma = 2), "argument", "`lengthscale = 1 / sqrt(2 * gamma)`")
  expect_refusal(kernel_matern(sigma = 2), "argument", "`nu = 0.5, lengthscale = 1 / sigma`")
  expect_refusal(kernel_rational(alpha = 2), "argument", "`shape`")
  expect_refusal(kernel_se(iso = FALSE), "argument", "`ard = TRUE`")
  expect_refusal(kernel_se(variance = 2), "argument", "prior_ridge(variance = )")
  expect_refusal(kernel_poly(2, coef0 = 1), "argument", "coef0 / (gamma * s)")
  expect_refusal(kernel_poly(lengthscale = 1), "argument", "amplitude")
  expect_refusal(kernel_se(1, FALSE, 3), "argument", "unnamed")
  expect_refusal(kernel_se(nothing = 1), "argument", "`nothing`")
})

test_that("kernels combine with kernels alone, by + and *", {
  expect_refusal(2 * kernel_se(), "argument", c("`*`", "found 2", "variance"))
  expect_refusal(kernel_se() + 1, "argument", "`+`")
  expect_refusal(kernel_se() + "a", "argument", "found \"a\"")
  expect_refusal(kernel_se() * NULL, "argument", "NULL")
  expect_refusal(+kernel_se(), "argument", "two kernels")
  expect_refusal(kernel_linear()^2, "argument", c("`^`", "kernel_poly(degree = )"))
  expect_refusal(kernel_se() - kernel_se(), "argument", "`-`")
  expect_refusal(kernel_se() == kernel_se(), "argument", "`==`")
  expect_refusal(bsvm:::check_kernel("rbf"), "argument", c("kernel_se()", "\"rbf\""))
  expect_refusal(bsvm:::check_kernel(kernel_se), "argument", "not kernel_se.")
})
