bsvm <- paper_bsvm

skip_if_not_installed("posterior")

# Rows a, b, c: well mixed; one chain elsewhere; slow.
planted <- function(n = 500) {
  with_seed(4, {
    good <- matrix(rnorm(4 * n), n)
    apart <- good + rep(c(0, 0, 0, 3), each = n)
    slow <- apply(good, 2, stats::filter, 0.97, method = "recursive")
    array(rbind(as.vector(good), as.vector(apart), as.vector(slow)), c(3, n, 4),
          dimnames = list(c("a", "b", "c"), NULL, NULL))
  })
}

test_that("diagnostics are those of the package posterior, chain by chain", {
  draws <- planted()
  ours <- bsvm:::diagnose(draws)
  theirs <- posterior::summarise_draws(
    posterior::as_draws_array(aperm(draws, c(2, 3, 1))),
    "rhat", "ess_bulk", "ess_tail", "mcse_mean"
  )
  expect_equal(unname(ours), unname(as.matrix(theirs[-1])), tolerance = 1e-12)
})

test_that("a warning names the worst by each limit, and only what is beyond it", {
  table <- bsvm:::diagnose(planted())
  expect_silent(bsvm:::warn_diagnosis(table[1, , drop = FALSE]))
  w <- expect_warning(bsvm:::warn_diagnosis(table), class = "bsvm_warning_convergence")
  expect_match(conditionMessage(w), "Rhat is [0-9.]+ for `b`")
  expect_match(conditionMessage(w), "Few effective draws: [0-9]+ for `b`")
  w <- expect_warning(bsvm:::warn_diagnosis(table[c(1, 3), ]), class = "bsvm_warning_convergence")
  expect_match(conditionMessage(w), "`c`")
})

test_that("a fit of few draws warns, and so does its summary", {
  d <- binary_data()
  expect_warning(with_seed(1, bsvm(y ~ x1, d, engine = engine_gibbs(50, 20))),
                 class = "bsvm_warning_convergence")
  fit <- gibbs_fit(y ~ x1, d, draws = 50)
  expect_warning(summary(fit), class = "bsvm_warning_convergence")
  one <- expect_warning(with_seed(1, bsvm(y ~ x1, d, engine = engine_gibbs(1, 0, chains = 1))),
                        class = "bsvm_warning_convergence")
  expect_match(conditionMessage(one), "too few")
  expect_silent(with_seed(1, bsvm(y ~ x1, d, engine = engine_gibbs(2000, 500),
                                  prior = prior_ridge(variance = 1),
                                  control = bsvm_control(verbose = FALSE))))
})

test_that("separated classes are told from slow chains", {
  case <- wide_case()
  warned <- character()
  withCallingHandlers(
    with_seed(1, bsvm(case$x[, -1], case$y, engine = engine_gibbs(2000, 500))),
    warning = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  expect_match(warned[1], "The data do not bound `var_population-level slopes`")
  expect_match(warned[1], "prior_ridge()", fixed = TRUE)
})

test_that("a scale has no bounds from where its square, a variance, has none", {
  drawn <- function(name, x) array(c(1, x), c(1, 2, 1), list(name, NULL, NULL))
  owners <- list(list(prior = prior_ridge(0.01)))
  for (limit in list(list("nu_x", 1e5), list("s_x", 1e5), list("var_nu_x", 1e10))) {
    expect_silent(bsvm:::warn_unbounded(drawn(limit[[1]], 0.9 * limit[[2]]), owners))
    expect_warning(bsvm:::warn_unbounded(drawn(limit[[1]], 1.1 * limit[[2]]), owners),
                   paste0("bound `", limit[[1]]), class = "bsvm_warning_rank")
  }
})

# The default is bounded already, so that its own prior would be no advice.
test_that("no warning advises a prior that the fit has", {
  d <- with_seed(1, data.frame(x = rnorm(80), g = gl(8, 10), y = rep(0:1, 40)))
  d$o <- rep(c(1, -1), 40) * 1e5
  for (case in list(list(y ~ x + (x | g), NULL, "(x || g)"),
                    list(y ~ x + (x || g), NULL, "variance = 1"))) {
    warned <- capture_warnings(with_seed(1, bsvm::bsvm(
      case[[1]], d, offset = o, prior = case[[2]],
      engine = engine_slice(draws = 200, burnin = 300, chains = 2),
      control = bsvm_control(verbose = FALSE)
    )))
    expect_match(warned[1], "data do not bound")
    expect_match(warned[1], case[[3]], fixed = TRUE)
  }
  expect_no_warning(with_seed(1, bsvm::bsvm(
    y ~ x + (x || g), d, prior = list(g = prior_ridge(variance = 1)), offset = o / 1e5,
    likelihood = "normalized"
  )))
})

test_that("diagnostics do not need the package posterior", {
  fit <- gibbs_fit(y ~ x1, binary_data(), draws = 600)
  whole <- suppressWarnings(summary(fit))
  local_replace("has_posterior", function() FALSE)
  without <- suppressWarnings(summary(fit))
  expect_identical(without$coefficients, whole$coefficients)
  expect_finite(without$coefficients)
  expect_finite(glance(fit)$max_rhat)
})

test_that("what was drawn before an interrupt is a fit; before the first draw nothing is", {
  d <- binary_data()
  run <- get("core_sample", asNamespace("bsvm"))
  local_replace("core_sample", function(...) {
    result <- run(...)
    result$termination <- "interrupted"
    result
  })
  expect_warning(fit <- with_seed(1, bsvm(y ~ x1, d, engine = engine_gibbs(50, 20))),
                 class = "bsvm_warning_interrupted")
  expect_equal(fit$termination, "interrupted")
  expect_output(print(fit), "interrupted, not all")
  local_replace("core_sample", function(...) {
    stop(structure(class = c("bsvm_core_interrupted", "error", "condition"),
                   list(message = "Before.", call = NULL, argument = "")))
  })
  expect_s3_class(tryCatch(bsvm(y ~ x1, d, engine = "gibbs"), interrupt = identity),
                  "bsvm_error_interrupted")
})

test_that("posterior's warning that a size was capped stays inside", {
  skip_if_not_installed("posterior")
  swing <- rep(c(-1, 1), 200) + with_seed(1, rnorm(400)) / 10
  draws <- array(swing, c(1, 200, 2), list("a", NULL, NULL))
  expect_warning(posterior::ess_bulk(matrix(swing, 200)), "capped")
  expect_silent(diagnose(draws))
})
