# Simulation-based calibration (Talts et al., 2018) and Geweke's (2004) test of regression: these
# likelihoods are densities, so no prior is tilted. All laws are proper and without an intercept,
# which would take up the response's shift.

skip_on_cran()

long <- identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")
kept <- 31
least <- 1e-4 # rejected below this by chance about once in 1e4 quantities; the seeds are fixed

half_t_draw <- function(df, scale) abs(scale * stats::rt(1, df))

# Residuals of the likelihoods from their definitions, of scale 1: exponential beyond a tube that
# has the share 1 - nu of the rows.
tube_residuals <- function(n, nu) {
  epsilon <- (1 - nu) / nu
  side <- sample(c(-1, 1), n, TRUE)
  side * ifelse(stats::runif(n) < nu, epsilon + stats::rexp(n), epsilon * stats::runif(n))
}

# Each says its likelihood, a draw of its numbers and residuals given these.
residual_cases <- list(
  tube = list(
    likelihood = function() {
      likelihood_eps_insensitive(scale = prior_half_t(3, 1), nu = prior_beta(2, 3))
    },
    numbers = function() c(scale = half_t_draw(3, 1), nu = stats::rbeta(1L, 2, 3)),
    residuals = function(n, at) at[["scale"]] * tube_residuals(n, at[["nu"]])
  ),
  laplace = list(
    likelihood = function() likelihood_laplace(scale = prior_half_t(3, 1)),
    numbers = function() c(scale = half_t_draw(3, 1)),
    residuals = function(n, at) at[["scale"]] * sample(c(-1, 1), n, TRUE) * stats::rexp(n)
  ),
  quantile = list(
    likelihood = function() likelihood_quantile(0.2, scale = prior_half_t(3, 1)),
    numbers = function() c(scale = half_t_draw(3, 1)),
    residuals = function(n, at) {
      above <- stats::runif(n) < 0.8 # slopes 0.2 above and 0.8 below
      at[["scale"]] * ifelse(above, stats::rexp(n, 0.2), -stats::rexp(n, 0.8))
    }
  ),
  normal = list(
    likelihood = function() likelihood_gaussian(scale = prior_half_t(3, 1)),
    numbers = function() c(scale = half_t_draw(3, 1)),
    residuals = function(n, at) at[["scale"]] * stats::rnorm(n)
  )
)

rows <- with_seed(5, data.frame(x = stats::rnorm(16), g = factor(rep_len(1:4, 16))))

from_prior <- function(case) {
  sd <- half_t_draw(3, 1)
  list(slope = stats::rnorm(1L), effects = sd * stats::rnorm(4L), sd = sd, at = case$numbers())
}

# A row for each draw: `slope`, `sd` and columns of `at` are vectors, `effects` has four columns.
quantities <- function(own, y) {
  cbind(slope = own$slope, effect = own$effects[, 1L], sd = own$sd, own$at,
        pull = own$slope * sum(rows$x * y), gap = own$effects[, 1L] * mean(y[rows$g == "1"]))
}

as_draw <- function(truth) {
  list(slope = truth$slope, effects = t(truth$effects), sd = truth$sd, at = t(truth$at))
}

draw_response <- function(case, own) {
  own$slope * rows$x + own$effects[rows$g] + case$residuals(nrow(rows), own$at)
}

# Draws of a fit by an engine, as quantities() takes them.
sampled <- function(case, y, engine) {
  fit <- suppressWarnings(
    bsvm(y ~ 0 + x + (1 | g), cbind(rows, y = y), likelihood = case$likelihood(),
         prior = list(prior_ridge(variance = 1), g = prior_ridge(variance = prior_half_t(3, 1))),
         standardize = FALSE, engine = engine, control = bsvm_control(verbose = FALSE))
  )
  draws <- unclass(posterior::as_draws_matrix(fit))
  list(slope = draws[, "x"], effects = draws[, paste0("r_g[", 1:4, ",Intercept]")],
       sd = draws[, "sd_g__Intercept"],
       at = draws[, names(case$numbers()), drop = FALSE])
}

engines <- list(
  slice = function(draws) engine_slice(draws = draws, burnin = 100L, thin = 12L, chains = 1L),
  gibbs = function(draws) engine_gibbs(draws = draws, burnin = 100L, thin = 12L, chains = 1L)
)

rank_of_truth <- function(case, engine) {
  truth <- from_prior(case)
  y <- draw_response(case, truth)
  own <- drop(quantities(as_draw(truth), y))
  colSums(quantities(sampled(case, y, engine), y) < rep(own, each = kept))
}

for (name in names(residual_cases)) for (engine in names(engines)) {
  test_that(sprintf("calibrated: %s, %s", name, engine), {
    skip_if_not_installed("posterior")
    if (name != "tube") skip_unless_extended()
    times <- if (long) 2000L else 100L
    ranks <- with_seed(23, replicate(times, rank_of_truth(residual_cases[[name]],
                                                          engines[[engine]](kept))))
    expect_gt(min(uniformity(t(ranks), kept)), least)
  })
}

test_that("draws under another law of the residuals are not calibrated", {
  skip_if_not_installed("posterior")
  case <- residual_cases$tube
  case$residuals <- function(n, at) at[["scale"]] * tube_residuals(n, at[["nu"]]) / 1.5
  ranks <- with_seed(23, replicate(100L, rank_of_truth(case, engines$slice(kept))))
  expect_lt(min(uniformity(t(ranks), kept)), least)
})

# Parameters given data by the sampler and data given parameters, in turns, keep the joint law.
turned <- function(case, engine) {
  own <- from_prior(case)
  for (turn in 1:2) {
    y <- draw_response(case, own)
    last <- sampled(case, y, engine)
    own <- list(slope = last$slope[[1L]], effects = last$effects[1L, ], sd = last$sd[[1L]],
                at = last$at[1L, ])
  }
  drop(quantities(as_draw(own), draw_response(case, own)))
}

for (engine in names(engines)) {
  test_that(paste("data and parameters in turns keep their joint law:", engine), {
    skip_if_not_installed("posterior")
    skip_unless_extended()
    case <- residual_cases$tube
    worst <- with_seed(30, {
      seen <- t(replicate(2000L, turned(case, engines[[engine]](2L)))) # of which the first goes on
      independent <- t(replicate(8000L, {
        own <- from_prior(case)
        drop(quantities(as_draw(own), draw_response(case, own)))
      }))
      max(rank_z(seen, independent))
    })
    expect_lt(worst, 4.5)
  })
}
