# Terms that are sums of kernel functions at rows (prior_relevance()), and the reading of them.

motor <- function() {
  set.seed(3)
  x <- sort(runif(40, -3, 3))
  data.frame(x = x, y = sin(2 * x) / x + 0.1 * rnorm(40))
}

rvm <- function(data = motor(), shape = 0.5, scale = 0.5, ...) {
  set.seed(1)
  suppressWarnings(bsvm(y ~ gp(x, kernel = kernel_se(lengthscale = 0.5)), data,
                        likelihood = likelihood_gaussian(),
                        prior = list(gp = prior_relevance(shape, scale)), ...))
}

# k(x, v) of standardised inputs.
kernel_by_hand <- function(x, v, data) exp(-outer(x, v, `-`)^2 / (2 * (0.5 * sd(data$x))^2))

test_that("the function is the sum of kernels at rows, of the fit and new ones", {
  data <- motor()
  fit <- rvm(data, engine = engine_gibbs(draws = 200, burnin = 100, chains = 1))
  vectors <- relevance_vectors(fit)
  expect_setequal(vectors$row, 1:40)
  new <- c(-5, -1, 0.3, 2.9)
  by_hand <- coef(fit)[["(Intercept)"]] +
    drop(kernel_by_hand(new, data$x[vectors$row], data) %*% vectors$estimate)
  expect_equal(unname(predict(fit, data.frame(x = new))), by_hand, tolerance = 1e-10)
  # far away it is the intercept, with its standard deviation
  far <- posterior_linpred(fit, newdata = data.frame(x = 1e3))
  expect_equal(unname(far[, 1L]), drop(coefficient_draws(fit, 1L)), tolerance = 1e-10)
})

test_that("given all precisions the posterior is that of a linear model", {
  data <- motor()
  # so narrow that each variance is 0.25
  fit <- rvm(data, 1e10, 0.25e10, engine = engine_gibbs(draws = 20000, burnin = 200, chains = 1))

  k <- cbind(1, kernel_by_hand(data$x, data$x, data))
  s2 <- as.numeric(posterior::as_draws_matrix(fit)[, "scale"])^2
  at <- s2[seq(1, 20000, by = 40)]
  moments <- vapply(at, function(v) {
    precision <- crossprod(k) / v + diag(c(1e-20, rep(4, 40)))
    mean <- solve(precision, crossprod(k, data$y) / v)
    mean[-1L]
  }, numeric(40))
  vectors <- relevance_vectors(fit)
  vectors <- vectors[order(vectors$row), ]
  error <- (vectors$estimate - rowMeans(moments)) / vectors$sd
  expect_lt(max(abs(error)), 0.05)
  # effective numbers from the same formula
  gamma <- rowMeans(vapply(at[1:50], function(v) {
    precision <- crossprod(k) / v + diag(c(1e-20, rep(4, 40)))
    1 - 4 * diag(solve(precision))[-1L]
  }, numeric(40)))
  expect_lt(max(abs(vectors$relevance - gamma)), 0.02)
})

test_that("engine_vb() prunes, and its effective numbers add up to the fit's degrees of freedom", {
  data <- motor()
  fit <- rvm(data, 1e-6, 1e-6, engine = engine_vb())
  vectors <- relevance_vectors(fit)
  expect_lt(sum(vectors$relevance > 0.5), 15L)
  expect_gt(sum(vectors$relevance > 0.5), 2L)
  expect_gt(cor(fitted(fit), sin(2 * data$x) / data$x), 0.97)
  # of the hat matrix given these variances
  k <- cbind(1, kernel_by_hand(data$x, data$x[vectors$row], data))
  precision <- (1e-6 + 0.5) / (1e-6 + (vectors$estimate^2 + vectors$sd^2) / 2)
  noise <- sigma(fit)^2
  inverse <- solve(crossprod(k) / noise + diag(c(0, precision)))
  hat <- sum(diag(k %*% inverse %*% t(k))) / noise
  expect_equal(sum(vectors$relevance), hat - 1, tolerance = 0.05)
})

