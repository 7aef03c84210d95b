# What comes after a fit with missing predictors: predictions, prints, refits, refusals.

bsvm <- paper_bsvm

s <- simulate_missing(80, 3, 0.15, seed = 3)
d <- data.frame(y = s$y, s$x, f = gl(2, 1, 80, labels = c("a", "b")), g = gl(8, 10))
engines <- list(vb = engine_vb(), gaussian = engine_gaussian(),
                gibbs = engine_gibbs(draws = 400, burnin = 100, chains = 2))
fits <- lapply(engines, function(engine) {
  with_seed(1, unchecked(bsvm(y ~ x1 + x2 + x3 + f, d, missing = "normal", engine = engine)))
})
new <- data.frame(x1 = c(1, NA, 0.5, NA, NA), x2 = c(0, 0.3, NA, NA, NA), x3 = c(-1, 1, NA, 2, NA),
                  f = factor(c("a", "b", "a", "b", "a")), row.names = LETTERS[1:5])

# Means and covariances of the missing entries given the others, by hand.
hand_conditionals <- function(fit, new) {
  law <- fit$missing$law
  lapply(seq_len(nrow(new)), function(i) {
    u <- (unlist(new[i, law$variables]) - law$center) / law$scale
    mean <- drop(c(1, as.numeric(new$f[i] == "b")) %*% law$mean)
    m <- which(is.na(u))
    o <- which(!is.na(u))
    sigma <- law$covariance
    pull <- matrix(0, length(m), length(o))
    if (length(o) > 0) pull <- sigma[m, o, drop = FALSE] %*% solve(sigma[o, o])
    own <- sigma[m, m, drop = FALSE] - pull %*% sigma[o, m, drop = FALSE]
    u[m] <- mean[m] + pull %*% (u[o] - mean[o])
    list(x = u * law$scale + law$center, m = m,
         covariance = own * outer(law$scale[m], law$scale[m]))
  })
}

test_that("missing predictors of new rows are averaged over their law given the others", {
  for (fit in fits) {
    by_hand <- hand_conditionals(fit, new)
    x <- cbind(1, t(vapply(by_hand, `[[`, numeric(3), "x")), new$f == "b")
    b <- fixef(fit)
    v <- vcov(fit)
    link <- predict(fit, new, type = "link")
    expect_equal(link, setNames(drop(x %*% b), rownames(new)), tolerance = 1e-10)
    noise <- vapply(by_hand, function(row) {
      at <- 1 + row$m
      sum(row$covariance * (tcrossprod(b[at]) + v[at, at, drop = FALSE]))
    }, 0)
    interval <- predict(fit, new, interval = TRUE)
    expect_equal(interval$fit, unname(link), tolerance = 1e-10)
    expect_equal(interval$sd, unname(sqrt(rowSums((x %*% v) * x) + noise)), tolerance = 1e-6)
    width <- interval$upper - interval$lower
    expect_true(all(width[-1] > 2 * width[1]))
    expect_identical(as.character(predict(fit, new)), ifelse(link >= 0, "1", "-1") |> unname())
    expect_identical(names(predict(fit, new)), rownames(new))
  }
})

test_that("intervals of rows with missing predictors are those of the mixture they are", {
  quantiles <- predict(fits$gibbs, new["E", ], interval = TRUE)
  set.seed(2)
  f <- posterior_linpred(fits$gibbs, newdata = new["E", ])
  expect_close(c(mean(f), sd(f)), unlist(quantiles[1:2]), 0.1, quantiles$sd)
  expect_close(quantile(f, c(0.025, 0.975)), unlist(quantiles[3:4]), 0.2, quantiles$sd)
  seed <- .Random.seed
  expect_identical(predict(fits$gibbs, new["E", ], interval = TRUE), quantiles)
  expect_identical(.Random.seed, seed)
})

test_that("only what the model does not speak of gives NA, and no row is dropped", {
  new$f[2] <- NA
  for (fit in fits) {
    link <- predict(fit, new, type = "link")
    expect_identical(unname(is.na(link)), c(FALSE, TRUE, FALSE, FALSE, FALSE))
    expect_identical(is.na(predict(fit, new, interval = TRUE)$sd), unname(is.na(link)))
    expect_length(predict(fit, new, na.action = na.omit), 4)
  }
  expect_true(all(is.na(posterior_linpred(fits$gibbs, newdata = new)[, 2])))
  expect_finite(posterior_linpred(fits$gibbs, newdata = new)[, -2])
  expect_refusal(predict(fits$vb, transform(new, x1 = Inf)), "newdata", "infinite")
  expect_refusal(predict(fits$vb, new["x1"]), "newdata", "lacks")
})

