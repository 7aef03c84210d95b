# The list of bad and odd input, each a classed error that says what was found, or a fit whose
# every number is finite.

bsvm <- paper_bsvm

d <- binary_data()
g <- grouped_data()

# bsvm(..., engine = "vb"), with the arguments unevaluated.
vb <- function(...) {
  call <- sys.call()
  call[[1]] <- quote(bsvm)
  call$engine <- "vb"
  eval(call, parent.frame())
}

# ---- refused ------------------------------------------------------------------------------

test_that("responses", {
  expect_refusal(vb(y ~ x1, subset(d, y == "no")), "response", c("both classes", "'no'"))
  expect_refusal(vb(f ~ x1, d), "response", c("two classes", "3", "'a', 'b' and 'c'"))
  expect_refusal(vb(y ~ x1, transform(d, y = replace(y, 3, NA))), "missing",
                 c("1 of 60 rows", "`y` has 1 NA"))
  expect_refusal(vb(x1 ~ x2, d), "response", "0/1")
  expect_refusal(vb(y ~ x1, transform(d, y = as.numeric(y))), "response", "factor()")
  expect_refusal(vb(~ x1, d), "formula", "no response")
})

test_that("missing and infinite predictors, weights and offsets, counted per column", {
  bad <- transform(d, x1 = replace(x1, 1:2, c(NA, NaN)), x2 = replace(x2, 3, Inf))
  expect_refusal(vb(y ~ x1 + x2, bad), "missing", c("`x1` has 1 NA, 1 NaN", "`x2` has 1 Inf",
                                                    "na.action"))
  expect_refusal(vb(y ~ x2, bad), "predictors", "`x2` has 1 Inf")
  expect_refusal(vb(y ~ f, transform(d, f = replace(f, 1, NA))), "missing", "`f` has 1 NA")
  expect_refusal(suppressWarnings(vb(y ~ log(x1), transform(d, x1 = abs(x1) - 0.1))),
                 "missing", "NaN")
  expect_refusal(vb(y ~ log(x1), transform(d, x1 = replace(abs(x1), 1, 0))), "predictors", "Inf")
  for (value in c(NA, NaN, Inf)) {
    w <- replace(rep(1, 60), 5, value)
    expect_refusal(vb(y ~ x1, d, weights = w), "weights", "weights")
    expect_refusal(vb(y ~ x1, d, offset = w), "offset", "offset")
    expect_refusal(vb(y ~ x1 + offset(w), d), "offset", "offset(w)")
    expect_refusal(vb(as.matrix(d[1:3]), d$y, weights = w), "weights", "weights")
    expect_refusal(vb(as.matrix(d[1:3]), d$y, offset = w), "offset", "offset")
  }
})

test_that("rows and columns that are not there", {
  expect_refusal(vb(y ~ x1, d[0, ]), "data", "no rows")
  expect_refusal(vb(y ~ x1, transform(d, x1 = NA_real_), na.action = na.omit), "data", "no rows")
  expect_refusal(vb(y ~ x1, d[1, ]), "response", "both classes")
  expect_refusal(vb(y ~ 0, d), "formula", "y ~ 1")
  expect_refusal(vb(y ~ x1 + absent, d), "data", "`absent`")
})

test_that("weights", {
  expect_refusal(vb(y ~ x1, d, weights = rep(0, 60)), "weights", "above 0")
  expect_refusal(vb(y ~ x1, d, weights = c(-1, rep(1, 59))), "weights", c("negative", "1 below"))
  expect_refusal(vb(y ~ x1, d, weights = rep("1", 60)), "weights", "numbers")
  expect_refusal(vb(y ~ x1, d, weights = 1:59), "weights", c("60", "59"))
  expect_refusal(vb(y ~ x1, d, weights = rep(1e-3, 60)), "weights", "standardi")
  expect_refusal(vb(y ~ x1, d, weights = as.numeric(y == "no")), "response", "both classes")
})