test_that("classes have relevance vectors, and several terms, levels and kernels", {
  set.seed(2)
  data <- data.frame(x = rnorm(60), z = rnorm(60), f = gl(2, 30, labels = c("a", "b")))
  data$y <- factor(ifelse(data$x^2 + 0.3 * rnorm(60) > 0.7, "in", "out"))
  engine <- engine_gibbs(draws = 100, burnin = 100, chains = 1)
  fit <- suppressWarnings(bsvm(y ~ gp(x) + z, data, prior = list(gp = prior_relevance()),
                               likelihood = "hinge", engine = engine))
  vectors <- relevance_vectors(fit)
  expect_identical(nrow(vectors), 60L)
  expect_true(all(vectors$relevance >= 0 & vectors$relevance <= 1))
  by <- suppressWarnings(bsvm(x ~ f + gp(z, by = f, kernel = kernel_se(1) + kernel_linear()), data,
                              likelihood = likelihood_gaussian(), engine = engine,
                              prior = list(gp = prior_relevance())))
  vectors <- relevance_vectors(by)
  expect_identical(sort(unique(vectors$term)), basis_labels(gp_bases(by)))
  expect_false(anyNA(predict(by, data)))

})

test_that("many rows have 200 functions, or as many as asked, and points may be given", {
  set.seed(4)
  data <- data.frame(x = rnorm(300))
  data$y <- data$x + rnorm(300)
  engine <- engine_vb()
  rough <- suppressWarnings(bsvm(y ~ gp(x, kernel = kernel_matern(0.5, 1)), data,
                                 likelihood = likelihood_gaussian(),
                                 prior = list(gp = prior_relevance()), engine = engine))
  expect_identical(nrow(relevance_vectors(rough)), 200L)
  few <- suppressWarnings(bsvm(y ~ gp(x, points = 7, kernel = kernel_se(0.5)), data,
                               likelihood = likelihood_gaussian(),
                               prior = list(gp = prior_relevance()), engine = engine))
  expect_identical(nrow(relevance_vectors(few)), 7L)
  expect_output(print(summary(few)), "at 7 of 300 rows")
  given <- suppressWarnings(bsvm(y ~ gp(x, points = cbind(c(-1, 0, 1))), data,
                                 likelihood = likelihood_gaussian(),
                                 prior = list(gp = prior_relevance()), engine = engine))
  expect_identical(relevance_vectors(given)$row, rep(NA_integer_, 3L))
})

test_that("what relevance vectors do not go with is refused", {
  data <- motor()
  relevance <- list(gp = prior_relevance())
  gaussian <- likelihood_gaussian()
  expect_error(bsvm(y ~ gp(x, infer = "all"), data, likelihood = gaussian, prior = relevance),
               class = "bsvm_error_unsupported")
  expect_error(bsvm(y ~ gp(x), data, likelihood = gaussian, prior = relevance,
                    engine = "gaussian"), class = "bsvm_error_unsupported")
  expect_error(bsvm(y ~ gp(x, kernel = kernel_se() + kernel_linear()), data, likelihood = gaussian,
                    prior = list("gp(x, kernel = kernel_se() + kernel_linear())1" =
                                   prior_relevance())), class = "bsvm_error_prior")
  expect_error(relevance_vectors(bsvm(y ~ gp(x), data, likelihood = gaussian)),
               class = "bsvm_error_unsupported")
  expect_error(relevance_vectors(3), class = "bsvm_error_argument")
  expect_error(prior_relevance(0), class = "bsvm_error_prior")
  expect_error(prior_relevance(1, scale = NA), class = "bsvm_error_prior")
  expect_error(bsvm(y ~ x + (1 | g), transform(data, g = gl(4, 10)), likelihood = gaussian,
                    prior = list(g = prior_relevance())), class = "bsvm_error_unsupported")
})

# ---- several responses --------------------------------------------------------------------------

