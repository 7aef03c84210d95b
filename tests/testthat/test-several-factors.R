# Sources with several grouping factors against the same rows in memory, where one sparse factor has
# all levels. Both are the same model, eliminated in another order.

nested_data <- function(n = 6000) {
  with_seed(3, {
    d <- data.frame(x = rnorm(n), school = sample(sprintf("s%02d", 1:25), n, TRUE),
                    item = sample(1:30, n, TRUE), k = sample(0:3, n, TRUE))
    d$class <- paste0(d$school, sample(letters[1:6], n, TRUE))
    effect <- function(f, sd = 1) rnorm(length(unique(f)), sd = sd)[match(f, unique(f))]
    d$number <- d$x + effect(d$school) + effect(d$class) + effect(d$item) + d$x * effect(d$item, 0.4)
    d$y <- factor(ifelse(d$number + rlogis(n) > 0, "yes", "no"))
    d$number <- d$number + rnorm(n)
    d
  })
}

quietly_fitted <- function(...) with_seed(1, suppressMessages(suppressWarnings(bsvm(...))))

expect_near_fit <- function(formula, d, ..., tolerance = 1e-11) {
  here <- quietly_fitted(formula, d, ...)
  there <- quietly_fitted(formula, chunks_of(d), ...)
  info <- deparse1(formula)
  expect_gt(there$streamed$shards, 1)
  for (what in list(coef, ranef, VarCorr, vcov, elbo)) {
    expect_equal(what(there), what(here), tolerance = tolerance, info = info)
  }
  new <- d[1:60, ]
  new$item[1] <- 99L
  for (re_formula in list(NULL, NA)) {
    found <- function(fit) {
      predict(fit, new, type = "link", interval = TRUE, re_formula = re_formula, allow_new_levels = TRUE)
    }
    expect_equal(found(there), found(here), tolerance = tolerance, info = info)
  }
  invisible(there)
}

test_that("several factors of a source are those of a data frame", {
  local_small_shards()
  d <- nested_data()
  vb <- engine_vb()
  gaussian <- engine_gaussian(integrate = FALSE)
  expect_near_fit(y ~ x + (1 | school / class), d, engine = vb, likelihood = "hinge")
  expect_near_fit(y ~ x + (1 | class) + (1 | school), d, engine = gaussian)
  expect_near_fit(y ~ x + (1 | school) + (1 + x | item), d, engine = vb, likelihood = "hinge",
                  weights = k)
  expect_near_fit(y ~ x + (1 | class) + (x || item) + (1 | school), d, engine = vb,
                  likelihood = "hinge", offset = k / 3)
  expect_near_fit(number ~ x + (1 | school:item) + (1 | item), d, engine = gaussian,
                  likelihood = "laplace", tolerance = 1e-8)
  expect_near_fit(y ~ (1 | school) + (1 | item), d, engine = vb, likelihood = "hinge",
                  prior = list(school = prior_ridge(variance = 2), item = prior_ridge(1, 1)),
                  na.action = na.omit)
})

test_that("terms with a basis go with several factors, with what inducing points leave over, too", {
  local_small_shards()
  d <- nested_data()
  expect_near_fit(y ~ gp(x, kernel = kernel_se(0.7), points = 5) + (1 | school) + (1 | item), d,
                  engine = engine_vb(), likelihood = "hinge", tolerance = 1e-9)
})

test_that("a level with more rows than a file is shared, and one that no row has is not there", {
  local_small_shards()
  d <- nested_data()
  d$school[d$k > 0] <- "s01"
  d$class <- factor(d$class, levels = c(unique(d$class), "none"))
  fit <- expect_near_fit(y ~ x + (1 | school) + (1 | class) + (1 | item), d, engine = engine_vb(),
                         likelihood = "hinge")
  expect_false("none" %in% rownames(ranef(fit)$class))
})

test_that("factors with many levels need no row for each", {
  local_small_shards()
  local_replace("prototype_levels", 7)
  local_replace("prototype_rows", 5)
  local_replace("spill_rows", 1000L)
  d <- nested_data()
  d$id <- with_seed(5, sample(900, 6000, TRUE)) * 3 + 99990
  d$school[5:9] <- NA
  d$`odd name` <- as.Date("2000-01-01") + d$item
  rows <- NULL
  keep <- bsvm:::with_all_levels
  local_replace("with_all_levels", function(frame, chosen, ...) {
    rows <<- nrow(chosen$prototype)
    keep(frame, chosen, ...)
  })
  fit <- expect_near_fit(y ~ x + (1 | id) + (1 | school) + (1 | `odd name`), d, engine = engine_vb(),
                         likelihood = "hinge", na.action = na.omit)
  expect_lt(rows, 40)
  expect_length(fit$groups$id$keys, length(unique(d$id[-(5:9)])))
})

