bsvm <- paper_bsvm

skip_if_not_installed("ggplot2")
skip_if_not_installed("mgcv")

smooth_data_set <- function(n = 150) {
  with_seed(6, {
    d <- data.frame(x = runif(n), z = runif(n), v = rnorm(n),
                    f = gl(2, n / 2, labels = c("a", "b")))
    d$y <- sin(6 * d$x) + d$z + d$v + rnorm(n) > 0.5
    d
  })
}
d <- smooth_data_set()
fit <- bsvm(y ~ s(x) + s(z) + v, d, engine = "vb")

test_that("a smooth by itself is a difference of predictions", {
  shown <- plot(fit, "smooth", select = "s(x)")$data
  expect_equal(range(shown$x), range(d$x))
  expect_equal(nrow(shown), 200)
  # the curve is known up to a constant from predictions along x, and sums to zero over the data
  along <- predict(fit, data.frame(x = shown$x, z = 0.5, v = 0), type = "link")
  expect_close(diff(shown$fit), diff(along), 1e-8)
  at_data <- predict(fit, data.frame(x = d$x, z = 0.5, v = 0), type = "link")
  expect_close(shown$fit, along - mean(at_data), 1e-8)
})

test_that("the band is the posterior's, by matrix algebra", {
  smooth <- fit$bases[[2]]
  at <- c(smooth$unpenalised, smooth$columns)
  x <- bsvm:::smooth_matrix(smooth, data.frame(z = c(0.1, 0.6)))
  shown <- bsvm:::smooth_moments(fit, smooth, data.frame(z = c(0.1, 0.6)), 0.9)
  expect_close(shown$fit, x %*% fixef(fit)[at], 1e-10)
  sd <- sqrt(diag(x %*% vcov(fit)[at, at] %*% t(x)))
  expect_close(shown$sd, sd, 1e-10)
  expect_close(shown$upper, shown$fit + qnorm(0.95) * sd, 1e-8)
  drawn <- gibbs_fit(y ~ s(x) + s(z) + v, d)
  b <- flat_draws(drawn$posterior$coefficients)[at, ]
  shown <- bsvm:::smooth_moments(drawn, drawn$bases[[2]], data.frame(z = c(0.1, 0.6)), 0.9)
  expect_close(shown$sd, row_sds(x %*% b), 1e-9)
  expect_close(cbind(shown$lower, shown$upper), row_tails(x %*% b, 0.9), 1e-9)
})

test_that("all kinds of smooth terms have a picture, or are refused", {
  expect_equal(levels(plot(fit, "smooth")$data$label), c("s(x)", "s(z)"))
  by_factor <- bsvm(y ~ f + s(x, by = f), d, engine = "vb")
  expect_equal(levels(plot(by_factor, "smooth")$data$label), c("s(x):fa", "s(x):fb"))
  by_number <- bsvm(y ~ s(x, by = v), d, engine = "vb")
  shown <- plot(by_number, "smooth")$data
  slope <- predict(by_number, data.frame(x = shown$x, v = 1), type = "link") -
    predict(by_number, data.frame(x = shown$x, v = 0), type = "link")
  expect_close(shown$fit, slope, 1e-8)
  plane <- bsvm(y ~ s(x, z), d, engine = "vb")
  expect_silent(ggplot2::ggplot_build(plot(plane, "smooth")))
  expect_silent(ggplot2::ggplot_build(plot(fit, "smooth")))
  both <- bsvm(y ~ s(x, z, k = 10) + s(v), d, engine = "vb")
  expect_match(plot(both, "smooth")$labels$caption, "`select` = \"s(x,z)\"", fixed = TRUE)
  expect_identical(unique(as.character(plot(both)$data$label)), "s(v)")
  expect_refusal(plot(both, "smooth", select = 1:2), "unsupported", "`select`")
  expect_s3_class(plot(both, "smooth", select = 1), "ggplot")
  levels <- bsvm(y ~ x + s(f, bs = "re"), d, engine = "vb")
  expect_refusal(plot(levels, "smooth"), "unsupported", "s(f)")
})