test_that("kernels of a choice are drawn with their probability", {
  set.seed(6)
  n <- 30
  data <- data.frame(x = runif(n, -1, 1))
  data$y <- cbind(a = data$x + 0.4 * rnorm(n), b = 2 * data$x^2 + 0.4 * rnorm(n))
  formula <- y ~ gp(x, kernel = kernel_poly(degree = 1:3))
  set.seed(1)
  fit <- suppressWarnings(bsvm(formula, data, likelihood = likelihood_gaussian(),
                               engine = engine_gibbs(draws = 1500, burnin = 200, chains = 2)))
  shares <- tabulate(fit$kernels[[1L]], 3L) / 3000
  expect_lt(shares[1L], 0.05) # no straight line has a square
  expect_output(print(summary(fit)), "Posterior probabilities of the kernels")
  # coefficients of the others are zero, and their variance
  basis <- fit$fits$a$bases[[1L]]
  zero <- vapply(basis$blocks, function(columns) {
    colSums(draw_matrix(fit$fits$a$posterior$coefficients)[columns, , drop = FALSE] != 0) == 0
  }, logical(3000))
  expect_identical(unname(zero), outer(as.integer(fit$kernels[[1L]]), 1:3, `!=`))
  # one response's predictions are those of its draws, without a share of the others' variance
  link <- posterior_linpred(fit$fits$a, newdata = data.frame(x = c(-1.5, 0, 1.5)))
  noise <- apply(link, 2L, sd) / sqrt(3000)
  away <- predict(fit, data.frame(x = c(-1.5, 0, 1.5)))[, "a"] - colMeans(link)
  expect_lt(max(abs(away / noise)), 0.1)
  relevant <- suppressWarnings(bsvm(formula, data, likelihood = likelihood_gaussian(),
                                    prior = list(gp = prior_relevance()),
                                    engine = engine_gibbs(draws = 500, burnin = 200, chains = 2)))
  expect_lt(mean(relevant$kernels[[1L]] == 1), 0.1)
  vectors <- relevance_vectors(relevant)
  expect_identical(nrow(vectors), 180L)
  # kernels that hardly ever are in the model have hardly any relevance
  columns <- relevant$fits$a$bases[[1L]]$blocks[[1L]]
  never <- rowSums(coefficient_draws(relevant$fits$a, columns) != 0) == 0
  if (all(never)) expect_identical(sum(vectors$relevance == 0), 60L)
  expect_error(bsvm(y[, 1] ~ gp(x, kernel = kernel_poly(degree = 1:3)), data,
                    likelihood = likelihood_gaussian()), class = "bsvm_error_unsupported")
  expect_error(update(fit, prior = list("gp(x, kernel = kernel_poly(degree = 1:3))2" =
                                          prior_ridge(variance = 1))), class = "bsvm_error_prior")
})

test_that("a choice of kernels stands beside other terms, and its limits are said", {
  set.seed(7)
  n <- 40
  data <- data.frame(x = runif(n, -1, 1), z = rnorm(n), g = gl(4, 10))
  data$y <- cbind(a = sin(3 * data$x) + 0.3 * rnorm(n), b = data$z + 0.3 * rnorm(n))
  engine <- engine_gibbs(draws = 100, burnin = 100, chains = 2)
  several <- function(formula, ...) {
    suppressMessages(suppressWarnings(bsvm(formula, data, likelihood = likelihood_gaussian(),
                                           engine = engine, ...)))
  }
  choice <- kernel_choice(kernel_se(0.4), kernel_se(1))
  for (formula in list(y ~ gp(x, kernel = choice) + gp(z), y ~ gp(z) + gp(x, kernel = choice) + g,
                       y ~ gp(x, kernel = choice) + gp(z, kernel = choice) + (1 | g))) {
    fit <- several(formula)
    expect_false(anyNA(predict(fit, data)))
    expect_gt(cor(fitted(fit)[, "a"], data$y[, "a"]), 0.8)
  }
  relevance <- list(gp = prior_relevance())
  expect_error(several(y ~ gp(x, kernel = choice) + (1 | g), prior = relevance),
               "grouping factors", class = "bsvm_error_unsupported")
  expect_error(several(y ~ gp(x, kernel = choice) + gp(z, kernel = kernel_matern(0.5, 1)),
                       prior = list("gp(x, kernel = choice)" = prior_relevance())),
               "other blocks", class = "bsvm_error_unsupported")
  data <- data[rep(1:40, 9), ]
  data$x <- rnorm(360)
  expect_error(several(y ~ gp(x, points = 350, kernel = kernel_choice(
    kernel_matern(0.5, 0.2), kernel_matern(0.5, 1))), prior = relevance), "points = 299",
    class = "bsvm_error_unsupported")
  expect_error(kernel_poly(degree = c(2, 2)), class = "bsvm_error_argument")
})

