# Rules for what is unknown in the design: those of the package keep the contract, and one is added
# to a copy of the source in new files (fixtures/measured.cpp, fixtures/basis-measured.R): a term of
# true values behind measured ones, fitted by all engines that have a form of it and used for new
# rows. Its oracles are a twin in plain R and sums over grids.

test_that("the rules of the package keep the contract", {
  d <- binary_data()
  d$x1[3:6] <- NA
  uses <- c("augmented", "expected", "drawn", "marginal")
  for (rule in list(missing_normal(), missing_selection())) {
    for (generic in generics_of("bsvm_missing")) {
      expect(has_method(generic, rule), paste(generic, "has no method for", rule$name))
    }
    expect_true(all(bsvm:::latent_uses(rule) %in% uses))
    frame <- bsvm_frame(y ~ x1 + x2, d, missing = rule)
    expect_identical(frame$unknowns$rule, rule)
    spec <- bsvm_spec(frame, engine = "vb", likelihood = "hinge")
    expect_identical(spec$problem$latent$name, rule$name)
    for (array in spec$problem$latent$arrays) expect_true(is.null(array) || is.double(array))
    expect_true(all(c("variables", "column", "center", "scale", "missing") %in% names(spec$law)))
  }
  for (rule in list(missing_fail(), missing_omit())) {
    expect_false(bsvm:::models_missing(rule))
    expect_identical(bsvm:::latent_uses(rule), character(0))
    expect_null(suppressMessages(bsvm_frame(y ~ x2, d, missing = rule))$unknowns)
  }
})

# ---- a rule that is made here -------------------------------------------------------------------

error_sd <- 0.3

measured_data <- function(n, seed = 3) {
  with_seed(seed, {
    true <- rnorm(n)
    d <- data.frame(x = true + error_sd * rnorm(n), w = rnorm(n), k = rep(1:2, length.out = n))
    d$y <- factor(ifelse(runif(n) < plogis(0.6 + 2 * true), "yes", "no"))
    d
  })
}

signs_of <- function(d) ifelse(d$y == "yes", 1, -1)

# Variational Bayes on a dense design, the last column measured: rows' q(x_i) in turn with all else.
twin_measured <- function(y, design, precision, weight, passes = 3000L) {
  at <- ncol(design)
  measured <- x <- design[, at]
  left <- rep(error_sd^2, length(y))
  w <- rep(1, length(y))
  for (pass in seq_len(passes)) {
    design[, at] <- x
    total <- crossprod(design * (weight * w), design) + diag(precision)
    total[at, at] <- total[at, at] + sum(weight * w * left)
    s <- solve(total)
    b <- drop(s %*% crossprod(design, weight * y * (1 + w)))
    omega <- s + tcrossprod(b)
    rest <- design
    rest[, at] <- 0
    left <- 1 / (1 / error_sd^2 + weight * w * omega[at, at])
    x <- left * (measured / error_sd^2 +
                   weight * (y * (1 + w) * b[at] - w * drop(rest %*% omega[, at])))
    design[, at] <- x
    m <- drop(design %*% b)
    chi <- (1 - y * m)^2 + rowSums((design %*% s) * design) + left * omega[at, at]
    w <- 1 / sqrt(chi)
  }
  entries <- 0.5 * (log(left / error_sd^2) + 1 - ((x - measured)^2 + left) / error_sd^2)
  bound <- sum(weight * (y * m - 1 - sqrt(chi))) + sum(entries) +
    0.5 * as.numeric(determinant(s)$modulus) + length(b) / 2 + sum(log(precision)) / 2 -
    sum(precision * (b^2 + diag(s))) / 2
  list(mean = b, covariance = s, bound = bound, x = x, sd = sqrt(left))
}

# log p(y | f), f a vector.
log_hinge <- function(y, f, normalised) {
  out <- -2 * pmax(0, 1 - y * f)
  if (normalised) out - log(exp(-2 * pmax(0, 1 - f)) + exp(-2 * pmax(0, 1 + f))) else out
}

# The posterior of intercept (flat prior) and slope (variance 4) on a grid about `center`, the errors
# integrated out row by row; and of new rows the probability of class +1 under the normalised
# likelihood.
exact_measured <- function(d, normalised, center, spread, new) {
  z <- seq(-6, 6, by = 0.25)
  share <- dnorm(z) / sum(dnorm(z))
  at <- seq(-7, 7, length.out = 41)
  b <- as.matrix(expand.grid(center[1] + at * spread[1], center[2] + at * spread[2]))
  log_average <- function(x, y, normalised) {
    sums <- 0
    for (k in seq_along(z)) {
      sums <- sums + share[k] * exp(log_hinge(y, b[, 1] + b[, 2] * (x + error_sd * z[k]),
                                              normalised))
    }
    log(sums)
  }
  rows <- Map(log_average, d$x, signs_of(d), normalised)
  log_joint <- Reduce(`+`, rows) + dnorm(b[, 2], 0, 2, log = TRUE)
  weight <- exp(log_joint - max(log_joint))
  c(weighted_moments(b, weight), list(probability = vapply(new, function(x) {
    sum(exp(log_average(x, 1, TRUE)) * weight) / sum(weight)
  }, 0)))
}

