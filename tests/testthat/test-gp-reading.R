# What users read of fits with Gaussian-process terms: summary, print, warnings, priors by label,
# pictures, VarCorr, tidy, and what gp() refuses.

d <- MASS::crabs[seq(1, 200, 2), ]  # all blue and orange, both sexes
one <- bsvm(sp ~ gp(FL, kernel = kernel_se(lengthscale = 0.7)), d, engine = "gaussian")
two <- bsvm(sp ~ BD + gp(FL, RW), d, engine = "gaussian")
standardised <- function(...) scale(cbind(...))
median_distance <- function(x) stats::median(stats::dist(unique(x)))
said <- function(x) gsub("\\s+", " ", paste(capture.output(print(x)), collapse = " "))

# ---- numbers of kernels -------------------------------------------------------------------------

test_that("length scales are on the scale of the variables and in median distances", {
  numbers <- summary(one)$gp$numbers
  expect_close(numbers$estimate, 0.7 * sd(d$FL), 1e-12)
  expect_close(numbers$medians, 0.7 / median_distance(standardised(d$FL)), 1e-12)
  expect_false(numbers$inferred)

  learned <- summary(two)$gp$numbers
  expect_equal(learned$variable, c("FL", "RW"))
  expect_close(learned$estimate[1] / learned$estimate[2], sd(d$FL) / sd(d$RW), 1e-12)
  theta <- two$bases[[1]]$parts[[1]]$numbers$theta
  expect_close(learned$estimate, exp(theta) * c(sd(d$FL), sd(d$RW)), 1e-12)
  expect_close(learned$medians[1], exp(theta) / median_distance(standardised(d$FL, d$RW)), 1e-12)
  expect_true(all(learned$inferred))
})

test_that("each length scale of ARD, matrices, maps, factors and periods has its row", {
  numbers <- function(fit) summary(fit)$gp$numbers
  given <- function(formula, ...) {
    quietly(bsvm(formula, d, engine = "gaussian", ...,
                 prior = list(gp = prior_ridge(variance = 1))))
  }
  ard <- numbers(given(sp ~ gp(FL, RW, kernel = kernel_se(lengthscale = c(1, 3), ard = TRUE))))
  expect_close(ard$estimate, c(sd(d$FL), 3 * sd(d$RW)), 1e-12)
  d$m <- as.matrix(d[c("FL", "RW")])
  together <- sqrt(mean(apply(d$m, 2, var)))
  matrix <- numbers(given(sp ~ gp(m, kernel = kernel_se(lengthscale = 2))))
  expect_equal(nrow(matrix), 1L)
  expect_close(matrix$estimate, 2 * together, 1e-12)
  each <- numbers(given(sp ~ gp(m, kernel = kernel_se(lengthscale = 2, ard = TRUE))))
  expect_equal(each$variable, c("m[1]", "m[2]"))
  expect_close(each$estimate, rep(2 * together, 2), 1e-12)
  d$lon <- d$FL
  d$lat <- d$RW
  map <- numbers(given(sp ~ gp(lon, lat, kernel = kernel_se(lengthscale = 2))))
  expect_equal(map$variable, "lon, lat")
  expect_close(map$estimate, 2 * together, 1e-12)
  levels <- numbers(given(sp ~ gp(sex, kernel = kernel_se(lengthscale = 2, ard = TRUE))))
  expect_equal(levels$variable, c("sex[F]", "sex[M]"))
  both <- numbers(given(sp ~ gp(FL, kernel = kernel_se(lengthscale = 2) *
                                       kernel_periodic(period = 5, lengthscale = 1.5) +
                                       kernel_rational(shape = 3, lengthscale = 1))))
  expect_equal(both$number, c("length scale", "relative length scale", "period", "length scale",
                              "shape"))
  expect_close(both$estimate, c(2 * sd(d$FL), 1.5, 5, sd(d$FL), 3), 1e-12)
  expect_equal(is.na(both$medians), c(FALSE, TRUE, TRUE, FALSE, TRUE))
  expect_equal(unique(both$block), paste0(both$term[1], 1:2))
})

