# Designs that are sparse matrices.

bsvm <- paper_bsvm

skip_if_not_installed("Matrix")

# n rows, p columns, a tenth of them filled; two classes.
sparse_data <- function(n = 300, p = 40, seed = 4) {
  with_seed(seed, {
    x <- matrix(0, n, p, dimnames = list(NULL, paste0("v", seq_len(p))))
    x[sample(n * p, n * p / 10)] <- rnorm(n * p / 10)
    y <- x[, 1] - x[, 2] + rnorm(n) / 5 > 0
    list(x = x, sparse = Matrix::Matrix(x, sparse = TRUE), y = y, g = sample(letters[1:9], n, TRUE))
  })
}
d <- sparse_data()

core_matrix <- function(s, n) {
  z <- matrix(0, n, s$n_columns)
  z[cbind(s$i + 1, rep(seq_len(s$n_columns), diff(s$p)))] <- s$x
  z
}

test_that("a sparse matrix stays one, with the columns of a dense one", {
  frame <- bsvm_frame(d$sparse, d$y)
  dense <- bsvm_frame(d$x, d$y)
  expect_s4_class(frame$x, "dgCMatrix")
  expect_equal(as.matrix(frame$x), dense$x)
  same <- c("y", "columns", "assign", "term_labels", "intercept", "implicit", "nobs")
  expect_identical(frame[same], dense[same])
  expect_output(print(frame), "41 columns")
})

test_that("it goes to the core scaled but not centred, after the groups", {
  frame <- bsvm_frame(d$sparse, d$y)
  spec <- bsvm_spec(frame)
  dense <- bsvm_spec(bsvm_frame(d$x, d$y))
  expect_equal(spec$design$scale, dense$design$scale)
  expect_identical(spec$design$center, numeric(41))
  expect_equal(spec$design$sparse, 2:41)
  expect_identical(dim(spec$problem$x), c(300L, 0L))
  expect_equal(core_matrix(spec$problem$sparse, 300),
               unname(d$x) / rep(apply(d$x, 2, sd), each = 300))
  expect_identical(spec$problem$sparse$levels, 40L)
  expect_identical(spec$problem$sparse$effects, 1L)
  expect_length(spec$model$blocks, 1)
  expect_equal(spec$model$group_blocks[[1]]$columns, 1)

  grouped <- bsvm_spec(bsvm_frame(d$sparse, d$y, group = d$g),
                       prior = list(prior_ridge(0.01), v3 = prior_ridge(variance = 2)))
  expect_identical(grouped$problem$sparse$levels, c(9L, 39L, 1L))
  expect_null(grouped$problem$group)
  expect_equal(grouped$design$sparse, c(2:3, 5:41, 4))
  expect_equal(lapply(grouped$model$group_blocks, `[[`, "columns"), list(1, 2, 3))
  order <- list("(Intercept)", "group: (Intercept)", "population-level slopes", "v3")
  split <- bsvm:::split_hyper(grouped, order)
  expect_identical(split$hyper, lapply(grouped$blocks, `[[`, "label"))
  expect_identical(split$group_hyper, lapply(grouped$group_blocks, `[[`, "label"))
})

test_that("full blocks, and the intercept, are dense in the core", {
  x <- Matrix::Matrix(cbind("(Intercept)" = 1, d$x, full = d$x[, 1] + 5), sparse = TRUE)
  spec <- bsvm_spec(bsvm_frame(x, d$y), prior = list(full = prior_ridge(variance = 1)))
  expect_equal(spec$design$sparse, 2:41)
  expect_equal(unname(spec$problem$x), unname(cbind(1, d$x[, 1] + 5)))
  expect_equal(spec$design$center[42], mean(d$x[, 1] + 5))
  none <- bsvm_spec(bsvm_frame(x[, c(1, 42)], d$y))
  expect_null(none$design$sparse)
  expect_null(none$problem$sparse)
})

test_that("moments of sparse columns are those of dense ones, weights and all", {
  w <- rep(1:3, 100)
  x <- cbind(d$x, none = 0, ones = 1, large = d$x[, 1] * 1e140, small = d$x[, 2] * 1e-140)
  for (weights in list(NULL, w)) {
    ours <- bsvm:::sparse_moments(bsvm:::as_sparse(Matrix::Matrix(x, sparse = TRUE)), weights)
    theirs <- lapply(seq_len(ncol(x)), function(j) bsvm:::column_moments(x[, j], weights))
    expect_equal(ours$mean, vapply(theirs, `[[`, 0, "mean"))
    expect_equal(ours$sd, vapply(theirs, `[[`, 0, "sd"))
  }
})

