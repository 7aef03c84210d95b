# Factor terms: draws and predictions against dense normal distributions in plain R, what must not
# matter, what is refused. The sampler itself is tested in core/test_factors_*.cpp.

# The whole link of kept draw j of a chain, by plain R.
plain_link <- function(fit, x, covariates, j, chain) {
  basis <- factors_of(fit)
  z <- t((t(x) - basis$center) / basis$scale)
  kept <- fit$posterior$factors$kept
  draw <- kept$at[j]
  parts <- plain_links(fit, z, j, chain)
  d <- ncol(covariates)
  own <- (covariates - rep(fit$design$center[seq_len(d)], each = nrow(x))) /
    rep(fit$design$scale[seq_len(d)], each = nrow(x))
  alpha <- fit$posterior$coefficients[seq_len(d), draw, chain]
  alpha[1L] <- alpha[1L] - fit$posterior$factors$identified["offset", draw, chain]
  list(mean = drop(own %*% alpha) + vapply(parts, `[[`, 0, "mean"),
       variance = vapply(parts, `[[`, 0, "variance"))
}

test_that("implied coefficients and left-over variances are those of dense normal distributions", {
  d <- factor_data()
  models <- list(
    general = list(),
    each = list(noise = "each"),
    reduced = list(prior = list(loadings = prior_ridge()), rows = 1:15))
  for (model in models) {
    noise <- if (is.null(model$noise)) "common" else model$noise
    data <- if (is.null(model$rows)) d else d[model$rows, ]
    fit <- quiet_factors(y ~ age + factors(x, k = 2, noise = noise), data, prior = model$prior)
    rows <- prediction_rows(fit, NULL, NULL, FALSE, NULL, NULL, environment())
    links <- factor_links(fit, rows)
    for (chain in 1:2) for (j in c(1L, 30L)) {
      plain <- plain_link(fit, data$x, cbind(1, data$age), j, chain)
      at <- fit$posterior$factors$kept$at[j] + (chain - 1L) * 60L
      expect_equal(unname(links$mean[, at]), plain$mean, tolerance = 1e-7)
      expect_equal(unname(links$variance[, at]), plain$variance, tolerance = 1e-7)
    }
  }
})

test_that("loadings of few draws are those of the draws that they are said to be", {
  local_replace("most_loadings_kept", 3L)
  d <- factor_data()
  for (draws in c(20L, 100L)) {
    fit <- quiet_factors(y ~ age + factors(x, k = 2), d, engine = few_draws(draws))
    kept <- fit$posterior$factors$kept
    expect_lte(length(kept$at), 3L)
    expect_equal(dim(kept$loadings), c(20L, 2L, length(kept$at), 2L))
    rows <- prediction_rows(fit, NULL, NULL, FALSE, NULL, NULL, environment())
    links <- factor_links(fit, rows)
    for (j in seq_along(kept$at)) {
      plain <- plain_link(fit, d$x, cbind(1, d$age), j, 2L)
      expect_equal(unname(links$mean[, kept$at[j] + draws]), plain$mean, tolerance = 1e-7)
    }
    new <- d[1:3, ]
    new$x[, 1:4] <- NA # each draw by the nearest
    rows <- prediction_rows(fit, new, NULL, FALSE, NULL, NULL, environment())
    links <- factor_links(fit, rows)
    expect_equal(ncol(links$mean), 2L * draws)
    expect_equal(nrow(unique(t(round(links$mean, 9)))), 2L * length(kept$at))
  }
  local_replace("most_loadings", function(basis) 50L)
  long <- quiet_factors(y ~ age + factors(x, k = 2), d, engine = few_draws(120L))
  expect_length(long$posterior$factors$kept$at, 40L) # every third
})

test_that("missing variables are integrated out, all of them too", {
  d <- factor_data()
  fit <- quiet_factors(y ~ age + factors(x, k = 2), d)
  new <- d[1:4, ]
  new$x[1L, 1:5] <- NA
  new$x[2L, ] <- NA
  new$x[3L, 1:5] <- NA
  rows <- prediction_rows(fit, new, NULL, FALSE, NULL, NULL, environment())
  links <- factor_links(fit, rows)
  for (chain in 1:2) {
    plain <- plain_link(fit, new$x, cbind(1, new$age), 7L, chain)
    at <- fit$posterior$factors$kept$at[7L] + (chain - 1L) * 60L
    expect_equal(unname(links$mean[, at]), plain$mean, tolerance = 1e-7)
    expect_equal(unname(links$variance[, at]), plain$variance, tolerance = 1e-7)
  }
  shown <- predict(fit, new, interval = TRUE)
  expect_gt(shown$sd[2L], shown$sd[1L])
  turned <- new
  turned$x <- new$x[, 20:1]
  expect_identical(predict(fit, turned, interval = TRUE), shown) # by the names of columns
  # a fit to such rows
  d$x[cbind(1:30, rep(1:10, 3))] <- NA
  again <- quiet_factors(y ~ age + factors(x, k = 2), d)
  expect_gt(cor(fitted(again), fitted(fit)), 0.98)
})

