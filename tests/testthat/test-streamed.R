# Fits of sources against fits of the same rows in memory: the same to the bit.

# So that few rows are several pieces.
local_piece_rows <- function(rows, frame = parent.frame()) {
  local_replace("spill_rows", rows, frame)
}

what_is_found <- function(fit) {
  fit[c("posterior", "blocks", "group_blocks", "elbo", "trace", "design", "groups", "odds_slope",
        "nobs", "xlevels", "contrasts")]
}

expect_same_fit <- function(formula, data, source, ...) {
  here <- bsvm(formula, data, ...)
  there <- bsvm(formula, source, ...)
  expect_identical(what_is_found(there), what_is_found(here))
  invisible(there)
}

test_that("fits of sources are those of rows in memory, to the bit", {
  d <- streamed_data()
  vb <- engine_vb()
  gaussian <- engine_gaussian(integrate = FALSE)
  for (size in c(1, 331, 5000)) {
    rows <- if (size == 1) seq_len(300) else seq_len(nrow(d)) # a row at a time
    own <- d[rows, ]
    expect_same_fit(y ~ x * f + log1p(z), own, chunks_of(own, size), engine = vb,
                    likelihood = "hinge")
  }
  expect_same_fit(y ~ x + f, d, chunks_of(d))
  expect_same_fit(y ~ x + (1 | g), d, chunks_of(d), engine = gaussian)
  expect_same_fit(y ~ x + (x | g), d, chunks_of(d), engine = vb, likelihood = "hinge")
  expect_same_fit(y ~ 0 + f + (1 | factor(id)), d, chunks_of(d), engine = vb, likelihood = "hinge")
  expect_same_fit(y ~ x + (1 | f:id), d, chunks_of(d), engine = vb, likelihood = "hinge")
  expect_same_fit(y ~ 1, d, chunks_of(d), engine = gaussian)
})

test_that("rows of a piece are prepared in parts if the design is wide", {
  local_replace("spill_numbers", 2^13)
  d <- streamed_data(6000)
  levels <- length(unique(d$g))
  expect_gt(rows_of_piece(3), 1.2 * rows_of_piece(levels))
  expect_same_fit(y ~ x + factor(g), d, chunks_of(d), engine = engine_vb(), likelihood = "hinge")
  expect_same_fit(y ~ x * f + (1 | g), d, chunks_of(d), engine = engine_vb(), likelihood = "hinge")
  expect_refusal(bsvm(I(2 * x) ~ x + factor(g), chunks_of(d), likelihood = "gaussian"), "response",
                 "fitted exactly by")
})

test_that("fits of numbers in a source are those of rows in memory, to the bit", {
  d <- streamed_data(6000)
  d$n <- 500 + 3 * d$x + (d$f == "low") + rnorm(60)[match(d$g, unique(d$g))] + rt(6000, 3)
  d$t <- round(d$n) # whose median is one of many ties
  local_piece_rows(1500L)
  vb <- engine_vb()
  gaussian <- engine_gaussian(integrate = FALSE)
  compare <- function(formula, likelihood, engine = gaussian, data = d, ...) {
    expect_same_fit(formula, data, chunks_of(data), likelihood = likelihood, engine = engine, ...)
  }
  fit <- compare(n ~ x + f, "gaussian")
  expect_match(utils::capture.output(summary(fit)), "^Residuals: standard deviation 1[.0-9]+$",
               all = FALSE)
  for (which in c("residuals", "predictive")) {
    expect_refusal(plot(fit, which), "unsupported", c(which, "read from a source"))
  }
  for (likelihood in list("eps_insensitive", "laplace", likelihood_quantile(0.2))) {
    compare(t ~ x + f, likelihood, weights = 1 + k, offset = 40 * z)
  }
  compare(n ~ 0 + x + f, "laplace")
  compare(n ~ x, "gaussian", weights = 0 * x + 0.1)
  compare(n ~ x + (x | g), "laplace", vb, weights = z)
  compare(I(1e9 * n) ~ x, "laplace", offset = 1e8 * n) # offsets in units of the response
  compare(n ~ x, "gaussian", data = d[1:2001, ])
  compare(ifelse(k == 0, n, 0) ~ x, "gaussian") # half the rows have one value
  compare(n ~ x + (x | g), likelihood_laplace(scale = 2), vb)
  compare(n ~ x + (1 | g), "eps_insensitive", vb, na.action = na.omit,
          data = transform(d, x = replace(x, c(3, 2500), NA)))
  local_small_shards()
  fit <- compare(n ~ x + (1 | g), "laplace", weights = 1 + k)
  expect_gt(fit$streamed$shards, 2)
  expect_null(summary(fit)$n_positive)
  expect_identical(predict(fit, chunks_of(d, 99), interval = "prediction")$upper,
                   unname(predict(fit, d, interval = "prediction")$upper))
})

