# Terms of leave-one-out cross-validation against brute force, and what comes of them against
# posteriors without the row, or the group, by sums over grids.

bsvm <- paper_bsvm

skip_on_cran()

d <- grouped_data()
d$w <- rep(c(1, 2, 0.5, 1), 30)
d$o <- rep(c(0, 0.3, -0.2), 40)
y <- ifelse(d$y == "yes", 1, -1)
ns <- asNamespace("bsvm")

terms_of <- function(fit, by, threads = 1) ns$loo_terms(fit, by, threads, parent.frame())

# Terms of draw s by brute force; `o`: links of the rows without the effects, S x n.
compare_terms <- function(fit, o, z, codes, draws, tolerance, w = rep(1, nrow(z)), ...) {
  name <- names(fit$groups)[ns$integrable_factor(fit$groups)]
  covariance <- ns$covariance_draws(fit, name)
  row <- terms_of(fit, "row")
  group <- terms_of(fit, "group")
  for (s in draws) {
    exact <- grid_terms(codes, y, o[s, ], z, matrix(covariance[, , s], ncol(z)), w, ...)
    expect_close(row[s, ], exact$row, tolerance)
    expect_close(group[s, ], exact$group, tolerance)
  }
}

test_that("one effect, weights and offset", {
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, weights = w, offset = o, draws = 20))
  o <- posterior_linpred(fit, re_formula = NA)
  compare_terms(fit, o, matrix(1, 120), as.integer(d$g), c(1, 40), 1e-6, d$w, nodes = 24001)
  slope <- as_normalised(gibbs_fit(y ~ x1 + (0 + t | g), d, draws = 20))
  compare_terms(slope, posterior_linpred(slope, re_formula = NA), cbind(d$t), as.integer(d$g), 7,
                1e-6)
})

test_that("two effects, correlated and independent", {
  for (formula in c(y ~ x1 + (t | g), y ~ x1 + (t || g))) {
    fit <- as_normalised(gibbs_fit(formula, d, draws = 20))
    o <- posterior_linpred(fit, re_formula = NA)
    compare_terms(fit, o, cbind(1, d$t), as.integer(d$g), 29, 1e-3, nodes = 301)
  }
})

test_that("a fixed variance, and effects that were not kept", {
  fixed <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, draws = 20,
                                   prior = list(prior_ridge(0.01), g = prior_ridge(variance = 2))))
  o <- posterior_linpred(fixed, re_formula = NA)
  compare_terms(fixed, o, matrix(1, 120), as.integer(d$g), 5, 1e-6)
  forgotten <- fixed
  forgotten$posterior$effects <- NULL
  expect_identical(terms_of(forgotten, "row"), terms_of(fixed, "row"))
})

test_that("of several factors the largest is integrated, the others are as drawn", {
  d$h <- factor(rep(c("p", "q", "r"), 40))
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | h) + (1 | g), d, draws = 20))
  o <- posterior_linpred(fit, re_formula = ~ (1 | h))
  compare_terms(fit, o, matrix(1, 120), as.integer(d$g), c(2, 33), 1e-6)
  three <- as_normalised(gibbs_fit(y ~ x1 + (t + x2 | g) + (1 | h), d, draws = 20))
  o <- posterior_linpred(three, re_formula = ~ (t + x2 | g))
  compare_terms(three, o, matrix(1, 120), as.integer(d$h), 11, 1e-6)
})

test_that("without groups, and where none can be integrated, rows given the draws", {
  plain <- as_normalised(gibbs_fit(y ~ x1, d, weights = w, draws = 20))
  expect_close(terms_of(plain, "row"), log_lik(plain), 1e-12)
  three <- as_normalised(gibbs_fit(y ~ x1 + (t + x2 | g), d, draws = 20))
  expect_close(terms_of(three, "row"), log_lik(three), 1e-12)
})

test_that("a row that is alone in its group, rows of weight zero, many rows in a group", {
  lonely <- transform(d, g = factor(ifelse(seq_along(y) == 5, "alone", as.character(g))))
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), lonely, draws = 10))
  at <- match("alone", fit$groups$g$levels)
  expect_close(terms_of(fit, "row")[, 5], terms_of(fit, "group")[, at], 1e-5)
  some <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, weights = as.numeric(x2 > 2), draws = 10))
  expect_equal(dim(terms_of(some, "row")), c(20, sum(d$x2 > 2)))
  two <- transform(d, g = factor(rep(1:2, 60)))
  many <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), two, draws = 10))
  o <- posterior_linpred(many, re_formula = NA)
  compare_terms(many, o, matrix(1, 120), as.integer(two$g), c(1, 13), 1e-6)
})

