# Probabilities against integrate(), draws, formulas written out and glm().

bsvm <- paper_bsvm

d <- grouped_data()
normalised <- likelihood_hinge(normalized = TRUE)
hinge_probability <- function(f) {
  one <- exp(-2 * pmax(1 - f, 0))
  one / (one + exp(-2 * pmax(1 + f, 0)))
}
second <- function(...) unname(predict(..., type = "prob")[, 2])

test_that("averages over a normal law are those of integrate()", {
  cut_at_kinks <- function(m, s) {
    ends <- sort(c(m - 40 * s, m + 40 * s, -1, 1, m - 5 * s, m + 5 * s, m))
    ends <- unique(pmin(pmax(ends, m - 40 * s), m + 40 * s))
    sum(vapply(seq_along(ends[-1]), function(i) {
      z <- (ends[i + 0:1] - m) / s
      integrate(function(z) hinge_probability(m + s * z) * dnorm(z), z[1], z[2],
                rel.tol = 1e-12, subdivisions = 2000)$value
    }, 0))
  }
  cases <- expand.grid(m = c(0, 0.3, 0.999, 1, -1.2, 3, -8), s = 10^seq(-6, 3, 0.75))
  expected <- mapply(cut_at_kinks, cases$m, cases$s)
  expect_close(normal_probability(cases$m, cases$s), expected, 1e-8)
  m <- seq(-5, 5, 0.25)
  expect_close(normal_probability(m, 0 * m), hinge_probability(m), 1e-12)
  expect_close(normal_probability(m, 0 * m + 2) + normal_probability(-m, 0 * m + 2), 1 + 0 * m,
               1e-12)
})

test_that("averages over a normal law have no extremes", {
  law <- expand.grid(mean = c(0, 1, 1e-300, 37, 1e8, 1e150, 1e300, .Machine$double.xmax),
                     sd = c(0, 1e-300, 1e-8, 1, 1e8, 1e17, 1.1e17, 1e150, 1e300))
  p <- normal_probability(law$mean, law$sd)
  expect_true(all(p >= 0.5 & p <= 1))
  expect_equal(normal_probability(-law$mean, law$sd), 1 - p)
  wide <- law$sd > 1e16
  expect_equal(p[wide], pnorm(law$mean / law$sd)[wide])
})

test_that("every map grows with the link, lies in [0, 1] and is one half at zero", {
  m <- c(-Inf, -1e3, seq(-4, 4, 0.1), 1e3)
  m <- m[is.finite(m)]
  maps <- list(function(s) normal_probability(m, s), function(s) pnorm(m / sqrt(1 + s^2)),
               function(s) plogis(spread_odds(m, s, 1.3)))
  for (map in maps) for (s in c(0, 0.1, 1, 30)) {
    p <- map(rep(s, length(m)))
    expect_true(all(p >= 0 & p <= 1) && all(diff(p) >= -1e-15) && p[1] < p[length(p)])
    expect_close(p[which.min(abs(m))], 0.5, 1e-12)
  }
})

test_that("two columns named by the levels, rows that sum to one, NA where the link is", {
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  new <- d[1:5, ]
  new$x1[2] <- NA
  rownames(new) <- letters[1:5]
  p <- predict(fit, new, type = "prob")
  expect_identical(dimnames(p), list(letters[1:5], levels(d$y)))
  expect_identical(unname(is.na(p[, 1])), c(FALSE, TRUE, FALSE, FALSE, FALSE))
  expect_close(rowSums(p[-2, ]), rep(1, 4), 1e-15)
  expect_identical(nrow(predict(fit, new, type = "prob", na.action = na.omit)), 4L)
  expect_identical(dim(predict(fit, new[0, ], type = "prob")), c(0L, 2L))
})

test_that("of draws they are averages of posterior_epred()", {
  for (fit in list(slice_fit(y ~ x1 + (1 | g), d, likelihood = normalised, offset = t),
                   gibbs_fit(y ~ x1 + (1 | g), d))) {
    p <- second(fit, d, map = "likelihood")
    expect_close(p, on_side(unname(colMeans(posterior_epred(fit, d))), fitted(fit)), 1e-12)
  }
})

