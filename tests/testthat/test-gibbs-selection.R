# Spike and slab by Gibbs sampling: draws against enumeration and quadrature, structures, resuming.

skip_on_cran()

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

# ---- Laplace-zero -------------------------------------------------------------------------------

block_laplace_zero <- function(columns, rho, shape, scale) {
  list(prior = "laplace_zero", columns = as.integer(columns), unseen = 0L,
       parameters = c(rho = rho, shape = shape, scale = scale))
}

test_that("Laplace-zero, exact by quadrature", {
  r <- small_rows()
  case <- core_case(r$x[, 1, drop = FALSE], r$y, list(block_laplace_zero(1, 0.3, 3, 1.5)),
                    offset = r$offset)
  exact <- exact_laplace_zero(case)
  for (mixing in c(TRUE, FALSE)) {
    b <- core_gibbs(case, draws = 40000, chains = 2, mixing = mixing, seed = 4)$b
    table <- cbind(b, b^2, b != 0)
    expect_lt(max(abs(colMeans(table) - exact) / batch_error(table, 50)), 4.5)
  }
  wrong <- case
  wrong$blocks[[1]]$parameters[["scale"]] <- 2.2
  expect_gt(max(abs(colMeans(table) - exact_laplace_zero(wrong)) / batch_error(table, 50)), 6)
})

test_that("Laplace-zero of two columns that are alike, and with rho = 1, exact by quadrature", {
  r <- small_rows()
  for (rho in c(0.3, 1)) {
    case <- core_case(r$x, r$y, list(block_laplace_zero(1:2, rho, 3, 1.5)), offset = r$offset)
    exact <- exact_laplace_pair(case)
    for (mixing in c(TRUE, FALSE)) {
      b <- core_gibbs(case, draws = 40000, chains = 2, mixing = mixing, seed = 4)$b
      table <- cbind(b, b^2, b != 0, b[, 1] != 0 & b[, 2] != 0)
      moving <- if (rho < 1) 1:7 else 1:4
      z <- (colMeans(table) - exact)[moving] / batch_error(table[, moving], 50)
      expect_lt(max(abs(z)), 4.5)
      if (rho == 1) expect_true(all(table[, 5:7] == 1))
    }
  }
})

test_that("Laplace-zero drawn without data is itself", {
  r <- random_case()
  case <- core_case(r$x[, 1:3], r$y, list(block_laplace_zero(1:3, 0.6, 3, 2)),
                    weight = rep(1e-9, 60))
  for (mixing in c(TRUE, FALSE)) {
    draws <- core_gibbs(case, draws = 40000, burnin = 500, mixing = mixing)
    s <- sqrt(with_seed(1, draw_inv_gamma(4000, 3, 2)))
    b <- with_seed(2, rexp(4000) * (runif(4000) < 0.6)) * s
    expect_same_law(cbind(abs(draws$b[, 1]), draws$variances[[1]]), cbind(b, s))
  }
})

test_that("with rho = 1 nothing is out", {
  r <- random_case()
  case <- core_case(r$x, r$y, list(block_normal(1), block_laplace_zero(2:4, 1, 0.5, 0.5)))
  expect_true(all(core_gibbs(case, draws = 200)$b != 0))
})

# ---- structures ---------------------------------------------------------------------------------

# One model four ways: the groups eliminated, by the sparse source, as columns, and as columns with
# the rows so few that no Gram matrix is formed.
group_ways <- function(n = 24, groups = 5) {
  r <- small_rows(n)
  codes <- rep(seq_len(groups), length.out = n)
  slab <- block_spike_slab(1:2, 0.6, a = 1, b = 2)
  dummies <- diag(groups)[codes, ]
  list(
    group = core_case(r$x, r$y, list(slab), group = codes,
                      group_blocks = list(block_normal(1, 0.7))),
    sparse = core_case(r$x, r$y, list(slab), factors = list(list(codes = codes, levels = groups)),
                       group_blocks = list(block_normal(1, 0.7))),
    columns = core_case(cbind(r$x, dummies), r$y, list(slab, block_normal(2 + 1:groups, 0.7)))
  )
}

test_that("groups eliminated, sparse, and as columns: one law", {
  ways <- group_ways()
  table <- function(case, mixing) {
    draws <- core_gibbs(case, draws = 20000, chains = 2, mixing = mixing, seed = 3)
    cbind(draws$b, draws$b[, 1:2] != 0, draws$variances[[1]])
  }
  reference <- table(ways$columns, FALSE)
  for (way in names(ways)) expect_same_law(table(ways[[way]], TRUE), reference)
  expect_same_law(table(ways$group, FALSE), reference)
})

test_that("more columns than rows: groups drawn one by one have the law of columns", {
  few <- lapply(group_ways(4, 3), function(case) {
    case$weight <- rep(c(1, 3), 2)
    case
  })
  few$group$x <- cbind(few$group$x, 0, 0, 0) # five columns for four rows
  few$group$blocks <- c(few$group$blocks, list(block_normal(3:5, 1)))
  table <- function(case, at) {
    draws <- core_gibbs(case, draws = 40000, chains = 2, seed = 3)
    cbind(draws$b[, at], draws$b[, 1:2] != 0)
  }
  expect_same_law(table(few$group, c(1:2, 6:8)), table(few$columns, 1:5))
})

# ---- what chains promise ------------------------------------------------------------------------

test_that("selecting: the same draws for any number of threads, and resumed ones", {
  r <- random_case()
  wide <- with_seed(1, matrix(rnorm(60 * 70), 60))
  cases <- list(
    core_case(r$x, r$y, list(block_normal(1), block_spike_slab(2:4, 1, a = 1, b = 1)),
              group = r$group, group_blocks = list(block_ridge(1))),
    core_case(wide, r$y, list(block_spike_slab(1:70, 1, pi = 0.1)))
  )
  for (case in cases) {
    settings <- list(draws = 120, burnin = 40, thin = 2, chains = 2, seed = 77)
    again <- function(...) {
      do.call(sample_core, utils::modifyList(c(list(case), settings), list(...)))
    }
    whole <- again()
    expect_same_draws(again(threads = 2), whole)
    file <- new_checkpoint()
    on.exit(unlink(file))
    again(draws = 37, checkpoint = file, resume = TRUE)
    expect_same_draws(again(checkpoint = file, resume = TRUE), whole)
    unlink(file)
  }
})
