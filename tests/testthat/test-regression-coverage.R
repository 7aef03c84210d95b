# Coverage of 95 % intervals of the default fit, over 1000 data sets from the likelihood's own density.

skip_on_cran()

# Exponential beyond a tube of half width 2/3, uniform in it: scale 1, nu 0.6.
own_residuals <- function(n) {
  side <- sample(c(-1, 1), n, TRUE)
  side * ifelse(stats::runif(n) < 0.6, 2 / 3 + stats::rexp(n), 2 / 3 * stats::runif(n))
}

is_covered <- function(seed, n = 120L, m = 12L) {
  with_seed(seed, {
    new <- seq_len(n + 20L) > n
    data <- data.frame(x = stats::rnorm(n + 20L), g = factor(rep_len(seq_len(m), n + 20L)))
    data$y <- 1 + 0.5 * data$x + stats::rnorm(m)[data$g] + own_residuals(n + 20L)
    fit <- bsvm(y ~ x + (1 | g), data[!new, ], likelihood = likelihood_eps_insensitive(),
                control = bsvm_control(verbose = FALSE))
    inside <- function(value, limits) limits[1L] <= value && value <= limits[2L]
    limits <- predict(fit, data[new, ], interval = "prediction")
    sd <- generics::tidy(fit, effects = "ran_pars", conf.int = TRUE)
    c(slope = inside(0.5, confint(fit)["x", ]),
      response = mean(data$y[new] >= limits$lower & data$y[new] <= limits$upper),
      sd = inside(1, c(sd$conf.low, sd$conf.high)))
  })
}

test_that("intervals of coefficients, new responses and a groups' sd cover what they say", {
  skip_unless_extended()
  seen <- rowMeans(vapply(1:1000, is_covered, c(slope = 0, response = 0, sd = 0)))
  # Over the prior these are 95 %; at one value in its middle that of the sd may be more.
  most <- c(slope = 0.97, response = 0.97, sd = 0.99)
  expect_true(all(seen > 0.93 & seen < most), info = paste(names(seen), seen, collapse = ", "))
})
