# Draws from priors against the distributions they are, by quantiles; errors of 20,000 draws.

number <- 20000L
probs <- c(0.1, 0.5, 0.9)

expect_quantiles <- function(draws, truth) {
  share <- vapply(truth, function(q) mean(draws <= q), 0)
  expect_lt(max(abs(share - probs) / sqrt(probs * (1 - probs) / length(draws))), 4.5)
}

drawn_prior <- function(fit) as.matrix(prior_fit(fit, number))

test_that("coefficients, correlated effects and their standard deviations", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + (t | g), d, engine = "gaussian")
  draws <- drawn_prior(fit)
  expect_quantiles(draws[, "x1"], 2.5 / fit$design$scale[2] * qnorm(probs))
  scale <- fit$group_blocks[[1]]$prior$parameters[c("scale_1", "scale_2")]
  expect_quantiles(draws[, "sd_g__Intercept"], scale[1] * qt((1 + probs) / 2, 3))
  expect_quantiles(draws[, "sd_g__t"], scale[2] * qt((1 + probs) / 2, 3))
  # an effect is normal given its standard deviation, and effects of levels share it
  standard <- draws[, "r_g[g01,t]"] / draws[, "sd_g__t"]
  expect_quantiles(standard, qnorm(probs))
  expect_lt(abs(cor(standard, draws[, "r_g[g02,t]"] / draws[, "sd_g__t"])), 4.5 / sqrt(number))
  both <- cor(draws[, "r_g[g01,t]"] / draws[, "sd_g__t"] *
                draws[, "r_g[g01,Intercept]"] / draws[, "sd_g__Intercept"],
              draws[, "cor_g__Intercept__t"])
  expect_gt(both, 0.3)
})

test_that("inverse gamma and inverse Wishart, parameters of a likelihood", {
  d <- grouped_data()
  fit <- bsvm(y ~ x1 + (t | g), d, engine = "gaussian",
              prior = list(prior_ridge(variance = prior_inv_gamma(2, 3)), g = prior_inv_wishart(4)))
  draws <- drawn_prior(fit)
  expect_quantiles(draws[, "var_population-level slopes"], 3 / qgamma(1 - probs, 2))
  scale <- fit$group_blocks[[1]]$prior$parameters[["scale_1_1"]]
  expect_quantiles(draws[, "sd_g__Intercept"]^2, scale / 2 / qgamma(1 - probs, (4 - 1) / 2))
  numbers <- bsvm(dist ~ speed, cars, likelihood = likelihood_eps_insensitive(),
                  engine = "gaussian")
  draws <- drawn_prior(numbers)
  scale <- Find(function(block) block$label == "scale", numbers$blocks)$prior$parameters
  expect_quantiles(draws[, "scale"], scale[["scale"]] * qt((1 + probs) / 2, scale[["df"]]))
  expect_quantiles(draws[, "nu"], probs)
})

test_that("responses, expected responses and linear predictors", {
  fit <- bsvm(am ~ wt, mtcars, engine = "gaussian")
  link <- prior_predict(fit, mtcars[1:5, ], "link", 200)
  expect_identical(dim(link), c(200L, 5L))
  expect_identical(prior_predict(fit, mtcars[1:5, ], "link", 200), link)
  p <- prior_predict(fit, mtcars[1:5, ], "epred", 200)
  expect_close(p, expected_response(fit$likelihood, link), 1e-15)
  y <- prior_predict(fit, ndraws = 200, seed = 1)
  expect_setequal(y, 0:1)
  wide <- with_seed(1, matrix(rnorm(20 * 30), 20))
  fit <- bsvm(wide, wide[, 1] > 0, engine = "gaussian")
  draws <- drawn_prior(fit)
  ratio <- draws[, 12] * fit$design$scale[12] / sqrt(draws[, "var_population-level slopes"])
  expect_quantiles(ratio, qnorm(probs))
  expect_refusal(prior_predict(bsvm(am ~ wt, mtcars, prior = prior_flat())), "unsupported",
                 c("(Intercept)\" = prior_ridge("))
  expect_refusal(prior_predict(bsvm(vs ~ gear, mtcars, prior = list(
    prior_flat(), "(Intercept)" = prior_ridge(variance = 1)))), "unsupported", "list(prior_ridge(")
  expect_refusal(prior_predict(bsvm(am ~ wt, mtcars, engine = "vb", likelihood = "hinge")),
                 "unsupported", c("prior_predict()", "`type = \"epred\"`"))
  expect_refusal(prior_predict(fit, type = "class"), "argument", "`type`")
  lasso <- bsvm(am ~ wt + hp, mtcars, engine = engine_gibbs(20, 10, chains = 1), likelihood = "hinge",
                prior = prior_lasso(), control = bsvm_control(verbose = FALSE))
  expect_refusal(prior_predict(lasso, type = "link"), "unsupported", "prior_ridge()")
})

test_that("draws that do not fit in memory are refused before any work", {
  fit <- bsvm(am ~ wt, mtcars, engine = "gaussian", likelihood = "normalized")
  old <- options(bsvm.max_memory = 1e6)
  on.exit(options(old))
  expect_refusal(posterior_epred(fit, mtcars[rep(1:32, 10), ], ndraws = 500), "size", "fewer draws")
  expect_identical(dim(posterior_epred(fit, mtcars[1:3, ], ndraws = 500)), c(500L, 3L))
})