test_that("of a mixture they are averages over its components", {
  fit <- bsvm(y ~ x1 + (1 | g), d, likelihood = normalised, engine = "gaussian", offset = t)
  fit$posterior$shapes <- NULL # that of known groups is tested below
  rows <- prediction_rows(fit, d, NULL, FALSE, NULL, NULL, environment())
  parts <- component_moments(fit, function(own) posterior_linear(own, rows))
  expect_gt(length(fit$posterior$weights), 2)
  each <- vapply(seq_along(fit$posterior$weights), function(k) {
    normal_probability(parts$mean[, k] + d$t, parts$sd[, k])
  }, numeric(nrow(d)))
  expect_close(second(fit, d), drop(each %*% fit$posterior$weights), 1e-10)
})

test_that("maps are their formulas in the link's mean and sd", {
  fit <- bsvm(y ~ x1 + (1 | g), d, engine = "vb")
  new <- transform(d[1:4, ], g = c("g01", "new", "newer", "g02"))
  link <- predict(fit, new, interval = TRUE, allow_new_levels = TRUE)
  p <- function(map) second(fit, new, allow_new_levels = TRUE, map = map)
  expect_close(p("probit"), pnorm(link$fit / sqrt(1 + link$sd^2)), 1e-12)
  expect_close(p("likelihood"), normal_probability(link$fit, link$sd), 1e-12)
  a <- fit$odds_slope
  # half the coefficients' sd, all of what differs between patients
  between <- c(0, 1, 1, 0) * VarCorr(fit)$g[1]
  used <- (link$sd^2 - between) / 4 + between
  expect_close(p(NULL), plogis(a * link$fit / sqrt(1 + pi / 8 * a^2 * used)), 1e-12)
  expect_identical(p(NULL), p("logistic"))
  map <- structure(list(slope = 2, levels = levels(d$y)), class = "bsvm_calibration_map")
  expect_close(p(map), plogis(2 * link$fit), 1e-12)
})

test_that("the default is the model's own, or learned with the fit", {
  own <- bsvm(y ~ x1, d, likelihood = normalised, engine = "gaussian")
  expect_identical(second(own, d), second(own, d, map = "likelihood"))
  expect_null(own$odds_slope)
  expect_refusal(predict(own, d, type = "prob", map = "logistic"), "unsupported",
                 c("`map = \"logistic\"`", "calibration_map()"))
})

test_that("without spread the slope is that of a logistic regression with Platt's targets", {
  link <- with_seed(1, rnorm(200))
  y <- with_seed(2, ifelse(runif(200) < plogis(1.5 * link), 1, -1))
  w <- rep(1:2, 100)
  target <- c(1 / (sum(w[y < 0]) + 2), 1 - 1 / (sum(w[y > 0]) + 2))[1 + (y > 0)]
  expected <- suppressWarnings(glm(target ~ 0 + link, binomial(), weights = w))
  expect_close(learn_odds_slope(y * link, y, 0 * y, w), coef(expected), 1e-4)
})

test_that("left-out links are near those of fits without the row", {
  d <- binary_data(80)
  control <- prior_ridge(variance = 1)
  fit <- bsvm(y ~ x1 + x2 + x3, d, prior = control, engine = "gaussian")
  refitted <- vapply(seq_len(80), function(i) {
    unname(predict(update(fit, data = d[-i, ]), d[i, ], type = "link"))
  }, 0)
  rows <- prediction_rows(fit, d, NULL, FALSE, NULL, NULL, environment())
  parts <- own_moments(fit, rows)
  y <- ifelse(d$y == "yes", 1, -1)
  shift <- left_out_shift(parts, y, 0, rep(1, 80), list(a = 2, b = 0))
  true_shift <- y * (fitted(fit) - refitted)
  expect_gt(cor(drop(shift %*% parts$weights), true_shift), 0.97)
  expect_lt(abs(mean(shift) / mean(true_shift) - 1), 0.12) # 7 to 10 % too small over four data sets
  draws <- unchecked(bsvm(y ~ x1 + x2 + x3, d, prior = control, engine = engine_gibbs(draws = 8000)))
  drawn <- drawn_shift(draws, rows, y, 0, rep(1, 80), list(a = 2, b = 0),
                       drop(own_moments(draws, rows)$sd))
  expect_gt(cor(drawn, true_shift), 0.98)
  expect_lt(abs(mean(drawn) / mean(true_shift) - 1), 0.15)
})

