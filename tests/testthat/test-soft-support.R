# Soft support vectors: the probability that a row is inside its margin, against the posterior's
# moments, draws, and the multipliers of the optimal bound.

data_of <- function(n, seed) {
  with_seed(seed, {
    d <- data.frame(x = rnorm(n), z = rnorm(n), o = rnorm(n) / 4)
    d$y <- factor(ifelse(sin(2 * d$x) + d$z + rnorm(n, sd = 0.6) > 0, "b", "a"))
    d
  })
}

test_that("the probabilities are the multipliers of the Gaussian that maximises the bound", {
  d <- data_of(60, 1)
  y <- ifelse(d$y == "b", 1, -1)
  frame <- bsvm_frame(y ~ 0 + gp(x, z), d, prior = bsvm:::not_learned)
  assigned <- bsvm:::assign_priors(frame, NULL)
  theta <- c(0.8, -0.2)
  model <- bsvm:::learning_model(bsvm:::with_distances(frame, 1:60), assigned, likelihood_hinge(), list(unit = 1, shift = 0), 1:60)
  k <- bsvm:::core_kernel(model$parts[[1]]$factors, frame$bases[[1]]$rows, frame$bases[[1]]$rows,
                          theta[2])
  k <- exp(2 * theta[1]) * k
  for (numbers in list(c(gamma = 1, gamma0 = 0), c(gamma = 0.7, gamma0 = 0.4))) {
    core <- model$core
    core$likelihood <- list(name = "skewed_hinge", parameters = numbers)
    best <- bsvm:::core_learn_at(core, theta, 1e-16)
    inside <- pnorm((1 - y * best$mean) / sqrt(best$variance))
    c <- sqrt(1 + 2 * numbers[["gamma0"]] / numbers[["gamma"]])
    alpha <- numbers[["gamma"]] * y * (1 + c * (2 * inside - 1))
    expect_close(best$slope, alpha, 1e-9)
    expect_close(best$mean, drop(k %*% alpha), 1e-6)
  }
})

test_that("they are those of the posterior's moments, with weights, offset and points", {
  d <- data_of(80, 2)
  y <- ifelse(d$y == "b", 1, -1)
  weight <- rep(c(0, 1, 2, 1), 20)
  for (engine in list(engine_gaussian(), engine_vb())) {
    fit <- quietly(bsvm(y ~ gp(x, z, points = 10) + offset(o), d, weights = weight,
                        likelihood = "hinge", engine = engine,
                        prior = list(gp = prior_ridge(variance = 3))))
    found <- support_vectors(fit)
    used <- which(weight > 0)
    at <- bsvm:::posterior_linear(fit, bsvm:::new_design(fit, d[used, ]))
    inside <- pnorm((1 - y[used] * (at$mean + d$o[used])) / at$sd)
    expect_identical(found$row, used)
    expect_close(found$inside, inside, 1e-9)
    expect_close(found$multiplier, 2 * weight[used] * inside, 1e-9)
  }
})

test_that("draws have the share inside the margin, near that of the approximation", {
  d <- data_of(80, 3)
  own <- function(engine, likelihood = "hinge") {
    quietly(with_seed(1, bsvm(y ~ x + z, d, likelihood = likelihood, engine = engine)))
  }
  exact <- support_vectors(own(engine_slice(draws = 2000)))
  near <- support_vectors(own(engine_gaussian()))
  expect_close(exact$inside, near$inside, 0.08)
  expect_close(sum(exact$inside), sum(near$inside), 0.03)
  y <- ifelse(d$y == "b", 1, -1)
  fit <- own(engine_slice(draws = 100))
  draws <- posterior_linpred(fit)
  expect_equal(support_vectors(fit)$inside, unname(colMeans(t(t(draws) * y) < 1)), ignore_attr = TRUE)
  expect_named(support_vectors(own(engine_gaussian(), "normalized")), c("row", "inside"))
})

test_that("modes, missing predictors and other responses are refused", {
  d <- data_of(60, 4)
  mode <- quietly(bsvm(y ~ x, d, likelihood = "hinge", engine = "map"))
  expect_refusal(support_vectors(mode), "unsupported", "support_vectors()")
  numbers <- quietly(bsvm(o ~ x, d, likelihood = likelihood_gaussian(scale = 1)))
  expect_refusal(support_vectors(numbers), "unsupported", "classes")
  ecm <- quietly(bsvm(y ~ gp(x, kernel = kernel_se(1)), data_of(40, 5), likelihood = "hinge",
                      engine = engine_ecm(rounds = 0)))
  expect_refusal(support_vectors(ecm), "unsupported", "update(fit, engine = engine_em(), prior = list(")
  fit <- quietly(bsvm(type ~ gp(glu, bmi), MASS::Pima.tr, engine = "ecm"))
  said <- conditionMessage(expect_refusal(support_vectors(fit), "unsupported", "prior = list("))
  advice <- sub("^.*(support_vectors[(]update.*)[.]$", "\\1", gsub("\n", " ", said))
  expect_s3_class(quietly(eval(str2lang(advice))), "data.frame")
  d$z[2] <- NA
  gaps <- quietly(bsvm(y ~ x + z, d, engine = "gaussian", missing = missing_normal()))
  expect_refusal(support_vectors(gaps), "unsupported", "missing predictors")
})
