# The density of a residual whose loss is two hinges, against numerical integrals.

densities <- list(
  insensitive = list(a = 2, b = 2, e1 = 0.7, e2 = 0.7), laplace = list(a = 0.5, b = 0.5, e1 = 0, e2 = 0),
  quantile = list(a = 1.6, b = 0.4, e1 = 0, e2 = 0), odd = list(a = 3, b = 0.2, e1 = 0.1, e2 = 2)
)

density_of <- function(hinges) function(r) exp(hinges_log_density(r, hinges))

# In pieces between the bends.
integral <- function(f, hinges, to = Inf, bends = numeric()) {
  far <- 60 / min(hinges$a, hinges$b)
  ends <- sort(unique(pmin(pmax(c(-far, -hinges$e2, 0, hinges$e1, far, bends), -far), to, far)))
  sum(vapply(seq_len(length(ends) - 1L), function(k) {
    stats::integrate(f, ends[k], ends[k + 1L], rel.tol = 1e-10, subdivisions = 1000L)$value
  }, 0))
}

test_that("it integrates to one, and its moments and distribution are its integrals", {
  for (hinges in densities) {
    p <- density_of(hinges)
    expect_close(integral(p, hinges), 1, 1e-9)
    mean <- integral(function(r) r * p(r), hinges)
    moments <- hinges_moments(hinges)
    expect_close(moments$mean, mean, 1e-8)
    expect_close(moments$variance, integral(function(r) (r - mean)^2 * p(r), hinges), 1e-8)
    for (t in c(-3, -0.7, 0, 0.05, 1.3)) {
      expect_close(hinges_cdf(t, hinges), integral(p, hinges, to = t), 1e-9)
    }
  }
})

test_that("quantiles turn the distribution round", {
  p <- c(1e-12, 1e-3, 0.2, 0.5, 0.77, 1 - 1e-9)
  for (hinges in densities) expect_close(hinges_cdf(hinges_quantile(p, hinges), hinges), p, 1e-12)
})

test_that("the distribution of a residual and a normal number is their convolution", {
  for (hinges in densities) for (sd in c(0.02, 0.5, 4)) for (t in c(-4, -0.6, 0.1, 2)) {
    truth <- integral(function(r) exp(hinges_log_density(r, hinges)) * stats::pnorm((t - r) / sd), hinges,
                      bends = t + sd * c(-6, 0, 6))
    expect_close(hinges_normal_cdf(t, sd, hinges), truth, 1e-7)
  }
})

test_that("far out, and beside sharp linear predictors, the distribution is a number", {
  hinges <- densities$insensitive
  t <- c(-1e6, -1e3, 0, 1e3, 1e6)
  for (sd in c(0, 1e-9, 1e-3, 1, 1e4)) {
    found <- hinges_normal_cdf(t, rep(sd, 5), hinges)
    expect_finite(found)
    expect_true(all(diff(found) >= 0))
  }
  expect_equal(hinges_normal_cdf(0.3, 0, hinges), hinges_cdf(0.3, hinges))
})
