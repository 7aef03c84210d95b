# Draws of the response.

d <- grouped_data()
fit <- as_normalised(gibbs_fit(y ~ x1 + (1 | g), d))

test_that("classes are drawn with the probabilities of the draws of the link", {
  drawn <- posterior_predict(fit, seed = 1)
  p <- posterior_epred(fit)
  expect_type(drawn, "integer")
  expect_identical(dim(drawn), dim(p))
  expect_identical(attr(drawn, "classes"), c("no", "yes"))
  expect_null(attr(drawn, "levels")) # tidybayes would read 1 as the first
  expect_true(all(drawn %in% 0:1))
  z <- colSums(drawn - p) / sqrt(colSums(p * (1 - p)))
  expect_gt(ks.test(z, "pnorm")$p.value, 1e-3)
  expect_lt(abs(mean(p[drawn == 1])  - sum(p^2) / sum(p)), 0.01)
  cells <- t(vapply(split(seq_along(p), cut(p, seq(0, 1, 0.1))), function(at) {
    c(mean(drawn[at]), mean(p[at]), sqrt(mean(p[at] * (1 - p[at])) / length(at)))
  }, numeric(3)))
  expect_true(all(abs(cells[, 1] - cells[, 2]) < 4 * cells[, 3]))
})

test_that("R's random numbers govern, or a seed that leaves them alone", {
  one <- with_seed(4, posterior_predict(fit))
  expect_identical(with_seed(4, posterior_predict(fit)), one)
  expect_false(identical(with_seed(5, posterior_predict(fit)), one))
  with_seed(1, {
    runif(1)
    before <- .Random.seed
    same <- posterior_predict(fit, seed = 4)
    expect_identical(.Random.seed, before)
    expect_identical(posterior_predict(fit, seed = 4), same)
  })
})

test_that("new rows, new levels, fewer draws, missing values", {
  new <- d[c(1:3, 1), ]
  new$g <- c("g01", "g02", NA, "new")
  drawn <- posterior_predict(fit, new, allow_new_levels = TRUE, draw_ids = 5:24)
  expect_identical(dim(drawn), c(20L, 4L))
  expect_true(all(is.na(drawn[, 3])))
  expect_false(anyNA(drawn[, -3]))
  expect_identical(dim(posterior_predict(fit, d[0, ])), c(300L, 0L))
  named <- as_normalised(gibbs_fit(am ~ mpg, mtcars))
  expect_identical(colnames(posterior_predict(named)), rownames(mtcars))
  expect_identical(attr(posterior_predict(named), "classes"), c("0", "1"))
  p <- posterior_epred(fit, re_formula = NA)
  z <- colSums(posterior_predict(fit, re_formula = NA, seed = 2) - p) / sqrt(colSums(p * (1 - p)))
  expect_gt(ks.test(z, "pnorm")$p.value, 1e-3)
})

test_that("what can't be is refused", {
  expect_needs_law(posterior_predict, "posterior_predict()")
  expect_refusal(posterior_predict(fit, seed = "a"), "argument", "`seed`")
  expect_refusal(posterior_predict(fit, draws = 3), "argument", "`draw_ids`")
  expect_refusal(posterior_predict(fit, transform(d, g = "new")), "newdata", "'new'")
})