test_that("smooth terms of a source are those of its rows in memory, or of rows spread over it", {
  skip_if_not_installed("mgcv")
  d <- streamed_data(3000)
  d$f <- factor(d$f)
  local_piece_rows(1000L)
  difference <- function(formula, data = d, ...) {
    here <- bsvm(formula, data, ..., engine = engine_gaussian(integrate = FALSE))
    there <- bsvm(formula, chunks_of(data), ...)
    new <- d[seq_len(200), ]
    found <- predict(there, new, type = "link", interval = TRUE)
    expected <- predict(here, new, type = "link", interval = TRUE)
    expect_equal(elbo(there), elbo(here), tolerance = 1e-3)
    rownames(new) <- NULL
    expect_identical(predict(there, chunks_of(new, 70), type = "link"),
                     unname(predict(there, new, type = "link")))
    max(abs(found$fit - expected$fit) / expected$sd, abs(found$sd / expected$sd - 1))
  }
  # all rows, in order: what remains are the roundings of mgcv's two ways to a basis
  expect_lt(difference(y ~ s(x) + z), 1e-9)
  expect_lt(difference(y ~ s(x, by = f, bs = "cr") + f + (1 | g), na.action = na.omit,
                       data = transform(d, z = replace(z, 7, NA), x = replace(x, 2500, NA))), 1e-6)
  expect_lt(difference(y ~ t2(x, z), weights = k), 1e-4) # with a flat optimum
  expect_lt(difference(x ~ s(z), likelihood = "laplace"), 1e-6)
  # an effect for each level is a smooth term, too
  crossed <- bsvm(y ~ x + (1 | g) + s(f, bs = "re"), chunks_of(d))
  here <- bsvm(y ~ x + (1 | g) + (1 | f), d, engine = engine_gaussian(integrate = FALSE))
  expect_equal(elbo(crossed), elbo(here), tolerance = 1e-4)
  expect_equal(coef(crossed)[1:2], coef(here)[1:2], tolerance = 1e-3)
  local_replace("most_spread_rows", 800)
  expect_lt(difference(y ~ s(x, k = 12) + z), 0.2)
  expect_lt(difference(y ~ s(x, k = 12, bs = "cr") + z, d[order(d$x), ]), 0.2)
  fit <- bsvm(y ~ s(x, k = 6) + s(z, k = 6), chunks_of(d))
  expect_s3_class(plot(fit), "ggplot")
  expect_refusal(plot(fit, "smooth", type = "prob"), "unsupported", "read from a source")
  expect_identical(fit$bases[[1L]]$range[[1L]], range(d$x)) # of all rows
})

test_that("Gaussian-process terms of a source are those of its rows in memory", {
  d <- streamed_data(2600)
  d$f <- factor(d$f)
  d$x <- runif(2600, -2, 2)
  d$y <- factor(ifelse(sin(2 * d$x) + rlogis(2600) / 3 > 0, "yes", "no"))
  local_piece_rows(1000L)
  local_small_shards()
  compare <- function(formula, ..., data = d, engine = engine_gaussian(integrate = FALSE)) {
    fit <- expect_same_fit(formula, data, chunks_of(data), engine = engine, ...)
    expect_gt(fit$streamed$shards, 1)
    fit
  }
  few <- compare(y ~ f + gp(x, kernel = kernel_se(1), points = 7) + (1 | g), weights = 1 + k,
                 class.weights = c(no = 2, yes = 1))
  expect_gt(largest_left_over(few), least_left)
  expect_identical(predict(few, chunks_of(d[1:90, ], 40), type = "prob"),
                   predict(few, d[1:90, ], type = "prob"), ignore_attr = "dimnames")
  compare(y ~ gp(x, by = f, points = 7), offset = k / 3, na.action = na.omit,
          data = transform(d, x = replace(x, c(2, 2500), NA)))
  d$number <- cos(d$x) + rnorm(2600) / 9
  compare(number ~ gp(x, points = points_learned(4)), likelihood = "gaussian", data = d)
  compare(y ~ gp(x, points = 6), likelihood = "hinge", engine = engine_vb()) # with what is left over
  compare(y ~ gp(x, points = 6), prior = list(gp = prior_relevance()), likelihood = "hinge",
          engine = engine_vb())
})

