# Several grouping factors: every method against the dense posterior of the twin, whose design has a
# column for every level of every factor.

bsvm <- paper_bsvm

crossed_data <- function() {
  d <- grouped_data(160, 8)
  with_seed(9, {
    h <- sample(6, 160, TRUE)
    d$h <- letters[h]
    d$y <- factor(ifelse(d$x1 + rnorm(8)[d$g] * (1 + d$t) + rnorm(6)[h] + rnorm(160) > 0, "yes",
                         "no"), levels = c("no", "yes"))
    d
  })
}
d <- crossed_data()
fit <- bsvm(y ~ x1 + t + (1 + t || g) + (1 | h), d, engine = "vb", control = tight())
x <- cbind("(Intercept)" = 1, x1 = d$x1, t = d$t)
z <- cbind("(Intercept)" = 1, t = d$t)
g <- as.integer(d$g)
h <- match(d$h, letters)
model <- twin_model(x, ifelse(d$y == "yes", 1, -1), list(block_normal(1:3)),
                    factors = list(list(codes = g, z = z, levels = 8),
                                   list(codes = h, z = NULL, levels = 6)),
                    group_blocks = list(block_ridge(1), block_ridge(2), block_ridge(3)))
twin <- twin_fit(model)
sd <- sqrt(diag(twin$covariance))

# The rows of the dense design without the effects of some columns.
links_of <- function(rows, columns = seq_along(twin$mean)) {
  keep <- seq_along(twin$mean) %in% columns
  rows <- rows * rep(keep, each = nrow(rows))
  list(mean = drop(rows %*% twin$mean), sd = sqrt(rowSums((rows %*% twin$covariance) * rows)))
}

test_that("coefficients, effects and their sds, factor by factor", {
  expect_close(coef(fit), twin$mean, 1e-7)
  expect_named(coef(fit)[c(4, 5, 20, 25)], c("r_g[g01,Intercept]", "r_g[g01,t]", "r_h[a,Intercept]",
                                             "r_h[f,Intercept]"))
  effects <- ranef(fit)
  expect_named(effects, c("g", "h"))
  expect_close(t(as.matrix(effects$g)), twin$mean[4:19], 1e-7)
  expect_close(attr(effects$h, "sd")[[1]], sd[20:25], 1e-7)
  expect_close(t(as.matrix(attr(effects$g, "sd"))), sd[4:19], 1e-7)
  expect_equal(nrow(as.data.frame(effects)), 22)
  expect_close(vcov(fit), twin$covariance[1:3, 1:3], 1e-7)
  expect_equal(bsvm:::group_counts(fit), c(g = 8L, h = 6L))
  expect_equal(nrow(tidy(fit, "ran_vals")), 22)
})

test_that("variances, factor by factor", {
  v <- VarCorr(fit)
  mean <- vapply(twin$variances[2:4], function(v) v$variance[["scale"]] /
                   (v$variance[["shape"]] - 1), 0)
  expect_close(c(diag(v$g), v$h), mean, 1e-7)
  expect_equal(as.data.frame(v)$grp, c("g", "g", "h"))
  expect_output(print(v), "h")
  expect_output(print(fit), "8 levels of g, 6 levels of h")
  expect_equal(tidy(fit, "ran_pars")$group, c("g", "g", "h"))
  expect_equal(glance(fit)$ngroups, 14)
})

test_that("links and their sds, for any subset of the terms", {
  all <- links_of(model$design)
  expect_close(fitted(fit), all$mean, 1e-7)
  p <- predict(fit, d, interval = TRUE)
  expect_close(p$fit, all$mean, 1e-7)
  expect_close(p$sd, all$sd, 1e-7)
  subsets <- list(list(~ (1 | h), 20:25), list(~ (1 | g), seq(4, 18, 2)),
                  list(~ (0 + t | g) + (1 | h), c(seq(5, 19, 2), 20:25)), list(NA, NULL))
  for (subset in subsets) {
    some <- links_of(model$design, c(1:3, subset[[2]]))
    p <- predict(fit, d, interval = TRUE, re_formula = subset[[1]])
    expect_close(p$fit, some$mean, 1e-7)
    expect_close(p$sd, some$sd, 1e-7)
  }
  expect_close(predict(fit, d[setdiff(names(d), "g")], type = "link", re_formula = ~ (1 | h)),
               links_of(model$design, c(1:3, 20:25))$mean, 1e-7)
  expect_refusal(predict(fit, d, re_formula = ~ (1 | f)), "argument", c("`re_formula`", "h"))
})

