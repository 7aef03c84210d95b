# Loadings and scores of factor terms, aligned between draws; what is printed and drawn of them.

fitted_factors <- function(k = 2L) {
  quiet_factors(stats::as.formula(sprintf("y ~ age + factors(x, k = %d)", k)), factor_data())
}

test_that("draws that differ by a turn are aligned exactly", {
  set.seed(1)
  truth <- matrix(rnorm(60), 20) * rep(c(3, 2, 1), each = 20)
  turns <- lapply(1:8, function(j) qr.Q(qr(matrix(rnorm(9), 3))))
  loadings <- array(unlist(lapply(turns, function(q) truth %*% q)), c(20L, 3L, 8L))
  for (rotation in c("varimax", "none")) {
    found <- aligning_turns(loadings, rotation)
    aligned <- vapply(1:8, function(j) loadings[, , j] %*% found[, , j], truth)
    expect_equal(aligned[, , 1:7], aligned[, , 2:8], tolerance = 1e-6)
    expect_equal(crossprod(found[, , 1L]), diag(3), tolerance = 1e-10)
    expect_equal(tcrossprod(aligned[, , 1L]), tcrossprod(truth), tolerance = 1e-8)
    squares <- colSums(aligned[, , 1L]^2)
    expect_false(is.unsorted(-squares))
    expect_true(all(colSums(aligned[, , 1L]^3) > 0))
  }
  cross <- crossprod(loadings[, , 3L] %*% found[, , 3L])
  expect_equal(cross[upper.tri(cross)], rep(0, 3), tolerance = 1e-6) # principal axes
})

test_that("scores and determinacy are those of plain normal distributions", {
  fit <- fitted_factors()
  d <- factor_data()
  d$x[1L, 1:5] <- NA
  kept <- fit$posterior$factors$kept
  aligned <- aligned_factors(fit, "varimax")
  z <- standard_variables(d$x, factors_of(fit))
  m <- dim(aligned$loadings)[3L]
  per_chain <- length(kept$at)
  draws <- lapply(seq_len(m), function(j) {
    chain <- 1L + (j - 1L) %/% per_chain
    rows <- plain_links(fit, z[1:6, ], j - (chain - 1L) * per_chain, chain)
    turn <- aligned$turns[, , j]
    list(mean = t(vapply(rows, function(row) drop(row$score %*% turn), numeric(2))),
         variance = t(vapply(rows, function(row) diag(t(turn) %*% row$covariance %*% turn),
                             numeric(2))))
  })
  found <- factor_scores(fit, d[1:6, ])
  means <- vapply(draws, `[[`, matrix(0, 6, 2), "mean")
  variances <- vapply(draws, `[[`, matrix(0, 6, 2), "variance")
  expect_equal(apply(means, 1:2, mean), found, tolerance = 1e-7, ignore_attr = TRUE)
  sd <- sqrt(apply(variances, 1:2, mean) + apply(means, 1:2, function(x) mean((x - mean(x))^2)))
  expect_equal(attr(found, "sd"), sd, tolerance = 1e-7, ignore_attr = TRUE)
  expect_gt(attr(found, "sd")[1L, 1L], attr(factor_scores(fit), "sd")[1L, 1L])
})

test_that("tables add up and follow what made the data", {
  fit <- fitted_factors()
  d <- factor_data()
  table <- factor_table(fit)
  expect_named(table, c("factor", "share", "coefficient", "sd", "lower", "upper", "determinacy"))
  expect_true(all(table$determinacy > 0.8 & table$determinacy < 1))
  expect_lt(sum(table$share), 1)
  # whatever the rotation
  other <- factor_table(fit, rotation = "none")
  expect_equal(sum(other$share), sum(table$share), tolerance = 1e-10)
  scores <- factor_scores(fit)
  truth <- attr(d, "scores")
  expect_true(all(cancor(scores, truth)$cor > 0.9))
  loadings <- factor_loadings(fit)
  expect_equal(nrow(loadings), 40L)
  estimate <- matrix(loadings$estimate, 20L)
  expect_gt(cor(as.vector(tcrossprod(estimate)), as.vector(cor(d$x))), 0.9)
  expect_true(all(loadings$lower <= loadings$estimate & loadings$estimate <= loadings$upper))
  # the link is the sum of what the factors add
  explained <- drop(scores %*% table$coefficient)
  expect_gt(cor(explained + coef(fit)[["age"]] * d$age, fitted(fit)), 0.99)
})

test_that("print and summary say what factors are and how well they are determined", {
  fit <- fitted_factors()
  expect_output(print(fit), "2 factors of 20 variables")
  expect_output(print(fit), "variables determine")
  told <- suppressWarnings(summary(fit), classes = "bsvm_warning_convergence")
  shown <- capture.output(print(told))
  expect_true(any(grepl("^F1 ", shown)))
  expect_true(any(grepl("turned", shown)))
  expect_output(print(factor_loadings(fit), n = 3L), "3 of 20 variables")
  cut <- quiet_factors(y ~ factors(x, k = 2, feedback = "none"), factor_data())
  expect_output(print(cut), "no feedback")
  expect_equal(nrow(told$coefficients), 22L)
})

test_that("pictures of factors are drawn", {
  skip_if_not_installed("ggplot2")
  fit <- fitted_factors()
  one <- fitted_factors(1L)
  for (which in c("loadings", "scores", "determinacy", "coefficients")) {
    for (own in list(fit, one)) {
      picture <- plot(own, which)
      expect_s3_class(picture, "ggplot")
      expect_silent(ggplot2::ggplot_build(picture))
    }
  }
  expect_silent(ggplot2::ggplot_build(plot(fit, "scores", select = c("F2", "F1"))))
  plain <- bsvm(y ~ age, factor_data(), engine = "gaussian")
  for (which in c("loadings", "scores", "determinacy")) {
    expect_error(plot(plain, which), "factors()", class = "bsvm_error_unsupported", fixed = TRUE)
  }
  for (verb in list(factor_loadings, factor_scores, factor_table)) {
    expect_error(verb(plain), "factors()", class = "bsvm_error_unsupported", fixed = TRUE)
  }
})
