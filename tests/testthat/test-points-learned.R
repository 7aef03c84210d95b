# Inducing points: learned by the bound of the evidence, and how many there are by default.

rough_data <- function(n, seed) {
  with_seed(seed, {
    d <- data.frame(x = runif(n, -3, 3), z = runif(n, -3, 3))
    d$class <- runif(n) < stats::plogis(4 * sin(2.5 * d$x) * cos(1.5 * d$z))
    d
  })
}
d <- rough_data(150, 1)
part_of <- function(fit) fit$bases[[1L]]$parts[[1L]]

# ---- learned ------------------------------------------------------------------------------------

test_that("learned points raise the bound, which stays below that of all rows", {
  bounds <- function(points) {
    fit <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_se(0.5), points = points), d,
                        engine = "gaussian", prior = list(gp = given(6)),
                        likelihood = likelihood_hinge(normalized = TRUE)))
    c(elbo(fit), mean_left = part_of(fit)$left_over)
  }
  # without an amplitude to infer, so that bounds compare
  full <- bounds(Inf)
  for (m in c(5, 15, 30)) {
    before <- bounds(m)
    after <- bounds(points_learned(m))
    expect_gt(after[[1L]], before[[1L]] + 0.5)
    expect_lt(after[[1L]], full[[1L]])
  }
})

test_that("they are the term's, whatever the seed, and the summary shows what they gained", {
  fit_of <- function(seed, points = points_learned(12)) {
    set.seed(seed)
    quietly(bsvm(class ~ gp(x, z, points = points), d, engine = "gaussian"))
  }
  one <- fit_of(1)
  expect_identical(part_of(fit_of(2))$points, part_of(one)$points)
  expect_equal(dim(part_of(one)$points), c(12L, 2L))
  expect_gt(min(stats::dist(part_of(one)$points)), 0.02)
  chosen <- fit_of(1, 12)
  expect_equal(part_of(one)$numbers$theta, part_of(chosen)$numbers$theta)
  expect_gt(max(abs(part_of(one)$points - part_of(chosen)$points)), 0.05)
  moved <- summary(one)$gp$moved
  expect_named(moved, c("before", "after", "evaluations", "seconds"))
  expect_gt(moved$after, moved$before)
  expect_true(summary(one)$gp$points$learned)
  shown <- paste(utils::capture.output(print(summary(one, details = TRUE))), collapse = " ")
  expect_match(shown, "12 learned inducing points")
  expect_match(shown, "Inducing points were learned")
  expect_null(summary(chosen)$gp$moved)
  # where they start is a matrix or a data frame, too, in the units of the variables
  inputs <- part_of(chosen)$points * rep(chosen$bases[[1L]]$inputs$scale, each = 12L) +
    rep(chosen$bases[[1L]]$inputs$center, each = 12L)
  by_matrix <- fit_of(1, points_learned(inputs))
  expect_close(part_of(by_matrix)$points, part_of(one)$points, 1e-3)
})

test_that("only points that are asked to move do, and none where nothing is left over", {
  fit <- quietly(bsvm(class ~ gp(x, points = points_learned(3)) + gp(z, points = 4), d,
                      engine = "gaussian"))
  z <- fit$bases[[2L]]
  expect_null(z$moved)
  stays <- gp_points(c(z, list(rows = matrix((d$z - z$inputs$center) / z$inputs$scale))),
                     1L, z$parts[[1L]]$factors, z$parts[[1L]]$numbers$theta, 4L)
  expect_equal(z$parts[[1L]]$points, stays)
  expect_false(is.null(fit$bases[[1L]]$moved))
  smooth <- quietly(bsvm(class ~ gp(x, kernel = kernel_se(30), points = points_learned(20)), d,
                         engine = "gaussian"))
  expect_null(smooth$bases[[1L]]$moved)
})

test_that("learned points go with sums of kernels, multipliers, groups and a response of numbers", {
  d$g <- gl(5, 30)
  d$y <- sin(2 * d$x) + d$z + stats::rnorm(150, sd = 0.2)
  for (formula in list(class ~ gp(x, z, kernel = kernel_se() + kernel_matern(), points = points_learned(5)),
                       class ~ gp(x, by = z, points = points_learned(4)) + (1 | g),
                       class ~ gp(x, by = g, points = points_learned(3)))) {
    fit <- quietly(bsvm(formula, d, engine = "gaussian"))
    expect_gt(fit$bases[[1L]]$moved$after, fit$bases[[1L]]$moved$before)
    expect_finite(predict(fit, d, type = "link"))
  }
  fit <- quietly(bsvm(y ~ gp(x, z, points = points_learned(6)), d, engine = "gaussian",
                      likelihood = likelihood_gaussian()))
  expect_gt(fit$bases[[1L]]$moved$after, fit$bases[[1L]]$moved$before)
})

