# Draws of correlated effects, crossed and nested factors: against the plain-R sampler, one
# source against another, and against the prior where there are no data.

skip_on_cran()

structures <- sampled_cases()

# ---- against the plain-R sampler ----------------------------------------------------------

for (name in names(structures)) {
  test_that(sprintf("the core's draws have the law of the plain-R sampler's: %s", name), {
    long <- !name %in% c("wishart", "crossed_slopes")
    if (long) skip_unless_extended()
    model <- case_twin(structures[[name]])
    own <- with_seed(5, twin_gibbs(model, if (long) 20000 else 2000, 100))
    for (mixing in c(TRUE, FALSE)) {
      draws <- core_gibbs(structures[[name]], draws = if (long) 20000 else 4000, chains = 2,
                          mixing = mixing)
      expect_same_law(law_table(model, draws), law_table(model, own))
    }
  })
}

# ---- one source against another -----------------------------------------------------------

# The columns of all factors as dense ones.
as_dense <- function(case) {
  model <- case_twin(case)
  core_case(model$design, case$y, model$blocks, weight = case$weight, offset = case$offset)
}

expect_same_draws_law <- function(case, other) {
  model <- case_twin(case)
  for (mixing in c(TRUE, FALSE)) {
    tables <- lapply(list(case, other), function(case) {
      draws <- core_gibbs(case, draws = if (mixing) 3000 else 6000, chains = 2, mixing = mixing)
      law_table(model, draws)
    })
    expect_same_law(tables[[1]], tables[[2]])
  }
}

test_that("crossed and nested factors have the draws' law of their dummy columns", {
  for (name in c("crossed", "nested")) {
    expect_same_draws_law(structures[[name]], as_dense(structures[[name]]))
  }
})

# Intercept and effects are free to move against each other: only their sums are known, so that
# the least error in what ties their draws together shows.
test_that("effects tied to a coefficient have the law of their dummy columns", {
  r <- random_case()
  tied <- list(block_normal(1, 100))
  effects <- list(block_normal(1, 100))
  grouped <- core_case(r$x[, 1, drop = FALSE], r$y, tied, group = r$group, group_blocks = effects)
  sparse <- core_case(r$x[, 1, drop = FALSE], r$y, tied, group_blocks = effects,
                      factors = list(list(codes = r$group, z = NULL, levels = 9)))
  expect_same_draws_law(grouped, as_dense(grouped))
  expect_same_draws_law(sparse, as_dense(grouped))
})

test_that("correlated effects have the same law by the grouped and by the sparse source", {
  case <- structures$wishart
  other <- case
  other$factors <- list(list(codes = case[["group"]], z = case$z, levels = 9))
  other[c("group", "z", "n_groups")] <- NULL
  expect_same_draws_law(case, other)
  slopes <- structures$crossed_slopes
  item <- slopes$factors[[2]]
  grouped <- core_case(cbind(slopes$x, factor_design(item)), slopes$y,
                       c(slopes$blocks, list(block_ridge(5:9, 4, 1))), weight = slopes$weight,
                       offset = slopes$offset, group = slopes$factors[[1]]$codes,
                       z = slopes$factors[[1]]$z, group_blocks = slopes$group_blocks[2])
  model <- case_twin(slopes)
  for (mixing in c(TRUE, FALSE)) {
    sparse <- law_table(model, core_gibbs(slopes, draws = 10000, mixing = mixing))
    dense <- core_gibbs(grouped, draws = 10000, mixing = mixing)
    dense$b <- dense$b[, c(1:4, 10:27, 5:9)]
    expect_same_law(sparse, law_table(model, dense))
  }
})

# ---- without data -------------------------------------------------------------------------

# With the moves only: without data a plain sampler is stuck where a half-t lets a variance be
# near zero.
test_that("where rows weigh nothing the draws are the prior's, for every structure", {
  for (name in names(structures)) {
    case <- structures[[name]]
    case$weight <- rep(1e-9, length(case$y))
    model <- case_twin(case)
    own <- with_seed(3, prior_draws(model, 3000))
    draws <- core_gibbs(case, draws = 12000)
    expect_same_law(draw_table(model, draws), draw_table(model, own))
  }
})