test_that("weak signals get small slopes: the pseudo-likelihood's own map is too sure, not this", {
  weak <- function(seed) with_seed(seed, {
    x <- matrix(rnorm(120000), 12000)
    data.frame(y = runif(12000) < plogis(0.3 * rowSums(x[, 1:3])), x)
  })
  slopes <- function(engine, d) {
    fit <- bsvm(y ~ ., d[1:4000, ], engine = engine)
    new <- d[-(1:4000), ]
    c(calibration(fit, new)$line[["slope"]],
      calibration(fit, new, map = "likelihood")$line[["slope"]])
  }
  # The slope differs by 0.12 between data sets, its mean over eight by 0.04.
  for (engine in c("vb", "gaussian")) {
    mean <- rowMeans(vapply(5:12, function(seed) slopes(engine, weak(seed)), numeric(2)))
    expect_lt(abs(mean[1] - 1), 0.12)
    expect_lt(mean[2], 0.2)
  }
})

test_that("whatever the penalty makes of the link's size", {
  e <- binary_data(400)
  brier <- function(variance) {
    fit <- bsvm(y ~ 0 + x1 + x2 + x3, e[1:200, ], engine = "vb",
                prior = prior_ridge(variance = variance))
    c(calibration(fit, e[201:400, ])$brier, fit$odds_slope)
  }
  small <- brier(1e-3)
  expect_lt(abs(small[1] / brier(1e-1)[1] - 1), 0.02)
  expect_gt(small[2], 4)
})

test_that("missing predictors of own rows are as those of others: unknown, and not learned from", {
  e <- with_seed(7, {
    e <- data.frame(x1 = rnorm(12000), x2 = rnorm(12000))
    e$y <- runif(12000) < plogis(1.5 * e$x1 - e$x2)
    for (j in c("x1", "x2")) e[[j]][runif(12000) < 0.4] <- NA
    e
  })
  for (engine in c("vb", "gaussian")) {
    fit <- quiet_missing(y ~ x1 + x2, e[1:2000, ], missing = missing_normal(), engine = engine)
    line <- calibration(fit, e[-(1:2000), ])$line
    expect_lt(abs(line[["slope"]] - 1), 0.1)
    expect_lt(abs(line[["intercept"]]), 0.1)
  }
})

test_that("where draws of the effects were not kept the map is of the mean link alone", {
  fit <- gibbs_fit(y ~ x1 + (1 | g), d,
                   engine = engine_gibbs(150, 50, chains = 2, keep_effects = FALSE))
  link <- predict(fit, d, type = "link")
  y <- ifelse(d$y == "yes", 1, -1)
  slope <- learn_odds_slope(y * link, y, 0 * link, rep(1, nrow(d)))
  expect_close(second(fit, d), plogis(slope * link), 1e-10)
  expect_identical(predict(fit, d, threshold = 0.5), predict(fit, d))
})

test_that("probabilities of the normalised model are calibrated on data simulated from it", {
  e <- with_seed(3, {
    x <- matrix(rnorm(3 * 12000), 12000)
    f <- 0.2 + drop(x %*% c(0.8, -0.5, 0.3))
    data.frame(y = runif(12000) < hinge_probability(f), x)
  })
  fit <- bsvm(y ~ ., e[1:2000, ], likelihood = normalised, engine = "gaussian")
  line <- calibration(fit, e[-(1:2000), ])$line
  expect_lt(abs(line[["slope"]] - 1), 0.06) # known to 0.03
  expect_lt(abs(line[["intercept"]]), 0.06)
})

test_that("class and probability agree by every engine and map", {
  fits <- list(
    bsvm(y ~ x1 + (1 | g), d, engine = "vb"), bsvm(y ~ x1 + (1 | g), d, engine = "gaussian"),
    bsvm(y ~ x1 + (1 | g), d, engine = "gaussian", likelihood = normalised),
    bsvm(y ~ x1 + x2, d, engine = "map", prior = prior_ridge(variance = 1)),
    bsvm(y ~ x1 + x2, d, engine = "em", prior = prior_ridge(variance = 1)),
    gibbs_fit(y ~ x1 + (1 | g), d), slice_fit(y ~ x1 + (1 | g), d, likelihood = normalised)
  )
  for (fit in fits) for (map in c("default", "likelihood", "probit")) {
    p <- second(fit, d, map = if (map != "default") map)
    expect_finite(p)
    expect_identical(p >= 0.5, unname(predict(fit, d) == "yes"))
    expect_identical(predict(fit, d, threshold = 0.5), predict(fit, d))
  }
})

