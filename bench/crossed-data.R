# Two crossed grouping factors: n rows, every row at random in one of `levels` levels of each.

crossed_data <- function(n, levels = 1000L, seed = 1L) {
  set.seed(seed)
  data <- data.frame(x1 = stats::rnorm(n), a = sample.int(levels, n, replace = TRUE),
                     b = sample.int(levels, n, replace = TRUE))
  f <- -0.25 + 0.5 * data$x1 + stats::rnorm(levels)[data$a] + 0.7 * stats::rnorm(levels)[data$b]
  data$y <- factor(ifelse(f + stats::rlogis(n) > 0, "yes", "no"))
  data$a <- factor(data$a)
  data$b <- factor(data$b)
  data
}

crossed_formula <- y ~ x1 + (1 | a) + (1 | b)
