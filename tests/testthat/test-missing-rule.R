# Rules for missing predictors: what is refused, and what it says.

bsvm <- paper_bsvm

d <- with_seed(1, {
  d <- data.frame(x1 = rnorm(60), x2 = rnorm(60), f = gl(3, 1, 60), g = gl(6, 10), w = 1, o = 0)
  d$y <- ifelse(d$x1 + rnorm(60) > 0, 1, -1)
  d$x1[c(1, 2, 5)] <- NA
  d$x2[5:8] <- NaN
  d
})
x <- as.matrix(d[c("x1", "x2")])
vb <- function(...) bsvm(..., engine = "vb")

test_that("missing_fail() counts and names the alternatives", {
  words <- c("6 of 60 rows", "`x1` has 3 NA", "`x2` has 4 NaN", "missing_normal()",
             "missing_omit()")
  for (rule in list(missing_fail(), "fail")) {
    expect_refusal(bsvm(y ~ x1 + x2, d, missing = rule), "missing", words)
    expect_refusal(bsvm(x, d$y, missing = rule), "missing", words)
  }
  expect_refusal(bsvm(y ~ x1 + x2, d), "missing", words)
})

test_that("missing_omit() says how many rows it leaves out", {
  expect_message(fit <- vb(y ~ x1 + x2, d, missing = missing_omit()), "6 of 60 rows")
  expect_identical(fit$posterior, vb(y ~ x1 + x2, d, na.action = na.omit)$posterior)
  expect_message(other <- vb(x, d$y, missing = "omit"), "6 of 60 rows")
  expect_equal(coef(other), coef(fit), tolerance = 1e-12)
  expect_output(print(fit), "6 more excluded")
  expect_no_message_of(vb(y ~ f, d, missing = "omit"))
})

test_that("one rule, of those there are", {
  for (rule in list("omit", missing_normal())) {
    expect_refusal(bsvm(y ~ x1, d, missing = rule, na.action = na.omit), "argument", "not both")
    expect_refusal(bsvm(x, d$y, missing = rule, na.action = na.omit), "argument", "not both")
  }
  expect_refusal(bsvm(y ~ x1, d, missing = "nonesuch"), "argument",
                 c("missing_fail()", "\"normal\"", "nonesuch"))
  expect_refusal(bsvm(y ~ x1, d, missing = 3), "argument", "missing_omit()")
  expect_refusal(missing_normal(df = -1), "argument", "`df`")
  expect_refusal(missing_normal(scale = 0), "argument", "`scale`")
  expect_refusal(missing_normal(mean_variance = Inf), "argument", "`mean_variance`")
  expect_refusal(missing_normal(keep_draws = NA), "argument", "`keep_draws`")
  expect_refusal(missing_normal(auxiliary = y ~ x), "argument", "one-sided formula")
  expect_output(print(missing_normal()), "jointly normal")
})

test_that("only numeric predictors may be missing", {
  refuse <- function(column, formula, class = "missing", words = paste0("`", column, "` has 1 NA"),
                     ...) {
    d[[column]][3] <- NA
    expect_refusal(bsvm(formula, d, missing = "normal", ...), class, words)
  }
  refuse("y", y ~ x1 + x2)
  refuse("f", y ~ x1 + f, words = c("`f` has 1 NA", "addNA()"))
  refuse("g", y ~ x1 + (1 | g), words = c("`g` has 1 NA", "`subset`"))
  refuse("o", y ~ x1 + offset(o), "offset", "`offset(o)` has 1 NA")
  weights <- replace(d$w, 3, NA)
  expect_refusal(bsvm(y ~ x1, d, weights = weights, missing = "normal"), "weights", "1 NA")
  expect_refusal(bsvm(x, d$y, weights = weights, missing = "normal"), "weights", "1 NA")
  expect_refusal(bsvm(x, replace(d$y, 4, NA), missing = "normal"), "missing", "`y` has 1 NA")
  expect_refusal(bsvm(x, d$y, group = replace(d$g, 4, NA), missing = "normal"), "missing",
                 "`group` has 1 NA")
  expect_refusal(bsvm(y ~ x1 + (1 + x2 | g), d, missing = "normal"), "missing", "varying slope")
  d$above <- d$x2 > 0
  expect_refusal(bsvm(y ~ x1 + above, d, missing = missing_selection()), "missing",
                 c("`above` has 4 NA", "missing_selection()", "as.numeric()"))
})

test_that("infinite values are no missing ones", {
  d$x1[9] <- Inf
  expect_refusal(bsvm(y ~ x1 + x2, d, missing = "normal"), "predictors", "1 Inf")
  expect_refusal(bsvm(as.matrix(d[1:2]), d$y, missing = "normal"), "predictors", "1 Inf")
  expect_refusal(vb(y ~ f, d, missing = missing_normal(auxiliary = ~ x1)), "predictors",
                 "`auxiliary`")
})

test_that("a term that can't be made of missing values says what can be done", {
  for (rule in list(NULL, "normal")) {
    expect_refusal(bsvm(y ~ poly(x1, 2), d, missing = rule), "missing",
                   c("poly(x1, 2)", "`x1`", "x + I(x^2)"))
  }
  fit <- vb(y ~ x1 + I(x1^2) + log1p(exp(x2)) + x1:x2, d, missing = "normal")
  expect_valid_fit(fit)
  expect_setequal(imputed(fit)$column, c("x1", "I(x1^2)", "log1p(exp(x2))", "x1:x2"))
})

