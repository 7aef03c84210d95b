# Rows that are prepared once for several fits.

# list(source, readings()): a source that counts how often it is read to the end.
counted <- function(data) {
  readings <- 0
  at <- 0
  list(readings = function() readings, source = function(reset = FALSE) {
    at <<- if (reset) 0 else at + 1
    if (at == 3) readings <<- readings + 1
    if (at %in% 1:2) split(data, seq_len(nrow(data)) > 170)[[at]]
  })
}

fits_of <- function(fit) fit[c("posterior", "blocks", "group_blocks", "elbo", "trace", "nobs")]

test_that("later fits use the files of the first, with the same bits", {
  d <- cath
  d$g <- rep(1:9, length.out = nrow(d))
  counts <- counted(d)
  rows <- distribute(counts$source)
  fit <- function(data, ...) bsvm(disease ~ sex + age + (1 | g), data, ...)
  before <- list.files(tempdir())
  for (prior in list(NULL, prior_ridge(variance = 1))) {
    for (engine in list(engine_vb(), engine_gaussian(integrate = FALSE))) {
      found <- fit(rows, prior = prior, engine = engine, likelihood = "hinge")
      again <- fit(counted(d)$source, prior = prior, engine = engine, likelihood = "hinge")
      expect_identical(fits_of(found), fits_of(again))
    }
  }
  expect_identical(counts$readings(), 1)
  expect_length(setdiff(list.files(tempdir()), before), 1)
  expect_length(list.files(rows$kept$rows[[1L]]$shards$folder), 1)
  expect_identical(fits_of(fit(distribute(rows))), fits_of(fit(rows)))
  unlink(rows$kept$rows[[1L]]$shards$paths)
  expect_identical(fits_of(fit(rows)), fits_of(fit(counted(d)$source)))
  rm(rows)
  gc()
  expect_identical(setdiff(list.files(tempdir(), "^bsvm-"), before), character(0))
})

test_that("what the rows depend on makes them anew", {
  counts <- counted(cath)
  rows <- distribute(counts$source)
  by <- 10
  half <- function(x) x / 2
  w <- quote(sex + 1)
  fit <- function(...) bsvm(disease ~ sex + I(age / by) + half(age^2), data = rows, ...)
  expect_read <- function(times, found) {
    force(found)
    expect_identical(counts$readings(), times)
  }
  expect_read(1, fit())
  expect_read(1, fit(prior = prior_ridge(variance = 2)))
  expect_read(2, fit(class.weights = c(no = 2, yes = 1)))
  expect_read(3, fit(weights = age))
  expect_read(3, fit(weights = age, standardize = FALSE))
  expect_read(4, fit(weights = age^2))
  expect_read(5, fit(na.action = na.omit))
  by <- 20
  found <- fit()
  expect_identical(counts$readings(), 6)
  here <- bsvm(disease ~ sex + I(age / 20) + half(age^2), data = cath, engine = found$engine)
  expect_identical(unname(coef(found)), unname(coef(here)))
  half <- function(x) x / 4
  expect_read(7, fit())
  expect_read(8, bsvm(disease ~ sex, data = rows))
})

test_that("a cluster goes with the rows", {
  skip_on_cran()
  cluster <- parallel::makeCluster(2)
  on.exit(parallel::stopCluster(cluster))
  counts <- counted(cath)
  rows <- distribute(counts$source, cluster)
  here <- bsvm(disease ~ sex + age, data = counted(cath)$source)
  for (k in 1:2) expect_identical(fits_of(bsvm(disease ~ sex + age, data = rows)), fits_of(here))
  expect_identical(counts$readings(), 1)
  expect_error(distribute(cath), class = "bsvm_error_argument")
  expect_error(distribute(counts$source, 2), class = "bsvm_error_argument")
})

test_that("what functions of the formula find, and options, make the rows anew, too", {
  counts <- counted(transform(cath, sex = factor(sex)))
  rows <- distribute(counts$source)
  by <- 2
  part <- function(x) if (x[1] < 0) part(-x) else x / by
  fit <- function() bsvm(disease ~ sex + part(age), data = rows, prior = prior_flat())
  before <- coef(fit())
  expect_identical(coef(fit()), before)
  expect_identical(counts$readings(), 1)
  by <- 4
  expect_equal(coef(fit())[["part(age)"]] / before[["part(age)"]], 2, tolerance = 1e-6)
  old <- options(contrasts = c("contr.sum", "contr.poly"))
  on.exit(options(old))
  expect_true("sex1" %in% names(coef(fit())))
})

test_that("rows are in the folder that is named, and nothing is left there", {
  skip_on_cran()
  folder <- folder_for_rows()
  on.exit(unlink(folder, recursive = TRUE))
  d <- cath
  d$g <- rep(1:9, length.out = nrow(d))
  seen <- character(0)
  counts <- counted(d)
  source <- function(reset = FALSE) {
    seen <<- c(seen, list.files(folder))
    counts$source(reset)
  }
  control <- bsvm_control(rows_folder = folder)
  fit <- function(data, ...) {
    bsvm(disease ~ sex + age + (1 | g), data, engine = engine_vb(), likelihood = "hinge", ...)
  }
  expected <- fits_of(fit(counted(d)$source))
  expect_identical(fits_of(fit(bsvm_source(source), control = control, cluster = local_cluster(2))),
                   expected)
  expect_match(seen, "^bsvm-rows-", all = FALSE)
  expect_length(list.files(folder), 0)
  rows <- distribute(source)
  before <- list.files(tempdir(), "^bsvm-")
  fit(rows, control = control)
  expect_identical(fits_of(fit(rows)), expected)
  expect_identical(setdiff(list.files(tempdir(), "^bsvm-"), before), character(0))
  expect_identical(dirname(rows$kept$rows[[1L]]$shards$folder), normalizePath(folder))
  expect_match(list.files(folder), "^bsvm-shards-")
  rm(rows)
  gc()
  expect_length(list.files(folder), 0)
  expect_output(print(control), paste("rows_folder", normalizePath(folder)), fixed = TRUE)
})