test_that("kernels of long sources are learned from rows spread over them", {
  d <- streamed_data(4000)
  d <- d[order(d$x), ]
  d$y <- factor(ifelse(sin(3 * d$x) + rlogis(4000) / 5 > 0, "yes", "no"))
  local_piece_rows(1000L)
  here <- bsvm(y ~ gp(x, points = 20), d)
  local_replace("most_spread_rows", 1200)
  there <- bsvm(y ~ gp(x, points = 20), chunks_of(d))
  lengths <- vapply(list(here, there), function(fit) summary(fit)$gp$numbers$estimate, 0)
  expect_lt(abs(log(lengths[2L] / lengths[1L])), 0.1)
  expect_s3_class(plot(there, "gp"), "ggplot")
  expect_equal(nobs(there), 4000)
  # nothing to learn, nothing from the chosen rows
  given <- y ~ gp(x, kernel = kernel_se(0.5), points = matrix(seq(-2, 2, 0.5)), standardize = FALSE)
  expect_same_fit(given, d, chunks_of(d), engine = engine_gaussian(integrate = FALSE),
                  prior = list(gp = prior_ridge(variance = 2)))
  # the work is that of all rows: with very many no more than 200 points
  enough <- enough_points
  rows <- NULL
  local_replace("enough_points", function(basis, part, parts, n) {
    rows <<- c(nrow(basis$rows), n)
    enough(basis, part, parts, n)
  })
  bsvm(y ~ gp(x), chunks_of(d))
  expect_lt(rows[1L], 1300)
  expect_equal(rows[2L], 4000)
})

test_that("a streamed fit keeps some rows, which pictures and averages are of", {
  d <- streamed_data(900)
  here <- bsvm(y ~ x + z + (1 | g), d, weights = 1 + k, engine = engine_gaussian(integrate = FALSE))
  there <- bsvm(y ~ x + z + (1 | g), chunks_of(d, 70), weights = 1 + k)
  rows <- there$streamed$rows
  expect_identical(rows$x, d$x) # all, if there are no more than a thousand
  expect_identical(there$streamed$weight, 1 + d$k)
  drawn <- function(fit) {
    set.seed(1)
    ggplot2::layer_data(plot(fit, "effects", pars = "x"))$y
  }
  skip_if_not_installed("ggplot2")
  expect_equal(drawn(there), drawn(here), tolerance = 1e-12)
  set.seed(2)
  of_source <- importance(there, times = 2)
  set.seed(2)
  expect_equal(of_source, importance(here, times = 2), tolerance = 1e-12)
  skip_if_not_installed("mgcv")
  long <- bsvm(y ~ x + gp(x, z, f, kernel = kernel_se(5), points = 40), chunks_of(streamed_data(2500)))
  expect_equal(nrow(long$streamed$rows), 1000)
  expect_s3_class(plot(long, "gp"), "ggplot")
  none <- bsvm(y ~ x, chunks_of(d), keep_data = FALSE)
  expect_null(none$streamed$rows)
  expect_refusal(plot(none, "effects"), "unsupported", "keep_data = TRUE")
  expect_null(update(none, . ~ . + z)$streamed$rows)
  expect_identical(update(there, . ~ x)$streamed$rows$x, d$x)
})

test_that("the plan of a long fit says how often the rows are read", {
  d <- streamed_data(600)
  local_replace("least_told", 0)
  plan <- function(...) {
    said <- capture.output(suppressWarnings(bsvm(y ~ x, chunks_of(d), ...)), type = "message")
    grep("600 rows of 2 columns in 1 file", said, value = TRUE)
  }
  expect_match(plan(), "read about 50 times, at least .* s each; about .* MiB of memory$")
  hinge <- function(engine, ...) plan(likelihood = "hinge", engine = engine, ...)
  expect_match(hinge(engine_vb()), "read about 20 times")
  expect_match(hinge(engine_gibbs(draws = 5, burnin = 5, thin = 2, chains = 2)), "at least 30 times")
  expect_match(hinge(engine_em(), prior = prior_ridge(variance = 1)), "about 4 times")
  expect_length(plan(control = bsvm_control(verbose = FALSE)), 0L)
})

