# Random intercepts at size: n rows in n / 10 groups, 10 standard normal predictors.

large_groups <- function(n, seed = 1L) {
  set.seed(seed)
  x <- matrix(stats::rnorm(10 * n), n, 10L, dimnames = list(NULL, paste0("x", 1:10)))
  g <- rep_len(seq_len(n / 10), n)
  effect <- stats::rnorm(n / 10)[g]
  f <- drop(x %*% seq(-1, 1, length.out = 10L)) + effect
  list(x = x, y = ifelse(f + stats::rlogis(n) > 0, 1, -1), g = g)
}

as_rows <- function(input) data.frame(y = input$y, input$x, g = input$g)

large_formula <- y ~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + (1 | g)

# The model of 000; the fit keeps no data, as memory is measured.
fit_rows <- function(data) {
  bsvm(large_formula, data, likelihood = "hinge", prior = papers_prior("g"), engine = engine_vb(),
       keep_data = FALSE)
}

fit_matrix <- function(input) {
  bsvm(input$x, input$y, group = input$g, likelihood = "hinge", prior = papers_prior("group"),
       engine = engine_vb(), keep_data = FALSE)
}
