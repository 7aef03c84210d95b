# Whole pictures, as vdiffr stored them. What they are drawn from is converged or arithmetic, never
# draws.
bsvm <- paper_bsvm

skip_if_not_installed("ggplot2")
skip_if_not_installed("vdiffr")

# Other versions of ggplot2 place what they draw a little differently.
drawn_with <- "3.4.1"
skip_if(packageVersion("ggplot2") != drawn_with, paste("pictures are of ggplot2", drawn_with))

d <- with_seed(1, {
  d <- data.frame(x1 = rnorm(120), x2 = rnorm(120), x3 = rnorm(120), g = gl(8, 15))
  d$y <- d$x1 - 0.5 * d$x2 + rnorm(8)[d$g] + rlogis(120) > 0
  d
})

picture <- function(title, plot) vdiffr::expect_doppelganger(title, plot)

test_that("fits", {
  fit <- bsvm(y ~ x1 + x2 + (1 | g), d, engine = "vb")
  picture("coefficients of a fit", plot(fit))
  picture("group effects", plot(fit, "groups"))
  wide <- transform(d, rare = as.numeric(seq_along(y) %in% which(y)[1:2]))
  picture("a wide bar", plot(suppressWarnings(
    bsvm(y ~ x1 + x2 + rare, wide, engine = "vb", prior = prior_flat())
  )))
  picture("inclusion", plot_inclusion(bsvm(y ~ x1 + x2 + x3, d, engine = "vb",
                                           prior = prior_laplace_zero(rho = 0.3))))
  path <- bsvm(y ~ x1 + x2 + x3, d, engine = engine_em(), prior = prior_lasso(nu = 2^(-6:2)))
  picture("path", plot(regularization_path(path)))
})

test_that("effects", {
  clinics <- transform(d, g = factor(rep(c("north", "south", "west"), 40)), x1 = round(x1, 1))
  fit <- bsvm(y ~ x1 + g, clinics, engine = "gaussian", likelihood = likelihood_hinge(TRUE),
              prior = prior_ridge(variance = 1))
  picture("effects", plot(fit, "effects"))
  picture("effects by colour", plot(fit, "effects", pars = c("x1", "g")))
})

test_that("Gaussian-process terms", {
  kernel <- kernel_se(lengthscale = c(1, 2, 4), ard = TRUE)
  one <- kernel_se(lengthscale = 1)
  fitted_by <- function(formula) {
    bsvm(formula, d, engine = "vb", prior = list(gp = prior_ridge(variance = 4)))
  }
  picture("curve", plot(fitted_by(y ~ gp(x1, kernel = one)), "gp"))
  picture("map", plot(fitted_by(y ~ gp(x1, x2, kernel = one)), "gp"))
  three <- fitted_by(y ~ gp(x1, x2, x3, kernel = kernel))
  picture("averages", plot(three, "gp"))
  picture("relevance", plot(three, "relevance"))
})

test_that("many rows", {
  many <- data.frame(term = sprintf("a predictor with a long name, number %d", 1:20),
                     estimate = seq(-1, 1, length.out = 20))
  many <- transform(many, term = factor(term, term), lower = estimate - 0.3, upper = estimate + 0.3)
  picture("twenty coefficients", plot_interval_rows(many))
  groups <- with_seed(3, data.frame(x = rnorm(400), g = gl(100, 4)))
  groups$y <- with_seed(4, rnorm(100)[groups$g] + rlogis(400) > 0)
  picture("a hundred groups", plot(bsvm(y ~ x + (1 | g), groups, engine = "vb"), "groups"))
})

test_that("smooth terms", {
  skip_if_not_installed("mgcv")
  fit <- bsvm(y ~ s(x1) + s(x3) + x2, d, engine = "vb")
  picture("smooth terms", plot(fit))
  picture("smooth terms as probabilities", plot(fit, type = "prob"))
})

test_that("imputed values", {
  lost <- transform(d, x2 = replace(x2, seq(1, 120, 6), NA))
  fit <- bsvm(y ~ x1 + x2, lost, missing = missing_normal(), engine = "vb")
  picture("imputed values", plot(imputed(fit), newdata = lost))
})

test_that("studies and calibration", {
  models <- list(x1 = scored_by(x1), `x1 - x2` = scored_by(x1 - x2), opposite = scored_by(-x1))
  study <- with_seed(2, holdout(models, d, times = 12, response = "y",
                                metrics = c("ber", "error")))
  picture("study", plot(study))
  picture("balanced error rates", plot_ber(study))
  own <- study$metric == "error"
  study$value[own] <- c(0.01, 0.1, 1)[study$model[own]] * seq(1, 2, length.out = 36)
  levels(study$metric)[2] <- "seconds"
  picture("seconds", plot(study, metrics = "seconds"))
  prob <- plogis(d$x1 - 0.5 * d$x2)
  picture("reliability", plot(calibration(prob, d$y, bins = 5)))
})