test_that("bases are made from rows spread evenly, with levels and extremes", {
  d <- streamed_data(3000)
  local_piece_rows(1000L)
  local_replace("most_spread_rows", 100)
  parts <- parse_formula(y ~ s(x) + f, d)
  spill <- spill_source(bsvm_source(chunks_of(d)), c("x", "f", "y"))
  on.exit(drop_spill(spill), add = TRUE)
  found <- rows_spread(spill, parts, row_chooser(parts, list(), NULL), TRUE)
  levels <- which(!duplicated(d$f) | !duplicated(d$y))
  wanted <- c(round(seq(1, 3000, length.out = 100)), which.min(d$x), which.max(d$x), levels)
  expect_equal(found$at, sort(unique(wanted)))
  expect_identical(found$prototype$x, d$x[found$at])
  expect_true(all(found$spread))
  # kernels are learned without the rows that are there for levels of groups
  parts <- parse_formula(y ~ gp(x) + f + (1 | g), d)
  grouped <- spill_source(bsvm_source(chunks_of(d)), c("x", "f", "g", "y"))
  on.exit(drop_spill(grouped), add = TRUE)
  with_groups <- rows_spread(grouped, parts, row_chooser(parts, list(), NULL), TRUE)
  expect_true(all(which(!duplicated(d$g)) %in% with_groups$at))
  expect_identical(with_groups$at[with_groups$spread], found$at)
  # a level of a group that a kernel is for keeps its rows
  expect_identical(groups_alone(parse_formula(y ~ gp(x, by = g) + (x | g), d)), character(0))
  fit <- bsvm(y ~ gp(x, points = 5) + f + (1 | g), chunks_of(d))
  expect_identical(fit$bases[[1L]]$learned$rows, length(found$at))
})

test_that("terms that need all rows are refused before the source is read", {
  d <- streamed_data(100)
  for (refused in list(function(data) bsvm(y ~ factors(x, z, k = 1), data),
                       function(data) bsvm(y ~ x, data, engine = engine_slice()),
                       function(data) bsvm(y ~ gp(x), data, engine = engine_ecm()),
                       function(data) bsvm(z ~ x, data, likelihood = likelihood_laplace(~ x)),
                       function(data) bsvm(cbind(x, z) ~ k, data, likelihood = "gaussian"))) {
    read <- 0
    rows <- chunks_of(d)
    counted <- function(reset) {
      read <<- read + !reset
      rows(reset)
    }
    expect_refusal(refused(counted), "unsupported", "data frame")
    expect_lte(read, 1) # for the names of the columns
  }
  expect_refusal(bsvm(cbind(k, k) ~ x, chunks_of(d)), "unsupported", "Give each row twice")
})

test_that("responses of numbers are checked in all rows of a source", {
  d <- streamed_data(2500)
  local_piece_rows(1000L)
  refused <- function(change, class, words, formula = z ~ x, likelihood = "gaussian", ...) {
    expect_refusal(bsvm(formula, chunks_of(change(d)), likelihood = likelihood, ...), class, words)
  }
  at_end <- function(value) function(d) transform(d, z = replace(z, 2400, value))
  refused(at_end(Inf), "missing", "z (1)")
  refused(at_end(-1e200), "response", "at most 1e150")
  refused(at_end(0), "missing", "the response", log(z) ~ x)
  refused(identity, "response", c("`f` must be numbers", "two classes"), f ~ x)
  refused(function(d) transform(d, z = z * 1e-160), "response", "Rescale it")
  refused(function(d) transform(d, z = 7), "response", "2500 rows of the value 7")
  refused(identity, "unsupported", "parameters that are inferred", engine = engine_gibbs())
  refused(identity, "weights", "response of classes", class.weights = c(1, 2))
  refused(function(d) transform(d, k = replace(k, 2400, 2e7)), "offset", "sizes up to",
          offset = k)
  refused(identity, "response", "fitted exactly by", I(2 * x) ~ x)
  d$rare <- replace(numeric(2500), c(1203, 2222, 2333), c(5, 4, 3)) # in no row of the sample
  expect_same_fit(rare ~ x, d, chunks_of(d), likelihood = "gaussian",
                  engine = engine_gaussian(integrate = FALSE))
  # numbers without a likelihood of numbers: no row of them is kept
  expect_refusal(bsvm(z ~ x, chunks_of(d)), "response", c("two classes", "likelihood_eps"))
})

test_that("draws of sources are those of rows in memory without moves, to the bit", {
  d <- streamed_data(16000, levels = 90)
  local_small_shards()
  compare <- function(formula, ...) {
    here <- drawn_few(formula, d, mixing = FALSE, ...)
    there <- drawn_few(formula, chunks_of(d), ...)
    expect_gt(there$streamed$shards, 6)
    expect_identical(there$posterior, here$posterior)
    expect_identical(there$engine[c("parameters", "label")], here$engine[c("parameters", "label")])
    there
  }
  fit <- compare(y ~ x + f)
  expect_output(print(fit), "plain sampler")
  compare(y ~ x + (x | g), weights = 1 + k)
  compare(y ~ x + z + f, prior = prior_spike_slab(), offset = z / 10)
  compare(y ~ x + (1 | id), prior = prior_laplace_zero(0.3))
  expect_refusal(drawn_few(y ~ x, chunks_of(d), mixing = TRUE), "unsupported",
                 c("mixing = TRUE", "Leave `mixing` out"))
  new <- streamed_data(500, levels = 90, seed = 2)
  rownames(new) <- NULL
  grouped <- compare(y ~ x + (1 | g))
  expect_identical(predict(grouped, chunks_of(new, 99), type = "link", interval = TRUE),
                   predict(grouped, new, type = "link", interval = TRUE))
})