test_that("with many variables the relevant ones have short length scales", {
  noisy <- with_seed(2, {
    x <- matrix(rnorm(120 * 15), 120)
    data.frame(y = as.numeric(abs(x[, 1]) > 0.7), x = I(x))
  })
  expect_no_warning(fit <- bsvm(y ~ gp(x, kernel = kernel_se(ard = TRUE)), noisy,
                                engine = "gaussian"))
  numbers <- summary(fit)$gp$numbers
  expect_equal(which.min(numbers$estimate), 1L)
  expect_lt(numbers$estimate[1], 0.5 * min(numbers$estimate[-1]))
})

test_that("the scores are those where the evidence is highest and where the fit is", {
  learned <- two$bases[[1]]$learned
  facts <- summary(two)$gp$learning
  expect_equal(facts$rows, nrow(d))
  scores <- facts$scores
  expect_equal(unname(scores[1, 1]), 1)
  expect_close(scores[2, 1], exp(learned$log_factor), 1e-12)
  expect_gte(scores[2, 3], scores[1, 3])
  expect_gte(scores[1, 2], scores[2, 2] - 1e-6)
  expect_null(summary(one)$gp$learning)
})

test_that("print and summary speak of Gaussian-process terms", {
  expect_match(said(one), "and [0-9]+ of Gaussian-process terms: see plot\\(fit, \"gp\"\\)")
  expect_no_match(said(one), "smooth terms:")
  text <- said(summary(two, details = TRUE))
  expect_match(text, "Gaussian-process terms: gp(FL, RW): kernel_se(),", fixed = TRUE)
  expect_match(text, "inducing points for 100 rows, exact")
  expect_match(text, "length scale of FL")
  expect_match(text, "Leave-one-out score")
  expect_match(text, "Kernels were learned from 100 rows")
  expect_match(said(summary(one)), "length scale of FL (fixed)", fixed = TRUE)
  expect_null(summary(bsvm(sp ~ FL, d, engine = "vb", likelihood = "hinge"))$gp)
  skip_if_not_installed("mgcv")
  both <- quietly(bsvm(sp ~ s(RW, k = 5) + gp(FL, kernel = kernel_se(1)), d, engine = "gaussian"))
  expect_match(said(both), "of smooth terms and [0-9]+ of Gaussian-process terms")
})

# ---- warnings -----------------------------------------------------------------------------------

test_that("a function that is nearly linear is called so, with what to write", {
  expect_message(nearly <- bsvm(sp ~ gp(FL, RW, kernel = kernel_se(lengthscale = 40)), d,
                                engine = "gaussian"),
                 "Use FL \\+ RW instead of, or together with,",
                 class = "bsvm_message_nearly_linear")
  expect_match(said(summary(nearly)), "is nearly linear. Use FL + RW instead", fixed = TRUE)
  expect_no_message(bsvm(sp ~ gp(FL, kernel = kernel_matern(0.5, lengthscale = 40)), d,
                         engine = "gaussian"))
  expect_no_message(update(one))
})

test_that("rows that have a function each are warned of, with the nearest row's correlation", {
  expect_warning(tiny <- bsvm(sp ~ gp(FL, kernel = kernel_se(lengthscale = 0.004)), d,
                              engine = "gaussian", prior = list(gp = prior_ridge(variance = 1))),
                 "each row", class = "bsvm_warning_lengthscale")
  x <- standardised(d$FL)
  k <- exp(-outer(as.vector(x), as.vector(x), `-`)^2 / (2 * 0.004^2))
  diag(k) <- 0
  nearest <- mean(apply(k, 1, max))
  expect_close(tiny$bases[[1]]$parts[[1]]$judged$nearest, nearest, 1e-10)
  expect_match(said(summary(tiny)), "function value of its own")
})