test_that("what there is not is refused", {
  plain <- bsvm(y ~ x, d, engine = "vb")
  expect_refusal(plot(plain, "smooth"), "unsupported", c("smooth", "s(x)"))
  expect_refusal(plot(fit, "smooth", select = "x"), "argument", c("`select`", "\"s(x)\""))
  expect_refusal(plot(fit, "smooth", select = 3), "argument", "`select`")
  expect_refusal(plot(fit, "smooth", select = TRUE), "argument", "`select`")
  expect_refusal(plot(fit, "smooth", select = character(0)), "argument", "`select`")
})

test_that("where the spread is not known there is a curve without a band, and words why", {
  point <- bsvm(y ~ s(x) + v, d, engine = "map")
  drawn <- plot(point)
  expect_silent(ggplot2::ggplot_build(drawn))
  geoms <- vapply(drawn$layers, function(layer) class(layer$geom)[1], "")
  expect_true("GeomLine" %in% geoms && !"GeomRibbon" %in% geoms)
  expect_match(drawn$labels$caption, "No band.*engine_gaussian\\(\\)")
  expect_match(drawn$labels$title, "mode")
  along <- predict(point, data.frame(x = drawn$data$x, v = 0), type = "link")
  expect_close(diff(drawn$data$fit), diff(along), 1e-8)
  expect_refusal(plot(point, "coefficients"), "unsupported", "engine_gaussian()")
  plane <- plot(bsvm(y ~ s(x, z, k = 10), d, engine = "map"))
  expect_silent(ggplot2::ggplot_build(plane))
  expect_match(plane$labels$title, "mode")
  spread <- bsvm(y ~ s(x) + (1 | f), d, engine = "map")
  expect_match(plot(spread, "smooth")$labels$title, "mode and 95 % interval")
})

test_that("functions are the default, with the rows as a rug by class, and never coefficients", {
  drawn <- plot(fit)
  expect_equal(drawn$data, plot(fit, "smooth")$data)
  expect_identical(drawn$labels$y, "Effect on the linear predictor")
  expect_match(drawn$labels$caption, "coefficients")
  built <- ggplot2::ggplot_build(drawn)$data
  rugs <- do.call(rbind, lapply(built[4:5], function(part) part[part$PANEL == 1, ]))
  expect_setequal(rugs$x, d$x)
  expect_identical(as.character(plot(fit, "coefficients", intercept = TRUE)$data$term),
                   c("v", "(Intercept)")[order(-abs(fixef(fit)[c("v", "(Intercept)")] /
                                                      sqrt(diag(vcov(fit)))[c("v", "(Intercept)")]))])
  only <- bsvm(y ~ s(x) - 1, d, engine = "vb")
  expect_refusal(plot(only, "coefficients"), "unsupported", "plot(fit, \"smooth\")")
})

test_that("a probability is that of the function and the other terms at their means", {
  shown <- plot(fit, select = "s(x)", type = "prob")$data
  link <- plot(fit, select = "s(x)")$data
  others <- mean(fit$link - approx(link$x, link$fit, d$x)$y)
  odds <- fit$odds_slope * (others + link$fit)
  expect_close(shown$fit, plogis(odds), 1e-4)
  expect_refusal(plot(fit, type = "probability"), "argument", "`type`")
  expect_refusal(plot(fit, "coefficients", type = "prob"), "argument", "smooth")
  numbers <- bsvm(v ~ s(x), d, likelihood = likelihood_gaussian())
  expect_refusal(plot(numbers, type = "prob"), "unsupported", "classes")
  plane <- bsvm(y ~ s(x, z, k = 10), d, engine = "vb")
  expect_refusal(plot(plane, type = "prob"), "unsupported", "one variable")
})
