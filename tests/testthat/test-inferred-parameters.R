# A likelihood with an inferred scale, or a scale and a shape, and a term with an inferred width are
# added to a copy of the source as new files, and agree with quadrature in every engine that takes
# them.

with_parameters <- c("tube/tube.cpp" = "src/core/likelihood", "tube/likelihood-tube.R" = "R",
                     "tube/response-metres.R" = "R", "hill/hill.cpp" = "src/core/block",
                     "hill/basis-hill.R" = "R")

# Weighted moments over a grid: `log_density` (points, values of the parameter), `points` a row each.
grid_moments <- function(log_density, points, theta) {
  w <- exp(log_density - max(log_density))
  w <- w / sum(w)
  moments <- function(x, w) c(mean = sum(w * x), sd = sqrt(sum(w * x^2) - sum(w * x)^2))
  list(coefficients = apply(points, 2L, moments, rowSums(w)),
       parameter = moments(exp(theta), colSums(w)), weights = w)
}

# ---- a likelihood -------------------------------------------------------------------------------

tube_data <- function(n = 40, seed = 2) {
  set.seed(seed)
  d <- data.frame(x1 = rnorm(n), x2 = rnorm(n), g = factor(rep_len(1:8, n)))
  d$y <- d$x1 - d$x2 / 2 + 0.7 * rexp(n) * sample(c(-1, 1), n, TRUE)
  d
}
epsilon <- 0.3

# log p(y, b, log scale), less what is constant: b ~ N(0, 4), scale half-t(3, 1.5).
tube_log_density <- function(d, points, theta) {
  f <- points %*% t(as.matrix(d[c("x1", "x2")]))
  excess <- rowSums(pmax(abs(sweep(f, 2L, d$y)) - epsilon, 0))
  prior <- -rowSums(points^2) / 8
  vapply(theta, function(t) {
    scale <- exp(t)
    -nrow(d) * log(2 * (scale + epsilon)) - excess / scale + prior + t +
      dt(scale / 1.5, 3, log = TRUE)
  }, numeric(nrow(points)))
}

# The bound of q(b) = N(m, L L') with latent scales averaged out, at a scale.
tube_bound <- function(x, d) {
  m <- x[1:2]
  root <- matrix(c(exp(x[3L]), x[4L], 0, exp(x[5L])), 2L)
  scale <- exp(x[6L])
  design <- as.matrix(d[c("x1", "x2")])
  f <- drop(design %*% m)
  v <- rowSums((design %*% root)^2)
  hinge <- function(u) (u + sqrt(u^2 + v)) / 2
  rows <- -log(2 * (scale + epsilon)) - (hinge(d$y - f - epsilon) + hinge(f - d$y - epsilon)) / scale
  prior <- -log(2 * pi * 4) - (sum(m^2) + sum(root^2)) / 8
  half_t <- log(2) + dt(scale / 1.5, 3, log = TRUE) - log(1.5) + x[6L]
  sum(rows) + prior + half_t + 1 + log(2 * pi) + x[3L] + x[5L]
}

