bsvm <- paper_bsvm

test_that("what the pseudo-likelihood does not define is refused, with what to use", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(logLik(fit), "unsupported", c("likelihood_hinge(normalized = TRUE)", "elbo()"))
  expect_refusal(AIC(fit), "unsupported", "elbo()")
  expect_refusal(BIC(fit), "unsupported", "elbo()")
  expect_refusal(anova(fit), "unsupported", "anova()")
  expect_refusal(rstantools::log_lik(fit), "unsupported", "log_lik()")
  expect_refusal(rstantools::posterior_predict(fit), "unsupported", "posterior_linpred()")
})

test_that("generics of models with a likelihood are refused in a sentence", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(simulate(fit), "unsupported", c("simulate()", "posterior_linpred()"))
  expect_refusal(family(fit), "unsupported", c("family()", "fit$likelihood"))
  expect_refusal(deviance(fit), "unsupported", c("deviance()", "elbo()"))
  expect_refusal(df.residual(fit), "unsupported", c("df.residual()", "nobs()"))
  expect_refusal(sigma(fit), "unsupported", c("sigma()", "VarCorr()"))
})

test_that("under the normalised likelihood a Bayesian fit has no maximum, and draws are needed", {
  fit <- bsvm(y ~ x1, binary_data(), likelihood = likelihood_hinge(normalized = TRUE))
  expect_refusal(logLik(fit), "unsupported", c("log_lik()", "loo()", "integrated_loglik()"))
  expect_refusal(deviance(fit), "unsupported", "integrated_loglik()")
  expect_refusal(simulate(fit), "unsupported", c("not there yet", "posterior_predict()"))
  expect_refusal(posterior_predict(fit), "unsupported", "engine = engine_slice()")
  expect_refusal(log_lik(fit), "unsupported", "engine = engine_slice()")
  expect_refusal(family(fit), "unsupported", "normalised hinge")
})

test_that("so are those of the package loo", {
  skip_if_not_installed("loo")
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(loo::loo(fit), "unsupported", c("loo()", "elbo()"))
  expect_refusal(loo::waic(fit), "unsupported", c("waic()", "elbo()"))
})