test_that("a checkpoint of a source is of rows in its units", {
  d <- streamed_data(700)
  file <- tempfile()
  on.exit(unlink(file))
  fit <- function(...) drawn_few(y ~ x + z, chunks_of(d), checkpoint = file, ...)
  fit()
  expect_refusal(fit(draws = 8, standardize = FALSE), "checkpoint", "of other data")
  expect_true(fit(draws = 8)$sampling$resumed)
})

test_that("weights, offsets, weights of classes and priors are those of rows in memory", {
  d <- streamed_data()
  d$y <- as.integer(d$y) - 1L
  expect_same_fit(y ~ x + offset(z / 10), d, chunks_of(d), weights = 1 + k, engine = engine_vb(),
                  likelihood = "hinge")
  expect_same_fit(y ~ x + f, d, chunks_of(d), offset = z / 5, class.weights = c("1" = 3))
  expect_same_fit(y ~ x + z, d, chunks_of(d), prior = prior_flat(), standardize = FALSE)
  expect_same_fit(y ~ x + z + f, d, chunks_of(d), prior = prior_laplace_zero(0.3),
                  engine = engine_vb(), likelihood = "hinge")
  expect_same_fit(y ~ x + f, d, chunks_of(d), contrasts = list(f = "contr.sum"))
})

test_that("rows of weight zero and rows with missing values are left out", {
  d <- streamed_data()
  zero <- bsvm(y ~ x + f, chunks_of(d), weights = k, engine = engine_vb(), likelihood = "hinge")
  here <- bsvm(y ~ x + f, d[d$k > 0, ], weights = k, engine = engine_vb(), likelihood = "hinge")
  expect_identical(zero$posterior, here$posterior)
  expect_identical(nobs(zero), sum(d$k > 0))
  d$x[c(3, 4000)] <- NA
  expect_error(bsvm(y ~ x + f, chunks_of(d)), "x \\(2\\) of 5000 rows", class = "bsvm_error_missing")
  omitted <- bsvm(y ~ x + f, chunks_of(d), na.action = na.omit)
  expect_identical(omitted$posterior, bsvm(y ~ x + f, d, na.action = na.omit)$posterior)
  d$x[5] <- Inf
  expect_error(bsvm(y ~ x, chunks_of(d)), "infinite", class = "bsvm_error_missing")
  d$x <- 1
  d$x[4999] <- 0
  expect_error(bsvm(y ~ log(x), chunks_of(d)), "infinite", class = "bsvm_error_missing")
})

test_that("files and queries are sources, too", {
  d <- streamed_data(2000)
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE), add = TRUE)
  files <- file.path(folder, c("one.csv", "two \u00e9.csv"))
  write.csv(d[1:900, ], files[1], row.names = FALSE)
  write.csv(d[901:2000, ], files[2], row.names = FALSE)
  from_files <- read.csv(files[1])
  from_files <- rbind(from_files, read.csv(files[2]))
  fit <- bsvm(y ~ x + f, files)
  expect_identical(coef(fit), coef(bsvm(y ~ x + f, from_files)))
  expect_identical(predict(fit, files, type = "prob"),
                   {p <- predict(fit, from_files, type = "prob"); rownames(p) <- NULL; p})
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  DBI::dbWriteTable(con, "d", from_files)
  query <- bsvm_source(con, query = "SELECT * FROM d WHERE x > -1", chunk_size = 77)
  expect_identical(coef(bsvm(y ~ x + f, query)),
                   coef(bsvm(y ~ x + f, from_files[from_files$x > -1, ])))
})

test_that("predictions of a source are those of a data frame", {
  d <- streamed_data(2000)
  fit <- bsvm(y ~ x + (1 | g), chunks_of(d))
  new <- streamed_data(1000, seed = 2)
  rownames(new) <- NULL
  expect_identical(predict(fit, chunks_of(new, 99)), unname(predict(fit, new)))
  expect_identical(predict(fit, chunks_of(new, 99), type = "link", interval = TRUE),
                   predict(fit, new, type = "link", interval = TRUE))
  prob <- predict(fit, new, type = "prob")
  rownames(prob) <- NULL
  expect_identical(predict(fit, chunks_of(new, 99), type = "prob"), prob)
})