test_that("of one draw the spread is nothing, of an infinite one the probability one half", {
  one <- gibbs_fit(y ~ x1, d, draws = 1, burnin = 0, chains = 1)
  expect_finite(second(one, d))
  expect_identical(normal_probability(c(1, -1), c(Inf, Inf)), c(0.5, 0.5))
  expect_identical(learn_odds_slope(c(1, 2), c(1, -1), c(Inf, Inf), c(1, 1)), 1)
})

test_that("without draws and mixtures the maps agree with the class by themselves", {
  fits <- list(bsvm(y ~ x1 + (1 | g), d, engine = "vb"),
               bsvm(y ~ x1 + x2, d, engine = "em", prior = prior_ridge(variance = 1)),
               as_normalised(bsvm(y ~ x1 + (1 | g), d, engine = "vb")))
  for (fit in fits) {
    rows <- prediction_rows(fit, d, NULL, FALSE, NULL, NULL, environment())
    link <- predict(fit, d, type = "link")
    sds <- if (is_point(fit)) list(total = 0, used = 0) else link_sds(fit, rows)
    fit$odds_slope <- 1.3
    for (map in c("logistic", "probit", "likelihood")) {
      expect_identical(mapped_link(map, fit, link, sds) >= 0.5, link >= 0)
    }
    if (!is_point(fit)) {
      expect_identical(mean_probability(fit$posterior, fit, rows, link) >= 0.5, unname(link >= 0))
    }
  }
})

test_that("an average on the other side of one half is put beside one half", {
  expect_identical(on_side(c(0.4, 0.6, 0.3, NA, 0.5, 0.5, 0.6), c(1, -1, -1, NA, -1e-300, 1, 0)),
                   c(beside_half[2], beside_half[1], 0.3, NA, beside_half, 0.5))
  expect_true(beside_half[1] < 0.5 && beside_half[2] > 0.5)
  expect_identical(1 - beside_half, rev(beside_half))
  # most draws below zero, a few far above: the mean link is above
  fit <- as_normalised(gibbs_fit(am ~ mpg, mtcars, draws = 10, chains = 1))
  fit$posterior$coefficients[] <- 0
  fit$posterior$coefficients[1, , ] <- c(rep(-0.5, 9), 20)
  fit$posterior$mean[] <- c(1.55, 0)
  expect_lt(mean(posterior_epred(fit, mtcars[1, ])), 0.5)
  expect_identical(as.character(predict(fit, mtcars[1, ])), "1")
  expect_identical(second(fit, mtcars[1, ]), beside_half[2])
})

test_that("thresholds and costs", {
  fit <- bsvm(y ~ x1, d, engine = "vb")
  p <- second(fit, d)
  expect_identical(unname(predict(fit, d, threshold = 0.3) == "yes"), p >= 0.3)
  expect_identical(predict(fit, d, costs = c(yes = 3, no = 1)), predict(fit, d, threshold = 1 / 4))
  expect_identical(predict(fit, d, costs = c(no = 2, yes = 2)), predict(fit, d))
  expect_identical(unname(predict(fit, d, threshold = 0.3, map = "probit") == "yes"),
                   second(fit, d, map = "probit") >= 0.3)
  expect_refusal(predict(fit, d, threshold = 0.3, costs = c(no = 1, yes = 2)), "argument", "both")
  expect_refusal(predict(fit, d, threshold = 1), "argument", "`threshold`")
  for (costs in list(c(1, 2), c(no = 1, maybe = 2), c(no = 0, yes = 1), c(no = 1), "a",
                     c(no = NA, yes = 1))) {
    expect_refusal(predict(fit, d, costs = costs), "argument", c("`costs`", "'no' and 'yes'"))
  }
  expect_refusal(predict(fit, d, type = "prob", threshold = 0.3), "argument", "`threshold`")
  expect_refusal(predict(fit, d, type = "link", costs = c(no = 1, yes = 2)), "argument", "`costs`")
})

test_that("maps that can't be are refused", {
  fit <- bsvm(y ~ x1, d, engine = "vb")
  expect_refusal(predict(fit, d, type = "prob", map = "platt"), "argument", c("`map`", "\"platt\""))
  expect_refusal(predict(fit, d, type = "prob", map = 2), "argument", "`map`")
  expect_refusal(predict(fit, d, map = "probit"), "argument", c("`map`", "`threshold`"))
  other <- structure(list(slope = 1, levels = c("a", "b")), class = "bsvm_calibration_map")
  expect_refusal(predict(fit, d, type = "prob", map = other), "argument", c("'a'", "'yes'"))
})