test_that("points that leave much over, an effect near zero and a search cut short are told", {
  expect_warning(few <- bsvm(sp ~ gp(FL, RW, points = 3, kernel = kernel_se(0.5)), d,
                             engine = "gaussian"), "Use more: points = 100",
                 class = "bsvm_warning_points")
  share <- summary(few)$gp$points$left_over
  x <- standardised(d$FL, d$RW)
  k <- function(a, b) exp(-outer(rowSums(a^2), rowSums(b^2), `+`) / 0.5 + 4 * tcrossprod(a, b))
  v <- few$bases[[1]]$parts[[1]]$points
  expect_close(share, mean(1 - rowSums((k(x, v) %*% solve(k(v, v))) * k(x, v))), 1e-6)
  expect_match(said(summary(few)), "Use more points for `gp(FL", fixed = TRUE)

  d$noise <- rep(c(0, 1), 50)
  none <- quietly(bsvm(noise ~ gp(FL), d, engine = "gaussian"))
  amplitude <- none$bases[[1]]$parts[[1]]$judged$amplitude
  expect_close(amplitude, exp(none$bases[[1]]$parts[[1]]$numbers$log_sd), 1e-12)
  # the evidence without the function is as high
  expect_lt(none$bases[[1]]$parts[[1]]$judged$gain, 1)
  expect_match(said(summary(none)), "show hardly any effect of FL")
  expect_match(said(summary(none)), "without the function the log evidence is")
  expect_no_match(said(summary(none)), "nearly linear")
  none$bases[[1]]$parts[[1]]$judged[c("amplitude", "gain")] <- c(0.05, NA)
  expect_match(said(summary(none)), "the standard deviation of the function was learned as 0.05")

  bases <- two$bases
  bases[[1]]$learned$converged <- FALSE
  expect_warning(bsvm:::tell_kernels(bases), "did not converge",
                 class = "bsvm_warning_convergence")
})

test_that("functions of noise are told, and those with an effect are not", {
  told <- vapply(1:12, function(seed) {
    noise <- with_seed(seed, data.frame(x = rnorm(150), z = rnorm(150), y = runif(150) < 0.5))
    effect <- noise
    effect$y <- with_seed(seed, runif(150)) < stats::plogis(1.5 * sin(2 * effect$x) + effect$z)
    vapply(list(noise, effect), function(d) {
      grepl("hardly any effect", said(summary(quietly(bsvm(y ~ gp(x, z), d, engine = "gaussian")))))
    }, TRUE)
  }, logical(2))
  expect_gte(sum(told[1L, ]), 10L)
  expect_identical(sum(told[2L, ]), 0L)
})

test_that("the evidence with and without a function is that of regression", {
  few <- with_seed(3, data.frame(x = rnorm(40)))
  few$y <- with_seed(4, sin(few$x) + rnorm(40))
  fit <- quietly(bsvm(y ~ 0 + gp(x), few, likelihood = likelihood_gaussian(scale = 1),
                      engine = "gaussian"))
  part <- fit$bases[[1]]$parts[[1]]
  x <- standardised(few$x)
  k <- exp(2 * part$numbers$log_sd - as.matrix(dist(x))^2 / (2 * exp(2 * part$numbers$theta)))
  y <- few$y / fit$design$unit  # as the core has it, and amplitudes
  evidence <- function(k) {
    total <- k + diag(1 / fit$design$unit^2, 40)
    -0.5 * (c(determinant(total)$modulus) + sum(y * solve(total, y)))
  }
  expect_close(part$judged$gain, evidence(k) - evidence(0 * k), 1e-5)
})

# ---- priors -------------------------------------------------------------------------------------

test_that("priors go by gp, by the term as written, and by the summand", {
  fit <- function(...) quietly(bsvm(sp ~ gp(FL, kernel = kernel_se(1) + kernel_linear(), by = sex),
                                    d, engine = "gaussian", prior = list(...)))
  ridge <- function(v) prior_ridge(variance = v)
  term <- "gp(FL, kernel = kernel_se(1) + kernel_linear(), by = sex)"
  variances <- function(...) {
    table <- prior_summary(fit(...))
    as.numeric(sub(".*variance ", "", table$prior[startsWith(table$name, "gp")]))
  }
  expect_equal(variances(gp = ridge(3)), rep(3, 4))
  named <- function(...) stats::setNames(list(...), c("gp", term, paste0(term, ":sexF1"),
                                                      paste0(term, ":sexM"))[seq_len(...length())])
  expect_equal(do.call(variances, named(ridge(3), ridge(4))), rep(4, 4))
  expect_equal(do.call(variances, named(ridge(3), ridge(4), ridge(5), ridge(6))), c(5, 4, 6, 6))

  half_t <- bsvm(sp ~ gp(FL), d, prior = list(gp = prior_ridge(variance = prior_half_t(3, 1))),
                 engine = "gaussian")
  expect_match(prior_summary(half_t)$prior[2], "half-t(3, 1)", fixed = TRUE)
  expect_refusal(bsvm(sp ~ gp(FL), d, prior = list(gq = ridge(1))), "prior", c("`gq`", "`gp`"))
  d$gp <- d$BD
  expect_refusal(bsvm(sp ~ gp + gp(FL), d, prior = list(gp = ridge(1))), "prior", "gp(FL)")
})

