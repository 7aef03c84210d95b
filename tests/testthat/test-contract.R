# What every registered prior must do, alone and combined: a new one is picked up here, with numbers
# that it is asked for. test-contract-engines.R has the engines.

registry <- bsvm:::core_registry()
# of a parameter alone: test-likelihood-eps-insensitive.R, test-scale-model.R
registry$priors <- setdiff(registry$priors, c("beta", "gamma", "log_normal"))

# Numbers of those whose laws are compared with draws by R.
prior_examples <- list(
  normal = c(variance = 2),
  ridge = c(shape = 0.5, scale = 0.3),
  half_t = c(df = 3, scale = 1),
  inverse_wishart = c(effects = 1, df = 3, scale_1_1 = 2),
  huang_wand = c(effects = 1, df = 2, scale_1 = 1.5)
)

prior_numbers <- sapply(registry$priors, simplify = FALSE, function(prior) {
  known <- prior_examples[[prior]]
  if (is.null(known)) any_prior_numbers(prior) else known
})

takes <- function(engine, prior) {
  engine <- registered_engines()[[engine]]
  bsvm:::core_takes(engine$name, engine$parameters, prior, prior_numbers[[prior]])
}

# Those that are one variance, inferred or not; others have contracts of their own in
# test-prior-<name>.R.
one_variance <- Filter(function(prior) {
  traits <- bsvm:::core_prior_traits(prior, prior_numbers[[prior]])
  takes("vb", prior) && traits[["exchangeable"]] && !traits[["selects"]]
}, registry$priors)

example_block <- function(prior, columns, unseen = 0) {
  list(prior = prior, parameters = prior_numbers[[prior]], columns = as.integer(columns),
       unseen = unseen)
}

test_that("the registry lists what the package ships", {
  expect_setequal(intersect(registry$priors, names(prior_examples)), names(prior_examples))
  expect_true(all(names(prior_examples) %in% one_variance))
  expect_true("hinge" %in% registry$likelihoods)
  expect_true("vb" %in% registry$engines)
  expect_true("gibbs" %in% registry$samplers)
})

for (prior in one_variance) {
  test_that(sprintf("prior %s: the bound rises to a stationary point", prior), {
    r <- random_case()
    case <- core_case(r$x, r$y, list(block_normal(1), example_block(prior, 2:4)),
                      weight = r$weight, offset = r$offset)
    for (accelerate in c(TRUE, FALSE)) {
      result <- run_core(case, accelerate)
      expect_never_falls(accepted_bounds(result$trace))
      expect_equal(result$termination, "converged")
      hyper <- result$hyper[[2]]
      expect_true(all(c("inverse_mean", "mean") %in% names(hyper)))
      expect_gt(hyper[["inverse_mean"]], 0)
      precision <- c(1e-8, rep(hyper[["inverse_mean"]], 3))
      theta <- twin_pack(result$mean, result$covariance)
      objective <- function(t) twin_objective(t, case_twin(case), precision)
      expect_lt(max(abs(central_gradient(objective, theta))), 1e-5)
    }
  })

  test_that(sprintf("prior %s: an unseen coefficient is a column of zeros", prior), {
    r <- random_case()
    seen <- core_case(r$x, r$y, list(block_normal(1), example_block(prior, 2:4, unseen = 5)))
    wide <- core_case(cbind(r$x, matrix(0, nrow(r$x), 5)), r$y,
                      list(block_normal(1), example_block(prior, 2:9)))
    a <- run_core(seen)
    b <- run_core(wide)
    expect_close(a$bound, b$bound, tolerances[["bound"]], scale = abs(b$bound))
    expect_close(a$mean, b$mean[1:4], tolerances[["twin"]])
    expect_close(a$covariance, b$covariance[1:4, 1:4], tolerances[["twin"]])
  })

  test_that(sprintf("prior %s: on a multiplier it is the prior on dummy columns", prior), {
    r <- random_case()
    m <- max(r$group)
    grouped <- core_case(r$x, r$y, list(block_normal(1:4)), group = r$group,
                         group_blocks = list(example_block(prior, 1)))
    dummies <- core_case(twin_design(r$x, r$group), r$y,
                         list(block_normal(1:4), example_block(prior, 4 + seq_len(m))))
    a <- run_core(grouped)
    b <- run_core(dummies)
    expect_close(core_dense(a)$mean, b$mean, tolerances[["twin"]], sqrt(diag(b$covariance)))
    expect_close(a$bound, b$bound, tolerances[["bound"]], scale = abs(b$bound))
  })
}

