# Levels of so many rows that these are cut into pieces, in lanes, files and on machines of their own
# (core/rows/large_levels.hpp), and whose sums meet before they are eliminated.

# Levels of 4500 and 1500 rows, and small ones.
large_levels_data <- function(n = 9000) {
  d <- streamed_data(n, levels = 40)
  d$g[seq_len(n) %% 6 < 3] <- "s02"
  d$g[seq_len(n) %% 6 == 5] <- "s39"
  effect <- rnorm(40)[match(d$g, sort(unique(d$g)))]
  d$y <- factor(ifelse(d$x - (d$f == "low") + effect + rlogis(n) > 0, "yes", "no"))
  d$number <- 5 + 2 * d$x + effect + rnorm(n)
  d
}

local_large_levels <- function(most = 1200, frame = parent.frame()) {
  local_replace("core_most_level_rows", function(p, q) if (p > 0 && q > 0) most, frame)
}

found_in <- function(fit) {
  fit[c("posterior", "blocks", "group_blocks", "elbo", "trace", "groups", "odds_slope", "nobs")]
}

engines_of_pieces <- list(
  vb = function(data, ...) {
    bsvm(y ~ x + f + (1 | g), data, ..., engine = engine_vb(), likelihood = "hinge")
  },
  slopes = function(data, ...) {
    bsvm(y ~ f + (x | g), data, ..., engine = engine_vb(), likelihood = "hinge", weights = k)
  },
  gaussian = function(data, ...) {
    bsvm(y ~ x + (1 | g), data, ..., engine = engine_gaussian(integrate = FALSE))
  },
  numbers = function(data, ...) {
    bsvm(number ~ x + (1 | g), data, ..., engine = engine_gaussian(integrate = FALSE),
         likelihood = "laplace")
  },
  gibbs = function(data, ...) {
    set.seed(1)
    suppressWarnings(bsvm(y ~ x + (1 | g), data, ..., likelihood = "hinge",
                          engine = engine_gibbs(6, 3, chains = 2, mixing = FALSE)))
  },
  em = function(data, ...) {
    bsvm(y ~ x + (1 | g), data, ..., engine = engine_em(), likelihood = "hinge",
         prior = list(prior_ridge(variance = 1), g = prior_ridge(variance = 1)))
  }
)

test_that("large levels in pieces are whole ones up to rounding", {
  d <- large_levels_data(4000)
  whole <- lapply(engines_of_pieces, function(fit) fit(d))
  local_large_levels(500)
  for (name in setdiff(names(engines_of_pieces), "em")) { # which makes no passes
    pieces <- engines_of_pieces[[name]](d)
    expect_false(identical(coef(pieces), coef(whole[[name]])), info = name)
    expect_equal(coef(pieces), coef(whole[[name]]), tolerance = 1e-12, info = name)
    expect_equal(ranef(pieces), ranef(whole[[name]]), tolerance = 1e-12, info = name)
  }
})

test_that("engines without passes over large levels are as they were", {
  d <- large_levels_data(2000)
  engines <- list(engine_gaussian(), engine_map())
  fits <- function() lapply(engines, function(engine) bsvm(y ~ x + (1 | g), d, engine = engine))
  whole <- fits()
  local_large_levels(250)
  pieces <- fits()
  expect_identical(lapply(pieces, found_in), lapply(whole, found_in))
  expect_identical(predict(pieces[[1L]], interval = TRUE), predict(whole[[1L]], interval = TRUE))
})

test_that("a level that spans files gives the bits of rows in memory", {
  d <- large_levels_data()
  local_small_shards()
  local_large_levels()
  for (name in setdiff(names(engines_of_pieces), "em")) {
    fit <- engines_of_pieces[[name]]
    there <- fit(chunks_of(d))
    expect_identical(found_in(there), found_in(fit(d)), info = name)
    expect_gt(there$streamed$shards, 3)
  }
  there <- engines_of_pieces$em(chunks_of(d))
  here <- engines_of_pieces$em(d)
  expect_equal(there$posterior$objective, here$posterior$objective, tolerance = 1e-10)
  expect_equal(ranef(there), ranef(here), tolerance = 1e-6)
  missing <- replace(d, "x", list(replace(d$x, sample(9000, 900), NA)))
  fit <- function(data) {
    bsvm(y ~ x + z + (1 | g), data, missing = missing_normal(), likelihood = "hinge",
         engine = engine_vb())
  }
  expect_identical(found_in(fit(chunks_of(missing))), found_in(fit(missing)))
})

test_that("all rows in one level, or a few, are dealt out to several files", {
  d <- large_levels_data()
  local_small_shards()
  local_large_levels()
  for (levels in 1:3) {
    d$h <- letters[1 + seq_len(nrow(d)) %% levels]
    fit <- function(data) {
      suppressWarnings(bsvm(y ~ x + (1 | h), data, likelihood = "hinge", engine = engine_vb()))
    }
    there <- fit(chunks_of(d, 1100))
    expect_identical(found_in(there), found_in(fit(d)), info = levels)
    expect_gt(there$streamed$shards, 3)
  }
})

test_that("levels that span workers give the bits of one process, if one is lost, too", {
  skip_on_cran()
  d <- large_levels_data(18000)
  local_small_shards()
  local_large_levels()
  cluster <- local_cluster(2)
  for (name in setdiff(names(engines_of_pieces), "em")) {
    fit <- engines_of_pieces[[name]]
    expect_identical(found_in(fit(chunks_of(d), cluster = cluster)), found_in(fit(d)), info = name)
  }
  skip_on_os("windows")
  for (at in c(2, 3, 4)) {
    cluster <- local_cluster(2)
    plant_fault(cluster[2], at, "kill")
    expect_warning(there <- engines_of_pieces$vb(chunks_of(d), cluster = cluster), "worker 2")
    expect_identical(found_in(there), found_in(engines_of_pieces$vb(d)), info = at)
  }
})

test_that("a chain with large levels goes on from its checkpoint to the bit", {
  d <- large_levels_data()
  local_small_shards()
  local_large_levels()
  file <- tempfile()
  fit <- function(draws, ...) {
    set.seed(1)
    suppressWarnings(bsvm(y ~ x + (1 | g), chunks_of(d), likelihood = "hinge",
                          engine = engine_gibbs(draws, 3, chains = 2, mixing = FALSE, ...)))
  }
  whole <- fit(8)
  fit(4, checkpoint = file)
  expect_identical(fit(8, checkpoint = file, resume = TRUE)$posterior, whole$posterior)
})

test_that("levels of usual sizes are no large ones, and those are as many rows as a file has", {
  d <- streamed_data(3000)
  groups <- bsvm_frame(y ~ x + (1 | g), d)$groups
  expect_null(bsvm:::core_groups(groups, 2L)$large)
  expect_identical(bsvm:::core_most_level_rows(20, 1), bsvm:::core_shard_size(20, 23)[["rows"]])
  counts <- c(5, bsvm:::core_most_level_rows(2, 1) + 0:1)
  expect_identical(bsvm:::large_levels(counts, 2, 1), list(level = 3, rows = counts[3]))
})