test_that("threads do not change a bit", {
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, draws = 20))
  for (by in c("row", "group")) expect_identical(terms_of(fit, by, 2), terms_of(fit, by))
})

test_that("no more processes than terms or processors are started", {
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, draws = 20))
  expect_identical(useful_cores(50, fit, "row", 8), 8L)
  expect_identical(useful_cores(5, fit, "row", 8), 5L)
  expect_identical(useful_cores(500, fit, "row", 1000), 120L)
  expect_identical(useful_cores(500, fit, "group", 1000), nlevels(d$g))
  expect_identical(useful_cores(3, fit, "row", NA), 3L)
  by_one <- suppressWarnings(loo::loo(fit))
  expect_identical(suppressWarnings(loo::loo(fit, cores = 50)), by_one)
  expect_identical(suppressWarnings(loo::waic(fit, cores = 50)),
                   suppressWarnings(loo::waic(fit)))
})

test_that("of very many draws with effects to integrate out some are used, at equal distances", {
  two <- with_seed(1, suppressWarnings(bsvm::bsvm(
    y ~ x1 + (t | g), grouped_data(60, 6), likelihood = "normalized",
    engine = engine_slice(draws = 700, burnin = 100, chains = 2)
  )))
  some <- bsvm:::thinned(two)
  expect_identical(dim(some$posterior$coefficients), c(2L, 500L, 2L))
  expect_identical(dim(terms_of(some, "row")), c(1000L, 60L))
  all <- suppressWarnings(loo::loo(terms_of(two, "row")))
  expect_close(suppressWarnings(loo(two))$estimates["elpd_loo", 1], all$estimates["elpd_loo", 1],
               0.5)
  plain <- with_seed(1, suppressWarnings(bsvm::bsvm(
    y ~ x1, grouped_data(60, 6), likelihood = "normalized",
    engine = engine_slice(draws = 5000, burnin = 100, chains = 2)
  )))
  expect_identical(bsvm:::thinned(plain), plain)
})

test_that("loo() and waic() give what the package loo makes of the terms", {
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d))
  for (by in c("row", "group")) {
    terms <- terms_of(fit, by)
    array <- array(terms, c(150, 2, ncol(terms)))
    own <- suppressWarnings(loo::loo(fit, by = by))
    theirs <- suppressWarnings(loo::loo(array, r_eff = loo::relative_eff(exp(array))))
    expect_s3_class(own, "psis_loo")
    expect_close(own$pointwise, theirs$pointwise, 1e-10)
    expect_close(own$estimates, theirs$estimates, 1e-10)
    expect_close(suppressWarnings(loo::waic(fit, by = by))$estimates,
                 suppressWarnings(loo::waic(terms))$estimates, 1e-10)
  }
  expect_identical(rownames(suppressWarnings(loo::loo(fit, by = "group"))$pointwise), levels(d$g))
  expect_false(is.null(suppressWarnings(loo::loo(fit, save_psis = TRUE))$psis_object))
})

test_that("fits to the same rows compare, those by row and by group do not", {
  one <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d))
  other <- as_normalised(gibbs_fit(y ~ x2 + (1 | g), d))
  of <- function(...) suppressWarnings(loo::loo(...))
  both <- expect_silent(loo::loo_compare(of(one), of(other)))
  expect_identical(rownames(both)[1], "model1")
  expect_error(loo::loo_compare(of(one), of(one, by = "group")), "number of data points")
})

# ---- what it is all for: posteriors without a row or a group ------------------------------------

# y ~ offset(o) + (1 | g) with intercept N(0, 2) and an inverse-gamma(2, 1) variance: the posterior
# on a grid of (b, log sd).
tiny_data <- function() {
  with_seed(5, {
    tiny <- data.frame(g = gl(8, 4, length = 30), o = rnorm(30, 0, 0.5))
    tiny$y <- factor(0.2 + tiny$o + 0.7 * rnorm(8)[tiny$g] + rnorm(30, 0, 0.7) > 0)
  })
  tiny
}