test_that("weights too large to compute with", {
  x <- as.matrix(d["x1"])
  for (engine in c("vb", "gaussian", "gibbs", "map")) {
    expect_refusal(bsvm(y ~ x1, d, weights = rep(1e300, 60), engine = engine), "weights",
                   c("`weights`", "1e+12", "6e+301", "same number"))
  }
  expect_refusal(bsvm(x, d$y, weights = rep(2e11, 60), engine = "vb"), "weights", "1.2e+13")
  expect_refusal(vb(y ~ x1, d, class.weights = c(yes = 1e13)), "weights", "`class.weights`")
  expect_refusal(vb(y ~ x1, d, weights = rep(1e7, 60), class.weights = c(yes = 1e7)), "weights",
                 "`weights` times `class.weights`")
  expect_refusal(vb(y ~ x1, d, weights = c(Inf, rep(1, 59))), "weights", "Infinite")
  largest <- vb(y ~ x1, d, weights = rep(1e10, 60), class.weights = c(no = 1))
  expect_valid_fit(largest)
  expect_close(fixef(largest), fixef(vb(y ~ x1, d, weights = rep(1e6, 60))), 1e-4)
  expect_silent(vb(y ~ x1, d, weights = rep(1e-3, 60), standardize = FALSE,
                   prior = prior_ridge(variance = 1)))
})

test_that("offsets", {
  expect_refusal(vb(y ~ x1, d, offset = 1:59), "offset", c("60", "59"))
  expect_refusal(vb(y ~ x1, d, offset = rep("1", 60)), "offset", "numbers")
})

test_that("factors without contrast", {
  expect_refusal(vb(y ~ x1 + f, transform(d, f = factor("a"))), "predictors", "`f`")
})

test_that("sizes beyond an integer", {
  expect_refusal(bsvm:::check_size(3e9), "size", "2147483647")
  expect_refusal(bsvm:::check_size(2^20, 2^12), "size", "2147483647")
})

test_that("priors for what the model has not got, and other nonsense", {
  expect_refusal(vb(y ~ x1, d, prior = list(x9 = prior_ridge(0.01))), "prior", "x9")
  expect_refusal(vb(y ~ x1, d, prior = list(prior_ridge(0.01), prior_flat())), "prior")
  expect_refusal(vb(y ~ x1, d, prior = "ridge"), "prior", "ridge")
  expect_refusal(vb(y ~ x1, d, prior = prior_half_t()), "prior", "prior_ridge")
  expect_refusal(vb(y ~ x1, d, prior = list(g = prior_ridge(0.01))), "prior", "g")
  expect_refusal(vb(y ~ x1, d, standardize = "yes"), "argument", "`standardize`")
  expect_refusal(vb(y ~ x1, d, keep_data = 1), "argument", "`keep_data`")
  expect_refusal(vb(y ~ x1, d, x1), "argument", "`subset`")
  expect_refusal(vb(y ~ x1, d, subset = c(-1, 2)), "argument", "`subset`")
  expect_refusal(vb(y ~ x1, d, subset = 1.5), "argument", "`subset`")
})

test_that("every error of the package has the common class too", {
  expect_error(vb(y ~ x1, d[0, ]), class = "bsvm_error")
  expect_error(prior_ridge(-1), class = "bsvm_error")
})

# ---- fitted -------------------------------------------------------------------------------

test_that("columns at 1e150 and 1e-150 are fitted as if they were of size 1", {
  reference <- vb(y ~ x1 + x2, d)
  wide <- transform(d, x1 = x1 * 1e149, x2 = x2 * 1e-149)
  fit <- vb(y ~ x1 + x2, wide)
  expect_finite(coef(fit))
  expect_close(fitted(fit), fitted(reference), 1e-6)
  expect_close(predict(fit, wide, type = "link"), fitted(fit), tolerances[["rounding"]])
  expect_close(elbo(fit), elbo(reference), 1e-9)
})

test_that("columns beyond that are refused, never silent nonsense", {
  for (size in c(1e151, 1e200, 1e300, 1e-151, 1e-300)) {
    expect_refusal(vb(y ~ x1 + x2, transform(d, x1 = x1 * size)), "predictors",
                   c("x1", "Rescale"))
  }
})

