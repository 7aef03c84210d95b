bsvm <- paper_bsvm

d <- binary_data()

test_that("the four stages in a row are bsvm()", {
  frame <- bsvm_frame(y ~ x1 + f, d)
  spec <- bsvm_spec(frame, engine = "vb")
  expect_s3_class(spec, "bsvm_spec")
  expect_output(print(spec), "population-level slopes")
  fit <- new_bsvm(frame, spec, bsvm_run(spec), quote(bsvm(y ~ x1 + f, d, engine = "vb")))
  whole <- bsvm::bsvm(y ~ x1 + f, d, engine = "vb")
  expect_identical(fit$posterior, whole$posterior)
  expect_identical(fitted(fit), fitted(whole))
})

test_that("stages refuse what is not theirs", {
  expect_refusal(bsvm_spec(d), "argument", "bsvm_frame()")
  expect_refusal(bsvm_run(d), "argument", "bsvm_spec()")
  spec <- bsvm_spec(bsvm_frame(y ~ x1, d))
  expect_refusal(bsvm_run(spec, list()), "argument", "bsvm_control()")
})

test_that("what the core has not got is refused before anything runs", {
  unknown <- bsvm:::new_prior("horseshoe", c(scale = 1), "horseshoe", TRUE)
  expect_refusal(bsvm(y ~ x1, d, prior = unknown, engine = "vb"), "unsupported",
                 c("'horseshoe'", "'ridge'"))
})

test_that("the design is standardised in the core, not copied", {
  frame <- bsvm_frame(y ~ x1 + x2, d)
  spec <- bsvm_spec(frame)
  expect_identical(spec$problem$x, frame$x)
  expect_equal(spec$design$center, c(0, mean(d$x1), mean(d$x2)))
  expect_equal(spec$design$scale, c(1, sd(d$x1), sd(d$x2)))
  w <- rep(c(1, 2), 30)
  weighted <- bsvm_spec(bsvm_frame(y ~ x1, d, weights = w))
  twice <- c(d$x1, d$x1[w == 2])
  expect_equal(weighted$design$center[2], mean(twice))
  expect_equal(weighted$design$scale[2], sd(twice))
})

test_that("which factor is integrated out", {
  d <- grouped_data()
  d$h <- factor(rep(c("p", "q", "r"), 40))
  d$many <- factor(rep(seq_len(40), 3))
  term <- function(formula, engine = engine_gaussian(), likelihood = "hinge") {
    bsvm_spec(bsvm_frame(formula, d), engine = engine, likelihood = likelihood)$model$integrated
  }
  expect_equal(term(y ~ x1), -1L)
  expect_equal(term(y ~ x1 + (1 | g)), 0L)
  expect_equal(term(y ~ x1 + (t || g), engine_map()), 0L)
  expect_equal(term(y ~ x1 + (x1 + t | g)), -1L)
  expect_equal(term(y ~ x1 + (1 | h) + (t | g)), 1L)
  expect_equal(suppressWarnings(term(y ~ x1 + (x1 + t | many) + (1 | h) + (1 | g))), 2L)
  expect_equal(term(y ~ x1 + (1 | g), engine_gaussian(integrate = FALSE)), -1L)
  expect_equal(term(y ~ x1 + (1 | g), engine_vb()), -1L)
  d$z <- d$t * (d$t > 0)
  normalised <- likelihood_hinge(normalized = TRUE)
  expect_equal(term(y ~ x1 + (0 + z | g)), -1L)
  expect_equal(term(y ~ x1 + (z | g)), 0L)
  expect_equal(term(y ~ x1 + (0 + z | g), likelihood = normalised), 0L)
  most <- bsvm:::most_beside_integrated
  hinge <- likelihood_hinge()
  expect_equal(bsvm:::integrated_term(list(g = list(labels = "a", levels = 1:3)), hinge,
                                      engine_map(),
                                      FALSE, most), 0L)
  expect_equal(bsvm:::integrated_term(list(g = list(labels = "a", levels = 1:3)), hinge,
                                      engine_map(),
                                      FALSE, most + 1), -1L)
  two <- list(g = list(labels = "a", levels = 1:30), h = list(labels = "a", levels = 1:20))
  expect_equal(bsvm:::integrated_term(two, hinge, engine_map(), FALSE, most - 20), 0L)
  expect_equal(bsvm:::integrated_term(two, hinge, engine_map(), FALSE, most - 19), -1L)
  expect_equal(bsvm:::integrated_term(two, hinge, engine_map(), TRUE, 3), -1L)
})

test_that("default scales go with the likelihood", {
  d <- grouped_data()
  frame <- bsvm_frame(y ~ x1 + (1 | g), d)
  scale <- function(..., prior = list(g = prior_ridge(0.01))) {
    bsvm_spec(frame, ..., prior = prior)$model$group_blocks[[1]]$parameters[["scale"]]
  }
  normalised <- likelihood_hinge(normalized = TRUE)
  expect_equal(scale(likelihood = normalised), scale(likelihood = "hinge") / 16)
  expect_equal(scale(likelihood = normalised, prior = list(g = prior_ridge(1, 2))), 2)
  shown <- prior_for(y ~ x1 + (1 | g), d, likelihood = normalised)
  expect_true(all(shown$prior[shown$name == "g"] !=
                    prior_for(y ~ x1 + (1 | g), d, likelihood = "hinge")$prior[shown$name == "g"]))
})