tiny_fit <- function(engine) {
  prior <- list("(Intercept)" = prior_ridge(variance = 2),
                g = prior_ridge(variance = prior_inv_gamma(2, 1)))
  with_seed(3, unchecked(bsvm(y ~ offset(o) + (1 | g), tiny_data(), prior = prior,
                              engine = engine, keep_data = TRUE,
                              control = bsvm_control(verbose = FALSE))))
}

# Points (b, log sd), log prior at them, and log p of all rows of each group less those of `out`.
tiny_grid <- function(points = 41, nodes = 401) {
  tiny <- tiny_data()
  grid <- expand.grid(b = seq(-2.2, 2.8, length.out = points),
                      t = seq(log(0.15), log(4), length.out = points))
  e <- seq(-8, 8, length.out = nodes)
  log_row <- lapply(seq_along(tiny$y), function(i) {
    sign <- if (tiny$y[i] == "TRUE") 1 else -1
    log_hinge(sign * (grid$b + tiny$o[i] + outer(exp(grid$t), e)))
  })
  log_prior <- dnorm(grid$b, 0, sqrt(2), log = TRUE) +
    log_inv_gamma(exp(2 * grid$t), 2, 1) + 2 * grid$t
  log_group <- function(rows) {
    sum <- Reduce(`+`, log_row[rows], outer(0 * grid$b, dnorm(e, log = TRUE), `+`))
    top <- apply(sum, 1, max)
    top + log(rowSums(exp(sum - top))) + log(e[2] - e[1])
  }
  members <- split(seq_along(tiny$y), tiny$g)
  list(grid = grid, log_prior = log_prior, log_group = log_group, members = members,
       whole = vapply(members, log_group, log_prior))
}

log_mean <- function(log_weight, value) {
  total <- function(x) max(x) + log(sum(exp(x - max(x))))
  total(log_weight + value) - total(log_weight)
}

# Refits: log p(y_i | y_-i) of each row, and log p(y_g | y_-g) of each group.
tiny_refits <- function(at) {
  log_joint <- at$log_prior + rowSums(at$whole)
  of_row <- function(i) {
    g <- which(vapply(at$members, function(rows) i %in% rows, TRUE))
    without <- at$log_group(setdiff(at$members[[g]], i))
    log_mean(log_joint - at$whole[, g] + without, at$whole[, g] - without)
  }
  list(row = vapply(seq_len(30), of_row, 0),
       group = unname(vapply(seq_along(at$members), function(g) {
         log_mean(log_joint - at$whole[, g], at$whole[, g])
       }, 0)))
}

# A fit whose draws are points of the grid. `t`: log sd of the effects.
with_points <- function(fit, b, t, chains) {
  draws <- length(b) / chains
  names <- dimnames(fit$posterior$coefficients)[[1]]
  fit$posterior$coefficients <- array(b, c(1, draws, chains), list(names, NULL, NULL))
  last <- length(fit$posterior$variances)
  fit$posterior$variances[[last]] <- array(exp(2 * t), c(1, draws, chains))
  fit$posterior$effects <- NULL
  as_normalised(fit)
}

test_that("terms at all points of a posterior give refits without the row, to many digits", {
  at <- tiny_grid()
  fit <- with_points(tiny_fit(engine_gibbs(5, 5, chains = 1)), at$grid$b, at$grid$t, 1)
  exact <- tiny_refits(at)
  log_posterior <- at$log_prior + rowSums(at$whole)
  for (by in c("row", "group")) {
    terms <- terms_of(fit, by)
    expect_close(-apply(-terms, 2, log_mean, log_weight = log_posterior), exact[[by]], 1e-6)
  }
})

expect_refits <- function(fit, exact) {
  row <- loo::loo(fit)
  expect_lt(max(row$diagnostics$pareto_k), 0.7)
  expect_close(row$pointwise[, "elpd_loo"], exact$row, 0.02)
  expect_close(row$estimates["elpd_loo", 1], sum(exact$row), 0.1)
  expect_close(suppressWarnings(loo::waic(fit))$estimates["elpd_waic", 1], sum(exact$row), 0.3)
  group <- suppressWarnings(loo::loo(fit, by = "group"))
  expect_close(group$pointwise[, "elpd_loo"], exact$group, 0.05)
  expect_close(group$estimates["elpd_loo", 1], sum(exact$group), 0.2)
}