test_that("columns of which nothing is known are refused, those with little are not", {
  empty <- transform(d, x1 = NA_real_)
  expect_refusal(expect_no_warning_of(bsvm(y ~ x1 + x2, empty, missing = "normal"), "constant"),
                 "missing", c("`x1`", "no value in any row"))
  expect_refusal(bsvm(y ~ x2, empty, missing = missing_normal(auxiliary = ~ x1)), "missing", "`x1`")
  single <- transform(d, x1 = replace(NA_real_, 2:60, NA))
  single$x1 <- replace(rep(NA_real_, 60), 4, 1.3)
  constant <- transform(d, x1 = ifelse(is.na(x1), NA, 3))
  for (data in list(single, constant)) {
    for (engine in c("vb", "gaussian")) {
      fit <- suppressWarnings(bsvm(y ~ x1 + x2, data, missing = "normal", engine = engine))
      expect_finite(coef(fit))
      expect_finite(imputed(fit)[c("mean", "sd")])
    }
  }
})

test_that("a row may miss everything, and there may be more columns than rows", {
  d[3, c("x1", "x2")] <- NA
  fit <- vb(y ~ x1 + x2, d, missing = "normal")
  expect_valid_fit(fit)
  wide <- with_seed(2, matrix(rnorm(12 * 20), 12))
  wide[cbind(1:12, 1:12)] <- NA
  y <- rep(c(-1, 1), 6)
  set.seed(1)
  for (engine in list(engine_vb(), engine_gaussian(), engine_gibbs(50, 50, chains = 1))) {
    fit <- suppressWarnings(bsvm(wide, y, missing = "normal", engine = engine,
                                 prior = prior_ridge(variance = 1)))
    expect_finite(coef(fit))
  }
  expect_refusal(bsvm(wide, y, missing = "normal", engine = "vb",
                      prior = prior_laplace_zero(rho = 0.5)), "unsupported", "columns")
})

test_that("engines and structures that can't are refused with those that can", {
  for (engine in c("map", "em", "ecme")) {
    expect_refusal(bsvm(y ~ x1 + x2, d, missing = "normal", engine = engine,
                        prior = if (engine == "em") prior_ridge(variance = 1)), "unsupported",
                   "engine_gibbs()")
  }
  expect_refusal(bsvm(y ~ x1, d, missing = "normal", engine = "gibbs",
                      likelihood = likelihood_hinge(normalized = TRUE)), "unsupported",
                 "engine_gaussian()")
  expect_refusal(bsvm(y ~ x1 + (1 | g), d, missing = "normal", engine = "slice"), "unsupported",
                 "grouping factor")
  expect_refusal(bsvm(y ~ x1, d, weights = rep(c(1, 5), 30), missing = "normal", engine = "slice",
                      likelihood = likelihood_hinge(normalized = TRUE)), "unsupported",
                 c("weights up to 4", "found 5"))
  d$h <- gl(5, 1, 60)
  expect_refusal(bsvm(y ~ x1 + (1 | g) + (1 | h), d, missing = "normal"), "unsupported",
                 "one grouping factor")
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(ifelse(is.na(x), 0, x), sparse = TRUE)
  expect_refusal(bsvm(sparse, d$y, missing = "normal"), "unsupported", "sparse")
  sparse[3, 1] <- NA
  expect_refusal(bsvm(sparse, d$y, missing = "normal"), "unsupported", "sparse")
})

test_that("an improper law is taken with a warning", {
  d$x3 <- with_seed(3, rnorm(60))
  expect_warned(fit <- vb(y ~ x1 + x2 + x3, d, missing = missing_normal(df = 2)), "improper")
  expect_finite(elbo(fit))
  expect_no_warning_of(vb(y ~ x1 + x2 + x3, d, missing = missing_normal(df = 2.1)), "improper")
  expect_no_warning_of(vb(y ~ x1 + x2 + x3, d, missing = "normal"), "improper")
})

test_that("auxiliary variables are checked", {
  aux <- function(auxiliary, data = d, ...) {
    vb(y ~ x1 + x2, data, missing = missing_normal(auxiliary = auxiliary), ...)
  }
  expect_refusal(aux(~ nonesuch), "data", "`auxiliary`")
  expect_refusal(aux(~ x1), "argument", "`x1`, which the design has too")
  expect_refusal(aux(matrix(1, 3, 1)), "data", "60 rows")
  z <- with_seed(4, matrix(rnorm(120), 60))
  z[7, 1] <- NA
  fit <- aux(z)
  expect_identical(fit$missing$law$variables, c("x1", "x2", "auxiliary1", "auxiliary2"))
  colnames(z) <- c("z1", "z2")
  expect_equal(coef(aux(~ z1 + z2, cbind(d, z))), coef(fit), tolerance = 1e-12)
  chosen <- aux(z, subset = 11:60)
  expect_equal(coef(aux(~ z1 + z2, cbind(d, z)[11:60, ])), coef(chosen), tolerance = 1e-12)
  d$f[4] <- NA
  expect_refusal(aux(~ f, d), "missing", c("`f`", "addNA()"))
})

test_that("many missing values under the pseudo-likelihood are warned of", {
  d$x1[1:20] <- NA
  expect_warned(fit <- vb(y ~ x1 + x2, d, missing = "normal"), "pseudo_missing")
  expect_warning(vb(x, d$y, missing = missing_normal(auxiliary = cbind(z = d$x1))), NA)
  expect_no_warning_of(bsvm(y ~ x1 + x2, d, missing = "normal",
                            likelihood = likelihood_hinge(normalized = TRUE)), "pseudo_missing")
  expect_no_warning_of(bsvm(y ~ x2, d, missing = "normal", engine = "gaussian"), "pseudo_missing")
})
