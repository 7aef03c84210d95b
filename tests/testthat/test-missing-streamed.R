# Missing predictors of rows in files, beside the same rows in memory.

incomplete_data <- function(n = 2600) {
  d <- streamed_data(n)
  d$z <- d$z + 0.5 * d$x
  d$other <- d$z + rnorm(n)
  d$number <- d$x - d$z + rnorm(n)
  d$x[sample(n, n / 5)] <- NA
  d$z[sample(n, n / 8)] <- NA
  d$other[sample(n, n / 20)] <- NA
  d
}

# Text is a factor in a source.
law_of <- function(fit) {
  law <- fit$missing$law
  law[setdiff(names(law), c("rows", "recipe"))]
}

test_that("fits of incomplete sources are those of rows in memory, to the bit", {
  local_replace("spill_rows", 1000L)
  local_small_shards()
  d <- incomplete_data()
  compare <- function(formula, ..., missing = missing_normal(), data = d,
                      engine = engine_gaussian(integrate = FALSE)) {
    here <- bsvm(formula, data, missing = missing, engine = engine, ...)
    there <- bsvm(formula, chunks_of(data), missing = missing, engine = engine, ...)
    if (nrow(data) > 2100) expect_gt(there$streamed$shards, 1)
    expect_identical(there$posterior, here$posterior)
    expect_identical(law_of(there), law_of(here))
    expect_identical(there$elbo, here$elbo)
    expect_length(there$missing$imputed$row, 0L)
    invisible(list(here, there))
  }
  both <- compare(y ~ x + z + f, weights = 1 + k)
  new <- d[1:40, ]
  expect_identical(predict(both[[2L]], new, type = "prob"), predict(both[[1L]], new, type = "prob"))
  expect_identical(unname(predict(both[[2L]], chunks_of(new, 13), type = "prob")),
                   unname(predict(both[[2L]], new, type = "prob")))
  expect_output(print(summary(both[[2L]], details = TRUE)), "x: 520 (20 %)", fixed = TRUE)
  compare(y ~ x + z + (1 | g))
  compare(y ~ x + z, missing = missing_normal(auxiliary = ~ other + f))
  compare(y ~ x, missing = missing_normal(auxiliary = ~ f)) # nothing but dummies beside it
  suppressWarnings( # of a constant column; sums are rounded
    compare(y ~ x + two + ordered(k > 1) + const,
            data = transform(d, two = ifelse(k > 1, 0.1, 0.7), const = 0.1), prior = prior_ridge())
  )
  compare(number ~ x * k + log1p(abs(z)), likelihood = "gaussian")
  vb <- engine_vb()
  suppressWarnings({ # of the pseudo-likelihood
    compare(y ~ x + z + (1 | g), likelihood = "hinge", engine = vb)
    compare(y ~ x + z + f, likelihood = "hinge", engine = vb, missing = missing_selection(~ x))
  })
  # complete after all
  complete <- d[!is.na(d$x), ]
  compare(y ~ x + f, data = complete)
})

test_that("draws over incomplete sources are those of rows in memory, to the bit", {
  local_small_shards()
  d <- incomplete_data()
  draw <- function(formula, data, mixing, missing = missing_normal(~ other), ...) {
    set.seed(7)
    engine <- engine_gibbs(draws = 6, burnin = 3, chains = 2, mixing = mixing)
    suppressWarnings(bsvm(formula, data, likelihood = "hinge", missing = missing, engine = engine, ...))
  }
  compare <- function(formula, ...) {
    here <- draw(formula, d, FALSE, ...)
    there <- draw(formula, chunks_of(d), NULL, ...)
    expect_gt(there$streamed$shards, 1)
    expect_identical(there$posterior, here$posterior)
    expect_identical(law_of(there), law_of(here))
    there
  }
  compare(y ~ x + z + f, missing = missing_selection(~ x))
  there <- compare(y ~ x + z + (1 | g))
  again <- draw(y ~ x + z + (1 | g), chunks_of(d), NULL, cluster = local_cluster(2))
  expect_identical(again$posterior, there$posterior)
})

test_that("what columns are is decided by all rows of a source", {
  local_replace("spill_rows", 500L)
  d <- incomplete_data(1800)
  d$late <- replace(d$k %% 2, 1700, NA) # complete in the first rows
  d$three <- replace(d$k %% 2, 1701, 2) # of two values in these
  d$two <- d$k %% 2
  here <- bsvm(y ~ x + late + three + two, d, missing = missing_normal())
  there <- bsvm(y ~ x + late + three + two, chunks_of(d), missing = missing_normal())
  expect_identical(there$missing$law$given, c("(Intercept)", "two"))
  expect_identical(law_of(there), law_of(here))
  expect_identical(there$posterior, here$posterior)
})

test_that("auxiliary variables of a source are those of all rows, in predictions too", {
  local_replace("spill_rows", 500L)
  d <- incomplete_data(1800)
  d$code <- replace(d$k, 1700:1800, 9)
  compare <- function(auxiliary) {
    fit <- function(data) {
      bsvm(y ~ x + z, data, missing = missing_normal(auxiliary), engine = engine_gaussian(integrate = FALSE))
    }
    here <- fit(d)
    there <- fit(chunks_of(d))
    expect_identical(there$posterior, here$posterior)
    expect_identical(law_of(there), law_of(here))
    new <- d[1:60, ]
    expect_identical(predict(there, chunks_of(new, 13), type = "link"),
                     unname(predict(here, new, type = "link")))
  }
  compare(~ factor(code) + other)
  compare(~ ifelse(code > 5, "big", "small"))
  cut <- 1.5
  compare(~ I(pmin(other, cut)))
})