# Rows that weigh nothing: what is drawn is the prior, of coefficients and variance together.
for (prior in names(prior_examples)) {
  test_that(sprintf("prior %s: drawn without data it is itself, moves or not", prior), {
    r <- random_case()
    case <- core_case(r$x[, 0], r$y, list(), weight = rep(1e-9, 60), group = r$group,
                      group_blocks = list(example_block(prior, 1)))
    block <- case$group_blocks[[1]]
    variance <- with_seed(1, block_variance_draws(block, 4000))[, 1]
    own <- log(cbind(abs(with_seed(2, rnorm(4000)) * sqrt(variance)), variance))
    if (prior == "normal") own <- own[, 1, drop = FALSE]
    for (mixing in c(TRUE, FALSE)) {
      draws <- core_gibbs(case, draws = 40000, burnin = 500, mixing = mixing)
      table <- log(cbind(abs(draws$b[, 1]), if (prior != "normal") draws$variances[[1]]))
      expect_same_law(table, own)
    }
  })
}

# The moves that help mixing leave the prior as it is, whatever it is.
others <- setdiff(registry$priors, names(prior_examples))
for (prior in Filter(function(prior) takes("gibbs", prior), others)) {
  test_that(sprintf("prior %s: drawn without data it is the same, moves or not", prior), {
    r <- random_case()
    case <- core_case(r$x[, 2:4], r$y, list(example_block(prior, 1:3)), weight = rep(1e-9, 60))
    tables <- lapply(c(TRUE, FALSE), function(mixing) {
      draws <- core_gibbs(case, draws = 20000, burnin = 500, chains = 2, mixing = mixing)
      cbind(abs(draws$b), draws$variances[[1]])
    })
    expect_same_law(tables[[1]], tables[[2]])
  })
}

for (prior in registry$priors) {
  test_that(sprintf("prior %s: some engine takes it, and fits with it are finite", prior), {
    engines <- Filter(function(engine) takes(engine, prior), names(registered_engines()))
    expect_gt(length(engines), 0)
    d <- binary_data()
    own <- bsvm:::new_prior(prior, prior_numbers[[prior]], prior, TRUE)
    for (engine in setdiff(engines, "ecme")) { # which has to have a scale to estimate
      run <- function() with_seed(1, suppressWarnings(suppressMessages(
        bsvm(y ~ x1 + x2 + x3, d, prior = own, engine = registered_engines()[[engine]],
             likelihood = likelihood_hinge(), control = bsvm_control(verbose = FALSE))
      )))
      fit <- tryCatch(run(), bsvm_error_prior = identity)
      if (!inherits(fit, "bsvm")) { # one for the effects of a level
        expect_match(conditionMessage(fit), "correlated|group", label = engine)
        next
      }
      expect_finite(fixef(fit))
      expect_identical(run()$posterior, fit$posterior)
    }
  })
}

test_that("every prior combines with every other on population and groups", {
  r <- random_case()
  combinations <- expand.grid(population = one_variance, group = one_variance,
                              accelerate = c(TRUE, FALSE), weighted = c(TRUE, FALSE),
                              stringsAsFactors = FALSE)
  for (i in seq_len(nrow(combinations))) {
    k <- combinations[i, ]
    case <- core_case(r$x, r$y, list(block_normal(1), example_block(k$population, 2:4)),
                      group = r$group, z = r$z, offset = r$offset,
                      group_blocks = list(example_block(k$group, 1), example_block(k$group, 2)))
    if (k$weighted) case$weight <- r$weight
    result <- run_core(case, k$accelerate, tol = 1e-8)
    expect_equal(result$termination, "converged")
    expect_finite(c(result$mean, result$covariance, result$bound, result$group_mean))
  }
})

test_that("the core refuses what is not registered", {
  r <- random_case()
  case <- core_case(r$x, r$y, list(block_normal(1:4)))
  case$blocks[[1]]$prior <- "nonesuch"
  expect_error(run_core(case), "nonesuch", class = "bsvm_core_invalid")
})