test_that("prior_for() lists terms without learning them", {
  many <- data.frame(x = seq_len(4001), y = rep(c(0, 1), c(2000, 2001)))
  expect_refusal(bsvm(y ~ gp(x, points = Inf), many), "size", "points = 200")
  expect_equal(prior_for(y ~ gp(x, points = Inf), many)$columns, c(0, 1, NA, NA))
  table <- prior_for(sp ~ BD + gp(FL, RW), d)
  rows <- table[table$name %in% c("gp(FL, RW)", "gp"), ]
  expect_equal(nrow(rows), 2L)
  expect_true(all(is.na(rows$columns)))
  expect_match(rows$prior, "half-t(3, 2.5)", fixed = TRUE)
  expect_equal(table$columns[table$name == ""], 1L)
  numbers <- prior_for(mpg ~ gp(wt), mtcars, likelihood = likelihood_gaussian())
  expect_match(numbers$prior[numbers$name == "gp"],
               paste0("half-t(3, ", format(2.5 * mad(mtcars$mpg), digits = 3), ")"), fixed = TRUE)
})

# ---- variances and coefficients -----------------------------------------------------------------

test_that("VarCorr and tidy have the amplitudes", {
  spread <- as.data.frame(VarCorr(two))
  expect_equal(spread$grp, "gp(FL, RW)")
  expect_equal(spread$var1, "amplitude")
  variances <- summary(two)$variances
  expect_close(spread$vcov, variances$mean[variances$block == "gp(FL, RW)"], 1e-12)
  expect_close(spread$sdcor, summary(two)$sds["gp(FL, RW)", "Estimate"], 1e-12)
  expect_match(said(VarCorr(two)), "gp\\(FL, RW\\) amplitude")

  rows <- tidy(two, conf.int = TRUE)
  expect_equal(rows$term, c("(Intercept)", "BD", "sd__amplitude"))
  expect_equal(rows$group[3], "gp(FL, RW)")
  expect_close(unlist(rows[3, c("estimate", "std.error", "conf.low", "conf.high")]),
               summary(two)$sds["gp(FL, RW)", ], 1e-12)
  expect_length(coef(two), length(two$design$columns))

  d$g <- gl(10, 10)
  grouped <- quietly(bsvm(sp ~ gp(FL, kernel = kernel_se(1)) + (1 | g), d, engine = "gaussian"))
  expect_equal(as.data.frame(VarCorr(grouped))$grp, c("g", grouped$bases[[1]]$label))
  expect_named(VarCorr(grouped)$g[1, ], NULL)
  drawn <- quietly(bsvm(mpg ~ gp(wt), mtcars, likelihood = likelihood_gaussian(),
                        engine = engine_slice(draws = 200, burnin = 200, chains = 2)))
  sds <- sqrt(as.vector(bsvm:::block_variances(drawn, 2)))
  expect_close(as.data.frame(VarCorr(drawn))$sdcor, mean(sds), 1e-12)
  expect_close(tidy(drawn)$std.error[2], sd(sds), 1e-12)
  fixed <- update(one, prior = list(gp = prior_ridge(variance = 4)))
  expect_equal(as.data.frame(VarCorr(fixed))$sdcor, 2)
  expect_refusal(VarCorr(bsvm(sp ~ FL, d, engine = "vb", likelihood = "hinge")), "unsupported",
                 "grouping factor")
})

test_that("holdout() fits terms anew in each training set", {
  study <- with_seed(1, cross_validate(list(gp = two), d, folds = 3, predictions = TRUE))
  expect_true(all(is.na(study$failure)))
  first <- attr(study, "splits")[[1]]
  again <- update(two, data = d[first$train, ])
  own <- again$bases[[1]]$parts[[1]]$numbers$theta
  expect_false(own == two$bases[[1]]$parts[[1]]$numbers$theta)
  predicted <- attr(study, "predictions")
  expect_close(predicted$.link[predicted$split == 1],
               predict(again, d[first$test, ], type = "link"), 1e-8)
})

# ---- pictures -----------------------------------------------------------------------------------

# Centred functions as predictions: `newdata` rows at zero for all else.
along <- function(fit, rows) {
  x <- bsvm:::new_design(fit, rows)$x
  own <- fit$bases[[1]]$columns
  x <- x[, own, drop = FALSE]
  list(x = x, mean = drop(x %*% fixef(fit)[own]), own = own)
}

