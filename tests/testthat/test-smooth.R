# Smooth terms against mgcv's own matrices.

bsvm <- paper_bsvm

skip_if_not_installed("mgcv")
d <- grouped_data(200)

# mgcv's smooths of a formula's terms, split into random and fixed parts.
mgcv_parts <- function(formula, data) {
  terms <- mgcv::interpret.gam(formula)$smooth.spec
  smooths <- lapply(terms, mgcv::smoothCon, data, absorb.cons = TRUE, modCon = 3)
  lapply(unlist(smooths, recursive = FALSE), function(smooth) {
    c(smooth["label"], mgcv::smooth2random(smooth, "", type = 2))
  })
}

# Columns of the frame: without penalty those of mgcv's Xf; of each block those of a random part.
expect_like_mgcv <- function(formula, data = d) {
  frame <- bsvm_frame(formula, data)
  theirs <- mgcv_parts(formula, data)
  label <- deparse1(formula)
  expect_identical(bsvm:::basis_labels(frame$bases), vapply(theirs, `[[`, "", "label"))
  for (k in seq_along(theirs)) {
    smooth <- frame$bases[[k]]
    expect_close(frame$x[, smooth$unpenalised], theirs[[k]]$Xf, 1e-8, label = label)
    random <- theirs[[k]]$rand
    expect_length(smooth$blocks, length(random))
    for (j in seq_along(random)) {
      expect_close(frame$x[, smooth$blocks[[j]]], as.matrix(random[[j]]), 1e-8, label = label)
    }
  }
  own <- unlist(lapply(frame$bases, `[`, c("unpenalised", "columns")), use.names = FALSE)
  expect_identical(sort(own), ncol(frame$x) - length(own) + seq_along(own))
  frame
}

smooth_formulas <- list(
  y ~ s(x1), y ~ s(x1, k = 5), y ~ x3 + s(x1, bs = "cr") + s(x2, k = 6),
  y ~ s(x1, bs = "ps", k = 8), y ~ s(x1, bs = "cc"), y ~ s(x1, bs = "ts"), y ~ s(x1, m = 3),
  y ~ s(x1, bs = "gp"),
  y ~ s(x1, x2, k = 12), y ~ s(x1, by = t), y ~ f + s(x1, by = f, k = 6), y ~ s(f, bs = "re"),
  y ~ t2(x1, x2, k = 4), y ~ t2(x1, x2, k = 4, full = TRUE), y ~ t2(x1, x2, by = t, k = 4),
  y ~ s(x1, fx = TRUE, k = 5), y ~ s(log1p(x3)), y ~ s(x1, f, bs = "fs", k = 4)
)

test_that("bases, constraints and their split are mgcv's", {
  for (formula in smooth_formulas) expect_like_mgcv(formula)
})

test_that("an ordered factor as `by` leaves out its first level, as in mgcv", {
  ordered <- transform(d, f = factor(f, ordered = TRUE))
  frame <- expect_like_mgcv(y ~ s(x1, k = 5) + s(x1, by = f, k = 5), ordered)
  expect_identical(bsvm:::basis_labels(frame$bases), c("s(x1)", "s(x1):fb", "s(x1):fc"))
})

test_that("columns are placed and named after the formula's own", {
  frame <- bsvm_frame(y ~ x2 + s(x1, k = 5) + t2(x2, x3, k = 3), d)
  expect_identical(frame$columns[1:6], c("(Intercept)", "x2", "s(x1).fixed1", "s(x1).1", "s(x1).2",
                                         "s(x1).3"))
  expect_identical(frame$term_labels, c("x2", "s(x1)", "t2(x2,x3)"))
  expect_equal(frame$assign[1:7], c(0, 1, 2, 2, 2, 2, 3))
  expect_identical(colnames(frame$x), frame$columns)
  expect_identical(names(frame$bases[[2]]$blocks), paste0("t2(x2,x3)", 1:3))
  expect_equal(frame$bases[[1]]$range, list(x1 = range(d$x1)))
})

test_that("each penalty has a variance, what has none a weak prior in standard deviations", {
  frame <- bsvm_frame(y ~ x2 + s(x1, k = 5) + t2(x2, x3, k = 3) + (1 | g), d)
  assigned <- bsvm:::assign_priors(frame)
  labels <- vapply(assigned$blocks, `[[`, "", "label")
  expect_identical(labels, c("(Intercept)", "population-level slopes",
                             "unpenalised parts of smooths", "s(x1)", paste0("t2(x2,x3)", 1:3)))
  expect_setequal(unlist(lapply(assigned$blocks, `[[`, "columns")), seq_along(frame$columns))
  expect_identical(vapply(assigned$blocks, function(b) b$prior$name, ""),
                   rep(c("normal", "half_t"), c(3, 4)))
  expect_true(assigned$default_prior)
  spec <- bsvm_spec(frame, prior = prior_ridge(0.01))
  at <- bsvm:::columns_of(frame$bases, "columns")
  expect_equal(spec$design$scale[at], rep(1, length(at)))
  expect_close(spec$design$center, c(0, colMeans(frame$x[, -1])), 1e-12)
  lines <- bsvm:::columns_of(frame$bases, "unpenalised")
  expect_equal(spec$design$scale[lines], unname(apply(frame$x[, lines], 2, sd)))
  expect_equal(spec$design$scale[2], sd(d$x2))
})

