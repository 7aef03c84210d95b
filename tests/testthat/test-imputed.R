bsvm <- paper_bsvm

s <- simulate_missing(60, 3, 0.15, seed = 1)
d <- data.frame(y = s$y, s$x)
fit <- bsvm(y ~ x1 + x2 + x3, d, missing = "normal", engine = "vb")

test_that("every missing entry has its place, on the column's own scale", {
  found <- imputed(fit)
  expect_s3_class(found, "bsvm_imputed")
  expect_identical(names(found), c("row", "column", "mean", "sd"))
  expect_identical(sort(paste(found$row, found$column)),
                   sort(paste(row(s$x)[is.na(s$x)], colnames(s$x)[col(s$x)][is.na(s$x)])))
  expect_finite(found[c("mean", "sd")])
  scaled <- bsvm(y ~ I(100 * x1 + 7) + x2 + x3, d, missing = "normal", engine = "vb")
  own <- imputed(scaled)
  at <- own$column == "I(100 * x1 + 7)"
  expect_equal(own$mean[at], 100 * found$mean[at] + 7, tolerance = 1e-6)
  expect_equal(own$sd[at], 100 * found$sd[at], tolerance = 1e-6)
})

test_that("values are near the true ones, as near as is said of them", {
  many <- simulate_missing(400, 3, 0.15, seed = 1)
  found <- imputed(bsvm(many$x, many$y, missing = "normal", engine = "gaussian",
                        likelihood = likelihood_hinge(normalized = TRUE)))
  truth <- true_values(found, many$full)
  expect_lt(mean((found$mean - truth)^2), 0.6 * var(truth)) # 0.53 of it; means alone leave all
  expect_close(mean(((found$mean - truth) / found$sd)^2), 1, 0.2) # 0.95, known to 0.1
})

test_that("rows of weight zero and left out are counted", {
  weights <- replace(rep(1, 60), c(1, 4, 30), 0)
  some <- bsvm(y ~ x1 + x2 + x3, d, weights = weights, missing = "normal", engine = "vb")
  absent <- which(is.na(s$x), arr.ind = TRUE)
  used <- absent[weights[absent[, 1]] > 0, ]
  expect_identical(sort(paste(imputed(some)$row, imputed(some)$column)),
                   sort(paste0(used[, 1], " x", used[, 2])))
  half <- bsvm(y ~ x1 + x2 + x3, d, subset = 31:60, missing = "normal", engine = "vb")
  expect_true(all(imputed(half)$row <= 30))
})

test_that("auxiliary variables are imputed too", {
  with_aux <- bsvm(y ~ x1 + x2, d, missing = missing_normal(auxiliary = ~ x3), engine = "vb")
  expect_setequal(imputed(with_aux)$column, c("x1", "x2", "x3"))
})

test_that("draws have names and the moments", {
  set.seed(1)
  drawn <- unchecked(bsvm(y ~ x1 + x2 + x3, d, missing = "normal",
                          engine = engine_gibbs(draws = 200, burnin = 100, chains = 2)))
  values <- imputed(drawn, draws = TRUE)
  found <- imputed(drawn)
  expect_equal(dim(values), c(400, nrow(found)))
  expect_identical(colnames(values), sprintf("%s[%d]", found$column, found$row))
  expect_close(colMeans(values), found$mean, 1e-9)
  expect_close(apply(values, 2, sd), found$sd, 0.01)
})

test_that("what can't be given is refused", {
  expect_refusal(imputed(fit, draws = TRUE), "unsupported", "engine_gibbs()")
  expect_refusal(imputed(fit, chains = 1), "argument")
  expect_refusal(imputed(fit, draws = NA), "argument", "`draws`")
  expect_refusal(imputed(1), "argument", "bsvm()")
  expect_refusal(imputed(bsvm(am ~ mpg, mtcars, engine = "vb")), "unsupported", "missing_normal()")
})

test_that("plot() shows the laws, and the observed values where data are given", {
  skip_if_not_installed("ggplot2")
  alone <- plot(imputed(fit))
  expect_s3_class(alone, "ggplot")
  expect_length(alone$layers, 2)
  beside <- plot(imputed(fit), newdata = d)
  expect_length(beside$layers, 3)
  built <- ggplot2::ggplot_build(beside)
  expect_equal(sum(built$data[[1]]$count), sum(!is.na(s$x)))
  line <- built$data[[2]]
  areas <- tapply(seq_len(nrow(line)), line$PANEL, function(at) {
    sum(diff(line$x[at]) * (head(line$y[at], -1) + tail(line$y[at], -1)) / 2)
  })
  expect_close(areas, c(1, 1, 1), 0.02)
})