test_that("a curve is the function less its mean, with the band of the joint posterior", {
  skip_if_not_installed("ggplot2")
  shown <- plot(one)$data
  expect_equal(range(shown$x), range(d$FL))
  link <- predict(one, data.frame(FL = shown$x), type = "link")
  expect_close(shown$fit, link - mean(predict(one, d, type = "link")), 1e-8)
  vb <- update(one, engine = "vb", likelihood = "hinge")
  shown <- plot(vb, "gp", level = 0.9)$data
  at <- along(vb, data.frame(FL = shown$x))
  x <- sweep(at$x, 2, colMeans(along(vb, d)$x))
  expect_close(shown$fit, x %*% fixef(vb)[at$own], 1e-8)
  sd <- sqrt(diag(x %*% vcov(vb)[at$own, at$own] %*% t(x)))
  expect_close(shown$upper, shown$fit + qnorm(0.95) * sd, 1e-8)
})

test_that("a map has the class boundary where the linear predictor is zero", {
  skip_if_not_installed("ggplot2")
  alone <- bsvm(sp ~ gp(FL, RW), d, engine = "gaussian")
  shown <- plot(alone)$data
  link <- predict(alone, data.frame(FL = shown$x, RW = shown$z), type = "link")
  border <- bsvm:::map_border(alone, alone$bases[[1]], NULL)
  expect_close(shown$fit - border$at, link, 1e-8)
  # next to a linear term it is at the mean of that
  shown <- plot(two, "gp")$data
  rows <- bsvm:::rows_of_term(two, two$bases[[1]], globalenv())
  border <- bsvm:::map_border(two, two$bases[[1]], rows)
  link <- predict(two, data.frame(FL = shown$x, RW = shown$z, BD = mean(d$BD)), type = "link")
  expect_close(shown$fit - border$at, link, 1e-7)
  expect_silent(ggplot2::ggplot_build(plot(two, "gp")))
})

test_that("of more variables averages over rows are shown, with the band of the average", {
  skip_if_not_installed("ggplot2")
  three <- quietly(bsvm(sp ~ gp(FL, RW, BD, kernel = kernel_se(2, ard = TRUE)), d[1:60, ],
                        engine = "vb", likelihood = "hinge", control = bsvm_control()))
  shown <- plot(three, "gp")$data
  expect_equal(levels(shown$variable), c("FL", "RW", "BD"))
  rw <- shown[shown$variable == "RW", ]
  rows <- d[1:60, ]
  value <- rw$x[7]
  changed <- rows
  changed$RW <- value
  link <- predict(three, changed, type = "link")
  expect_close(rw$fit[7], mean(link) - mean(predict(three, rows, type = "link")), 1e-8)
  at <- along(three, changed)
  x <- colMeans(at$x) - colMeans(along(three, rows)$x)
  sd <- sqrt(drop(x %*% vcov(three)[at$own, at$own] %*% x))
  expect_close(rw$upper[7] - rw$fit[7], qnorm(0.975) * sd, 1e-8)

  relevance <- plot(three, "relevance")$data
  expect_close(relevance$relevance, rep(0.5, 3), 1e-12)
  expect_refusal(plot(two, "relevance"), "unsupported", "ard = TRUE")
  lost <- update(three, data = d[1:60, ], keep_data = FALSE)
  lost$call$data <- quote(no_such_data)
  expect_refusal(plot(lost, "gp"), "data", "keep_data = TRUE")
  expect_equal(nrow(plot(lost, "relevance")$data), 3L)
})

