# Gaussian-process terms whose kernel stays uncertain, against plain R on grids (helper-gp-inferred.R).

quiet_fit <- bsvm_control(verbose = FALSE)

wave_data <- function(n, seed) {
  set.seed(seed)
  x <- sort(runif(n, -2, 2))
  d <- data.frame(x = (x - mean(x)) / sd(x))
  d$y <- sin(2 * d$x) + 0.4 * rnorm(n)
  d$sign <- ifelse(runif(n) < plogis(4 * sin(2 * d$x)), 1, -1)
  d$class <- factor(d$sign)
  d
}

# l ~ log-normal(0.8, 0.6), s ~ half-t(8, 1).
wave_fit <- function(d, response, engine, likelihood = NULL, infer = "all", control = quiet_fit,
                     kernel = "kernel_se(") {
  formula <- stats::as.formula(paste0(
    response, " ~ 0 + gp(x, kernel = ", kernel, "prior_lognormal(0.8, 0.6)), infer = \"", infer, "\")"
  ))
  bsvm(formula, d, likelihood = likelihood, engine = engine, control = control,
       prior = list(gp = prior_ridge(variance = prior_half_t(8, 1))))
}
wave_grid <- function(size) {
  kernel_grid(exp(seq(log(0.1), log(5), length = size)), exp(seq(log(0.05), log(20), length = size)),
              0.8, 0.6, 8, 1)
}

# Means and standard deviations of l and s.
kernel_numbers_of <- function(fit) {
  all <- suppressWarnings(summary(fit))
  length_scale <- unlist(all$gp$numbers[c("estimate", "sd")])
  amplitude <- if (is.null(fit$posterior$variances)) {
    unlist(all$sds[1L, c("Estimate", "SD")])
  } else {
    s <- sqrt(fit$posterior$variances[[1L]])
    c(mean(s), sd(s))
  }
  rbind(length_scale, amplitude)
}

expect_process <- function(fit, exact, inputs, mean_limit, sd_limit, label) {
  numbers <- kernel_numbers_of(fit)
  expect_close(numbers[, 1L], exact$numbers[, 1L], mean_limit, scale = exact$numbers[, 2L],
               label = paste(label, "numbers"))
  expect_close(numbers[, 2L] / exact$numbers[, 2L], rep(1, 2), sd_limit, label = paste(label, "sds"))
  link <- bsvm:::posterior_linear(fit, bsvm:::new_design(fit, data.frame(x = inputs)))
  expect_close(link$mean, exact$mean, mean_limit, scale = exact$sd, label = paste(label, "function"))
  expect_close(link$sd / exact$sd, rep(1, length(inputs)), sd_limit, label = paste(label, "its sd"))
}

test_that("an uncertain kernel of numbers agrees with the evidence on a grid", {
  skip_on_cran()
  d <- wave_data(40, 4)
  inputs <- c(d$x[c(1, 10, 25)], -2.2, 0.3, 2.5)
  exact <- normal_process(d$x, d$y, inputs, 0.4, wave_grid(61))
  likelihood <- likelihood_gaussian(scale = 0.4)
  expect_process(wave_fit(d, "y", "gaussian", likelihood), exact, inputs, 0.03, 0.06, "gaussian")
  set.seed(1)
  for (engine in list(engine_slice(draws = 2000, burnin = 300),
                      engine_gibbs(draws = 2000, burnin = 300))) {
    fit <- wave_fit(d, "y", engine, likelihood)
    expect_process(fit, exact, inputs, 0.06, 0.06, engine$name)
    drawn <- suppressWarnings(summary(fit))$variance_draws
    # Coefficients follow the kernel, so that draws are nearly independent.
    expect_true(all(drawn[, "Bulk_ESS"] > 4000), label = engine$name)
  }
})

