# Spike and slab by Gibbs sampling: draws against enumeration and quadrature, structures, resuming.

small_rows <- function(n = 14, seed = 3) {
  with_seed(seed, {
    x <- matrix(rnorm(2 * n), n) %*% matrix(c(1, 0.6, 0, 0.8), 2)
    list(x = x, y = ifelse(x[, 1] + 3 * rnorm(n) > 0, 1, -1), weight = rep(c(1, 2), n / 2),
         offset = rnorm(n) / 4)
  })
}

selection_cases <- function() {
  r <- small_rows()
  one <- core_case(r$x[, 1, drop = FALSE], r$y, list(block_spike_slab(1, 0.4, pi = 0.1)))
  list(
    one = one,
    two = core_case(r$x, r$y, list(block_spike_slab(1:2, 0.5, pi = 0.3, sigma = c(1, 1.7))),
                    offset = r$offset, weight = r$weight),
    beside = core_case(r$x, r$y, list(block_normal(1, 0.5), block_spike_slab(2, 0.6, pi = 0.4))),
    beta = core_case(r$x, r$y, list(block_spike_slab(1:2, 0.5, a = 1.5, b = 3)))
  )
}

for (name in names(selection_cases())) {
  test_that(sprintf("spike and slab, exact by enumeration and quadrature: %s", name), {
    case <- selection_cases()[[name]]
    exact <- exact_selection(case)
    for (mixing in c(TRUE, FALSE)) {
      draws <- core_gibbs(case, draws = 30000, chains = 2, mixing = mixing, seed = 4)
      expect_lt(selection_z(case, draws, exact), 4.5)
    }
    wrong <- case
    at <- which(vapply(case$blocks, `[[`, "", "prior") == "spike_slab")
    wrong$blocks[[at]]$parameters[["nu"]] <- 1.15 * case$blocks[[at]]$parameters[["nu"]]
    expect_gt(selection_z(case, draws, exact_selection(wrong)), 6)
  })
}

test_that("spike and slab, more columns than rows: exact by enumeration and quadrature", {
  case <- core_case(matrix(c(0.9, -0.7), 1), 1, list(block_spike_slab(1:2, 0.8, pi = 0.4)),
                    weight = 3, offset = 0.1)
  exact <- exact_selection(case)
  for (mixing in c(TRUE, FALSE)) {
    draws <- core_gibbs(case, draws = 30000, chains = 2, mixing = mixing, seed = 4)
    expect_lt(selection_z(case, draws, exact), 4.5)
  }
})

# Rows that weigh nothing.
test_that("spike and slab drawn without data is itself", {
  r <- random_case()
  for (columns in c(4, 90)) {
    x <- with_seed(1, matrix(rnorm(60 * columns), 60))
    case <- core_case(x, r$y, list(block_spike_slab(seq_len(columns), 2, a = 2, b = 5)),
                      weight = rep(1e-9, 60))
    draws <- core_gibbs(case, draws = 4000, burnin = 500, chains = 2)
    pi <- with_seed(2, rbeta(8000, 2, 5))
    size <- with_seed(3, rbinom(8000, columns, pi))
    slab <- draws$b[, 1][draws$b[, 1] != 0] / 2
    expect_gt(suppressWarnings(ks.test(slab, "pnorm"))$p.value, 1e-4)
    expect_same_law(cbind(draws$variances[[1]], rowSums(draws$b != 0)), cbind(pi, size))
  }
})