fit_tube <- quote({
  quiet <- bsvm_control(verbose = FALSE)
  tube <- bsvm:::likelihood_tube(0.3, prior_half_t(3, 1.5))
  of_scale <- function(all) {
    (if (is.null(all$parameters)) all$variance_draws else all$parameters)["scale", 1:2]
  }
  plain <- function(engine) {
    fit <- bsvm(y ~ 0 + x1 + x2, d$plain, likelihood = tube, prior = prior_ridge(variance = 4),
                standardize = FALSE, control = quiet, engine = engine)
    all <- summary(fit)
    list(numbers = rbind(all$coefficients[, 1:2], scale = of_scale(all)), fit = fit)
  }
  grouped <- function(engine) {
    suppressWarnings(bsvm(y ~ x1 + (1 | g), d$grouped, likelihood = tube, engine = engine,
                          control = quiet))
  }
  in_groups <- function(engine) {
    fit <- grouped(engine)
    all <- summary(fit)
    list(numbers = c(all$coefficients["x1", 1:2], of_scale(all)), passes = fit$passes)
  }
  same <- function(engine) {
    kept <- tempfile()
    piece <- function(draws, ...) {
      grouped(engine(draws, burnin = 100, chains = 1, checkpoint = kept, ...))
    }
    drawn <- function(fit) fit$posterior[c("coefficients", "variances")]
    set.seed(4)
    whole <- grouped(engine(60, burnin = 100, chains = 1))
    set.seed(4)
    piece(30)
    identical(drawn(whole), drawn(piece(60, resume = TRUE)))
  }
  refused <- function(...) {
    tryCatch(bsvm(..., likelihood = tube), error = function(e) class(e)[1L])
  }
  for_classes <- function(code) {
    tryCatch(code, bsvm_error_unsupported = function(e) grepl("metres", conditionMessage(e)))
  }
  message_of <- function(code) tryCatch(code, bsvm_error_unsupported = conditionMessage)
  set.seed(1)
  vb <- plain(engine_vb())
  drawn <- plain(engine_slice(draws = 50, burnin = 50))$fit
  list(
    gaussian = plain(engine_gaussian())$numbers,
    slice = plain(engine_slice(draws = 5000, burnin = 500))$numbers,
    gibbs = plain(engine_gibbs(draws = 5000, burnin = 500))$numbers,
    vb = list(mean = fixef(vb$fit), covariance = vcov(vb$fit), bound = elbo(vb$fit),
              scale = vb$numbers["scale", 1L]),
    groups = list(gaussian = in_groups(engine_gaussian()),
                  slice = in_groups(engine_slice(draws = 3000)),
                  gibbs = in_groups(engine_gibbs(draws = 3000))),
    printed = capture.output(print(vb$fit)),
    summarised = capture.output(print(summary(vb$fit, details = TRUE))),
    checked = suppressWarnings(check_approximation(vb$fit))$table,
    messages = c(em = message_of(bsvm(y ~ x1 + x2, d$plain, likelihood = tube, engine = "em")),
                 log_lik = message_of(log_lik(drawn)),
                 predict = message_of(posterior_predict(drawn)),
                 loo = message_of(loo(grouped(engine_gaussian())))),
    same = c(same(engine_gibbs), same(engine_slice)),
    selected = inclusion(bsvm(y ~ x1 + x2, d$plain, prior = prior_spike_slab(), likelihood = tube,
                              control = bsvm_control(verbose = FALSE)))$probability,
    refused = c(refused(y ~ x1 + z, transform(d$plain, z = replace(x2, 1:3, NA)),
                        missing = missing_normal()),
                refused(y ~ x1 + x2, d$plain, engine = engine_em())),
    for_classes = c(for_classes(calibration(vb$fit, d$plain)),
                    for_classes(calibration_map(vb$fit, d$plain)),
                    for_classes(bsvm_parsnip(y ~ x1, d$plain, likelihood = tube)),
                    for_classes(holdout(list(vb$fit, tuned_svm()), d$plain)))
  )
})

