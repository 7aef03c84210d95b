# The normalised hinge likelihood and its expectation under a normal law, slowly: straight from the
# definition, by quadrature.

# log p(y | f) at g = y f.
normalized_log_p <- function(g) {
  own <- -2 * pmax(1 - g, 0)
  other <- -2 * pmax(1 + g, 0)
  top <- pmax(own, other)
  own - top - log(exp(own - top) + exp(other - top))
}

# Sum of o log p(y | f) for every row of f (points x rows), as hinge_loglik().
normalized_loglik <- function(model, f) {
  drop(normalized_log_p(sweep(f, 2, model$y, `*`)) %*% model$weight)
}

# E fun(g) over g ~ N(m, v), fun of a scale of about one and smooth but at -1 and 1: trapezoid rule
# in each stretch, after t -> tanh(sinh(t)) to which its ends do not matter.
normal_expectation <- function(fun, m, v) {
  s <- sqrt(v)
  cuts <- c(m + s * seq(-12, 12, by = 1), seq(-8, 8, by = 0.5))
  cuts <- sort(unique(cuts[abs(cuts - m) <= 12.001 * s]))
  t <- seq(-3.2, 3.2, by = 0.1)
  node <- tanh(pi / 2 * sinh(t))
  weight <- 0.1 * pi / 2 * cosh(t) / cosh(pi / 2 * sinh(t))^2
  half <- diff(cuts) / 2
  g <- outer(node, half) + rep((cuts[-1] + cuts[-length(cuts)]) / 2, each = length(node))
  sum(outer(weight, half) * fun(g) * stats::dnorm(g, m, s))
}

# What the core calls value, slope and weight of a row f ~ N(m, v), for log p a function of y f:
# derivatives of the expectation without any of log p (Stein's identity).
expected_terms <- function(y, m, v, log_p = normalized_log_p) {
  g <- y * m
  base <- log_p(g)
  moment <- function(factor) {
    normal_expectation(function(x) (log_p(x) - base) * factor((x - g) / sqrt(v)), g, v)
  }
  list(value = base + moment(function(z) 1),
       slope = y * moment(function(z) z) / sqrt(v),
       weight = -moment(function(z) z^2 - 1) / v)
}