test_that("predictions of a source have the variables of smooths, scales and offsets", {
  skip_if_not_installed("mgcv")
  d <- streamed_data(300)
  new <- streamed_data(100, seed = 2)
  rownames(new) <- NULL
  numbers <- bsvm(z ~ x + offset(k / 10), d, likelihood = likelihood_gaussian(scale = ~ id))
  expect_identical(predict(numbers, chunks_of(new, 13), interval = TRUE),
                   predict(numbers, new, interval = TRUE))
  smooth <- bsvm(y ~ s(x) + s(z, by = k), d)
  expect_identical(predict(smooth, chunks_of(new, 13), type = "link"),
                   unname(predict(smooth, new, type = "link")))
})

test_that("a fit of a source keeps no rows and says so", {
  d <- streamed_data(2000)
  fit <- bsvm(y ~ x + f, chunks_of(d))
  expect_length(fit$y, 0L)
  expect_null(fit$data)
  expect_lt(object.size(serialize(fit, NULL)), 2e5)
  for (f in list(fitted, residuals, weights, predict, loo, support_vectors, model.frame, simulate)) {
    expect_error(f(fit), "read from a source", class = "bsvm_error_unsupported")
  }
  expect_output(print(summary(fit, details = TRUE)), "2000 rows")
  expect_true(is.na(glance(fit)$n_support))
  expect_identical(dim(update(fit, . ~ . + z, data = chunks_of(d))$posterior$mean), NULL)
})

test_that("point estimates of sources are those of rows in memory", {
  d <- streamed_data(3000)
  d$n <- d$x + d$z + rnorm(3000)
  ridge <- prior_ridge(variance = 1)
  em <- engine_em()
  # all rows are kept
  expect_same_point <- function(formula, ..., engine = em) {
    here <- bsvm(formula, d, likelihood = "hinge", engine = engine, ...)
    there <- bsvm(formula, chunks_of(d), likelihood = "hinge", engine = engine, ...)
    there$posterior$multipliers <- here$posterior$multipliers
    expect_identical(what_is_found(there), what_is_found(here))
  }
  expect_same_point(y ~ x * f, prior = ridge, weights = 1 + k, offset = z)
  expect_same_point(y ~ x + z, prior = prior_lasso(nu = c(0.01, 0.1)))
  expect_same_point(y ~ x + z, prior = prior_lasso(), engine = engine_ecme())
  set.seed(1)
  here <- bsvm(y ~ x + z, d, prior = prior_bridge(nu = 0.1, alpha = 0.5), likelihood = "hinge",
               engine = em)
  set.seed(1)
  there <- bsvm(y ~ x + z, chunks_of(d), prior = prior_bridge(nu = 0.1, alpha = 0.5),
                likelihood = "hinge", engine = em)
  expect_identical(coef(there), coef(here))

  grouped <- function(data) {
    bsvm(y ~ x + (1 | g), data, prior = list(ridge, g = ridge), likelihood = "hinge", engine = em)
  }
  here <- grouped(d) # whose rows are in another order
  there <- grouped(chunks_of(d))
  expect_equal(there$posterior$objective, here$posterior$objective, tolerance = 1e-10)
  expect_equal(ranef(there), ranef(here), tolerance = 1e-6)
  expect_equal(predict(there, d[1:9, ]), predict(here, d[1:9, ]), tolerance = 1e-6)
  expect_output(print(summary(there, details = TRUE)), "3000 rows")
  numbers <- function(data) {
    bsvm(n ~ x, data, prior = ridge, likelihood = likelihood_quantile(0.3, scale = 1), engine = em)
  }
  expect_equal(coef(numbers(chunks_of(d))), coef(numbers(d)), tolerance = 1e-12) # two hinges a row
  for (fit in list(there, numbers(chunks_of(d)))) {
    expect_error(support_vectors(fit), class = "bsvm_error_unsupported")
  }
  expect_refusal(support_vectors(there), "unsupported", c("support_vectors()", "source"))
  for (engine in list(engine_em(accelerate = FALSE), engine_em(annealing = 10))) {
    expect_refusal(bsvm(y ~ x, chunks_of(d), prior = ridge, likelihood = "hinge", engine = engine),
                   "unsupported", c("accelerate", "annealing", "data frame"))
  }
})

