# What tests of Gaussian-process terms share.

quietly <- function(code) suppressMessages(suppressWarnings(code))
given <- function(variance) prior_ridge(variance = variance)

# The squared exponential of standardised inputs (rows), unit variance.
se <- function(a, b, lengthscale) {
  squares <- outer(rowSums(a^2), rowSums(b^2), `+`) - 2 * a %*% t(b)
  exp(-pmax(squares, 0) / (2 * lengthscale^2))
}

# The columns `names` of `at`, standardised as `d` is.
inputs_of <- function(d, at = d, names = c("x", "z")) {
  scaled <- scale(as.matrix(d[names]))
  scale(as.matrix(at[names]), attr(scaled, "scaled:center"), attr(scaled, "scaled:scale"))
}
