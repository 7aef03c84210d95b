d <- grouped_data()

wishart <- list(g = prior_inv_wishart())

group_priors <- function(formula, prior = wishart, ...) {
  frame <- bsvm_frame(formula, d, ...)
  lapply(bsvm:::assign_priors(frame, prior)$group_blocks, `[[`, "prior")
}

test_that("an inverse-Wishart prior is scale-free in the covariates' units", {
  prior <- group_priors(y ~ (t | g))[[1]]
  s <- sqrt(mean(d$t^2))
  expect_identical(prior$name, "inverse_wishart")
  expect_equal(prior$parameters, c(effects = 2, df = 3, scale_1_1 = 1, scale_2_1 = 0,
                                   scale_2_2 = 1 / s^2))
  expect_match(prior$label, "inverse-Wishart, 3 df")
  d$t <- d$t * 1000
  frame <- bsvm_frame(y ~ (t | g), d)
  other <- bsvm:::assign_priors(frame, wishart)$group_blocks[[1]]$prior$parameters
  expect_equal(other[["scale_2_2"]] * 1e6, prior$parameters[["scale_2_2"]])
})

test_that("weight 2 is the row twice for its scale too", {
  w <- rep(1:2, 60)
  weighted <- group_priors(y ~ (t | g), weights = w)[[1]]$parameters
  expect_equal(weighted[["scale_2_2"]], 1 / mean(rep(d$t, w)^2))
})

test_that("df and scale may be given, the scale as a factor or a matrix", {
  twice <- group_priors(y ~ (t | g), list(g = prior_inv_wishart(scale = 2)))[[1]]$parameters
  plain <- group_priors(y ~ (t | g))[[1]]$parameters
  expect_equal(twice[3:5], 2 * plain[3:5])
  matrix <- matrix(c(2, 0.5, 0.5, 1), 2)
  given <- group_priors(y ~ (t | g), list(g = prior_inv_wishart(5, matrix)))[[1]]
  expect_equal(given$parameters, c(effects = 2, df = 5, scale_1_1 = 2, scale_2_1 = 0.5,
                                   scale_2_2 = 1))
  three <- group_priors(y ~ (t + x2 | g))[[1]]$parameters
  expect_named(three, c("effects", "df", "scale_1_1", "scale_2_1", "scale_3_1", "scale_2_2",
                        "scale_3_2", "scale_3_3"))
  expect_equal(three[["df"]], 4)
})

test_that("on one effect it is inverse gamma", {
  one <- group_priors(y ~ (1 | g), list(g = prior_inv_wishart(df = 4, scale = 3)))[[1]]
  expect_equal(one[c("name", "parameters")], list(name = "ridge",
                                                  parameters = c(shape = 2, scale = 1.5)))
  default <- group_priors(y ~ (0 + t || g), list(g = prior_inv_wishart()))[[1]]
  expect_equal(default$parameters, c(shape = 1, scale = 1 / mean(d$t^2) / 2))
})

test_that("half-t on a correlated bar is Huang and Wand's", {
  half <- list(g = prior_ridge(variance = prior_half_t(2, 3)))
  prior <- group_priors(y ~ (t | g), half)[[1]]
  expect_identical(prior$name, "huang_wand")
  expect_equal(prior$parameters, c(effects = 2, df = 2, scale_1 = 3,
                                   scale_2 = 3 / sqrt(mean(d$t^2))))
  expect_identical(group_priors(y ~ (t || g), half)[[2]]$name, "half_t")
})

test_that("a variance alone is no prior of correlated effects", {
  for (prior in list(prior_ridge(0.01), prior_ridge(variance = 2), prior_flat())) {
    expect_refusal(group_priors(y ~ (t | g), list(g = prior)), "prior",
                   c("`(Intercept)` and `t`", "prior_inv_wishart()", "prior_ridge()", "`||`"))
  }
})