test_that("other kinds of Matrix are taken too, and what is no number is refused", {
  for (x in list(d$sparse != 0, methods::as(d$sparse, "TsparseMatrix"),
                 methods::as(d$sparse, "RsparseMatrix"))) {
    expect_s4_class(bsvm_frame(x, d$y)$x, "dgCMatrix")
  }
  expect_true(is.matrix(bsvm_frame(Matrix::Matrix(d$x + 1), d$y)$x))
  holes <- d$sparse
  holes[4, 2] <- NA
  holes[7, 5] <- Inf
  expect_refusal(bsvm_frame(holes, d$y), "missing", c("`v2` has 1 NA", "1 of 300 rows"))
  expect_refusal(bsvm_frame(holes, d$y, na.action = na.omit), "predictors", "`v5` has 1 Inf")
  holes[7, 5] <- 1
  frame <- bsvm_frame(holes, d$y, na.action = na.omit, weights = replace(rep(1, 300), 9, 0))
  expect_identical(dim(frame$x), c(298L, 40L))
  expect_s4_class(frame$absent$x, "dgCMatrix")
  huge <- d$sparse
  huge[1, 1] <- 1e200
  expect_refusal(bsvm_frame(huge, d$y), "predictors", "v1")
})

test_that("a formula with factors of very many levels has a sparse design", {
  skip_on_cran()
  n <- 20000
  data <- with_seed(5, {
    data <- data.frame(x = rnorm(n), a = sample(600, n, TRUE), b = sample(letters, n, TRUE))
    data$y <- rnorm(n) > 0
    data
  })
  formula <- y ~ x + factor(a) + b
  frame <- bsvm_frame(formula, data)
  expect_s4_class(frame$x, "dgCMatrix")
  dense <- model.matrix(formula, data)
  expect_identical(frame$columns, colnames(dense))
  expect_equal(frame$assign, attr(dense, "assign"))
  expect_equal(frame$contrasts, attr(dense, "contrasts"))
  rows <- sample(n, 300)
  expect_equal(as.matrix(frame$x[rows, ]), dense[rows, ], ignore_attr = TRUE)
  frame$sparse <- TRUE
  new <- transform(data[rows, ], x = replace(x, 2, NA))
  again <- bsvm:::design_rows(frame, new)$x
  expect_equal(as.matrix(again[-2, ]), dense[rows[-2], ], ignore_attr = TRUE)
  expect_identical(unname(which(rowSums(is.na(as.matrix(again))) > 0)), 2L)
  few <- bsvm_frame(y ~ x + factor(a %% 400), data[1:10000, ])
  expect_true(is.matrix(few$x))
  spec <- bsvm_spec(frame)
  expect_equal(spec$design$sparse, 2:ncol(dense))
  if (!requireNamespace("mgcv", quietly = TRUE)) return()
  with_smooth <- bsvm_frame(y ~ factor(a) + s(x, bs = "cr", k = 5), data)
  expect_s4_class(with_smooth$x, "dgCMatrix")
  flat <- bsvm_spec(with_smooth)
  expect_equal(flat$design$sparse, 2:600)
  expect_equal(ncol(flat$problem$x), 5)
})

test_that("new rows of a matrix fit are sparse as the fit is", {
  design <- list(columns = c("(Intercept)", colnames(d$x)), implicit = TRUE)
  new <- bsvm:::matrix_rows(design, NULL, d$sparse[3:5, 40:1], NULL)$x
  expect_equal(as.matrix(new), cbind("(Intercept)" = 1, d$x[3:5, ]))
})

test_that("a sparse matrix gives the fit of the dense one", {
  for (prior in list(NULL, prior_ridge(variance = 2), prior_ridge(variance = prior_half_t(3, 1)))) {
    sparse <- bsvm(d$sparse, d$y, prior = prior, engine = "vb", control = tight())
    dense <- bsvm(d$x, d$y, prior = prior, engine = "vb", control = tight())
    sd <- sqrt(diag(vcov(dense)))
    expect_close(fixef(sparse), fixef(dense), 1e-6, scale = sd)
    expect_close(fitted(sparse), fitted(dense), 1e-6)
    expect_close(predict(sparse, d$sparse[9:3, ], type = "link"), fitted(dense)[9:3], 1e-6)
    expect_close(predict(sparse, d$sparse, interval = TRUE)$sd,
                 predict(dense, d$x, interval = TRUE)$sd, 1e-6)
    expect_close(elbo(sparse), elbo(dense), 1e-6)
  }
})