test_that("without random effects too, a smooth gives the slopes weak priors", {
  assigned <- bsvm:::assign_priors(bsvm_frame(y ~ x2 + s(x1, k = 5), d))
  expect_identical(assigned$blocks[[2]]$prior$name, "normal")
  expect_true(assigned$default_prior)
})

test_that("priors of smooths are named by their labels", {
  fixed <- prior_ridge(variance = 2)
  blocks <- function(formula, prior) {
    assigned <- bsvm:::assign_priors(bsvm_frame(formula, d), prior)$blocks
    names <- vapply(assigned, `[[`, "", "label")
    stats::setNames(vapply(assigned, function(b) b$prior$label, ""), names)
  }
  by <- blocks(y ~ f + s(x1, by = f, k = 5), list("s(x1):fb" = fixed))
  expect_match(by[["s(x1):fb"]], "variance 2")
  expect_match(by[["s(x1):fa"]], "half-t")
  tensor <- blocks(y ~ t2(x1, x2, k = 3),
                   list("t2(x1,x2)" = fixed, "t2(x1,x2)2" = prior_ridge(0.01)))
  expect_match(tensor[["t2(x1,x2)1"]], "variance 2")
  expect_match(tensor[["t2(x1,x2)2"]], "inverse-gamma")
  line <- blocks(y ~ s(x1, k = 5), list("s(x1).fixed1" = prior_ridge(variance = 3)))
  expect_match(line[["s(x1).fixed1"]], "variance 3")
  expect_false("unpenalised parts of smooths" %in% names(line))
  expect_refusal(blocks(y ~ s(x1, k = 5), list("s(x1).1" = fixed)), "prior", "`s(x1)`")
  expect_refusal(blocks(y ~ s(x1, k = 5), list("s(x1)" = prior_inv_wishart())), "prior", "`s(x1)`")
  listed <- prior_for(y ~ x2 + t2(x1, x3, k = 3) + (t | g), d)
  expect_equal(listed$columns[listed$name == "t2(x1,x3)"], 5)
  for (name in setdiff(listed$name, c("", "g"))) {
    expect_true(any(grepl("variance 2", blocks(y ~ x2 + t2(x1, x3, k = 3) + (t | g),
                                               stats::setNames(list(fixed), name)))), label = name)
  }
})

test_that("new rows get the columns of the fit", {
  for (formula in smooth_formulas) {
    frame <- bsvm_frame(formula, d)
    rows <- bsvm:::design_rows(frame, d[c(7, 3, 90), ])
    expect_close(rows$x, frame$x[c(7, 3, 90), ], 1e-8, label = deparse1(formula))
    expect_identical(colnames(rows$x), frame$columns)
  }
})

test_that("missing values obey na.action, new ones give NA", {
  holes <- transform(d, x1 = replace(x1, 3, NA), f = replace(f, 9, NA))
  expect_refusal(bsvm_frame(y ~ s(x1, by = f, k = 4), holes), "missing", c("`x1`", "`f`"))
  frame <- bsvm_frame(y ~ s(x1, by = f, k = 4), holes, na.action = na.omit)
  expect_equal(frame$x, bsvm_frame(y ~ s(x1, by = f, k = 4), d[-c(3, 9), ])$x)
  new <- bsvm:::design_rows(frame, holes[c(2, 3, 9), ])$x
  expect_identical(rowSums(is.na(new)) > 0, c(FALSE, TRUE, TRUE))
  expect_refusal(bsvm:::design_rows(frame, transform(d[1:2, ], f = "z")), "newdata", "'z'")
  expect_refusal(bsvm:::design_rows(frame, d[1:2, c("x1", "y")]), "newdata", "`f`")
  expect_refusal(bsvm:::design_rows(frame, transform(d[1:2, ], x1 = "a")), "newdata", "`x1`")
})

test_that("rows of weight zero have no part in the basis", {
  w <- replace(rep(1, 200), c(1, 50), 0)
  far <- transform(d, x1 = replace(x1, c(1, 50), c(40, -40)))
  frame <- bsvm_frame(y ~ s(x1), far, weights = w)
  expect_equal(frame$x, bsvm_frame(y ~ s(x1), d[w > 0, ])$x)
  expect_equal(dim(frame$absent$x), c(2, ncol(frame$x)))
  expect_finite(frame$absent$x)
})

