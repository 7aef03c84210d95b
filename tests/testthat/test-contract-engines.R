# What every engine of the core's registry must do, whatever it is called: a new one is picked up
# here.

skip_on_cran()

bsvm <- paper_bsvm

registry <- bsvm:::core_registry()
engines <- c(registered_engines(), registered_engines(gp = TRUE))
likelihoods <- registered_likelihoods()
likelihoods$given_tube <- likelihood_eps_insensitive(epsilon = 0.4, scale = 0.7)

classes <- grouped_data(60, 6)
of_numbers <- vapply(likelihoods, bsvm:::response_kind, "") == "numbers"
numbers <- transform(classes, y = with_seed(7, x1 - x2 + 0.8 * (y == levels(y)[2L]) + stats::rnorm(60) / 2))

# Engines differ in the priors they take: the first of these that is taken.
structures <- list(
  dense = list(
    formula = y ~ x1 + x2,
    priors = list(NULL, prior_ridge(variance = 1), prior_lasso())
  ),
  grouped = list(
    formula = y ~ x1 + (1 | g),
    priors = list(NULL, list(prior_ridge(variance = 1), g = prior_ridge(variance = 0.5)),
                  list(prior_lasso(), g = prior_ridge(variance = 0.5)))
  ),
  gp = list(formula = y ~ x1 + gp(x2), priors = list(NULL))
)
is_for <- function(structure, engine) (structure == "gp") == bsvm:::trait(engine, "gp_alone")

# A function (data, ...) that fits, or the refusal.
runner <- function(engine, likelihood, structure) {
  own <- if (bsvm:::response_kind(likelihood) == "numbers") numbers else classes
  run_with <- function(prior) {
    function(data = own, ..., control = tight(), quiet = TRUE) {
      fit <- function() {
        with_seed(1, suppressMessages(
          bsvm(structure$formula, data, prior = prior, engine = engine, likelihood = likelihood,
               control = control, keep_data = TRUE, ...)
        ))
      }
      if (quiet) unchecked(fit()) else fit()
    }
  }
  for (prior in structure$priors) {
    run <- run_with(prior)
    refusal <- tryCatch({
      run()
      NULL
    }, bsvm_error = identity)
    if (is.null(refusal)) return(run)
  }
  refusal
}

cases <- expand.grid(structure = names(structures), likelihood = names(likelihoods),
                     engine = names(engines), stringsAsFactors = FALSE)
cases <- cases[mapply(is_for, cases$structure, engines[cases$engine]), ]
runs <- lapply(seq_len(nrow(cases)), function(k) {
  runner(engines[[cases$engine[k]]], likelihoods[[cases$likelihood[k]]],
         structures[[cases$structure[k]]])
})
taken <- vapply(runs, is.function, TRUE)

test_that("every engine takes each structure under some likelihood, and what it refuses is said", {
  for (name in names(engines)) for (structure in names(structures)) {
    if (!is_for(structure, engines[[name]])) next
    own <- cases$engine == name & cases$structure == structure
    expect(any(taken[own]), paste0("engine_", name, "() takes no model: ", structure))
  }
  for (refusal in runs[!taken]) expect_s3_class(refusal, "bsvm_error")
})

# In posterior standard deviations, where there are any. Features of a Gaussian-process term go by
# the order of the rows, what they add up to does not.
expect_same_coefficients <- function(fit, other, tolerance, shift = 0) {
  if (length(fit$bases) > 0L) {
    link <- function(of) predict(of, classes, type = "link")
    return(expect_close(link(fit), link(other), tolerance))
  }
  sd <- if (bsvm:::is_point(other)) 1 else sqrt(diag(vcov(other)))
  expect_close(fixef(fit), fixef(other) + shift, tolerance, scale = sd)
}

less_time <- function(fit) {
  for (k in seq_along(fit$bases)) fit$bases[[k]]$learned$seconds <- NULL
  fit$sampling$seconds <- fit$control <- fit$call <- fit$arguments$control <- NULL
  fit
}