# A fit, or an error of ours; warnings are ours too. An interrupt would end the tests: nobody
# pressed Ctrl-C.
expect_result_or_error <- function(code) {
  result <- withCallingHandlers(
    tryCatch(code, error = function(e) e, interrupt = function(e) simpleError("interrupted")),
    warning = function(w) {
      expect_s3_class(w, "bsvm_warning")
      invokeRestart("muffleWarning")
    }
  )
  if (inherits(result, "error")) {
    expect_s3_class(result, "bsvm_error")
  } else {
    expect_finite(fixef(result))
    expect_finite(fitted(result))
    expect_finite(elbo(result))
  }
  result
}

test_that("unscaled designs at the ends of the scale", {
  for (size in c(1e-150, 1e-20, 1e20, 1e100, 1e150)) {
    data <- transform(d, x1 = x1 / max(abs(x1)) * size)
    expect_result_or_error(vb(y ~ x1 + x2, data, standardize = FALSE))
    expect_result_or_error(vb(y ~ x1 + x2, data, prior = prior_flat()))
    expect_result_or_error(vb(y ~ x2 + (0 + x1 | f), data))
    expect_result_or_error(vb(y ~ x2, d, offset = data$x1))
    expect_result_or_error(vb(y ~ x2, d, weights = abs(data$x1)))
  }
})

test_that("extreme hyper-parameters", {
  for (size in c(1e-300, 1e-12, 1e12, 1e300)) {
    expect_result_or_error(vb(y ~ x1, d, prior = prior_ridge(variance = size)))
    expect_result_or_error(vb(y ~ x1, d, prior = prior_ridge(size, 0.01)))
    expect_result_or_error(vb(y ~ x1, d, prior = prior_ridge(0.01, size)))
    expect_result_or_error(vb(y ~ x1, d, prior = prior_ridge(variance = prior_half_t(3, size))))
    expect_result_or_error(vb(y ~ x1, d, prior = prior_ridge(variance = prior_half_t(size, 1))))
  }
})

test_that("arguments that have no value are named", {
  expect_refusal(bsvm::bsvm(stop("no"), d$y), "argument", c("`x`", "no"))
  expect_refusal(bsvm::bsvm(as.matrix(d["x1"]), nowhere_to_be_found), "response", "`y`")
  expect_refusal(bsvm::bsvm(y ~ x1, nowhere_to_be_found), "data", "`data`")
  expect_error(bsvm::bsvm(y ~ x1, {
    setTimeLimit(elapsed = 0.01)
    on.exit(setTimeLimit())
    repeat Sys.sleep(0.01)
  }), "time limit")
})

# Slice moves of variances at the edge of numbers stay where they are: one had no trial to take.
test_that("draws under variances of any size", {
  few <- data.frame(y = 0:1, a = c(-1, 1), g = "one")
  formulas <- c(y ~ a + (a | g), y ~ a + (a || g))
  for (size in c(1e-300, 1e100, 1e200, 1e300)) for (formula in formulas) {
    fit <- tryCatch(suppressWarnings(with_seed(1, bsvm::bsvm(
      formula, few, prior = prior_ridge(variance = size),
      engine = engine_slice(draws = 20, burnin = 20, chains = 2)
    ))), bsvm_error = identity)
    expect_true(inherits(fit, "bsvm_error") || all(is.finite(unlist(ranef(fit)))))
  }
})

test_that("perfectly separable classes have a finite fit, penalised or flat", {
  separable <- transform(d, y = factor(x1 > 0, labels = c("no", "yes")))
  penalised <- vb(y ~ x1 + x2, separable)
  expect_valid_fit(penalised)
  expect_equal(as.character(predict(penalised)), as.character(separable$y))
  expect_result_or_error(vb(y ~ x1 + x2, separable, prior = prior_flat()))
  expect_result_or_error(vb(y ~ x1 + (1 | f), separable))
  equal <- vb(y ~ z, transform(d, z = as.numeric(y == "yes")))
  expect_valid_fit(equal)
})

test_that("many more columns than rows", {
  case <- wide_case(n = 20, p = 2001)
  x <- case$x[, -1]
  fit <- vb(x, case$y)
  expect_finite(coef(fit))
  expect_length(coef(fit), 2001)
  expect_finite(fitted(fit))
  expect_finite(confint(fit))
  expect_lt(as.numeric(object.size(fit)), 20 * 8 * length(x))
})