test_that("rows that are prepared once are those of the rule", {
  d <- incomplete_data(900)
  rows <- distribute(chunks_of(d))
  for (rule in list(missing_normal(), missing_normal(auxiliary = ~ other), missing_normal(df = 9))) {
    fit <- function(data) bsvm(y ~ x + z, data, missing = rule)
    expect_identical(fit(rows)$posterior, fit(chunks_of(d))$posterior)
  }
  expect_length(rows$kept$rows, 3L)
})

test_that("a rule that draws or augments chooses variational Bayes, beside groups too", {
  d <- incomplete_data(900)
  fit <- suppressWarnings(bsvm(y ~ x + z + (1 | g), chunks_of(d), missing = missing_selection(~ x)))
  expect_identical(fit$engine$name, "vb")
})

test_that("smooth terms and Gaussian processes go beside modelled predictors", {
  skip_if_not_installed("mgcv")
  d <- incomplete_data(1500)
  d$w <- runif(1500)
  difference <- function(formula) {
    here <- bsvm(formula, d, missing = missing_normal(), engine = engine_gaussian(integrate = FALSE))
    there <- bsvm(formula, chunks_of(d), missing = missing_normal())
    if (length(gp_bases(here)) > 0L) expect_identical(there$posterior, here$posterior)
    found <- predict(there, d[1:50, ], type = "link", interval = TRUE)
    expected <- predict(here, d[1:50, ], type = "link", interval = TRUE)
    max(abs(found$fit - expected$fit) / expected$sd, abs(found$sd / expected$sd - 1))
  }
  expect_lt(difference(y ~ s(x, k = 5) + z), 1e-3) # with a flat optimum
  expect_equal(difference(y ~ x + gp(w, kernel = kernel_se(1), points = 6)), 0)
})

test_that("a cluster gives the same bits", {
  local_small_shards()
  d <- incomplete_data()
  fit <- function(...) bsvm(y ~ x + z + f, chunks_of(d), missing = missing_normal(), ...)
  cluster <- local_cluster(2)
  expect_identical(fit(cluster = cluster)$posterior, fit()$posterior)
})

test_that("what cannot be modelled is refused, wherever it stands", {
  local_replace("spill_rows", 500L)
  d <- incomplete_data(1600)
  refused <- function(class, words, formula, data = d, missing = missing_normal(), ...) {
    expect_refusal(bsvm(formula, chunks_of(data), missing = missing, ...), class, words)
  }
  last <- function(name, value) {
    d[[name]][1600] <- value
    d
  }
  refused("missing", c("y (1)", "Only predictors"), y ~ x, last("y", NA))
  refused("missing", c("g (1)", "Only predictors"), y ~ x + (1 | g), last("g", NA))
  refused("weights", c("has 1 NA", "function or query"), y ~ x, last("k", NA), weights = k + 1)
  refused("offset", "function or query", y ~ x + offset(k), last("k", NA))
  refused("missing", c("f (1)", "addNA()"), y ~ x + f, last("f", NA))
  refused("missing", "infinite values: x (1)", y ~ x, last("x", Inf))
  refused("missing", "factor(ifelse(", y ~ x + factor(ifelse(k > 2 & x > 1, NA, k)))
  refused("missing", c("w", "Gaussian-process"), y ~ z + gp(w, points = 5),
          transform(d, w = replace(runif(1600), 1600, NA)))
  refused("missing", "no value in any row", y ~ z + ifelse(x > 1e9, x, NA_real_))
  refused("unsupported", "auxiliary", y ~ x, missing = missing_normal(matrix(1, 1600, 1)))
  refused("data", "nowhere", y ~ x, missing = missing_normal(~ nowhere))
  elsewhere <- rnorm(1600)
  refused("data", "elsewhere", y ~ x, missing = missing_normal(~ elsewhere))
  refused("missing", "I(x > 0)", y ~ z, transform(d, x = replace(0 * k, 1600, NA)),
          missing = missing_normal(~ I(x > 0)))
  refused("unsupported", "depend on other rows", y ~ x, missing = missing_normal(~ scale(other)))
  refused("argument", "not both", y ~ x, na.action = na.omit)
  refused("unsupported", "a checkpoint", y ~ x, likelihood = "hinge",
          engine = engine_gibbs(checkpoint = tempfile()))
  refused("unsupported", "missing predictors", y ~ x, engine = engine_em(), likelihood = "hinge",
          prior = prior_ridge(variance = 1))
  # terms decide, not variables
  local_replace("spill_rows", 1000L)
  same <- function(formula, data = d, ...) {
    here <- bsvm(formula, data, missing = missing_normal(), engine = engine_gaussian(integrate = FALSE), ...)
    there <- bsvm(formula, chunks_of(data), missing = missing_normal(), ...)
    expect_identical(there$posterior, here$posterior)
  }
  same(y ~ x + as.numeric(l), transform(d, l = replace(k > 1, c(5, 1600), NA)))
  same(y ~ x + is.na(f), transform(d, f = replace(f, c(5, 1600), NA)))
  same(y ~ x, transform(d, y = replace(y, k == 0, NA)), weights = k)
  expect_refusal(bsvm(y ~ z + gp(x, points = 5), chunks_of(d)), "missing", "na.omit")
  fit <- bsvm(y ~ x, chunks_of(d), missing = missing_normal())
  expect_refusal(imputed(fit), "unsupported", "read from a source")
  expect_message(complete <- bsvm(y ~ x, chunks_of(d), missing = missing_omit()), "excludes 320 of 1600 rows")
  expect_equal(nobs(complete), 1280)
  expect_refusal(bsvm(y ~ x, chunks_of(d)), "missing", c("x (320)", "missing_normal"))
})
