bsvm <- paper_bsvm

test_that("what the pseudo-likelihood does not define is refused, with what to use", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(logLik(fit), "unsupported", c("likelihood = \"normalized\"", "holdout("))
  expect_refusal(AIC(fit), "unsupported", "holdout(")
  expect_refusal(BIC(fit), "unsupported", "loo(")
  expect_refusal(anova(fit), "unsupported", "anova()")
  expect_refusal(stats::step(fit, trace = 0), "unsupported", "step()")
  expect_refusal(rstantools::log_lik(fit), "unsupported", "log_lik()")
  expect_refusal(rstantools::posterior_predict(fit), "unsupported", "posterior_linpred()")
})

test_that("generics of models with a likelihood are refused in a sentence", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(simulate(fit), "unsupported", c("simulate()", "posterior_linpred()"))
  expect_refusal(family(fit), "unsupported", c("family()", "fit$likelihood"))
  expect_refusal(deviance(fit), "unsupported", c("deviance()", "holdout("))
  expect_refusal(df.residual(fit), "unsupported", c("df.residual()", "nobs()"))
  expect_refusal(sigma(fit), "unsupported", c("sigma()", "VarCorr()"))
})

test_that("under the normalised likelihood a Bayesian fit has no maximum, and loo needs draws", {
  fit <- bsvm(y ~ x1, binary_data(), likelihood = likelihood_hinge(normalized = TRUE),
              engine = "gaussian")
  expect_refusal(logLik(fit), "unsupported", c("loo(fit)", "holdout("))
  expect_refusal(deviance(fit), "unsupported", "maximised")
  expect_identical(dim(simulate(fit, 2, seed = 1)), c(nobs(fit), 2L))
  expect_refusal(log_lik(fit), "unsupported", "engine = engine_slice()")
  expect_refusal(family(fit), "unsupported", "normalised hinge")
})

test_that("so are those of the package loo", {
  skip_if_not_installed("loo")
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(loo::loo(fit), "unsupported", c("loo()", "holdout("))
  expect_refusal(loo::waic(fit), "unsupported", c("waic()", "holdout("))
})

# The calls a message advises, as code: what stands between `start` and its closing bracket.
advised <- function(message, start) {
  at <- regexpr(start, message, fixed = TRUE)
  rest <- strsplit(substring(message, at), "")[[1L]]
  open <- cumsum((rest == "(") - (rest == ")"))
  last <- which(open == 0L & rest == ")")[1L]
  str2lang(paste(rest[seq_len(last)], collapse = ""))
}

test_that("what anova(), AIC() and logLik() advise runs, under either likelihood", {
  d <- binary_data(60)
  d$x4 <- rnorm(60)
  for (likelihood in list(likelihood_hinge(), likelihood_hinge(normalized = TRUE))) {
    vb <- !likelihood$normalized
    fit <- bsvm(y ~ x1 + x2, d, likelihood = likelihood, prior = prior_ridge(variance = 1),
                engine = if (vb) "vb" else "gaussian", keep_data = TRUE)
    other <- update(fit, . ~ . - x2)
    for (refused in list(anova, AIC, BIC, logLik)) {
      message <- tryCatch(refused(fit), bsvm_error_unsupported = conditionMessage)
      expect_no_match(message, "elbo", fixed = TRUE)
    }
    study <- advised(message, "holdout(")
    study$times <- 2
    expect_s3_class(eval(study), "bsvm_holdout")
    expect_s3_class(suppressMessages(suppressWarnings(eval(advised(message, "loo(")))), "loo")
  }
})

test_that("what engine_slice() cannot draw is not advised", {
  fit <- bsvm(am ~ wt + hp, mtcars, likelihood = likelihood_hinge(),
              prior = prior_laplace_zero(0.3), engine = "vb")
  message <- tryCatch(logLik(fit), bsvm_error_unsupported = conditionMessage)
  expect_no_match(message, "loo(", fixed = TRUE)
  expect_match(message, "holdout(", fixed = TRUE)
})

test_that("what engine_slice() draws of several factors is advised, and runs", {
  d <- transform(grouped_data(80, 8), h = gl(4, 20), z = rep(c(-1, 1, 0, 2), 20))
  fit <- suppressWarnings(bsvm::bsvm(
    y ~ x1 + (t + z || g) + (t + z || h), d, likelihood = "normalized",
    engine = engine_slice(draws = 50, burnin = 50, chains = 2),
    control = bsvm_control(verbose = FALSE)
  ))
  message <- tryCatch(AIC(fit), bsvm_error_unsupported = conditionMessage)
  expect_s3_class(suppressMessages(suppressWarnings(eval(advised(message, "loo(")))), "loo")
})

test_that("step() and drop1() are refused in words", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(stats::step(fit, trace = 0), "unsupported", c("step()", "holdout("))
  expect_refusal(stats::drop1(fit), "unsupported", "drop1()")
})