for (k in which(taken)) {
  words <- sprintf("engine %s, %s, %s", cases$engine[k], cases$likelihood[k], cases$structure[k])
  run <- runs[[k]]
  draws <- cases$engine[k] %in% registry$samplers
  d <- if (of_numbers[[cases$likelihood[k]]]) numbers else classes

  test_that(paste0(words, ": finite numbers that every method takes"), {
    fit <- run()
    expect_s3_class(fit, "bsvm")
    expect_finite(list(coef(fit), fitted(fit), if (!bsvm:::is_point(fit)) vcov(fit)))
    expect_output(print(fit), "x1")
    expect_output(unchecked(print(summary(fit))), "x1")
    new <- d[1:5, ]
    link <- predict(fit, new, type = "link")
    expect_close(link, fitted(fit)[1:5], 1e-9)
    if (is.factor(d$y)) {
      expect_identical(predict(fit, new), factor(levels(d$y)[1 + (link >= 0)], levels(d$y)),
                       ignore_attr = TRUE)
      expect_close(rowSums(predict(fit, new, type = "prob")), rep(1, 5), 1e-12)
    } else {
      expect_identical(predict(fit, new), link)
    }
    expect_named(fixef(fit), names(coef(fit))[seq_along(fixef(fit))])
    if (cases$structure[k] == "grouped") expect_finite(ranef(fit)$g)
  })

  test_that(paste0(words, ": the same bits again, and for two threads"), {
    fit <- less_time(run())
    expect_identical(less_time(run()), fit)
    expect_identical(less_time(run(control = tight(threads = 2))), fit)
  })

  test_that(paste0(words, ": a run that is too short says so"), {
    expect_warned(run(control = bsvm_control(max_passes = 2, verbose = FALSE), quiet = FALSE),
                  "convergence")
  })

  if (draws) next

  test_that(paste0(words, ": order of rows, weights and offsets"), {
    fit <- run()
    order <- with_seed(3, sample(nrow(d)))
    # points of a grid over inferred numbers lie where differences of sums put them, and steps of a
    # mode on kinks become ever smaller
    inferred <- bsvm:::has_parameters(fit$likelihood) && cases$engine[k] == "gaussian"
    tolerance <- if (inferred || cases$structure[k] == "gp") 1e-2 else 1e-7
    expect_same_coefficients(run(d[order, ]), fit, tolerance)
    twice <- run(rbind(d, d[1:10, ]))
    expect_same_coefficients(run(transform(d, w = rep(2:1, c(10, 50))), weights = w), twice,
                             tolerance)
    # an offset changes the kernel that is learned
    if (cases$structure[k] == "gp") return(invisible())
    # An intercept that is hardly penalised makes up for a shift.
    moved <- run(transform(d, o = 0.7), offset = o)
    expect_same_coefficients(moved, fit, if (inferred) 1e-2 else 5e-4, c(-0.7, 0 * fixef(fit)[-1]))
  })
}

# ---- samplers -----------------------------------------------------------------------------------

for (name in registry$samplers) {
  test_that(sprintf("sampler %s: a resumed run is the whole run", name), {
    make <- get0(paste0("engine_", name), asNamespace("bsvm"), mode = "function")
    skip_if(is.null(make), "a sampler without a constructor has no checkpoint")
    run <- function(...) {
      with_seed(1, suppressMessages(unchecked(
        bsvm(y ~ x1 + (1 | g), classes, engine = make(burnin = 10, chains = 2, ...),
             control = bsvm_control(verbose = FALSE))
      )))
    }
    whole <- run(draws = 20)
    file <- new_checkpoint()
    on.exit(unlink(file))
    run(draws = 8, checkpoint = file)
    expect_identical(run(draws = 20, checkpoint = file, resume = TRUE)$posterior, whole$posterior)
  })
}