# As many columns as rows: gaussian/full_kernel.
test_that("an uncertain rough kernel of many rows agrees with the evidence on a grid", {
  skip_on_cran()
  d <- wave_data(110, 14)
  inputs <- c(d$x[c(1, 40, 90)], -2.2, 0.3, 2.5)
  exact <- normal_process(d$x, d$y, inputs, 0.4, wave_grid(41),
                          function(x, v, l) exp(-abs(outer(x, v, "-")) / l))
  fit <- wave_fit(d, "y", "gaussian", likelihood_gaussian(scale = 0.4), kernel = "kernel_matern(0.5, ")
  expect_gt(length(fit$design$columns), 66)
  expect_process(fit, exact, inputs, 0.03, 0.06, "gaussian")
  # With the scale inferred, too.
  set.seed(3)
  open <- lapply(list("gaussian", engine_slice(draws = 300, burnin = 100)), function(engine) {
    suppressWarnings(wave_fit(d, "y", engine, likelihood_gaussian(), kernel = "kernel_matern(0.5, "))
  })
  numbers <- lapply(open, kernel_numbers_of)
  expect_close(numbers[[1L]][, 1L], numbers[[2L]][, 1L], 0.2, scale = numbers[[2L]][, 2L])
  scales <- c(summary(open[[1L]])$parameters["scale", "Estimate"],
              suppressWarnings(summary(open[[2L]]))$variance_draws["scale", "Estimate"])
  expect_close(scales[1L], scales[2L], 0.01, scale = 1)
})

test_that("an uncertain kernel of classes agrees with importance sampling", {
  skip_on_cran()
  d <- wave_data(24, 7)
  inputs <- c(d$x[c(1, 10, 22)], -2.2, 0.3, 2.5)
  exact <- hinge_process(d$x, d$sign, inputs, wave_grid(21), draws = 10000)
  expect_gt(exact$size, 100)
  expect_process(wave_fit(d, "class", "gaussian"), exact, inputs, 0.12, 0.15, "gaussian")
  set.seed(2)
  fit <- wave_fit(d, "class", engine_slice(draws = 2000, burnin = 300))
  expect_process(fit, exact, inputs, 0.1, 0.1, "slice")
})

test_that("a common factor of one length scale is that length scale", {
  d <- wave_data(30, 3)
  both <- lapply(c("all", "factor"), function(infer) wave_fit(d, "class", "gaussian", infer = infer))
  of <- function(fit) unlist(summary(fit)$gp$numbers[c("estimate", "sd", "lower", "upper")])
  expect_close(of(both[[1L]]), of(both[[2L]]), 1e-3)
  expect_close(both[[1L]]$elbo, both[[2L]]$elbo, 1e-4)
  factor <- summary(both[[2L]])$parameters
  expect_match(rownames(factor), ": factor$")
  learned <- both[[2L]]$bases[[1L]]$parts[[1L]]$numbers$theta
  expect_close(factor[1L] * exp(learned), of(both[[1L]])[["estimate"]], 1e-3)
})

# Of length scales log l_d ~ N(m_d, s_d^2) along the line of those proportional to the learned ones.
test_that("the prior of a common factor is that of the length scales along their line", {
  d <- wave_data(40, 5)
  d$z <- cos(seq_len(40))
  fit <- bsvm(y ~ gp(x, z, kernel = kernel_se(prior_lognormal(2, 0.5), ard = TRUE) *
                       kernel_matern(lengthscale = prior_lognormal(1, 0.8)), infer = "factor"),
              d, likelihood = likelihood_gaussian(), engine = "gaussian", control = quiet_fit)
  basis <- fit$bases[[1L]]
  theta <- basis$parts[[1L]]$numbers$theta
  by <- seq(-1, 1, by = 0.5)
  along <- vapply(by, function(b) {
    sum(dnorm(theta + b, log(c(2, 2, 1)), c(0.5, 0.5, 0.8), log = TRUE))
  }, 0)
  prior <- basis$inferred$factor$parameters
  own <- dnorm(by, log(prior[["median"]]), prior[["sd"]], log = TRUE)
  expect_close(diff(along), diff(own), 1e-12)
})