test_that("combinations of levels the fit has not seen together, and new levels", {
  new <- d[1:4, ]
  new$g <- c("g08", "g01", "new", "g02")
  new$h <- c("f", "other", "a", NA)
  expect_refusal(predict(fit, new), "newdata", "'new'")
  p <- predict(fit, new, interval = TRUE, allow_new_levels = TRUE)
  rows <- matrix(0, 3, 25)
  rows[, 1:3] <- x[1:3, ]
  rows[1, c(18, 19, 25)] <- c(z[1, ], 1)
  rows[2, 4:5] <- z[2, ]
  rows[3, 20] <- 1
  v <- VarCorr(fit)
  extra <- c(0, v$h, sum(z[3, ]^2 * diag(v$g)))
  expect_close(p$fit[1:3], links_of(rows)$mean, 1e-7)
  expect_close(p$sd[1:3], sqrt(links_of(rows)$sd^2 + extra), 1e-7)
  expect_true(all(is.na(p[4, ])))
  expect_equal(nrow(predict(fit, d[0, ], interval = TRUE)), 0)
})

test_that("the rows' effects are a sparse matrix, missing and new levels empty", {
  skip_if_not_installed("Matrix")
  rows <- list(g = list(codes = c(2L, NA, 0L, 8L), z = cbind(1, 5:8)),
               h = list(codes = c(1L, 6L, 2L, 0L)))
  ours <- bsvm:::effect_columns(rows, fit$groups, NULL, 4L)
  whole <- as.matrix(Matrix::sparseMatrix(i = ours$i, p = ours$p, x = ours$x, index1 = FALSE,
                                          dims = c(4, 22)))
  expected <- matrix(0, 4, 22)
  expected[1, c(3, 4, 17)] <- c(1, 5, 1)
  expected[2, 22] <- 1
  expected[3, 18] <- 1
  expected[4, 15:16] <- c(1, 8)
  expect_equal(whole, expected)
})

test_that("draws of several factors", {
  drawn <- gibbs_fit(y ~ x1 + t + (1 + t || g) + (1 | h), d)
  # Draws are of the centred columns.
  centred <- model$design
  centred[, 1:3] <- sweep(centred[, 1:3], 2, drawn$design$center)
  links <- centred %*% rbind(flat_draws(drawn$posterior$coefficients),
                             flat_draws(drawn$posterior$effects))
  expect_close(posterior_linpred(drawn), t(links), 1e-9)
  expect_close(predict(drawn, d, interval = TRUE)$sd, row_sds(links), 1e-9)
  expect_close(attr(ranef(drawn)$h, "sd")[[1]],
               row_sds(flat_draws(drawn$posterior$effects)[17:22, ]), 1e-9)
  only <- centred
  only[, 4:19] <- 0
  expect_close(posterior_linpred(drawn, re_formula = ~ (1 | h)),
               t(only %*% rbind(flat_draws(drawn$posterior$coefficients),
                                flat_draws(drawn$posterior$effects))), 1e-9)
  expect_close(VarCorr(drawn)$h, mean(drawn$posterior$variances[[5]]), tolerances[["rounding"]])
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws_matrix(drawn, "r_h[c,Intercept]")
  expect_close(draws, flat_draws(drawn$posterior$effects)[19, ], tolerances[["rounding"]])
})

# Sparse predictors: the same as dense ones, but for centring, which the fits here do without.
test_that("sparse predictors have means, sds, links and draws like dense ones", {
  skip_if_not_installed("Matrix")
  s <- with_seed(3, matrix(rbinom(160 * 12, 1, 0.15), 160,
                           dimnames = list(NULL, paste0("v", 1:12))))
  y <- d$y
  sparse <- Matrix::Matrix(s, sparse = TRUE)
  a <- bsvm(sparse, y, group = d$g, prior = prior_ridge(0.01), engine = "vb", standardize = FALSE,
            control = tight())
  b <- bsvm(s, y, group = d$g, prior = prior_ridge(0.01), engine = "vb", standardize = FALSE,
            control = tight())
  expect_close(coef(a), coef(b), 1e-7)
  expect_close(confint(a), confint(b), 1e-7)
  expect_close(predict(a, sparse, interval = TRUE, group = d$g)$sd,
               predict(b, s, interval = TRUE, group = d$g)$sd, 1e-7)
  expect_close(unlist(ranef(a)$group), unlist(ranef(b)$group), 1e-7)
  expect_refusal(vcov(a), "unsupported", "confint()")
  expect_output(print(summary(a)), "v12")
  scaled <- bsvm(sparse, y, engine = "vb", control = tight())
  by_hand <- drop(cbind(1, s) %*% fixef(scaled))
  expect_close(fitted(scaled), by_hand, 1e-10)
  drawn <- gibbs_fit(sparse, y, group = d$g)
  b <- rbind(flat_draws(drawn$posterior$coefficients),
             tail(flat_draws(drawn$posterior$effects), 12) / drawn$design$scale[-1])
  u <- flat_draws(drawn$posterior$effects)[1:8, ]
  links <- cbind(1, s) %*% b + u[g, ]
  expect_close(posterior_linpred(drawn, newdata = sparse, group = d$g), t(links), 1e-9)
  expect_close(predict(drawn, sparse, group = d$g, interval = TRUE)$sd, row_sds(links), 1e-9)
  expect_close(vcov(drawn), cov(t(b)), 1e-9)
  expect_close(confint(drawn), row_tails(b), 1e-9)
})