test_that("two rows, one of each class", {
  fit <- expect_result_or_error(vb(y ~ x1, d[c(which(d$y == "no")[1], which(d$y == "yes")[1]), ]))
  expect_s3_class(fit, "bsvm")
})

test_that("one row beside rows of weight zero has one class", {
  expect_refusal(vb(y ~ x1, d, weights = c(1, rep(0, 59))), "response", "both classes")
})

test_that("constant columns are shrunk to zero with a warning, or share the intercept's place", {
  constant <- transform(d, x3 = 7)
  expect_warning(fit <- vb(y ~ x1 + x3, constant), class = "bsvm_warning_constant")
  expect_finite(fixef(fit))
  expect_lt(abs(fixef(fit)[["x3"]]), 1e-8)
  expect_close(fitted(fit), fitted(vb(y ~ x1, d)), 0.05)
  expect_result_or_error(vb(y ~ 0 + x1 + x3, constant))
  expect_result_or_error(vb(y ~ x1 + x3, constant, standardize = FALSE))
  expect_valid_fit(suppressWarnings(vb(y ~ x1 + x3, transform(d, x3 = 0))))
})

test_that("duplicated columns share their effect; flat ones get a warning", {
  twice <- transform(d, copy = x1)
  fit <- vb(y ~ x1 + copy + x2, twice)
  expect_valid_fit(fit)
  expect_close(fixef(fit)[["x1"]], fixef(fit)[["copy"]], 1e-6)
  expect_warning(flat <- vb(y ~ x1 + copy + x2, twice, prior = prior_flat()),
                 class = "bsvm_warning_rank")
  expect_finite(fixef(flat))
  expect_finite(fitted(flat))
  expect_warning(vb(y ~ x1 + copy + (1 | f), twice), class = "bsvm_warning_rank")
})

test_that("rank-deficient fixed effects name the columns", {
  warning <- expect_warning(
    vb(y ~ x1 + t + both + (1 | g), transform(g, both = x1 + t)),
    class = "bsvm_warning_rank"
  )
  expect_match(conditionMessage(warning), "both|x1|t")
})

test_that("a factor with as many levels as rows, and a predictor that is one", {
  expect_result_or_error(vb(y ~ factor(seq_along(y)), d))
  expect_result_or_error(vb(y ~ (1 | h), transform(d, h = seq_along(y))))
})

test_that("odd columns: integers, logicals, characters, ordered factors, matrices, dates", {
  odd <- data.frame(y = d$y, count = rep(1:3, 20), flag = d$x1 > 0, text = as.character(d$f),
                    grade = factor(d$f, ordered = TRUE), day = as.Date("2020-01-01") + 1:60)
  odd$m <- cbind(u = d$x1, v = d$x2)
  fit <- vb(y ~ count + flag + text + grade + m + day, odd)
  expect_finite(fixef(fit))
  expect_true(all(c("flagTRUE", "textb", "grade.L", "mu", "mv", "day") %in% names(fixef(fit))))
  expect_close(predict(fit, odd[4:9, ], type = "link"), fitted(fit)[4:9], 1e-10)
})

test_that("names that need backticks", {
  named <- stats::setNames(d[c("y", "x1", "x2")], c("the class", "a b", "if"))
  fit <- vb(`the class` ~ `a b` + `if`, named)
  expect_close(fitted(fit), fitted(vb(y ~ x1 + x2, d)), tolerances[["rounding"]])
  expect_close(predict(fit, named, type = "link"), fitted(fit), tolerances[["rounding"]])
  every <- vb(`the class` ~ ., named)
  expect_close(fitted(every), fitted(fit), tolerances[["rounding"]])
})

test_that("inputs are left as they were", {
  x <- as.matrix(d[1:3])
  before <- serialize(list(x, d), NULL)
  bsvm(x, d$y, engine = "vb")
  bsvm(y ~ x1, d, weights = rep(2, 60), engine = "vb")
  expect_identical(serialize(list(x, d), NULL), before)
})
