# Inclusion probabilities of fits by draws and by variational Bayes.

bsvm <- paper_bsvm

d <- binary_data(80)
d$z <- 2 * d$x1 + 5 # on another scale
quiet <- bsvm_control(verbose = FALSE)

drawn <- function(...) {
  engine <- engine_gibbs(draws = 150, burnin = 50, chains = 2)
  with_seed(1, suppressWarnings(bsvm(y ~ x2 + x3 + z, d, engine = engine, control = quiet, ...)))
}
by_draws <- drawn(prior = prior_spike_slab(pi = 0.3))
by_vb <- bsvm(y ~ x2 + x3 + z, d, prior = prior_laplace_zero(0.3), engine = "vb", control = quiet)

test_that("of draws it counts those that are not zero, on the scale of the predictors", {
  skip_if_not_installed("posterior")
  found <- inclusion(by_draws)
  expect_s3_class(found, c("bsvm_inclusion", "data.frame"), exact = TRUE)
  expect_identical(names(found), c("term", "probability", "mean", "sd", "p_positive"))
  expect_identical(found$term, c("x2", "x3", "z"))
  draws <- posterior::as_draws_matrix(by_draws)[, found$term]
  expect_true(any(draws == 0))
  for (k in seq_along(found$term)) {
    own <- as.vector(draws[, k])
    own <- own[own != 0]
    expect_equal(found$probability[k], length(own) / nrow(draws))
    expect_equal(c(found$mean[k], found$sd[k]), c(mean(own), sd(own)))
    expect_equal(found$p_positive[k], mean(own > 0))
  }
})

test_that("coefficients average over the models", {
  found <- inclusion(by_vb)
  expect_equal(found$probability * found$mean, unname(fixef(by_vb)[found$term]))
  expect_equal(found$p_positive, pnorm(found$mean / found$sd))
  variance <- found$probability * (found$sd^2 + (1 - found$probability) * found$mean^2)
  expect_equal(sqrt(variance), unname(sqrt(diag(vcov(by_vb)))[found$term]), tolerance = 1e-8)
})

test_that("only columns under a prior that selects are listed", {
  partly <- drawn(prior = list(prior_spike_slab(pi = 0.3), x3 = prior_flat()))
  expect_identical(inclusion(partly)$term, c("x2", "z"))
})

test_that("selected() has the most probable ones, in order", {
  found <- inclusion(by_draws)
  above <- found[found$probability > 0.2, ]
  expect_identical(selected(by_draws, 0.2), above$term[order(-above$probability)])
  expect_identical(selected(by_draws, 1 - 1e-9), found$term[found$probability == 1])
})

test_that("a column that no draw has is NA, not NaN", {
  never <- drawn(prior = prior_spike_slab(pi = 1e-12))
  found <- inclusion(never)
  out <- found$probability == 0
  expect_true(any(out))
  expect_false(any(is.nan(found$mean), is.nan(found$sd), is.nan(found$p_positive)))
  expect_true(all(is.na(found$mean[out]), is.na(found$p_positive[out])))
})

test_that("it prints the most probable first", {
  expect_output(print(inclusion(by_draws)), "Expected model size .* of 3; ")
  found <- inclusion(by_draws)
  first <- utils::capture.output(print(found, n = 1))
  expect_match(first[length(first)], found$term[which.max(found$probability)], fixed = TRUE)
})

test_that("what has no inclusion is refused", {
  plain <- bsvm(y ~ x1, d, engine = "vb")
  expect_refusal(inclusion(plain), "unsupported", c("prior_spike_slab()", "prior_laplace_zero()"))
  expect_refusal(inclusion(1), "argument", c("`object`", "1"))
  expect_refusal(inclusion(by_vb, 0.5), "argument", "inclusion()")
  expect_refusal(selected(by_vb, 1.5), "argument", c("`threshold`", "1.5"))
})

test_that("some rows print the size of the whole model; fewer columns are a data frame", {
  found <- inclusion(by_draws)
  header <- function(x) utils::capture.output(print(x))[1L]
  expect_match(header(found[1:2, ]), header(found), fixed = TRUE)
  expect_match(header(found[1:2, ]), "2 of them here", fixed = TRUE)
  expect_match(header(head(found, 1)), header(found), fixed = TRUE)
  expect_identical(header(found[order(found$term), ]), header(found))
  expect_s3_class(found[, c("term", "mean")], "data.frame", exact = TRUE)
  expect_identical(found[["probability"]], found[, "probability"])
  expect_output(print(found[0, ]), "0 of them here", fixed = TRUE)
})

test_that("a fit by variational Bayes says how far to trust it, and is compared with draws", {
  expect_output(print(inclusion(by_vb)), "check = TRUE")
  expect_no_match(utils::capture.output(print(inclusion(by_draws))), "check = TRUE")
  kept <- bsvm(y ~ x2 + x3 + z, d, prior = prior_laplace_zero(0.3), engine = "vb",
               likelihood = likelihood_hinge(), control = quiet, keep_data = TRUE)
  checked <- with_seed(2, inclusion(kept, check = TRUE))
  long <- with_seed(3, suppressWarnings(update(
    kept, engine = engine_gibbs(draws = 4000, burnin = 500, chains = 2)
  )))
  expect_close(checked$gibbs, inclusion(long)$probability, 0.03)
  expect_output(print(checked[1, ]), "Probabilities by variational Bayes")
  expect_refusal(inclusion(by_draws, check = TRUE), "unsupported", "engine_vb()")
  expect_refusal(inclusion(by_vb, check = 1), "argument", "`check`")
})