test_that("a fit with smooths predicts its own rows, and is kept without them", {
  fit <- bsvm(y ~ x2 + s(x1, by = f, k = 5) + f + s(x3, bs = "cr"), d, engine = "vb")
  expect_valid_fit(fit)
  expect_close(predict(fit, d, type = "link"), fitted(fit), 1e-9)
  expect_close(predict(fit, d[9:3, ], type = "link"), fitted(fit)[9:3], 1e-9)
  size <- function(formula, n) {
    length(serialize(bsvm_frame(formula, grouped_data(n))$bases, NULL))
  }
  for (formula in list(y ~ s(x3, bs = "cr"), y ~ s(f, bs = "re"), y ~ t2(x1, x2, k = 4),
                       y ~ s(x1, f, bs = "fs", xt = "cr", k = 4))) {
    expect_identical(size(formula, 2000), size(formula, 200), label = deparse1(formula))
  }
})

test_that("a smooth finds a curve, and shrinks to the line where there is none", {
  data <- with_seed(3, {
    data <- data.frame(a = runif(600, -2, 2), b = runif(600, -2, 2))
    data$y <- sin(2 * data$a) + data$b + rnorm(600) / 2 > 0
    data
  })
  fit <- bsvm(y ~ s(a) + s(b), data, engine = "vb")
  grid <- data.frame(a = seq(-1.8, 1.8, 0.2), b = 0)
  expect_gt(cor(predict(fit, grid, type = "link"), sin(2 * grid$a)), 0.98)
  line <- data.frame(a = 0, b = seq(-1.8, 1.8, 0.2))
  expect_gt(cor(predict(fit, line, type = "link"), line$b), 0.999)
})

test_that("`.` leaves out what a smooth has, but not a factor that is only `by`", {
  data <- d[c("y", "x1", "x2", "f", "t")]
  columns <- function(formula) unique(sub("[.].*", "", bsvm_frame(formula, data)$columns))
  expect_identical(columns(y ~ . + s(x1, k = 4)), c("(Intercept)", "x2", "fb", "fc", "t", "s(x1)"))
  expect_true(all(c("fb", "t") %in% columns(y ~ . + s(x1, by = f, k = 4))))
  expect_false("t" %in% columns(y ~ . + s(x1, by = t, k = 4)))
})

test_that("arguments of a smooth are found where the formula was made", {
  size <- 6
  expect_identical(bsvm_frame(y ~ s(x1, k = size), d)$x, bsvm_frame(y ~ s(x1, k = 6), d)$x)
  expect_identical(bsvm_frame(y ~ mgcv::s(x1, k = 6), d)$x, bsvm_frame(y ~ s(x1, k = 6), d)$x)
  s <- 3
  expect_identical(bsvm_frame(y ~ x1 + s(x2, k = 3 + s), d)$columns[3], "s(x2).fixed1")
})

test_that("smooths of shared variables have what they share in one of them", {
  frame <- bsvm_frame(y ~ s(x1, k = 6) + s(x2, k = 6) + t2(x1, x2, k = 4), d)
  expect_equal(qr(frame$x)$rank, ncol(frame$x))
  expect_close(bsvm:::design_rows(frame, d[5:9, ])$x, frame$x[5:9, ], 1e-8)
})

test_that("k is a whole number the basis can have", {
  for (k in list(4.5, -3, "a", NA, Inf, c(4, 5), NULL, TRUE)) {
    expect_refusal(bsvm_frame(y ~ s(x1, k = k), d), "formula", c("`k`", "whole number"))
  }
  smallest <- c(tp = 3, ts = 3, cr = 3, cs = 3, cc = 4, ps = 4, bs = 5, cp = 3, gp = 3, ds = 4)
  for (basis in names(smallest)) {
    k <- smallest[[basis]]
    expect_silent(frame <- bsvm_frame(y ~ s(x1, bs = basis, k = k), d))
    expect_lt(length(frame$columns), k + 2)
    for (less in c(k - 1, 1, 0)) {
      expect_refusal(bsvm_frame(y ~ s(x1, bs = basis, k = less), d), "formula",
                     paste0("at least ", k, " for bs = \"", basis, "\""))
    }
  }
  expect_refusal(bsvm_frame(y ~ s(x1, x2, k = 3), d), "formula", "at least 4")
  expect_refusal(bsvm_frame(y ~ s(x1, m = 3, k = 3), d), "formula", "at least 4")
  expect_refusal(bsvm_frame(y ~ s(x1, f, bs = "fs", k = 2), d), "formula", "at least 3")
  expect_refusal(bsvm_frame(y ~ t2(x1, x2, k = 2), d), "formula", "at least 3")
  expect_refusal(bsvm_frame(y ~ t2(x1, x2, k = c(3, 4, 5)), d), "formula", "2 numbers")
  expect_silent(bsvm_frame(y ~ t2(x1, x2, k = c(3, 4)), d))
  expect_equal(bsvm_frame(y ~ s(x1, k = -1), d)$x, bsvm_frame(y ~ s(x1), d)$x)
})