test_that("numbers that are given stay, and those without a prior are refused", {
  d <- wave_data(30, 6)
  fit <- bsvm(y ~ gp(x, kernel = kernel_se(lengthscale = 2) * kernel_periodic(period = 3),
                     infer = "all"), d, likelihood = likelihood_gaussian(), engine = "gaussian",
              control = quiet_fit)
  numbers <- summary(fit)$gp$numbers
  expect_close(numbers$estimate[numbers$number == "length scale"],
               2 * fit$bases[[1L]]$inputs$scale, 1e-12)
  expect_identical(numbers$inferred, c(FALSE, TRUE, FALSE))
  expect_close(numbers$estimate[numbers$number == "period"], 3, 1e-12)
  expect_true(all(is.na(numbers$sd[!numbers$inferred])))
  expect_true(all(numbers$sd[numbers$inferred] > 0))
  none <- function(kernel, infer) {
    bsvm(stats::as.formula(paste0("y ~ gp(x, kernel = ", kernel, ", infer = \"", infer, "\")")), d,
         likelihood = likelihood_gaussian(), control = quiet_fit)
  }
  for (infer in c("all", "factor")) {
    expect_error(none("kernel_se(lengthscale = 1)", infer), "that have a prior, and",
                 class = "bsvm_error_formula")
  }
  expect_error(none("kernel_linear()", "factor"), "Omit `infer`", class = "bsvm_error_formula")
  expect_error(none("kernel_se()", "some"), "`infer` of", class = "bsvm_error_formula")
  expect_error(bsvm(y ~ gp(x, points = 3, infer = "all"), d, likelihood = likelihood_gaussian(),
                    control = quiet_fit), "Use more: points = 100",
               class = "bsvm_error_unsupported")
})

test_that("without infer nothing changes", {
  d <- wave_data(30, 6)
  fits <- list(bsvm(class ~ gp(x), d, engine = "gaussian", control = quiet_fit),
               bsvm(class ~ gp(x, infer = "none"), d, engine = "gaussian", control = quiet_fit))
  expect_identical(fits[[1L]]$posterior$mean, fits[[2L]]$posterior$mean)
  expect_null(fits[[2L]]$bases[[1L]]$inferred)
})

test_that("threads and pieces of a run give the same draws of a kernel", {
  skip_on_cran()
  d <- wave_data(25, 8)
  kept <- tempfile()
  draws <- function(threads, draws = 40, ...) {
    set.seed(5)
    wave_fit(d, "class", engine_slice(draws = draws, burnin = 30, ...),
             control = bsvm_control(verbose = FALSE, threads = threads))
  }
  one <- suppressWarnings(draws(1))
  expect_identical(suppressWarnings(draws(2))$posterior$variances, one$posterior$variances)
  suppressWarnings(draws(1, 15, checkpoint = kept))
  resumed <- suppressWarnings(draws(1, checkpoint = kept, resume = TRUE))
  expect_identical(resumed$posterior$variances, one$posterior$variances)
  expect_identical(resumed$posterior$coefficients, one$posterior$coefficients)
  fits <- lapply(1:2, function(threads) {
    wave_fit(d, "class", "gaussian", control = bsvm_control(verbose = FALSE, threads = threads))
  })
  expect_identical(fits[[1L]]$posterior$mean, fits[[2L]]$posterior$mean)
})

test_that("predictions are those of the draws, by hand", {
  skip_on_cran()
  d <- wave_data(20, 9)
  set.seed(1)
  fit <- suppressWarnings(wave_fit(d, "class", engine_slice(draws = 200, burnin = 50, chains = 1)))
  inputs <- c(-1, 0.2, 4)
  points <- fit$bases[[1L]]$parts[[1L]]$points[, 1L]
  x <- (inputs - fit$bases[[1L]]$inputs$center) / fit$bases[[1L]]$inputs$scale
  lengths <- sqrt(fit$posterior$variances[[2L]][1L, , 1L])
  moments <- vapply(seq_along(lengths), function(s) {
    k <- se_covariance(points, points, lengths[s])
    features <- backsolve(chol(k + 1e-8 * diag(length(points))),
                          se_covariance(points, x, lengths[s]), transpose = TRUE)
    c(crossprod(features, fit$posterior$coefficients[, s, 1L]),
      (1 - colSums(features^2)) * fit$posterior$variances[[1L]][1L, s, 1L])
  }, numeric(6))
  drawn <- bsvm:::made_draws(fit, bsvm:::new_design(fit, data.frame(x = inputs)))
  expect_close(drawn[1:2, ], moments[1:2, ], 0.02, scale = 1) # what is left over is nothing there
  noise <- (drawn[3L, ] - moments[3L, ]) / sqrt(moments[6L, ])
  expect_close(sqrt(mean(noise^2)), 1, 0.15)
  expect_close(predict(fit, data.frame(x = inputs), type = "link"),
               rowMeans(drawn), 1e-10)
  expect_close(unname(fitted(fit)), unname(predict(fit, d, type = "link")), 1e-10)
})

