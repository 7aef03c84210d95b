# The log-likelihood of rows, draw by draw, against the draws of the link.

d <- grouped_data()
d$w <- rep(c(1, 2, 0.5, 1), 30)
d$o <- rep(c(0, 0.3, -0.2), 40)
y <- ifelse(d$y == "yes", 1, -1)
fit <- as_normalised(gibbs_fit(y ~ x1 + (t | g), d))

test_that("it is the log-probability of the class given the draw of the link", {
  f <- posterior_linpred(fit)
  expect_close(log_lik(fit), log_hinge(f * rep(y, each = 300)), 1e-10)
  expect_close(exp(log_lik(fit))[, y > 0], posterior_epred(fit)[, y > 0], 1e-12)
  expect_close(1 - exp(log_lik(fit))[, y < 0], posterior_epred(fit)[, y < 0], 1e-12)
  expect_close(log_lik(fit, draw_ids = c(3, 200)), log_lik(fit)[c(3, 200), ], 1e-15)
  population <- posterior_linpred(fit, re_formula = NA)
  expect_close(log_lik(fit, re_formula = NA), log_hinge(population * rep(y, each = 300)), 1e-10)
})

test_that("weights multiply, an offset moves; new rows have weight one", {
  weighted <- as_normalised(gibbs_fit(y ~ x1, d, weights = w, offset = o))
  f <- posterior_linpred(weighted)
  exact <- log_hinge(f * rep(y, each = 300))
  expect_close(log_lik(weighted), exact * rep(d$w, each = 300), 1e-10)
  expect_close(log_lik(weighted, d), exact, 1e-10)
  absent <- as_normalised(gibbs_fit(y ~ x1, d, weights = as.numeric(x1 < 1)))
  expect_true(all(log_lik(absent)[, d$x1 >= 1] == 0))
  expect_true(all(log_lik(absent)[, d$x1 < 1] < 0))
})

test_that("the response of new rows is found and recoded", {
  new <- d[c(7, 3), ]
  expect_close(log_lik(fit, new), log_lik(fit)[, c(7, 3)], 1e-12)
  new$y <- as.character(new$y)
  expect_close(log_lik(fit, new), log_lik(fit)[, c(7, 3)], 1e-12)
  new$y[1] <- NA
  expect_true(all(is.na(log_lik(fit, new)[, 1])))
  expect_false(anyNA(log_lik(fit, new)[, 2]))
  logical <- as_normalised(gibbs_fit(x1 > limit ~ x2, transform(d, limit = x3 - 1)))
  flipped <- log_lik(logical, transform(d[1:4, ], limit = 1e3))
  f <- posterior_linpred(logical, newdata = d[1:4, ])
  expect_close(flipped, log_hinge(-f), 1e-12)
  expect_equal(dim(log_lik(fit, d[0, ])), c(300, 0))
})

test_that("a matrix's new rows need their classes", {
  x <- as.matrix(d[c("x1", "x2")])
  matrix <- as_normalised(gibbs_fit(x, d$y))
  expect_close(log_lik(matrix, x[1:3, ], y = d$y[1:3]), log_lik(matrix)[, 1:3], 1e-12)
  expect_refusal(log_lik(matrix, x[1:3, ]), "newdata", "`y`")
  expect_refusal(log_lik(matrix, x[1:3, ], y = d$y), "newdata", "`y`")
  expect_refusal(log_lik(matrix, y = d$y), "argument", "`newdata`")
})

test_that("a new level is drawn, as for posterior_linpred()", {
  new <- transform(d[1:3, ], g = "new")
  expect_refusal(log_lik(fit, new), "newdata", "'new'")
  f <- posterior_linpred(fit, newdata = new, allow_new_levels = TRUE)
  expect_close(log_lik(fit, new, allow_new_levels = TRUE), log_hinge(f * rep(y[1:3], each = 300)),
               1e-12)
})

test_that("what can't be is refused", {
  expect_needs_law(log_lik, "log_lik()", draws = TRUE)
  expect_refusal(log_lik(fit, d[setdiff(names(d), "y")]), "newdata", "`y`")
  expect_refusal(log_lik(fit, transform(d, y = "maybe")), "newdata", c("'maybe'", "'no'"))
  expect_refusal(log_lik(fit, d, y = d$y), "argument", "`y`")
  expect_refusal(log_lik(fit, re.form = NA), "argument", "`re_formula`")
  expect_refusal(log_lik(fit, draw_ids = 301), "argument", "`draw_ids`")
})
