# Whole pictures, as vdiffr stored them. What they are drawn from is converged or arithmetic, never
# draws.
bsvm <- paper_bsvm

skip_if_not_installed("ggplot2")
skip_if_not_installed("vdiffr")

d <- with_seed(1, {
  d <- data.frame(x1 = rnorm(120), x2 = rnorm(120), x3 = rnorm(120), g = gl(8, 15))
  d$y <- d$x1 - 0.5 * d$x2 + rnorm(8)[d$g] + rlogis(120) > 0
  d
})

picture <- function(title, plot) vdiffr::expect_doppelganger(title, plot)

test_that("fits", {
  fit <- bsvm(y ~ x1 + x2 + (1 | g), d, engine = "vb")
  picture("coefficients of a fit", plot(fit))
  picture("inclusion", plot_inclusion(bsvm(y ~ x1 + x2 + x3, d, engine = "vb",
                                           prior = prior_laplace_zero(rho = 0.3))))
  path <- bsvm(y ~ x1 + x2 + x3, d, engine = engine_em(), prior = prior_lasso(nu = 2^(-6:2)))
  picture("path", plot(regularization_path(path)))
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
  prob <- plogis(d$x1 - 0.5 * d$x2)
  picture("reliability", plot(calibration(prob, d$y, bins = 5)))
})
