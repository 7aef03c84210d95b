bsvm <- paper_bsvm

r <- random_case(60, 4, seed = 2)
d <- data.frame(y = r$y, r$x[, -1], g = r$group)
names(d)[2:4] <- c("a", "b", "t")

# Means move by V x when 2 step x'b is added to the log posterior: by a row of weight `step` so far
# inside the margin that its loss is a straight line.
moved_means <- function(formula, row, step = 1e-3, ...) {
  shifted <- function(side) {
    extra <- d[1, ]
    extra[names(row)] <- row
    extra$y <- side
    tilted <- rbind(transform(d, o = 0, w = 1), transform(extra, o = -1e4 * side, w = step))
    fixef(bsvm(formula, tilted, weights = w, offset = o, engine = "vb", standardize = FALSE,
               control = tight(), ...))
  }
  (shifted(1) - shifted(-1)) / (4 * step)
}

rows <- list(data.frame(a = 0, b = 0, t = 0), data.frame(a = 1, b = 0, t = 0),
             data.frame(a = 0, b = 1, t = 0))

expect_response <- function(formula, ...) {
  fit <- bsvm(formula, d, engine = "vb", standardize = FALSE, control = tight(), ...)
  v <- vcov(fit, method = "linear_response")
  sd <- sqrt(diag(v))
  for (row in rows) {
    moved <- moved_means(formula, row, ...)
    expect_close(moved, v %*% c(1, row$a, row$b), 1e-3, scale = sd)
  }
}

test_that("it is how the fit's means move: fixed and inferred variances, groups", {
  expect_response(y ~ a + b, prior = prior_ridge(variance = 2))
  expect_response(y ~ a + b)
  expect_response(y ~ a + b, prior = prior_ridge(variance = prior_half_t()))
  expect_response(y ~ a + b + (0 + t | g), prior = list(g = prior_ridge(variance = 1)))
})

test_that("it goes into vcov, confint and summary alike", {
  fit <- bsvm(y ~ a + b + t, d, engine = "vb", control = tight())
  v <- vcov(fit, method = "linear_response")
  expect_equal(dimnames(v), dimnames(vcov(fit)))
  expect_true(all(diag(v) > 0))
  sd <- sqrt(diag(v))
  limits <- suppressMessages(confint(fit, method = "linear_response", level = 0.9))
  expect_close(limits, fixef(fit) + outer(sd, c(-1, 1) * qnorm(0.95)), 1e-10)
  table <- summary(fit, method = "linear_response")
  expect_close(table$coefficients[, "SD"], sd, 1e-10)
  expect_output(print(table), "linear response")
})

test_that("it is wider than the mean field, with group effects too", {
  for (fit in list(bsvm(y ~ a + b + t, d, engine = "vb"),
                   bsvm(y ~ a + (1 | g), d, engine = "vb"))) {
    expect_true(all(diag(vcov(fit, method = "linear_response")) > diag(vcov(fit))))
  }
})

test_that("it is for variational fits", {
  refused <- function(fit, words) {
    expect_refusal(vcov(fit, method = "linear_response"), "unsupported", words)
  }
  refused(gibbs_fit(y ~ a, d), "draws")
  refused(bsvm(y ~ a + (1 | g), d, engine = "gaussian"), "engine_gaussian()")
  refused(bsvm(y ~ a + (1 | g), d, engine = "map"), "engine_map()")
  fit <- bsvm(y ~ a, d, engine = "vb")
  expect_refusal(vcov(fit, method = "lr"), "argument", c("`method`", "linear_response"))
  gone <- local({
    here <- d
    bsvm(y ~ a, here, engine = "vb")
  })
  expect_refusal(vcov(gone, method = "linear_response"), "data", "keep_data = TRUE")
})

test_that("it does not mend what a variance that is far too low takes away", {
  toenail <- toenail_data()
  fit <- bsvm(outcome ~ treatment * time + (1 | patientID), toenail, engine = "vb")
  sd <- c(vcov(fit)[1, 1], vcov(fit, method = "linear_response")[1, 1])^0.5
  expect_equal(round(sd, 3), c(0.163, 0.188)) # the help has these numbers
  table <- summary(fit, method = "linear_response")
  expect_output(print(table), "standard\\s+deviations\\s+of\\s+coefficients\\s+with\\s+them")
})