# Far from all rows a function is its prior: variances of parts add up.
test_that("what is left over is independent between parts and terms", {
  d <- wave_data(25, 13)
  d$z <- cos(seq_len(25))
  far <- data.frame(x = 50, z = seq(50, 90, length.out = 40))
  variance <- function(formula) {
    set.seed(4)
    fit <- suppressWarnings(bsvm(formula, d, control = quiet_fit,
                                 engine = engine_slice(draws = 250, burnin = 20, chains = 1),
                                 prior = list(gp = prior_ridge(variance = 1))))
    mean(bsvm:::made_draws(fit, bsvm:::new_design(fit, far))^2)
  }
  one <- variance(class ~ 0 + gp(x, infer = "all"))
  expect_close(one, 1, 0.06)
  for (formula in list(class ~ 0 + gp(x, infer = "all") + gp(z, infer = "all"),
                       class ~ 0 + gp(x, infer = "all") + gp(z, points = 5),
                       class ~ 0 + gp(x, kernel = kernel_se() + kernel_matern(), infer = "all"))) {
    expect_close(variance(formula), 2, 0.12, scale = 1)
  }
})

test_that("terms with an uncertain kernel stand next to others, and are read", {
  skip_on_cran()
  d <- wave_data(60, 10)
  d$z <- rnorm(60)
  d$g <- factor(rep_len(letters[1:6], 60))
  d$f <- factor(rep_len(c("u", "v"), 60))
  two <- bsvm(class ~ z + gp(x, infer = "all") + gp(z), d, engine = "gaussian",
              control = quiet_fit)
  by_hand <- predict(two, d, type = "link")
  expect_close(unname(fitted(two)), unname(by_hand), 1e-8)
  expect_identical(bsvm:::basis_labels(two$bases), c("gp(z)", "gp(x, infer = \"all\")"))
  by <- bsvm(class ~ f + gp(x, by = f, infer = "factor"), d, engine = "gaussian",
              control = quiet_fit)
  expect_identical(nrow(summary(by)$parameters), 2L)
  expect_close(unname(fitted(by)), unname(predict(by, d, type = "link")), 1e-8)
  times <- bsvm(class ~ gp(x, by = z, infer = "all"), d, engine = "gaussian",
              control = quiet_fit)
  expect_close(unname(fitted(times)), unname(predict(times, d, type = "link")), 1e-8)
  sum <- bsvm(class ~ gp(x, z, kernel = kernel_se() + kernel_matern(), infer = "all"), d,
              engine = "gaussian", control = quiet_fit)
  expect_match(rownames(summary(sum)$parameters), "lengthscale \\((se|matern)\\)$")
  expect_identical(nrow(VarCorr(sum)[[1L]]), 1L)
  grouped <- bsvm(class ~ gp(x, infer = "all") + (1 | g), d, engine = "gaussian",
              control = quiet_fit)
  expect_identical(grouped$engine$name, "gaussian")
  expect_close(unname(fitted(grouped)), unname(predict(grouped, d, type = "link")), 1e-8)
  other <- update(two, . ~ . - gp(z))
  expect_identical(length(other$bases), 1L)
  missing <- predict(other, data.frame(x = c(0, NA), z = 0), type = "link")
  expect_identical(is.na(unname(missing)), c(FALSE, TRUE))
  expect_s3_class(loo(other), "loo")
  expect_output(print(summary(other)), "length scale of x")
  expect_error(bsvm(class ~ gp(x, infer = "all"), d, engine = "em", likelihood = "hinge",
                    prior = list("(Intercept)" = prior_ridge(variance = 4),
                                 gp = prior_ridge(variance = 2)), control = quiet_fit),
               "Engines that can fit this model", class = "bsvm_error_unsupported")
})

