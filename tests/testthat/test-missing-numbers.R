# Regression with missing predictors and parameters of the likelihood that are inferred.

skip_on_cran()

regress_missing <- function(d, likelihood, engine, ...) {
  with_seed(1, bsvm(y ~ x1 + x2, d, prior = prior_ridge(variance = 4), likelihood = likelihood,
                    missing = missing_normal(), engine = engine, standardize = FALSE, ...))
}

# As sampler_regression_missing() has them.
drawn_numbers <- function(fit) {
  at <- posterior_linpred(fit, newdata = data.frame(x1 = c(0, 1, 0), x2 = c(0, 0, 1)))
  cbind(at[, 1], at[, -1] - at[, 1], t(free_numbers(fit)), imputed(fit, draws = TRUE))
}

# Each density by its own formula, and without the tube's shape where that is given.
kinds <- list(
  tube = list(likelihood_eps_insensitive(scale = prior_half_t(3, 0.5)), log_eps_insensitive),
  wide = list(likelihood_eps_insensitive(epsilon = 0.4, scale = prior_half_t(3, 0.5)),
              function(r, s, nu) -log(2 * (s + 0.4)) - pmax(abs(r) - 0.4, 0) / s),
  laplace = list(likelihood_laplace(scale = prior_half_t(3, 0.5)),
                 function(r, s, nu) -log(2 * s) - abs(r) / s),
  quantile = list(likelihood_quantile(0.3, scale = prior_half_t(3, 0.5)),
                  function(r, s, nu) log(0.21 / s) - pmax(0.3 * r, -0.7 * r) / s),
  normal = list(likelihood_gaussian(scale = prior_half_t(3, 0.5)),
                function(r, s, nu) dnorm(r, 0, s, log = TRUE))
)

oracle <- function(kind, d) {
  wide <- 1e4 * stats::mad(d$y)
  with_seed(7, sampler_regression_missing(d$y, as.matrix(d[c("x1", "x2")]), kinds[[kind]][[2L]],
                                          kind == "tube", 4, wide, 0.5))
}

test_that("draws of both samplers are those of a plain one, and engine_gaussian() is near", {
  for (kind in names(kinds)) {
    d <- regression_missing(which(names(kinds) == kind))
    truth <- oracle(kind, d)
    for (engine in list(engine_slice(2500, 500), engine_gibbs(2500, 500))) {
      drawn <- drawn_numbers(regress_missing(d, kinds[[kind]][[1L]], engine))
      expect_same_law(drawn, truth)
    }
    near <- regress_missing(d, kinds[[kind]][[1L]], engine_gaussian())
    cat(kind, (c(coef(near), mean_numbers(near))-colMeans(truth[,1:(4+(kind=="tube"))]))/apply(truth[,1:(4+(kind=="tube"))],2,sd), sqrt(diag(vcov(near)))/apply(truth[,1:3],2,sd), "imp", (imputed(near)$mean-colMeans(truth)[-(1:(4+(kind=="tube")))])/apply(truth,2,sd)[-(1:(4+(kind=="tube")))], "\n", file=stderr())
  }
})