test_that("engines with an inferred scale agree with quadrature and a twin, or refuse it", {
  skip_on_cran()
  d <- list(plain = tube_data(), grouped = tube_data(120))
  d$grouped$y <- d$grouped$y + rnorm(8)[d$grouped$g]
  found <- in_extended(fit_tube, d, with_parameters)

  points <- as.matrix(expand.grid(seq(0, 2.2, length = 121), seq(-1.5, 0.4, length = 121)))
  theta <- seq(log(0.25), log(2.2), length = 61)
  exact <- grid_moments(tube_log_density(d$plain, points, theta), points, theta)
  means <- c(exact$coefficients["mean", ], exact$parameter[["mean"]])
  sds <- c(exact$coefficients["sd", ], exact$parameter[["sd"]])
  for (engine in c("gaussian", "slice", "gibbs")) {
    # The scale's distribution is skewed: the Gaussian engine has its sd to 3 %.
    limit <- if (engine == "gaussian") c(0.02, 0.02, 0.03) else 0.05
    expect(all(abs(found[[engine]][, 1L] - means) / sds < 0.04), paste("means of", engine))
    expect(all(abs(found[[engine]][, 2L] / sds - 1) < limit), paste("sds of", engine))
  }

  best <- optim(c(1, -0.5, -2, 0, -2, -0.5), tube_bound, d = d$plain, method = "BFGS",
                control = list(fnscale = -1, maxit = 1000, reltol = 1e-15))
  root <- matrix(c(exp(best$par[3L]), best$par[4L], 0, exp(best$par[5L])), 2L)
  sd <- sqrt(rowSums(root^2))
  expect_close(found$vb$mean, best$par[1:2], 1e-4, scale = sd)
  expect_close(found$vb$covariance, tcrossprod(root), 1e-4, scale = outer(sd, sd))
  expect_close(found$vb$scale, exp(best$par[6L]), 1e-5)
  expect_close(found$vb$bound, best$value, 1e-8)

  for (engine in c("slice", "gaussian"))
    expect_close(found$groups[[engine]]$numbers, found$groups$gibbs$numbers, 0.08,
                 scale = found$groups$gibbs$numbers[c(2, 2, 4, 4)], label = engine)
  expect_lt(found$groups$gaussian$passes, 300)
  for (text in c("Inferred parameters:", "^scale ")) {
    expect_match(found$printed, text, all = FALSE)
    expect_match(found$summarised, text, all = FALSE)
  }
  # engine_vb() knows no standard deviation of a parameter, and is not blamed for it.
  expect_identical(rownames(found$checked), c("x1", "x2", "scale"))
  expect_identical(is.na(found$checked$sd), c(FALSE, FALSE, TRUE))
  expect_match(found$messages, "a likelihood whose `scale` is inferred", fixed = TRUE)
  expect_identical(found$same, c(TRUE, TRUE))
  expect_true(all(grepl("^bsvm_error_(unsupported|missing|prior)$", found$refused)),
              info = paste(found$refused, collapse = " "))
  expect_true(all(found$selected > 0.5 & found$selected <= 1))
  expect_identical(found$for_classes, rep(TRUE, 4L))
})

# ---- two parameters -----------------------------------------------------------------------------

# As tube_log_density(), with half-t(3, 1) odds of what is beyond epsilon; theta (k x 2).
odds_log_density <- function(d, points, theta) {
  away <- abs(sweep(points %*% t(as.matrix(d[c("x1", "x2")])), 2L, d$y))
  prior <- -rowSums(points^2) / 8
  vapply(seq_len(nrow(theta)), function(k) {
    scale <- exp(theta[k, 1L])
    odds <- exp(theta[k, 2L])
    -nrow(d) * log(2 * (scale + scale / odds)) - rowSums(pmax(away - scale / odds, 0)) / scale +
      prior + sum(theta[k, ]) + dt(scale / 1.5, 3, log = TRUE) + dt(odds, 3, log = TRUE)
  }, numeric(nrow(points)))
}

fit_odds <- quote({
  both <- bsvm:::likelihood_tube(scale = prior_half_t(3, 1.5), odds = prior_half_t(3, 1))
  numbers <- function(engine) {
    fit <- bsvm(y ~ 0 + x1 + x2, d, likelihood = both, prior = prior_ridge(variance = 4),
                standardize = FALSE, engine = engine, control = bsvm_control(verbose = FALSE))
    all <- summary(fit)
    two <- if (is.null(all$parameters)) all$variance_draws else all$parameters
    list(coefficients = all$coefficients, parameters = two, passes = fit$passes)
  }
  variational <- function(data, threads = 1, ...) {
    fit <- bsvm(y ~ 0 + x1 + x2 + (1 | g), data, ..., likelihood = both, engine = "vb",
                control = bsvm_control(verbose = FALSE, tol = 1e-13, threads = threads))
    c(fixef(fit), summary(fit)$parameters[, 1L], elbo(fit))
  }
  d$times <- rep_len(1:3, nrow(d))
  d$away <- sin(seq_len(nrow(d)))
  same <- list(weights = list(variational(d, weights = times),
                              variational(d[rep(seq_len(nrow(d)), d$times), ])),
               offset = list(variational(d, offset = away),
                             variational(transform(d, y = y - away))),
               threads = list(variational(d), variational(d, threads = 2)))
  set.seed(1)
  list(same = same, gaussian = numbers(engine_gaussian()), vb = numbers(engine_vb()),
       slice = numbers(engine_slice(draws = 5000, burnin = 500)),
       gibbs = numbers(engine_gibbs(draws = 5000, burnin = 500)))
})

