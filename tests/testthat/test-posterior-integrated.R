# Made by hand: `u` integrated (two effects, 5 levels), `h` (one effect, 3 levels) among the
# coefficients, in a dense joint law of everything.

made <- with_seed(3, {
  p <- 2
  d <- p + 3
  root <- matrix(rnorm(d^2), d)
  joint <- tcrossprod(root)
  own <- lapply(1:5, function(g) tcrossprod(matrix(rnorm(4), 2)) + diag(2))
  regression <- array(rnorm(2 * d * 5), c(2, d, 5))
  list(p = p, d = d, joint = joint, own = own, regression = regression, mean = rnorm(d),
       group_mean = matrix(rnorm(10), 2))
})
groups <- list(h = list(name = "h", levels = c("a", "b", "c"), labels = "(Intercept)"),
               u = list(name = "u", levels = letters[1:5], labels = c("(Intercept)", "x")))
posterior <- structure(list(
  mean = made$mean[1:2], covariance = made$joint[1:2, 1:2], joint_mean = made$mean,
  joint_covariance = made$joint, group_mean = made$group_mean,
  group_precision = array(vapply(made$own, solve, matrix(0, 2, 2)), c(2, 2, 5)),
  group_regression = made$regression, integrated = 2L
), class = "bsvm_integrated")

# (b, effects of h, effects of u by level): u_g = mean - B_g (b - E b) + e_g.
whole <- local({
  turn <- rbind(diag(made$d), do.call(rbind, lapply(1:5, function(g) -made$regression[, , g])))
  noise <- matrix(0, nrow(turn), nrow(turn))
  for (g in 1:5) {
    at <- made$d + 2 * (g - 1) + 1:2
    noise[at, at] <- made$own[[g]]
  }
  list(mean = c(made$mean, made$group_mean), covariance = turn %*% made$joint %*% t(turn) + noise)
})

test_that("effects of every factor, in the order of the factors", {
  means <- bsvm:::effect_means(posterior, groups)
  expect_named(means, c("h", "u"))
  expect_equal(means$h, matrix(made$mean[3:5], 1))
  expect_equal(means$u, made$group_mean)
  sds <- bsvm:::effect_sds(posterior, groups)
  expect_close(sds$h, sqrt(diag(whole$covariance))[3:5], 1e-12)
  expect_close(sds$u, sqrt(diag(whole$covariance))[6:15], 1e-12)
})

# A fit around it: two columns, fixed variances.
ridge <- function(variance) prior_ridge(variance = variance)
block <- function(prior, columns, label, factor, labels) {
  list(prior = prior, columns = columns, label = label, factor = factor, labels = labels,
       hyper = c(mean = prior$parameters[["variance"]],
                 inverse_mean = 1 / prior$parameters[["variance"]]))
}
fit <- structure(list(
  design = list(columns = c("(Intercept)", "x"), assign = 0:1, center = c(0, 0.5), scale = c(1, 2),
                intercept = 1L, implicit = FALSE, unit = 1, shift = 0, rotation = list(),
                sparse = NULL),
  groups = groups, posterior = posterior,
  blocks = list(block(ridge(1), 1:2, "all", NULL, NULL)),
  group_blocks = list(block(ridge(0.3), 1L, "h", "h", "(Intercept)"),
                      block(ridge(0.5), 2L, "u: (Intercept)", "u", "(Intercept)"),
                      block(ridge(0.7), 3L, "u: x", "u", "x"))
), class = "bsvm")

test_that("links of rows with both factors, one, none, and new levels", {
  x <- cbind(1, c(-1, 0, 1, 2, 3))
  z <- cbind(1, c(2, -1, 0.5, 3, 1))
  rows <- list(x = x, groups = list(h = list(codes = c(1L, 3L, 0L, NA, 2L), z = NULL),
                                    u = list(codes = c(5L, 0L, 2L, 1L, NA), z = z)))
  dense <- matrix(0, 5, 15)
  dense[, 1:2] <- cbind(1, (x[, 2] - 0.5) / 2)
  dense[1, 3] <- dense[2, 5] <- dense[5, 4] <- 1
  dense[1, 14:15] <- z[1, ]
  dense[3, 8:9] <- z[3, ]
  dense[4, 6:7] <- z[4, ]
  new <- c(0, sum(z[2, ]^2 * c(0.5, 0.7)), 0.3, 0, 0)
  link <- bsvm:::posterior_linear(fit, rows)
  expect_close(link$mean, dense %*% whole$mean, 1e-12)
  expect_close(link$sd, sqrt(rowSums((dense %*% whole$covariance) * dense) + new), 1e-12)
  only <- list(x = x, groups = rows$groups["h"])
  dense[, 6:15] <- 0
  expect_close(bsvm:::posterior_linear(fit, only)$sd,
               sqrt(rowSums((dense %*% whole$covariance) * dense) + c(0, 0, 0.3, 0, 0)), 1e-12)
})