test_that("pictures hold the terms asked for, and no others", {
  skip_if_not_installed("ggplot2")
  skip_if_not_installed("mgcv")
  many <- quietly(bsvm(sp ~ s(RW, k = 5) + gp(FL, kernel = kernel_se(1)) +
                         gp(BD, kernel = kernel_se(1), by = sex) +
                         gp(FL, BD, kernel = kernel_se(1)),
                       d, engine = "gaussian"))
  labels <- function(...) levels(plot(many, ...)$data$label)
  gps <- bsvm:::basis_labels(many$bases)[-1]
  expect_equal(labels("smooth"), "s(RW)")
  expect_equal(labels("smooth", select = gps[1]), gps[1])
  expect_equal(labels("gp"), gps[1:3])
  expect_match(plot(many, "gp")$labels$caption, "select")
  expect_equal(unique(plot(many, "gp", select = 4)$data$label), gps[4])
  expect_refusal(plot(many, "gp", select = c(1, 4)), "unsupported", "one at a time")
  expect_refusal(plot(many, "gp", select = "s(RW)"), "argument", "`select`")
  for (which in c("gp", "smooth", "coefficients")) {
    expect_silent(ggplot2::ggplot_build(plot(many, which)))
  }
  expect_refusal(plot(one, "smooth"), "unsupported", "plot(fit, \"gp\")")
  expect_refusal(plot(bsvm(sp ~ FL, d, engine = "gaussian"), "gp"), "unsupported", "gp(x)")
})

test_that("pictures of numbers, factors, multipliers and modes", {
  skip_if_not_installed("ggplot2")
  cars <- transform(mtcars, cyl = factor(cyl))
  numbers <- function(formula, ...) {
    quietly(bsvm(formula, cars, likelihood = likelihood_gaussian(), engine = "gaussian", ...))
  }
  curve <- numbers(mpg ~ gp(wt))
  picture <- plot(curve)
  expect_silent(ggplot2::ggplot_build(picture))
  partial <- bsvm:::point_data(curve$bases[[1]], curve, globalenv())
  centred <- predict(curve, cars) - mean(predict(curve, cars))
  expect_close(partial$partial, cars$mpg - predict(curve, cars) + centred, 1e-8)
  levels <- numbers(mpg ~ gp(cyl))
  shown <- plot(levels)$data
  expect_equal(as.character(shown$x), c("4", "6", "8"))
  link <- predict(levels, data.frame(cyl = factor(c(4, 6, 8))))
  expect_close(shown$fit, link - mean(predict(levels, cars)), 1e-8)
  mixed <- plot(numbers(mpg ~ gp(wt, hp, cyl)))
  expect_equal(levels(mixed$data$variable), c("wt", "hp"))
  expect_match(mixed$labels$caption, "Not shown: cyl")
  times <- numbers(mpg ~ hp + gp(wt, by = hp))
  shown <- plot(times, "gp")$data
  slope <- predict(times, data.frame(wt = shown$x, hp = 1)) -
    predict(times, data.frame(wt = shown$x, hp = 0)) - fixef(times)[["hp"]]
  expect_close(shown$fit, slope, 1e-7)
  mode <- quietly(bsvm(am ~ gp(wt, hp), cars, engine = "map"))
  expect_silent(ggplot2::ggplot_build(plot(mode)))
  no_intercept <- quietly(bsvm(am ~ 0 + gp(wt), cars, engine = "gaussian"))
  shown <- plot(no_intercept)$data
  expect_close(shown$fit, predict(no_intercept, data.frame(wt = shown$x), type = "link"), 1e-8)
})

# ---- bad input ----------------------------------------------------------------------------------