test_that("without newdata, with rows left out, with weights and missing predictors", {
  e <- transform(d, w = rep(c(0, 1, 2), 40))
  e$x1[3] <- NA
  fit <- bsvm(y ~ x1, e, weights = w, na.action = na.exclude, engine = "vb")
  p <- predict(fit, type = "prob")
  expect_identical(which(is.na(p[, 2])), 3L, ignore_attr = TRUE)
  expect_close(p[-3, 2], second(fit, e[-3, ]), 1e-12)
  twice <- bsvm(y ~ x1, e[rep(seq_len(120), e$w), ], na.action = na.omit, engine = "vb")
  expect_close(fit$odds_slope, twice$odds_slope, 1e-5)
  lacking <- bsvm(y ~ x1 + x2, transform(d, x2 = replace(x2, 1:10, NA)), engine = "vb",
                  missing = missing_normal())
  link <- predict(lacking, transform(d, x2 = NA_real_), interval = TRUE)
  expect_close(second(lacking, transform(d, x2 = NA_real_), map = "probit"),
               pnorm(link$fit / sqrt(1 + link$sd^2)), 1e-12)
  point <- bsvm(y ~ x1, d, engine = "em", prior = prior_ridge(variance = 1))
  expect_close(second(point, d), plogis(point$odds_slope * fitted(point)), 1e-12)
})

test_that("of rare classes under the pseudo-likelihood a message says so, once, and what to run", {
  e <- with_seed(6, {
    e <- data.frame(x = rnorm(300))
    e$y <- factor(ifelse(runif(300) < plogis(-3.5 + e$x), "ill", "well"), c("well", "ill"))
    e
  })
  share <- mean(e$y == "ill")
  expect_true(share > 0.02 && share < 0.12)
  fit <- bsvm(y ~ x, e, likelihood = likelihood_hinge(), engine = "vb",
              prior = prior_ridge(variance = 1), keep_data = TRUE)
  old <- session$rare
  on.exit(assign("rare", old, session))
  said <- function(code) {
    session$rare <- NULL
    message <- tryCatch({
      force(code)
      NULL
    }, bsvm_message_rare = conditionMessage)
  }
  message <- said(predict(fit, e, type = "prob"))
  expect_match(message, "class 'ill'", fixed = TRUE)
  expect_match(message, paste0("Only ", format(100 * share, digits = 2), " %"), fixed = TRUE)
  call <- regmatches(message, regexpr("update\\(fit.*engine = NULL\\)", message))
  refit <- eval(str2lang(call))
  expect_true(is_law(refit$likelihood))
  expect_null(said(predict(refit, e, type = "prob")))
  expect_null(said(predict(fit, e)))
  expect_match(said(calibration(fit, e)), "ill")
  session$rare <- NULL
  expect_message(predict(fit, e, type = "prob"), class = "bsvm_message_rare")
  expect_no_message(predict(fit, e, type = "prob"))
  # weights count
  even <- bsvm(y ~ x, e, likelihood = likelihood_hinge(), engine = "vb",
               prior = prior_ridge(variance = 1), weights = ifelse(y == "ill", 1 / share, 1))
  expect_null(said(predict(even, e, type = "prob")))
})

# Where classes are separable f varies by a scale that all rows share, and far beyond the margin.
test_that("draws of separable classes have probabilities like those of a mixture", {
  set.seed(1)
  d <- data.frame(x1 = rnorm(60), x2 = rnorm(60))
  d <- d[abs(d$x1 + d$x2) > 0.3, ]
  d$y <- d$x1 + d$x2 > 0
  fits <- lapply(c("slice", "gaussian"), function(engine) {
    unchecked(bsvm::bsvm(y ~ gp(x1, x2), d, likelihood = "hinge", engine = engine))
  })
  p <- vapply(fits, function(fit) predict(fit, type = "prob")[, 2L], numeric(nrow(d)))
  expect_true(all((p > 0.5) == d$y))
  expect_lt(max(apply(p, 2L, min)), 0.1)
  expect_gt(min(apply(p, 2L, max)), 0.9)
  expect_lt(max(abs(p[, 1L] - p[, 2L])), 0.1)
})
