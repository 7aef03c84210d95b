size_of <- function(x) length(serialize(x, NULL))

test_that("a function of the formula does not bring what lies beside it", {
  fit <- (function() {
    big <- rnorm(1e6)
    k <- 2
    pow <- function(x) if (length(x) > 1e6) pow(x) else x^k
    tr <- function(x) pow(x) + 0
    bsvm(am ~ tr(wt) + pow(hp), mtcars, engine = "vb", likelihood = "hinge")
  })()
  expect_lt(size_of(fit), 2e5)
  same <- bsvm(am ~ I(wt^2) + I(hp^2), mtcars, engine = "vb", likelihood = "hinge")
  expect_identical(unname(fixef(fit)), unname(fixef(same)))
  expect_identical(predict(fit, mtcars[3:5, ], type = "link"),
                   predict(same, mtcars[3:5, ], type = "link"))
  expect_named(fixef(update(fit, . ~ . - pow(hp))), c("(Intercept)", "tr(wt)"))
})

test_that("a function keeps what it and its helpers name", {
  make <- function(x = rnorm(1e5), k = 3) {
    unused <- rnorm(1e5)
    helper <- function(n) if (n == 0) k else helper(n - 1)
    half <- function(k) k / 2
    function(x, add = helper(2)) sapply(x + add, "half")
  }
  f <- make()
  light <- light_function(f)
  expect_identical(light(1:3), f(1:3))
  expect_setequal(ls(environment(light)), c("helper", "half", "k"))
  expect_identical(parent.env(environment(light)), enclosing_home(environment(f)))
  expect_lt(size_of(light), 1e5)
  expect_identical(light_function(light)(1:3), f(1:3))
  square <- (function(big) function(x) x^2)(rnorm(1e5))
  expect_true(is_home(environment(light_function(square))))
  expect_identical(light_function(exp), exp)
  expect_identical(light_function(stats::median), stats::median)
})

test_that("functions that are named in texts come along", {
  fit <- (function() {
    sq <- function(v) v^2
    how <- "sq"
    ways <- list(one = "sq")
    tr <- function(x) do.call(how, list(x)) + vapply(x, ways$one, 0)
    bsvm(am ~ tr(wt), mtcars, engine = "gaussian")
  })()
  expect_finite(predict(fit, mtcars[1:3, ], type = "link"))
})

test_that("a function that may look for more is left as it is", {
  counts <- 0
  k <- 2
  home <- new.env()
  left <- list(function(x) x^get(paste0("k")), function(x) { counts <<- counts + 1; x },
               function(x) eval(parse(text = "x^k")), structure(function(x) x^k, class = "special"),
               function(x) home$k)
  for (f in left) expect_identical(environment(light_function(f)), environment(f))
  other <- (function() { j <- 1; function(x) x + j })()
  f <- function(x) other(x)
  expect_identical(environment(light_function(f)), environment(f))
})
