bsvm <- paper_bsvm

test_that("a fit survives saving and reading", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + poly(x2, 2) + (1 + t || g), d, engine = "vb")
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  back <- readRDS(file)
  expect_equal(back, fit, ignore_formula_env = TRUE)
  expect_identical(predict(back, d, interval = TRUE), predict(fit, d, interval = TRUE))
  expect_identical(capture.output(print(summary(back))), capture.output(print(summary(fit))))
})

test_that("it is read and used in another R", {
  skip_on_cran()
  d <- grouped_data()
  folder <- new_folder("object")
  on.exit(unlink(folder, recursive = TRUE))
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  saveRDS(list(fit = fit, data = d), file.path(folder, "fit.rds"))
  script <- c(sprintf(".libPaths(%s); library(bsvm)", deparse1(.libPaths())),
              sprintf("setwd(%s); s <- readRDS('fit.rds')", deparse1(folder)),
              "saveRDS(predict(s$fit, s$data, interval = TRUE), 'links.rds')")
  writeLines(script, file.path(folder, "use.R"))
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file.path(folder, "use.R")))
  expect_identical(readRDS(file.path(folder, "links.rds")), predict(fit, d, interval = TRUE))
})

size <- function(object) length(serialize(object, NULL))

test_that("a fit keeps response and link, not the data", {
  small <- binary_data(200)
  large <- binary_data(2000)
  large$note <- rnorm(2000)
  fit_to <- function(data) bsvm(y ~ x1 + x2 + x3 + f, data, engine = "vb")
  grown <- size(fit_to(large)) - size(fit_to(small))
  # y and link, 8 bytes each, for 1800 more rows
  expect_lt(grown, 1.2 * 16 * 1800)
})

test_that("do.call and functions put no data into the call or the environments", {
  d <- binary_data(5000)
  plain <- size(bsvm(y ~ x1, d, engine = "vb"))
  by_call <- do.call(bsvm, list(y ~ x1, data = d, engine = "vb"))
  expect_lt(size(by_call), plain + 2000)
  by_call <- do.call("bsvm", list(y ~ x1, d, weights = rep(1, 5000), engine = "vb"))
  expect_lt(size(by_call), plain + 8 * 5000 + 2000)
  inside <- function() {
    heavy <- rnorm(1e5)
    bsvm(y ~ x1, d, engine = "vb")
  }
  expect_lt(size(inside()), plain + 2000)
  x <- as.matrix(d[1:3])
  by_matrix <- do.call(bsvm, list(x, d$y, engine = "vb"))
  expect_lt(size(by_matrix), plain + 3000)
  expect_false(is.null(bsvm(y ~ x1, d, keep_data = TRUE, engine = "vb")$data))
})

test_that("a large factor with many levels is kept as its levels, once", {
  d <- grouped_data(3000, 1000)
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  # rows: y, link; levels: mean, precision, regression (2), a name of 16 bytes or less
  expect_lt(size(fit), 16 * 3000 + 1000 * (8 * 4 + 32) + 60000)
})

test_that("fields and version are in place", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_identical(fit$version, as.character(packageVersion("bsvm")))
  expect_identical(unclass(fit$response), list(levels = c("no", "yes"), type = "factor"))
  expect_equal(fit$trace[nrow(fit$trace), "bound"], elbo(fit), ignore_attr = TRUE)
  expect_equal(nrow(fit$trace), fit$passes)
})

test_that("a rotated block keeps what its methods read, no more", {
  d <- binary_data()
  wide <- cbind(as.matrix(d[1:3]), matrix(sin(seq_len(60 * 80)), 60))
  fit <- bsvm(wide, d$y, engine = "vb")
  expect_named(fit$design$rotation[[1]], c("columns", "basis"))
  expect_close(predict(fit, wide, type = "link"), fitted(fit), 1e-8)
})