test_that("a scale and a shape that are inferred together agree with quadrature", {
  skip_on_cran()
  d <- tube_data(100, seed = 3)
  d$y <- d$x1 - d$x2 / 2 + rnorm(100)
  points <- as.matrix(expand.grid(seq(0.4, 1.6, length = 31), seq(-1.2, 0, length = 31)))
  theta <- as.matrix(expand.grid(seq(log(0.08), log(1.6), length = 61),
                                 seq(log(0.04), log(16), length = 61)))
  log_density <- odds_log_density(d, points, theta)
  w <- exp(log_density - max(log_density))
  w <- w / sum(w)
  moments <- function(x, w) c(sum(w * x), sqrt(sum(w * x^2) - sum(w * x)^2))
  exact <- rbind(t(apply(points, 2L, moments, rowSums(w))),
                 t(apply(exp(theta), 2L, moments, colSums(w))))
  found <- in_extended(fit_odds, d, with_parameters)
  for (engine in c("gaussian", "slice", "gibbs")) {
    of <- rbind(found[[engine]]$coefficients, found[[engine]]$parameters)
    expect_close(of[, 1L], exact[, 1L], 0.05, scale = exact[, 2L], label = engine)
    expect_close(of[1:3, 2L] / exact[1:3, 2L], rep(1, 3), 0.05, label = engine)
    # That of the odds has a long tail, of which the Gaussian engine has the middle.
    expect_close(of[4L, 2L] / exact[4L, 2L], 1, if (engine == "gaussian") 0.3 else 0.15,
                 label = engine)
  }
  # Each is correlated with the other by -0.8: along one at a time there were 3000 of 20000.
  for (engine in c("slice", "gibbs"))
    expect_true(all(found[[engine]]$parameters[, "Bulk_ESS"] > 5000))
  expect_lt(found$vb$passes, 40)
  for (pair in found$same) expect_close(pair[[1L]], pair[[2L]], 1e-8)
  expect_identical(found$same$threads[[1L]], found$same$threads[[2L]])
})

# ---- a term -------------------------------------------------------------------------------------

hill_data <- function(n = 800, seed = 5) {
  set.seed(seed)
  x <- runif(n, -2, 2)
  f <- 2 * exp(-(x - 1)^2 / 0.32) - 1.2 * exp(-(x + 1)^2 / 0.32)
  data.frame(x, y = factor(ifelse(runif(n) < plogis(4 * f), "b", "a")))
}
hill_columns <- function(x, width) exp(-outer(x, c(-1, 1), "-")^2 / (2 * width^2))

# b ~ N(0, 2), width half-t(3, 1).
hill_log_density <- function(d, points, theta) {
  sign <- ifelse(d$y == "b", 1, -1)
  vapply(theta, function(t) {
    g <- points %*% t(sign * hill_columns(d$x, exp(t)))
    odds <- 2 * pmax(1 + g, 0) - 2 * pmax(1 - g, 0)
    rowSums(plogis(odds, log.p = TRUE)) - rowSums(points^2) / 4 + t + dt(exp(t), 3, log = TRUE)
  }, numeric(nrow(points)))
}

fit_hill <- quote({
  numbers <- function(engine, likelihood = NULL) {
    fit <- bsvm(y ~ 0 + hill(x), d, prior = list("hill(x)" = prior_ridge(variance = 2)),
                likelihood = likelihood, engine = engine, control = bsvm_control(verbose = FALSE))
    all <- summary(fit)
    width <- if (is.null(all$parameters)) all$variance_draws else all$parameters
    list(coefficients = all$coefficients[, 1:2], width = width["hill(x): width", 1:2],
         link = predict(fit, data.frame(x = c(-1, 0, 0.5, 1, 1.5)), type = "link",
                        interval = TRUE),
         same = max(abs(predict(fit, d, type = "link") - fitted(fit))))
  }
  set.seed(6)
  list(gaussian = numbers(engine_gaussian()),
       slice = numbers(engine_slice(draws = 4000, burnin = 500)),
       pseudo = lapply(list(gaussian = engine_gaussian(), slice = engine_slice(draws = 2000),
                            gibbs = engine_gibbs(draws = 2000)), numbers, "hinge"))
})