test_that("several grouping factors are refused whatever the engine, with what to write", {
  d <- wave_data(30, 10)
  d$g <- gl(5, 6)
  d$h <- gl(3, 1, 30)
  for (engine in list(NULL, "gaussian", "gibbs", "slice", "vb")) {
    expect_refusal(suppressMessages(bsvm(class ~ gp(x, infer = "all") + (1 | g) + (1 | h), d,
                                         engine = engine, likelihood = "hinge",
                                         control = quiet_fit)),
                   "unsupported", c("gp(x, infer = \"all\")", "`g` and `h`", "one grouping factor",
                                    "infer = \"none\""))
  }
})

test_that("pictures of a function average over its kernel", {
  skip_on_cran()
  skip_if_not_installed("ggplot2")
  d <- wave_data(40, 11)
  d$z <- rnorm(40)
  set.seed(1)
  fits <- list(bsvm(class ~ gp(x, infer = "all"), d, engine = "gaussian", control = quiet_fit),
               suppressWarnings(bsvm(class ~ gp(x, infer = "all"), d, control = quiet_fit,
                                     engine = engine_slice(draws = 300, burnin = 100))))
  shown <- lapply(fits, function(fit) plot(fit, "gp")$data)
  expect_close(shown[[1L]]$fit, shown[[2L]]$fit, 0.3, scale = mean(shown[[2L]]$upper - shown[[2L]]$fit))
  # Less its mean over the rows.
  at <- stats::approx(shown[[1L]]$x, shown[[1L]]$fit, d$x)$y
  expect_lt(abs(mean(at)), 0.01)
  map <- bsvm(class ~ gp(x, z, infer = "factor"), d, engine = "gaussian", control = quiet_fit)
  expect_s3_class(plot(map, "gp"), "ggplot")
  three <- bsvm(class ~ gp(x, z, sign, kernel = kernel_se(ard = TRUE), infer = "all"), d,
                engine = "gaussian", control = quiet_fit)
  expect_s3_class(plot(three, "gp"), "ggplot")
  expect_s3_class(plot(three, "relevance"), "ggplot")
})

test_that("under the pseudo-likelihood one is told that functions are rough", {
  d <- wave_data(25, 12)
  session <- bsvm:::session
  old <- session$rough_functions
  session$rough_functions <- NULL
  on.exit(session$rough_functions <- old)
  fit <- function() {
    bsvm(class ~ gp(x, infer = "all"), d, engine = "gaussian", likelihood = "hinge",
         control = quiet_fit)
  }
  expect_message(fit(), "prefers short length scales", class = "bsvm_message_rough_functions")
  expect_no_message(fit(), class = "bsvm_message_rough_functions")
})

test_that("closed scores of kernels that are inferred, and leave something over, are those of refits", {
  data(crabs, package = "MASS")
  few <- crabs[seq(1, 200, by = 2), ]
  fit_to <- function(rows) {
    quietly(bsvm(sex ~ gp(FL, RW, points = 4, infer = "factor"), rows, engine = "gaussian"))
  }
  fit <- fit_to(few)
  expect_gt(bsvm:::largest_left_over(fit), bsvm:::least_left)
  left_out <- seq(1, 100, by = 4)
  refits <- vapply(left_out, function(i) {
    log(predict(fit_to(few[-i, ]), few[i, ], type = "prob")[1L, as.character(few$sex[i])])
  }, 0)
  expect_equal(sum(loo(fit)$pointwise[left_out, "elpd_loo"]), sum(refits), tolerance = 0.04)
})

test_that("a known function next to an uncertain one leaves the rows of the fit what they were", {
  d <- with_seed(1, data.frame(x = rnorm(60), z = rnorm(60)))
  d$y <- with_seed(2, sin(2 * d$x) + d$z + rnorm(60) / 3)
  fit <- quietly(bsvm(y ~ gp(z, points = 4) + gp(x, infer = "all"), d,
                      engine = engine_slice(draws = 100, burnin = 50, chains = 1),
                      likelihood = likelihood_gaussian()))
  expect_equal(predict(fit, interval = TRUE), predict(fit, d, interval = TRUE))
  # What few points leave over is noise in draws of a response.
  expect_equal(predict(fit)[seq_len(60)], unname(fitted(fit)), tolerance = 5e-3, ignore_attr = TRUE)
})
