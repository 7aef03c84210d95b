# Correlated effects and several grouping factors: the core against the plain-R twin, whose
# design has a column for every level of every factor.

skip_on_cran()

bsvm <- paper_bsvm

cases <- structure_cases()
twins <- lapply(cases, function(case) twin_fit(case_twin(case)))

# ---- the twin itself ----------------------------------------------------------------------

test_that("the twin's bound never falls and equals its simulation, correlated effects too", {
  for (twin in twins) expect_never_falls(twin$trace, 1e-13)
  for (name in c("wishart", "huang_wand", "crossed")) {
    draws <- with_seed(12, twin_bound_draws(twins[[name]]$model, twins[[name]], 6000))
    expect_lt(abs(mean(draws) - twins[[name]]$bound), 4 * sd(draws) / sqrt(length(draws)))
  }
})

test_that("Huang and Wand's mixture has half-t standard deviations, and one effect is a half-t", {
  block <- block_huang_wand(1:2, 3, c(0.7, 2))
  draws <- with_seed(2, block_variance_draws(block, 4000))
  for (k in 1:2) {
    sd <- sqrt(draws[, c(1, 3)[k]]) / c(0.7, 2)[k]
    expect_gt(stats::ks.test(sd, function(s) 2 * pt(s, 3) - 1)$p.value, 1e-3)
  }
  one <- twin_model(cases$wishart$x, cases$wishart$y,
                    list(block_normal(1:2, 10), block_ridge(3:4)), group = cases$wishart$group,
                    group_blocks = list(block_half_t(1, 3, 0.7)))
  joint <- one
  joint$blocks[[3]] <- c(block_huang_wand(1, 3, 0.7)[1:2],
                         list(columns = matrix(one$blocks[[3]]$columns)))
  a <- twin_fit(one)
  b <- twin_fit(joint)
  expect_close(a$bound, b$bound, tolerances[["bound"]], scale = abs(b$bound))
  expect_close(a$mean, b$mean, tolerances[["twin"]])
})

# ---- core and twin ------------------------------------------------------------------------

# E 1/s2, or E Sigma^-1, of a block from the core's report.
reported_inverse <- function(report) {
  if ("inverse_mean" %in% names(report)) return(report[["inverse_mean"]])
  at <- grep("^inverse_mean_", names(report), value = TRUE)
  index <- do.call(rbind, strsplit(sub("^inverse_mean_", "", at), "_"))
  storage.mode(index) <- "integer"
  inverse <- matrix(0, max(index), max(index))
  inverse[index] <- inverse[index[, 2:1, drop = FALSE]] <- report[at]
  inverse
}