test_that("point estimates of more rows than are kept have the optimum of all of them", {
  own <- bsvm:::estimate_options
  local_replace("estimate_options", function(...) c(own(...), most_numbers = 1))
  d <- streamed_data(30000, levels = 100)
  ridge <- prior_ridge(variance = 1)
  models <- list(list(y ~ x + z, ridge), list(y ~ x + (1 | g), list(ridge, g = ridge)))
  for (model in models) {
    fit <- function(data) {
      bsvm(model[[1L]], data, prior = model[[2L]], likelihood = "hinge", engine = engine_em())
    }
    here <- fit(d)
    there <- fit(chunks_of(d, 7000))
    expect_lt(there$passes, 15)
    expect_lt(there$posterior$gap, 1e-10)
    expect_lt(there$posterior$dual, here$posterior$objective * (1 + 1e-12))
    expect_equal(there$posterior$objective, here$posterior$objective, tolerance = 1e-10)
    expect_equal(coef(there), coef(here), tolerance = 1e-5)
    expect_equal(dim(there$trace), c(there$passes, 2L))
    expect_warning(update(there, data = chunks_of(d), control = bsvm_control(max_passes = 2)),
                   "2 readings of all rows.*Raise `max_passes`", class = "bsvm_warning_convergence")
  }
})

test_that("what cannot be streamed is refused, with what to write", {
  d <- streamed_data(500)
  source <- chunks_of(d)
  refused <- function(...) expect_error(bsvm(...), class = "bsvm_error_unsupported")
  refused(y ~ gp(x, infer = "all"), source)
  refused(y ~ x, source, engine = engine_slice())
  refused(y ~ x + (1 | g), source, engine = engine_gaussian())
  refused(y ~ x, source, subset = x > 0)
  refused(y ~ x, source, na.action = na.exclude)
  expect_error(bsvm(x ~ z, source), class = "bsvm_error_response")
  for (term in c("scale(x)", "poly(x, 2)", "I(x - mean(x))", "rank(x)", "cumsum(x)", "seq_along(x)",
                 "I(x / max(x))", "c(0, x[-length(x)])", "cut(x, 3)")) {
    expect_error(bsvm(reformulate(term, "y"), source), "depend on other rows",
                 class = "bsvm_error_unsupported")
  }
  expect_error(bsvm(y ~ nothing, source), "does not have `?nothing", class = "bsvm_error_data")
  one_class <- d[d$y == "yes", ]
  expect_refusal(bsvm(y ~ x, chunks_of(one_class)), "response",
                 c(paste("all", nrow(one_class), "rows of the source"), "'yes'"))
  expect_error(bsvm(y ~ x, chunks_of(d), weights = -k), class = "bsvm_error_weights")
  expect_error(bsvm(cbind(k, 3 - k) ~ x, chunks_of(d)), class = "bsvm_error")
})

test_that("levels are those of the rows that take part, wherever these are", {
  local_piece_rows(128L)
  d <- streamed_data(2500)
  d$id[2400] <- 99L # rows after the first 1000
  d$k[2300] <- 9L
  d$t <- d$f
  d$t[2200] <- "only here"
  d$x0 <- replace(d$x, c(5, 2200), NA)
  vb <- engine_vb()
  gaussian <- engine_gaussian(integrate = FALSE)
  for (f in list(y ~ factor(id) + x, y ~ paste(f, k), y ~ ifelse(k > 5, "big", "small"),
                 factor(k > 5) ~ x, I(x + z > 1) ~ z)) {
    expect_same_fit(f, d, chunks_of(d), engine = gaussian)
  }
  expect_same_fit(y ~ x + (1 | f:id), d, chunks_of(d), engine = vb, likelihood = "hinge")
  for (f in list(y ~ x0 + t, y ~ is.na(x0) + z, y ~ ifelse(is.na(x0), 0, x0))) {
    expect_same_fit(f, d, chunks_of(d), engine = gaussian, na.action = na.omit)
  }
  expect_same_fit(y ~ x0 + (1 | t), d, chunks_of(d), engine = vb, likelihood = "hinge",
                  na.action = na.omit)
  expect_same_fit(y ~ x, d, chunks_of(d), engine = gaussian, na.action = na.omit,
                  weights = ifelse(k == 0, NA, 1))
  zero <- function(formula, weights) {
    d$w <- weights
    here <- bsvm(formula, d, weights = w, engine = vb, likelihood = "hinge")
    there <- bsvm(formula, chunks_of(d), weights = w, engine = vb, likelihood = "hinge")
    expect_identical(what_is_found(there), what_is_found(here))
  }
  zero(y ~ x + f, as.numeric(d$f != "low"))
  zero(y ~ x + (x | g), as.numeric(d$g != "s05")) # no row of a level takes part
  zero(y ~ x + (1 | g), as.numeric(seq_len(2500) > 300)) # nor of the first pieces
  d$y <- ifelse(d$k == 0, "third", as.character(d$y))
  zero(y ~ x, as.numeric(d$k > 0))
})

