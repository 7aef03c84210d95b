# Fits that were changed by hand, and predictions from them.

test_that("predictions from numbers that are not finite are refused, by name", {
  quiet <- function(code) suppressWarnings(suppressMessages(code))
  d <- grouped_data()
  fits <- quiet(list(
    bsvm(y ~ x1, d, engine = "vb"), bsvm(y ~ x1 + (1 | g), d, engine = "gaussian"),
    bsvm(y ~ x1, d, engine = engine_gibbs(draws = 20, burnin = 10)),
    bsvm(y ~ x1, d, engine = "em", prior = prior_ridge(variance = 1))
  ))
  places <- list(c("posterior", "mean"), c("posterior", "theta"), c("posterior", "weights"),
                 c("design", "center"), c("design", "scale"), c("design", "intercept"))
  for (fit in fits) {
    expect_no_error(quiet(predict(fit, d, type = "prob")))
    for (place in places) for (value in c(NaN, NA, Inf)) {
      if (length(fit[[place]]) == 0L) next
      bad <- fit
      bad[[place]][1] <- value
      for (type in c("link", "prob", "class")) {
        expect_refusal(predict(bad, d, type = type), "argument", paste(place, collapse = "$"))
      }
      expect_refusal(predict(bad, type = "link"), "argument", "not as bsvm() made it")
      if (fit$engine$name != "em") {
        expect_refusal(predict(bad, d, interval = TRUE), "argument", "not finite")
      }
    }
  }
  mixture <- fits[[2]]
  mixture$posterior$components[[1]]$mean[1] <- NaN
  expect_refusal(predict(mixture, d, type = "prob"), "argument", "component")
  mixture <- fits[[2]]
  mixture$posterior$weights[1] <- -1
  expect_refusal(predict(mixture, d, type = "prob"), "argument", "posterior$weights")
  for (value in list(7, 0.5, -1, c(1, 2))) {
    bad <- fits[[1]]
    bad$design$intercept <- value
    expect_refusal(predict(bad, d), "argument", "design$intercept")
  }
  bad <- fits[[1]]
  bad$design$scale[2] <- 0
  expect_refusal(predict(bad, d), "argument", "design$scale")
})