test_that("a term with an inferred width agrees with quadrature, and so do its predictions", {
  skip_on_cran()
  d <- hill_data()
  points <- as.matrix(expand.grid(seq(-2.8, -0.3, length = 41), seq(0.6, 4.4, length = 51)))
  theta <- seq(log(0.28), log(0.7), length = 41)
  exact <- grid_moments(hill_log_density(d, points, theta), points, theta)
  links <- lapply(theta, function(t) points %*% t(hill_columns(c(-1, 0, 0.5, 1, 1.5), exp(t))))
  over_grid <- function(power) {
    rowSums(mapply(function(f, k) colSums(f^power * exact$weights[, k]), links, seq_along(theta)))
  }
  mean <- over_grid(1)
  sd <- sqrt(over_grid(2) - mean^2)
  found <- in_extended(fit_hill, d, with_parameters)
  for (engine in c("gaussian", "slice")) {
    of <- found[[engine]]
    limit <- if (engine == "gaussian") 0.03 else 0.05 # the latter: Monte Carlo error
    expect_lt(of$same, 1e-12)
    expect_close(of$width[[1L]], exact$parameter[["mean"]], 0.05, scale = exact$parameter[["sd"]])
    expect_close(of$width[[2L]] / exact$parameter[["sd"]], 1, limit)
    expect_close(of$coefficients[, 1L], exact$coefficients["mean", ], 0.05,
                 scale = exact$coefficients["sd", ])
    expect_close(of$coefficients[, 2L] / exact$coefficients["sd", ], rep(1, 2), limit)
    expect_close(of$link$fit, mean, 0.05, scale = sd)
    expect_close(of$link$sd / sd, rep(1, 5), limit)
  }
  # Gibbs sampling draws the width given the coefficients, and agrees with the others.
  for (engine in c("slice", "gaussian")) {
    expect_close(found$pseudo[[engine]]$width[[1L]], found$pseudo$gibbs$width[[1L]], 0.15,
                 scale = found$pseudo$gibbs$width[[2L]])
    expect_close(found$pseudo[[engine]]$link$fit, found$pseudo$gibbs$link$fit, 0.15,
                 scale = found$pseudo$gibbs$link$sd)
  }
})

fit_hill_among_others <- quote({
  quiet <- bsvm_control(verbose = FALSE)
  fit <- function(formula, engine, likelihood = "hinge", ...) {
    bsvm(formula, d, likelihood = likelihood, engine = engine, control = quiet, ...)
  }
  two <- prior_ridge(variance = 2)
  columns <- bsvm:::basis_at(structure(list(), class = c("bsvm_basis_hill", "bsvm_basis")),
                             matrix(d$x), list(width = 1))
  vb <- fit(y ~ z + hill(x), engine_vb(), prior = list(z = two, "hill(x)" = two),
            standardize = FALSE)
  width <- summary(vb)$parameters[1L]
  d[c("a", "b")] <- columns^(1 / width^2)
  known <- fit(y ~ z + a + b, engine_vb(), prior = list(z = two, a = two, b = two),
               standardize = FALSE)
  set.seed(3)
  drawn <- fit(y ~ z + hill(x), engine_slice(draws = 400), likelihood_hinge(normalized = TRUE))
  grouped <- function(engine) {
    fit <- fit(y ~ z + hill(x) + (1 | g), engine)
    list(link = fitted(fit), same = max(abs(predict(fit, d, type = "link") - fitted(fit))))
  }
  list(width = width, slope = vb$odds_slope, known = known$odds_slope,
       link = fitted(vb), known_link = fitted(known),
       means = c(fixef(drawn), summary(drawn)$variance_draws["hill(x): width", "Estimate"]),
       integrated = integrated_loglik(drawn),
       checked = check_approximation(fit(y ~ z + hill(x), engine_gaussian())),
       groups = list(gaussian = grouped(engine_gaussian()), vb = grouped(engine_vb()),
                     gibbs = grouped(engine_gibbs(draws = 1000))),
       refused = tryCatch(grouped(engine_slice()), bsvm_error_unsupported = conditionMessage),
       selecting = lapply(list(NULL, engine_gibbs(), engine_vb()), function(engine) {
         tryCatch(fit(y ~ z + hill(x), engine, prior = list(z = prior_laplace_zero(0.5))),
                  bsvm_error_unsupported = conditionMessage)
       }),
       chosen = bsvm(y ~ z + hill(x) + (1 | g), d[1:150, ], likelihood = "hinge",
                     control = quiet)$engine$name)
})