test_that("effective numbers know group effects, wide blocks and the chains of estimates", {
  set.seed(11)
  data <- data.frame(g = gl(25, 2))
  data$x <- rnorm(25)[data$g] + 0.01 * rnorm(50)
  data$y <- sin(data$x) + 0.8 * rnorm(25)[data$g] + 0.3 * rnorm(50)
  relevance <- list(gp = prior_relevance())
  fit <- suppressWarnings(bsvm(y ~ gp(x) + (1 | g), data, likelihood = likelihood_gaussian(),
                               prior = relevance,
                               engine = engine_gibbs(draws = 1000, burnin = 200, chains = 2)))
  without <- suppressWarnings(update(fit, . ~ gp(x)))
  expect_lt(sum(relevance_vectors(fit)$relevance), sum(relevance_vectors(without)$relevance) - 0.5)
  data$w <- matrix(rnorm(50 * 60), 50)
  wide <- suppressWarnings(bsvm(y ~ w + gp(x), data, likelihood = likelihood_gaussian(),
                                prior = c(list(prior_ridge()), relevance),
                                engine = engine_gibbs(draws = 100, burnin = 100, chains = 1)))
  expect_true(all(relevance_vectors(wide)$relevance >= 0))
  frame <- bsvm_frame(y ~ gp(x), data, likelihood = likelihood_gaussian())
  expect_error(bsvm_spec(frame, prior = relevance, likelihood = likelihood_gaussian()),
               class = "bsvm_error_prior")
  expect_error(check_approximation(bsvm(y ~ x, data, likelihood = likelihood_gaussian(),
                                        prior = prior_relevance(), engine = "vb")),
               class = "bsvm_error_unsupported")
  # rows of the other level are no vectors of a level
  data$f <- gl(2, 25, labels = c("a", "b"))
  by <- suppressWarnings(bsvm(y ~ f + gp(x, by = f), data, likelihood = likelihood_gaussian(),
                              prior = relevance, engine = "vb"))
  vectors <- relevance_vectors(by)
  expect_setequal(vectors$row[vectors$term == "gp(x, by = f):fa"], 1:25)
})

test_that("a scale that is given is in squared units of the response", {
  set.seed(12)
  data <- data.frame(x = rnorm(30), z = rnorm(30))
  data$y <- 100 * (data$x + rnorm(30))
  fit_of <- function(prior) {
    set.seed(1)
    suppressWarnings(bsvm(y ~ x + z, data, likelihood = likelihood_gaussian(), prior = prior,
                          engine = engine_gibbs(draws = 500, burnin = 100, chains = 1)))
  }
  unit <- fit_of(prior_relevance())$design$unit
  expect_equal(coef(fit_of(prior_relevance())), coef(fit_of(prior_relevance(scale = unit^2 / 2))),
               tolerance = 1e-8)
  data$y <- data$y / 100
  small <- coef(fit_of(prior_relevance(scale = unit^2 / 2e4)))
  data$y <- data$y * 100
  large <- coef(fit_of(prior_relevance(scale = unit^2 / 2)))
  expect_equal(100 * small[-1L], large[-1L], tolerance = 1e-8) # the intercept has a wide prior
})