test_that("priors of several factors are named by factor, bar and effect", {
  d$h <- rep(c("u", "v", "w"), 40)
  frame <- bsvm_frame(y ~ (t | g) + (0 + x2 | g) + (x1 || h), d)
  prior <- list(g = prior_inv_wishart(df = 7), "h: x1" = prior_ridge(variance = 2))
  blocks <- bsvm:::assign_priors(frame, prior)$group_blocks
  expect_identical(vapply(blocks, `[[`, "", "label"),
                   c("g: (Intercept), t", "g: x2", "h: (Intercept)", "h: x1"))
  expect_identical(vapply(blocks, `[[`, "", "factor"), c("g", "g", "h", "h"))
  expect_equal(lapply(blocks, `[[`, "columns"), list(1:2, 3, 4, 5))
  expect_identical(blocks[[1]]$labels, c("(Intercept)", "t"))
  expect_equal(blocks[[1]]$prior$parameters[["df"]], 7)
  expect_equal(blocks[[2]]$prior$parameters[["shape"]], 3.5)
  expect_match(blocks[[4]]$prior$label, "variance 2")
  expect_match(blocks[[3]]$prior$label, "half-t")
  expect_identical(bsvm:::block_names(bsvm_frame(y ~ (t | g), d)$groups$g), "g")
})

test_that("what can't be its numbers is refused", {
  expect_refusal(prior_inv_wishart(df = -1), "prior", c("`df`", "-1"))
  expect_refusal(prior_inv_wishart(scale = 0), "prior", "`scale`")
  expect_refusal(prior_inv_wishart(scale = matrix(1, 2, 2)), "prior", "positive definite")
  expect_refusal(prior_inv_wishart(scale = matrix(1:4, 2)), "prior", "symmetric")
  expect_refusal(prior_inv_wishart(scale = "a"), "prior", "`scale`")
  expect_refusal(group_priors(y ~ (t | g), list(g = prior_inv_wishart(df = 1))), "prior",
                 c("`df`", "above 1"))
  expect_refusal(group_priors(y ~ (t | g), list(g = prior_inv_wishart(scale = diag(3)))), "prior",
                 c("`scale`", "2 effects"))
  single <- list(g = prior_inv_wishart(scale = diag(2)))
  error <- expect_refusal(group_priors(y ~ (t || g), single), "prior", c("a number", "`||`"))
  expect_no_match(conditionMessage(error), "1 effects")
  expect_refusal(group_priors(y ~ x1 + (1 | g), prior_inv_wishart()), "prior", "grouping factor")
  expect_output(print(prior_inv_wishart()), "inverse-Wishart, q \\+ 1 df")
})

test_that("default scales follow the likelihood, given ones do not", {
  under <- function(formula, prior = wishart, likelihood = likelihood_hinge(normalized = TRUE)) {
    assigned <- bsvm:::assign_priors(bsvm_frame(formula, d), prior)
    bsvm:::scale_priors(assigned, likelihood)$group_blocks[[1]]$prior
  }
  pseudo <- under(y ~ (t | g), likelihood = likelihood_hinge())
  normalised <- under(y ~ (t | g))
  scales <- c("scale_1_1", "scale_2_1", "scale_2_2")
  expect_equal(normalised$parameters[scales], pseudo$parameters[scales] / 16)
  expect_equal(normalised$parameters[c("effects", "df")], pseudo$parameters[c("effects", "df")])
  expect_match(normalised$label, "3 df, scale diag\\(0.0625, ")
  given <- list(g = prior_inv_wishart(scale = 1))
  expect_equal(under(y ~ (t | g), given)$parameters, pseudo$parameters)
  one <- under(y ~ (1 | g), list(g = prior_inv_wishart()))
  expect_equal(one$parameters, c(shape = 1, scale = 1 / 32))
  expect_match(one$label, "inverse-Wishart, 2 df, scale 0.0625")
  half <- list(g = prior_ridge(variance = prior_half_t(2)))
  expect_equal(under(y ~ (t | g), half)$parameters,
               c(effects = 2, df = 2, scale_1 = 1 / 4, scale_2 = 1 / 4 / sqrt(mean(d$t^2))))
  expect_match(under(y ~ (t | g), half)$label, "Huang-Wand, half-t\\(2, 0.250? and ")
  half <- list(g = prior_ridge(variance = prior_half_t(2, 1)))
  expect_equal(under(y ~ (t | g), half)$parameters[["scale_1"]], 1)
})

test_that("the words of a prior are the same, made with it or from its numbers", {
  scale <- matrix(c(2, 0.5, 0.3, 0.5, 1, -0.2, 0.3, -0.2, 4), 3)
  expect_identical(unname(bsvm:::full_matrix(bsvm:::lower_triangle(scale))), scale)
  expect_identical(bsvm:::wishart_label(c(effects = 3, df = 5, bsvm:::lower_triangle(scale))),
                   paste("inverse-Wishart, 5 df, scale", bsvm:::scale_words(scale)))
})