test_that("a term with an inferred width stands next to others, and groups", {
  skip_on_cran()
  d <- hill_data(300)
  d$z <- rnorm(300)
  d$g <- factor(rep_len(1:10, 300))
  found <- in_extended(fit_hill_among_others, d, with_parameters)
  # A point of engine_vb() is a width that is known: links and the slope of the probabilities.
  expect_close(found$link, found$known_link, 0.02, scale = 1)
  expect_close(found$slope, found$known, 0.01)
  at <- found$means
  f <- at[[1L]] + at[[2L]] * d$z + drop(hill_columns(d$x, at[[5L]]) %*% at[3:4])
  g <- ifelse(d$y == "b", 1, -1) * f
  odds <- 2 * pmax(1 + g, 0) - 2 * pmax(1 - g, 0)
  expect_close(found$integrated, sum(plogis(odds, log.p = TRUE)), 1e-10)
  expect_lt(found$checked$pareto_k, 0.7)
  expect_true(all(abs(found$checked$table$shift) < 0.15))
  for (engine in names(found$groups)) expect_lt(found$groups[[engine]]$same, 1e-12)
  expect_close(found$groups$gaussian$link, found$groups$gibbs$link, 0.1, scale = 1)
  for (text in c("does not support terms with parameters that are inferred together with grouping",
                 "engine_gibbs() can")) {
    expect_match(found$refused, text, fixed = TRUE)
  }
  for (message in found$selecting) {
    expect_match(message, "A prior that selects (of `z`) can't be combined with terms with",
                 fixed = TRUE)
    expect_match(message, "`hill(x)`. Use prior_ridge() for `z`", fixed = TRUE)
  }
  expect_identical(found$chosen, "gaussian")
})

fit_hill_of_numbers <- quote({
  both <- bsvm:::likelihood_tube(scale = prior_half_t(3, 1.5), odds = prior_half_t(3, 1))
  numbers <- function(engine) {
    fit <- suppressWarnings(bsvm(y ~ 0 + hill(x), d, likelihood = both, engine = engine,
                                 control = bsvm_control(verbose = FALSE)))
    all <- suppressWarnings(summary(fit))
    three <- if (is.null(all$parameters)) all$variance_draws else all$parameters
    list(coefficients = all$coefficients, passes = fit$passes, end = fit$termination,
         parameters = three[c("scale", "odds", "hill(x): width"), ])
  }
  set.seed(1)
  list(vb = numbers(engine_vb()), gaussian = numbers(engine_gaussian()),
       slice = numbers(engine_slice(draws = 2000)), gibbs = numbers(engine_gibbs(draws = 2000)))
})

test_that("parameters of a likelihood and of a term are inferred together", {
  skip_on_cran()
  d <- hill_data(200)[, "x", drop = FALSE]
  set.seed(8)
  d$y <- drop(hill_columns(d$x, 0.4) %*% c(-1.2, 2)) + 0.4 * rnorm(200)
  found <- in_extended(fit_hill_of_numbers, d, with_parameters)
  expect_identical(found$vb$end, "converged")
  expect_lt(found$vb$passes, 100)
  sds <- c(found$gibbs$coefficients[, "SD"], found$gibbs$parameters[, "SD"])
  of <- function(engine) {
    c(found[[engine]]$coefficients[, 1L], found[[engine]]$parameters[, 1L])
  }
  for (engine in c("gaussian", "slice")) {
    expect_close(of(engine), of("gibbs"), 0.15, scale = sds, label = engine)
  }
  expect_true(all(found$slice$parameters[, "Bulk_ESS"] > 250))
})