test_that("loo and waic from exact draws are those of refits", {
  at <- tiny_grid()
  log_posterior <- at$log_prior + rowSums(at$whole)
  drawn <- with_seed(8, sample(nrow(at$grid), 4000, TRUE, exp(log_posterior - max(log_posterior))))
  fit <- tiny_fit(engine_gibbs(5, 5, chains = 1))
  fit <- with_points(fit, at$grid$b[drawn], at$grid$t[drawn], 4)
  expect_refits(fit, tiny_refits(at))
})

test_that("loo of the package's own draws is that of brute force refits on 30 rows", {
  prior <- list("(Intercept)" = prior_ridge(variance = 2),
                g = prior_ridge(variance = prior_inv_gamma(2, 1)))
  engine <- engine_slice(draws = 1500, burnin = 300, chains = 4)
  fit <- with_seed(3, unchecked(bsvm(y ~ offset(o) + (1 | g), tiny_data(), prior = prior,
                                     likelihood = likelihood_hinge(normalized = TRUE),
                                     engine = engine, keep_data = TRUE,
                                     control = bsvm_control(verbose = FALSE))))
  expect_refits(fit, tiny_refits(tiny_grid()))
})

test_that("what can't be is refused", {
  pseudo <- gibbs_fit(y ~ x1 + (1 | g), d, engine = engine_gibbs(20, 10, chains = 1))
  for (by in c("row", "group")) {
    expect_refusal(loo::loo(pseudo, by = by), "unsupported", c("loo()", "\"normalized\""))
    expect_refusal(loo::waic(pseudo, by = by), "unsupported", c("waic()", "\"normalized\""))
  }
  fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d, draws = 20))
  expect_refusal(loo::loo(fit, by = "rows"), "argument", "`by`")
  expect_refusal(loo::loo(fit, cores = 0), "argument", "`cores`")
  expect_refusal(loo::loo(fit, newdata = d), "argument", "log_lik()")
  expect_refusal(loo::loo(fit, save_psis = NA), "argument", "`save_psis`")
  plain <- as_normalised(gibbs_fit(y ~ x1, d, draws = 20))
  expect_refusal(loo::loo(plain, by = "group"), "unsupported", c("grouping factor", "by = \"row\""))
  three <- as_normalised(gibbs_fit(y ~ x1 + (t + x2 | g), d, draws = 20))
  expect_refusal(loo::loo(three, by = "group"), "unsupported", c("`g`", "by = \"row\""))
})

test_that("a fit without draws is drawn from, with the priors it has, and says so", {
  prior <- list(prior_ridge(variance = 2), g = prior_ridge(variance = prior_half_t(3, 1)))
  likelihood <- likelihood_hinge(normalized = TRUE)
  fit <- bsvm(y ~ x1 + x2 + (1 | g), d, prior = prior, likelihood = likelihood,
              engine = "gaussian", keep_data = TRUE)
  drawn <- with_seed(1, suppressWarnings(update(
    fit, engine = engine_slice(draws = 1000, burnin = 250)
  )))
  exact <- suppressWarnings(loo(drawn))
  prior <- "not the prior any more"
  expect_message(own <- with_seed(2, suppressWarnings(loo(fit))), "until 400 draws are effective",
                 class = "bsvm_message_draws")
  expect_close(own$estimates["elpd_loo", "Estimate"], exact$estimates["elpd_loo", "Estimate"], 1)
  expect_s3_class(loo_compare(own, exact), "compare.loo")
  grouped <- with_seed(3, suppressMessages(suppressWarnings(waic(fit, by = "group"))))
  expect_identical(nrow(grouped$pointwise), nlevels(d$g))
  message <- tryCatch(with_own_draws(fit, "loo()", environment(), most = 10),
                      bsvm_error_unsupported = conditionMessage)
  expect_match(message, "loo(update(fit, engine = engine_slice()))", fixed = TRUE)
})

test_that("of many draws some are taken, at equal distances from the first to the last", {
  fit <- slice_fit(y ~ x1 + (1 | g), grouped_data(), draws = 150, chains = 2,
                   likelihood = likelihood_hinge(normalized = TRUE))
  local_replace("most_integrals", c(40, 20))
  some <- bsvm:::thinned(fit)$posterior
  all <- fit$posterior
  kept <- match(some$coefficients[1, , 2], all$coefficients[1, , 2])
  expect_length(kept, 20)
  expect_identical(range(kept), c(1L, 150L))
  expect_true(all(diff(kept) %in% 7:8))
  expect_identical(some$effects, all$effects[, kept, ])
  expect_identical(some$variances[[2]], all$variances[[2]][, kept, , drop = FALSE])
})