test_that("a choice of kernels is between kernels that are known", {
  expect_error(kernel_choice(kernel_se(1)), class = "bsvm_error_argument")
  expect_error(kernel_choice(kernel_se(), kernel_se(1)), "lengthscale",
               class = "bsvm_error_argument")
  expect_error(kernel_choice(kernel_se(1) + kernel_linear(), kernel_se(1)),
               class = "bsvm_error_argument")
  expect_error(kernel_poly(1:2) + kernel_se(1), class = "bsvm_error_argument")
  expect_error(kernel_choice(1, 2), class = "bsvm_error_argument")
  expect_output(print(kernel_poly(degree = 1:2)), "one of kernel_poly")
})

test_that("empirical Bayes holds variances, and is for several responses", {
  set.seed(8)
  data <- data.frame(x = rnorm(30), z = rnorm(30))
  data$y <- cbind(a = data$x + rnorm(30), b = rnorm(30))
  set.seed(1)
  fit <- suppressWarnings(bsvm(y ~ x + z, data, likelihood = likelihood_gaussian(),
                               prior = prior_relevance(1e-6, 1e-6),
                               engine = engine_gibbs(draws = 50, burnin = 600, chains = 2,
                                                     empirical = TRUE)))
  held <- fit$fits$a$posterior$variances[[2L]]
 
  expect_length(unique(c(held[1L, , 1L])), 1L)
  expect_gt(abs(coef(fit)["x", "a"]), 0.5)
  expect_lt(abs(coef(fit)["z", "b"]), 0.3)
  expect_error(bsvm(a ~ x, data.frame(a = data$y[, 1], x = data$x), engine =
                      engine_gibbs(empirical = TRUE), likelihood = likelihood_gaussian()),
               class = "bsvm_error_unsupported")
  expect_error(bsvm(cbind(data$x), data$y[, 1], engine = engine_gibbs(empirical = TRUE),
                    likelihood = likelihood_gaussian()), class = "bsvm_error_unsupported")
  expect_error(update(fit, prior = prior_lasso()), class = "bsvm_error_unsupported")
  expect_error(engine_gibbs(burnin = 50, empirical = TRUE), class = "bsvm_error_argument")
})

test_that("pictures of several responses show slopes of linear kernels, and relevance", {
  skip_if_not_installed("ggplot2")
  set.seed(9)
  x <- matrix(rnorm(150), 30, dimnames = list(NULL, paste0("w", 1:5 * 10)))
  data <- data.frame(z = rnorm(30))
  data$x <- x
  data$y <- cbind(a = drop(x %*% c(1, 0, -1, 0, 2)) + 0.1 * rnorm(30), b = rnorm(30))
  set.seed(1)
  fit <- suppressWarnings(bsvm(y ~ gp(x, kernel = kernel_linear()), data,
                               likelihood = likelihood_gaussian(),
                               engine = engine_gibbs(draws = 300, burnin = 100, chains = 1)))
  picture <- plot(fit, "coefficients")
  shown <- picture$data[picture$data$response == "a", ]
  expect_setequal(as.character(shown$term), colnames(x))
  # the function is linear: rises between new rows are those of the slopes
  new <- data.frame(z = 1:2)
  new$x <- rbind(numeric(5), c(0, 0, 0, 0, 1))
  rise <- colMeans(posterior_linpred(fit$fits$a, newdata = new))
  expect_equal(shown$estimate[shown$term == "w50"], unname(diff(rise)),
               tolerance = 2e-5) # draws for new rows have what rounding leaves over
  expect_s3_class(ggplot2::ggplot_build(picture)$plot, "ggplot")
  relevant <- suppressWarnings(update(fit, prior = list(gp = prior_relevance())))
  picture <- plot(relevant, "relevance")
  expect_identical(nrow(picture$data), 60L)
  expect_s3_class(ggplot2::ggplot_build(picture)$plot, "ggplot")
  expect_error(plot(fit, "relevance"), class = "bsvm_error_unsupported")
  smooth <- suppressWarnings(update(fit, . ~ gp(x)))
  expect_error(plot(smooth, "coefficients"), class = "bsvm_error_unsupported")
})