test_that("a column that was complete in the fit may be missing later", {
  d$x1 <- s$full[, 1]
  fit <- bsvm(y ~ x1 + x2, d, missing = "normal", engine = "vb")
  expect_finite(predict(fit, data.frame(x1 = NA_real_, x2 = c(1, NA)), type = "link"))
  complete <- bsvm(y ~ x1, d, missing = "normal", engine = "vb")
  expect_finite(predict(complete, data.frame(x1 = NA_real_), type = "link"))
  plain <- bsvm(y ~ x1, d, engine = "vb")
  expect_true(is.na(predict(plain, data.frame(x1 = NA_real_), type = "link")))
})

test_that("auxiliary variables inform new rows, and need not be there", {
  fit <- bsvm(y ~ x1 + x2, d, missing = missing_normal(auxiliary = ~ x3), engine = "vb")
  known <- predict(fit, data.frame(x1 = NA_real_, x2 = 0, x3 = c(-2, 2, NA)), interval = TRUE)
  without <- predict(fit, data.frame(x1 = NA_real_, x2 = 0), interval = TRUE)
  expect_equal(unlist(without), unlist(known[3, ]), ignore_attr = TRUE)
  expect_false(isTRUE(all.equal(known$fit[1], known$fit[2])))
  expect_lt(known$sd[1], known$sd[3])
  complete <- data.frame(x1 = 1, x2 = 0, x3 = c(-2, 2))
  expect_equal(diff(predict(fit, complete, type = "link")), c(`2` = 0), ignore_attr = TRUE)
})

test_that("auxiliary terms of new rows are those of the fit", {
  d$h <- gl(3, 1, nrow(d), labels = c("a", "b", "c"))
  fit <- bsvm(y ~ x1 + x2, d, missing = missing_normal(auxiliary = ~ scale(x3) + h), engine = "vb")
  d$x1 <- NA_real_
  all <- predict(fit, d, type = "link")
  expect_identical(unname(predict(fit, d[7:9, ], type = "link")), all[7:9])
  expect_false(anyNA(all))
  expect_true(all(is.na(predict(fit, d[c("x1", "x2")], type = "link"))))
})

test_that("a matrix fit takes matrices with missing values", {
  fit <- bsvm(s$x, s$y, missing = "normal", engine = "vb")
  same <- bsvm(y ~ x1 + x2 + x3, d, missing = "normal", engine = "vb")
  expect_equal(predict(fit, as.matrix(new[1:3]), interval = TRUE),
               predict(same, new, interval = TRUE), tolerance = 1e-9)
})

test_that("rows of the fit count what is left of their imputed entries", {
  for (fit in fits) {
    link <- predict(fit, type = "link")
    expect_equal(link, fitted(fit))
    expect_finite(link)
    expect_finite(residuals(fit))
    interval <- predict(fit, interval = TRUE)
    expect_equal(interval$fit, unname(link), tolerance = 1e-8)
    complete <- complete.cases(d)
    expect_gt(mean(interval$sd[!complete]), 1.5 * mean(interval$sd[complete]))
  }
  f <- posterior_linpred(fits$gibbs)
  expect_close(colMeans(f), fitted(fits$gibbs), 0.15, apply(f, 2, sd))
  expect_gt(mean(apply(f, 2, sd)[!complete]), 1.5 * mean(apply(f, 2, sd)[complete]))
  x <- model.matrix(fits$vb)
  expect_finite(x)
  found <- imputed(fits$vb)
  expect_equal(x[cbind(found$row, match(found$column, colnames(x)))], found$mean)
})

test_that("group effects and missing predictors of new rows go together", {
  fit <- bsvm(y ~ x1 + x2 + (1 | g), d, missing = "normal", engine = "vb")
  rows <- data.frame(x1 = c(NA, NA, 1), x2 = 0, g = c("1", "none", "1"))
  found <- predict(fit, rows, interval = TRUE, allow_new_levels = TRUE)
  expect_gt(found$sd[2], found$sd[1])
  expect_gt(found$sd[1], found$sd[3])
  expect_equal(found$fit[1] - found$fit[2], ranef(fit)$g["1", 1], tolerance = 1e-10)
})