test_that("points_learned() has a number or inputs, and prints", {
  expect_output(print(points_learned(7)), "Inducing points: 7, learned", fixed = TRUE)
  expect_output(print(points_learned(matrix(0, 3, 2))), "Inducing points: 3, learned", fixed = TRUE)
  for (points in list(0, 1.5, "a", c(1, 2), Inf, NA)) {
    expect_refusal(points_learned(points), "argument", "`points`")
  }
  expect_refusal(bsvm(class ~ gp(x, points = points_learned(matrix(0, 3, 2))), d), "formula", "1 column")
})

test_that("the default engine knows of the variance that is left over", {
  few <- d[1:60, ]
  some <- quietly(bsvm(class ~ gp(x, z, points = points_learned(5)), few))
  expect_s3_class(some$engine, "bsvm_engine_gaussian")
  expect_s3_class(quietly(bsvm(class ~ gp(x, z, points = 5), few))$engine, "bsvm_engine_gaussian")
  expect_s3_class(quietly(bsvm(class ~ gp(x, z), few))$engine, "bsvm_engine_slice")
})

# ---- how many -----------------------------------------------------------------------------------

test_that("the default has more points where 200 leave over more than 1 % of the variance", {
  basis_of_rows <- function(n, d) {
    structure(list(rows = with_seed(3, matrix(stats::runif(n * d, -1.7, 1.7), n))), class = "list")
  }
  many <- function(n, d, lengthscale, parts = 1L) {
    basis <- basis_of_rows(n, d)
    part <- list(factors = kernel_factors(list(kernel_se()), basis$rows),
                 numbers = list(amplitude = list(start = 0), lengthscale = list(start = log(lengthscale))))
    enough_points(basis, part, parts, n)
  }
  expect_identical(many(1500, 2, 1), 200L)
  expect_identical(many(1500, 4, 0.5), 500L)
  between <- many(1500, 4, 1)
  expect_true(between %in% c(200L, 300L, 400L))
  # rows times the square of the number are limited
  expect_identical(many(5000, 4, 0.5), 300L)
  expect_identical(many(20000, 4, 0.5), 200L)
  expect_identical(many(1500, 4, 0.5, parts = 2L), 200L)
})

test_that("the fit has that many points", {
  rough <- rough_data(1200, 4)
  points_of <- function(lengthscale) {
    fit <- quietly(bsvm(class ~ gp(x, z, kernel = kernel_se(lengthscale)), rough, engine = "vb",
                        prior = list(gp = given(4))))
    nrow(part_of(fit)$points)
  }
  expect_identical(points_of(0.1), 500L)
  expect_true(points_of(0.2) %in% c(200L, 300L, 400L))
  expect_lt(points_of(1), 200L)
})

# ---- limits -------------------------------------------------------------------------------------

test_that("very many points are refused with what they take, before any work", {
  many <- data.frame(x = seq_len(1e5) / 1e5)
  many$class <- rep(c(TRUE, FALSE), 5e4)
  taken <- system.time({
    expect_refusal(bsvm(class ~ gp(x, points = 1e5), many), "size",
                   c("1e+05 inducing points", "224 GiB", "points = 200"))
    expect_refusal(bsvm(class ~ gp(x, points = points_learned(1e5)), many), "size", "GiB")
  })[["elapsed"]]
  expect_lt(taken, 10)
})

test_that("Ctrl-C while kernels or points are learned leaves R healthy", {
  skip_on_os("windows")
  skip_on_cran()
  script <- function(formula) function(folder) {
    c(sprintf(".libPaths(%s)", deparse1(.libPaths())), "library(bsvm)",
      sprintf("setwd(%s)", deparse1(folder)), "d <- readRDS('data.rds')", "set.seed(1)",
      "seed <- .Random.seed", "before <- d",
      "small <- function() suppressWarnings(bsvm(class ~ gp(x), d[1:60, ], engine = 'gaussian'))",
      "first <- elbo(small())",
      "writeLines(as.character(Sys.getpid()), 'partial')", "file.rename('partial', 'pid')",
      sprintf("stopped <- tryCatch({ bsvm(%s, d); 'nothing' },", formula),
      "                    interrupt = function(i) 'interrupt', error = conditionMessage)",
      "ended <- as.numeric(Sys.time())",
      "out <- list(ended = ended, stopped = stopped, same = identical(d, before),",
      "            seed = identical(seed, .Random.seed), healthy = identical(elbo(small()), first))",
      "saveRDS(out, 'partial')", "file.rename('partial', 'result')")
  }
  d <- with_seed(7, data.frame(x = rnorm(1000), z = rnorm(1000), v = rnorm(1000)))
  d$class <- sin(3 * d$x) + d$z * d$v > 0
  # The kernel of the second is given: its points move from 2 to 25 seconds, or sooner.
  cases <- c("class ~ gp(x, z, v, kernel = kernel_se(ard = TRUE))" = 1,
             "class ~ gp(x, z, v, kernel = kernel_se(0.3), points = points_learned(250))" = 4)
  for (formula in names(cases)) {
    result <- interrupt_child(script(formula), list(data.rds = d), after = cases[[formula]])
    expect_type(result, "list")
    expect_identical(result$stopped, "interrupt", label = formula)
    expect_true(result$same)
    expect_true(result$seed)
    expect_true(result$healthy)
    expect_lt(result$seconds, 5)
  }
})