test_that("what predictions average over is the links of the link", {
  d <- factor_data()
  fit <- quiet_factors(y ~ age + factors(x, k = 2), d)
  rows <- prediction_rows(fit, NULL, NULL, FALSE, NULL, NULL, environment())
  links <- factor_links(fit, rows)
  shown <- predict(fit, interval = TRUE)
  expect_equal(shown$fit, rowMeans(links$mean), tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(shown$sd, sqrt(apply(links$mean, 1L, var) + rowMeans(links$variance)),
               tolerance = 1e-12, ignore_attr = TRUE)
  z <- seq(-8, 8, length.out = 2001L)
  average <- function(i, y) {
    vapply(seq_len(ncol(links$mean)), function(s) {
      f <- links$mean[i, s] + sqrt(links$variance[i, s]) * z
      p <- exp(-2 * pmax(0, 1 - y * f))
      other <- exp(-2 * pmax(0, 1 + y * f))
      sum(dnorm(z) * p / (p + other)) * diff(z[1:2])
    }, 0)
  }
  prob <- predict(fit, type = "prob")
  terms <- log_lik(fit)
  for (i in c(1L, 17L)) {
    expect_equal(prob[[i, "yes"]], mean(average(i, 1)), tolerance = 1e-6)
    own <- if (d$y[i] == "yes") 1 else -1
    expect_equal(terms[, i], log(average(i, own)), tolerance = 1e-6)
  }
  draws <- posterior_linpred(fit)
  expect_equal(dim(draws), c(120L, 60L))
  expect_equal(unname(colMeans(draws)), rowMeans(links$mean), tolerance = 0.1, ignore_attr = TRUE)
  expect_equal(apply(draws, 2L, sd), shown$sd, tolerance = 0.3, ignore_attr = TRUE)
})

test_that("numbers have exact predictive distributions, in any units", {
  d <- factor_data()
  own <- function(z) {
    d$z <- z
    set.seed(3)
    quiet_factors(z ~ age + factors(x, k = 2), d, likelihood = likelihood_gaussian())
  }
  fit <- own(d$z)
  other <- own(1e4 * d$z + 1e6)
  expect_equal(fitted(other), 1e4 * fitted(fit) + 1e6, tolerance = 1e-8)
  expect_equal(coef(other)[-1L], 1e4 * coef(fit)[-1L], tolerance = 1e-6)
  expect_equal(factor_table(other)$coefficient, 1e4 * factor_table(fit)$coefficient,
               tolerance = 1e-6)
  rows <- prediction_rows(fit, NULL, NULL, FALSE, NULL, NULL, environment())
  links <- factor_links(fit, rows)
  sd <- sqrt(as.vector(fit$posterior$variances[[which(vapply(fit$blocks, is_parameter, TRUE))]]))
  exact <- dnorm(d$z[5L], links$mean[5L, ], sqrt(links$variance[5L, ] + sd^2), log = TRUE)
  expect_equal(log_lik(fit)[, 5L], exact, tolerance = 1e-10)
  quantiles <- predict(fit, type = "quantile", probs = c(0.1, 0.9))
  mixed <- mean(pnorm(quantiles[5L, 1L], links$mean[5L, ], sqrt(links$variance[5L, ] + sd^2)))
  expect_equal(mixed, 0.1, tolerance = 1e-5)
})

test_that("the number of factors is chosen by held-out normal densities", {
  d <- factor_data(50L, 12L, 3L)
  z <- scale(d$x)
  train <- z[1:40, ]
  new <- z[41:50, ]
  found <- held_out_density(train, new, 4L)
  away <- new - rep(colMeans(train), each = 10L)
  values <- eigen(crossprod(train - rep(colMeans(train), each = 40L)) / 40, symmetric = TRUE)
  for (k in 1:4) {
    left <- mean(values$values[-seq_len(k)])
    v <- values$vectors[, seq_len(k), drop = FALSE]
    covariance <- v %*% diag(values$values[seq_len(k)] - left, k) %*% t(v) + left * diag(12)
    plain <- -0.5 * (12 * log(2 * pi) + as.numeric(determinant(covariance)$modulus) +
                       rowSums((away %*% solve(covariance)) * away))
    expect_equal(found[, k], plain, tolerance = 1e-9)
  }
  # wider than long
  few <- train[1:6, ]
  values <- eigen(crossprod(few - rep(colMeans(few), each = 6L)) / 6, symmetric = TRUE)
  left <- (sum(values$values) - values$values[1L]) / 11
  covariance <- tcrossprod(values$vectors[, 1L]) * (values$values[1L] - left) + left * diag(12)
  away <- new - rep(colMeans(few), each = 10L)
  plain <- -0.5 * (12 * log(2 * pi) + as.numeric(determinant(covariance)$modulus) +
                     rowSums((away %*% solve(covariance)) * away))
  expect_equal(held_out_density(few, new, 1L)[, 1L], plain, tolerance = 1e-9)
  d <- factor_data(120L, 30L, 3L) # standardised, noise is not common
  expect_equal(choose_factors(d$x)$k, 3L)
  expect_lte(choose_factors(matrix(rnorm(600), 60))$k, 2L)
  expect_equal(factors_of(bsvm_frame(y ~ factors(x, standardize = FALSE), d))$k, 3L)
})

test_that("the term may be written as a matrix, columns, a range or a dot", {
  d <- factor_data(40L, 6L)
  fits <- lapply(list(y ~ age + factors(x, k = 2), y ~ age + factors(g1:g6, k = 2),
                      y ~ age + factors(g1, g2, g3, g4, g5, g6, k = 2),
                      y ~ age + factors(., k = 2)), function(formula) {
    set.seed(2)
    quiet_factors(formula, if ("." %in% all.names(formula)) d[setdiff(names(d), c("z", "x"))] else d)
  })
  for (fit in fits) {
    expect_equal(fitted(fit), fitted(fits[[1L]]), tolerance = 1e-12, ignore_attr = TRUE)
    expect_equal(names(coef(fit))[3:8], paste0("g", 1:6))
  }
  expect_output(print(fits[[2L]]), "factors(g1:g6)", fixed = TRUE)
  expect_equal(unname(predict(fits[[2L]], d[1:3, ], type = "link")), unname(fitted(fits[[2L]])[1:3]))
  updated <- suppressWarnings(update(fits[[1L]], . ~ . - age), classes = "bsvm_warning_convergence")
  expect_named(coef(updated), c("(Intercept)", paste0("g", 1:6)))
})

test_that("units, shifts and the order of classes of variables do not matter", {
  d <- factor_data(40L, 8L)
  set.seed(5)
  fit <- quiet_factors(y ~ age + factors(x, k = 2), d)
  moved <- d
  moved$x <- t(t(d$x) * (1:8) + 1e3)
  set.seed(5)
  expect_equal(fitted(quiet_factors(y ~ age + factors(x, k = 2), moved)), fitted(fit),
               tolerance = 1e-6)
  set.seed(5)
  same <- quiet_factors(y ~ age + factors(x, k = 2, standardize = FALSE), d)
  moved$x <- 7 * d$x - 1e3
  set.seed(5)
  expect_equal(fitted(quiet_factors(y ~ age + factors(x, k = 2, standardize = FALSE), moved)),
               fitted(same), tolerance = 1e-6)
  turned <- d
  turned$y <- factor(d$y, rev(levels(d$y)))
  expect_lt(cor(fitted(quiet_factors(y ~ age + factors(x, k = 2), turned)), fitted(fit)), -0.97)
  set.seed(5)
  expect_identical(
    fitted(quiet_factors(y ~ age + factors(x, k = 2), d, control = bsvm_control(threads = 2))),
    fitted(fit))
})

test_that("rows without a response inform the factors and have no fitted link", {
  d <- factor_data(60L, 20L)
  d$y[1:20] <- NA
  expect_error(bsvm(y ~ factors(x, k = 2), d), "unlabelled = TRUE", class = "bsvm_error_missing")
  fit <- quiet_factors(y ~ age + factors(x, k = 2, unlabelled = TRUE), d)
  expect_equal(nobs(fit), 40L)
  expect_length(fitted(fit), 40L)
  expect_gt(abs(cor(predict(fit, d[1:20, ], type = "link"), attr(d, "scores")[1:20, 1L])), 0.9)
  expect_output(print(fit), "40 rows; 20 more without a response inform the factors")
  omitted <- quiet_factors(y ~ age + factors(x, k = 2), d, na.action = na.omit)
  expect_equal(nobs(omitted), 40L)
  d$age[30L] <- NA
  both <- quiet_factors(y ~ age + factors(x, k = 2, unlabelled = TRUE), d, na.action = na.exclude)
  expect_equal(nobs(both), 39L)
  expect_equal(which(is.na(fitted(both))), c(1:20, 30L), ignore_attr = TRUE)
})

test_that("without feedback nothing of the link is left over", {
  d <- factor_data()
  fit <- quiet_factors(y ~ age + factors(x, k = 2, feedback = FALSE), d)
  expect_equal(range(fit$posterior$factors$identified["leftover", , ]), c(0, 0))
  scores <- prcomp(scale(d$x))$x[, 1:2]
  plain <- bsvm(d$y ~ d$age + scores, engine = "gaussian")
  expect_gt(cor(fitted(fit), fitted(plain)), 0.99)
})

test_that("spare factors under the pseudo-likelihood are found out", {
  d <- factor_data(60L, 10L, 1L)
  set.seed(1)
  d$y <- factor(sample(rep(c("no", "yes"), 30)))
  expect_warning(
    suppressWarnings(bsvm(y ~ factors(x, k = 5), d, likelihood = "hinge",
                          engine = few_draws(200, 200)), classes = "bsvm_warning_convergence"),
    "determine only", class = "bsvm_warning_determinacy")
  expect_no_warning(quiet_factors(y ~ factors(x, k = 5), d, engine = few_draws(200, 200)))
})

test_that("what does not fit is refused before any draw, with what to write", {
  d <- factor_data(40L, 6L)
  d$f <- gl(4, 10)
  refused <- function(formula, text, class, ...) {
    expect_error(suppressMessages(bsvm(formula, d, ...)), text, class = class, fixed = TRUE)
  }
  refused(y ~ factors(), "needs variables", "bsvm_error_formula")
  refused(y ~ factors(3, k = 1), "needs variables", "bsvm_error_formula")
  refused(y ~ factors(x, k = 0), "at least 1", "bsvm_error_argument")
  refused(y ~ factors(x, k = 6), "below the number of rows (40) and of variables (6)",
          "bsvm_error_formula")
  refused(y ~ factors(x, ncomp = 2), "Use `k`", "bsvm_error_formula")
  refused(y ~ factors(x, k = kk), "can't be evaluated", "bsvm_error_formula")
  refused(y ~ factors(x, k = 2, noise = "some"), "must be one of", "bsvm_error_argument")
  refused(y ~ factors(x, k = 2, classifier = "rbf"), "must be \"linear\"", "bsvm_error_formula")
  refused(y ~ factors(g1:g9, k = 2), "no column `g9`", "bsvm_error_formula")
  refused(y ~ factors(f, k = 1), "must be numbers", "bsvm_error_predictors")
  refused(y ~ factors(age, k = 1), "Use the variables as predictors", "bsvm_error_formula")
  refused(y ~ age * factors(x, k = 2), "can only be added", "bsvm_error_formula")
  refused(y ~ factors(x, k = 2) + factors(g1, g2, k = 1), "One factors() term",
          "bsvm_error_unsupported")
  refused(y ~ factors(x, k = 2) + (1 | f), "grouping factors", "bsvm_error_unsupported")
  refused(y ~ factors(x, k = 2) + gp(age), "can't be combined with gp()", "bsvm_error_unsupported")
  refused(y ~ 0 + factors(x, k = 2), "needs an intercept", "bsvm_error_unsupported")
  refused(y ~ factors(x, k = 2), "engine_gibbs()", "bsvm_error_unsupported", engine = "slice")
  refused(y ~ factors(x, k = 2), "does not support models of missing predictors",
          "bsvm_error_unsupported", missing = "normal")
  refused(y ~ factors(x, k = 2), "must be prior_ridge()", "bsvm_error_unsupported",
          prior = list(loadings = prior_flat()))
  refused(y ~ factors(x, k = 2), "prior_ridge()", "bsvm_error_unsupported",
          prior = list(factors = prior_spike_slab()))
  refused(cbind(z, age) ~ factors(x, k = 2), "not supported with several responses",
          "bsvm_error_unsupported", likelihood = likelihood_gaussian())
  d$x[3, 2] <- Inf
  refused(y ~ factors(x, k = 2), "infinite values", "bsvm_error_predictors")
  d$x[, 2] <- NA
  refused(y ~ factors(x, k = 2), "has no value", "bsvm_error_predictors")
  d$x[, 2] <- 1
  expect_warning(quiet_factors(y ~ factors(x, k = 2), d), "does not vary",
                 class = "bsvm_warning_constant")
})

test_that("odd data are fitted: one row of a class, prior of the paper, smooths beside", {
  d <- factor_data(40L, 6L)
  d$y <- factor(ifelse(seq_len(40) == 3L, "yes", "no"))
  fit <- quiet_factors(y ~ factors(x, k = 2), d)
  expect_true(all(is.finite(fitted(fit))))
  lasso <- quiet_factors(y ~ factors(x, k = 2), d,
                         prior = list(factors = prior_lasso(nu = 1), loadings = prior_lasso(nu = 0.5)))
  expect_true(all(is.finite(confint(lasso))))
  skip_if_not_installed("mgcv")
  smooth <- quiet_factors(z ~ s(age, k = 5) + factors(x, k = 2), d,
                          likelihood = likelihood_gaussian())
  expect_gt(cor(fitted(smooth), d$z), 0.7)
  weighted <- quiet_factors(z ~ factors(x, k = 2), d, likelihood = likelihood_gaussian(),
                            weights = rep(c(0, 1), 20L))
  expect_equal(nobs(weighted), 20L)
  expect_length(fitted(weighted), 40L)
})

test_that("a kernel of the scores finds what is not linear in them", {
  d <- factor_data(80L, 12L, 2L, noise = 0.4)
  w <- attr(d, "scores")
  d$y <- factor(ifelse(rowSums(w^2) > 1.4, "out", "in"))
  fits <- list(
    vb = bsvm(y ~ age + factors(x, k = 2, classifier = "gp", points = 30), d, engine = "vb"),
    gibbs = quiet_factors(y ~ age + factors(x, k = 2, classifier = kernel_se(), points = 30), d,
                          engine = few_draws(100, 100)))
  line <- bsvm(y ~ age + factors(x, k = 2), d, engine = "vb")
  expect_lt(mean(predict(line) == d$y), 0.85)
  for (fit in fits) {
    expect_gt(mean(predict(fit) == d$y), 0.9)
    # the links of the link is that of kept draws, with the covariates' coefficients of the same draws
    rows <- prediction_rows(fit, NULL, NULL, FALSE, NULL, NULL, environment())
    links <- factor_links(fit, rows)
    kept <- fit$posterior$factors$kept
    part <- kept_scores(kept, standard_variables(d$x, factors_of(fit)), fit$control, links = TRUE)
    m <- length(kept$at)
    for (chain in seq_len(dim(kept$mean)[3L])) {
      at <- kept$at[2L] + (chain - 1L) * dim(fit$posterior$coefficients)[2L]
      alpha <- fit$posterior$coefficients[1:2, kept$at[2L], chain]
      own <- alpha[1L] + alpha[2L] * (d$age - fit$design$center[2L]) / fit$design$scale[2L]
      expect_equal(unname(links$mean[, at]), own + part$mean[, (chain - 1L) * m + 2L],
                   tolerance = 1e-10)
    }
    expect_gt(sum(log_lik(fit)[1L, ]), -60)
    expect_output(print(fit), "kernel_se()", fixed = TRUE)
    expect_null(factor_table(fit)$coefficient)
  }
  refused <- y ~ factors(x, k = 2, classifier = kernel_se() + kernel_linear())
  expect_error(bsvm(refused, d), "one kernel", class = "bsvm_error_unsupported")
})

test_that("variational Bayes has the means of draws, and is read by draws", {
  d <- factor_data(80L, 20L)
  d$x[cbind(1:20, 1:20)] <- NA
  set.seed(1)
  vb <- bsvm(y ~ age + factors(x, k = 2), d, engine = "vb")
  gibbs <- quiet_factors(y ~ age + factors(x, k = 2), d, engine = few_draws(400, 200))
  expect_gt(cor(fitted(vb), fitted(gibbs)), 0.995)
  expect_equal(unname(coef(stats::lm(fitted(vb) ~ fitted(gibbs)))[2L]), 1, tolerance = 0.1)
  ratio <- predict(vb, interval = TRUE)$sd / predict(gibbs, interval = TRUE)$sd
  expect_true(all(ratio > 0.7 & ratio < 1.1))
  expect_true(is.finite(elbo(vb)))
  expect_output(print(vb), "Lower bound")
  expect_output(print(summary(vb, details = TRUE)), "engine_gibbs() draws", fixed = TRUE)
  expect_equal(dim(posterior_linpred(vb)), c(1000L, 80L))
  expect_warning(
    bsvm(y ~ factors(x, k = 2), d, engine = "vb", control = bsvm_control(max_passes = 2)),
    "did not converge", class = "bsvm_warning_convergence")
})
