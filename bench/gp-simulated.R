# Simulated data with Gaussian-process terms.

# n rows with ten predictors, of which four count: a smooth function of two, a product and a slope.
simulated_rows <- function(n) {
  x <- matrix(stats::rnorm(10 * n), n)
  f <- 2 * sin(1.5 * x[, 1L]) + x[, 2L]^2 - 1 + x[, 3L] * x[, 4L]
  data <- as.data.frame(x)
  names(data) <- paste0("x", 1:10)
  data$y <- factor(stats::rbinom(n, 1L, stats::plogis(f)), labels = c("no", "yes"))
  data
}

simulated_formula <- y ~ gp(., points = 200)

fit_simulated <- function(data) {
  bsvm(simulated_formula, data, control = bsvm_control(verbose = FALSE, threads = 2L),
       keep_data = FALSE)
}

# A map of the unit square: a smooth surface whose correlation falls with a squared exponential of
# this length scale (by 500 random waves), and regions (a grid of 8 x 8, each in a pattern of its own
# that is not smooth).
simulated_map <- function(n, length_scale, waves = 500L) {
  lon <- stats::runif(n)
  lat <- stats::runif(n)
  frequency <- matrix(stats::rnorm(2L * waves), 2L) / length_scale
  phase <- stats::runif(waves, 0, 2 * pi)
  surface <- sqrt(2 / waves) * rowSums(cos(sweep(cbind(lon, lat) %*% frequency, 2L, phase, `+`)))
  region <- factor(1L + floor(8 * lon) + 8L * floor(8 * lat), levels = 1:64)
  f <- 2 * surface + stats::rnorm(64)[region]
  data.frame(lon, lat, region, f, y = factor(stats::rbinom(n, 1L, stats::plogis(f)),
                                             labels = c("no", "yes")))
}