test_that("chunks, threads and workers give the same bits, as does a worker that dies", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- nested_data()
  engines <- list(engine_vb(), engine_gaussian(integrate = FALSE),
                  engine_gibbs(draws = 6, burnin = 3, chains = 2))
  for (engine in engines) {
    fit <- function(size = 700, ...) {
      cluster_result(quietly_fitted(y ~ x + (1 | school / class) + (1 + x | item), chunks_of(d, size),
                                    engine = engine, likelihood = "hinge", ...))
    }
    whole <- fit()
    expect_identical(fit(1999, control = bsvm_control(threads = 2)), whole, info = engine$name)
    expect_identical(fit(cluster = local_cluster(3)), whole, info = engine$name)
    cluster <- local_cluster(2)
    plant_fault(cluster[2], 5, "kill")
    expect_identical(fit(cluster = cluster), whole, info = engine$name)
  }
})

test_that("draws of several factors are those of a data frame up to chance, and go on", {
  local_small_shards()
  d <- nested_data(1500)
  formula <- y ~ x + (1 | school) + (1 | item)
  engine <- function(draws, ...) engine_gibbs(draws = draws, burnin = 100, chains = 2, ...)
  there <- quietly_fitted(formula, chunks_of(d, 400), likelihood = "hinge", engine = engine(1000))
  here <- quietly_fitted(formula, d, likelihood = "hinge", engine = engine(1000))
  sds <- sqrt(diag(vcov(here)))
  expect_lt(max(abs(fixef(there) - fixef(here)) / sds), 0.35)
  expect_equal(sqrt(diag(vcov(there))), sds, tolerance = 0.2)
  for (name in c("school", "item")) {
    expect_gt(stats::cor(unlist(ranef(there)[[name]]), unlist(ranef(here)[[name]])), 0.99)
  }
  file <- tempfile()
  on.exit(unlink(file), add = TRUE)
  fit <- function(draws, ...) {
    cluster_result(quietly_fitted(formula, chunks_of(d, 400), likelihood = "hinge",
                                  engine = engine(draws, ...)))
  }
  fit(3, checkpoint = file)
  expect_identical(fit(9, checkpoint = file, resume = TRUE)$posterior, fit(9)$posterior)
})

test_that("what several factors do not go with is refused before the work", {
  local_small_shards()
  d <- nested_data(800)
  fixed <- list(school = prior_ridge(variance = 1), item = prior_ridge(variance = 1))
  expect_refusal(bsvm(y ~ x + (1 | school) + (1 | item), chunks_of(d), engine = "em", prior = fixed),
                 "unsupported", "several grouping factors")
  d$x[3] <- NA
  expect_refusal(bsvm(y ~ x + (1 | school) + (1 | item), chunks_of(d), missing = missing_normal()),
                 "unsupported", "at most one grouping factor")
  local_replace("max_memory", function() 1e4)
  expect_refusal(bsvm(y ~ (1 | school) + (1 | item), chunks_of(nested_data(6000))), "size",
                 c("25 effects of levels with rows in several files", "Leave out"))
})

test_that("levels of the main factor are sorted by those it is nested in, whatever their names", {
  local_small_shards()
  d <- nested_data()
  d$class <- with_seed(4, sample(150))[match(d$class, unique(d$class))] # in no order
  d$region <- as.integer(substr(d$school, 2, 3)) %% 5
  fit <- function(formula, data) {
    shared <- NULL
    local_replace("tell_plan", function(shards, ...) {
      shared <<- list(count = length(shards$several$shared), files = shards$shards)
    })
    quietly_fitted(formula, data, engine = engine_vb(), likelihood = "hinge",
                   control = bsvm_control(max_passes = 2))
    shared
  }
  for (formula in list(y ~ (1 | region / school / class), y ~ (1 | class) + (1 | school) + (1 | region))) {
    found <- fit(formula, chunks_of(d))
    expect_lte(found$count, 3 * (found$files - 1)) # the last of a file may go on in the next
  }
  expect_near_fit(y ~ x + (1 | region / school / class), d, engine = engine_vb(), likelihood = "hinge")
})

test_that("of a single file the root is that of rows in memory", {
  d <- nested_data(3000)
  shared <- NULL
  local_replace("tell_plan", function(shards, ...) shared <<- shards$several$shared)
  here <- quietly_fitted(y ~ x + (1 | school) + (1 | item), d, engine = engine_vb(), likelihood = "hinge")
  there <- quietly_fitted(y ~ x + (1 | school) + (1 | item), chunks_of(d), engine = engine_vb(),
                          likelihood = "hinge")
  expect_identical(there$streamed$shards, 1L)
  expect_gt(length(shared), 20)
  expect_equal(ranef(there), ranef(here), tolerance = 1e-11)
  expect_equal(vcov(there), vcov(here), tolerance = 1e-11)
})

test_that("multipliers of extreme size are refused as in a data frame", {
  d <- nested_data(500)
  d$x[7] <- 1e300
  for (formula in list(y ~ (x | school), y ~ (x | school) + (1 | item))) {
    expect_refusal(bsvm(formula, chunks_of(d)), "predictors", c("x: 1e+300", "Rescale"))
  }
})