for (name in names(cases)) for (accelerate in c(TRUE, FALSE)) {
  test_that(sprintf("core and twin agree: %s, accelerate = %s", name, accelerate), {
    twin <- twins[[name]]
    result <- run_core(cases[[name]], accelerate)
    dense <- core_dense(result)
    sd <- sqrt(diag(twin$covariance))
    expect_close(dense$mean, twin$mean, tolerances[["twin"]], scale = sd)
    expect_close(dense$covariance, twin$covariance, tolerances[["twin"]], scale = outer(sd, sd))
    if (!is.null(result$effects)) {
      expect_close(result$effects_sd, tail(sd, length(result$effects)), tolerances[["twin"]],
                   scale = tail(sd, length(result$effects)))
    }
    inverse <- lapply(twin$variances, `[[`, "inverse")
    Map(function(actual, expected) {
      expect_close(actual, expected, tolerances[["twin"]], scale = max(abs(expected)))
    }, lapply(c(result$hyper, result$group_hyper), reported_inverse), inverse)
    expect_close(result$bound, twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
    expect_never_falls(accepted_bounds(result$trace))
  })
}

test_that("sd of new rows from the factor, any combination of levels", {
  for (name in c("crossed_slopes", "nested", "sparse_columns")) {
    result <- run_core(cases[[name]])
    twin <- twins[[name]]
    p <- length(result$mean)
    rows <- with_seed(4, matrix(rnorm(8 * length(twin$mean)), 8))
    rows[, -seq_len(p)] <- rows[, -seq_len(p)] * (rows[, -seq_len(p)] > 0.8)
    sparse <- csc(rows[, -seq_len(p), drop = FALSE])
    sd <- bsvm:::core_linear_sd(result$factor, sparse, rows[, seq_len(p), drop = FALSE])
    expect_close(sd, sqrt(rowSums((rows %*% twin$covariance) * rows)), tolerances[["twin"]])
  }
})

# ---- special cases that meet --------------------------------------------------------------

test_that("one factor gives the same answer as sparse columns", {
  r <- random_case()
  blocks <- list(block_normal(1:2, 10), block_ridge(3:4))
  scale <- matrix(c(2, 0.6, 0.6, 1), 2)
  for (prior in list(list(block_ridge(1), block_half_t(2)),
                     list(block_inverse_wishart(1:2, 3, scale)),
                     list(block_huang_wand(1:2, 2, c(1, 0.5))))) {
    grouped <- run_core(core_case(r$x, r$y, blocks, weight = r$weight, group = r$group, z = r$z,
                                  group_blocks = prior))
    sparse <- run_core(core_case(r$x, r$y, blocks, weight = r$weight, group_blocks = prior,
                                 factors = list(list(codes = r$group, z = r$z, levels = 9))))
    sd <- sqrt(diag(core_dense(grouped)$covariance))
    expect_close(core_dense(sparse)$mean, core_dense(grouped)$mean, tolerances[["twin"]], sd)
    expect_close(sparse$bound, grouped$bound, tolerances[["bound"]], scale = abs(grouped$bound))
  }
})

test_that("sparse predictors are the dense ones", {
  case <- cases$sparse_columns
  sparse <- run_core(case)
  dense <- case
  dense$x <- cbind(case$x, case$factors[[1]]$matrix)
  dense$blocks <- c(case$blocks, list(block_ridge(5:11)))
  dense$factors <- case$factors[2]
  dense$group_blocks <- list(block_ridge(1))
  reference <- run_core(dense)
  sd <- sqrt(diag(reference$covariance))
  expect_close(c(sparse$mean, sparse$effects[1:7]), reference$mean, tolerances[["twin"]], sd)
  expect_close(sparse$bound, reference$bound, tolerances[["bound"]], scale = abs(sparse$bound))
})

test_that("a factor's order among the factors does not matter", {
  case <- cases$crossed_slopes
  turned <- case
  turned$factors <- rev(case$factors)
  turned$group_blocks <- list(block_ridge(1, 1, 1),
                              utils::modifyList(case$group_blocks[[2]], list(columns = 2:3)))
  a <- run_core(case)
  b <- run_core(turned)
  sd <- sqrt(diag(a$covariance))
  expect_close(b$mean, a$mean, tolerances[["invariance"]], scale = sd)
  expect_close(b$bound, a$bound, tolerances[["bound"]], scale = abs(a$bound))
})

# ---- from the formula to the twin ----------------------------------------------------------

# y ~ x1 + t + ... : flat x, everything else as given.
expect_formula_twin <- function(formula, data, x, blocks, ...) {
  x <- centred(x)$x
  fit <- bsvm(formula, data, engine = "vb", control = tight())
  twin <- twin_fit(twin_model(x, ifelse(data$y == "yes", 1, -1), blocks, ...))
  sd <- sqrt(diag(twin$covariance))
  p <- seq_len(ncol(x))
  expect_close(coef_dense(fit), twin$mean[p], tolerances[["golden"]], scale = sd[p])
  expect_close(elbo(fit), twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
  links <- drop(twin$model$design %*% twin$mean) + twin$model$offset
  expect_close(fitted(fit), links, 1e-7)
  invisible(list(fit = fit, twin = twin))
}

coef_dense <- function(fit) unname(fit$posterior$mean)

d <- grouped_data()
d$h <- factor(with_seed(3, sample(c("p", "q", "r", "s"), nrow(d), TRUE)))
x <- cbind(1, d$x1, d$t)
g <- list(codes = as.integer(d$g), z = NULL, levels = 12)
h <- list(codes = as.integer(d$h), z = NULL, levels = 4)
slopes <- list(codes = as.integer(d$g), z = cbind(1, d$t), levels = 12)

test_that("(t | g): inverse Wishart with q + 1 df and scale 1 / mean(t^2)", {
  scale <- diag(c(1, 1 / mean(d$t^2)))
  both <- expect_formula_twin(y ~ x1 + t + (t | g), d, x, list(block_normal(1:3)),
                              group = g$codes, z = slopes$z,
                              group_blocks = list(block_inverse_wishart(1:2, 3, scale)))
  w <- both$twin$variances[[2]]$wishart
  expect_close(as.matrix(VarCorr(both$fit)$g), w$scale / (w$df - 3), 1e-7)
  units <- bsvm(y ~ x1 + I(t * 1000) + (I(t * 1000) | g), d, engine = "vb", control = tight())
  expect_close(fitted(units), fitted(both$fit), 1e-6)
})

test_that("(t | g) under half-t standard deviations: Huang and Wand's prior", {
  fit <- bsvm(y ~ x1 + t + (t | g), d, engine = "vb", control = tight(),
              prior = list(g = prior_ridge(variance = prior_half_t(3, 0.8))))
  scale <- 0.8 / c(1, sqrt(mean(d$t^2)))
  twin <- twin_fit(twin_model(x, ifelse(d$y == "yes", 1, -1), list(block_normal(1:3)),
                              factors = list(slopes),
                              group_blocks = list(block_huang_wand(1:2, 3, scale))))
  expect_close(elbo(fit), twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
})

test_that("crossed, nested, interactions of factors, several terms of one factor", {
  flat <- list(block_normal(1:3))
  crossing <- list(codes = as.integer(interaction(d$g, d$h, drop = TRUE)), z = NULL)
  crossing$levels <- max(crossing$codes)
  intercepts <- list(block_ridge(1), block_ridge(2))
  expect_formula_twin(y ~ x1 + t + (1 | g) + (1 | h), d, x, flat, factors = list(g, h),
                      group_blocks = intercepts)
  expect_formula_twin(y ~ x1 + t + (1 | g / h), d, x, flat, factors = list(g, crossing),
                      group_blocks = intercepts)
  expect_formula_twin(y ~ x1 + t + (1 | g:h), d, x, flat, factors = list(crossing),
                      group_blocks = intercepts[1])
  scale <- diag(c(1, 1 / mean(d$t^2)))
  expect_formula_twin(y ~ x1 + t + (t | g) + (1 | h), d, x, flat, factors = list(slopes, h),
                      group_blocks = list(block_inverse_wishart(1:2, 3, scale), block_ridge(3)))
  expect_formula_twin(y ~ x1 + t + (1 | g) + (0 + t | g) + (1 | h), d, x, flat,
                      factors = list(slopes, h),
                      group_blocks = c(intercepts, list(block_ridge(3))))
  expect_formula_twin(y ~ x1 + t + (t || g), d, x, flat, factors = list(slopes),
                      group_blocks = intercepts)
})

test_that("smooths: mgcv's own matrices, its penalised part a ridge block", {
  skip_if_not_installed("mgcv")
  basis <- function(term) {
    smooth <- mgcv::smoothCon(term, d, absorb.cons = TRUE, modCon = 3)
    lapply(smooth, mgcv::smooth2random, vnames = "", type = 2)
  }
  one <- basis(mgcv::s(x2, k = 7))[[1]]
  x <- cbind(1, d$x1, one$Xf, one$rand[[1]])
  expect_formula_twin(y ~ x1 + s(x2, k = 7), d, x, list(block_normal(1:3), block_ridge(4:8)))
  by <- basis(mgcv::s(x2, by = h, k = 5))
  x <- cbind(1, model.matrix(~ h, d)[, -1])
  blocks <- list(block_normal(1:4))
  for (level in by) {
    at <- ncol(x) + seq_len(4)
    x <- cbind(x, level$Xf, level$rand[[1]])
    blocks <- c(blocks, list(block_normal(at[1]), block_ridge(at[-1])))
  }
  expect_formula_twin(y ~ h + s(x2, by = h, k = 5), d, x, blocks)
  x <- cbind(1, d$x1, one$Xf, one$rand[[1]])
  expect_formula_twin(y ~ x1 + s(x2, k = 7) + (1 | g), d, x,
                      list(block_normal(1:3), block_ridge(4:8)), factors = list(g),
                      group_blocks = list(block_ridge(1)))
})