test_that("weights and offsets are checked as in memory", {
  local_piece_rows(128L)
  d <- streamed_data(600)
  refused <- function(class, ...) expect_error(bsvm(y ~ x, chunks_of(d), ...), class = class)
  refused("bsvm_error_weights", weights = ifelse(k == 0, NA, 1))
  refused("bsvm_error_weights", weights = 1 / k)
  refused("bsvm_error_weights", weights = 2)
  refused("bsvm_error_weights", weights = 3e9 + 0 * k) # in all, but not in a piece
  refused("bsvm_error_unsupported", weights = k / mean(k))
  refused("bsvm_error_offset", offset = 1e7 + x)
  refused("bsvm_error_offset", offset = 1)
  refused("bsvm_error_data", weights = 0 * k)
  refused("bsvm_error_unsupported", na.action = function(x) x)
  d$f <- factor(d$f)
  contrasts(d$f) <- contr.sum(3)
  expect_error(bsvm(y ~ f, chunks_of(d)), "contrasts of its own", class = "bsvm_error_source")
  expect_warning(bsvm(y ~ x + (1 | all), chunks_of(transform(d, all = "a"))), "one level",
                 class = "bsvm_warning_group")
})

test_that("no file is left, whatever happens", {
  d <- streamed_data(500)
  left <- function() list.files(tempdir(), "^bsvm-(rows|shards)-")
  before <- left() # what earlier tests distributed goes when R likes
  bsvm(y ~ x, chunks_of(d))
  try(bsvm(y ~ x, chunks_of(d), engine = "gibbs"), silent = TRUE)
  try(bsvm(y ~ I(x - mean(x)), chunks_of(d)), silent = TRUE)
  try(bsvm(y ~ x, chunks_of(d), offset = 1e7 + x), silent = TRUE)
  expect_identical(setdiff(left(), before), character(0))
})

test_that("disk that is too small is said before the work", {
  frame <- list(columns = letters)
  expect_error(check_shard_space(1e9, frame, tempdir(), free = 1e9), "GiB free",
               class = "bsvm_error_disk")
  expect_invisible(check_shard_space(1e9, frame, tempdir(), free = 1e15))
})

test_that("files that cannot be written or read are errors of the disk", {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE), add = TRUE)
  for (name in c("write_shard", "write_value", "deal_by_level")) {
    assign(name, getFromNamespace(name, "bsvm"))
  }
  rows <- list(x = matrix(1), y = 1)
  expect_error(write_shard(file.path(folder, "none", "shard"), rows, 0), class = "bsvm_error_disk")
  deal <- deal_by_level(list(starts = 1, counts = c(1, 1)), folder)
  deal$add(list(x = matrix(0, 2), y = c(-1, 1), group = 1:2))
  writeBin(as.raw(1:9), file.path(folder, "parts-000001"))
  expect_error(deal$finish(), "damaged", class = "bsvm_error_disk")
  skip_if_not(file.exists("/dev/full"))
  expect_error(write_value(1:1e5, "/dev/full", "ab"), "disk may be full", class = "bsvm_error_disk")
})

test_that("a fit of files is updated by their names", {
  folder <- tempfile()
  dir.create(folder)
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  d <- streamed_data(600)
  write.csv(d, "d.csv", row.names = FALSE)
  fit <- bsvm(y ~ x, "d.csv")
  again <- update(fit, . ~ . + f)
  expect_identical(coef(again), coef(bsvm(y ~ x + f, "d.csv")))
  write.csv(data.frame(a = 1), "other.csv", row.names = FALSE)
  expect_error(predict(fit, "other.csv"), "lacks all variables of the fit: `x`",
               class = "bsvm_error_newdata")
})

test_that("a time limit ends the core's own work", {
  d <- cluster_data()
  limited <- function() {
    setTimeLimit(elapsed = 1, transient = TRUE)
    on.exit(setTimeLimit())
    bsvm(y ~ x, bsvm_source(chunks_of(d)), engine = engine_vb(accelerate = FALSE),
         likelihood = "hinge", control = bsvm_control(tol = 1e-300, max_passes = 100000L))
  }
  expect_identical(class(tryCatch(limited(), error = identity))[1L], "simpleError")
})
