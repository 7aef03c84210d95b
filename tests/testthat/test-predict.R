bsvm <- paper_bsvm

ref <- grouped_reference()
fit <- ref$fit
d <- ref$data
links <- dense_links(ref$x, as.integer(d$g), ref$z, ref$twin)

test_that("links and their sd are those of the dense posterior of (b, u)", {
  p <- predict(fit, d, interval = TRUE, level = 0.9)
  expect_named(p, c("fit", "sd", "lower", "upper"))
  expect_close(p$fit, links$mean, 1e-8)
  expect_close(p$sd, links$sd, 1e-8)
  expect_close(p$upper, links$mean + qnorm(0.95) * links$sd, 1e-8)
  expect_close(p$lower, links$mean - qnorm(0.95) * links$sd, 1e-8)
})

test_that("without newdata the fit's own rows", {
  expect_identical(unname(predict(fit, type = "link")), unname(fitted(fit)))
  expect_identical(as.character(predict(fit)), as.character(predict(fit, d)))
  expect_close(predict(fit, interval = TRUE)$sd, links$sd, 1e-8)
})

test_that("re_formula leaves the group effects out", {
  none <- dense_links(ref$x, rep(NA, nrow(d)), ref$z, ref$twin)
  for (formula in list(NA, ~0)) {
    p <- predict(fit, d, interval = TRUE, re_formula = formula)
    expect_close(p$fit, none$mean, 1e-8)
    expect_close(p$sd, none$sd, 1e-8)
  }
  expect_false("g" %in% names(d[setdiff(names(d), "g")]))
  expect_close(predict(fit, d[setdiff(names(d), "g")], type = "link", re_formula = NA), none$mean,
               1e-8)
  expect_close(predict(fit, type = "link", re_formula = NA), none$mean, 1e-8)
  expect_close(predict(fit, d, interval = TRUE, re_formula = ~ (1 + t || g))$sd, links$sd, 1e-8)
  for (one in 1:2) {
    z <- ref$z
    z[, -one] <- 0
    some <- dense_links(ref$x, as.integer(d$g), z, ref$twin)
    chosen <- list(~ (1 | g), ~ (0 + t | g))[[one]]
    p <- predict(fit, d, interval = TRUE, re_formula = chosen)
    expect_close(p$fit, some$mean, 1e-8)
    expect_close(p$sd, some$sd, 1e-8)
    expect_close(predict(fit, interval = TRUE, re_formula = chosen)$sd, some$sd, 1e-8)
  }
  expect_refusal(predict(fit, d, re_formula = ~ (1 | x1)), "argument",
                 c("`re_formula`", "g: (Intercept)"))
  expect_refusal(predict(fit, d, re_formula = ~ (0 + x1 | g)), "argument", "`re_formula`")
  for (bad in list(TRUE, 3, "g", ~ x1, ~ (1 | g) + x1)) {
    expect_refusal(predict(fit, d, re_formula = bad), "argument", "`re_formula`")
  }
})

test_that("a new level is refused, or has mean zero and the variance of a new effect", {
  new <- d[1:3, ]
  new$g <- c("g01", "unseen", "unseen too")
  expect_refusal(predict(fit, new), "newdata", c("unseen", "allow_new_levels"))
  p <- predict(fit, new, interval = TRUE, allow_new_levels = TRUE)
  population <- dense_links(ref$x[1:3, ], c(1, NA, NA), ref$z[1:3, ], ref$twin)
  variance <- diag(VarCorr(fit)$g)
  extra <- c(0, drop(ref$z[2:3, ]^2 %*% variance))
  expect_close(p$fit, population$mean, 1e-8)
  expect_close(p$sd, sqrt(population$sd^2 + extra), 1e-8)
})

test_that("classes are a factor with the response's levels, the sign of the link", {
  class <- predict(fit, d)
  expect_s3_class(class, "factor")
  expect_identical(levels(class), levels(d$y))
  expect_identical(unname(class == "yes"), unname(predict(fit, d, type = "link") >= 0))
})

test_that("rows are predicted one by one, in any order, with columns to spare and no response", {
  all <- predict(fit, d, type = "link")
  new <- transform(d, y = NULL, spare = "x")
  order <- with_seed(1, sample(nrow(d)))
  expect_close(predict(fit, new[order, ], type = "link"), all[order], tolerances[["rounding"]])
  expect_close(predict(fit, new[7, ], type = "link"), all[7], tolerances[["rounding"]])
  expect_length(predict(fit, new[0, ]), 0)
  expect_equal(nrow(predict(fit, new[0, ], interval = TRUE)), 0)
  cars <- bsvm(am ~ mpg, mtcars, engine = "vb")
  expect_named(predict(cars, mtcars[4:9, ]), rownames(mtcars)[4:9])
})

test_that("missing values in newdata give NA, or what na.action says", {
  new <- d[1:4, ]
  new$x1[2] <- NA
  new$g[3] <- NA
  p <- predict(fit, new, type = "link")
  expect_identical(is.na(unname(p)), c(FALSE, TRUE, TRUE, FALSE))
  expect_identical(is.na(unname(predict(fit, new))), c(FALSE, TRUE, TRUE, FALSE))
  expect_length(predict(fit, new, type = "link", na.action = na.omit), 2)
  expect_refusal(predict(fit, new, na.action = na.fail), "missing", "newdata")
})

