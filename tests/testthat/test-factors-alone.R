# Factor models without a response: against factanal() and probabilistic principal components.

no_labels <- function(n = 400L) {
  set.seed(3)
  w <- matrix(rnorm(n * 2), n)
  loadings <- cbind(rep(c(1, 0.2), c(4, 4)), rep(c(-0.3, 0.9), c(4, 4)))
  d <- data.frame(y = rep(NA, n))
  d$x <- w %*% t(loadings) + matrix(rnorm(n * 8), n) * rep(sqrt(seq(0.4, 1.1, 0.1)), each = n)
  d
}
short <- engine_gibbs(draws = 500, burnin = 200, chains = 2)

# Communalities of standardised variables.
shared <- function(fit) {
  table <- factor_loadings(fit, rotation = "none")
  unname(tapply(table$estimate^2, factor(table$variable, unique(table$variable)), sum))
}

test_that("without a response the model is that of factanal()", {
  d <- no_labels()
  expect_message(fit <- bsvm(y ~ factors(x, k = 2, unlabelled = TRUE, noise = "each"), d,
                             engine = short),
                 "No row has a response", class = "bsvm_message_no_response")
  expect_s3_class(fit, "bsvm_factor_model")
  expect_false(inherits(fit, "bsvm"))
  ml <- factanal(d$x, 2)
  expect_lt(max(abs(shared(fit) - (1 - unname(ml$uniquenesses)))), 0.03)
  scores <- factor_scores(fit)
  expect_equal(dim(scores), c(400L, 2L))
  expect_gt(min(cancor(scores, factanal(d$x, 2, scores = "regression")$scores)$cor), 0.998)
  expect_equal(unclass(factor_scores(fit, d[1:3, ])), unclass(scores)[1:3, ], ignore_attr = TRUE)
})

test_that("with common noise it is that of probabilistic principal components", {
  d <- no_labels()
  fit <- suppressMessages(bsvm(y ~ factors(x, k = 2, unlabelled = TRUE), d, engine = short,
                               prior = list(loadings = prior_ridge())))
  roots <- eigen(cor(d$x))
  noise <- mean(roots$values[3:8])
  expected <- rowSums((roots$vectors[, 1:2] %*% diag(sqrt(roots$values[1:2] - noise)))^2)
  expect_lt(max(abs(shared(fit) - expected)), 0.03)
})

test_that("what it prints, draws and refuses", {
  d <- no_labels(60L)
  d$x[1:10, 1:3] <- NA
  fit <- suppressMessages(bsvm(y ~ factors(x, k = 2, classifier = "gp", unlabelled = TRUE), d,
                               engine = "vb"))
  expect_output(print(fit), "60 rows, 2 factors of 8 variables")
  expect_named(summary(fit), c("factor", "share", "determinacy"))
  expect_error(predict(fit, d), "needs a response", class = "bsvm_error_unsupported")
  expect_error(coef(fit), class = "bsvm_error_unsupported")
  expect_error(fitted(fit), class = "bsvm_error_unsupported")
  expect_error(residuals(fit), class = "bsvm_error_unsupported")
  for (f in list(confint, vcov, model.frame, model.matrix, weights, as.matrix, deviance, fixef,
                 VarCorr, posterior_epred, loo, tidy, hypothesis, importance, prior_predict,
                 inclusion)) {
    expect_error(f(fit), "factor_loadings()", class = "bsvm_error_unsupported")
  }
  expect_error(hypothesis(fit, "x1 < 0"), "hypothesis() needs a response", fixed = TRUE)
  if (requireNamespace("posterior", quietly = TRUE)) {
    expect_error(posterior::as_draws_df(fit), "factor_loadings()", class = "bsvm_error_unsupported")
  }
  expect_equal(dim(factor_scores(fit, d[0, ])), c(0L, 2L))
  expect_error(bsvm(y ~ factors(x, k = 2, unlabelled = TRUE), d[1, ]), "needs two rows",
               class = "bsvm_error_predictors")
  skip_if_not_installed("ggplot2")
  expect_s3_class(plot(fit), "ggplot")
  expect_s3_class(plot(fit, "scores"), "ggplot")
  expect_error(plot(fit, "determinacy"), class = "bsvm_error_argument")
  one <- suppressMessages(bsvm(y ~ factors(x, k = 1, unlabelled = TRUE), d, engine = short))
  expect_s3_class(plot(one, "scores"), "ggplot")
  expect_error(bsvm(y ~ factors(x, k = 2), d), "unlabelled = TRUE", class = "bsvm_error_missing")
})
