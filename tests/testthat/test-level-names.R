level_names <- function(...) bsvm:::level_names(...)

# 80 rows, eight levels with large effects, whose values are `values`.
levelled_data <- function(values) {
  with_seed(1, {
    level <- rep(1:8, 10)
    d <- data.frame(x1 = rnorm(80), g = values[level])
    d$y <- d$x1 + 2 * rnorm(8)[level] + rnorm(80) / 2 > 0
    d
  })
}

pseudo_fit <- function(formula, data, ...) {
  bsvm(formula, data, engine = "vb", likelihood = likelihood_hinge(),
       prior = list(prior_flat(), g = prior_ridge(variance = prior_inv_gamma(0.01, 0.01))), ...)
}

test_that("names are exact, and the same for the same value of any type", {
  expect_identical(level_names(c(1e15 + 1:3, 2^53 - 1, 2^60, 0, -0)),
                   c("1000000000000001", "1000000000000002", "1000000000000003",
                     "9007199254740991", "1152921504606846976", "0", "0"))
  expect_identical(level_names(c(0.3, 0.1 + 0.2, 1e-7, NA)),
                   c("0.3", "0.30000000000000004", "1e-07", NA))
  numbers <- c(100000L, -7L, NA)
  for (scipen in c(-5, 0, 100)) {
    old <- options(scipen = scipen)
    expect_identical(level_names(numbers), c("100000", "-7", NA))
    expect_identical(level_names(as.double(numbers)), c("100000", "-7", NA))
    options(old)
  }
  many <- with_seed(3, c(rnorm(2e4), 10^runif(2e4, -300, 300), floor(runif(2e4) * 2^53)))
  expect_identical(anyDuplicated(level_names(unique(many))), 0L)
  expect_identical(as.numeric(level_names(many)), many)
})

test_that("times and dates keep their fractions, and no time zone moves them", {
  at <- as.POSIXct("2020-10-25 00:30:00", tz = "UTC") + c(0, 3600, 0.25, 1e-6)
  expect_identical(level_names(at), c("2020-10-25 00:30:00 UTC", "2020-10-25 01:30:00 UTC",
                                      "2020-10-25 00:30:00.25 UTC",
                                      "2020-10-25 00:30:00.000001 UTC"))
  expect_identical(level_names(structure(at, tzone = "Europe/Berlin")), level_names(at))
  expect_identical(level_names(as.POSIXlt(at)), level_names(at))
  expect_identical(level_names(structure(-1.25, class = c("POSIXct", "POSIXt"))),
                   "1969-12-31 23:59:58.75 UTC")
  expect_identical(level_names(as.Date("2020-01-01") + c(0, 0.5)), c("2020-01-01", "2020-01-01.5"))
  expect_identical(level_names(as.difftime(c(1, 1.5), units = "hours")), c("1 hours", "1.5 hours"))
})

test_that("names that R gave to numbers stand for them, other text stands for itself", {
  match_levels <- bsvm:::match_levels
  expect_identical(match_levels(c("100000", "1e+05", NA, "x"), c("a", "1e+05")), c(2L, 2L, NA, 0L))
  expect_identical(match_levels(c("7:1e+05", "007", "7.0"), c("7", "7:100000")), c(2L, 0L, 0L))
  expect_identical(match_levels("12345678901234567890", "12345678901234567891"), 0L)
  expect_identical(match_levels(c("100000", "1e+05"), c("1e+05", "100000")), 2:1)
})

test_that("large ids, times within a second and round numbers are predicted as they were fitted", {
  second <- as.POSIXct("2020-01-01", tz = "UTC")
  for (values in list(1e15 + 1:8, second + (1:8) / 10, (1:8) * 1e5, as.Date(second) + (1:8) / 10)) {
    d <- levelled_data(values)
    fit <- pseudo_fit(y ~ x1 + (1 | g), d)
    expect_close(predict(fit, d, type = "link"), fitted(fit), tolerances[["rounding"]])
    expect_identical(nrow(as.data.frame(ranef(fit))), 8L)
    expect_identical(rownames(ranef(fit)$g), level_names(values))
    expect_refusal(predict(fit, transform(d, g = g + 1e3)), "newdata", "has not seen")
  }
  x <- as.matrix(d["x1"])
  id <- 1e15 + rep(1:8, 10)
  fit <- bsvm(x, d$y, group = id, engine = "vb", likelihood = likelihood_hinge())
  expect_close(predict(fit, x, group = id, type = "link"), fitted(fit), tolerances[["rounding"]])
})

test_that("the same numbers as integers, doubles, factors and text are the same levels", {
  d <- levelled_data((1:8) * 100000L)
  d$h <- gl(2, 40)
  written <- function(g) {
    list(as.double(g), factor(g), factor(as.double(g)), as.character(g), as.character(as.double(g)))
  }
  for (g in c(list(d$g), written(d$g))) {
    data <- transform(d, g = g)
    fits <- list(pseudo_fit(y ~ x1 + (1 | g), data),
                 bsvm(y ~ x1 + (1 | g:h), data, engine = "vb", likelihood = likelihood_hinge()),
                 bsvm(y ~ x1 + factor(g), data, engine = "vb", likelihood = likelihood_hinge()))
    for (fit in fits) for (other in written(d$g)) for (scipen in c(0, 100)) {
      old <- options(scipen = scipen)
      link <- predict(fit, transform(d, g = other), type = "link")
      options(old)
      expect_close(link, fitted(fit), tolerances[["rounding"]])
    }
  }
})

test_that("a level for missing values has a name, and other columns no level of that name", {
  d <- levelled_data(c("a", NA, letters[3:8]))
  fit <- pseudo_fit(y ~ x1 + (1 | g), transform(d, g = addNA(g)))
  expect_identical(rownames(ranef(fit)$g), c("a", letters[3:8], "<NA>"))
  expect_close(predict(fit, transform(d, g = addNA(g)), type = "link"), fitted(fit),
               tolerances[["rounding"]])
  d$g[1] <- "<NA>"
  expect_refusal(bsvm_frame(y ~ x1 + (1 | g), transform(d, g = addNA(g))), "group", "'<NA>'")
})

test_that("splits by group tell large ids apart", {
  units <- bsvm:::split_units(rep(c(TRUE, FALSE), 40), 1e15 + rep(1:8, 10))
  expect_identical(max(units$of), 8L)
})