test_that("what gp() can't use is refused, with what to write", {
  d$missing <- replace(d$FL, 3, NA)
  d$infinite <- replace(d$FL, 3, Inf)
  d$constant <- 1
  refused <- function(formula, ...) expect_refusal(bsvm(formula, d), ...)
  refused(sp ~ gp(missing), "missing", c("`missing`", "na.omit"))
  expect_refusal(bsvm(sp ~ gp(missing), d, missing = "normal"), "missing", "na.omit")
  refused(sp ~ gp(infinite), "predictors", "`infinite`")
  refused(sp ~ gp(constant), "predictors", c("`constant`", "Leave the term out"))
  refused(sp ~ gp(), "formula", "has no variable")
  refused(sp ~ gp(kernel = kernel_se()), "formula", "has no variable")
  refused(sp ~ gp(FL, k = 10), "formula", c("no argument `k`", "Use `points`"))
  refused(sp ~ gp(FL, lengthscale = 2), "formula", "kernel_se(lengthscale = )")
  refused(sp ~ gp(FL, kernel = "rbf"), "formula", c("kernel_se()", "\"rbf\""))
  refused(sp ~ gp(FL, kernel = kernel_se), "formula", "a function")
  refused(sp ~ gp(FL, kernel = kernel_se(lengthscale = c(1, 2), ard = TRUE)), "formula", "found 2")
  for (points in list(-1, 2.5, "all", c(3, 4), NA)) {
    refused(sp ~ gp(FL, points = points), "formula", "`points`")
  }
  refused(sp ~ gp(FL, points = cbind(1:4, 1:4)), "formula", "1 column of finite numbers")
  refused(sp ~ gp(FL, by = 3), "formula", "`by` must be a variable")
  refused(sp ~ gp(FL, by = list(1)), "data")
  refused(sp ~ gp(FL, standardize = NA), "argument", "`standardize`")
  refused(sp ~ sex * gp(FL), "formula", c("can only be added", "by = f"))
  refused(sp ~ log(gp(FL)), "formula", "can only be added")
  refused(sp ~ BD - gp(FL), "formula", "taken away")
  refused(sp ~ gp(FL) + gp(FL), "formula", "stands twice")
  refused(sp ~ gp(sp, FL), "formula", "response")
  refused(sp ~ gp(no_such_variable), "data", "no_such_variable")
  expect_refusal(predict(one, data.frame(FL = Inf)), "newdata", "`FL`")
  expect_true(is.na(predict(one, data.frame(FL = NA_real_))))
  # gp(.) never has the response
  dots <- quietly(bsvm(sp ~ gp(.), d[c("sp", "FL", "RW")], engine = "gaussian"))
  expect_equal(unname(dots$bases[[1]]$covariates), c("FL", "RW"))
  expect_equal(dots$bases[[1]]$label, "gp(.)")
})

test_that("a model of nothing but a function is printed and summarised", {
  d <- subset(iris, Species != "setosa")
  for (engine in c("gaussian", "vb")) {
    fit <- suppressMessages(bsvm(Species ~ 0 + gp(Sepal.Length, points = 6), d, engine = engine,
                                 likelihood = "hinge", control = bsvm_control(verbose = FALSE)))
    for (said in list(capture.output(print(fit)), capture.output(print(summary(fit))))) {
      at <- grep("^Population-level coefficients", said)
      expect_identical(said[at + 1L], "none")
    }
  }
})

test_that("a multiplier has no unit, and points leave over a share of what is multiplied", {
  new <- MASS::crabs[seq(2, 40, 2), ]
  fit <- function(unit, infer = "none") {
    d$by <- d$CL * unit
    f <- quietly(bsvm(sp ~ BD + gp(FL, by = by, infer = infer), d, engine = "gaussian"))
    new$by <- new$CL * unit
    list(fit = f, link = predict(f, new, type = "link"))
  }
  one <- fit(1)
  for (unit in c(1e3, 1e6, 1e-12)) expect_close(fit(unit)$link, one$link, 1e-5)
  expect_close(fit(1e6, "factor")$link, fit(1, "factor")$link, 5e-3)
  expect_equal(one$fit$bases[[1L]]$by_size, sqrt(mean(d$CL^2)))
  # at given numbers: the variance of f is that of the multiplied kernel, row by row
  for (standardize in c(TRUE, FALSE)) {
    few <- quietly(bsvm(sp ~ gp(FL, by = CL, kernel = kernel_se(0.5), points = 3,
                                standardize = standardize), d, engine = "gaussian"))
    part <- few$bases[[1L]]$parts[[1L]]
    x <- if (standardize) standardised(d$FL) else cbind(d$FL)
    k <- function(a, b) exp(-0.5 * (outer(a[, 1L], b[, 1L], `-`) / 0.5)^2)
    across <- k(x, part$points)
    left <- 1 - rowSums((across %*% solve(k(part$points, part$points))) * across)
    expect_close(part$left_over, sum(left * d$CL^2) / sum(d$CL^2), 1e-8)
  }
  d$nothing <- 0
  expect_refusal(bsvm(sp ~ gp(FL, by = nothing), d), "formula", c("`nothing`", "zero in all rows"))
})