test_that("newdata that lack a variable, or have a new level of a predictor, are refused", {
  expect_refusal(predict(fit, d[c("x1", "g")]), "newdata", "`t`")
  factors <- bsvm(y ~ x1 + f, d, engine = "vb")
  new <- transform(d[1:2, ], f = c("a", "z"))
  expect_refusal(predict(factors, new), "newdata", c("f", "z"))
  expect_refusal(predict(factors, new), "newdata", "levels of the fit are 'a', 'b' and 'c'")
  expect_warning(found <- predict(factors, new, type = "link", allow_new_levels = TRUE),
                 "1 row", class = "bsvm_warning_new_levels")
  expect_identical(is.na(unname(found)), c(FALSE, TRUE))
  expect_refusal(predict(fit, d[c("x1", "t")]), "newdata", c("`g`", "re_formula = NA"))
  expect_refusal(predict(fit, transform(d[1:2, ], x1 = c("a", "b"))), "newdata", "x1")
  expect_refusal(predict(fit, "d"), "argument", "no file \"d\"")
  expect_refusal(predict(fit, 1:3), "newdata", "data frame")
  logs <- bsvm(y ~ log(x3), d, engine = "vb")
  expect_refusal(predict(logs, data.frame(x3 = "a")), "newdata", "can't be used")
})

test_that("infinite predictors in newdata are no silent nonsense", {
  new <- transform(d[1:2, ], x1 = c(Inf, 1))
  result <- tryCatch(predict(fit, new, type = "link"), bsvm_error = function(e) e)
  expect_true(inherits(result, "bsvm_error") || !is.finite(result[1]))
})

test_that("unknown and foreign arguments are refused with a hint", {
  expect_refusal(predict(fit, d, re.form = NA), "argument", "re_formula")
  expect_refusal(predict(fit, d, allow.new.levels = TRUE), "argument", "allow_new_levels")
  expect_refusal(predict(fit, d, se.fit = TRUE), "argument", "interval")
  expect_refusal(predict(fit, d, type = "response"), "argument", c("`type`", "response"))
  expect_refusal(predict(fit, d, type = "class", interval = TRUE), "argument", "interval")
})

test_that("an offset argument is found in newdata, or asked for", {
  moved <- bsvm(y ~ x1, d, offset = 2 * x2, engine = "vb")
  expect_close(predict(moved, d[4:6, ], type = "link"), fitted(moved)[4:6],
               tolerances[["rounding"]])
  values <- 2 * d$x2
  outside <- bsvm(y ~ x1, d, offset = values, engine = "vb")
  expect_refusal(predict(outside, d[4:6, ]), "newdata", c("`offset`", "values"))
})

test_that("data-dependent bases are those of the fit", {
  d <- binary_data()
  curved <- bsvm(y ~ poly(x2, 3) + scale(x1), d, engine = "vb")
  expect_close(predict(curved, d[5:9, ], type = "link"), fitted(curved)[5:9],
               tolerances[["rounding"]])
})

test_that("intervals of draws: offset, left-out rows and rows of weight zero", {
  e <- transform(d, w = rep(c(0, 1, 2), 40))
  e$x1[3] <- NA
  drawn <- with_seed(1, unchecked(bsvm(y ~ x1 + offset(x2) + (1 | g), e, weights = w,
                                       na.action = na.exclude,
                                       engine = engine_gibbs(60, 20, chains = 2))))
  p <- predict(drawn, interval = TRUE)
  expect_identical(which(is.na(p$fit)), 3L)
  b <- given_draws(drawn)
  u <- matrix(drawn$posterior$effects, 12)
  links <- cbind(1, e$x1) %*% b + u[as.integer(d$g), ] + e$x2
  expect_close(p$sd[-3], row_sds(links[-3, ]), 1e-10)
  expect_close(as.matrix(p[-3, c("lower", "upper")]), row_tails(links[-3, ]), 1e-10)
  expect_equal(nrow(augment(drawn, e, sd = TRUE)), 120)
})

test_that("na.action and the side of re_formula are checked before they are needed", {
  expect_refusal(predict(fit, d, na.action = "bogus"), "argument", c("`na.action`", "bogus"))
  expect_refusal(predict(fit, na.action = 3), "argument", "`na.action`")
  expect_identical(predict(fit, d, na.action = "na.omit"), predict(fit, d))
  for (bad in list(mean, sort, is.na, function(x) NULL, function(x) stop("no"), length)) {
    expect_refusal(predict(fit, d, na.action = bad), "argument", c("`na.action`", "na.omit"))
  }
  expect_refusal(predict(fit, d, na.action = "mean"), "argument", c("`na.action`", "\"mean\""))
  own <- function(x) stats::na.omit(x)
  frames <- function(x) x[stats::complete.cases(x), , drop = FALSE]
  for (good in list(stats::na.exclude, stats::na.fail, stats::na.pass, own, frames, NULL)) {
    expect_identical(predict(fit, d, na.action = good), predict(fit, d))
  }
  expect_refusal(predict(fit, d, re_formula = y ~ (1 | g)), "argument", c("`re_formula`", "y ~"))
  expect_refusal(predict(fit, d, re_formula = y ~ 0), "argument", "`re_formula`")
})

test_that("type = \"response\" names what there is", {
  fit <- bsvm(am ~ wt, mtcars, engine = "vb", likelihood = likelihood_hinge())
  expect_refusal(predict(fit, type = "response"), "argument", c("\"prob\"", "\"class\""))
})
