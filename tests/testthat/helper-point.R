# Oracles of point estimates: the objective in plain R, the papers' EM, and a linear programme.

# x with a column of ones; y -1 or +1; flat intercept as prior_flat()'s.
plain_objective <- function(b, x, y, alpha, nu, weights = 1, offset = 0) {
  f <- drop(x %*% b) + offset
  2 * sum(weights * pmax(0, 1 - y * f)) + sum(abs(b[-1L] / nu)^alpha) + b[[1L]]^2 / 2e8
}

# 002, Section 3.1, from b: a matrix with the objective of each pass and b at its end.
plain_em <- function(b, x, y, alpha, nu, passes) {
  objective <- numeric(passes)
  for (k in seq_len(passes)) {
    w <- if (k == 1L) rep(1, length(y)) else 1 / pmax(abs(1 - y * drop(x %*% b)), 1e-10)
    size <- if (k == 1L) rep(nu, ncol(x) - 1L) else pmax(abs(b[-1L]), 1e-10 * nu)
    d <- c(1e-8, alpha * size^(alpha - 2) / nu^alpha)
    b <- solve(crossprod(x, w * x) + diag(d), crossprod(x, y * (1 + w)))[, 1L]
    objective[k] <- plain_objective(b, x, y, alpha, nu)
  }
  list(objective = objective, b = b)
}

# The lasso's optimum as a linear programme in (b+, b-, slacks); a free intercept: list(objective,
# b).
linear_programme <- function(x, y, nu) {
  n <- nrow(x)
  p <- ncol(x)
  cost <- c(0, 0, rep(1 / nu, 2L * (p - 1L)), rep(2, n))
  own <- cbind(y * x[, 1L], -y * x[, 1L], y * x[, -1L], -y * x[, -1L], diag(n))
  found <- lpSolve::lp("min", cost, own, rep(">=", n), rep(1, n))
  slopes <- matrix(found$solution[2L + seq_len(2L * (p - 1L))], ncol = 2L)
  list(objective = found$objval,
       b = c(found$solution[1L] - found$solution[2L], slopes[, 1L] - slopes[, 2L]))
}

# Where between two scales a set of coefficients that are not zero becomes another, by bisection.
knot_of <- function(lasso, nu) {
  pattern <- function(nu) lasso(nu)[-1L] != 0
  at_first <- pattern(nu[1L])
  for (k in 1:20) {
    middle <- sqrt(prod(nu))
    nu[if (identical(pattern(middle), at_first)) 1L else 2L] <- middle
  }
  nu[2L]
}

# Rows and columns of simulated data with a linear rule: list(x, y, data).
rule_data <- function(n, p, seed = 1) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
  y <- ifelse(drop(x %*% (2 * stats::rnorm(p) * (seq_len(p) <= 4))) + stats::rnorm(n) > 0, 1, -1)
  list(x = cbind(1, x), y = y, data = data.frame(x, y = factor(y)))
}

em_fit <- function(data, prior, ..., engine = engine_em()) {
  paper_bsvm(y ~ ., data, prior = prior, engine = engine, standardize = FALSE, ...,
       control = bsvm_control(verbose = FALSE))
}

spam_rows <- function() {
  testthat::skip_if_not_installed("kernlab")
  here <- new.env()
  utils::data("spam", package = "kernlab", envir = here)
  data <- data.frame(scale(here$spam[names(here$spam) != "type"]))
  data$y <- factor(ifelse(here$spam$type == "spam", 1, -1))
  data
}