test_that("points of a data frame go by the names of the variables", {
  fit <- function(points, d. = d) quietly(bsvm(sp ~ gp(FL, RW, kernel = kernel_se(1), points = points),
                                               d., engine = "gaussian"))
  given <- data.frame(FL = c(10, 15, 20), RW = c(9, 12, 14))
  used <- function(fit) fit$bases[[1L]]$parts[[1L]]$points
  expected <- used(fit(as.matrix(unname(given))))
  scales <- vapply(d[c("FL", "RW")], sd, 0)
  expect_close(expected, t((t(given) - colMeans(d[c("FL", "RW")])) / scales), 1e-12)
  expect_identical(used(fit(given[2:1])), expected)
  expect_identical(used(fit(as.matrix(given[2:1]))), expected)
  expect_identical(used(fit(cbind(id = 1:3, given[2:1]))), expected)
  for (points in list(data.frame(a = 1:3, b = 1:3), points_learned(data.frame(a = 1:3, b = 1:3)))) {
    expect_refusal(fit(points), "formula", c("`FL` and `RW`", "found `a` and `b`"))
  }
  expect_refusal(fit(given[0L, ]), "formula", "finite numbers")
  with_sex <- function(points) quietly(bsvm(sp ~ gp(FL, sex, kernel = kernel_se(1), points = points),
                                            d, engine = "gaussian"))
  own <- used(with_sex(data.frame(sex = c("M", "F"), FL = c(10, 20))))
  expect_identical(used(with_sex(cbind(c(10, 20), 0:1, 1:0))), own)
  expect_refusal(with_sex(cbind(1:3, 1:3)), "formula",
                 c("3 columns", "`FL`, `sex[F]` and `sex[M]`", "data frame"))
  expect_refusal(with_sex(data.frame(sex = "X", FL = 1)), "formula", c("'X'", "'F' and 'M'"))
})

test_that("a constant in gp() is refused by name", {
  for (one in list(sp ~ gp(1), sp ~ gp(TRUE), sp ~ gp(FL, 1), sp ~ gp(2) + FL, sp ~ gp("FL"))) {
    expect_refusal(bsvm(one, d), "formula", c(" needs variables", "gp(x)"))
  }
})

test_that("operators in gp() are refused with what to write, which works", {
  for (one in list(sp ~ gp(FL + RW), sp ~ gp(FL, RW^2), sp ~ gp(FL / RW), sp ~ FL + gp(FL:RW),
                   sp ~ s(FL / RW), sp ~ s(FL, RW - 1), sp ~ t2(FL * RW))) {
    expect_refusal(bsvm(one, d), "formula", "separated by commas")
  }
  expect_refusal(bsvm(sp ~ gp(FL + RW), d), "formula", c("Use gp(FL, RW)", "gp(I(FL + RW))"))
  expect_s3_class(bsvm(sp ~ gp(I(FL + RW)), d, engine = "gaussian"), "bsvm")
})

test_that("very long length scales and constant variables lead to no warning from within", {
  expect_no_warning(suppressMessages(
    flat <- bsvm(sp ~ gp(FL, RW, kernel = kernel_se(1e300)), d, engine = "gaussian")
  ))
  expect_true(flat$bases[[1L]]$parts[[1L]]$judged$distance < 1e-200)
  skip_if_not_installed("ggplot2")
  d$one <- 1
  for (fit in list(flat, quietly(bsvm(sp ~ gp(FL, one, kernel = kernel_se(1)), d,
                                      engine = "gaussian")))) {
    expect_no_warning(ggplot2::ggplot_build(plot(fit, "gp")))
  }
})

# 0.7 % of the variance of a function that is large is a quarter of the noise.
test_that("draws are refused where what points leave over is much of the noise", {
  d <- with_seed(1, data.frame(x = rnorm(300), z = rnorm(300)))
  d$y <- with_seed(2, sin(2 * d$x) + d$z + rnorm(300) / 3)
  fit <- quietly(bsvm(y ~ gp(x, z, points = 10), d, likelihood = likelihood_gaussian()))
  expect_lt(bsvm:::largest_left_over(fit), 0.01)
  expect_gt(bsvm:::left_over_noise_share(fit), 0.05)
  for (call in expression(loo(fit, method = "draws"), waic(fit), check_approximation(fit))) {
    expect_refusal(eval(call), "unsupported", c("of the noise", "more `points`"))
  }
  enough <- quietly(bsvm(y ~ gp(x, z, points = 60), d, likelihood = likelihood_gaussian()))
  expect_equal(quietly(loo(enough, method = "draws"))$estimates["elpd_loo", 1L],
               loo(enough)$estimates["elpd_loo", 1L], tolerance = 0.02)
})

test_that("kernels that are inferred have the Gaussian engine by default", {
  fit <- quietly(bsvm(sp ~ gp(FL, RW, infer = "factor"), d))
  expect_identical(fit$engine$name, "gaussian")
})