test_that("too few values for any k: the message does not advise one", {
  data <- transform(d, one = 2, two = rep(1:2, 100), three = rep(1:3, length.out = 200))
  few <- list(y ~ s(two), y ~ s(two, k = 2), y ~ s(three, bs = "cc"), y ~ t2(x1, two))
  for (formula in few) {
    error <- expect_refusal(bsvm_frame(formula, data), "predictors",
                            c("too few", "linear term or a factor"))
    expect_no_match(conditionMessage(error), "k =? ?of|at least|at most")
  }
  expect_refusal(bsvm_frame(y ~ s(three), data), "predictors", "k of at most 3")
  for (formula in list(y ~ s(one), y ~ s(one, k = 3), y ~ s(x1, one, k = 9), y ~ t2(x1, one))) {
    error <- expect_refusal(bsvm_frame(formula, data), "predictors", c("`one`", "not vary"))
    expect_no_match(conditionMessage(error), "at most")
  }
  expect_refusal(bsvm_frame(y ~ s(x1), transform(d, x1 = x1 * 1e200)), "predictors", "1e150")
})

test_that("what mgcv says comes under a class of ours", {
  expect_refusal(bsvm_frame(y ~ s(x1, bs = "zz"), d), "formula", "no basis bs = \"zz\"")
  expect_refusal(bsvm_frame(y ~ t2(x1, x2, bs = c("cr", "zz")), d), "formula", "bs = \"zz\"")
  for (bs in list(3, c("tp", "cr"), NA)) {
    expect_refusal(bsvm_frame(y ~ s(x1, bs = bs), d), "formula", c("`bs`", "string"))
  }
  expect_refusal(bsvm_frame(y ~ s(x1, by = 3), d), "formula", "`by`")
  expect_refusal(bsvm_frame(y ~ s(x1, m = "a"), d), "formula", "can't be built")
  expect_silent(expect_refusal(bsvm_frame(y ~ s(x1, bs = "mrf"), d), "formula", "xt"))
  few <- transform(d, few = rep(1:4, 50))
  expect_warning(bsvm_frame(y ~ s(few, bs = "ps", k = 5), few), "mgcv warns",
                 class = "bsvm_warning_predictors")
})

test_that("smooths that can't be built say why", {
  d$few <- rep(1:4, 50)
  expect_refusal(bsvm(y ~ s(few), d), "predictors", c("`few`", "4 distinct", "k = 10"))
  expect_refusal(bsvm(y ~ s(few, k = 7, bs = "cr"), d), "predictors", c("4 distinct", "k = 7"))
  expect_refusal(bsvm(y ~ t2(x1, few, k = 5), d), "predictors", c("`few`", "k = 5"))
  expect_identical(length(bsvm_frame(y ~ s(few, k = 4), d)$columns), 4L)
  expect_refusal(bsvm(y ~ s(f), d), "predictors", c("numbers", "`(1 | f)`"))
  expect_refusal(bsvm(y ~ te(x1, x2), d), "unsupported", c("te()", "t2()", "s(x, z)"))
  expect_refusal(bsvm(y ~ s(x1) + ti(x1, x2), d), "unsupported", "ti()")
  expect_refusal(bsvm(y ~ s(x1, bs = "ad"), d), "unsupported", "several penalties")
  expect_refusal(bsvm(y ~ s(x1, sp = 2), d), "unsupported", c("`sp`", "prior_ridge(variance = )"))
  expect_refusal(bsvm(y ~ s(x1, id = 1), d), "unsupported", "`id`")
  expect_refusal(bsvm(y ~ x2:s(x1), d), "formula", c("added", "by ="))
  expect_refusal(bsvm(y ~ x2 - s(x1), d), "formula", "added")
  expect_refusal(bsvm(y ~ s(x1) + s(x1, k = 5), d), "formula", "twice")
  expect_refusal(bsvm(y ~ s(), d), "formula", "no variable")
  expect_refusal(bsvm(y ~ s(x1, bs = "nonesuch"), d), "formula", "s(x1, bs = \"nonesuch\")")
  expect_refusal(bsvm(y ~ s(x1, k = nonesuch), d), "formula", "nonesuch")
  expect_refusal(bsvm(y ~ s(nonesuch), d), "data", "`nonesuch`")
  d$pair <- cbind(d$x1, d$x2)
  expect_refusal(bsvm(y ~ s(pair), d), "predictors", "matrix")
})
