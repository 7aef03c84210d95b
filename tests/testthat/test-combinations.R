# Every engine with every likelihood and prior on every structure: a fit whose numbers are finite,
# or a refusal before anything runs. What is registered in the core and has no name here is tried
# too; which of the two it is, is its own affair.

bsvm <- paper_bsvm

skip_on_cran()

d <- grouped_data(60, 6)
d$h <- factor(rep(c("p", "q", "r"), 20))

structures <- list(
  slopes = y ~ x1 + x2, intercepts = y ~ x1 + (1 | g), independent = y ~ x1 + (t || g),
  correlated = y ~ x1 + (t | g), crossed = y ~ x1 + (1 | g) + (1 | h),
  nested = y ~ x1 + (1 | h / g), crossed_slopes = y ~ x1 + (t | g) + (1 | h),
  smooth = y ~ x1 + s(x2, k = 5), smooth_groups = y ~ s(x2, k = 5) + (t | g)
)

priors <- list(
  fixed = prior_ridge(variance = 1), ridge = prior_ridge(0.01),
  half_t = prior_ridge(variance = prior_half_t(3, 1)), flat = prior_flat(10),
  wishart = prior_inv_wishart(),
  bridge = prior_bridge(0.8, nu = 0.5), lasso = prior_lasso(),
  laplace_zero = prior_laplace_zero(0.3), spike_slab = prior_spike_slab(0.3),
  relevance = prior_relevance()
)

variants <- list(vb = engine_vb(), gibbs = engine_gibbs(draws = 20, burnin = 10, chains = 2),
                plain = engine_gibbs(draws = 20, burnin = 10, chains = 2, mixing = FALSE),
                slice = engine_slice(draws = 20, burnin = 10, chains = 2, integrate = TRUE),
                effects = engine_slice(draws = 20, burnin = 10, chains = 2, integrate = FALSE),
                gaussian = engine_gaussian(), whole = engine_gaussian(integrate = FALSE),
                map = engine_map(), em = engine_em(starts = 2), ecme = engine_ecme())
unnamed <- function(all, known) all[setdiff(names(all), vapply(known, `[[`, "", "name"))]
engines <- c(variants, unnamed(registered_engines(), variants))

variances <- c("fixed", "ridge", "half_t", "flat", "wishart")
taken <- list(vb = c(variances, "laplace_zero", "relevance"), gibbs = names(priors), slice = variances,
              gaussian = variances, map = variances, em = c("fixed", "flat", "bridge"),
              ecme = "lasso")

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE),
                    tube = likelihood_eps_insensitive(), given = likelihood_eps_insensitive(0.4, 0.7))
# Those go the ways of the others of numbers.
registered <- registered_likelihoods()
registered[c("normal", "asymmetric_laplace")] <- NULL
likelihoods <- c(likelihoods, unnamed(registered, likelihoods))

numbers <- transform(d, y = with_seed(7, x1 - x2 + stats::rnorm(60) / 2))
rows_for <- function(likelihood) {
  if (bsvm:::response_kind(likelihood) == "numbers") numbers else d
}

known_priors <- names(priors)
for (name in setdiff(bsvm:::core_registry()$priors,
                     c(vapply(priors, `[[`, "", "name"), "huang_wand"))) {
  priors[[name]] <- bsvm:::new_prior(name, any_prior_numbers(name), name, TRUE)
}

is_known <- function(prior, engine, likelihood) {
  prior %in% known_priors && engine$name %in% names(taken) &&
    likelihood %in% c("pseudo", "normalised")
}

# The prior goes to the slopes, to `g`, and to the smooth, wherever the structure has them.
targets <- function(structure) {
  c("", if (structure %in% c("smooth", "smooth_groups")) "s(x2)",
    if (!structure %in% c("slopes", "smooth", "nested")) "g")
}

fit_or_refusal <- function(structure, prior, target, engine, likelihood) {
  given <- stats::setNames(list(prior), target)
  with_seed(1, tryCatch(
    suppressWarnings(bsvm(structures[[structure]], rows_for(likelihood), prior = given,
                          engine = engine, likelihood = likelihood, control = bsvm_control(verbose = FALSE))),
    bsvm_error = function(e) e
  ))
}

# Covariance priors are for correlated effects (and, of one effect, a variance); correlated effects
# take no other; all effects of a factor have one variance; a model with no slopes for the prior
# says so (a flat one is the intercept's too); engines on latent scales have the pseudo-likelihood.
refusable <- function(structure, prior, target, engine, likelihood) {
  correlated <- structure %in% c("correlated", "crossed_slopes", "smooth_groups")
  several <- structure %in% c("crossed", "nested", "crossed_slopes")
  (likelihood$normalized && engine$name %in% c("vb", "gibbs", "em", "ecme")) ||
    !prior %in% taken[[engine$name]] ||
    (prior == "wishart" && target != "g") ||
    (target == "g" &&
     (!prior %in% variances || correlated && !prior %in% c("wishart", "half_t"))) ||
    (target == "" && structure == "smooth_groups" && prior != "flat") ||
    (engine$name == "vb" && prior == "laplace_zero" && several) ||
    (engine$name %in% c("em", "ecme") && infers_others(structure, target))
}

# Without a word group effects and smooths have a variance that is inferred.
infers_others <- function(structure, target) {
  switch(structure, slopes = FALSE, intercepts = , independent = target != "g",
         smooth = target != "s(x2)", TRUE)
}

# Two effects of a level are integrated out in seconds, in the same way whatever prior slopes have.
is_repeated <- function(structure, prior, target, engine) {
  structure %in% c("correlated", "crossed_slopes", "smooth_groups") && engine$name == "gaussian" &&
    isTRUE(engine$settings$integrate) && target != "g" && prior %in% c("fixed", "half_t", "flat") &&
    !(structure == "smooth_groups" && target == "")
}

# Of a mode on kinks there is no covariance.
numbers_of <- function(fit) {
  point <- bsvm:::is_point(fit)
  list(coef(fit), if (!point) vcov(fit), fitted(fit))
}

for (structure in names(structures)) for (likelihood in names(likelihoods)) {
  test_that(sprintf("every engine and prior: %s, %s", structure, likelihood), {
    if (grepl("smooth", structure)) skip_if_not_installed("mgcv")
    for (prior in names(priors)) for (target in targets(structure)) for (engine in engines) {
      if (is_repeated(structure, prior, target, engine)) next
      result <- fit_or_refusal(structure, priors[[prior]], target, engine,
                               likelihoods[[likelihood]])
      words <- sprintf("%s, %s on '%s', %s, %s", structure, prior, target, engine$label, likelihood)
      refused <- if (is_known(prior, engine, likelihood)) {
        refusable(structure, prior, target, engine, likelihoods[[likelihood]])
      } else {
        inherits(result, "bsvm_error")
      }
      if (refused) {
        expect(inherits(result, c("bsvm_error_unsupported", "bsvm_error_prior")),
               paste("Not refused:", words))
      } else if (inherits(result, "bsvm")) {
        expect_finite(numbers_of(result), words)
        expect_finite(predict(result, d[1:3, ], type = "link"), words)
      } else {
        fail(paste0(words, ": ", conditionMessage(result)))
      }
    }
  })
}
