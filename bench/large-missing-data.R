# Missing predictors at size: n rows, 50 predictors correlated 0.3, a tenth of the values of 30 of
# them missing; three rows in a hundred are complete.

large_missing <- function(n, seed = 1L) {
  set.seed(seed)
  x <- matrix(stats::rnorm(50 * n, sd = sqrt(0.7)), n, dimnames = list(NULL, paste0("x", 1:50)))
  x <- x + stats::rnorm(n, sd = sqrt(0.3))
  f <- drop(x %*% seq(-0.5, 0.5, length.out = 50L))
  y <- ifelse(f + stats::rlogis(n) > 0, 1, -1)
  for (j in sample.int(50L, 30L)) x[stats::runif(n) < 0.1, j] <- NA
  list(x = x, y = y)
}

fit_missing <- function(input) {
  bsvm(input$x, input$y, missing = missing_normal(), likelihood = "hinge",
       prior = papers_prior(), engine = engine_vb(), keep_data = FALSE)
}
