test_that("what the pseudo-likelihood does not define is refused, with what to use", {
  fit <- bsvm(y ~ x1, binary_data(), engine = "vb")
  expect_refusal(logLik(fit), "unsupported", c("normalised", "elbo()"))
  expect_refusal(AIC(fit), "unsupported", "elbo()")
  expect_refusal(BIC(fit), "unsupported", "elbo()")
  expect_refusal(anova(fit), "unsupported", "anova()")
  expect_refusal(rstantools::log_lik(fit), "unsupported", "log_lik()")
  expect_refusal(rstantools::posterior_predict(fit), "unsupported", "posterior_linpred()")
})