fit_measured <- quote({
  out <- list()
  moments <- function(fit) {
    list(mean = unname(fixef(fit)), covariance = unname(as.matrix(vcov(fit))),
         imputed = imputed(fit)[c("mean", "sd")], link = unname(fitted(fit)))
  }
  tight <- list(prior_ridge(variance = 3), "measured(x, 0.3)" = prior_ridge(variance = 4))
  vb <- bsvm(y ~ 0 + w + measured(x, 0.3), d$small, weights = k, engine = "vb", prior = tight,
             likelihood = "hinge", standardize = FALSE, control = bsvm_control(tol = 1e-24))
  out$vb <- c(moments(vb), list(bound = elbo(vb)))
  threads <- bsvm(y ~ 0 + w + measured(x, 0.3), d$small, weights = k, engine = "vb", prior = tight,
                  likelihood = "hinge", standardize = FALSE,
                  control = bsvm_control(tol = 1e-24, threads = 2))
  out$same <- identical(vb$posterior, threads$posterior)
  run <- function(data, ...) {
    bsvm(y ~ measured(x, 0.3), data, ...,
         prior = list("(Intercept)" = prior_flat(), "measured(x, 0.3)" = prior_ridge(variance = 4)))
  }
  proper <- likelihood_hinge(normalized = TRUE)
  new <- data.frame(x = c(-1, 0, 1))
  gaussian <- run(d$large, engine = "gaussian", likelihood = proper)
  set.seed(1)
  slice <- run(d$middle, engine = engine_slice(4000, 500), likelihood = proper)
  gibbs <- run(d$middle, engine = engine_gibbs(8000, 500), likelihood = "hinge")
  for (name in c("gaussian", "slice", "gibbs")) {
    out[[name]] <- c(moments(get(name)), list(
      probability = unname(predict(get(name), new, type = "prob", map = "likelihood")[, 2L])
    ))
  }
  out$link <- unname(predict(gaussian, new, type = "link"))
  out$words <- capture.output(print(vb), print(summary(gaussian)))
  refusal <- function(...) {
    tryCatch(run(d$small, ...), error = function(e) c(class(e)[1L], conditionMessage(e)))
  }
  out$refused <- list(map = refusal(engine = "map"), em = refusal(engine = "em"),
                      normalised_vb = refusal(engine = "vb", likelihood = proper))
  d$small$w[3L] <- NA
  out$refused$two <- tryCatch(
    bsvm(y ~ w + measured(x, 0.3), d$small, missing = missing_normal()),
    error = function(e) c(class(e)[1L], conditionMessage(e))
  )
  out
})

test_that("a latent added in new files is fitted by every engine with a form of it, and predicts", {
  skip_on_cran()
  data <- list(small = measured_data(60), middle = measured_data(100, 4),
               large = measured_data(800, 5))
  found <- in_extended(fit_measured, data)
  small <- data$small
  twin <- twin_measured(signs_of(small), cbind(small$w, small$x), c(1 / 3, 1 / 4), small$k)
  sd <- sqrt(diag(twin$covariance))
  expect_close(found$vb$bound, twin$bound, tolerances[["bound"]], abs(twin$bound))
  expect_close(found$vb$mean, twin$mean, 1e-5, sd)
  expect_close(found$vb$covariance, twin$covariance, 1e-5, outer(sd, sd))
  expect_close(found$vb$imputed$mean, twin$x, 1e-5)
  expect_close(found$vb$imputed$sd, twin$sd, 1e-5)
  expect_close(found$vb$link, cbind(small$w, twin$x) %*% twin$mean, 1e-5)
  expect_true(found$same)

  compare <- function(found, data, normalised, mean, sd) {
    spread <- sqrt(diag(found$covariance))
    exact <- exact_measured(data, normalised, found$mean, spread, c(-1, 0, 1))
    expect_close(found$mean, exact$mean, mean, exact$sd)
    expect_close(spread / exact$sd, c(1, 1), sd)
    expect_close(found$probability, exact$probability, 0.005)
  }
  compare(found$gaussian, data$large, TRUE, 0.02, 0.02)
  compare(found$slice, data$middle, TRUE, 0.06, 0.06)
  compare(found$gibbs, data$middle, FALSE, 0.06, 0.06)
  expect_close(found$link, found$gaussian$mean[1] + found$gaussian$mean[2] * c(-1, 0, 1), 1e-9)

  expect_match(found$words, "measured(x, 0.3) is unknown", fixed = TRUE, all = FALSE)
  for (refused in found$refused) expect_identical(refused[1L], "bsvm_error_unsupported")
  for (engine in c("map", "em")) {
    expect_match(found$refused[[engine]][2L], "can't take `measured(x, 0.3)`", fixed = TRUE)
  }
  expect_match(found$refused$two[2L], "one rule", fixed = TRUE)
})