test_that("refits follow: update(), weights of zero, subset, kept data", {
  fit <- bsvm(y ~ x1 + x2 + x3 + f, d, missing = "normal", engine = "vb")
  again <- update(fit, . ~ . - x3)
  expect_identical(again$missing$law$variables, c("x1", "x2"))
  expect_identical(again$posterior,
                   bsvm(y ~ x1 + x2 + f, d, missing = "normal", engine = "vb")$posterior)
  omitted <- suppressMessages(update(fit, missing = missing_omit()))
  expect_null(omitted$missing)
  keep <- 11:70
  weights <- replace(numeric(80), keep, 1)
  half <- bsvm(y ~ x1 + x2 + x3 + f, d, subset = keep, missing = "normal", engine = "vb")
  zero <- bsvm(y ~ x1 + x2 + x3 + f, d, weights = weights, missing = "normal", engine = "vb")
  expect_equal(coef(zero), coef(half), tolerance = 1e-8)
  expect_equal(fitted(zero)[keep], fitted(half), tolerance = 1e-8, ignore_attr = TRUE)
  expect_finite(fitted(zero))
  expect_equal(predict(zero, interval = TRUE)[-keep, ], predict(zero, d[-keep, ], interval = TRUE),
               tolerance = 1e-8, ignore_attr = TRUE)
  expect_equal(predict(zero, interval = TRUE)$sd[keep], predict(half, interval = TRUE)$sd,
               tolerance = 1e-8)
  kept <- bsvm(y ~ x1 + x2 + x3 + f, d, missing = "normal", engine = "vb", keep_data = TRUE)
  expect_identical(update(kept)$posterior, fit$posterior)
})

test_that("prints and summaries say what is modelled and what is wrong with it", {
  for (fit in fits) {
    total <- sum(is.na(s$x))
    expect_output(print(fit), paste(total, "missing values of 3 variables"))
    told <- suppressMessages(summary(fit)) |> unchecked()
    expect_identical(told$missing$missing, unname(colSums(is.na(s$x))))
    expect_equal(told$missing$share, unname(colMeans(is.na(s$x))))
    expect_output(print(told), "effects of.*not to be.*likelihood_hinge\\(normalized =")
  }
  normalised <- bsvm(y ~ x1 + x2, d, missing = "normal",
                     likelihood = likelihood_hinge(normalized = TRUE))
  expect_no_match_in(paste(capture.output(print(summary(normalised))), collapse = " "),
                     "not to be")
  auxiliary <- bsvm(y ~ f, d, missing = missing_normal(auxiliary = ~ x1), engine = "vb")
  text <- paste(capture.output(print(summary(auxiliary, details = TRUE))), collapse = " ")
  expect_match(text, "x1 \\(auxiliary\\): [0-9]+ \\(")
  expect_no_match_in(text, "not to be")
})

test_that("methods that would be wrong refuse", {
  refuse <- function(code) expect_refusal(code, "unsupported", "missing")
  refuse(vcov(fits$vb, method = "linear_response"))
  refuse(confint(fits$vb, method = "linear_response"))
  refuse(summary(fits$vb, method = "linear_response"))
  refuse(check_approximation(fits$gaussian))
  refuse(integrated_loglik(fits$gaussian))
  drawn <- with_seed(1, unchecked(bsvm(y ~ x1 + x2, d, missing = "normal",
                                       likelihood = likelihood_hinge(normalized = TRUE),
                                       engine = engine_slice(50, 50, chains = 2))))
  refuse(log_lik(drawn))
  f <- posterior_linpred(drawn)
  expect_finite(f)
  expect_true(all(posterior_predict(drawn) %in% 0:1))
})

test_that("what is advised about coefficients of incomplete predictors can be done", {
  d <- with_seed(5, {
    d <- data.frame(x1 = rnorm(80), x2 = rnorm(80))
    d$y <- rbinom(80, 1, plogis(2 * d$x1))
    transform(d, x2 = replace(x2, 1:30, NA))
  })
  normal <- expect_warning(own <- bsvm(y ~ x1 + x2, d, missing = "normal", engine = "vb",
                                       likelihood = likelihood_hinge()),
                           class = "bsvm_warning_pseudo_missing")
  expect_match(conditionMessage(normal), "engine_gaussian()", fixed = TRUE)
  expect_s3_class(update(own, likelihood = likelihood_hinge(normalized = TRUE),
                         engine = engine_gaussian()), "bsvm")
  selection <- expect_warning(own <- bsvm(y ~ x1 + x2, d, missing = "selection", engine = "vb",
                                          likelihood = likelihood_hinge()),
                              class = "bsvm_warning_pseudo_missing")
  printed <- paste(capture.output(summary(own)), collapse = " ")
  for (text in c(conditionMessage(selection), printed)) {
    expect_match(gsub("\\s+", " ", text), "compare with `missing = missing_normal()`", fixed = TRUE)
  }
  expect_s3_class(update(own, missing = missing_normal(), engine = engine_gaussian(),
                         likelihood = likelihood_hinge(normalized = TRUE)), "bsvm")
})