test_that("the default finds the function of moderately many rows, and engine_vb() does", {
  for (seed in 1:2) {
    set.seed(seed)
    data <- data.frame(x = runif(100, -3, 3))
    data$y <- sin(2 * data$x) + 0.3 * rnorm(100)
    fit <- suppressWarnings(bsvm(y ~ gp(x), data, likelihood = likelihood_gaussian(),
                                 prior = list(gp = prior_relevance())))
    expect_identical(fit$engine$name, "gibbs")
    expect_lt(sqrt(mean((fitted(fit) - sin(2 * data$x))^2)), 0.13)
    vb <- update(fit, engine = "vb")
    expect_lt(sqrt(mean((fitted(vb) - sin(2 * data$x))^2)), 0.15)
  }
  expect_output(print(summary(vb, details = TRUE)),
                "engine_gibbs\\(\\) draws from the posterior itself")
})

test_that("numbers beyond reason, one point and data that are gone are answered", {
  data <- motor()
  engine <- engine_gibbs(draws = 30, burnin = 30, chains = 1)
  one <- suppressWarnings(bsvm(y ~ gp(x, points = 1), data, likelihood = likelihood_gaussian(),
                               prior = list(gp = prior_relevance()), engine = engine))
  expect_identical(nrow(relevance_vectors(one)), 1L)
  wide <- rvm(data, 0.5, 1e300, engine = engine)
  expect_error(relevance_vectors(wide), class = "bsvm_error_numerical")
  several <- transform(data, z = ifelse(seq_len(40) == 2, NaN, x + rnorm(40)))
  fit <- suppressWarnings(bsvm(cbind(y, z) ~ x, several, likelihood = likelihood_gaussian(),
                               engine = engine))
  expect_equal(fit$imputed$row, 2)
  expect_false(anyNA(predict(fit, interval = "prediction")))
  gone <- suppressWarnings(update(fit, keep_data = FALSE))
  rm(several)
  expect_output(print(summary(gone)), "Residuals")
  expect_error(elbo(fit), class = "bsvm_error_unsupported")
  short <- data$x[1:20]
  expect_error(bsvm(cbind(y, short) ~ x, data, likelihood = likelihood_gaussian()),
               class = "bsvm_error_data")
  few <- as.matrix(data[1:20, ])
  expect_error(bsvm(few ~ x, data, likelihood = likelihood_gaussian()), class = "bsvm_error_data")
})

test_that("chains leave the kernel they start with, and what is said of kernels fits choices", {
  set.seed(1)
  n <- 150
  data <- data.frame(x = runif(n, 0, 10), u = rnorm(n), v = rnorm(n))
  data$y <- cbind(a = sin(data$x) + data$u * data$v, b = cos(data$x)) + 0.2 * rnorm(2 * n)
  for (seed in 1:2) {
    set.seed(seed)
    fit <- suppressWarnings(bsvm(
      y ~ gp(x, u, v, kernel = kernel_choice(kernel_se(0.6), kernel_se(1.29))), data,
      likelihood = likelihood_gaussian(), engine = engine_gibbs(draws = 100, burnin = 200)))
    expect_gt(mean(fit$kernels[[1L]] == 2), 0.95)
  }
  few <- data[1:20, ]
  grid <- do.call(kernel_choice, lapply(10^seq(-2, 2), kernel_se))
  expect_no_warning(suppressWarnings(
    bsvm(y ~ gp(x, kernel = grid), few, likelihood = likelihood_gaussian(),
         engine = engine_gibbs(draws = 50, burnin = 50)), classes = "bsvm_warning_convergence"))
  open <- suppressWarnings(bsvm(y ~ gp(x, kernel = kernel_poly(degree = 1:3)), few,
                                likelihood = likelihood_gaussian(),
                                prior = list(gp = prior_ridge()),
                                engine = engine_gibbs(draws = 50, burnin = 50)))
  expect_length(open$kernels, 1L)
})
