bsvm <- paper_bsvm

ref <- drawn_reference()
fit <- ref$fit
d <- ref$data
links <- hand_links(ref)

test_that("draws of the link are those of coefficients and effects", {
  expect_close(posterior_linpred(fit), t(links), 1e-10)
  expect_close(posterior_linpred(fit, newdata = d[7:9, ]), t(links[7:9, ]), 1e-10)
  expect_close(posterior_linpred(fit, newdata = d[7, ], draw_ids = c(4, 200)),
               links[7, c(4, 200)], 1e-10)
  expect_equal(dim(posterior_linpred(fit, newdata = d[0, ])), c(300, 0))
  cars <- gibbs_fit(am ~ mpg, mtcars)
  expect_identical(colnames(posterior_linpred(cars, newdata = mtcars[3:4, ])),
                   rownames(mtcars)[3:4])
})

test_that("re_formula takes the effects it names", {
  population <- ref$x %*% ref$coefficients
  expect_close(posterior_linpred(fit, re_formula = NA), t(population), 1e-10)
  slope <- population
  for (i in 1:120) slope[i, ] <- slope[i, ] + ref$z[i, 2] * ref$effects[2, ref$codes[i], ]
  expect_close(posterior_linpred(fit, newdata = d, re_formula = ~ (0 + t | g)), t(slope), 1e-10)
  expect_close(posterior_linpred(fit, re_formula = ~ (t | g)), t(links), 1e-10)
  expect_refusal(posterior_linpred(fit, re_formula = ~ (1 | x1)), "argument", "`re_formula`")
})

test_that("an offset is added, a missing value gives NA", {
  moved <- gibbs_fit(y ~ x1 + offset(x2), d)
  still <- posterior_linpred(moved, newdata = transform(d, x2 = 0))
  expect_close(posterior_linpred(moved, newdata = d), still + rep(d$x2, each = 300), 1e-10)
  new <- d[1:3, ]
  new$x1[1] <- NA
  new$g[2] <- NA
  found <- posterior_linpred(fit, newdata = new)
  expect_true(all(is.na(found[, 1:2])))
  expect_close(found[, 3], links[3, ], 1e-10)
})

# z'u of a new level is N(0, z'Sigma z) given each draw of Sigma.
test_that("a new level is drawn from the law of the effects", {
  new <- d[c(1:3, 3), ]
  new$g <- c("a", "b", "b", "g01")
  expect_refusal(posterior_linpred(fit, newdata = new), "newdata", "'a'")
  found <- t(posterior_linpred(fit, newdata = new, allow_new_levels = TRUE))
  z <- ref$z[c(1:3, 3), ]
  own <- found - ref$x[c(1:3, 3), ] %*% ref$coefficients
  expect_close(own[4, ], z[4, ] %*% ref$effects[, 1, ], 1e-10)
  sd <- apply(ref$covariance, 3, function(v) sqrt(rowSums((z %*% v) * z)))
  for (i in 1:3) expect_gt(ks.test(own[i, ] / sd[i, ], "pnorm")$p.value, 1e-4)
  expect_lt(abs(cor(own[1, ], own[2, ])), 0.25)
  u <- solve(z[2:3, ], own[2:3, ]) # two rows of one level: its effects, whitened
  white <- vapply(seq_len(300), function(s) {
    forwardsolve(t(chol(ref$covariance[, , s])), u[, s])
  }, numeric(2))
  expect_gt(ks.test(as.vector(white), "pnorm")$p.value, 1e-4)
  alone <- posterior_linpred(fit, newdata = new[3, ], allow_new_levels = TRUE)
  expect_close(alone, found[3, ], tolerances[["rounding"]])
})

test_that("R's random numbers are left alone", {
  with_seed(1, {
    runif(1)
    before <- .Random.seed
    posterior_linpred(fit, newdata = transform(d[1:2, ], g = "new"), allow_new_levels = TRUE)
    expect_identical(.Random.seed, before)
  })
})

test_that("posterior_epred() is the share of the two classes' pseudo-likelihoods", {
  f <- c(-50, -1.5, -1, -0.3, 0, 0.7, 1, 2, 400)
  plus <- exp(-2 * pmax(1 - f, 0))
  minus <- exp(-2 * pmax(1 + f, 0))
  expect_close(bsvm:::normalised_map(f), plus / (plus + minus), 1e-15)
  expect_close(posterior_epred(fit, newdata = d[1:5, ]), {
    g <- t(links[1:5, ])
    1 / (1 + exp(2 * pmax(1 - g, 0) - 2 * pmax(1 + g, 0)))
  }, 1e-10)
})

test_that("what can't be is refused", {
  point <- bsvm(y ~ x1, d, engine = "em", prior = prior_ridge(variance = 1))
  expect_refusal(posterior_linpred(point), "unsupported", c("posterior_linpred()", "engine_em()"))
  expect_refusal(posterior_epred(point), "unsupported", "posterior_epred()")
  expect_refusal(posterior_linpred(fit, TRUE), "argument", "posterior_epred()")
  for (bad in list(0, 301, 1.5, "a", integer(0), NA)) {
    expect_refusal(posterior_linpred(fit, draw_ids = bad), "argument", c("`draw_ids`", "300"))
  }
  expect_refusal(posterior_linpred(fit, draws = 10), "argument", c("`ndraws`", "`draw_ids`"))
  expect_refusal(posterior_epred(fit, re.form = NA), "argument", "`re_formula`")
  expect_refusal(posterior_epred(fit, newdata = 3), "newdata", "data frame")
  expect_refusal(posterior_epred(fit, newdata = d["x1"]), "newdata", "`t`")
})

test_that("variances of draws, and effects of new levels from the roots of their covariances", {
  numbers <- with_seed(1, matrix(rnorm(12), 3))
  expect_close(bsvm:::row_variances(numbers), apply(numbers, 1, var), tolerances[["rounding"]])
  expect_identical(bsvm:::row_variances(numbers[, 1, drop = FALSE]), rep(NA_real_, 3))
  roots <- with_seed(2, array(rnorm(36), c(3, 3, 4)))
  roots[rep(upper.tri(diag(3)), 4)] <- 0
  noise <- with_seed(3, matrix(rnorm(12), 3))
  by_hand <- vapply(1:4, function(s) drop(roots[, , s] %*% noise[, s]), numeric(3))
  expect_close(bsvm:::apply_roots(roots, noise), by_hand, tolerances[["rounding"]])
})
