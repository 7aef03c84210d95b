# Draws from approximate posteriors against the moments, limits and probabilities that the same fits
# give without draws, which come from closed forms; errors are those of so many draws.

number <- 8000L

# Largest |z| of means of draws over the rows, and of their standard deviations.
expect_drawn <- function(fit, ..., label) {
  drawn <- drawn_fit(fit, "test", number)
  link <- posterior_linpred(drawn, ...)
  kind <- if (is_kind(fit$response, "classes")) TRUE else "confidence"
  own <- predict(fit, type = "link", interval = kind, ...)
  z <- (colMeans(link) - own$fit) / own$sd * sqrt(number)
  expect_lt(max(abs(z)), 4.5, label = paste(label, "mean"))
  squares <- sweep(link, 2, colMeans(link))^2 # tails may be heavy
  error <- apply(squares, 2, sd) / (2 * colMeans(squares) * sqrt(number))
  expect_lt(max(abs(sqrt(colMeans(squares)) / own$sd - 1) / error), 4.5, label = paste(label, "sd"))
  if (!is_kind(fit$response, "classes") || !is_law(fit$likelihood)) return(invisible())
  p <- posterior_epred(drawn, ...)
  own <- predict(fit, type = "prob", ...)[, 2]
  error <- apply(p, 2, sd) / sqrt(number)
  expect_lt(max(abs(colMeans(p) - own) / error), 4.5, label = paste(label, "probability"))
  averaged <- rowMeans(p)
  expect_lt(abs(mean(averaged) - mean(own)) / (sd(averaged) / sqrt(number)), 4,
            label = paste(label, "averaged probability"))
}

expect_sds <- function(fit, names, tolerance = 0.05) {
  draws <- as.matrix(drawn_fit(fit, "test", number))
  expect_equal(unname(colMeans(draws[, names, drop = FALSE])), effect_spread(fit)$sd,
               tolerance = tolerance)
  expect_equal(unname(apply(draws[, names, drop = FALSE], 2, sd)), effect_spread(fit)$sd_sd,
               tolerance = 2 * tolerance)
}

bacteria <- MASS::bacteria
sleep <- with_seed(1, {
  d <- data.frame(g = gl(18, 10), t = rep(0:9, 18))
  d$y <- rnorm(18)[d$g] + (0.3 + 0.2 * rnorm(18)[d$g]) * (d$t - 4.5) + 0.5 * rnorm(180)
  transform(d, high = y > 0)
})

test_that("a mixture with one effect per level integrated out, whose distribution is skewed", {
  fit <- bsvm(y ~ trt + week + (1 | ID), bacteria, engine = "gaussian")
  expect_drawn(fit, label = "known")
  expect_drawn(fit, re_formula = NA, label = "none")
  expect_sds(fit, "sd_ID__Intercept")
  # intervals of known levels are skewed as well; limits of draws vary by 0.05 sd in the long tail
  own <- predict(fit, type = "link", interval = TRUE)
  drawn <- row_quantiles(t(posterior_linpred(drawn_fit(fit, "test", 40000L))), 0.95)
  away <- abs(as.matrix(own[c("lower", "upper")]) - drawn) / own$sd
  expect_lt(max(away), 0.12)
  expect_lt(mean(away), 0.02)
  expect_gt(max(abs(own$fit - qnorm(0.975) * own$sd - own$lower) / own$sd), 0.3)
  new <- transform(bacteria[1:2, ], ID = c("X01", "new"))
  both <- predict(fit, new, type = "link", interval = TRUE, allow_new_levels = TRUE)
  expect_close(both$lower[1], own$lower[1], 1e-8)
  expect_close(both$lower[2], predict(fit, new[2, ], type = "link", interval = TRUE,
                                      allow_new_levels = TRUE)$lower, 1e-12)
  # the effects' skewness is there: without it the probabilities are off
  plain <- fit
  plain$posterior["shapes"] <- list(NULL)
  p <- colMeans(posterior_epred(drawn_fit(plain, "test", number)))
  expect_gt(max(abs(p - predict(fit, type = "prob")[, 2])), 0.004)
})

test_that("a mixture with two effects per level, and several parameters", {
  fit <- bsvm(high ~ t + (t | g), sleep, engine = "gaussian")
  expect_drawn(fit, label = "known")
  expect_sds(fit, c("sd_g__Intercept", "sd_g__t"), 0.06)
})

test_that("several factors, one of which is integrated out", {
  d <- with_seed(2, {
    d <- data.frame(g = gl(30, 10), h = gl(6, 1, 300), x = rnorm(300))
    transform(d, y = x + rnorm(30)[g] + rnorm(6)[h] + rlogis(300) > 0)
  })
  fit <- bsvm(y ~ x + (1 | g) + (1 | h), d, engine = "gaussian")
  expect_s3_class(fit$posterior$components[[1]], "bsvm_integrated")
  expect_drawn(fit, label = "gaussian")
  vb <- bsvm(y ~ x + (1 | g) + (1 | h), d, engine = "vb", likelihood = "hinge")
  expect_s3_class(vb$posterior, "bsvm_sparse_moments")
  expect_drawn(vb, label = "vb")
  draws <- as.matrix(drawn_fit(vb, "test", number))
  effects <- as.data.frame(ranef(vb))
  names <- effect_name(effects$grpvar, effects$grp, effects$term)
  expect_lt(max(abs(apply(draws[, names], 2, sd) / effects$condsd - 1)), 0.05)
})

test_that("variational posteriors: inverse gamma and inverse Wishart, coefficients that select", {
  fit <- bsvm(high ~ t + (t | g), sleep, engine = "vb", likelihood = "hinge")
  expect_drawn(fit, label = "vb")
  expect_sds(fit, c("sd_g__Intercept", "sd_g__t"))
  d <- binary_data()
  fit <- bsvm(y ~ x1 + x2 + x3, d, engine = "vb", likelihood = "hinge",
              prior = prior_laplace_zero(rho = 0.5))
  expect_drawn(fit, label = "selection")
})

test_that("sparse predictors, wide blocks, smooths, Gaussian processes, numbers", {
  x <- with_seed(3, Matrix::rsparsematrix(200, 30, 0.2))
  y <- with_seed(4, as.vector(x %*% rnorm(30)) + rnorm(200) > 0)
  expect_drawn(bsvm(x, y, engine = "gaussian"), label = "sparse")
  wide <- with_seed(5, matrix(rnorm(40 * 60), 40, dimnames = list(NULL, paste0("v", 1:60))))
  fit <- bsvm(wide, wide[, 1] > 0, engine = "gaussian")
  expect_drawn(fit, newdata = with_seed(6, matrix(rnorm(300), 5, 60, dimnames = dimnames(wide))),
               label = "wide")
  expect_drawn(bsvm(type ~ s(glu) + bmi, MASS::Pima.tr, engine = "gaussian"), label = "smooth")
  expect_drawn(bsvm(type ~ gp(glu, bmi), MASS::Pima.tr, engine = "gaussian"), label = "gp")
  fit <- bsvm(y ~ t + (t | g), sleep, likelihood = likelihood_eps_insensitive(),
              engine = "gaussian")
  expect_drawn(fit, label = "numbers")
  draws <- as.matrix(drawn_fit(fit, "test", number))
  table <- parameter_table(fit)
  expect_equal(unname(colMeans(draws[, rownames(table)])), unname(table[, "Estimate"]),
               tolerance = 0.02)
})

test_that("coefficients of inferred Gaussian processes keep their kernel", {
  fit <- bsvm(Species ~ gp(Petal.Length, infer = "all"), droplevels(iris[51:150, ]),
              engine = "gaussian")
  expect_drawn(fit, newdata = data.frame(Petal.Length = c(3.5, 4.5, 5.1, 6)), label = "inferred")
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(100L, 2L))
})

test_that("a covariance of low rank is drawn from as if it were formed", {
  p <- 12
  covariance <- with_seed(7, structure(
    list(diagonal = runif(p, 1, 2), less = matrix(rnorm(2 * p), 2) / 4,
         more = matrix(rnorm(3 * p), 3)), class = "bsvm_low_rank"))
  n <- 2e5
  draws <- with_seed(8, normal_draws(covariance, n))
  whole <- expand_covariance(covariance)
  scale <- sqrt(outer(diag(whole), diag(whole)) + whole^2) / sqrt(n)
  expect_lt(max(abs(tcrossprod(draws) / n - whole) / scale), 4.5)
})

test_that("draws are the same each time, as many as asked for, labelled", {
  skip_if_not_installed("posterior")
  fit <- bsvm(y ~ trt + (1 | ID), bacteria, engine = "gaussian")
  draws <- posterior::as_draws_array(fit)
  expect_identical(posterior::as_draws_array(fit), draws)
  expect_identical(dim(draws), c(1000L, 1L, 54L))
  expect_identical(attr(draws, "approximate"), "engine_gaussian()")
  expect_identical(dim(as.array(fit, ndraws = 30)), c(30L, 1L, 54L))
  expect_identical(dim(posterior_epred(fit, ndraws = 20)), c(20L, 220L))
  expect_identical(posterior_epred(fit, draw_ids = 3:4), posterior_epred(fit)[3:4, ])
  before <- with_seed(9, runif(1))
  expect_identical(with_seed(9, {posterior_epred(fit, ndraws = 5); runif(1)}), before)
  expect_s3_class(simulate(fit, 2, seed = 1), "data.frame")
  expect_length(bayes_R2(fit), 1000)
  for (bad in list(0, 1.5, "a", NA, -1)) {
    expect_refusal(posterior_epred(fit, ndraws = bad), "argument", "`ndraws`")
  }
  expect_refusal(posterior_epred(fit, ndraws = 5, draw_ids = 1:2), "argument", "not both")
  expect_refusal(posterior_linpred(update(fit, engine = engine_slice(50, 20, chains = 2),
                                          control = bsvm_control(verbose = FALSE)), ndraws = 1e6),
                 "argument", "at most")
})

test_that("a point estimate has no draws, and says what has", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "em", likelihood = "hinge",
              prior = prior_ridge(variance = 1))
  for (f in list(posterior_epred, posterior_linpred, as.array, hypothesis)) {
    expect_refusal(f(fit), "unsupported", c("engine_em()", "engine"))
  }
})
